"""The ids of claims, and functions that make and parse them.

The parts of an id, separated by dots, go from general to particular. Only this module makes ids of
these forms:

    hypothesis.<name>      a hypothesis of a theorem about the data
    head.<number>.<step>   a step of the proof for one head; heads are counted from 1
    step.<name>            a step about the network as a whole
    block.<k>.<name>       a step for one block; group.<k>.<name>: a step for one group of examples
    promise.<what>         a promised size, compared with what was built
    claimed.<what>         a further claim of a construction about the outputs
    placed.<what>          partition.<what> for the largest subset of examples that can be placed
    sampled.<k>            random subsets of k vectors
    audit.<name>.<what>    the step that breaks if this hypothesis alone is false

Every other id is a constant below.
"""

from __future__ import annotations

import re
from typing import Final, NewType

ClaimId = NewType("ClaimId", str)
ClaimId.__doc__ = """The type of a claim's id; at run time it is a string.

docs/audit-of-theorem-1.md lists the ids in a proof of Theorem 1.

    >>> ClaimId("head.3.selector") == of_head(3, "selector")
    True
    """
__test__ = {"ClaimId": ClaimId.__doc__}  # otherwise doctest does not find this docstring

_HEAD: Final = re.compile(r"head\.([1-9][0-9]*)\.(.+)")
_HYPOTHESIS: Final = "hypothesis."
_CLAIMED: Final = "claimed."
_PROMISE: Final = "promise."


def hypothesis(name: str) -> ClaimId:
    """The id of a hypothesis.

    >>> hypothesis("A1")
    'hypothesis.A1'
    """
    return ClaimId(_HYPOTHESIS + name)


def hypothesis_name(claim_id: str) -> str | None:
    """The name of a hypothesis; None for other claims.

    >>> hypothesis_name("hypothesis.A1"), hypothesis_name("rank")
    ('A1', None)
    """
    return claim_id[len(_HYPOTHESIS) :] if claim_id.startswith(_HYPOTHESIS) else None


def of_head(number: int, step: str) -> ClaimId:
    """The id of a step of a head.

    >>> of_head(3, "selector")
    'head.3.selector'
    """
    return ClaimId(f"head.{number}.{step}")


def promise(what: str) -> ClaimId:
    return ClaimId(f"{_PROMISE}{what}")


def promised(claim_id: str) -> str | None:
    """What a claim with this id promises, such as "heads"; None for other claims."""
    return claim_id[len(_PROMISE) :] if claim_id.startswith(_PROMISE) else None


def claimed(what: str) -> ClaimId:
    return ClaimId(f"{_CLAIMED}{what}")


def is_claimed(claim_id: str) -> bool:
    return claim_id.startswith(_CLAIMED)


def placed(partition: ClaimId) -> ClaimId:
    """The id of the same claim about the largest subset of examples that can be placed.

    >>> placed(PARTITION_MAXIMUM)
    'placed.maximum'
    """
    return ClaimId(f"placed.{partition.partition('.')[2]}")


def sampled(k: int) -> ClaimId:
    return ClaimId(f"sampled.{k}")


def sharpened(construction: str, hypothesis_: str) -> ClaimId:
    return ClaimId(f"audit.{construction}.{hypothesis_}")


def head_and_step(claim_id: str) -> tuple[int, str] | None:
    """The head and the step that an id names; None for other claims.

    >>> head_and_step("head.3.selector"), head_and_step("rank")
    ((3, 'selector'), None)
    """
    match = _HEAD.fullmatch(claim_id)
    return (int(match[1]), match[2]) if match else None


# Hypotheses of the theorems, and related claims.
CONTEXT_SIZE: Final = hypothesis("context-size")
TOKEN_COUNTS: Final = hypothesis("token-counts")
VALUE_WIDTH: Final = hypothesis("value-width")
ASSUMPTIONS: Final = ClaimId("assumptions")
A1: Final = hypothesis("A1")
A1_AT_R: Final = hypothesis("A1-at-r")
A1_DISTINCT: Final = hypothesis("A1-distinct")
A2: Final = hypothesis("A2")
GENERAL_POSITION: Final = hypothesis("general-position")
CONTEXTS: Final = ClaimId("contexts.independent")
CAPACITY: Final = hypothesis("capacity")
PARTITION: Final = hypothesis("partition")
DIMENSION_CONDITION: Final = hypothesis("dimensions")
SOME_PARTITION: Final = hypothesis("some-partition")
PARTITION_MAXIMUM: Final = ClaimId("partition.maximum")
PARTITION_MEMORIZES: Final = ClaimId("partition.memorizes")
PLACED_MAXIMUM: Final = ClaimId("placed.maximum")
PLACED_MEMORIZES: Final = ClaimId("placed.memorizes")

# The layer as a whole.
THEOREM: Final = ClaimId("theorem")
GROUPS: Final = ClaimId("step.groups")
PARAMETERS: Final = ClaimId("parameters")
RANK: Final = ClaimId("rank")
COLUMNS: Final = ClaimId("columns")
REDUCTION: Final = ClaimId("reduction")
UNIVERSAL: Final = ClaimId("universal")
ALMOST_ALL: Final = ClaimId("almost-all")
READOUT: Final = ClaimId("readout")
RATIONAL: Final = ClaimId("interpolation.rational")
SYMBOLIC: Final = ClaimId("interpolation.symbolic")
MULTIPRECISION: Final = ClaimId("interpolation.multiprecision")
ROUNDING: Final = ClaimId("rounding")
BEFORE: Final = ClaimId("before")
PREFIXES: Final = ClaimId("prefixes")
SATURATION_ASKED: Final = ClaimId("saturation.asked")
AGREEMENT: Final = ClaimId("interpolation.agreement")
ENCLOSURE_ERROR: Final = ClaimId("enclosure.error")
MEMORIZATION: Final = ClaimId("memorization")
GIVEN_LABELS: Final = ClaimId("given-labels")

# Limits for all weights.
TIGHTNESS_SPANS: Final = ClaimId("tightness.spans")
TIGHTNESS_BOUND: Final = ClaimId("tightness.bound")
TIGHTNESS_UNIVERSAL: Final = ClaimId("tightness.universal")
ROWS_RELATIONS: Final = ClaimId("rows.relations")
ROWS_UNIVERSAL: Final = ClaimId("rows.universal")
ROWS_LABELS: Final = ClaimId("rows.labels")
VALUES_UNIVERSAL: Final = ClaimId("values.universal")
LABELS_RANK: Final = ClaimId("labels.rank")

# A network.
PROOF: Final = ClaimId("proof")
LABELS_FUNCTION: Final = ClaimId("labels.function")
IDLE_BLOCKS: Final = ClaimId("idle.blocks")
IDLE_UNITS: Final = ClaimId("idle.units")
NETWORK_RANK: Final = ClaimId("network.rank")
NETWORK_FEATURES: Final = ClaimId("network.features")
SITUATIONS: Final = ClaimId("situations")
SITUATION_RECORDS: Final = ClaimId("situations.records")
NETWORK_RECOMPUTED: Final = ClaimId("network.recomputed")
MACHINE: Final = ClaimId("machine")
COMPARISON: Final = ClaimId("comparison")

# An audit, and an attack.
ATTACK: Final = ClaimId("attack")
AUDIT: Final = ClaimId("audit")

# Third-party layers, fits, all labellings, and counts.
LAYER_READ: Final = ClaimId("layer.read")
LAYER_ERROR: Final = ClaimId("layer.error")
LAYER_MEMORIZES: Final = ClaimId("layer.memorizes")
LAYER_RANK: Final = ClaimId("layer.rank")
INTERPOLATION_NEAR: Final = ClaimId("interpolation.near")
LABELLING_ZERO: Final = ClaimId("labelling.zero")
LABELLING_RANK: Final = ClaimId("labelling.rank")
EVERY_LABELLING: Final = ClaimId("labelling.every")
UNIVERSAL_REACHED: Final = ClaimId("universal.reached")
UNIVERSAL_ENOUGH: Final = ClaimId("universal.enough")
UNIVERSAL_QUERIES: Final = ClaimId("universal.almost-all-queries")
LAW_CAPACITY: Final = ClaimId("law.capacity")
LAW_ZERO: Final = ClaimId("law.zero")
LAW_BOUND: Final = ClaimId("law.bound")
LAW_RANK: Final = ClaimId("law.rank")
LAW_THESE: Final = ClaimId("law.labellings")
LAW_EVERY: Final = ClaimId("law.every-labelling")
LAW_TWICE: Final = ClaimId("law.twice-the-heads")
LAW_UNIVERSAL: Final = ClaimId("law.universal")
DEPTH_CAPACITY: Final = ClaimId("depth.capacity")
DEPTH_BOUND: Final = ClaimId("depth.bound")
DEPTH_RANK: Final = ClaimId("depth.rank")
DEPTH_UNIVERSAL: Final = ClaimId("depth.universal")
DEPTH_EVERY: Final = ClaimId("depth.every-labelling")
DEPTH_SOME: Final = ClaimId("depth.some-labellings")
RANK_RECORDS: Final = ClaimId("rank.records")
KRUSKAL_LOWER: Final = ClaimId("kruskal.lower")
KRUSKAL_UPPER: Final = ClaimId("kruskal.upper")
KRUSKAL_RECORDS: Final = ClaimId("kruskal.records")
KRUSKAL_RANK: Final = ClaimId("kruskal.rank")
KRUSKAL_EVERY: Final = ClaimId("kruskal.every")

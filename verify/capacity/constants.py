"""Effective constants: how large "large enough" is, and what it costs.

A theorem says that some c works. Three numbers say which, for every head with a selector (the other
heads as built):

- the least c ≥ 0 at which the rank is *certified* on the examples placed so far, found here by
  trying 0, 1, 2, ... (a rank that is not full mod p is not a proof that it is not full over ℚ:
  "least certified");
- B at that c, the smallest lead of a target row over another row of its context, in bits, over all
  earlier examples: what saturation really amounts to there (negative: a row does not lead yet);
- c and B by the a-priori bound, from the least singular value of the limit (Weyl;
  verify/steps/apriori.py): numerical, with no evidence resting on it.

And for the whole layer: the longest logit range, the bits that an exact readout is expected to
have, the condition number of Z (float64), the number of parameters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from attncert.constructions import generic, width_one
from attncert.constructions import paper as the_paper
from attncert.constructions.arrays import ObjectArray
from attncert.constructions.construction import Construction, SteeringHead, capacity
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import family
from attncert.constructions.errors import InputError
from attncert.constructions.exact.modular import features_float
from attncert.constructions.layer import Layer, parameter_count
from attncert.constructions.progress import StageProgress, silent
from attncert.verify import features
from attncert.verify.steps import conclusions
from attncert.verify.steps import shared as steps
from attncert.verify.steps.apriori import Conditioning
from attncert.verify.tables import dense, leads

__all__ = [
    "CONSTRUCTIONS", "Constants", "ConstantsSettings", "Growth", "HeadConstants", "growth",
    "layer_constants", "least_certified",
]  # fmt: skip

CONSTRUCTIONS = ("paper", "width-one, the proof's heads", "width-one, short heads", "generic")
MOST_TRIED = 64  # values of c below the one built
LARGEST_CONDITION = 1e12


@dataclass(frozen=True)
class HeadConstants:
    """One head with a selector, numbered from 1.

    built_c: the multiplier that the construction chose. c, bits: the least certified one (None:
    not among those tried), and B there (None where n = 1). apriori_c, apriori_bits: by Weyl's bound
    (None where there is none).
    """

    head: int
    built_c: int
    c: int | None
    bits: int | None
    apriori_c: int | None
    apriori_bits: int | None


@dataclass(frozen=True)
class Constants:
    """One layer on one data set; d_v = m.

    certified:   rank Z = T is proved (mod a prime). heads: those of the layer.
    selectors:   what is known of the heads with a selector.
    logit_range: the longest, over heads and examples: bits of the numbers in Z.
    bits:        sum of all logit ranges: about the bits of an exact readout.
    condition:   of Z, float64, three digits; infinite above 10^12, where float64 tells no more.
    """

    construction: str
    heads: int
    context: int
    width: int
    head_width: int
    examples: int
    certified: bool
    selectors: tuple[HeadConstants, ...]
    logit_range: int
    bits: int
    condition: float
    parameters: int

    def worst(self, number: str) -> int | None:
        """The largest over the heads with a selector; None without one (or where one is unknown).

        number: a field of HeadConstants.
        """
        values = [getattr(head, number) for head in self.selectors]
        return max(values) if values and None not in values else None

    def as_dict(self) -> dict[str, Any]:
        """JSON-able; an infinite condition is None."""
        return asdict(self) | {
            "condition": self.condition if math.isfinite(self.condition) else None
        }


@dataclass(frozen=True)
class ConstantsSettings:
    """Two series: H grows at n = `context`; n grows at H = `fixed_heads`. Raises InputError.

    shared: one context for all examples, where H(n-1) + 1 is as many as any weights can serve. With
    distinct contexts d examples take one head without attention (their means are independent).
    """

    heads: tuple[int, ...] = (1, 2, 3, 4, 6, 8)
    context: int = 4
    contexts: tuple[int, ...] = (2, 3, 4, 5, 6)
    fixed_heads: int = 3
    width: int = 8
    shared: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        largest = max(self.context, *self.contexts)
        if not 1 <= min(self.context, *self.contexts) <= largest <= self.width:
            raise InputError("contexts", f"from 1 to the width {self.width}", largest)
        if min(self.fixed_heads, *self.heads) < 1:
            raise InputError("heads", "positive integers", min(self.fixed_heads, *self.heads))

    @classmethod
    def quick(cls, seed: int = 0) -> ConstantsSettings:
        return cls((1, 2, 3), 3, (2, 3, 4), 2, 6, seed=seed)

    @property
    def sizes(self) -> dict[str, tuple[tuple[int, int], ...]]:
        """Axis -> (H, n) along it."""
        return {
            "heads": tuple((H, self.context) for H in self.heads),
            "context": tuple((self.fixed_heads, n) for n in self.contexts),
        }


@dataclass(frozen=True)
class Growth:
    """All constructions along both series: (construction, H, n) -> constants."""

    settings: ConstantsSettings
    found: dict[tuple[str, int, int], Constants]

    def along(self, axis: str, construction: str) -> list[Constants]:
        return [self.found[construction, H, n] for H, n in self.settings.sizes[axis]]


def growth(
    settings: ConstantsSettings | None = None,
    progress: StageProgress = silent,
) -> Growth:
    """Measure every construction on the same data sets. Deterministic."""
    settings = settings or ConstantsSettings()
    sizes = dict.fromkeys(pair for series in settings.sizes.values() for pair in series)
    found: dict[tuple[str, int, int], Constants] = {}
    for done, (H, n) in enumerate(sizes):
        progress("constants", done, len(sizes))
        data = family(
            capacity(H, n, n), n, settings.width, shared=settings.shared, seed=settings.seed
        )
        for name, built in _built(data, H, settings.seed):
            found[name, H, n] = layer_constants(name, data, built.layer, built)
    return Growth(settings, found)


def layer_constants(
    name: str, data: Dataset, layer: Layer, built: Construction | None = None
) -> Constants:
    """The constants of a layer; those of its selectors where it comes from a construction."""
    tables = [features.logits(head, data) for head in layer.heads]
    ranges = [int(x) for table in tables for x in table.max(axis=1) - table.min(axis=1)]
    heads = len(layer.heads)
    return Constants(
        construction=name,
        heads=heads,
        context=data.n,
        width=data.d,
        head_width=layer.head_width,
        examples=data.T,
        certified=conclusions.full_rank(data, layer).level.holds,
        selectors=tuple(_selectors(data, built, tables)) if built else (),
        logit_range=max(ranges),
        bits=sum(ranges),
        condition=_condition(data, tables),
        parameters=parameter_count(data.d, data.m, heads, layer.head_width, data.m),
    )


def least_certified(
    data: Dataset, built: Construction, number: int, tables: list[ObjectArray] | None = None
) -> tuple[int, int | None] | None:
    """(c, B) of head `number` (from 1, with a selector): the least c whose rank is certified.

    The rank is that of heads 1, ..., `number` on the examples they place, modulo a prime, the
    earlier heads as built. At c' the logits of an example are those at c less
    (c - c')·(v·e_s)·E⁽ˢ⁾u; for the head's own group that difference is 0 by its selector.
    tables: logits of the layer's heads, computed if not given. None: no c among those tried.
    """
    record = built.heads[number - 1]
    assert isinstance(record, SteeringHead) and record.c is not None
    if tables is None:
        tables = [features.logits(head, data) for head in built.layer.heads[:number]]
    rows = [*record.earlier, *record.group]
    placed, before = data.take(rows), [table[rows] for table in tables[: number - 1]]
    lead = dense(steps.lead(data, replace(record, earlier=tuple(rows))))
    own = tables[number - 1][rows]
    for c in range(min(record.c, MOST_TRIED) + 1):
        table = own + (c - record.c) * lead
        logits = np.array([[int(x) for x in row] for row in table.tolist()], dtype=object)
        if _independent(placed, [*before, logits]):
            return c, min(leads(logits[: len(record.earlier)], record.targets), default=None)
    return None


def _built(data: Dataset, heads: int, seed: int) -> Iterator[tuple[str, Construction]]:
    paper = the_paper.build(data, heads=heads, seed=seed)
    proof = width_one.build(data, heads=heads, saturated=True, seed=seed)
    short = width_one.build(data, heads=heads, seed=seed)
    drawn = generic.build(data, heads=heads, seed=seed)
    yield from zip(CONSTRUCTIONS, (paper, proof, short, drawn), strict=True)


def _selectors(
    data: Dataset, built: Construction, tables: list[ObjectArray]
) -> Iterator[HeadConstants]:
    conditioning = Conditioning(data)
    for number, (record, table) in enumerate(zip(built.heads, tables, strict=False), start=1):
        if not isinstance(record, SteeringHead) or record.c is None:
            conditioning.add(record, table, None)
        else:
            numbers = conditioning.add(record, table, steps.lead(data, record))
            c, bits = least_certified(data, built, number, tables) or (None, None)
            yield HeadConstants(number, record.c, c, bits, numbers.apriori_c, numbers.apriori_bits)


def _independent(data: Dataset, tables: list[ObjectArray]) -> bool:
    """Are the features with these logits, one table per head, independent modulo a prime?"""
    found = next(features.residues(data, tables), None)
    return found is not None and features.rank_mod(*found) == data.T


def _condition(data: Dataset, tables: list[ObjectArray]) -> float:
    contexts = data.contexts.floats()
    blocks = [features_float(table, contexts) for table in tables]
    spectrum = np.linalg.svd(np.hstack(blocks), compute_uv=False)
    if len(spectrum) < data.T or spectrum[data.T - 1] * LARGEST_CONDITION <= spectrum[0]:
        return math.inf
    return float(f"{spectrum[0] / spectrum[data.T - 1]:.3g}")

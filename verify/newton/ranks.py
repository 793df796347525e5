"""The ranks of a network's Jacobian and of its last features, at its own weights.

The Jacobian has a row for each entry of the outputs and a column for each weight. If its rows are
independent, every small change in the outputs comes from some change in the weights, so each
labelling near the outputs is attained exactly. The features have a row for each example: the means
that the heads of the last block form. If their rows are independent, one choice of keys and queries
works for all labels, each with a suitable choice of values and output matrix of the last block.

There are two methods. A network of linear attention, affine blocks and at most two softmax blocks
in units of ln 2 is evaluated modulo a tower of primes, which leaves its weights as they are
(`verify/derivatives/tower.py`). For any other network the table is enclosed in balls; a square
block B of the table is invertible if, for some matrix A, all row sums of |I - AB| are less than 1.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.blocks import Attention
from attncert.constructions.network.network import Network
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.depth.ranks import deep_rank
from attncert.verify.derivatives.networks import (
    NotDifferentiable,
    blocks_of,
    features_of,
    weights_of,
)
from attncert.verify.newton import network_enclosure
from attncert.verify.newton.certify import independent_columns
from attncert.verify.newton.contraction import contractions, inverted

MOST_NUMBERS = 10**7  # maximum number of entries in a table
_TOWER = 2  # maximum number of softmax blocks whose weights a tower leaves unchanged


def ranks(data: Dataset, network: Network) -> list[Claim]:
    """The claims "network.rank" and, if the last block is attention that changes the query,
    "network.features". There are no claims for a network without attention, or with blocks that the
    engine does not differentiate. Arithmetic: exact, or balls."""
    try:
        blocks_of(network, lambda table, denominator: table)
    except NotDifferentiable:
        return []
    if not any(isinstance(block, Attention) for block in network.leaves):
        return []
    rows, columns, last = data.T * data.m, weights_of(network), network.blocks[-1]
    statement = (
        f"The Jacobian of the {rows:,} output numbers with respect to all {columns:,} weights has "
        f"rank {rows:,}: near these outputs every labelling is output exactly, each by its own "
        "weights."
    )
    about = partial(_claim, ids.NETWORK_RANK, statement, rows, columns)
    claims = [_decided(data, network, about, rows, columns, False)]
    if isinstance(last, Attention) and last.of == "query":
        width = features_of(network)
        statement = (
            f"The {width:,} features of the last block have rank {data.T:,} on the {data.T:,} "
            "examples: with these keys and queries, every labelling is given by some values and "
            f"output matrix of the last block, if the values have width {data.m} or more."
        )
        about = partial(_claim, ids.NETWORK_FEATURES, statement, data.T, width)
        claims.append(_decided(data, network, about, data.T, width, True))
    return claims


def _decided(
    data: Dataset,
    network: Network,
    about: Callable[..., Claim],
    rows: int,
    columns: int,
    features: bool,
) -> Claim:
    """The claim that a table with these numbers of rows and columns has independent rows."""
    if columns < rows:
        return about(Level.REFUTED, "counting", {"rows": rows, "columns": columns})
    if rows * columns > MOST_NUMBERS:
        reason = f"it has {rows * columns:,} numbers, and at most {MOST_NUMBERS:,} are tried"
        return about(Level.UNDECIDED, "", {"reason": reason})
    attention = [block for block in network.leaves if isinstance(block, Attention)]
    softmax = [block for block in attention if block.rule == "softmax"]
    affine = all(getattr(x, "activation", "identity") == "identity" for x in network.leaves)
    if affine and len(softmax) <= _TOWER and all(x.unit == "ln 2" for x in softmax):
        rank = deep_rank(data, network, features=features)
        arithmetic = f"rank mod {rank.primes[0]}, in a tower of primes"
        if rank.full:
            return about(Level.PROVED, arithmetic)
        return about(Level.UNDECIDED, arithmetic, {"reason": f"it is at least {rank.rank}"})
    try:
        reason = _singular(data, network, features)
    except NotDifferentiable as undecided:
        reason = str(undecided)
    level = Level.UNDECIDED if reason else Level.ENCLOSED
    return about(level, "ball arithmetic", {"reason": reason} if reason else None)


def _singular(data: Dataset, network: Network, features: bool) -> str:
    """Why no square block of the table was shown to be invertible; "" if one was."""
    with np.errstate(all="ignore"):
        if features:
            table = network_enclosure.features(data, network)
        else:
            every = range(weights_of(network))
            table = network_enclosure.derivatives(data, network, every, Fraction(0))
        if not np.isfinite(table.mid).all():
            return "numbers beyond the range of float64"
        unknowns = list(independent_columns(table.mid))
        inverse = inverted(table.mid[:, unknowns])
        if np.isnan(inverse).any():
            return "it is singular in float64"
        largest = float(contractions(inverse, table[:, unknowns]).max())
    return "" if largest < 1 else "no square block of it was shown to be invertible"


def _claim(
    own: ids.ClaimId,
    statement: str,
    rows: int,
    columns: int,
    level: Level,
    arithmetic: str,
    witness: dict[str, object] | None = None,
) -> Claim:
    return Claim(
        own,
        statement,
        level,
        numbers={"rows": rows, "columns": columns},
        witness=witness,
        arithmetic=arithmetic,
        source="ours; docs/depth.md",
    )

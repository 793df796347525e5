"""Whether the outputs of a given network move in every direction: the rank of its Jacobian.

J has a row for each output number and a column for each weight. If it has as many independent
columns as rows at the given weights, every small change of the outputs is followed by a change of
the weights: near these outputs every labelling is output exactly.

Two ways. A network of linear attention, affine blocks and at most two softmax blocks in units of
ln 2 is evaluated modulo a tower of primes, which keeps its weights (`verify/derivatives/tower.py`).
For any other one J lies in balls; a square block B of it is invertible if some matrix A makes all
row sums of |I - AB| less than 1.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.blocks import Attention
from attncert.constructions.network.network import Network
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.depth.ranks import deep_rank
from attncert.verify.derivatives.networks import NotDifferentiable, blocks_of, weights_of
from attncert.verify.newton.certify import independent_columns
from attncert.verify.newton.contraction import contractions
from attncert.verify.newton.network_enclosure import derivatives

MOST_NUMBERS = 10**7  # of J
_TOWER = 2  # softmax blocks that keep their weights in a tower


def onto(data: Dataset, network: Network) -> Claim | None:
    """The claim "network.rank"; None for a network without attention, or with blocks that the
    engine does not differentiate. data: as the network sees them. Exact, or in balls."""
    attention = [x for x in network.blocks if isinstance(x, Attention)]
    softmax = [x for x in attention if x.rule == "softmax"]
    rows, columns = data.T * data.m, weights_of(network)
    try:
        blocks_of(network, lambda table, denominator: table)
    except NotDifferentiable:
        return None
    if not attention:
        return None
    about = partial(_claim, rows, columns)
    if columns < rows:
        return about(Level.REFUTED, "counting", {"rows": rows, "weights": columns})
    if rows * columns > MOST_NUMBERS:
        reason = f"it has {rows * columns:,} numbers, and {MOST_NUMBERS:,} are tried"
        return about(Level.UNDECIDED, "", {"reason": reason})
    affine = all(getattr(x, "activation", "identity") == "identity" for x in network.blocks)
    if affine and len(softmax) <= _TOWER and all(x.unit == "ln 2" for x in softmax):
        rank = deep_rank(data, network)
        arithmetic = f"derivatives and rank mod {rank.primes[0]}, in a tower of primes"
        if rank.full:
            return about(Level.PROVED, arithmetic)
        return about(Level.UNDECIDED, arithmetic, {"reason": f"it is at least {rank.rank}"})
    try:
        reason = _singular(data, network)
    except NotDifferentiable as undecided:
        reason = str(undecided)
    level = Level.UNDECIDED if reason else Level.ENCLOSED
    return about(level, "ball arithmetic", {"reason": reason} if reason else None)


def _singular(data: Dataset, network: Network) -> str:
    """Why no square block of J is shown to be invertible; "" if one is."""
    with np.errstate(all="ignore"):
        table = derivatives(data, network, range(weights_of(network)), Fraction(0))
        if not np.isfinite(table.mid).all():
            return "derivatives beyond the range of float64"
        unknowns = list(independent_columns(table.mid))
        try:
            inverse = np.linalg.inv(table.mid[:, unknowns]).astype(np.float64)
        except np.linalg.LinAlgError:
            return "the Jacobian is singular in float64"
        largest = float(contractions(inverse, table[:, unknowns]).max())
    return "" if largest < 1 else "no square block of it was shown to be invertible"


def _claim(
    rows: int,
    columns: int,
    level: Level,
    arithmetic: str,
    witness: dict[str, object] | None = None,
) -> Claim:
    return Claim(
        ids.NETWORK_RANK,
        f"The Jacobian of the {rows:,} output numbers by all {columns:,} weights has rank "
        f"{rows:,}: near these outputs every labelling is output exactly, each by weights of its "
        "own.",
        level,
        numbers={"rows": rows, "weights": columns},
        witness=witness,
        arithmetic=arithmetic,
        source="ours; docs/depth.md",
    )

"""Labels that no weights give: rank Y above H·d_v (ours; docs/tightness.md, 5).

A layer's outputs on T examples are Y = C W_O, with C the T×(H·d_v) matrix of concatenated values:
rank Y ≤ H·d_v, whatever the weights and the data. About given labels, not universal memorization.
"""

from __future__ import annotations

from typing import Any

from flint import fmpz_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.numerals import numeral
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, About, Claim
from attncert.verify.claims.words import counted
from attncert.verify.rank import rational

_SHOWN = 60  # rows of a minor in a witness, at most


def label_rank(data: Dataset, heads: int, value_width: int) -> Claim:
    """Given labels: rank Y ≤ H·d_v, as for the outputs of every layer; else no weights give them.

    Refuted with a nonzero minor of Y of more than H·d_v rows. Exact.

    >>> from attncert.constructions.data.generators import random
    >>> label_rank(random(4, 2, 3, m=3, seed=0), heads=1, value_width=2).level.value
    'refuted'
    """
    labels = data.labels.numerators
    rank = rational.rank(labels)
    most = heads * value_width
    witness: dict[str, Any] = {}
    if rank.rank > most:
        size = min(rank.rank, most + 1)
        rows, columns = _minor(labels.tolist(), rank.rows, size)
        minor = fmpz_mat([[int(labels[t, j]) for j in columns] for t in rows]).det()
        witness = {
            "rows": rows[:_SHOWN],
            "columns": columns[:_SHOWN],
            "determinant of these numerators": numeral(minor) if size <= _SHOWN else "not shown",
            "denominator": numeral(data.labels.denominator),
        }
    return Claim.checked(
        ids.LABELS_RANK,
        f"Given labels: $\\operatorname{{rank}}Y\\le Hd_v={most}$, as it is for the outputs of "
        f"every layer of {counted(heads, 'head')} with values of width {value_width}.",
        not witness,
        witness,
        numbers={"rank Y": rank.rank, "H d_v": most, "H": heads, "d_v": value_width},
        arithmetic=OVER_Q,
        source="ours; docs/tightness.md, section 5",
        about=About.THESE_LABELS,
    )


def _minor(
    table: list[list[int]], independent: tuple[int, ...], size: int
) -> tuple[list[int], list[int]]:
    """The first `size` of these independent rows, and columns in which they stay independent."""
    rows = list(independent[:size])
    columns = rational.rank([table[t] for t in rows]).columns
    return rows, list(columns)

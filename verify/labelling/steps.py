"""The steps of "every labelling", each checked on what was built: the zero and the rank.

From the layer, with code of its own; of the builder's record only the sets are used, and checked.
"""

from __future__ import annotations

from typing import Any

from flint import fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.zeros import Zero
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, About, Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.rank.whole_layer.jacobian_rows import JacobianRank

__all__ = ["claims_of"]

_SOURCE = "ours; docs/given-labels.md, Theorem 12"


def claims_of(data: Dataset, zero: Zero, rank: JacobianRank) -> tuple[Claim, ...]:
    """All steps in order; the last is the verdict."""
    full = Claim(
        ids.LABELLING_RANK,
        "The Jacobian of the outputs by all weights has rank $Tm$ at these weights.",
        Level.PROVED if rank.full else Level.UNDECIDED,
        numbers={"rank": rank.rank, "Tm": rank.rows, "prime": rank.prime},
        arithmetic=f"derivatives and rank mod {rank.prime}, without the factor ln 2 of the columns "
        "of keys; the rank over ℝ is at least that",
        source=_SOURCE,
    )
    verdict = Claim(
        ids.EVERY_LABELLING,
        f"For every labelling of {counted(data.T, 'example', 'the')} there are real weights of "
        f"{counted(zero.heads, 'head')} that memorize it.",
        Level.PROVED,
        numbers={"T": data.T, "heads": zero.heads},
        arithmetic="the zero and the rank; that they are enough is the theorem",
        rests_on=(ids.LABELLING_ZERO, ids.LABELLING_RANK),
        source=_SOURCE,
        about=About.EVERY_LABELLING,
    )
    return outputs_are_zero(zero), full, verdict


def outputs_are_zero(zero: Zero) -> Claim:
    """Heads of one set have equal key and query, and values times outputs that add up to 0."""
    layer, wrong = zero.layer, list[dict[str, Any]]()
    assert layer.output is not None and layer.value_width is not None
    width, m = layer.value_width, int(layer.output.ncols())
    rows = layer.output.tolist()
    for number, members in enumerate(zero.sets):
        first = layer.heads[members[0]]
        total = fmpq_mat(int(first.key.nrows()), m)
        for h in members:
            head = layer.heads[h]
            total += head.value * fmpq_mat(rows[h * width : (h + 1) * width])
            if (head.key, head.query) != (first.key, first.query):
                wrong.append({"set": number, "head": h, "because": "another key or query"})
        if any(total.entries()):
            wrong.append({"set": number, "because": "values times outputs do not add up to 0"})
    once = sorted(h for members in zero.sets for h in members) == list(range(zero.heads))
    return Claim.checked(
        ids.LABELLING_ZERO,
        "All outputs are 0, whatever the data: heads in one set have equal keys and queries, and "
        "their values times outputs add up to 0.",
        not wrong and once,
        {"sets": wrong[:8], "each head once": once},
        numbers={"sizes of the sets": [len(members) for members in zero.sets]},
        arithmetic=OVER_Q,
        source=_SOURCE,
    )

"""The steps of "every labelling", each checked on what was built: the zero, the rank, the pairs.

From the data and the layer, with code of its own; of the builder's record only what was *chosen* is
taken (separator, direction, scale, blocks), and checked.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.keys import distinct
from attncert.constructions.given.pairs import Pairs
from attncert.constructions.given.zeros import Zero
from attncert.constructions.numerals import numeral
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import RATIONAL, About, Claim, Level, counted
from attncert.verify.rank.whole_layer.jacobian_rows import JacobianRank

__all__ = ["claims_of"]

_SOURCE = "ours; docs/given-labels.md, Theorem 12"
_PAIRS = "ours; docs/given-labels.md, Theorem 4"


def claims_of(data: Dataset, zero: Zero, rank: JacobianRank) -> tuple[Claim, ...]:
    """All steps in order; the last is the verdict."""
    steps = pair_steps(data, zero) if isinstance(zero, Pairs) else ()
    shown = outputs_are_zero(zero)
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
    return (*steps, shown, full, verdict)


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
        arithmetic=RATIONAL,
        source=_SOURCE,
    )


def pair_steps(data: Dataset, zero: Pairs) -> tuple[Claim, ...]:
    """Separator, rates, blocks and weights of Theorem 4, from the data."""
    u, q = fmpq_mat(data.d, 1, list(zero.separator)), fmpq_mat(data.d, 1, list(zero.direction))
    reach = [Fraction(int(x.p), int(x.q)) for x in (data.query_matrix * q).entries()]
    ties, found, seen = [], [], dict[int, list[Fraction]]()
    for t in range(data.T):
        place = 0 if data.shared else t
        if place not in seen:
            values = [Fraction(int(x.p), int(x.q)) for x in (data.context(t) * u).entries()]
            rows = {tuple(map(str, row)) for row in data.context(t).tolist()}
            seen[place] = distinct(values)
            if len(seen[place]) != len(rows) or len(rows) < 2:
                ties.append(place)
        levels = seen[place]
        if len(levels) < 2:
            found.append(Fraction(0))
            continue
        gap = levels[-1] - levels[-2] if reach[t] > 0 else levels[1] - levels[0]
        found.append(abs(reach[t]) * gap)
    return (
        Claim.checked(
            ids.LABELLING_SEPARATOR,
            "Every context has two distinct rows, and distinct rows of one context have distinct "
            "values $E_tu$.",
            not ties,
            {"contexts": ties[:8]},
            arithmetic=RATIONAL,
            source=_PAIRS,
        ),
        _rates(zero, found),
        _blocks(data, zero),
        _weights(data, zero),
    )


def _rates(zero: Pairs, found: list[Fraction]) -> Claim:
    parts = [[found[t] for t in group] for group in zero.groups]
    fits = all(max(a) < min(b) for a, b in pairwise(parts))
    least = min(min(part) for part in parts)
    return Claim.checked(
        ids.LABELLING_RATES,
        "The rates $\\hat c_t=|\\hat q\\cdot e_t|\\gamma_t$ are positive, and greater in each "
        "block than in the block before.",
        fits and least > 0,
        {"ranges": [[numeral(min(part)), numeral(max(part))] for part in parts][:8]},
        numbers={"least": numeral(least), "greatest": numeral(max(map(max, parts)))},
        arithmetic=RATIONAL,
        rests_on=(ids.LABELLING_SEPARATOR,),
        source=_PAIRS,
    )


def _blocks(data: Dataset, zero: Pairs) -> Claim:
    dependent = []
    for number, group in enumerate(zero.groups):
        rows = data.queries[list(group)].integer_matrix()
        if int(rows.rank()) < len(group):
            dependent.append({"block": number, "examples": list(group)})
    once = sorted(t for group in zero.groups for t in group) == list(range(data.T))
    needed = zero.pairs + zero.heads % 2
    return Claim.checked(
        ids.LABELLING_BLOCKS,
        "The blocks hold each example once, their queries are independent, and there are no more "
        "of them than pairs (and, for odd $H$, one more head).",
        not dependent and once and len(zero.groups) <= needed,
        {"dependent": dependent[:4], "each once": once, "blocks": len(zero.groups)},
        numbers={"sizes": [len(group) for group in zero.groups]},
        arithmetic=RATIONAL,
        source=_PAIRS,
    )


def _weights(data: Dataset, zero: Pairs) -> Claim:
    """Pair h: key u, query τ(p+1-h) q̂, values u and -u; both in the units of the data."""
    u = fmpq_mat(data.d, 1, list(zero.separator))
    q = fmpq_mat(data.d, 1, list(zero.direction))
    wrong = []
    for h in range(zero.pairs):
        step = zero.scale * (zero.pairs - h) * data.queries.denominator
        for sign, head in zip((1, -1), zero.layer.heads[2 * h : 2 * h + 2], strict=True):
            as_chosen = (u * data.contexts.denominator, q * step, u * sign)
            if (head.key, head.query, head.value) != as_chosen:
                wrong.append(2 * h + (sign < 0))
    return Claim.checked(
        ids.LABELLING_WEIGHTS,
        "Pair $h$ has the key $u$, the query $\\tau(p+1-h)\\hat q$ and the values $\\pm u$, key "
        "and query times the denominators of the data.",
        not wrong,
        {"heads": wrong[:8]},
        numbers={"scale": zero.scale, "pairs": zero.pairs},
        arithmetic=RATIONAL,
        source=_PAIRS,
    )

"""Limits for all weights on one data set, as the claims made when no weights were built.

`limits` returns the bounds that exclude something: a bound on rank Z that is below T, or relations
between rows. If nothing excludes universal memorization, weights that work for all labels are
sought.

No weights output labels with rank Y > H·d_v (ours; docs/tightness.md, 5): a layer's outputs
on T examples are Y = C W_O, where C is the T×(H·d_v) matrix of concatenated values, so rank Y ≤
H·d_v for all weights and data. This is about given labels, not universal memorization.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import fmpz_mat

from attncert.constructions.construction import heads_to_place
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.numerals import fraction, numeral, short
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, About, Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.limits.capacity.jacobian import uppers
from attncert.verify.limits.tightness.columns import column_bound, columns
from attncert.verify.limits.tightness.relations.probes import best_rank, enough
from attncert.verify.limits.tightness.relations.rows import row_bound, row_relations, shortest
from attncert.verify.rank import rational

MOST_FEATURES = 20_000  # weights are drawn only if T·H·d is at most this number
_MOST_LISTED = 6  # the most numbers that a sentence lists; the witness contains all
_SHOWN = 60  # maximum number of rows of a minor in a witness


def largest_rank(data: Dataset, heads: int) -> tuple[int, dict[str, Any]]:
    """A bound on rank Z for all weights of these heads, of any width, with the data that prove it.

    If contexts are equal up to the order of their rows and have rank n, some weights attain it
    (docs/tightness.md, section 4).

    >>> from attncert.constructions.data.generators import signed_pairs
    >>> largest_rank(signed_pairs(), 7)
    (3, {'relation': {'indices': [0, 1, 2, 3], 'coefficients': ['1', '1', '-1', '-1']}})
    """
    relations, some = row_relations(data), columns(data, heads)
    by_rows = data.T - len(relations)
    if some.rank < by_rows:
        spanned = {"a": some.spans.differences, "b": some.spans.common, "S": list(some.members)}
        return some.rank, {"heads": heads} | spanned
    if relations:
        return by_rows, {"relation": shortest(relations)[0].as_dict()}
    return data.T, {"T": data.T}


def limits(data: Dataset, heads: int | None, value_width: int) -> list[Claim]:
    """The limits that hold for all weights. heads: the number of heads; None for any number."""
    bound = column_bound(data, heads) if heads is not None else ()
    claims = [*bound, *label_limits(data, heads, value_width)]
    if heads is not None and not bound:
        claims += too_narrow(data, heads, value_width)
    if value_width < data.m or any(claim.level is Level.REFUTED for claim in claims):
        return claims
    count = heads or heads_to_place(data.T, data.n) or 1
    if data.T * count * data.d <= MOST_FEATURES:
        reached = best_rank(data, count, data.T)
        claims += [enough(reached)] if reached.rank == data.T else []
    return claims


def too_narrow(data: Dataset, heads: int, value_width: int) -> list[Claim]:
    """The claim that these heads, of any width, do not memorize all labels if values are narrower
    than the labels; [] if no bound proves it. Exact.

    The bounds on the rank of the Jacobian are used (capacity/jacobian.py): if it is below T·m, the
    outputs have measure zero, so almost no labelling is memorized, even by weights that depend on
    the labelling.
    """
    labels = data.T * data.m
    least = min(upper.bound for upper in uppers(data, (heads, data.d, value_width), range(data.T)))
    if value_width >= data.m or least >= labels:
        return []
    numbers = {"dimension of the outputs": least, "label numbers": labels}
    reason = f"the outputs have dimension at most {least}, and the labels have {labels:,} entries"
    verdict = Claim(
        ids.VALUES_UNIVERSAL,
        f"Universal memorization: some keys and queries of {counted(heads, 'head')} serve every "
        f"labelling of {counted(data.T, 'example', 'the')} with values of width {value_width}.",
        Level.REFUTED,
        numbers=numbers,
        witness=numbers | {"reason": reason},
        arithmetic=OVER_Q,
        source="ours; docs/given-labels.md, Theorems 7 and 9",
        about=About.UNIVERSAL,
    )
    return [verdict]


def label_limits(data: Dataset, heads: int | None, value_width: int) -> list[Claim]:
    """The limits that can exclude the given labels: the rank of the labels, and tied examples."""
    claims: list[Claim] = []
    if heads is not None and data.labelled:
        labels = label_rank(data, heads, value_width)
        claims += [labels] if labels.level is Level.REFUTED else []
    if row_relations(data):
        claims += row_bound(data)
    return claims


def impossible(
    universal: Sequence[Claim],
    labels: Sequence[Claim],
    heads: int | None,
    value_width: int,
    data: Dataset,
) -> Claim:
    """The conclusion that these limits refute, with the reason; limits for the given labels come
    first. It rests on the bounds, which hold, and not on the statements that the bounds refute.
    """
    count = "any number of heads" if heads is None else counted(heads, "head")
    against = [*labels, *universal]
    witness: dict[str, Any] = {"reason": _why(against[0])}
    witness["shown by"] = [claim.id for claim in against]
    witness |= against[0].witness or {}
    premises = dict.fromkeys(i for claim in against for i in claim.rests_on)
    narrow = "reason" in (against[0].witness or {})  # made by too_narrow for values of this width
    statement = (
        against[0].statement
        if narrow
        else f"Given labels: some weights of {count}, with values of width {value_width}, chosen "
        f"for these labels, output exactly these on {counted(data.T, 'example', 'all')}."
        if labels
        else f"Universal memorization: some keys and queries of {count}, of any width, serve every "
        f"labelling of {counted(data.T, 'example', 'these')}."
    )
    return Claim(
        ids.MEMORIZATION,
        statement,
        Level.REFUTED,
        numbers={"examples": data.T},
        witness=witness,
        rests_on=tuple(premises),
        source="ours; docs/tightness.md",
        about=About.THESE_LABELS if labels else About.UNIVERSAL,
    )


def _why(claim: Claim) -> str:
    """The reason in one sentence, with the numbers from the claim that excludes the weights."""
    numbers, witness = claim.numbers, claim.witness or {}
    if "reason" in witness:
        return str(witness["reason"])
    if claim.id in (ids.ROWS_LABELS, ids.ROWS_UNIVERSAL):
        tie = (
            f"with the coefficients {_in_short(witness['coefficients'])} the outputs of "
            f"{counted(len(witness['indices']), 'example', 'the')} "
            f"{_in_short(witness['indices'])} add up to 0 for every choice of weights"
        )
        if claim.id == ids.ROWS_UNIVERSAL:
            return tie
        return f"{tie}, and their labels to {_in_short(witness['combination of the labels'])}"
    if claim.id == ids.LABELS_RANK:
        return (
            f"the labels have rank {numbers['rank Y']}, and the values of all heads side by side "
            f"have width {numbers['H d_v']}"
        )
    bound, examples = numbers["bound"], numbers["T"]
    return f"rank Z is at most {bound} for every choice of weights, and T = {examples}"


def _in_short(numbers: Sequence[int | str]) -> str:
    texts = [short(fraction(x)) for x in numbers[:_MOST_LISTED]]
    return ", ".join([*texts, "..."] if len(numbers) > _MOST_LISTED else texts)


def label_rank(data: Dataset, heads: int, value_width: int) -> Claim:
    """The claim that given labels satisfy rank Y ≤ H·d_v, as all outputs do; otherwise no weights
    output them. The witness is then a nonzero minor of Y with more than H·d_v rows. Exact.

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
        rows = list(rank.rows[:size])
        columns = list(rational.rank(labels[rows]).columns)  # the rows stay independent
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

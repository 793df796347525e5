"""What no weights can do: labels that are out of reach, each with the structure that shows it.

Two questions, never mixed:

    given labels    do some weights, chosen for these labels, output exactly these?
    universal       does one choice of keys and queries serve every labelling?

and three verdicts for each, never two: *proved* (some weights do), *impossible* (none do, and this
is why), *undecided* (this certificate fails; nothing follows). Not one of them comes from attempts.

Impossible, given labels: Σ c_t z_t = 0 for every choice of weights, and Σ c_t y_t ≠ 0 (rows.py,
sums.py). Impossible, universally: any relation between rows; rank Z ≤ Ha + b < T (columns.py).
Values are as wide as the labels here; labels.py and values.py are about narrower ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.contexts import as_if_once
from attncert.constructions.numerals import numeral
from attncert.verify.certificate import TooLarge, in_format, sealed
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import RATIONAL, About, Claim, Level, counted
from attncert.verify.claims.ids import ClaimId
from attncert.verify.coq.theorems import in_coq
from attncert.verify.rank.directions import direction
from attncert.verify.rank.rational import Relation
from attncert.verify.tightness.relations.rows import (
    BrokenRelation,
    broken_relation,
    class_by_class,
    complete,
)
from attncert.verify.tightness.universal import universal
from attncert.verify.tightness.values import too_few_parameters

__all__ = ["certificate_of", "impossibility", "kind", "tied_certificate"]

_ROWS = "ours; docs/tightness.md, section 3"


def certificate_of(
    data: Dataset, broken: BrokenRelation, produced_by: Mapping[str, Any]
) -> dict[str, Any]:
    """The claim that no weights give these labels: they break a relation that all weights obey, and
    that is checkable: verify/checker decides it alone. Raises TooLarge."""
    coefficients, relation = ["0"] * data.T, broken.relation
    for t, c in zip(relation.indices, relation.coefficients, strict=True):
        coefficients[t] = numeral(c)
    body = {
        "format": "attncert/1",
        "claim": "impossible",
        "construction": kind(data, relation),
        "dims": {"examples": data.T, "context": data.n, "width": data.d, "labels": data.m},
        "data": data.canonical(),
        "relation": coefficients,
        "produced_by": dict(produced_by),
        "input_sha256": data.sha256,
    }
    return sealed(in_format(body, data))


def tied_certificate(data: Dataset, produced_by: Mapping[str, Any]) -> dict[str, Any] | None:
    """The certificate that tied examples have labels that no weights give; None without such
    examples, and where the checker could not decide it (then the witness of rows.labels shows it).
    """
    broken = broken_relation(data)
    if broken is None or not broken.checkable:
        return None
    try:
        return certificate_of(data, broken, produced_by)
    except TooLarge:
        return None


def impossibility(data: Dataset, heads: int, *, seed: int = 0) -> tuple[Claim, ...]:
    """Both verdicts for so many heads of any width, with values as wide as the labels, and what
    each rests on.

    Ids begin with "impossible."; the two verdicts are "impossible.given" and
    "impossible.universal", statements that such weights exist: refuted where they are impossible.
    """
    count = too_few_parameters(data, heads, data.d, data.m)
    broken = broken_relation(data)
    tied = [] if broken is None else _tied(data, broken)
    some = universal(data, heads, data.d, seed=seed)
    asked = f"Universal memorization: {some.statement[0].lower()}{some.statement[1:]}"
    every = replace(some, id=ids.IMPOSSIBLE_UNIVERSAL, statement=asked)
    return (*tied, count, _given(data, broken, every, heads), every)


def _tied(data: Dataset, broken: BrokenRelation) -> list[Claim]:
    """The structure, what follows for all weights, and the labels. Proved in Coq is what follows
    kind by kind; equal sums of rows tie different kinds, which is argued."""
    structure_kind = kind(data, broken.relation)
    how = "kind of input by kind of input" if broken.checkable else "by equal sums of rows"
    structure = Claim(
        ids.IMPOSSIBLE_STRUCTURE,
        f"In $\\sum_tc_tz_t$ ({structure_kind}) the means of the contexts cancel, and so does what "
        f"attention adds, {how}.",
        Level.PROVED,
        numbers={"kind": structure_kind, "examples": len(broken.relation.indices)},
        witness=broken.relation.as_dict(),
        arithmetic=RATIONAL,
        source=_ROWS,
    )
    escape = Claim(
        ids.IMPOSSIBLE_INESCAPABLE,
        "$\\sum_tc_tz_t=0$ for every choice of weights, in any number of heads of any width.",
        Level.KERNEL if broken.checkable else Level.ARGUED,
        arithmetic=in_coq("impossible.tied_features") if broken.checkable else RATIONAL,
        rests_on=(structure.id,),
        source=_ROWS,
    )
    labels = Claim(
        ids.IMPOSSIBLE_LABELS,
        "The labels break the relation: $\\sum_tc_ty_t\\ne0$.",
        Level.PROVED,
        witness={"combination of the labels": [numeral(x) for x in broken.gap]},
        arithmetic=RATIONAL,
        rests_on=(structure.id,),
        source="outputs are linear in the rows of $Z$",
    )
    return [structure, escape, labels]


def _given(data: Dataset, broken: BrokenRelation | None, every: Claim, heads: int) -> Claim:
    premises: tuple[ClaimId, ...] = ()
    witness: Mapping[str, Any] | None = None
    if broken is not None:
        level, why = Level.REFUTED, "impossible, with any number of heads"
        premises = (ids.IMPOSSIBLE_INESCAPABLE, ids.IMPOSSIBLE_LABELS)
        witness = broken.relation.as_dict()
    elif every.level is Level.PROVED:
        level, why, premises = Level.PROVED, "as they do every labelling", (every.id,)
    elif complete(data) and heads >= data.T:
        # Every relation is known and obeyed: the labels lie in the span of all possible features,
        # and T heads can span what T examples can show.
        level, why = Level.ARGUED, "no other relation ties these examples"
    else:
        level, why = Level.UNDECIDED, "nothing known forbids it, nothing here shows it"
    return Claim(
        ids.IMPOSSIBLE_GIVEN,
        f"Given labels: some weights of {counted(heads, 'head')}, which may depend on the labels, "
        f"give exactly these ({why}).",
        level,
        numbers={"T": data.T, "heads": heads},
        witness=witness,
        arithmetic=RATIONAL,
        rests_on=premises,
        source="ours; docs/tightness.md, sections 3 and 5",
        about=About.THESE_LABELS,
    )


def kind(data: Dataset, relation: Relation) -> str:
    """The structure of a relation, in the words of the field. For readers: no step rests on it."""
    if not class_by_class(data, relation):
        return "equal sums of rows"
    used = list(relation.indices)
    contexts = [as_if_once(data, t) for t in used]
    queries = [data.queries.numerators[t].tolist() for t in used]
    pair = relation.coefficients == (1, -1)
    if pair and queries[0] == queries[1] and _same(map(sorted, contexts)):
        return "equal inputs"
    if all(_same(E) or not any(e) for E, e in zip(contexts, queries, strict=True)):
        return "no attention"
    if data.n == 2 and _same(map(sorted, contexts)):
        pairs = {direction(e) for e in queries}
        if all((line, -scale) in pairs for line, scale in pairs):
            return "opposite queries"
    return "equal up to shift and scale"


def _same(items: Iterable[Any]) -> bool:
    items = list(items)
    return all(item == items[0] for item in items)

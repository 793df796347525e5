"""Edge cases of the queries: zero, repeated, parallel, opposite, dependent, near each other."""

from __future__ import annotations

from functools import partial

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import family, signed_pairs
from attncert.verify.audit.edge_cases.records import (
    EdgeCase,
    Expect,
    both,
    dependent,
    hypothesis,
    impossible,
    labels,
    limits,
    relation,
    weights,
)
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level

PROVED, REFUTED, NOT = Level.PROVED, Level.REFUTED, Level.NOT_APPLICABLE
_CERTIFICATE = "the partition certificate fails in every grouping; exact rank"
_THEOREM = {ids.THEOREM: {"hypotheses that do not hold": [ids.A1]}}
_EYE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
_TWO = _EYE[:2]
_THREE_CONTEXTS = [[[1, 0, 0], [0, 1, 0]], [[1, 1, 0], [0, 1, 1]], [[0, 0, 1], [1, 2, 0]]]
_LABELS = [1, 2, 3, 4, 5]


case = partial(EdgeCase.of, "queries")


def signed(labels: list[int]) -> Dataset:
    queries = [[1, 2], [-1, -2], [3, 1], [-3, -1]]
    return Dataset.of([[1, 0], [0, 1]], queries, labels, "signed-pairs")


CASES = (
    case("zero query among others", "not applicable, but some weights serve",
         "no group may contain a zero query, but $z$ is then the mean of its rows, which may be "
         "independent of the others", _CERTIFICATE,
         lambda: Dataset.of(_THREE_CONTEXTS, [[1, 2, 0], [0, 0, 0], [1, 0, 1]], [1, 2, 3]),
         *both(NOT, dependent([1], [1])), weights(PROVED, 2)),
    case("zero query alone", "not applicable, but some weights serve",
         "$T=1$ needs only $z\\ne0$", _CERTIFICATE,
         lambda: Dataset.of([[1, 2], [3, 4]], [[0, 0]], [7]),
         *both(NOT, dependent([0], [1])), weights(PROVED, 1)),
    case("repeated query, distinct contexts", "not applicable, but some weights serve",
         "the contexts tell the examples apart", _CERTIFICATE,
         lambda: Dataset.of(_THREE_CONTEXTS, [[1, 2, 0], [1, 2, 0], [1, 0, 1]], [1, 2, 3]),
         *both(NOT, dependent([0, 1], [1, -1])), weights(PROVED, 2)),
    case("repeated query, shared context, other label",
         "impossible for all weights, given labels too",
         "equal inputs have equal outputs", "docs/tightness.md, section 3",
         lambda: Dataset.of(_TWO, [[1, 2, 0], [1, 2, 0], [1, 0, 1]], [1, 2, 3]),
         *impossible(limits("rows", labels=True), dependent([0, 1], [1, -1])),
         weights(REFUTED, 2, **relation([0, 1], [1, -1])), labels(REFUTED, -1)),
    case("repeated query, shared context, same label",
         "impossible universally, the given labels obey the relation",
         "the example occurs twice: other labels could not be met", "docs/tightness.md, section 3",
         lambda: Dataset.of(_TWO, [[1, 2, 0], [1, 2, 0], [1, 0, 1]], [2, 2, 3]),
         *impossible(limits("rows"), dependent([0, 1], [1, -1])),
         weights(REFUTED, 2, **relation([0, 1], [1, -1])), labels(PROVED)),
    case("parallel queries, n=2", "not applicable, but some weights serve",
         "$e$ and $2e$ differ in their logits; for $n=2$ queries that are distinct up to sign are "
         "enough", "docs/tightness.md, section 4",
         lambda: Dataset.of(_TWO, [[1, 2, 0], [2, 4, 0], [1, 0, 1]], [1, 2, 3]),
         *both(NOT, dependent([0, 1], [2, -1])), weights(PROVED, 2)),
    case("all queries on one line, n=3", "not applicable, but some weights serve",
         "for $n\\ge3$ and one shared context distinct queries are enough",
         "docs/tightness.md, section 4",
         lambda: Dataset.of(_EYE, [[k, 2 * k, 0] for k in range(1, 6)], _LABELS),
         *both(NOT, dependent([0, 1], [2, -1])), weights(PROVED, 2)),
    case("e, -e, f, -f with n=2", "impossible for all weights, given labels too",
         "with two tokens the weights at $q$ and $-q$ add up to $(1,1)$: $A(e)+A(-e)=A(f)+A(-f)$",
         "docs/tightness.md, section 3",
         signed_pairs,
         *impossible(limits("rows", labels=True), dependent([0, 1], [1, 1])),
         weights(REFUTED, 3, **relation([0, 1, 2, 3], [1, 1, -1, -1])), labels(REFUTED, 1)),
    case("e, -e, f, -f with n=2, labels that obey",
         "impossible universally, the given labels obey the relation",
         "$1+2=0+3$: the relation forbids other labels, not these", "docs/tightness.md, section 3",
         lambda: signed([1, 2, 0, 3]),
         *impossible(limits("rows"), dependent([0, 1], [1, 1])),
         weights(REFUTED, 3, **relation([0, 1, 2, 3], [1, 1, -1, -1])), labels(PROVED)),
    case("e, -e, f, -f with n=3", "not applicable, but some weights serve",
         "a third token breaks the symmetry $\\sigma(x)+\\sigma(-x)=1$",
         "docs/tightness.md, section 4",
         lambda: Dataset.of(_EYE, [[1, 2, 0], [-1, -2, 0], [3, 1, 0], [-3, -1, 0]], [1, 0, 0, 0]),
         *both(NOT, dependent([0, 1], [1, 1])), weights(PROVED, 2)),
    case("A1 false, given order fails, another grouping serves",
         "proved, although the theorem does not apply as stated",
         "the first three queries are dependent; the construction needs one good grouping, not A1",
         "constructions/search/grouping.py",
         lambda: Dataset.of(_EYE, [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]], _LABELS),
         *both(PROVED, dependent([0, 1, 2], [1, 1, -1], "A1") | _THEOREM, heads=2)),
    case("A1 false, an earlier query in a later span",
         "proved, although the theorem does not apply as stated",
         "$e_0=e_3-e_4$ blocks the selector of $\\{3,4\\}$; another grouping is found",
         "constructions/search/grouping.py",
         lambda: Dataset.of(_EYE, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [0, 1, 1]], _LABELS),
         *both(PROVED, dependent([0, 3, 4], [1, -1, 1], "A1") | _THEOREM, heads=2)),
    case("A1 false, dependent triple in different groups",
         "proved, although the theorem does not apply as stated",
         "the given order already meets the partition condition",
         "constructions/search/grouping.py",
         lambda: Dataset.of(_EYE, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 2, 3]], _LABELS),
         *both(PROVED, dependent([0, 1, 3], [1, 1, -1], "A1") | _THEOREM, heads=2)),
    case("all queries in a plane, n=3, H=2", "not applicable, but some weights serve",
         "no group of three is independent, and two heads cannot hold five examples in another way",
         _CERTIFICATE,
         lambda: Dataset.of(_EYE, [[1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 2, 0], [1, 3, 0]], _LABELS),
         *both(NOT, dependent([0, 1, 2], [1, 1, -1]), heads=2), weights(PROVED, 2)),
    case("all queries in a plane, n=3, H=4",
         "proved, although the theorem does not apply as stated",
         "groups of 2, 1, 1, 1: as many as Kruskal rank 2 promises", "paper, Remark 1",
         lambda: Dataset.of(_EYE, [[1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 2, 0], [1, 3, 0]], _LABELS),
         *both(PROVED, dependent([0, 1, 2], [1, 1, -1], "A1") | _THEOREM, heads=4)),
    case("Kruskal rank 2 < n=3, d_h=2",
         "proved at $T=H(2-1)+1$; A1 holds at the strength that is used",
         "Remark 1: $r=\\min(n,d_h,\\kappa)$", "paper, Remark 1",
         lambda: Dataset.of(_EYE, [[1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 2, 0]], _LABELS[:4]),
         Expect("paper", PROVED, dependent([0, 1, 2], [1, 1, -1], "A1") | _THEOREM,
                options={"head_width": 2, "heads": 3})),
    case("queries in a space of dimension n", "proved",
         "a moment curve: every $n$ independent, no $n+1$; all that A1 asks", "paper, Theorem 1",
         lambda: family(7, 3, 5, queries="one-subspace", seed=1),
         *both(PROVED, heads=3)),
    case("near-collinear queries", "proved; the paper's heads by rank alone",
         "in exact arithmetic nothing is nearly dependent; only the exact readout grows too long",
         "paper, Theorem 1",
         lambda: family(5, 3, 4, queries="near-collinear", seed=2),
         Expect("paper", PROVED, {ids.READOUT: {}}, options={"heads": 2}),
         Expect("width-one", PROVED, options={"heads": 2})),
    case("queries of very different length", "proved, by rank: the exact readout would be too long",
         "directions count, lengths do not, but logits of $10^{12}$ make features as long",
         "paper, Theorem 1",
         lambda: Dataset.of(_EYE, [[10**12, 0, 0], [0, 1, 0], [0, 0, 10**6], [1, 1, 1]],
                            _LABELS[:4]),
         *both(PROVED, {ids.READOUT: {}, ids.ENCLOSURE_ERROR: {}})),
    case("queries with a common factor", "proved",
         "the Smith form is not trivial: group logits grow by the factor, and stay integers",
         "paper, Theorem 1; exactness: docs/architecture.md",
         lambda: Dataset.of(_EYE, [[6, 0, 0], [0, 10, 0], [0, 0, 15], [6, 10, 15]], _LABELS[:4]),
         *both(PROVED)),
    case("a zero column everywhere", "proved",
         "contexts and queries lie in a subspace of the space of width $d$", "paper, Theorem 1",
         lambda: Dataset.of([[1, 0, 0, 0], [0, 1, 0, 0]],
                            [[1, 2, 0, 0], [2, 1, 0, 0], [1, 1, 0, 0]], [1, 2, 3]),
         *both(PROVED)),
    case("T=n+1 with H=1 of dependent queries", "impossible for all weights, given labels too",
         "above capacity, and a query occurs twice with two labels", "paper, Theorem 1",
         lambda: Dataset.of(_TWO, [[1, 0, 0], [1, 0, 0], [0, 1, 0]], [1, 2, 3]),
         *impossible(limits("rows", "flat", labels=True),
                     dependent([0, 1], [1, -1], "A1") | hypothesis("capacity", T=3, capacity=2),
                     heads=1),
         labels(REFUTED, -1)),
)  # fmt: skip

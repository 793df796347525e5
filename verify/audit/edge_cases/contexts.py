"""Edge cases of the contexts: dependent, repeated, permuted, shifted, tied, scaled."""

from __future__ import annotations

from functools import partial

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import family, step_seven_trap
from attncert.verify.audit.edge_cases.records import (
    EdgeCase,
    Expect,
    at_most,
    both,
    dependent,
    hypothesis,
    impossible,
    labels,
    limits,
    relation,
    rows,
    weights,
)
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level

PROVED, REFUTED, NOT = Level.PROVED, Level.REFUTED, Level.NOT_APPLICABLE
_EYE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
_ORDERS = ((0, 1, 2), (1, 2, 0), (2, 0, 1), (1, 0, 2), (2, 1, 0))
_PERMUTED = [[_EYE[i] for i in order] for order in _ORDERS]
_FIVE = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 2, 4]]
_TIED = [
    [[1, 0, 0], [0, 1, 0]],
    [[0, 1, 0], [1, 0, 0]],
    [[1, 0, 0], [-1, 0, 1]],
    [[0, 0, 1], [0, 1, 0]],
    [[0, 0, 1], [0, 1, 0]],
]
_FIVE_LABELS = [1, 2, 3, 4, 5]
_FULL = [[[1, 0, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 1]]]  # two contexts of rank 2

case = partial(EdgeCase.of, "contexts")

CASES = (
    case("a repeated row in one context", "not applicable, but some weights serve",
         "A2 is false in context 0, whose features are constant; the others make up for it",
         "paper, Assumption 2; exact rank",
         lambda: Dataset.of([[[1, 2, 0], [1, 2, 0]], *_FULL], _EYE, [1, 2, 3]),
         *both(NOT, rows(0, [1, -1])), weights(PROVED, 2)),
    case("a zero row in one context", "not applicable, but some weights serve",
         "A2 is false, but the rows $a, 0$ still differ", "paper, Assumption 2; exact rank",
         lambda: Dataset.of([[[1, 2, 0], [0, 0, 0]], *_FULL], _EYE, [1, 2, 3]),
         *both(NOT, rows(0, [0, 1])), weights(PROVED, 2)),
    case("a dependent row among three", "not applicable, with the exact relation",
         "$E_2=2E_0-E_1$ in context 1", "paper, Assumption 2",
         lambda: Dataset.of([_EYE, [[1, 2, 0], [0, 1, 1], [2, 3, -1]]], _EYE[:2], [1, 2]),
         *both(NOT, rows(1, [2, -1, -1])), weights(PROVED, 1)),
    case("all rows of the shared context equal", "impossible for all weights, given labels too",
         "every output is that of the one row, whatever the query", "docs/tightness.md, section 3",
         lambda: Dataset.of([[1, 2], [1, 2]], [[1, 0], [0, 1], [1, 1]], [1, 1, 2]),
         *impossible(limits("rows", "flat", labels=True), rows(0, [1, -1]), heads=3),
         weights(REFUTED, 3, **relation([0, 1], [1, -1])), labels(REFUTED, -1)),
    case("all rows zero", "impossible for all weights, given labels too",
         "$Z=0$", "docs/tightness.md, section 3",
         lambda: Dataset.of([[0, 0], [0, 0]], [[1, 0], [0, 1]], [1, 2]),
         *impossible(limits("rows", labels=True), hypothesis("A2", context=0)),
         weights(REFUTED, 1, **relation([0], [1])), labels(REFUTED, 1)),
    case("dependent rows that are affinely independent", "not applicable, but some weights serve",
         "softmax sees logits up to a shift: rows $0, a$ can be told apart",
         "paper, Assumption 2; exact rank",
         lambda: Dataset.of([[0, 0], [1, 0]], [[1, 0], [0, 1]], [1, 2]),
         *both(NOT, rows(0, [1, 0])), weights(PROVED, 2)),
    case("shared context in a line, H=1", "impossible for all weights at $H=1$",
         "rows $0, a$: every feature is a multiple of $a$, so $\\operatorname{rank}Z\\le H$",
         "docs/tightness.md, section 2",
         lambda: Dataset.of([[0, 0], [1, 0]], [[1, 0], [0, 1]], [1, 2]),
         *impossible(limits("flat"), rows(0, [1, 0]), heads=1), weights(REFUTED, 1, **at_most(1))),
    case("permuted contexts under uniform mixing", "rank 1 with all weights zero",
         "every example has the same mean of its rows", "mathematics of uniform attention",
         lambda: Dataset.of(_PERMUTED, _FIVE, [1, 2, 3, 4, 5]),
         Expect("uniform", PROVED, shows={ids.UNIFORM: {"rank": 1}}), weights(PROVED, 2)),
    case("permuted contexts", "proved",
         "the construction does not need the means to differ", "paper, Theorem 1",
         lambda: Dataset.of(_PERMUTED, _FIVE, [1, 2, 3, 4, 5]),
         *both(PROVED, heads=2), Expect("paper", PROVED, options={"heads": 2, "interior": False})),
    case("permuted contexts, T above H(n-1)+1", "impossible for all weights",
         "the features do not see the order of the rows: a shared context in disguise",
         "docs/tightness.md, section 4",
         lambda: Dataset.of(_PERMUTED[:4], _FIVE[:4], [1, 2, 3, 4]),
         *impossible(limits("flat"), hypothesis("capacity", T=4, capacity=3), heads=1),
         weights(REFUTED, 1, 3, **at_most(3))),
    case("equal inputs up to the order of context rows, other label",
         "impossible for all weights, given labels too",
         "attention does not see the order of its rows", "docs/tightness.md, section 3",
         lambda: Dataset.of(_PERMUTED[:2], [[1, 2, 3], [1, 2, 3]], [1, 2]),
         *impossible(limits("rows", labels=True), dependent([0, 1], [1, -1])),
         weights(REFUTED, 2, **relation([0, 1], [1, -1])), labels(REFUTED, -1)),
    case("contexts equal up to a shift", "impossible for all weights, given labels too",
         "shifting all rows by $a$ shifts the feature by $a$, for every query: "
         "$z(E{+}a,e)-z(E,e)=z(E{+}a,f)-z(E,f)$", "docs/tightness.md, section 3",
         lambda: Dataset.of([[[1, 0], [0, 1]], [[2, 1], [1, 2]]] * 2,
                            [[1, 2], [1, 2], [2, 1], [2, 1]], [0, 1, 0, 0]),
         *impossible(limits("rows", labels=True), dependent([0, 1], [1, -1])),
         weights(REFUTED, 3, **relation([0, 1, 2, 3], [1, -1, -1, 1])), labels(REFUTED)),
    case("step 7: two new examples, one new direction", "proved",
         "contexts $\\{e_1,e_2,e_3\\}^3,\\{e_3,e_4,e_5\\}^2$: each new row must leave the span of "
         "*all* rows so far, the one just placed included",
         "ours; constructions/search/placement.py",
         step_seven_trap,
         *both(PROVED, heads=2),
         Expect("paper", PROVED, options={"heads": 2, "head_width": 3, "interior": False})),
    case("contexts of very different scale", "proved, by rank: the exact readout would be too long",
         "scales from $1$ to $10^{12}$: logits and features grow, the rank certificate does not",
         "paper, Theorem 1",
         lambda: family(5, 3, 4, contexts="scaled", seed=3),
         Expect("paper", PROVED, {ids.READOUT: {}, ids.ENCLOSURE_ERROR: {}}),
         Expect("width-one", PROVED)),
    case("sparse contexts", "proved",
         "one or two entries in a row", "paper, Theorem 1",
         lambda: family(7, 3, 5, contexts="sparse", seed=1),
         *both(PROVED, heads=3)),
    case("repeated contexts", "proved",
         "two contexts for five examples: A2 says nothing about distinctness", "paper, Theorem 1",
         lambda: Dataset.of([_EYE, [[1, 1, 0], [0, 1, 1], [1, 0, 1]], _EYE, _EYE, _EYE],
                            _FIVE, [1, 2, 3, 4, 5]),
         *both(PROVED, heads=2)),
    case("ties in Eu for later examples",
         "proved, although separators tie on examples of later heads",
         "only *earlier* examples need a unique maximum; later ones have their own head",
         "paper, proof of Theorem 1, step 6",
         lambda: Dataset.of(_TIED, [[0, 2, 0], [0, 1, 1], [0, 0, 1], [2, 0, 0], [1, 1, 0]],
                            _FIVE_LABELS),
         *both(PROVED),
         Expect("later ties", PROVED, shows={ids.LATER_TIES: {"pairs": [(2, 3), (2, 4), (3, 4)]}})),
)  # fmt: skip

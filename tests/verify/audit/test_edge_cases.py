"""Edge cases: each run must print a line that follows from the theorem, not from the code.

`edge_case_runs.py` explains the lines; "both" means the paper's construction and heads of width
one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import pytest
from edge_case_runs import line
from support.exact_data import family, step_seven_trap
from support.shares import share

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import random, signed_pairs

I3 = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
I4 = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
PERMUTED = [
    [I3[i] for i in order] for order in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (1, 0, 2), (2, 1, 0))
]
CURVE = [*I3, [1, 1, 1], [1, 2, 4]]
THREE, FIVE = [[1, 2], [3, 1], [1, 1]], [1, 2, 3, 4, 5]
PLANE = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 2, 0], [1, 3, 0]]
CONTEXTS = [[[1, 0, 0], [0, 1, 0]], [[1, 1, 0], [0, 1, 1]], [[0, 0, 1], [1, 2, 0]]]
RANK_TWO = [[[1, 0, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 1]]]
TIED = [
    [[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [1, 0, 0]], [[1, 0, 0], [-1, 0, 1]],
    [[0, 0, 1], [0, 1, 0]], [[0, 0, 1], [0, 1, 0]],
]  # fmt: skip

ANY = "A1, partition, some-partition"  # whatever the grouping
NO_LABELS = "no weights: given-labels, rows.labels, rows.universal"
FLAT = ", tightness.universal"
OPEN = "; open: given-labels"


@dataclass(frozen=True)
class Case:
    """name: the name of the data. lines: the expected lines, by run and options."""

    name: str
    lines: Mapping[str, str]
    make: Callable[[], Dataset]


CASES = (
    # sizes
    Case("n=d=1", {"both": "proved"}, lambda: Dataset.of([[3]], [[-2]], [1])),
    Case("T<n", {"both": "proved"}, lambda: family(2, 4, 5, seed=3)),
    Case("n=1, T=2, distinct contexts", {
        "both": "not applicable; capacity T=2, capacity=1", "weights heads=1 width=1": "proved",
    }, lambda: Dataset.of([[[2, 1]], [[1, 1]]], [[1, 3], [0, 1]], [5, 6])),
    Case("n=1, T=2, shared context", {
        "both": f"refuted; capacity T=2, capacity=1; {NO_LABELS}",
        "weights heads=3 width=1": "refuted: z0 - z1",
    }, lambda: Dataset.of([[2, 1]], [[1, 3], [0, 1]], [5, 6])),
    Case("d_h=1, T=1", {"both": "proved", "paper head_width=1": "proved"}, lambda: family(1, 3, 3)),
    Case("d_h=1, T=H(n-1)+1", {
        "paper head_width=1": "not applicable; capacity T=5, capacity=1",
        "width-one heads=2": "proved",
    }, lambda: family(5, 3, 4)),
    Case("1<d_h<n, T=H(d_h-1)+1", {
        "paper head_width=2 heads=4": "proved",
    }, lambda: family(5, 4, 4, bound=2, seed=1)),
    Case("d_h<n, T=H(d_h-1)+2", {
        "paper head_width=2 heads=4": "not applicable; capacity T=6, capacity=5",
        "weights heads=4 width=2": "proved",
    }, lambda: family(6, 4, 4, seed=1)),
    Case("d_h>n", {
        "paper head_width=5 heads=2": "proved",
        "paper head_width=5 heads=1": "not applicable; capacity T=3, capacity=2",
    }, lambda: family(3, 2, 3, seed=1)),
    Case("n>d", {
        "both": "not applicable; context-size n=3, d=2; A2 in context 0: 46 E0 - 7 E1 - 9 E2; "
                "A1 e0 + 2 e1 - e2",
        "weights heads=2 width=1": "proved",
    }, lambda: random(3, 3, 2, seed=1)),
    Case("T above capacity, shared context", {
        "both heads=2": f"refuted; capacity T=6, capacity=5; no weights: tightness.universal{OPEN}",
        "weights heads=2 width=1": "refuted: no weights exceed rank 5",
    }, lambda: family(6, 3, 4, shared=True, seed=5)),
    Case("T above capacity, distinct contexts", {
        "both heads=2": "not applicable; capacity T=7, capacity=5",
        "weights heads=2 width=1": "proved",
    }, lambda: family(7, 3, 4, seed=5)),
    Case("T>Hd", {
        "both heads=2": f"refuted; capacity T=5, capacity=3; no weights: tightness.universal{OPEN}",
        "weights heads=2 width=1": "refuted: no weights exceed rank 4",
    }, lambda: family(5, 2, 2, seed=4)),
    Case("d_v<m, T=2", {
        "both value_width=1": "not applicable; value-width d_v=1, m=2",
    }, lambda: Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1]], [[1, 0], [0, 1]])),
    # queries
    Case("zero query among others", {
        "both": f"not applicable; {ANY} e1", "weights heads=2 width=1": "proved",
    }, lambda: Dataset.of(CONTEXTS, [[1, 2, 0], [0, 0, 0], [1, 0, 1]], [1, 2, 3])),
    Case("repeated query, distinct contexts", {
        "both": f"not applicable; {ANY} e0 - e1", "weights heads=2 width=1": "proved",
    }, lambda: Dataset.of(CONTEXTS, [[1, 2, 0], [1, 2, 0], [1, 0, 1]], [1, 2, 3])),
    Case("repeated query, shared context, other label", {
        "both": f"refuted; {ANY} e0 - e1; {NO_LABELS}",
        "weights heads=2 width=1": "refuted: z0 - z1",
        "labels": "refuted 1",
    }, lambda: Dataset.of(I3[:2], [[1, 2, 0], [1, 2, 0], [1, 0, 1]], [1, 2, 3])),
    Case("repeated query, shared context, same label", {
        "both": f"refuted; {ANY} e0 - e1; no weights: rows.universal{OPEN}",
        "weights heads=2 width=1": "refuted: z0 - z1",
        "labels": "proved",
    }, lambda: Dataset.of(I3[:2], [[1, 2, 0], [1, 2, 0], [1, 0, 1]], [2, 2, 3])),
    Case("parallel queries, n=2", {
        "both": f"not applicable; {ANY} 2 e0 - e1", "weights heads=2 width=1": "proved",
    }, lambda: Dataset.of(I3[:2], [[1, 2, 0], [2, 4, 0], [1, 0, 1]], [1, 2, 3])),
    Case("all queries on one line, n=3", {
        "both": f"not applicable; {ANY} 2 e0 - e1", "weights heads=2 width=1": "proved",
    }, lambda: Dataset.of(I3, [[k, 2 * k, 0] for k in FIVE], FIVE)),
    Case("e, -e, f, -f with n=2", {
        "both": f"refuted; {ANY} e0 + e1; {NO_LABELS}",
        "weights heads=3 width=1": "refuted: z0 + z1 - z2 - z3",
        "labels": "refuted 1",
    }, signed_pairs),
    Case("e, -e, f, -f with n=2, labels that obey", {
        "both": f"refuted; {ANY} e0 + e1; no weights: rows.universal{OPEN}",
        "weights heads=3 width=1": "refuted: z0 + z1 - z2 - z3",
        "labels": "proved",
    }, lambda: Dataset.of(I3[:2], [[1, 2, 0], [-1, -2, 0], [3, 1, 0], [-3, -1, 0]], [1, 2, 0, 3])),
    Case("A1 false, given order fails, another grouping serves", {
        "both heads=2": "proved; A1 e0 + e1 - e2; theorem without hypothesis.A1",
    }, lambda: Dataset.of(I3, [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]], FIVE)),
    Case("A1 false, an earlier query in a later span", {
        "both heads=2": "proved; A1 e0 - e3 + e4; theorem without hypothesis.A1",
    }, lambda: Dataset.of(I3, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [0, 1, 1]], FIVE)),
    Case("all queries in a plane, n=3, H=2", {
        "both heads=2": f"not applicable; {ANY} e0 + e1 - e2", "weights heads=2 width=1": "proved",
    }, lambda: Dataset.of(I3, PLANE, FIVE)),
    Case("all queries in a plane, n=3, H=4", {
        "both heads=4": "proved; A1 e0 + e1 - e2; theorem without hypothesis.A1",
    }, lambda: Dataset.of(I3, PLANE, FIVE)),
    Case("Kruskal rank 2 < n=3, d_h=2", {
        "paper head_width=2 heads=3": "proved; A1 e0 + e1 - e2; theorem without hypothesis.A1",
    }, lambda: Dataset.of(I3, [[1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 2, 0]], FIVE[:4])),
    Case("parallel queries, n=3, d_h=2", {
        "paper head_width=2":
            "not applicable; A1, A1-at-r, some-partition 2 e0 - e2; partition e2 - 2 e0",
    }, lambda: Dataset.of(I3, [[1, 0, 0], [0, 1, 0], [2, 0, 0], [0, 0, 1]], FIVE[:4])),
    Case("queries of very different length", {
        "both": "proved; readout",
    }, lambda: Dataset.of(I3, [[10**12, 0, 0], [0, 1, 0], [0, 0, 10**6], [1, 1, 1]], FIVE[:4])),
    # contexts
    Case("a repeated row in one context", {
        "both": "not applicable; A2 in context 0: E0 - E1", "weights heads=2 width=1": "proved",
    }, lambda: Dataset.of([[[1, 2, 0], [1, 2, 0]], *RANK_TWO], I3, [1, 2, 3])),
    Case("a zero row in one context", {
        "both": "not applicable; A2 in context 0: E1", "weights heads=2 width=1": "proved",
    }, lambda: Dataset.of([[[1, 2, 0], [0, 0, 0]], *RANK_TWO], I3, [1, 2, 3])),
    Case("all rows of the shared context equal", {
        "both heads=3": f"refuted; A2 in context 0: E0 - E1; {NO_LABELS}{FLAT}",
        "weights heads=3 width=1": "refuted: z0 - z1",
        "labels": "refuted 1",
    }, lambda: Dataset.of([[1, 2], [1, 2]], [[1, 0], [0, 1], [1, 1]], [1, 1, 2])),
    Case("dependent rows that are affinely independent", {
        "both": "not applicable; A2 in context 0: E0", "weights heads=2 width=1": "proved",
    }, lambda: Dataset.of([[0, 0], [1, 0]], [[1, 0], [0, 1]], [1, 2])),
    Case("shared context in a line, H=1", {
        "both heads=1": f"refuted; A2 in context 0: E0; no weights: tightness.universal{OPEN}",
        "weights heads=1 width=1": "refuted: no weights exceed rank 1",
    }, lambda: Dataset.of([[0, 0], [1, 0]], [[1, 0], [0, 1]], [1, 2])),
    Case("permuted contexts", {
        "both heads=2": "proved",
    }, lambda: Dataset.of(PERMUTED, CURVE, FIVE)),
    Case("permuted contexts, T above H(n-1)+1", {
        "both heads=1": f"refuted; capacity T=4, capacity=3; no weights: tightness.universal{OPEN}",
        "weights heads=1 width=3": "refuted: no weights exceed rank 3",
    }, lambda: Dataset.of(PERMUTED[:4], CURVE[:4], [1, 2, 3, 4])),
    Case("equal inputs up to the order of context rows, other label", {
        "both": f"refuted; {ANY} e0 - e1; {NO_LABELS}",
        "weights heads=2 width=1": "refuted: z0 - z1",
        "labels": "refuted 1",
    }, lambda: Dataset.of(PERMUTED[:2], [[1, 2, 3], [1, 2, 3]], [1, 2])),
    Case("contexts equal up to a shift", {
        "both": f"refuted; {ANY} e0 - e1; {NO_LABELS}",
        "weights heads=3 width=1": "refuted: z0 - z1 - z2 + z3",
        "labels": "refuted 1",
    }, lambda: Dataset.of([[[1, 0], [0, 1]], [[2, 1], [1, 2]]] * 2,
                       [[1, 2], [1, 2], [2, 1], [2, 1]], [0, 1, 0, 0])),
    Case("step 7: two new examples, one new direction", {
        "both heads=2": "proved", "paper heads=2 head_width=3": "proved",
    }, step_seven_trap),
    Case("ties in Eu for later examples", {
        "both": "proved",
    }, lambda: Dataset.of(TIED, [[0, 2, 0], [0, 1, 1], [0, 0, 1], [2, 0, 0], [1, 1, 0]], FIVE)),
    # labels
    Case("rank Y > H d_v", {
        "both heads=1 value_width=2": "refuted; value-width d_v=2, m=4; "
                                      "no weights: given-labels, labels.rank, values.universal",
    }, lambda: Dataset.of(I4, I4[:3], I4[:3])),
    # numbers
    Case("rationals with large denominators", {
        "both": "proved",
    }, lambda: Dataset.of([[Fraction(1, 10**40 + 1), 0], [0, Fraction(1, 10**39 + 3)]], THREE,
                          FIVE[:3])),
    Case("huge integers", {
        "both": "proved",
    }, lambda: Dataset.of([[10**200 + 1, 7], [3, 10**200 - 1]], THREE, [1, 2, 3])),
    Case("subnormal and huge floats together", {
        "both": "proved",
    }, lambda: Dataset.of([[5e-324, 0.0], [0.0, 1.0]], [[1e300, 0.0], [1.0, 1.0]], [1, 2])),
    Case("queries equal only after rounding to float64", {
        "both": "proved",
    }, lambda: Dataset.of([[1, 0], [0, 1]], [[10**20, 1], [10**20 + 1, 1]], [1, 2])),
    Case("floats without a short decimal", {
        "both": "proved; readout",
    }, lambda: Dataset.of([[0.1, 0.2], [0.3, 0.7]], [[0.1, 0.3], [0.2, 0.9], [1.0, 0.1]],
                       [0.1, 2, 3])),
    Case("negative zero", {
        "both": "proved",
    }, lambda: Dataset.of([[1.0, -0.0], [-0.0, 1.0]], THREE, [-0.0, 1, 2])),
    Case("queries parallel only in exact arithmetic", {
        "both": f"not applicable; {ANY} 2 e0 - e1",
    }, lambda: Dataset.of([[1, 0], [0, 1]], [["1/3", "1/7"], ["2/3", "2/7"]], [1, 2])),
)  # fmt: skip


@pytest.mark.parametrize("case", share(CASES, 3), ids=lambda case: case.name)
def test_every_run_says_its_line(case: Case) -> None:
    for spec, expected in case.lines.items():
        run, *words = spec.split()
        options = {key: ast.literal_eval(text) for key, text in (w.split("=") for w in words)}
        for name in ("paper", "width-one") if run == "both" else (run,):
            assert line(name, case.make(), **options) == expected, spec

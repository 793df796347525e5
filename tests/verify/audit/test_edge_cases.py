"""Edge cases: each run must print a line that follows from the theorem, not from the code.

A case without data is one that `attncert audit` runs. `edge_case_runs.py` explains the lines;
"both" are the paper's construction and heads of width one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from edge_case_runs import line
from support.shares import share

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import family
from attncert.constructions.progress import silent
from attncert.reports.pages.audit import cases_table
from attncert.verify.audit.edge_cases import CASES as EDGE_CASES
from attncert.verify.audit.edge_cases import CaseVerdict, claim, run
from attncert.verify.claims.evidence import Level
from attncert.verify.statements import registry
from attncert.verify.statements.construction import Construction
from attncert.verify.statements.statements import Hypothesis

I3 = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
I4 = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
PERMUTED = [[I3[i] for i in order] for order in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (1, 0, 2))]
CURVE = [*I3, [1, 1, 1], [1, 2, 4]]
THREE, FIVE = [[1, 2], [3, 1], [1, 1]], [1, 2, 3, 4, 5]

ANY = "A1, partition, some-partition"  # whatever the grouping
NO_LABELS = "no weights: given-labels, rows.labels, rows.universal"
FLAT = ", tightness.universal"
OPEN = "; open: given-labels"


@dataclass(frozen=True)
class Case:
    """name: of the data, from `attncert audit` or others. lines: expected, by run and options."""

    name: str
    lines: Mapping[str, str]
    make: Callable[[], Dataset] | None = None

    @property
    def data(self) -> Dataset:
        return (self.make or EDGE_CASES[self.name])()


CASES = (
    # sizes
    Case("n=1, T=2, distinct contexts", {
        "both": "not applicable; capacity T=2, capacity=1", "weights heads=1 width=1": "proved",
    }),
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
    }),
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
    }),
    Case("repeated query, distinct contexts", {
        "both": f"not applicable; {ANY} e0 - e1", "weights heads=2 width=1": "proved",
    }),
    Case("repeated query, shared context, other label", {
        "both": f"refuted; {ANY} e0 - e1; {NO_LABELS}",
        "weights heads=2 width=1": "refuted: z0 - z1",
        "labels": "refuted 1",
    }),
    Case("repeated query, shared context, same label", {
        "both": f"refuted; {ANY} e0 - e1; no weights: rows.universal{OPEN}",
        "weights heads=2 width=1": "refuted: z0 - z1",
        "labels": "proved",
    }, lambda: Dataset.of(I3[:2], [[1, 2, 0], [1, 2, 0], [1, 0, 1]], [2, 2, 3])),
    Case("parallel queries, n=2", {
        "both": f"not applicable; {ANY} 2 e0 - e1", "weights heads=2 width=1": "proved",
    }),
    Case("all queries on one line, n=3", {
        "both": f"not applicable; {ANY} 2 e0 - e1", "weights heads=2 width=1": "proved",
    }),
    Case("e, -e, f, -f with n=2", {
        "both": f"refuted; {ANY} e0 + e1; {NO_LABELS}",
        "weights heads=3 width=1": "refuted: z0 + z1 - z2 - z3",
        "labels": "refuted 1",
    }),
    Case("e, -e, f, -f with n=2, labels that obey", {
        "both": f"refuted; {ANY} e0 + e1; no weights: rows.universal{OPEN}",
        "weights heads=3 width=1": "refuted: z0 + z1 - z2 - z3",
        "labels": "proved",
    }, lambda: Dataset.of(I3[:2], [[1, 2, 0], [-1, -2, 0], [3, 1, 0], [-3, -1, 0]], [1, 2, 0, 3])),
    Case("A1 false, given order fails, another grouping serves", {
        "both heads=2": "proved; A1 e0 + e1 - e2; theorem without hypothesis.A1",
    }),
    Case("A1 false, an earlier query in a later span", {
        "both heads=2": "proved; A1 e0 - e3 + e4; theorem without hypothesis.A1",
    }),
    Case("all queries in a plane, n=3, H=2", {
        "both heads=2": f"not applicable; {ANY} e0 + e1 - e2", "weights heads=2 width=1": "proved",
    }, EDGE_CASES["all queries in a plane, n=3"]),
    Case("all queries in a plane, n=3, H=4", {
        "both heads=4": "proved; A1 e0 + e1 - e2; theorem without hypothesis.A1",
    }, EDGE_CASES["all queries in a plane, n=3"]),
    Case("Kruskal rank 2 < n=3, d_h=2", {
        "paper head_width=2 heads=3": "proved; A1 e0 + e1 - e2; theorem without hypothesis.A1",
    }, lambda: Dataset.of(I3, [[1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 2, 0]], FIVE[:4])),
    Case("parallel queries, n=3, d_h=2", {
        "paper head_width=2":
            "not applicable; A1, A1-at-r, some-partition 2 e0 - e2; partition e2 - 2 e0",
    }, lambda: Dataset.of(I3, [[1, 0, 0], [0, 1, 0], [2, 0, 0], [0, 0, 1]], FIVE[:4])),
    Case("queries of very different length", {"both": "proved; readout"}),
    # contexts
    Case("a repeated row in one context", {
        "both": "not applicable; A2 in context 0: E0 - E1", "weights heads=2 width=1": "proved",
    }),
    Case("a zero row in one context", {
        "both": "not applicable; A2 in context 0: E1", "weights heads=2 width=1": "proved",
    }),
    Case("all rows of the shared context equal", {
        "both heads=3": f"refuted; A2 in context 0: E0 - E1; {NO_LABELS}{FLAT}",
        "weights heads=3 width=1": "refuted: z0 - z1",
        "labels": "refuted 1",
    }),
    Case("dependent rows that are affinely independent", {
        "both": "not applicable; A2 in context 0: E0", "weights heads=2 width=1": "proved",
    }),
    Case("shared context in a line, H=1", {
        "both heads=1": f"refuted; A2 in context 0: E0; no weights: tightness.universal{OPEN}",
        "weights heads=1 width=1": "refuted: no weights exceed rank 1",
    }, EDGE_CASES["dependent rows that are affinely independent"]),
    Case("permuted contexts", {"both heads=2": "proved"}),
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
    }),
    Case("ties in Eu for later examples", {
        "both": "proved",
    }),
    # labels
    Case("rank Y > H d_v", {
        "both heads=1 value_width=2": "refuted; value-width d_v=2, m=4; "
                                      "no weights: given-labels, labels.rank, values.universal",
    }, lambda: Dataset.of(I4, I4[:3], I4[:3])),
    # numbers
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
            assert line(name, case.data, **options) == expected, spec


# The constructions as the audit runs them.


def tried(*methods: Construction, quick: bool = True) -> tuple[CaseVerdict, ...]:
    return run(methods, quick, 0, silent)


@pytest.mark.slow
def test_the_table_shows_what_each_construction_does() -> None:
    methods = [registry.method(name) for name in ("paper", "width-one")]
    outcomes = tried(*methods)
    rows = {row[0]: row[1:] for row in cases_table(outcomes, methods).rows}
    assert claim(outcomes).level is Level.PROVED and list(rows) == list(EDGE_CASES)[::2]
    assert rows["n=d=1"] == ("proved", "proved")
    assert rows["all rows of the shared context equal"] == ("no weights serve all labels",) * 2
    assert rows["a repeated row in one context"] == ("not applicable: A2",) * 2


@pytest.fixture
def parity() -> Construction:
    return registry.method("examples.own_construction:PARITY")


@pytest.mark.slow
def test_a_third_party_construction(parity: Construction) -> None:
    outcomes = tried(parity, quick=False)
    assert claim(outcomes).level is Level.PROVED
    rows = {x.case: x.words for x in outcomes}
    assert rows["huge integers"] == "proved"
    assert rows["parallel queries, n=2"] == "not applicable: apart"


@pytest.mark.slow
def test_a_broken_promise_counts_against(parity: Construction) -> None:
    def blank(data: Dataset, request: Any) -> Any:
        layer = parity.build(data, request)
        return replace(layer, heads=tuple(replace(x, key=x.key * 0) for x in layer.heads))

    method = replace(parity, name="blank", build=blank)
    registry.register(method)
    found = claim(tried(method))
    assert found.level is Level.REFUTED and found.witness
    said = "blank on huge integers: a step fails: head.1.alone is refuted"
    assert said in found.witness["reason"].split("; ")


def test_a_construction_that_builds_for_no_case_shows_nothing(parity: Construction) -> None:
    """An audit of it is undecided, although it names a false hypothesis every time."""

    def build(data: Dataset, request: Any) -> Any:
        raise ValueError("nothing is ever built")

    never = {"never": Hypothesis("It is false.", lambda data: [(0, "==", 1)])}
    method = replace(parity, name="idle", build=build, hypotheses=never, steps={})
    registry.register(method)
    found = claim(tried(method))
    assert found.level is Level.UNDECIDED and found.witness
    assert "idle built nothing" in found.witness["reason"]

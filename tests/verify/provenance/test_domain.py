"""The checkers on certificates whose examples are all inputs of a domain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.small_certificates import Certificate, changed, on_domain, sealed, written

from attncert import Dataset, Prove, check, prove
from attncert.reports.certificate.explain import explain, text
from attncert.verify.certificates.coq.instance import instance
from attncert.verify.checker import check_file

CONTEXTS, QUERIES = [[[1], [2]], [["1/2"], [3]]], [[0], [1], ["-2/3"]]
PAIRS = [(context, query) for query in QUERIES for context in CONTEXTS]
DATA = Dataset.of([c for c, _ in PAIRS], [q for _, q in PAIRS], [5, 1, 2, 2, 0, "7/2"])


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    return of_domain(DATA)


def of_domain(data: Dataset) -> Certificate:
    return on_domain(Certificate(prove(data, Prove("attention-relu")).certificate or {}))


def test_it_holds_and_is_explained(certificate: Certificate, tmp_path: Path) -> None:
    path = written(certificate, tmp_path)
    verdict = check(path)
    assert verdict.status == "holds" and verdict.message.endswith("contexts times queries: 2 x 3")
    words = " ".join(text(explain(path)))
    assert "all inputs of a domain" in " ".join(words.split())


@pytest.mark.parametrize(
    "data",
    [
        Dataset.of([[0]], [[1], [2]], [3, 4]),
        Dataset.of([[[0]], [[1], [1]]], [[1], [1]], [3, 4]),
        Dataset.of([[[0]], [[1]]], [[1], [1]], [3, 4]),
        Dataset.of([[0]], [[1]], [3]),
    ],
)
def test_shared_contexts_and_other_lengths(data: Dataset, tmp_path: Path) -> None:
    assert check_file(written(of_domain(data), tmp_path)).status == "holds"


def test_other_data_are_no_domain(tmp_path: Path) -> None:
    for examples in (range(5), [0, 0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 4]):
        certificate = of_domain(DATA.take(examples))
        assert check_file(written(certificate, tmp_path)).status == "wrong"


DEFECTS: dict[str, tuple[str, Any, str, str]] = {
    "a query that is another": ("origin.queries.1", ["2"], "wrong", "not exactly the pairs"),
    "a context that is another": ("origin.contexts.0.0", ["9"], "wrong", "not exactly the pairs"),
    "a query left out": ("origin.queries", [["0"], ["1"]], "wrong", "one pair for each"),
    "no context": ("origin.contexts", [], "wrong", "one pair for each"),
    "an example twice": ("data.queries.0", ["1"], "wrong", "not exactly the pairs"),
    "a context of another length": ("origin.contexts.0", [["1"]], "wrong", "not exactly the pairs"),
    "no list": ("origin.contexts", "all", "unusable", "origin.contexts"),
    "a key too many": ("origin.more", 1, "unusable", "the key 'more'"),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_planted_defect_is_refused(defect: str, certificate: Certificate, tmp_path: Path) -> None:
    path, part, status, words = DEFECTS[defect]
    verdict = check_file(written(changed(certificate, path, part), tmp_path))
    assert verdict.status == status and words in verdict.message, verdict


def test_a_domain_that_holds_a_pair_twice(tmp_path: Path) -> None:
    data = Dataset.of([[0]], [[1], [1]], [3, 3])
    made = prove(data, Prove("relu")).certificate
    origin = {"kind": "domain", "contexts": [[["0"]]], "queries": [["1"], ["1"]]}
    twice = sealed(Certificate(made or {}) | {"origin": origin})
    verdict = check_file(written(twice, tmp_path))
    assert (verdict.status, verdict.message) == ("wrong", "origin holds a pair twice")


def test_no_theorem_is_written_of_a_domain(certificate: Certificate, tmp_path: Path) -> None:
    verdict, theorem = instance(written(certificate, tmp_path))
    assert (verdict.message, theorem) == ("--kernel cannot read domains", None)


def test_numbers_are_compared_and_not_their_texts(certificate: Certificate, tmp_path: Path) -> None:
    other = changed(certificate, "origin.queries.2", ["-4/6"])
    assert check_file(written(other, tmp_path)).status == "holds"

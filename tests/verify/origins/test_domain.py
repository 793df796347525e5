"""Data that are all inputs of a domain: as a record, and by the checker."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.small_certificates import Certificate, changed, sealed, written

from attncert import Dataset, InputError, Prove, check, prove, write_report
from attncert.reports.certificate.explain import explain, text
from attncert.verify.checker import check_file
from attncert.verify.claims.evidence import Level
from attncert.verify.coq.instance import instance
from attncert.verify.fast.check import check_file as check_fast
from attncert.verify.origins.domain import Domain, whole_domain

CONTEXTS, QUERIES = [[[1], [2]], [["1/2"], [3]]], [[0], [1], ["-2/3"]]
PAIRS = [(context, query) for query in QUERIES for context in CONTEXTS]
DATA = Dataset.of([c for c, _ in PAIRS], [q for _, q in PAIRS], [5, 1, 2, 2, 0, "7/2"])


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    made = prove(whole_domain(DATA), Prove("relu")).certificate
    assert made is not None
    return Certificate(made)


def test_a_report_says_for_all_inputs(tmp_path: Path) -> None:
    proof = prove(whole_domain(DATA), Prove("attention-relu"))
    assert proof.standing is Level.PROVED and "domain" in proof.claim.rests_on
    assert proof.claim.statement.endswith("These are all inputs of the domain.")
    write_report(proof, tmp_path / "o")
    page = (tmp_path / "o" / "report.md").read_text()
    assert "The examples are all inputs of a domain: 2 contexts, each with 3 queries" in page
    verdict = check(tmp_path / "o" / "certificate.json")
    assert verdict.status == "holds" and verdict.message.endswith("contexts times queries: 2 x 3")
    assert check_fast(tmp_path / "o" / "certificate.json").message.endswith("2 x 3")
    words = " ".join(text(explain(str(tmp_path / "o" / "certificate.json"))))
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
    made = prove(whole_domain(data), Prove("attention-relu")).certificate
    assert made is not None
    assert check_file(written(Certificate(made), tmp_path)).status == "holds"


def test_other_data_are_no_domain() -> None:
    for examples in (range(5), [0, 0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 4]):
        with pytest.raises(InputError, match=r"^data: must be every context with every query"):
            whole_domain(DATA.take(examples))
    origin = whole_domain(DATA).origin
    assert isinstance(origin, Domain)
    for false in (
        replace(origin, queries=origin.queries[:2]),
        replace(origin, queries=(*origin.queries[:2], origin.queries[0])),
    ):
        proof = prove(DATA.of_origin(false), Prove("relu"))
        assert proof.trace["domain"].level is Level.REFUTED
        assert proof.standing is Level.UNDECIDED


DEFECTS: dict[str, tuple[str, Any, str, str]] = {
    "a query that is another": ("origin.queries.1", ["2"], "wrong", "each once"),
    "a context that is another": ("origin.contexts.0.0", ["9"], "wrong", "each once"),
    "a query left out": ("origin.queries", [["0"], ["1"]], "wrong", "as many"),
    "no context": ("origin.contexts", [], "wrong", "as many"),
    "an example twice": ("data.queries.0", ["1"], "wrong", "each once"),
    "a context of another length": ("origin.contexts.0", [["1"]], "wrong", "each once"),
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
    assert (verdict.message, theorem) == ("--kernel reads no domains", None)


def test_numbers_are_compared_and_not_their_texts(certificate: Certificate, tmp_path: Path) -> None:
    other = changed(certificate, "origin.queries.2", ["-4/6"])
    assert check_file(written(other, tmp_path)).status == "holds"

"""Proving, reporting, certifying and refusing a construction need nothing but its record."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support import exact_data
from support.trace_rules import broken

import attncert
from attncert.constructions.errors import HypothesisFails
from attncert.reports.answers import envelope, report, verdict
from attncert.reports.certificate.explain import explain, text
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.proof import Proof
from attncert.verify.prove.prove import prove
from attncert.verify.questions.prove import Prove
from attncert.verify.statements import paper, registry
from attncert.verify.statements.construction import Construction

EXAMPLE = "examples.own_construction:PARITY"
DATA = exact_data.family(3, 2, 3, shared=True, queries="moment-curve", seed=1)
OURS = ("paper", "width-one", "affine", "generic")
NETWORKS = tuple(x.name for x in registry.network_methods())
NAMES = (*OURS, "borrowed")


@pytest.fixture(autouse=True, scope="module")
def registered() -> Iterator[None]:
    """Our constructions, the example's, and the paper's under another name, as if a third party had
    registered it."""
    before = dict(registry._registered)
    registry.method(EXAMPLE)
    registry.register(replace(paper.CONSTRUCTION, name="borrowed"))
    yield
    registry._registered.clear()
    registry._registered.update(before)


@functools.cache
def proved(name: str) -> tuple[Proof, dict[str, bytes]]:
    proof = prove(DATA, Prove(name))
    return proof, report(proof).files


def test_these_are_all() -> None:
    assert registry.names() == (*OURS, *NETWORKS, "retrieval", "parity", "borrowed")
    assert tuple(x.name for x in registry.methods()) == (*OURS, "borrowed")


@pytest.mark.parametrize("name", NAMES)
def test_proved_told_and_certified(name: str, tmp_path: Path) -> None:
    proof, files = proved(name)
    method = registry.method(name)
    assert proof.standing is Level.PROVED and proof.exit_status == 0
    assert broken(proof) == {}
    report = files["report.md"].decode()
    assert report.splitlines()[1].endswith(f", {method.title}")
    assert f"--construction {name}" in report
    assert f"The construction is that of {method.theorem}" in report and method.source in report
    assert method.theorem in proof.trace["theorem"].statement
    assert {"figures/graph.svg", "figures/saturation.svg"} < {*files}
    assert verdict(proof).startswith("Proved.")
    assert envelope(proof)["standing"] == "proved"
    certificate = tmp_path / "certificate.json"
    certificate.write_bytes(files["certificate.json"])
    assert attncert.check(certificate).status == "holds"
    assert json.loads(certificate.read_text())["construction"] == name
    assert name in "\n".join(text(explain(str(certificate))))


@pytest.mark.parametrize("name", NAMES)
def test_the_trace_holds_the_hypotheses_of_the_record_and_no_other(name: str) -> None:
    proof, _ = proved(name)
    found = {c.id.removeprefix("hypothesis.") for c in proof.trace if c.id.startswith("hypothesis")}
    assert found - {"A1-at-r"} == {*registry.method(name).hypotheses, "value-width"}


@pytest.mark.parametrize(("decided", "level"), [(True, "not applicable"), (False, "undecided")])
@pytest.mark.parametrize("name", NAMES)
def test_a_builder_that_says_no(name: str, decided: bool, level: str) -> None:
    def build(*arguments: object) -> None:
        raise HypothesisFails("search", "it was not found", {}, decided=decided)

    method = registry.method(name)
    saying_no: Construction = replace(method, name="saying-no", build=build)
    registry.register(saying_no)
    proof = prove(DATA, Prove("saying-no"))
    assert proof.standing.value == level and proof.exit_status == 3
    files = report(proof).files
    assert "it was not found" in files["report.md"].decode() and "certificate.json" not in files
    del registry._registered["saying-no"]

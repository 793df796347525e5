"""Every construction through everything: what one description must be enough for."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.trace_rules import broken

import attncert
from attncert.constructions.data import generators
from attncert.constructions.errors import HypothesisFails
from attncert.reports.answers import envelope, report, verdict
from attncert.reports.certificate.explain import explain, text
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.proof import Proof
from attncert.verify.methods import paper, registry
from attncert.verify.methods.method import Method
from attncert.verify.prove import prove
from attncert.verify.questions.prove import Prove

EXAMPLE = "examples.own_construction:PARITY"
DATA = generators.family(3, 2, 3, shared=True, queries="moment-curve", seed=1)
OURS = {
    "paper": "mahdavi2024", "width-one": "rank-one", "affine": "affine", "generic": "generic",
}  # fmt: skip
NETWORKS = tuple(x.name for x in registry.network_methods())
NAMES = (*OURS, "borrowed")


@pytest.fixture(autouse=True, scope="module")
def registered() -> Iterator[None]:
    """Beside ours the example's, and the paper's under another name, as a third-party one."""
    before = dict(registry._registered)
    registry.method(EXAMPLE)
    registry.register(replace(paper.METHOD, name="borrowed", certificate=None))
    yield
    registry._registered.clear()
    registry._registered.update(before)


@functools.cache
def proved(name: str) -> tuple[Proof, dict[str, bytes]]:
    proof = prove(DATA, Prove(name))
    return proof, report(proof).files


def test_these_are_all() -> None:
    assert registry.names() == (*OURS, *NETWORKS, "retrieval", "parity", "borrowed")
    assert {m.name: m.certificate_name for m in registry.methods()} == {
        **OURS, "borrowed": "borrowed",
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_proved_told_and_certified(name: str, tmp_path: Path) -> None:
    proof, files = proved(name)
    method = registry.method(name)
    assert proof.standing is Level.PROVED and proof.exit_status == 0
    assert broken(proof) == {}
    report = files["report.md"].decode()
    voice = proof.setup.voice
    assert report.splitlines()[1].endswith(f", {method.voice.title}")
    assert f"--construction {name}" in report
    assert f"The construction is that of {voice.theorem}" in report and voice.source in report
    assert method.theorem in proof.trace["theorem"].statement
    weights = "own-weights" if "figures/own-weights.svg" in files else "largest-weights"
    assert {f"figures/{f}.svg" for f in ("graph", "saturation", "heads", weights)} < {*files}
    assert verdict(proof).startswith("Proved.")
    assert envelope(proof)["standing"] == "proved"
    certificate = tmp_path / "certificate.json"
    certificate.write_bytes(files["certificate.json"])
    assert attncert.check(certificate).status == "holds"
    assert json.loads(certificate.read_text())["construction"] == method.certificate_name
    assert method.certificate_name in "\n".join(text(explain(str(certificate))))


@pytest.mark.parametrize("name", NAMES)
def test_the_trace_holds_the_hypotheses_of_the_outline_and_no_other(name: str) -> None:
    proof, _ = proved(name)
    outline = proof.setup.outline
    found = {c.id.removeprefix("hypothesis.") for c in proof.trace if c.id.startswith("hypothesis")}
    also = {"value-width"} | ({"partition"} if outline.partition else set())
    assert found - {"A1-at-r"} == {*outline.hypotheses, *also}


@pytest.mark.parametrize(("decided", "level"), [(True, "not applicable"), (False, "undecided")])
@pytest.mark.parametrize("name", NAMES)
def test_a_builder_that_says_no(name: str, decided: bool, level: str) -> None:
    def build(*arguments: object) -> None:
        raise HypothesisFails("search", "it was not found", {}, decided=decided)

    method = registry.method(name)
    saying_no: Method = replace(
        method, name="saying-no", certificate=None, build=build  # type: ignore[arg-type]
    )  # fmt: skip
    registry.register(saying_no)
    proof = prove(DATA, Prove("saying-no"))
    assert proof.standing.value == level and proof.exit_status == 3
    files = report(proof).files
    assert "it was not found" in files["report.md"].decode() and "certificate.json" not in files
    del registry._registered["saying-no"]

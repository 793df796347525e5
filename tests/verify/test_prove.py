"""The whole pipeline: layers, claims, their premises, and refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st
from support import exact_data
from support.built import changed, with_head
from support.gaussian import gaussian
from support.oracles import SAFE_PRIME, features_mod, hypotheses_hold, is_relation, rank_mod
from support.small_layers import outputs
from support.strategies import datasets, families, numbers

from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.primes import PRIMES_21
from attncert.constructions.search import feature_blocks
from attncert.reports.answers import report
from attncert.reports.words.text import markdown
from attncert.verify.assumptions import hypotheses
from attncert.verify.certificates.certificate import canonical_bytes
from attncert.verify.checker import check_file
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.proof import Proof
from attncert.verify.limits.tightness.relations.probes import random_layer
from attncert.verify.prove import stages as pipeline
from attncert.verify.prove.prove import prove
from attncert.verify.questions.prove import Prove
from attncert.verify.statements import paper

EYE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
SMALL = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
DISTINCT = exact_data.family(7, 3, 4, queries="moment-curve", m=2, seed=1)
SHARED = exact_data.family(7, 3, 4, queries="moment-curve", shared=True, seed=1)
FLOATS = gaussian(5, 3, 4, seed=1)


def rational() -> Dataset:
    queries = [[x / 6 for x in row] for row in SHARED.queries.fractions()]
    contexts = [[[x / 7 for x in row] for row in E] for E in SHARED.contexts.fractions()]
    return Dataset.of(contexts, queries, [Fraction(t, 3) for t in range(7)])


def verdict(proof: Proof, folder: Path) -> str:
    """The verdict of the independent checker, from the file alone."""
    assert proof.certificate is not None
    file = folder / "certificate.json"
    file.write_bytes(canonical_bytes(proof.certificate))
    found = check_file(str(file))
    assert found.claim == proof.setup.claim, found.message
    return found.status


@pytest.mark.parametrize("construction", ["paper", "width-one", "generic"])
def test_a_long_shared_context(
    construction: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Features are computed on as many columns as there are tokens. Column 0 is zero: a readout at
    columns that were not translated would be singular."""
    monkeypatch.setattr(feature_blocks, "_LONG", 0)
    contexts = SHARED.contexts.numerators[:, :, [0, 0, 1, 2, 3]] * [0, 1, 1, 1, 1]
    queries = SHARED.queries.numerators[:, [0, 0, 1, 2, 3]]
    data = Dataset.of(contexts[0], queries, SHARED.labels.numerators)
    assert len(feature_blocks.FeatureBlocks(data, PRIMES_21[0]).columns) == data.n < data.d
    proof = prove(data, Prove(construction))
    assert proof.holds and verdict(proof, tmp_path) == "holds"


PROVED: dict[str, tuple[Dataset, dict[str, Any]]] = {
    "small": (SMALL, {}),
    "distinct contexts": (DISTINCT, {}),
    "shared context": (SHARED, {}),
    "steered": (SHARED, {"saturate": 1}),
    "rational": (rational(), {}),
    "wide values": (DISTINCT, {"value_width": 5}),
    "equal contexts, not shared": (
        Dataset.of([EYE] * 5, [[t * t, t, 1] for t in range(5)], [0, 1, 2, 3, 4]),
        {},
    ),
}


@pytest.mark.parametrize("name", PROVED)
def test_memorized_exactly(name: str, tmp_path: Path) -> None:
    data, options = PROVED[name]
    proof = prove(data, Prove(**options))
    assert (proof.standing, proof.exit_status) == (Level.PROVED, 0)
    assert proof.setup.claim == "interpolation"
    assert proof.trace["memorization"].numbers == {"examples": data.T}
    assert proof.layer is not None
    assert outputs(data, proof.layer) == data.labels.fractions()
    assert verdict(proof, tmp_path) == "holds"
    assert all(claim.level.holds for claim in proof.trace if claim.id.startswith("head."))
    assert sorted(t for group in proof.groups for t in group) == list(range(data.T))
    assert [summary.group for summary in proof.heads] == list(proof.groups)
    json.dumps(proof.trace.as_dict(), allow_nan=False)


def test_the_three_routes_and_what_they_carry() -> None:
    """With small numbers, all three routes run; the answer rests on the exact routes, not on A1."""
    proof = prove(SMALL)
    trace = proof.trace
    assert trace.standing("interpolation.rational") is Level.PROVED
    assert trace.standing("interpolation.symbolic") is Level.PROVED
    assert trace.standing("interpolation.multiprecision") is Level.ENCLOSED
    assert trace["interpolation.agreement"].numbers["routes"] == 3
    below = trace.ancestors("memorization")
    assert below == {"interpolation.rational", "interpolation.symbolic"}
    assert trace.standing("interpolation.agreement") is Level.ENCLOSED
    assert trace["reduction"].level is Level.KERNEL
    assert trace.standing("universal") is Level.PROVED  # by the rank; step 1 is a Coq theorem
    assert "rank" in trace.ancestors("universal")


# Proofs without a written readout.


@pytest.mark.parametrize("data", [FLOATS, gaussian(5, 3, 4, seed=2, shared=True)])
def test_floats_are_proved_by_rank(data: Dataset, tmp_path: Path) -> None:
    proof = prove(data)
    assert proof.standing is Level.PROVED and proof.setup.claim == "full-rank"
    assert proof.trace["readout"].level is Level.UNDECIDED
    assert proof.trace.ancestors("memorization") == {"rank", "reduction"}
    assert proof.layer is not None and proof.layer.output is None
    assert rank_mod(features_mod(data, proof.layer), SAFE_PRIME) == data.T
    assert verdict(proof, tmp_path) == "holds"


def test_an_exact_readout_of_endless_numbers_is_undecided() -> None:
    """A readout of about 2^60 bits cannot be computed as requested: the answer is undecided, not an
    error."""
    proof = prove(FLOATS, Prove(claim="interpolation"))
    assert (proof.standing, proof.exit_status) == (Level.UNDECIDED, 3)
    assert proof.certificate is None
    assert proof.trace.standing("rank") is Level.PROVED
    assert proof.trace["readout"].level is Level.UNDECIDED


def test_a_prime_that_divides_the_denominators_is_not_used(tmp_path: Path) -> None:
    contexts = [[x / 2147483579 for x in row] for row in SHARED.contexts.fractions()[0]]
    data = Dataset.of(contexts, SHARED.queries, SHARED.labels)
    proof = prove(data, Prove(claim="full-rank"))
    assert proof.standing is Level.PROVED
    assert proof.certificate is not None and proof.certificate["rank"]["prime"] != "2147483579"
    assert verdict(proof, tmp_path) == "holds"


# The statement of the theorem, and results proved without the theorem.


def test_a_sampled_a1_weakens_the_theorem_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hypotheses, "A1_WORK", 0.0)
    data = exact_data.family(44, 4, 5, queries="moment-curve", shared=True, seed=1)
    proof = prove(data, Prove(claim="full-rank"))
    a1 = proof.trace["hypothesis.A1"]
    assert a1.level is Level.SAMPLED
    page = report(proof).files["report.md"].decode()
    assert f"to decide it {markdown(a1.numbers['to decide it'])}; nominal seconds " in page
    assert proof.trace.standing("theorem") is Level.SAMPLED
    assert proof.standing is Level.PROVED


def test_narrow_heads_use_a1_at_strength_r() -> None:
    """Queries in one plane have Kruskal rank 2 < n, which is enough for d_h = 2."""
    data = Dataset.of(EYE, [[1, t, 0] for t in range(4)], [0, 1, 2, 3])
    proof = prove(data, Prove(head_width=2))
    assert proof.trace["hypothesis.A1"].level is Level.REFUTED
    assert proof.trace["hypothesis.A1-at-r"].level is Level.PROVED
    assert proof.standing is Level.PROVED


# A builder that errs: the answer rests on what was built, not on what the builder says about it.


def built_with(monkeypatch: pytest.MonkeyPatch, spoil: Callable[[BuiltLayer], BuiltLayer]) -> None:
    honest = paper.CONSTRUCTION.build
    monkeypatch.setitem(vars(paper.CONSTRUCTION), "build", lambda *args: spoil(honest(*args)))


def test_a_false_record_is_refuted_and_the_answer_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    def overstated(built: BuiltLayer) -> BuiltLayer:
        first, second = built.heads
        return replace(built, heads=(first, replace(second, gap_bits=second.gap_bits + 1)))

    built_with(monkeypatch, overstated)
    proof = prove(SMALL)
    assert [claim.id for claim in proof.trace.failures()] == ["head.2.saturation", "proof"]
    assert (proof.standing, proof.proof_standing) == (Level.PROVED, Level.REFUTED)
    assert proof.exit_status == 1


def test_weights_without_rank_are_not_called_memorizing(monkeypatch: pytest.MonkeyPatch) -> None:
    def idle(built: BuiltLayer) -> BuiltLayer:
        zero = fmpq_mat(2, 2)
        return replace(built, layer=with_head(built.layer, 1, key=zero, query=zero))

    built_with(monkeypatch, idle)
    proof = prove(SMALL, Prove(claim="full-rank"))
    assert proof.trace["rank"].level is Level.UNDECIDED
    assert (proof.standing, proof.exit_status) == (Level.UNDECIDED, 1)  # a step is refuted
    assert proof.certificate is None


def test_a_wrong_readout_refutes_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = pipeline.readout
    monkeypatch.setattr(pipeline, "readout", lambda *args: changed(honest(*args), 0, 0, 1))
    proof = prove(SMALL)
    assert (proof.standing, proof.exit_status) == (Level.REFUTED, 1)
    assert proof.certificate is None
    refuted = {claim.id for claim in proof.trace if claim.level is Level.REFUTED}
    assert {"interpolation.rational", "interpolation.agreement"} <= refuted
    assert proof.trace.standing("rank") is Level.PROVED


def test_one_route_against_the_others_refutes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the symbolic route is given a wrong right inverse, and the answer is refuted."""
    honest = pipeline.right_inverse
    monkeypatch.setattr(pipeline, "right_inverse", lambda *args: changed(honest(*args), 0, 0, 1))
    proof = prove(SMALL)
    assert proof.trace["interpolation.rational"].level is Level.PROVED
    assert proof.trace["interpolation.symbolic"].level is Level.REFUTED
    assert proof.standing is Level.REFUTED


# Arbitrary data.


@settings(max_examples=60, deadline=None)
@given(
    datasets(numbers, max_T=4, max_n=3, max_d=4) | families(max_T=6),
    st.sampled_from([None, 1, 2, 5]),
    st.sampled_from([None, 1, 2, 4]),
    st.sampled_from(["auto", "full-rank"]),
)
def test_no_data_crash_it_and_no_verdict_is_wrong(
    data: Dataset, heads: int | None, width: int | None, claim: str
) -> None:
    """Whatever the numbers, the claim is proved if and only if the hypotheses hold."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pipeline, "SOLVE_WORK", 10**10)  # longer readouts take seconds each
        proof = prove(data, Prove(heads=heads, head_width=width, claim=claim))
    holds = hypotheses_hold(data, width or data.n, heads)
    assert proof.exit_status in ((0,) if holds else (1, 3))
    if proof.exit_status == 1:  # no weights should memorize the data: try random ones
        layer = random_layer(data, heads or 6, data.d, 3, np.random.default_rng(0))
        assert rank_mod(features_mod(data, layer), SAFE_PRIME) < data.T
    if proof.layer is not None:
        assert rank_mod(features_mod(data, proof.layer), SAFE_PRIME) == data.T
    else:
        assert refuted_by_relations(proof)


def refuted_by_relations(proof: Proof) -> bool:
    """Whether a relation between queries or rows shows that some hypothesis is false."""
    witnesses = [
        (claim.id, dict(claim.witness or {}))
        for claim in proof.trace
        if claim.level is Level.REFUTED and claim.id.startswith("hypothesis.")
    ]
    queries, contexts = proof.data.queries.fractions(), proof.data.contexts.fractions()
    for name, witness in witnesses:
        if name == "hypothesis.A2":
            terms = {i: c for i, c in enumerate(witness["coefficients"]) if c != "0"}
            relation = {"examples": [*terms], "coefficients": terms.values()}
            assert is_relation(contexts[witness["context"]], relation)
        elif "coefficients" in witness:
            assert is_relation(queries, witness)
    return bool(witnesses)

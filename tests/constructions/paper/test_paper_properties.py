"""Random data of many shapes: everything the hypotheses cover is proved, all the rest refused.

An independent routine (oracles: Fractions, enumeration of all groupings) says for each data set
whether A2, the capacity and, in *some* grouping, the partition condition hold. If they do, the
construction must come and its features must be independent, which is decided here again, in
Fractions or modulo a prime that nothing else uses. If not, the refusal must show a true relation.
The share that is proved is printed for every shape (pytest -s); it has a floor, so that a generator
that only makes data to refuse would be noticed, and for the degenerate shapes a ceiling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support.oracles import SAFE_PRIME, features_mod, hypotheses_hold, is_relation, rank, rank_mod
from support.small_layers import features, outputs

from attncert.constructions.data import generators
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.paper.theorem import build
from attncert.constructions.readout.solve import predicted_bits
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.prove import prove
from attncert.verify.questions.prove import Prove

EACH = 10  # data sets of every shape in the normal suite
EACH_SLOW = 125
PROVED_EACH = 10  # of them, one in ten goes through the whole pipeline
PROVED_EACH_SLOW = 3
READOUT_BITS = 50_000
FRACTION_BITS = 3000  # sizes up to which ranks are computed in Fractions

Rng = np.random.Generator


@dataclass(frozen=True)
class Shape:
    """A kind of data set with what is asked of it, and what share should be proved."""

    draw: Callable[[Rng], Dataset]
    least: float
    most: float = 1.0
    options: Callable[[Rng, Dataset], dict[str, Any]] = lambda rng, data: {}


def whole(rng: Rng, *shape: int, bound: int = 9) -> Any:
    return rng.integers(-bound, bound, shape, endpoint=True)


def plain(
    T: int, n: int, d: int, shared: bool | None = None, **kind: Any
) -> Callable[[Rng], Dataset]:
    """Random integers; the contexts shared, distinct, or (None) either."""

    def draw(rng: Rng) -> Dataset:
        one = bool(rng.integers(2)) if shared is None else shared
        return generators.random(T, n, d, shared=one, seed=int(rng.integers(2**31)), **kind)

    return draw


def kind(T: int, n: int, d: int, **kinds: Any) -> Callable[[Rng], Dataset]:
    """Contexts of rank n and queries of a named kind."""

    def draw(rng: Rng) -> Dataset:
        seed, shared = int(rng.integers(2**31)), bool(rng.integers(2))
        return generators.family(T, n, d, shared=shared, seed=seed, **kinds)

    return draw


def sparse(T: int, n: int, d: int) -> Callable[[Rng], Dataset]:
    """Entries 0 and ±1, most of them 0: A2 and the partition condition fail often."""

    def draw(rng: Rng) -> Dataset:
        table = [0, 0, 1, 1, -1]
        contexts = rng.choice(table, (1 if rng.integers(2) else T, n, d))
        return Dataset.of(contexts, rng.choice(table, (T, d)), whole(rng, T))

    return draw


def degenerate(T: int, n: int, d: int) -> Callable[[Rng], Dataset]:
    """One query made zero, parallel, repeated, or a sum of two others; or nothing."""

    def draw(rng: Rng) -> Dataset:
        data = plain(T, n, d)(rng)
        queries = data.queries.numerators.copy()
        t, s, q = rng.permutation(T)[:3]
        match int(rng.integers(5)):
            case 0:
                queries[t] = 0
            case 1:
                queries[t] = -3 * queries[s]
            case 2:
                queries[t] = queries[s]
            case 3:
                queries[t] = 2 * queries[s] - queries[q]
        return Dataset.of(data.contexts, queries, data.labels)

    return draw


def collinear(T: int, n: int, d: int) -> Callable[[Rng], Dataset]:
    """Queries on a line a + τ·b: any two independent, no three."""

    def draw(rng: Rng) -> Dataset:
        data = plain(T, n, d)(rng)
        steps = rng.permutation(np.arange(-T, T))[:T]
        line = whole(rng, d) + steps[:, None] * whole(rng, d)
        return Dataset.of(data.contexts, line, data.labels)

    return draw


def repeated_rows(T: int, n: int, d: int) -> Callable[[Rng], Dataset]:
    """In half of the data sets, one context has a zero or a repeated row."""

    def draw(rng: Rng) -> Dataset:
        data = plain(T, n, d, shared=False)(rng)
        contexts = data.contexts.numerators.copy()
        if rng.integers(2):
            contexts[rng.integers(T), 0] = contexts[rng.integers(T), 1] * rng.integers(2)
            t = rng.integers(T)
            contexts[t, 1] = contexts[t, 0]
        return Dataset.of(contexts, data.queries, data.labels)

    return draw


def fixed(**options: Any) -> Callable[[Rng, Dataset], dict[str, Any]]:
    return lambda rng, data: options


SHAPES: dict[str, Shape] = {
    "distinct contexts": Shape(plain(5, 3, 4, shared=False), 0.8, options=fixed(heads=2)),
    "shared context": Shape(plain(5, 3, 4, shared=True), 0.8, options=fixed(heads=2)),
    "rational": Shape(plain(5, 3, 4, denominator=6, m=2), 0.8),
    "n = d": Shape(plain(5, 3, 3), 0.7),
    "short last group": Shape(plain(6, 3, 4), 0.8, options=fixed(heads=3)),
    "d_h < n": Shape(plain(5, 4, 5), 0.8, options=fixed(head_width=2)),
    "d_h > n": Shape(plain(5, 3, 4), 0.8, options=fixed(head_width=5, heads=2)),
    "one head": Shape(plain(3, 3, 4), 0.7, options=fixed(heads=1)),
    "labels of 3, d_v = 4": Shape(plain(5, 3, 4, m=3), 0.8, options=fixed(value_width=4)),
    "idle heads": Shape(plain(4, 2, 3), 0.7, options=fixed(heads=6)),
    "small n": Shape(
        plain(4, 2, 2, bound=3), 0.1, options=lambda rng, data: {"heads": int(rng.integers(2, 5))}
    ),
    "one token": Shape(plain(1, 1, 2, bound=1), 0.4, 0.95),
    "sparse": Shape(sparse(5, 3, 4), 0.05, 0.8),
    "sparse, two tokens": Shape(sparse(4, 2, 4), 0.15, 0.95),
    "zero, parallel, repeated": Shape(degenerate(5, 3, 4), 0.15, 0.8, options=fixed(heads=2)),
    "collinear": Shape(collinear(5, 3, 4), 0.1, options=lambda rng, data: (
        {"heads": int(rng.integers(2, 5))}
    )),
    "permuted contexts": Shape(kind(5, 3, 4, contexts="permuted", bound=2), 0.4),
    "sparse queries": Shape(kind(6, 3, 5, queries="sparse", bound=3), 0.2, 0.98),
    "queries in a subspace": Shape(kind(6, 3, 5, queries="one-subspace"), 0.8),
    "scaled contexts": Shape(kind(5, 3, 4, contexts="scaled", queries="moment-curve"), 0.8),
    "zero and repeated rows": Shape(repeated_rows(4, 3, 4), 0.2, 0.85),
    "above capacity": Shape(
        plain(5, 3, 4), 0.1, 0.9, options=lambda rng, data: {"heads": int(rng.integers(1, 3))}
    ),
}  # fmt: skip


def run(name: str, count: int, seed: int, proved_each: int) -> None:
    shape, rng, proved = SHAPES[name], np.random.default_rng([seed, *name.encode()]), 0
    for k in range(count):
        data = shape.draw(rng)
        options = shape.options(rng, data)
        width = options.get("head_width", data.n)
        holds = hypotheses_hold(data, width, options.get("heads"))
        proved += holds
        if k % proved_each == 0:
            check_proof(data, options, holds)
        else:
            check_build(data, options, holds)
    share = proved / count
    print(f"\n{name:28} proved {proved:4} of {count:4}, refused with a witness {count - proved:4}")
    assert shape.least <= share <= shape.most, f"{name}: a share of {share:.2f} is proved"


def check_build(data: Dataset, options: dict[str, Any], holds: bool) -> None:
    try:
        built = build(data, **without_values(options))
    except HypothesisFails as failure:
        assert not holds and failure.decided
        check_witness(data, options, failure.hypothesis, failure.witness)
        return
    assert holds
    if predicted_bits(built, data) <= FRACTION_BITS:
        assert rank(features(data, built.layer)) == data.T
    else:
        assert rank_mod(features_mod(data, built.layer), SAFE_PRIME) == data.T


def check_proof(data: Dataset, options: dict[str, Any], holds: bool) -> None:
    proof = prove(data, Prove(claim=claim_for(data, options), **options))
    assert proof.conclusion == "memorization"
    assert proof.exit_status in ((0,) if holds else (1, 3))
    if not holds:
        claimed = proof.certificate and proof.certificate["claim"]
        assert claimed in ((None, "impossible") if proof.exit_status == 1 else (None,))
        assert proof.standing in (Level.NOT_APPLICABLE, Level.REFUTED)
        answer = proof.trace["memorization"].witness
        assert answer is not None and proof.layer is None
        check_claims(data, proof.trace)
        return
    assert proof.standing is Level.PROVED and proof.certificate is not None
    assert all(claim.level.holds for claim in proof.trace if claim.id.startswith("head."))
    assert proof.layer is not None
    if proof.setup.claim == "interpolation":
        spans = sum(summary.z_bits or 0 for summary in proof.heads)
        if spans <= FRACTION_BITS // 10:
            assert outputs(data, proof.layer) == data.labels.fractions()
    assert rank_mod(features_mod(data, proof.layer), SAFE_PRIME) == data.T


def claim_for(data: Dataset, options: dict[str, Any]) -> str:
    """An exact readout only where its numbers are short: others take seconds each."""
    try:
        built = build(data, **without_values(options))
    except HypothesisFails:
        return "auto"
    return "auto" if predicted_bits(built, data) <= READOUT_BITS else "full-rank"


def without_values(options: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if key != "value_width"}


def check_witness(
    data: Dataset, options: dict[str, Any], hypothesis: str, witness: dict[str, Any]
) -> None:
    """The relation behind a refusal, in Fractions."""
    r = min(data.n, options.get("head_width", data.n))
    if hypothesis == "A2":
        check_context(data, witness)
    elif hypothesis == "capacity":
        heads = options["heads"]
        assert witness == {"examples": data.T, "capacity": heads * (r - 1) + 1, "r": r}
        assert witness["capacity"] < data.T
    else:
        assert hypothesis == "some-partition"
        assert is_relation(data.queries.fractions(), witness)


def check_context(data: Dataset, witness: dict[str, Any]) -> None:
    rows = data.contexts.fractions()[witness["context"]]
    coefficients = [Fraction(c) for c in witness["coefficients"]]
    assert any(coefficients) and len(coefficients) == data.n
    for column in zip(*rows, strict=True):
        assert sum(c * x for c, x in zip(coefficients, column, strict=True)) == 0


def check_claims(data: Dataset, trace: ProofTrace) -> None:
    """Every refuted claim about queries or contexts shows a true relation."""
    refuted = [claim for claim in trace if claim.level is Level.REFUTED]
    assert any(claim.id.startswith("hypothesis.") for claim in refuted)
    for claim in refuted:
        assert claim.witness is not None
        if claim.id == "hypothesis.A2":
            check_context(data, dict(claim.witness))
        elif "coefficients" in claim.witness and "examples" in claim.witness:
            assert is_relation(data.queries.fractions(), claim.witness)


@pytest.mark.parametrize("name", SHAPES)
def test_proved_exactly_if_the_hypotheses_hold(name: str) -> None:
    run(name, EACH, seed=1, proved_each=PROVED_EACH)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_proved_exactly_if_the_hypotheses_hold_on_thousands(name: str) -> None:
    run(name, EACH_SLOW, seed=2, proved_each=PROVED_EACH_SLOW)

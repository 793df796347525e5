"""Every labelling: weights built for output 0 agree with an oracle; some cases stay open."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest
from flint import fmpq_mat
from support import given_oracle as oracle
from support.given_oracle import plain

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.zeros import Zero, draw_groups
from attncert.constructions.layer import Head, Layer
from attncert.verify.claims.evidence import Level
from attncert.verify.limits.labelling import labelled as module
from attncert.verify.limits.labelling.labelled import (
    Labelling,
    claims_of,
    label_all,
    useful_columns,
)
from attncert.verify.rank.whole_layer.jacobian_rows import JacobianRows, jacobian_rank

P = 11863067


def as_oracle(data: Dataset, layer: Layer) -> tuple[list[oracle.Example], list[oracle.Head]]:
    """Integer data and weights in the oracle's form."""
    rows = (data.context(t).tolist() for t in range(data.T))
    contexts = [[[int(x.p) for x in row] for row in context] for context in rows]
    queries = [[int(x) for x in row] for row in data.queries.numerators]
    return list(zip(contexts, queries, strict=True)), plain(layer)


def small(T: int, n: int, d: int, m: int = 1, shared: bool = False, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    contexts = rng.integers(-5, 6, (1 if shared else T, n, d))
    return Dataset.of(contexts, rng.integers(-5, 6, (T, d)), rng.integers(-5, 6, (T, m)))


@pytest.mark.parametrize(
    ("m", "head_width", "value_width", "shared"),
    [(1, 1, 1, False), (1, 2, 2, True), (2, 1, 2, False), (3, 2, 1, False), (2, 1, 3, True)],
)
def test_the_jacobian_is_the_oracles(
    m: int, head_width: int, value_width: int, shared: bool
) -> None:
    """The two Jacobians are equal entry by entry, modulo one prime; the oracle numbers columns head
    by head. Since each matrix has an entry 1, its entries have no common factor by which columns
    could differ."""
    data = small(4, 3, 3, m, shared)
    rng = np.random.default_rng(1)

    def drawn(rows: int, columns: int) -> fmpq_mat:
        return fmpq_mat(rows, columns, [1, *rng.integers(-3, 4, rows * columns - 1).tolist()])

    widths = (head_width, head_width, value_width)
    heads = tuple(Head(*(drawn(3, k) for k in widths)) for _ in range(2))
    layer = Layer(heads, drawn(2 * value_width, m))
    found = JacobianRows(data, layer, P).rows(0, 4).astype(np.int64) % P
    examples, theirs = as_oracle(data, layer)
    prime, oracle.PRIME = oracle.PRIME, P
    try:
        wanted = np.array(oracle.jacobian(examples, theirs), dtype=np.int64)
    finally:
        oracle.PRIME = prime
    each = 3 * (2 * head_width + value_width)
    whole = each + value_width * m
    order = [h * whole + k for h in range(2) for k in range(each)]
    order += [h * whole + each + k for h in range(2) for k in range(value_width * m)]
    assert (found == wanted[:, order] % P).all()


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("heads", [None, 5])
def test_what_is_built_is_a_zero_with_full_rank(shared: bool, heads: int | None) -> None:
    data = small(7, 3, 3, shared=shared)
    found = label_all(data, heads)
    assert found.proved and found.zero is not None, found.why
    assert heads is None or found.zero.heads == heads
    examples, theirs = as_oracle(data, found.zero.layer)
    assert not any(map(any, oracle.outputs(examples, theirs)))
    assert oracle.jacobian_rank(examples, theirs) == 7
    columns = useful_columns(data, found.zero)
    assert len(columns) < 7 * 3 * found.zero.heads
    assert jacobian_rank(data, found.zero.layer, columns=columns).rank == 7


def test_wide_labels() -> None:
    data = small(4, 3, 3, m=2)
    found = label_all(data, value_width=1)
    assert found.proved and found.trials[-1].rank.rank == 8


def test_between_the_zero_and_N_nothing_is_said() -> None:
    """N is 16 for two heads, but as a pair they reach only 8."""
    found = label_all(small(10, 3, 3), 2)
    assert not found.proved and found.zero is None and not found.claims
    assert "rank 8 of 10" in found.why


# Spoiled steps.


def built() -> tuple[Dataset, Zero]:
    data = small(7, 3, 3)
    labelled = label_all(data)
    assert labelled.zero is not None
    return data, labelled.zero


def with_head(zero: Zero, h: int, **parts: fmpq_mat) -> Zero:
    heads = list(zero.layer.heads)
    heads[h] = dataclasses.replace(heads[h], **parts)
    layer = dataclasses.replace(zero.layer, heads=tuple(heads))
    return dataclasses.replace(zero, layer=layer)


DEFECTS = {
    "labelling.zero": lambda z: with_head(z, 0, value=2 * z.layer.heads[0].value),
    "labelling.rank": lambda z: dataclasses.replace(
        z,
        layer=dataclasses.replace(z.layer, output=0 * z.layer.output),
    ),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_every_step_notices_its_defect(name: str) -> None:
    data, zero = built()
    spoiled = DEFECTS[name](zero)
    claims = {c.id: c for c in claims_of(data, spoiled, jacobian_rank(data, spoiled.layer))}
    assert not claims[name].level.holds
    good = claims_of(data, zero, jacobian_rank(data, zero.layer))
    assert all(claim.level is Level.PROVED for claim in good)


def test_heads_of_a_set_must_share_their_key() -> None:
    data, zero = built()
    spoiled = with_head(zero, 1, key=2 * zero.layer.heads[1].key)
    claims = {c.id: c for c in claims_of(data, spoiled, jacobian_rank(data, zero.layer))}
    assert claims["labelling.zero"].level is Level.REFUTED


@pytest.mark.parametrize("seed", range(6))
def test_degenerate_data_by_sets_of_two(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contexts are shared, repeated and scaled, and queries lie in a plane. The first set has only
    one head, which is too few."""
    rng = random.Random(seed)
    plane = [[1, k, 0] for k in range(-2, 3)] + [[0, 0, 1]]
    base = oracle.draw_matrix(rng, 3, 3, 3)
    contexts = [[[c * x for x in row] for row in base] for c in (1, 1, 2, -1, 3, 1)]
    if len({tuple(r) for r in base}) < 2:
        return
    data = Dataset.of(contexts, plane, [0] * 6)
    monkeypatch.setattr(module, "best_sizes", lambda heads, *rest: (1,))
    labelled = label_all(data, 6, seed=seed)
    assert labelled.zero is not None and max(map(len, labelled.zero.sets)) == 2
    assert oracle.jacobian_rank(*as_oracle(data, labelled.zero.layer)) == 6


def test_a_rank_that_falls_short_is_no_proof() -> None:
    data = small(7, 3, 3)
    zero = draw_groups(data, (1, 1))
    rank = jacobian_rank(data, zero.layer)
    assert not Labelling(data, zero=zero, claims=claims_of(data, zero, rank)).proved


def test_a_prime_that_divides_a_denominator_is_passed_over() -> None:
    data = Dataset.of([[[f"1/{P}", 0], [0, 1]]], [[1, 0], [0, 1]], [0, 0])
    layer = draw_groups(data, (2,), seed=1).layer
    found = jacobian_rank(data, layer)
    assert (found.full, found.prime != P) == (True, True)

"""Ranks of deep networks obey the law, reach it on generic data, and hold for real weights."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import deep_oracle as oracle
from support import relu_oracle
from sympy.ntheory import n_order

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import random
from attncert.constructions.data.loading import load
from attncert.constructions.given.zeros import worth
from attncert.constructions.layer import Head
from attncert.constructions.network.blocks import Attention, Block
from attncert.constructions.network.network import Network
from attncert.verify.depth.draw import SMALL, draw_network, draw_zero
from attncert.verify.depth.law import Architecture, DeepSpans
from attncert.verify.depth.ranks import deep_rank
from attncert.verify.derivatives import engine, networks, tower
from attncert.verify.derivatives.engine import Arithmetic

SHAPES = st.builds(
    Architecture, st.integers(1, 3), st.integers(1, 2), st.integers(1, 2), st.integers(1, 2)
)


@pytest.mark.parametrize("softmax", [1, 2, 3, 4])
def test_two_has_the_order_that_a_tower_says(softmax: int) -> None:
    for chain in tower.chains(softmax):
        assert len(chain) == softmax + 1 and tower.is_chain(chain)
        assert all(n_order(2, p) == q for p, q in pairwise(chain))


@pytest.mark.parametrize("wrong", [(13, 6, 3), (47, 23, 10), (59, 29), (11, 5), (9, 4)])
def test_no_other_numbers_are_a_chain(wrong: tuple[int, ...]) -> None:
    assert not tower.is_chain(wrong)


@st.composite
def small_data(draw: st.DrawFn) -> Dataset:
    """Small integers: tokens repeat, contexts are shared, and spans are small."""
    T, n, d = draw(st.integers(2, 12)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    bound, m = draw(st.sampled_from([1, 5])), draw(st.integers(1, 2))
    contexts = rng.integers(-bound, bound + 1, (n, d) if draw(st.booleans()) else (T, n, d))
    queries, labels = rng.integers(-bound, bound + 1, (T, d)), rng.integers(0, 9, (T, m))
    return Dataset.of(contexts.tolist(), queries.tolist(), labels.tolist())


@given(small_data(), SHAPES)
def test_no_rank_exceeds_the_law(data: Dataset, shape: Architecture) -> None:
    rank = deep_rank(data, draw_network(data, shape))
    assert rank.rank <= DeepSpans.of(data).bound(shape)


@pytest.mark.parametrize("shape", [(1, 2, 1, 1), (2, 2, 1, 1), (3, 2, 1, 1), (3, 1, 1, 4)])
def test_generic_data_reach_it(shape: tuple[int, int, int, int]) -> None:
    """In the last shape, layer 2 has four values, of which layer 3 reads three directions."""
    architecture, d = Architecture(*shape), 9 if shape[3] == 4 else 3
    data = random(T=145, n=3, d=d, seed=4)
    law = DeepSpans.of(data).bound(architecture)
    assert law < 145 and deep_rank(data, draw_network(data, architecture)).rank == law


@pytest.mark.parametrize(("layers", "spanned", "law"), [(2, 4, 24), (2, 3, 18), (3, 3, 31)])
def test_data_in_a_subspace_reach_less(layers: int, spanned: int, law: int) -> None:
    rng, shape, d = np.random.default_rng(2), Architecture(layers, 1, 1, 1), layers + 3
    basis = rng.integers(-5, 6, (spanned, d))
    contexts = rng.integers(-30, 31, (45, 3, spanned)) @ basis
    data = Dataset.of(contexts.tolist(), contexts[:, -1].tolist(), [0] * 45)
    assert DeepSpans.of(data).bound(shape) == law
    assert deep_rank(data, draw_network(data, shape)).rank == law


@pytest.mark.parametrize(
    ("shape", "n", "d"), [((2, 2, 1, 1), 3, 5), ((2, 1, 1, 2), 4, 6), ((3, 1, 1, 1), 2, 5)]
)
def test_one_context_for_all_reaches_less(shape: tuple[int, ...], n: int, d: int) -> None:
    data, architecture = random(T=60, n=n, d=d, shared=True, seed=1), Architecture(*shape)
    law, distinct = (DeepSpans.of(x).bound(architecture) for x in (data, random(60, n, d, seed=1)))
    assert law == deep_rank(data, draw_network(data, architecture)).rank < distinct


@pytest.mark.parametrize(("layers", "heads", "T"), [(1, 2, 9), (2, 1, 12), (2, 2, 25)])
def test_narrow_values_of_the_last_layer_bound_the_rank(layers: int, heads: int, T: int) -> None:
    data, shape = random(T=T, n=3, d=5, m=4, seed=1), Architecture(layers, heads, 1, 1)
    law = DeepSpans.of(data).bound(shape)
    assert law == deep_rank(data, draw_network(data, shape)).rank < min(T * 4, 71)


@pytest.mark.parametrize("sizes", [(1, 2, 3, 1, 2), (2, 2, 3, 1, 1), (3, 1, 9, 1, 4)])
def test_the_law_is_that_of_another_program(sizes: tuple[int, int, int, int, int]) -> None:
    layers, heads, d, w, v = sizes
    generic = DeepSpans(d, d, d, d, d, 1, 99)
    assert generic.bound(Architecture(layers, heads, w, v)) == oracle.law(*sizes)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10_000, 10_060))
def test_random_networks_of_another_program_have_that_rank(seed: int) -> None:
    """These networks are not among the 10,000 of docs/depth.md."""
    sizes, found, *_ = oracle.case(seed)
    assert found == oracle.law(*sizes[:5])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20_000, 20_060))
def test_special_data_of_another_program_do_not_exceed_it(seed: int) -> None:
    sizes, found, tokens, apart = oracle.case(seed, generic=False)
    contexts = tokens[:, :-1] if apart else tokens
    data = Dataset.of(contexts.tolist(), tokens[:, -1].tolist(), [0] * len(tokens))
    layers, heads, _, w, v, _ = sizes
    assert found <= DeepSpans.of(data).bound(Architecture(layers, heads, w, v))


def real_rank(data: Dataset, network: Network) -> int:
    """The rank of the Jacobian in float64, with weights 2^ℓ, from its singular values."""

    def shares(logits: np.ndarray, times: object) -> np.ndarray:
        powers = np.exp2(logits - logits.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)

    def no_relu(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        raise AssertionError

    floats = Arithmetic(shares, no_relu, np.log(2), lambda parts, k: np.concatenate(parts, k))
    blocks = networks.blocks_of(network, lambda table, q: table.astype(float) / q)
    tokens, queries, _ = networks.tokens_of(data, 0, data.T)
    scale = data.contexts.denominator, data.queries.denominator
    arrays = (x.astype(float) / q for x, q in zip((tokens, queries), scale, strict=True))
    table = engine.derivatives(engine.run(blocks, *arrays, floats), np.ones((data.T, 1)))
    values = np.linalg.svd(table / np.abs(table).max(axis=0), compute_uv=False)
    return int((values > 1e-10 * values[0]).sum())


def test_two_layers_with_their_own_keys_have_that_rank_in_floats() -> None:
    """The second interpretation in tower.py agrees with singular values."""
    tenth = [[f"{x}/20" for x in row] for row in np.random.default_rng(3).integers(-9, 10, (30, 3))]
    contexts = np.random.default_rng(4).integers(-9, 10, (30, 3, 3))
    data = Dataset.of(contexts.tolist(), tenth, [0] * 30)
    shape = Architecture(2, 1, 1, 1)
    network = draw_network(data, shape)
    small = Network(tuple(_scaled(block) for block in network.blocks))
    assert deep_rank(data, small).rank == DeepSpans.of(data).bound(shape) == real_rank(data, small)


def _scaled(block: Block) -> Block:
    """Keys divided by 1,000 and values by 100, which gives logits of size 1."""
    assert isinstance(block, Attention)
    heads = tuple(
        Head(head.key / 1000, head.query, head.value / 100)
        for head in block.heads
        if head.value is not None
    )
    return replace(block, heads=heads)


def test_outputs_are_0_where_a_network_is_drawn_so() -> None:
    data, shape = random(T=16, n=3, d=3, seed=1), Architecture(1, 3, 1, 1)
    network = draw_zero(data, shape, (3,))
    assert all(x.contains(0) for x in network.enclosures(data).entries())
    assert all(x.rad() < 1e-9 for x in network.enclosures(data).entries())
    deep = draw_zero(data, replace(shape, layers=2), (3,))
    assert deep.blocks[-1] == network.blocks[-1] and deep.blocks[0].residual
    assert deep_rank(data, deep).rank == worth(3, 1, 3, 3) == 12


@pytest.mark.parametrize("units", [1, 3])
def test_relu_blocks_add_what_the_law_says(units: int) -> None:
    shape, data = Architecture(2, 1, 1, 1, units), random(T=80, n=3, d=4, seed=3)
    network, law = draw_network(data, shape), DeepSpans.of(data).bound(shape)
    assert networks.weights_of(network) == shape.parameters(data)
    assert law < 80 and deep_rank(data, network).rank == law


def test_units_of_drawn_networks_change_sign_on_tokens_and_on_queries() -> None:
    """Otherwise, ranks on these data fall short of the law, for example 176 instead of 178."""
    data, shape = load("digits").take(range(200)), Architecture(2, 1, 1, 1, 4)
    assert deep_rank(data, draw_network(data, shape)).rank == DeepSpans.of(data).bound(shape) == 178


@pytest.mark.parametrize(
    "sizes", [(2, 1, 4, 1), (2, 1, 4, 3), (2, 2, 5, 2), (3, 1, 3, 1), (3, 2, 5, 1), (4, 1, 3, 1)]
)
def test_real_networks_with_relu_blocks_have_that_rank(sizes: tuple[int, int, int, int]) -> None:
    """The ranks are computed at other weights."""
    layers, heads, d, units = sizes
    data, shape = random(T=150, n=3, d=d, seed=5), Architecture(layers, heads, 1, 1, units)
    exact = deep_rank(data, draw_network(data, shape)).rank
    assert exact == DeepSpans.of(data).bound(shape) < 150
    assert any(relu_oracle.rank(data, layers, heads, units, seed) == exact for seed in range(3))


@given(
    small_data().filter(lambda data: data.m == 1),
    st.tuples(st.integers(2, 3), st.integers(1, 2), st.integers(1, 3)),
    st.integers(0, 99),
)
@settings(max_examples=15)
def test_no_real_network_with_relu_blocks_exceeds_the_law(
    data: Dataset, sizes: tuple[int, int, int], seed: int
) -> None:
    layers, heads, units = sizes
    law = DeepSpans.of(data).bound(Architecture(layers, heads, 1, 1, units))
    assert relu_oracle.rank(data, layers, heads, units, seed) <= law


def test_a_sign_that_softmax_weights_decide_is_not_guessed() -> None:
    """Unless the first values are small, the balls of some numbers before the ReLU contain 0."""
    data, shape = random(T=40, n=3, d=3, seed=3), Architecture(2, 1, 1, 1, 3)
    first, *rest = draw_network(data, shape).blocks
    assert isinstance(first, Attention)
    for factor in (SMALL, SMALL * 10**400):
        large = Network((replace(first, output=first.output * factor), *rest))
        assert deep_rank(data, large).rank == 0

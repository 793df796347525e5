"""Compares whole layers, Jacobians and fits on a GPU with the CPU and FLINT; their memory stays
within the budget."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.devices import Gpu
from support.shares import share

from attncert.constructions import width_one
from attncert.constructions.data import generators
from attncert.constructions.errors import InputError
from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.constructions.given.attention import Shape, jacobian
from attncert.constructions.given.least_squares import descend
from attncert.constructions.given.zeros import draw_groups
from attncert.constructions.network.blocks import Attention
from attncert.constructions.network.network import Network
from attncert.verify.depth.draw import draw_network
from attncert.verify.depth.law import Architecture
from attncert.verify.depth.ranks import NetworkRows, deep_rank
from attncert.verify.derivatives.tower import chains
from attncert.verify.features import features
from attncert.verify.fit.fitted import fit
from attncert.verify.limits.capacity.capacity import capacity
from attncert.verify.questions.fit import Capacity, Fit
from attncert.verify.rank.whole_layer.feature_rows import FeatureRows
from attncert.verify.rank.whole_layer.jacobian_rows import JacobianRows, jacobian_rank
from attncert.verify.rank.whole_layer.layer import layer_rank
from attncert.verify.rank.whole_layer.sizes import elimination_bytes, widths

pytestmark = pytest.mark.gpu
P = PRIMES_FLOAT64[0]
# T, n, d, H, contexts shared: one block of rows, three, a rank below T, and a single column
LAYERS = [
    (41, 6, 20, 8, True), (41, 6, 20, 8, False), (300, 6, 64, 64, True), (300, 6, 64, 64, False),
    (600, 9, 24, 80, True), (40, 6, 8, 3, True), (1, 1, 1, 1, True), (257, 4, 4, 90, False),
]  # fmt: skip


@pytest.mark.parametrize(("T", "n", "d", "heads", "shared"), share(LAYERS, 9))
def test_the_rank_of_a_layer(gpu: Gpu, T: int, n: int, d: int, heads: int, shared: bool) -> None:
    data = generators.random(T, n, d, shared=shared, seed=3)
    layer = draw_groups(data, (1,) * heads, seed=1).layer
    found = layer_rank(data, layer, device="cuda")
    assert found.device.kind == "cuda"
    assert found.tried == layer_rank(data, layer, device="cpu").tried
    p = found.prime
    assert found.rank == features.residue_rank(
        features.features_mod(data, [features.logits(head, data) for head in layer.heads], p), p
    )
    rows = FeatureRows(data, layer, P, xp=gpu.xp).rows(0, min(T, 7)).get()
    assert np.array_equal(rows, FeatureRows(data, layer, P).rows(0, min(T, 7)))


def test_too_little_memory_is_refused(gpu: Gpu) -> None:
    data = generators.random(9, 3, 4, seed=1)
    layer = width_one.build(data).layer
    with pytest.raises(InputError, match="DATA: must be small enough"):
        layer_rank(data, layer, device="cuda", memory=1000)


@pytest.mark.parametrize("shared", share([False, True], 2))
def test_no_more_memory_is_taken_than_was_counted(gpu: Gpu, shared: bool) -> None:
    data = generators.random(T=241, n=16, d=48, shared=shared, seed=2)
    layer = draw_groups(data, (1,) * 16, seed=1).layer
    bound = elimination_bytes(241, 16 * widths(data, 16, 1 << 30)[0])
    job = lambda: layer_rank(data, layer, device="cuda", memory=bound)  # noqa: E731
    assert gpu.most_bytes(job) <= bound


@pytest.mark.parametrize(("T", "shared"), share([(12, True), (320, False), (320, True)], 3))
def test_the_rank_of_a_jacobian(gpu: Gpu, T: int, shared: bool) -> None:
    """A Jacobian of more than 300 rows is eliminated in blocks, and a smaller one by FLINT."""
    data = generators.random(T=T, n=4, d=6, shared=shared, seed=1)
    layer = draw_groups(data, (3,) * (2 if T < 100 else 24), seed=1).layer
    found = jacobian_rank(data, layer, xp=gpu.xp)
    assert found == jacobian_rank(data, layer)
    there, here = (JacobianRows(data, layer, P, xp=xp).rows(0, 5) for xp in (gpu.xp, np))
    assert np.array_equal(there.get(), here)


@pytest.mark.parametrize(("T", "layers", "units"), share([(20, 3, 0), (20, 2, 2), (310, 2, 0)], 3))
def test_the_rank_of_several_layers(gpu: Gpu, T: int, layers: int, units: int) -> None:
    """A Jacobian of more than 300 rows is eliminated in blocks, and a smaller one by FLINT."""
    data = generators.random(T=T, n=3, d=4, shared=False, seed=1)
    network = draw_network(data, Architecture(layers, 9 if T > 300 else 1, 1, 1, units))
    assert deep_rank(data, network, xp=gpu.xp) == deep_rank(data, network)
    primes = chains(layers)[0]
    there, here = (NetworkRows(data, network, primes, 5, xp=xp).rows(0, 5) for xp in (gpu.xp, np))
    assert isinstance(there, gpu.cupy.ndarray) and np.array_equal(there.get(), here)


def test_causal_layers_on_a_gpu(gpu: Gpu) -> None:
    data = generators.random(T=5, n=3, d=3, seed=1)
    first, last = draw_network(data, Architecture(2, 1, 1, 1)).blocks
    assert isinstance(first, Attention)
    network = Network((replace(first, mask="causal"), last))
    assert deep_rank(data, network, xp=gpu.xp) == deep_rank(data, network)


@pytest.mark.parametrize("layers", [1, 2])
def test_the_capacity_of_layers(gpu: Gpu, layers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Jacobians are computed on the device, and the answer is the same as on the CPU."""
    data, made = generators.random(T=16, n=3, d=3, seed=1), list[bool]()
    table = JacobianRows if layers == 1 else NetworkRows
    rows = table.rows

    def seen(self: Any, start: int, stop: int) -> Any:
        block = rows(self, start, stop)
        made.append(isinstance(block, gpu.cupy.ndarray))
        return block

    monkeypatch.setattr(table, "rows", seen)
    there = capacity(data, Capacity(layers=layers, device="cuda"))
    assert all(made) and made
    here = capacity(data, Capacity(layers=layers, device="cpu"))
    assert not made[-1] and tuple(there.trace) == tuple(here.trace)
    assert there.versions["device"] != here.versions["device"]


def floats(T: int, n: int, d: int, m: int) -> list[np.ndarray]:
    draw = np.random.default_rng(T)
    shapes = (T, n, d), (T, d), (T, m)
    return [np.round(draw.standard_normal(shape) * 64) / 64 for shape in shapes]


@pytest.mark.parametrize(
    ("m", "head_width", "value_width"), share([(1, 1, 1), (2, 2, 1), (2, 1, 3)], 3)
)
def test_a_fit(gpu: Gpu, m: int, head_width: int, value_width: int) -> None:
    data, shape = floats(14, 3, 5, m), Shape(5, m, 6, head_width, value_width)
    there = [gpu.xp.asarray(x) for x in data]
    found, want = descend(*there, shape, 0), descend(*data, shape, 0)
    assert found.converged and want.converged and isinstance(found.weights, gpu.cupy.ndarray)
    weights = found.weights.get()
    got = jacobian(there[0], there[1], gpu.xp.asarray(weights), shape)
    for one, other in zip(got, jacobian(data[0], data[1], weights, shape), strict=True):
        assert np.allclose(one.get(), other, rtol=1e-10, atol=1e-10)
    assert np.abs(jacobian(data[0], data[1], weights, shape)[0] - data[2]).max() < 1e-9


def test_a_singular_system_ends_no_fit(gpu: Gpu) -> None:
    """Two examples differ only in their labels, by 10⁻¹⁰; cuSOLVER raises no exception."""
    labels = gpu.xp.asarray(np.array([[0.5], [0.5 + 1e-10]]))
    contexts, queries = gpu.xp.asarray(np.full((1, 1, 1), 1.25)), gpu.xp.asarray(np.ones((2, 1)))
    found = descend(contexts, queries, labels, Shape(1, 1, 1, 1, 1), 0)
    assert not found.converged and found.error == pytest.approx(5e-11, rel=0.1)


def test_fitted_labels_are_enclosed(gpu: Gpu) -> None:
    fitted = fit(generators.random(T=12, n=3, d=4, seed=1), Fit(device="cuda"))
    assert fitted.holds

"""The engine's derivatives agree with differences of floats and with forward mode in a tower."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax
from support import deep_oracle as oracle

from attncert.verify.derivatives import engine, tower
from attncert.verify.derivatives.engine import Arithmetic, Attention, Block, FeedForward

STEP = 1e-6


def _shares(logits: Any, times: Any) -> Any:
    often = np.ones_like(logits) if times is None else np.broadcast_to(times, logits.shape)
    with np.errstate(divide="ignore"):
        return softmax(logits + np.log(often), axis=-1)


FLOATS = Arithmetic(
    _shares,
    lambda x: (np.maximum(x, 0), (x > 0) * 1.0),
    1.0,
    lambda parts, k: np.concatenate(parts, k),
)


def network(kind: str, rng: np.random.Generator, d: int = 3, m: int = 2) -> list[Block]:
    def attention(out: int, **more: bool) -> Attention:
        shapes = (2, d, 2), (2, d, 2), (2, d, 2), (2, 2, out)
        return Attention(*(rng.standard_normal(shape) for shape in shapes), **more)

    relu = FeedForward(
        rng.standard_normal((d, d)), rng.standard_normal(d), True, True, activation="relu"
    )
    affine = FeedForward(rng.standard_normal((d, d)), rng.standard_normal(d))
    kinds: dict[str, list[Block]] = {
        "one layer": [attention(m)],
        "three layers": [*(attention(d, whole=True, residual=True) for _ in "ab"), attention(m)],
        "causal": [attention(d, whole=True, residual=True, causal=True), attention(m)],
        "no skip": [attention(d, whole=True), attention(m)],
        "linear": [attention(d, whole=True, linear=True), attention(m, linear=True)],
        "linear, causal": [attention(d, whole=True, causal=True, linear=True), attention(m)],
        "query alone": [attention(d, residual=True), affine, attention(m)],
        "relu": [attention(d, whole=True, residual=True), relu, attention(m)],
        "skips of two": [
            attention(d, whole=True),
            replace(relu, residual=2),
            replace(relu, residual=0),
            replace(relu, residual=2),
            attention(m),
        ],
    }
    return kinds[kind]


def flat(blocks: list[Block]) -> np.ndarray:
    """The weights in the order of `derivatives`."""
    parts = []
    for block in blocks:
        if isinstance(block, FeedForward):
            parts += [x.ravel() for x in block.weights]
            continue
        *by_head, output = block.weights
        parts += [x[h].ravel() for h in range(len(block.key)) for x in by_head]
        parts.append(output.ravel())
    return np.concatenate(parts)


def moved(blocks: list[Block], k: int, step: float) -> list[Block]:
    """The blocks with weight k of `flat` changed by the step."""
    changed = []
    for block in blocks:
        names = ("matrix", "bias") if isinstance(block, FeedForward) else (
            "key", "query", "value", "output"
        )  # fmt: skip
        arrays = {name: getattr(block, name).copy() for name in names}
        size = sum(x.size for x in arrays.values())
        if 0 <= k < size:
            places = [(name, i) for name in names for i in range(arrays[name].size)]
            if isinstance(block, Attention):
                each = [(name, arrays[name][0].size) for name in names[:3]]
                places = [(name, h * n + i) for h in range(len(block.key)) for name, n in each
                          for i in range(n)]  # fmt: skip
                places += [("output", i) for i in range(arrays["output"].size)]
            name, i = places[k]
            arrays[name].flat[i] += step
        k -= size
        changed.append(replace(block, **arrays))
    return changed


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    "kind",
    ["one layer", "three layers", "causal", "no skip", "linear", "linear, causal", "query alone",
     "relu", "skips of two"],
)  # fmt: skip
def test_derivatives_are_limits_of_differences(kind: str, shared: bool) -> None:
    rng = np.random.default_rng(5)
    blocks, b = network(kind, rng), 3
    tokens, queries = rng.standard_normal((1 if shared else b, 4, 3)), rng.standard_normal((b, 3))
    times = None
    if "causal" not in kind:
        times = rng.integers(0, 3, (len(tokens), 1, 1, 4))
        times[..., 0] += 1

    def outputs(some: list[Block]) -> np.ndarray:
        return engine.run(some, tokens, queries, FLOATS, times).outputs

    done = engine.run(blocks, tokens, queries, FLOATS, times)
    tables = [engine.derivatives(done, np.eye(2)[[j] * b]) for j in range(2)]
    assert all(table.shape == (b, len(flat(blocks))) for table in tables)
    for k in range(len(flat(blocks))):
        high, low = (outputs(moved(blocks, k, step)) for step in (STEP, -STEP))
        for j, table in enumerate(tables):
            slopes = (high[:, j] - low[:, j]) / (2 * STEP)
            assert table[:, k] == pytest.approx(slopes, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("sizes", [(1, 2, 3, 1, 2), (2, 1, 3, 2, 1), (3, 2, 2, 1, 2)])
def test_a_tower_gives_the_derivatives_of_forward_mode(sizes: tuple[int, ...]) -> None:
    """They agree in each entry, modulo the first prime, with a separate program in forward mode."""
    layers, _, d, *_ = sizes
    rng, primes = np.random.default_rng(layers), tower.chains(layers)[0]
    tokens, net = rng.integers(-50, 51, (4, 3, d)), oracle.weights(rng, sizes)
    blocks, order, start = list[Block](), [], 0
    for number, layer in enumerate(net):
        parts = [np.stack(layer[k::4]) for k in range(4)]
        arrays = (tower.tower_array(part, primes) for part in parts)
        last = number == layers - 1
        blocks.append(Attention(*arrays, whole=not last, residual=not last))
        ends = start + np.concatenate([[0], np.cumsum([x.size for x in layer])])
        each = [np.arange(a, b) for a, b in pairwise(ends)]
        order += [x for k, x in enumerate(each) if k % 4 < 3] + each[3::4]
        start = ends[-1]
    slope = 12345
    done = engine.run(
        blocks, tower.tower_array(tokens, primes), tower.tower_array(tokens[:, -1], primes),
        tower.arithmetic(slope),
    )  # fmt: skip
    one = tower.tower_array(np.ones((4, 1), dtype=np.int64), primes)
    table = engine.derivatives(done, one).parts[0].astype(np.int64) % primes[0]
    wanted = oracle.jacobian(tokens, net, list(primes))
    assert table.tolist() == wanted[:, np.concatenate(order)].tolist()

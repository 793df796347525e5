"""Adam, as the paper trains: to compare with, and to begin a fit where training ends.

Mean squared error over batches of 256 examples, step size 10⁻³ with 5 % warm-up and cosine decay,
as in the paper's experiments with real labels; here in float64, from the same small random weights
and on the same scaled data as `least_squares.fit`, without the paper's embedding and decoder. Torch
does the steps and the derivatives; the layer itself is `attention.outputs`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from attncert.constructions.arrays import FloatArray
from attncert.constructions.errors import InputError, extra
from attncert.constructions.given.attention import Shape, outputs
from attncert.constructions.given.least_squares import Units, start

STEPS = 50_000  # the least number in the paper's experiments
BATCH, RATE, WARM_UP = 256, 1e-3, 0.05
_SEEN = 100  # points of the curve of errors


@dataclass(frozen=True)
class Training:
    """weights: NumPy, float64, in the scale of the data. error: the largest, of the labels given.

    errors: pairs of a step and the largest error then, of the labels scaled to about unit size.
    """

    weights: FloatArray
    steps: int
    error: float
    errors: tuple[tuple[int, float], ...]


def load_torch() -> Any:
    """Raises InputError where torch is not installed."""
    try:
        import torch
    except ImportError:
        must = f"lm, or adam with {extra('torch')}"
        raise InputError("--optimizer", must, "adam without it") from None
    return torch


def train(
    contexts: FloatArray,
    queries: FloatArray,
    labels: FloatArray,
    shape: Shape,
    seed: int,
    *,
    times: FloatArray | None = None,
    steps: int = STEPS,
    progress: Callable[[int, float], None] = lambda step, error: None,
) -> Training:
    """The weights after `steps` steps, or fewer where they leave the range of float64.

    Shapes as for `least_squares.fit`. Deterministic in `seed` on one machine. Runs on the CPU.
    """
    torch = load_torch()
    units = Units.of(contexts, queries, labels)
    E, e, y = map(torch.asarray, units.scaled(contexts, queries, labels))
    there = None if times is None else torch.asarray(times)
    first = torch.asarray(start(shape, seed))
    moving, fixed = first[: shape.free].clone().requires_grad_(True), first[shape.free :]
    optimizer = torch.optim.Adam([moving], lr=RATE)
    draw, T = np.random.default_rng(seed), len(queries)
    curve: list[tuple[int, float]] = []

    def errors(rows: Any) -> Any:
        weights = torch.cat((moving, fixed))
        own = E if len(E) == 1 else E[rows]
        some = None if there is None else there[rows]
        return outputs(own, e[rows], weights, shape, some) - y[rows]

    def measured(step: int) -> float:
        with torch.no_grad():
            curve.append((step, float(errors(slice(None)).abs().max())))
        progress(*curve[-1])
        return curve[-1][1]

    order, step, error = np.arange(0), 0, measured(0)
    while step < steps and math.isfinite(error):
        if len(order) < min(BATCH, T):  # a pass over all examples has ended
            order = draw.permutation(T)
        rows, order = order[:BATCH], order[BATCH:]
        optimizer.param_groups[0]["lr"] = RATE * schedule(step / steps)
        optimizer.zero_grad()
        (errors(torch.asarray(rows)) ** 2).mean().backward()
        optimizer.step()
        step += 1
        if step % max(1, steps // _SEEN) == 0 or step == steps:
            error = measured(step)
    weights = torch.cat((moving, fixed)).detach().numpy() * units.factors(shape)
    return Training(weights, step, error * units.y, tuple(curve))


def schedule(share: float) -> float:
    """The step size over the largest one, after this share of all steps.

    >>> [round(schedule(x), 3) for x in (0.025, 0.05, 0.525, 1.0)]
    [0.5, 1.0, 0.5, 0.0]
    """
    if share < WARM_UP:
        return share / WARM_UP
    return (1 + math.cos(math.pi * (share - WARM_UP) / (1 - WARM_UP))) / 2

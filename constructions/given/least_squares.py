"""Levenberg-Marquardt for an attention layer on given labels, in float64, with any array library.

Let f(x) be the T·m errors of the outputs at the free weights x (P of them) and J their Jacobian.
Each step solves the smaller of the two systems

    (J Jᵀ + μ) s = f,  δ = -Jᵀ s   (T·m × T·m)     or     (JᵀJ + μ) δ = -Jᵀ f   (P × P);

both give the same δ, since Jᵀ(J Jᵀ + μ) = (JᵀJ + μ)Jᵀ. The damping is μ = λ |f|²/(T·m): it vanishes
with the error, so that near a solution with a surjective J the steps become Newton's and converge
quadratically (Yamashita and Fukushima, *On the rate of convergence of the Levenberg-Marquardt
method*, 2001, for |f|²). λ follows the ratio of the decrease to the decrease that J predicts.

*Why not `scipy.optimize.least_squares`.* benchmarks/fit.py compares the two, from the same start
with the same Jacobian. SciPy's "lm" refuses fewer residuals than unknowns, which is the usual case
here; its "trf" finds the same solutions in the same number of steps, but factors J by singular
values (or iterates on it), although one solve of the smaller system is enough, and it runs on NumPy
only. It is several times slower at T = 360.

**Start.** Contexts, queries and labels are scaled to about unit size by powers of two, so that
scaling back causes no rounding. Weights are normal with standard deviation (4 d² d_h)^(-1/4), so
that logits are about 1/2 and the softmax is nearly uniform. From large weights, the search rarely
converges.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from attncert.constructions.arrays import FloatArray
from attncert.constructions.given.attention import Array, Shape, jacobian, outputs

TOLERANCE = 1e-12  # the largest error allowed for labels of about unit size
MAX_STEPS = 200
_EASIER, _HARDER = 1 / 4, 4.0  # factors of λ after a good step, and after a failed one
_PATIENCE = 25  # consecutive steps that may each lower |f|² by less than a tenth


@dataclass(frozen=True, repr=False)
class Descent:
    """Weights on the scale of the data, numbered as `Shape` says, their largest error, the errors
    of all steps for the scaled labels, and the reason if the search did not converge."""

    shape: Any
    weights: Array
    error: float
    steps: tuple[float, ...]
    why: str = ""

    @property
    def converged(self) -> bool:
        return not self.why


def descend(
    contexts: Array,
    queries: Array,
    labels: Array,
    shape: Shape,
    begin: int | Array,
    *,
    times: Array | None = None,
    tolerance: float = TOLERANCE,
    max_steps: int = MAX_STEPS,
    patience: int = _PATIENCE,
    progress: Callable[[int, float], None] = lambda step, error: None,
) -> Descent:
    """Weights whose outputs are the labels up to rounding, or the last weights tried. The arrays
    are finite float64; begin: a seed, or the first weights, in the scale of the data. The result is
    deterministic on one machine, and proves nothing."""
    xp, place = array_namespace(queries), device(queries)
    E, e, y = (unit(xp, array) for array in (contexts, queries, labels))
    contexts, queries, labels = contexts / E, queries / e, labels / y
    factors = xp.asarray(_factors(shape, E, e, y), device=place)
    seeded = isinstance(begin, int)
    x = xp.asarray(start(shape, begin), device=place) if seeded else begin / factors
    free = shape.free

    def errors(some: Array) -> Array:
        weights = xp.concat((some, x[free:]))
        return xp.reshape(outputs(contexts, queries, weights, shape, times) - labels, (-1,))

    def slopes(some: Array) -> Array:
        weights = xp.concat((some, x[free:]))
        J = jacobian(contexts, queries, weights, shape, free, times)[1]
        return xp.reshape(J, (-1, free))

    found = minimise(
        errors, slopes, x[:free], tolerance=tolerance, max_steps=max_steps, patience=patience,
        progress=progress,
    )  # fmt: skip
    why = found.why
    with np.errstate(all="ignore"):  # 1/E is infinite if the data are denormal
        weights = xp.concat((found.weights, x[free:])) * factors
    if not why and not bool(xp.all(xp.isfinite(weights))):
        why = "in the scale of the data the weights are beyond the range of float64"
    return Descent(shape, weights, found.error * y, found.steps, why)


def minimise(
    errors: Callable[[Array], Array],
    slopes: Callable[[Array], Array],
    x: Array,
    *,
    tolerance: float = TOLERANCE,
    max_steps: int = MAX_STEPS,
    patience: int = _PATIENCE,
    progress: Callable[[int, float], None] = lambda step, error: None,
) -> Descent:
    """Levenberg-Marquardt from x until the largest of the errors f(x), (N,), is at most the
    tolerance. Deterministic."""
    xp, level, steps, slow, why = array_namespace(x), 1.0, list[float](), 0, ""
    f = errors(x)
    squares, error = _measure(xp, f)
    while True:
        damping = level * squares / f.shape[0]
        steps.append(error)
        progress(len(steps) - 1, error)
        if error <= tolerance or not math.isfinite(squares):
            why = "" if error <= tolerance else "numbers beyond the range of float64"
            break
        if len(steps) > max_steps or slow > patience:
            why = f"no progress in the last {patience} steps"
            why = why if slow > patience else f"not reached by step {max_steps}"
            break
        J = slopes(x)
        products = smaller(J)
        while True:
            change = direction(J, products, f, damping)
            trial = x + change
            tried = errors(trial)
            lower, largest = _measure(xp, tried)
            promised = squares - float(xp.sum((f + J @ change) ** 2))
            gain = (squares - lower) / promised if promised > 0 else -1.0
            if gain > 0 or damping > 1e30:  # (a NaN is no gain)
                break
            level *= _HARDER
            damping = level * squares / f.shape[0]
        if not gain > 0:
            why = "no step makes the error smaller"
            break
        slow = slow + 1 if lower > 0.9 * squares else 0
        level *= _EASIER if gain > 0.75 else 1.0 if gain > 0.25 else _HARDER
        x, f, squares, error = trial, tried, lower, largest
    return Descent(None, x, error, tuple(steps), why)


def start(shape: Shape, seed: int) -> FloatArray:
    """Small random weights; if d_v ≥ m, the output is H copies of [I_m; 0], and is not changed."""
    draw = np.random.default_rng(seed)
    size = (4.0 * shape.d**2 * shape.head_width) ** -0.25
    weights = size * draw.standard_normal(shape.parameters)
    if shape.value_width >= shape.m:
        block = np.eye(shape.value_width, shape.m)
        weights[shape.attention :] = np.tile(block, (shape.heads, 1)).ravel()
        values = shape.split(weights)[2]  # a view
        values[:, :, shape.m :] = 0  # never used
    return weights


def _factors(shape: Shape, E: float, e: float, y: float) -> FloatArray:
    """Factors that turn weights for the scaled data into weights for the data: 1/E, 1/e for
    queries, y/E for values."""
    factors = np.ones(shape.parameters)
    keys, queries, values, _ = shape.split(factors)  # views
    keys[:], queries[:], values[:] = 1 / E, 1 / e, y / E
    return factors


def smaller(J: Array) -> Array:
    """J Jᵀ or JᵀJ, whichever has fewer rows; it is the same for every damping."""
    turned = array_namespace(J).matrix_transpose(J)
    return J @ turned if J.shape[0] <= J.shape[1] else turned @ J


def direction(J: Array, products: Array, f: Array, damping: float) -> Array:
    """The step δ, from the smaller of the two systems; products: `smaller(J)`."""
    xp = array_namespace(J)
    turned = xp.matrix_transpose(J)
    system = products + damping * xp.eye(products.shape[0], dtype=J.dtype, device=device(J))
    if J.shape[0] <= J.shape[1]:
        return -(turned @ _solve(xp, system, f))
    return -_solve(xp, system, turned @ f)


def _solve(xp: Any, system: Array, right: Array) -> Array:
    """The solution; NaN, as in CuPy, if the damping is lost in the rounding of a singular system:
    such a step does not lower the error, so more damping is tried."""
    try:
        return xp.linalg.solve(system, right[:, None])[:, 0]
    except np.linalg.LinAlgError:
        return xp.full_like(right, math.nan)


def _measure(xp: Any, f: Array) -> tuple[float, float]:
    return float(xp.sum(f * f)), float(xp.max(xp.abs(f)))


def unit(xp: Any, array: Array) -> float:
    """A power of two near the root mean square, or 1 if all numbers are 0."""
    largest = float(xp.max(xp.abs(array)))
    if not 0 < largest < math.inf:
        return 1.0
    mean = largest * math.sqrt(float(xp.mean((array / largest) ** 2)))
    return 2.0 ** round(math.log2(mean))

"""Tests docs/shared-contexts.md on random small cases: one head, one context of n tokens.

A head is g(s) = Σ w_i e^(μ_i s) / Σ e^(μ_i s) at s = q·e_t. Instead of enclosures, 60 digits
of mpmath and inequalities with a margin of 10^-40 are used. A case returns the statements that it
tried and whether each of them held. Case k of a target depends only on (target, 0, k).

    PYTHONPATH=tests python tests/theory/shared_contexts.py TARGET CASES
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from functools import cache, partial
from itertools import pairwise, permutations
from math import ceil, factorial
from typing import Any

from mpmath import mp, mpc, mpf
from support import attacks
from support.attacks import Outcome

mp.dps = 60
SLACK = mpf(10) ** -40

Head = tuple[list[mpf], list[mpf]]  # w, μ


def evaluate(head: Head, s: Any) -> Any:
    """g(s), s real or complex."""
    top = max(mp.re(m * s) for m in head[1])
    weights = [mp.exp(m * s - top) for m in head[1]]
    return mp.fdot(zip(head[0], weights, strict=True)) / mp.fsum(weights)


def uniform(rng: random.Random, low: float, high: float) -> mpf:
    return mpf(rng.uniform(low, high))


def draw_head(rng: random.Random, n: int, R: mpf, M: mpf) -> Head:
    """A head with |w| ≤ R and |μ_i - μ_j| ≤ M, often extreme, and often with similar tokens."""
    few = [uniform(rng, 0, 1), mpf(0), mpf(1)]
    mu = [M * (rng.choice(few) if rng.random() < 0.7 else uniform(rng, 0, 1)) for _ in range(n)]
    w = [R * (rng.choice((-1, 1)) if rng.random() < 0.7 else uniform(rng, -1, 1)) for _ in mu]
    return w, mu


def one_against(n: int, R: mpf, M: mpf) -> Head:
    """One token against n - 1 equal ones; both sides have equal weight at s = ln(n - 1)/M."""
    return [R, *[-R] * (n - 1)], [M, *[mpf(0)] * (n - 1)]


# Theorem S ---------------------------------------------------------------------------------------


def sector(n: int) -> mpf:
    """The angle θ in which |g| ≤ 2R."""
    return mp.acot(3 / mp.pi * mp.log(4 * n))


def terms(R: mpf, error: mpf) -> int:
    """K: Taylor terms on an interval of length θ."""
    return max(1, ceil(mp.log(4 * R / error, 2)))


def sector_case(rng: random.Random) -> Outcome:
    """Step 1: the bound in the sector, and the slope in ln|s|."""
    n, R, M = rng.choice((2, 3, 8, 60)), mpf(rng.choice((1, 50))), mpf(10) ** rng.randint(0, 3)
    head, theta = draw_head(rng, n, R, M), sector(n)
    sign, radius = rng.choice((-1, 1)), mp.exp(uniform(rng, -9, 3))
    angle = theta * rng.choice((-1, 1, uniform(rng, -1, 1)))
    if n > 2 and rng.random() < 0.5:
        head, sign, radius = one_against(n, R, M), 1, mp.log(n - 1) / (M * mp.cos(angle))
    steps = [radius * mp.exp(mpc(0, angle)) * sign, sign * radius * mp.exp(mpf(10) ** -25)]
    slope = (evaluate(head, steps[1]) - evaluate(head, sign * radius)) * mpf(10) ** 25
    return {
        "|g| at most 2R": abs(evaluate(head, steps[0])) <= 2 * R + SLACK,
        "slope at most 2R/θ": abs(slope) <= 2 * R / theta + mpf(10) ** -20,
    }


def near_case(rng: random.Random) -> Outcome:
    """Step 2: arguments in one cell give values within ε'."""
    n, R, M = rng.choice((2, 3, 8, 60)), mpf(rng.choice((1, 50))), mpf(10) ** rng.randint(0, 3)
    head, error = draw_head(rng, n, R, M), mpf(10) ** rng.randint(-6, -1)
    least, step = error / (R * M), error * sector(n) / (2 * R)
    u = uniform(rng, float(mp.log(least)), 0)
    apart = mp.exp(u), mp.exp(u - step)
    close = least * uniform(rng, -1, 1), least * rng.choice((-1, 1))
    sign = rng.choice((-1, 1))
    return {
        name: abs(evaluate(head, sign * a) - evaluate(head, sign * b)) <= error + SLACK
        for name, (a, b) in (("one interval", apart), ("near 0", close))
    }


def taylor_case(rng: random.Random) -> Outcome:
    """Step 3: K rounded coefficients at the centre of an interval of length θ."""
    n, R, M = rng.choice((2, 3, 8, 60)), mpf(rng.choice((1, 50))), mpf(10) ** rng.randint(0, 3)
    head, error, theta = draw_head(rng, n, R, M), mpf(10) ** rng.randint(-6, -1), sector(n)
    sign, K = rng.choice((-1, 1)), terms(R, error)
    centre, grid = uniform(rng, -9, 2), 2 * error / K
    if n > 2 and rng.random() < 0.5:
        head, sign, centre = one_against(n, R, M), 1, mp.log(mp.log(n - 1) / M)
    exact = coefficients(head, sign, centre, theta / 2, K)
    rounded = [mp.nint(c / grid) * grid for c in exact]
    at = rng.choice((-1, 1, uniform(rng, -1, 1)))
    there = evaluate(head, sign * mp.exp(centre + at * theta / 2))
    return {
        "remainder": abs(mp.polyval(exact[::-1], at) - there) <= error + SLACK,
        "rounded": abs(mp.polyval(rounded[::-1], at) - there) <= 2 * error + SLACK,
        "coefficients": all(abs(c) <= 2 * R / 2**k + SLACK for k, c in enumerate(exact)),
    }


def coefficients(head: Head, sign: int, centre: mpf, radius: mpf, K: int) -> list[mpf]:
    """c_k radius^k of g(±e^u) at the centre, from values on a circle; the error is below SLACK."""
    points = 4 * K + 160
    angles = [2 * mp.pi * j / points for j in range(points)]
    values = [evaluate(head, sign * mp.exp(centre + radius * mp.expj(a))) for a in angles]
    powers = [mp.expj(-a) for a in angles]
    return [
        mp.re(mp.fsum(v * powers[j * k % points] for j, v in enumerate(values))) / points
        for k in range(K)
    ]


def log_cubes(T: int, d: int, H: int, n: int, R: float, M: float, eps: float) -> float:
    """ln 𝒩 of Theorem S."""
    error, theta = mpf(eps) / (4 * H), sector(n)
    least, eta = error / (mpf(R) * M), error * theta / (2 * mpf(R))
    J, L = ceil(mp.log(1 / least) / eta), ceil(mp.log(1 / least) / theta)
    K = terms(mpf(R), error)
    shapes = (2 * L * K + 1) * mp.log(2 * R * K / error + 1)
    return float(H * (d * mp.log(2 * mp.e * T * (J + 1) / mpf(d)) + shapes))


def refuted_from(d: int, H: int, n: int, R: float, M: float) -> int:
    """Roughly the least T at which Theorem S bounds the chance of random labels below 1."""
    low, high = d, 10**9
    while high - low > low // 100 + 1:
        T = (low + high) // 2
        best = min(log_cubes(T, d, H, n, R, M, 10.0**-k) + T * float(mp.log(2 * mpf(10) ** -k))
                   for k in range(1, 60))  # fmt: skip
        low, high = (low, T) if best < 0 else (T, high)
    return high


# Proposition B -----------------------------------------------------------------------------------


@cache
def stirling(T: int, k: int) -> int:
    """|s(T, k)|: the number of permutations of T with k cycles."""
    if T == 0 or k <= 0:
        return int(k == T)
    return stirling(T - 1, k - 1) + (T - 1) * stirling(T - 1, k)


def orders(T: int, d: int) -> int:
    """Q: the number of orders by q·e of T ≥ 2 vectors in general position in d dimensions."""
    return 2 * sum(stirling(T, k) for k in range(T - d + 1, T + 1, 2))


def crossings(order: Sequence[Any]) -> int:
    """The largest number of times that the sequence crosses a level."""
    levels = sorted(order)
    return max(sum((x <= low) != (y <= low) for x, y in pairwise(order)) for low in levels[:-1])


@cache
def few_crossings(T: int, a: int) -> int:
    """|Π_a(T)|."""
    return sum(crossings(order) <= a for order in permutations(range(T)))


def chance(T: int, d: int, n: int) -> float:
    """The bound of Proposition B."""
    return few_crossings(T, n - 1) * orders(T, d) / (2 * factorial(T))


def crossings_case(rng: random.Random) -> Outcome:
    """The labels of a head, in order of increasing q·e, cross no level more than n - 1 times."""
    n, T = rng.randint(2, 5), rng.randint(2, 9)
    w = [uniform(rng, -9, 9) for _ in range(n)]
    mu = [uniform(rng, -4, 4) for _ in range(n)]
    labels = [evaluate((w, mu), s) for s in sorted(uniform(rng, -3, 3) for _ in range(T))]
    return {"crossings": crossings(labels) <= n - 1}


def orders_case(rng: random.Random) -> Outcome:
    """Q bounds the number of orders of any vectors, even special ones, in random directions."""
    d, T = rng.randint(1, 3), rng.randint(2, 5)
    size = rng.choice((2, 10**6))
    vectors = [[rng.randint(-size, size) for _ in range(d)] for _ in range(T)]
    seen = set()
    for _ in range(300):
        q = [rng.gauss(0, 1) for _ in range(d)]
        heights = [sum(a * b for a, b in zip(q, e, strict=True)) for e in vectors]
        if len(set(heights)) == T:
            seen.add(tuple(sorted(range(T), key=heights.__getitem__)))
    return {"orders": len(seen) <= orders(T, d)}


# Theorem D ---------------------------------------------------------------------------------------


def two_branches(rng: random.Random, n: int) -> Head:
    """w_1 < w_n < 0, and the others are distinct and between W and 2W; μ is increasing."""
    mu = sorted(uniform(rng, -2, 2) for _ in range(n))
    W = mpf(2 * n + 4)
    middle = [W * uniform(rng, 1, 2) for _ in range(n - 2)]
    return [uniform(rng, -2, -1), *middle, uniform(rng, -0.9, -0.1)], mu


def branches(head: Head, y: mpf) -> tuple[mpf, mpf]:
    """The two s with g(s) = y, by bisection from a point above y."""
    peak = max((mpf(s) / 8 for s in range(-400, 401)), key=lambda s: evaluate(head, s))
    ends = []
    for outside in (mpf(-400), mpf(400)):
        inside = peak
        for _ in range(460):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if evaluate(head, middle) > y else (inside, middle)
        ends.append(inside)
    return ends[0], ends[1]


def tangents(head: Head, s: mpf) -> list[mpf]:
    """s and its derivatives at g(s) = y with respect to all w and μ_2, …, μ_(n-1)."""
    w, mu = head
    g = evaluate(head, s)
    top = max(m * s for m in mu)
    weights = [mp.exp(m * s - top) for m in mu]
    p = [x / mp.fsum(weights) for x in weights]
    slope = mp.fsum(m * q * (x - g) for m, q, x in zip(mu, p, w, strict=True))
    by_mu = [s * q * (x - g) for q, x in zip(p, w, strict=True)][1:-1]
    return [s, *(-x / slope for x in [*p, *by_mu])]


def branches_case(rng: random.Random) -> Outcome:
    """Every label in [0, 1] has two preimages, and δ and its 2n - 2 derivatives are independent."""
    n = rng.choice((3, 3, 3, 4, 4, 5))
    with mp.workdps(120):  # close values of μ make it small
        size, determinant = independence(two_branches(rng, n), n)
        return {"two preimages": size > 0, f"n = {n}": abs(determinant) > mpf(10) ** -90}


def independence(head: Head, n: int) -> tuple[mpf, mpf]:
    """The least of 2n - 1 distances between branches, and a determinant of the functions there."""
    rows = []
    for k in range(2 * n - 1):
        ends = branches(head, mpf(k) / (2 * n - 2))
        rows.append([b - a for a, b in zip(*(tangents(head, s) for s in ends), strict=True)])
    sizes = [max(abs(row[j]) for row in rows) for j in range(2 * n - 1)]
    scaled = mp.matrix([[x / (m or 1) for x, m in zip(row, sizes, strict=True)] for row in rows])
    return min(row[0] for row in rows), mp.det(scaled)


TARGETS: attacks.Targets = {
    "sector": sector_case,
    "near": near_case,
    "taylor": taylor_case,
    "crossings": crossings_case,
    "orders": orders_case,
    "branches": branches_case,
}


attack = partial(attacks.attack, TARGETS)


if __name__ == "__main__":
    print(*attack(sys.argv[1], int(sys.argv[2])))

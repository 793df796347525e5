"""Zeros of an unstructured layer, found in floats and proved by a Krawczyk test in balls.

docs/given-labels.md, Theorem 12: weights at which all outputs are 0 and the Jacobian is onto prove
that every labelling is memorized. Scalar labels, heads of width one, distinct contexts. The weights
are keys, queries and values (each H × d), one after the other: P = 3Hd numbers.

    python benchmarks/given_labels_zeros.py n d H T [seeds]
"""

from __future__ import annotations

import sys

import numpy as np
from flint import arb, arb_mat, ctx
from scipy.linalg import qr

PRECISION = 160
Array = np.ndarray


def draw(n: int, d: int, T: int, seed: int) -> tuple[Array, Array]:
    """Contexts T × n × d and queries T × d: integers up to 9."""
    rng = np.random.default_rng(seed)
    return rng.integers(-9, 10, size=(T, n, d)), rng.integers(-9, 10, size=(T, d))


def evaluate(E: Array, e: Array, x: Array) -> tuple[Array, Array]:
    """Outputs (T) and Jacobian (T × P) in float64."""
    d = e.shape[1]
    keys, queries, values = x.reshape(3, -1, d)
    F, blocks = np.zeros(len(E)), ([], [], [])
    for k, q, v in zip(keys, queries, values, strict=True):
        a = e @ q
        logits = (E @ k) * a[:, None]
        p = np.exp(logits - logits.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        s = E @ v
        mean = (p * s).sum(1)
        F += mean
        c = np.einsum("tn,tnd->td", p * (s - mean[:, None]), E)
        blocks[0].append(c * a[:, None])
        blocks[1].append((c @ k)[:, None] * e)
        blocks[2].append(np.einsum("tn,tnd->td", p, E))
    return F, np.hstack([column for block in blocks for column in block])


def search(E: Array, e: Array, H: int, seed: int, steps: int = 1500) -> Array | None:
    """Levenberg-Marquardt for F = 0 with values of norm 1, or None. The data are scaled to 1."""
    d, rng = e.shape[1], np.random.default_rng(seed)
    E, e = E / 9.0, e / 9.0
    x = rng.normal(size=3 * H * d) * 0.7
    x[2 * H * d :] /= np.linalg.norm(x[2 * H * d :])

    def system(x: Array) -> tuple[Array, Array]:
        F, J = evaluate(E, e, x)
        v = np.where(np.arange(len(x)) >= 2 * H * d, x, 0)
        return np.append(F, v @ v - 1), np.vstack([J, 2 * v])

    (r, J), damping = system(x), 1e-2
    for _ in range(steps):
        y = x - J.T @ np.linalg.solve(J @ J.T + damping * np.eye(len(r)), r)
        after = system(y)
        if after[0] @ after[0] < r @ r:
            x, (r, J), damping = y, after, max(damping / 3, 1e-14)
        else:
            damping *= 4
        if r @ r < 1e-27 or damping > 1e8:
            break
    x[: 2 * H * d] /= 9
    return x if r @ r < 1e-24 else None


def enclose(E: Array, e: Array, x: list[arb]) -> tuple[list[arb], list[list[arb]]]:
    """Outputs and Jacobian as balls, for weights that are balls."""
    d = e.shape[1]
    heads = len(x) // (3 * d)
    part = [[x[(i * heads + h) * d :][:d] for h in range(heads)] for i in range(3)]

    def inner(a: list[arb], b: list[arb]) -> arb:
        return sum((s * t for s, t in zip(a, b, strict=True)), arb(0))

    F, J = [], []
    for context, query in zip(E.tolist(), e.tolist(), strict=True):
        total, rows = arb(0), ([], [], [])
        for k, q, v in zip(*part, strict=True):
            a = inner(q, query)
            powers = [(a * inner(k, row)).exp() for row in context]
            p = [power / sum(powers, arb(0)) for power in powers]
            s = [inner(v, row) for row in context]
            mean = inner(p, s)
            total += mean
            weights = [pi * (si - mean) for pi, si in zip(p, s, strict=True)]
            c = [inner(weights, column) for column in zip(*context, strict=True)]
            ck = inner(c, k)
            rows[0].extend(y * a for y in c)
            rows[1].extend(ck * y for y in query)
            rows[2].extend(inner(p, column) for column in zip(*context, strict=True))
        F.append(total)
        J.append([y for block in rows for y in block])
    return F, J


def prove(E: Array, e: Array, x: Array) -> float | None:
    """The radius of a box around weights near x that holds a zero with J onto; None if not proved.

    Krawczyk: T weights vary in a box of radius r around x; the others are fixed. With Y near the
    inverse of the T × T block of J there, |Y F(x)| + |I - Y J(box)| r < r in every row puts a zero
    in the box, and |I - Y J(box)| < 1 makes the block nonsingular everywhere in it.
    """
    T = len(E)
    _, J = evaluate(E, e, x)
    columns = sorted(qr(J, pivoting=True)[2][:T])
    try:
        Y = arb_mat(np.linalg.inv(J[:, columns]).tolist())
    except np.linalg.LinAlgError:  # a degenerate zero
        return None
    before, ctx.prec = ctx.prec, PRECISION
    try:
        at = [arb(float(y)) for y in x]

        def step() -> list[arb]:
            move = Y * arb_mat([[y] for y in enclose(E, e, at)[0]])
            return [move[i, 0] for i in range(T)]

        for _ in range(3):
            for c, move in zip(columns, step(), strict=True):
                at[c] = (at[c] - move).mid()
        moves = step()
        radius = max(abs(move).upper() for move in moves) * 4 + arb(2) ** -140
        box = list(at)
        for c in columns:
            box[c] = at[c] + arb(0, radius)
        A = Y * arb_mat([[row[c] for c in columns] for row in enclose(E, e, box)[1]])
        sums = [sum((abs(A[i, j] - (i == j)) for j in range(T)), arb(0)) for i in range(T)]
        proved = all(
            s < 1 and abs(move) + s * radius < radius for s, move in zip(sums, moves, strict=True)
        )
        return float(radius) if proved and radius < 1 else None
    finally:
        ctx.prec = before


def find(n: int, d: int, H: int, T: int, seeds: int) -> tuple[int, float] | None:
    """The first seed of data and search for which a zero is proved, and the radius."""
    for seed in range(seeds):
        E, e = draw(n, d, T, seed)
        x = search(E, e, H, seed)
        radius = None if x is None else prove(E, e, x)
        if radius is not None:
            return seed, radius
    return None


if __name__ == "__main__":
    n, d, H, T, *rest = map(int, sys.argv[1:])
    print(f"n={n} d={d} H={H} T={T} of N={H * (3 * d - 1)}:", find(n, d, H, T, *(rest or [20])))

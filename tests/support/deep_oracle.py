"""Ranks of random deep networks by forward mode, with code that is independent of the project's.

Tangents of all weights are carried along, in int64 modulo a tower of primes below 2^31
(docs/depth.md, section 2). `benchmarks/depth_attack.py` compares the ranks with the law of that
page.
"""

from __future__ import annotations

from functools import cache
from itertools import count

import numpy as np
from support.rank_cases import flint_rank


def prime(p: int) -> bool:
    return p > 1 and all(p % q for q in range(2, int(p**0.5) + 1))


@cache
def tower(levels: int, start: int) -> list[int]:
    """The primes p_0, p_1, ...: p_k = 2 p_(k+1) + 1, and the last is 3 mod 4."""
    for last in count(start | 1, 2):
        chain = [last]
        while len(chain) <= levels and prime(chain[-1]):
            chain.append(2 * chain[-1] + 1)
        if len(chain) == levels + 1 and prime(chain[-1]) and last % 4 == 3:
            return chain[::-1]
    raise AssertionError


def power(base: int, exponents: np.ndarray, p: int) -> np.ndarray:
    result, square, left = np.ones_like(exponents), base % p, exponents.copy()
    while left.any():
        result = np.where(left & 1, result * square % p, result)
        square, left = square * square % p, left >> 1
    return result


def product(a: np.ndarray, b: np.ndarray, p: int) -> np.ndarray:
    """a @ b modulo p < 2^29, for at most 16 terms."""
    return a @ b % p


class Vanished(Exception):
    """A softmax sum is 0 modulo a prime: another tower is needed."""


class Dual:
    """A value of any shape (…) and its tangents (P, …) modulo p."""

    def __init__(self, value: np.ndarray, tangents: np.ndarray, p: int) -> None:
        self.value, self.tangents, self.p = value % p, tangents % p, p

    def __add__(self, other: Dual) -> Dual:
        return Dual(self.value + other.value, self.tangents + other.tangents, self.p)

    def __matmul__(self, other: Dual) -> Dual:
        p = self.p
        left, right = product(self.tangents, other.value, p), product(self.value, other.tangents, p)
        return Dual(product(self.value, other.value, p), left + right, p)

    def before_the_query(self) -> Dual:
        return Dual(self.value[..., :-1, :], self.tangents[..., :-1, :], self.p)

    def turned(self) -> Dual:
        return Dual(self.value.swapaxes(-1, -2), self.tangents.swapaxes(-1, -2), self.p)


def softmax(logits: Dual, exponents: np.ndarray, slope: int) -> Dual:
    """exponents: the exponents of 2, that is, the logits in the next field."""
    p = logits.p
    powers = power(2, exponents, p)
    total = powers.sum(-1, keepdims=True) % p
    if not total.all():
        raise Vanished
    shares = powers * inverses(total, p) % p
    means = (shares * logits.tangents % p).sum(-1, keepdims=True) % p
    return Dual(shares, slope * (shares * ((logits.tangents - means) % p) % p) % p, p)


def inverses(x: np.ndarray, p: int) -> np.ndarray:
    result, square, left = np.ones_like(x), x % p, p - 2
    while left:
        if left & 1:
            result = result * square % p
        square, left = square * square % p, left >> 1
    return result


def weights(rng: np.random.Generator, sizes: tuple[int, ...]) -> list[list[np.ndarray]]:
    """For each layer: key, query, value, output of each head. No number is 0: a head whose output
    is 0 is not trained."""
    layers, heads, d, w, v = sizes
    made = []
    for layer in range(layers):
        m = 1 if layer == layers - 1 else d
        shapes = [(d, w), (d, w), (d, v), (v, m)] * heads
        signs = (rng.choice([-1, 1], shape) for shape in shapes)
        made.append([rng.integers(1, 51, x.shape) * x for x in signs])
    return made


def jacobian(
    tokens: np.ndarray, net: list[list[np.ndarray]], chain: list[int], *, apart: bool = False
) -> np.ndarray:
    """(T, P): tokens (T, n, d), the last one the query. apart: no token attends to the query."""
    total = sum(x.size for layer in net for x in layer)
    slope = 12345
    states = [Dual(tokens, np.zeros((total, *tokens.shape), dtype=np.int64), p) for p in chain]
    start = 0
    for number, layer in enumerate(net):
        offsets = start + np.concatenate([[0], np.cumsum([x.size for x in layer])])
        last = number == len(net) - 1
        states = _layer(states, layer, offsets, total, chain, slope, last=last, apart=apart)
        start = int(offsets[-1])
    return states[0].tangents[:, :, -1, 0].T


def _layer(  # type: ignore[no-untyped-def]
    states, layer, offsets, total, chain, slope, *, last, apart
):
    def weight(k: int, field: int) -> Dual:
        matrix = layer[k]
        tangents = np.zeros((total, matrix.size), dtype=np.int64)
        at = np.arange(matrix.size)
        tangents[offsets[k] + at, at] = 1
        return Dual(matrix, tangents.reshape(total, 1, *matrix.shape), chain[field])

    sums: list[Dual | None] = [None] * (len(states) - 1)
    tokens = [state.before_the_query() for state in states] if apart else states
    for h in range(len(layer) // 4):
        logits = []
        for field, state in enumerate(states):
            keys, queries = tokens[field] @ weight(4 * h, field), state @ weight(4 * h + 1, field)
            logits.append(queries @ keys.turned())
        for field in range(len(sums)):
            shares = softmax(logits[field], logits[field + 1].value, slope)
            made = shares @ tokens[field] @ weight(4 * h + 2, field) @ weight(4 * h + 3, field)
            known = sums[field]
            sums[field] = made if known is None else known + made
    if last:
        return sums
    return [state + made for state, made in zip(states, sums, strict=False)]


def law(layers: int, heads: int, d: int, w: int, v: int) -> int:
    """N_L for scalar labels and data whose spans all have dimension d."""
    total, read, columns = 0, 1, 0
    for _ in range(layers):
        rho, value = min(w, d), min(v, d, read)
        total += heads * (rho * (2 * d - rho) + value * (d + read - value))
        columns += heads * (2 * w + min(v, read))
        read = min(d, columns)
    return total


def sizes_of(rng: np.random.Generator, most: int) -> tuple[int, ...]:
    """Random L, H, d, w and v for which N_L is at most `most`."""
    while True:
        layers, heads, w, v = (int(rng.integers(1, top + 1)) for top in (4, 3, 3, 5))
        d = int(rng.integers(2, 11))
        if law(layers, heads, d, w, v) <= most:
            return layers, heads, d, w, v


def special(rng: np.random.Generator, tokens: np.ndarray) -> bool:
    """Change the tokens; returns whether no token attends to the query.

    Tokens before the last are shared, those of a few examples are repeated, or all vectors lie in a
    subspace.
    """
    kind, d = rng.integers(5), tokens.shape[2]
    if kind in (0, 1):
        tokens[:, :-1] = tokens[:1, :-1]
    elif kind == 2:
        tokens[:, :-1] = tokens[rng.integers(0, 3, len(tokens)), :-1]
    else:
        spanned = int(rng.integers(1, d))
        tokens[:] = tokens[..., :spanned] @ rng.integers(-3, 4, (spanned, d))
    return bool(kind in (0, 3))


def case(
    seed: int, *, most: int = 70, generic: bool = True
) -> tuple[tuple[int, ...], int, np.ndarray, bool]:
    """Sizes, the rank of the Jacobian for a few examples more than N_L, the tokens, and whether no
    token attends to the query."""
    rng = np.random.default_rng([2024, seed])
    sizes = sizes_of(rng, most)
    n = int(rng.integers(2, 6))
    tokens = rng.integers(-50, 51, (law(*sizes) + 3, n, sizes[2]))
    apart = not generic and special(rng, tokens)
    net = weights(rng, sizes)
    while True:
        chain = tower(sizes[0], 500_000 + 50_000 * int(rng.integers(10)))
        try:
            table = jacobian(tokens, net, chain, apart=apart)
        except Vanished:
            continue
        return (*sizes, n), flint_rank(table, chain[0]), tokens, apart

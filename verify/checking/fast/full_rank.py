"""The fast check of "full-rank" certificates: NumPy instead of Python's integers.

It shares no arithmetic with verify/checker/full_rank.py: the computation modulo the prime is
vectorised, but still exact. Residues modulo p < 2^31 are stored as int64, so that the product of
two residues fits.

In a matrix product, the left factor is split into x = x0 + 2^16 x1 with x0 < 2^16 and x1 < 2^15. A
sum of 64 products of such parts with residues is below 2^6 * 2^16 * 2^31 = 2^53, so it is exact in
float64, in whatever order BLAS adds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from attncert.verify.checker import Limits, need
from attncert.verify.checker.layer import Layer, merged
from attncert.verify.checker.reading import all_of, dims

Residues = NDArray[np.int64]
BLOCK = 64  # the number of products in the bound above
ENTRIES = 2**20  # the most entries of contexts processed at once


def judge(cert: dict[str, Any], parts: tuple[Layer, int], limits: Limits) -> str:
    """The claim in one line. Raises Rejected.

    Arithmetic: exact, modulo the prime in the certificate. If the rank modulo a prime that divides
    no denominator is T, so is the rank over the rationals (docs/certificate.md).
    """
    T, n, d, H = dims(cert, "examples context width heads")
    layer, p = parts
    need(p < 2**31, "rank.prime is above 2^31: leave out --fast", "over limit")
    folded = min(H * d, T + BLOCK)
    limits.hold(8 * (2 * T * H * d + 2 * T * folded + 12 * max(ENTRIES, n * d, H * max(n, d))))
    bits, first = first_heads(cert, layer)
    queries = array(layer.queries)
    heads = [(array(key), array(query).T) for key, query in layer.heads]
    tables = powers(2, p), powers(pow(2, 2**16, p), p)
    Z = np.empty((T, H * d), dtype=np.int64)
    for some, tokens, often in blocks(layer, cert):
        residues = np.asarray(tokens % p, dtype=np.int64)
        weights = np.empty((len(some), H, tokens.shape[1]), dtype=np.int64)
        for h, (key, query) in enumerate(heads):
            limits.on_time()
            inner = product(wide(queries[some]), query)
            shifts = logit_shifts(product(tokens, key), inner, layer.divisor)
            if bits and h < len(cert["groups"]):
                for k in np.flatnonzero(first[some] <= h):
                    every = np.repeat(shifts[k], often[k if len(often) > 1 else 0])
                    near = attends_to_one(every, bits, limits.allow)
                    need(near, f"head {h}, example {some[k]}: 1-p >= 2^-{bits}", "wrong")
            exponents = np.asarray(shifts % (p - 1), dtype=np.int64)  # 2^(p-1) = 1 modulo p
            weights[:, h] = power_of_two(exponents, tables, p) * often % p
        Z[some] = mixed(weights, residues, p, some).reshape(len(some), H * d)
    t = first_dependent_row(Z, p, limits.on_time)
    need(t is None, f"modulo p, the features of example {t} depend on earlier ones", "wrong")
    pairs = int((len(cert["groups"]) - first).sum())
    more = f"; (head, example) pairs with 1-p < 2^-{bits}: {pairs}" if bits else ""
    return f"the features of {all_of(T)} are independent: rank {T} modulo {p}{more}"


def blocks(
    layer: Layer, cert: dict[str, Any]
) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Blocks of examples that have the same number of distinct tokens, with their contexts (just
    one if it is shared) and the count of each token."""
    T, n, d, H = dims(cert, "examples context width heads")
    counts, contexts = np.full(T, n), layer.contexts
    mapped = isinstance(contexts, np.memmap)
    if not mapped:
        contexts, often = zip(*map(merged, contexts), strict=True)
        counts = np.array([len(table) for table in contexts] * (T if len(contexts) == 1 else 1))
    if len(contexts) == 1:
        contexts = array(contexts)
    for count in np.unique(counts):
        where = np.flatnonzero(counts == count)
        entries = count * d if len(contexts) > 1 else 1
        step = max(1, ENTRIES // max(int(entries), H * max(int(count), d)))
        for start in range(0, len(where), step):
            some = where[start : start + step]
            if len(contexts) == 1 or mapped:
                part = wide(contexts[some if len(contexts) > 1 else slice(0, 1)])
                yield some, part, np.ones((1, count), np.int64) if mapped else array(often)
            else:
                yield some, array([contexts[t] for t in some]), array([often[t] for t in some])


def first_heads(cert: dict[str, Any], layer: Layer) -> tuple[int, NDArray[Any]]:
    """The bits of `saturation` (0 if it is not claimed) and, for each example, the first head in
    which it must attend to one token. Idle heads, which have no group, saturate nothing."""
    groups = cert["groups"]
    bits, own = layer.saturation or (0, False)
    first = np.full(cert["dims"]["examples"], len(groups))
    for h, group in enumerate(groups if bits else []):
        first[group] = h if own else h + 1
    return bits, first


def attends_to_one(
    shifts: NDArray[Any], bits: int, allow: Callable[[int], None] = lambda bits: None
) -> bool:
    """Whether 1 - p < 2^-bits, where p is the largest softmax weight for these shifts.

    This holds if all other rows are `bits` + log2(n - 1) or more below the largest, and fails if
    one is less than `bits` below. Otherwise S 2^bits < 1 + S decides, where S is the sum of
    2^-drop, computed in integers over 2^-most.
    """
    *rest, top = sorted(int(k) for k in shifts)
    if not rest or top - rest[-1] >= bits + len(rest).bit_length():
        return True
    if top - rest[-1] < bits:
        return False
    most = (len(rest) + 1) * (bits + 1)
    allow(most + bits)
    total = sum(1 << most - min(top - k, most) for k in rest)
    return total << bits < total + (1 << most)


# Integer logits.


def array(nested: Any) -> NDArray[Any]:
    """The integers as int64 if all are below 2^62 in absolute value, otherwise as Python integers.
    A mapped array is returned unchanged (see `wide`)."""
    if isinstance(nested, np.memmap):
        return nested
    exact = np.array(nested, dtype=object)
    return exact.astype(np.int64) if np.abs(exact).max() < 2**62 else exact


def wide(part: NDArray[Any]) -> NDArray[Any]:
    """Numbers of a mapped array, read into memory with the dtype that `array` would choose."""
    if part.dtype == object:
        return part
    whole = part.astype(np.int64)
    return whole if max(int(whole.max()), -int(whole.min())) < 2**62 else whole.astype(object)


def product(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """a @ b, in int64 if a bound on the sums rules out overflow."""
    bound = int(np.abs(a).max()) * int(np.abs(b).max()) * a.shape[-1]
    return a @ b if bound < 2**62 else array(a.astype(object) @ b.astype(object))


def logit_shifts(keys: NDArray[Any], inner: NDArray[Any], divisor: int) -> NDArray[Any]:
    """The logits of one head in units of ln 2, minus the smallest for each example, as integers.

    keys: tokens @ key for one context or for each example. inner: query.T @ e for each example.
    """
    logits = product(keys, inner[:, :, None])[:, :, 0]
    if divisor >= 2**62:
        logits = logits.astype(object)
    need(not (logits % divisor).any(), "a logit / ln 2 is not an integer", "wrong")
    logits = logits // divisor
    return np.asarray(logits - logits.min(axis=1, keepdims=True))


# Residues.


def product_mod(a: Residues, b: Residues, p: int) -> Residues:
    """a @ b mod p for residues or stacks of residues, with BLOCK columns of a at a time."""
    total = np.zeros((*a.shape[:-1], b.shape[-1]), dtype=np.int64)
    for start in range(0, a.shape[-1], BLOCK):
        left, right = a[..., start : start + BLOCK], b[..., start : start + BLOCK, :]
        right = right.astype(np.float64)
        high, low = ((x.astype(np.float64) @ right) for x in (left >> 16, left & 0xFFFF))
        total += (high.astype(np.int64) % p << 16) + low.astype(np.int64)
        total %= p
    return total


def powers(base: int, p: int) -> Residues:
    """base^x mod p for all x below 2^16."""
    table = np.ones(1, dtype=np.int64)
    for bit in range(16):
        table = np.concatenate([table, table * pow(base, 1 << bit, p) % p])
    return table


def power_of_two(exponents: Residues, tables: tuple[Residues, Residues], p: int) -> Residues:
    """2^x mod p for exponents x in [0, 2^31). tables: the powers of 2 and of 2^(2^16)."""
    low, high = tables
    power: Residues = low[exponents & 0xFFFF] * high[exponents >> 16] % p
    return power


def mixed(weights: Residues, contexts: Residues, p: int, some: NDArray[Any]) -> Residues:
    """The features mod p of each head: the means of tokens with the weights (T, H, n).

    contexts: a single context, or one for each example. some: the indices of these examples.
    """
    rows = weights.reshape(-1, weights.shape[-1])  # one product instead of one for each example
    if len(contexts) == 1:
        z = product_mod(rows, contexts[0], p).reshape(*weights.shape[:2], -1)
    else:
        with threadpool_limits(1, "blas"):  # several threads would only wait for each other
            z = product_mod(weights, contexts, p)
    s = product_mod(rows, np.ones((rows.shape[1], 1), dtype=np.int64), p)
    s = s.reshape(*weights.shape[:2], 1)
    for example, row in zip(some, s, strict=True):
        need(row.all(), f"a denominator of example {example} is 0 mod p", "wrong")
    inverses = [pow(int(x), -1, p) for x in s.ravel()]
    mixed: Residues = z * np.array(inverses, dtype=np.int64).reshape(s.shape) % p
    return mixed


# Rank.


def first_dependent_row(
    Z: Residues, p: int, on_time: Callable[[], None] = lambda: None
) -> int | None:
    """The first row of Z that depends on earlier rows mod p, or None if the rows are independent.

    If Z is wide, its columns are first combined into len(Z) + BLOCK sums with fixed coefficients
    S. If the rows of Z S are independent, so are the rows of Z. Otherwise, since this proves
    nothing, Z itself is eliminated.
    """
    T, width = len(Z), len(Z) + BLOCK
    if Z.shape[1] > width:
        draw = np.random.default_rng(0)
        folded = np.zeros((T, width), dtype=np.int64)
        for start in range(0, Z.shape[1], width):
            part = Z[:, start : start + width]
            coefficients = draw.integers(1, p, size=part.shape[1])
            folded[:, : part.shape[1]] += part * coefficients % p
            folded %= p
        if first_dependent_row(folded, p, on_time) is None:
            return None
    Z = Z.copy()
    for start in range(0, T, BLOCK):
        on_time()
        block = Z[start : start + BLOCK]
        columns: list[int] = []
        for i, row in enumerate(block):  # Gauss-Jordan within the block
            if not row.any():
                return start + i
            columns.append(int(np.argmax(row != 0)))
            row[:] = row * pow(int(row[columns[-1]]), -1, p) % p
            factors = block[:, columns[-1], None].copy()
            factors[i] = 0
            block -= factors * row % p
            block += p * (block < 0)
        for below in range(start + BLOCK, T, 4 * BLOCK):
            rest = Z[below : below + 4 * BLOCK]
            rest -= product_mod(rest[:, columns], block, p)
            rest += p * (rest < 0)
    return None

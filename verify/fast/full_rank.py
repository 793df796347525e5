"""The fast check of "full-rank" certificates: NumPy instead of Python's integers.

It shares no arithmetic with verify/checker_rank.py: everything modulo the prime is vectorised
here, and still exact.

Exactness, for a prime p < 2^62 and residues held as int64:

- a * c mod p with 0 <= a < p and 0 <= c <= 2^31. The quotient q = floor(a c / p) <= 2^31 comes from
  float64 with four roundings of relative size 2^-53, so before the floor it is off by at most
  2^31 * 2^-51, after it by at most 1. Hence a c - q p lies in [-p, 2p), inside int64, where
  wrapping products yield it exactly; one correction on each side remains.
- A product of two residues splits one of them into two halves of 31 bits.
- A matrix product splits both sides into limbs of 23 bits. A sum of 64 products of two limbs is
  below 2^6 * 2^46 = 2^52 < 2^53: exact in float64 in whatever order BLAS adds.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncert.verify.checker import MAX_ITEMS, Layer, Work, need, typed
from attncert.verify.checker_rank import rank_parts

Residues = NDArray[np.int64]
HALF_BITS, LIMB_BITS, BLOCK = 31, 23, 64  # BLOCK rows at once: the 64 products of the bound above
ENTRIES = 2**18  # of contexts at once, one for each example


def judge(cert: dict[str, Any], work: Work) -> str:
    """The claim in one line, or Rejected.

    Arithmetic: exact, modulo the prime of the certificate; rank T modulo a prime that divides no
    denominator is rank T over the rationals (docs/certificate.md).
    """
    T, n, d, _, H, _, _ = cert["dims"].values()
    layer, p = rank_parts(cert, work)
    rows = max(1, ENTRIES // (n * d))  # examples at once
    count_work(cert["dims"], work, layer, p, rows)
    bits, first = to_steer(cert, work)

    contexts, queries = array(layer.contexts), array(layer.queries)
    heads = [(array(key).T, array(query).T) for key, query in layer.heads]
    tables = tables_of_two(p)
    Z = np.empty((T, H * d), dtype=np.int64)
    for start in range(0, T, rows):
        some = slice(start, start + rows)
        if start == 0 or len(contexts) > 1:
            tokens = wide(contexts[some if len(contexts) > 1 else slice(0, 1)])
            residues = np.asarray(tokens % p, dtype=np.int64)
        for h, (key, query) in enumerate(heads):
            outer = product(product(wide(queries[some]), query), key)
            shifts = logit_shifts(tokens, outer, layer.divisor)
            if bits and h < len(cert["groups"]):
                for k in np.flatnonzero(first[some] <= h):
                    near = attends_to_one(shifts[k], bits)
                    need(near, f"head {h}, example {start + k}: 1-p >= 2^-{bits}", "wrong")
            exponents = np.asarray(shifts % (p - 1), dtype=np.int64)  # 2^(p-1) = 1 modulo p
            weights = power_of_two(exponents, tables, p)
            Z[some, h * d : (h + 1) * d] = mixed(weights, residues, p, start)
    t = first_dependent_row(Z, p)
    need(t is None, f"modulo p, the features of example {t} depend on earlier ones", "wrong")
    pairs = int((len(cert["groups"]) - first).sum())
    more = f"; 1-p < 2^-{bits} in {pairs} pairs of a head and an example" if bits else ""
    return f"the features of all {T} examples are independent: rank {T} modulo {p}{more}"


def to_steer(cert: dict[str, Any], work: Work) -> tuple[int, NDArray[Any]]:
    """Bits of `saturation`, 0 where none is claimed; the first head that each example is to attend
    in to one token. Idle heads, beyond the groups, saturate nothing."""
    dims, groups, told = cert["dims"], cert["groups"], cert.get("saturation")
    first = np.full(dims["examples"], len(groups))
    if told is None:
        return 0, first
    typed(told, dict, "saturation", "bits own")
    bits, own = told["bits"], told["own"]
    fits = type(bits) is int and 0 < bits <= MAX_ITEMS and type(own) is bool
    need(fits, f"saturation.bits must be 1 to {MAX_ITEMS}, saturation.own true or false")
    need(len(groups) <= dims["heads"], "there are more groups than heads", "wrong")
    n = dims["context"]
    for h, group in enumerate(groups):
        first[group] = h if own else h + 1
    work.spend(len(groups) * dims["examples"] * (5e-6 + 1e-7 * n))
    work.dots(len(groups) * dims["examples"], n, n * (bits + 1), 1)
    work.pass_by((6, n * (bits + 1) + bits))
    return bits, first


def attends_to_one(shifts: NDArray[Any], bits: int) -> bool:
    """1 - p < 2^-bits, p the largest of the weights 2^shift over their sum.

    Rows that are all `bits` + log2(n - 1) behind are enough of it, one that is less than `bits` is
    too much; between them S 2^bits < 1 + S decides, S the sum of 2^-drop, in integers over 2^-most.
    """
    *rest, top = sorted(int(k) for k in shifts)
    if not rest or top - rest[-1] >= bits + len(rest).bit_length():
        return True
    if top - rest[-1] < bits:
        return False
    most = (len(rest) + 1) * (bits + 1)
    total = sum(1 << most - min(top - k, most) for k in rest)
    return total << bits < total + (1 << most)


def count_work(dims: dict[str, int], work: Work, layer: Layer, p: int, rows: int) -> None:
    """Time and memory, as measured up to T = 2,000, H d = 10,000 on one core."""
    T, n, d, _, H, d_h, _ = dims.values()
    b, width, rows = sum(layer.bits), H * d, min(rows, T)
    numbers = len(layer.contexts) * n * d + 2 * T * d + 2 * d * d_h
    if isinstance(layer.contexts, np.memmap):  # mapped: a few examples are held at a time
        numbers = min(numbers, 2 * rows * n * d + 4 * d * d_h)
    if b >= 62:  # logits over Python's integers
        work.dots(T * H * d_h, d, b / 2, b / 2)
        work.dots(T * H * d, d_h, b / 2, b / 2)
        work.dots(T * H * n, d, b / 2, b / 2)
        work.quotients(2 * T * H * n, b, layer.divisor.bit_length())
        work.pass_by((numbers, 0), (T * (d + d_h) + 3 * rows * n, b))
    wide = 1 if p < 2**HALF_BITS else 5
    work.spend(wide * (T * H * n * (8e-9 * d + 6e-8) + 5e-10 * T * T * min(T, width)))
    work.spend(1e-5 * T * H + 1e-3 * H * math.ceil(T / rows))
    work.bytes += 8 * (2 * numbers + 2 * T * width)
    features = 12 * rows * n * (d + 1)
    folded = T * min(width, T + BLOCK) * (2 if width > T + BLOCK else 0)
    passing = max(features, folded + 10 * min(T, 4 * BLOCK) * width)
    work.spend(0.0, 8 * passing)


# Logits, over the integers.


def array(nested: Any) -> NDArray[Any]:
    """Integers as int64 where all are below 2^62 in size, as Python integers otherwise; a mapped
    array as it is (see `wide`)."""
    if isinstance(nested, np.memmap):
        return nested
    exact = np.array(nested, dtype=object)
    return exact.astype(np.int64) if np.abs(exact).max() < 2**62 else exact


def wide(part: NDArray[Any]) -> NDArray[Any]:
    """Numbers of a mapped array in memory, as `array` has them; others as they are."""
    if not isinstance(part, np.memmap):
        return part
    found = part.astype(np.int64)
    return found if max(int(found.max()), -int(found.min())) < 2**62 else found.astype(object)


def product(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """a @ b, in int64 where a bound on the sums proves that nothing overflows."""
    bound = int(np.abs(a).max()) * int(np.abs(b).max()) * a.shape[-1]
    return a @ b if bound < 2**62 else array(a.astype(object) @ b.astype(object))


def logit_shifts(contexts: NDArray[Any], outer: NDArray[Any], divisor: int) -> NDArray[Any]:
    """Logits of one head in units of ln 2, less the smallest of each example: integers.

    contexts: one or as many as examples; outer: key @ query.T @ e for each example.
    """
    if len(contexts) == 1:
        logits = product(outer, contexts[0].T)
    else:
        logits = product(contexts, outer[:, :, None])[:, :, 0]
    if divisor >= 2**62:
        logits = logits.astype(object)
    need(not (logits % divisor).any(), "a logit / ln 2 is not an integer", "wrong")
    logits = logits // divisor
    return np.asarray(logits - logits.min(axis=1, keepdims=True))


# Residues.


def times_short(a: Residues, c: Residues | np.int64, p: int) -> Residues:
    """a * c mod p for residues a and 0 <= c <= 2^31."""
    quotient = np.floor(a.astype(np.float64) * c / p).astype(np.int64)
    rest = a * c - quotient * p
    rest += p * (rest < 0)
    return np.asarray(rest - p * (rest >= p))


def times(a: Residues, b: Residues | np.int64, p: int) -> Residues:
    """a * b mod p for residues a and b of matching shapes."""
    if p < 2**HALF_BITS:
        return np.asarray(a * b % p)  # below 2^62
    high = times_short(times_short(a, b >> HALF_BITS, p), np.int64(2**HALF_BITS), p)
    return np.asarray((high + times_short(a, b & (2**HALF_BITS - 1), p)) % p)


def product_mod(a: Residues, b: Residues, p: int) -> Residues:
    """a @ b mod p for residues, at most BLOCK columns in a; limbs meet in float64."""
    limbs = -(-p.bit_length() // LIMB_BITS)
    mask = 2**LIMB_BITS - 1
    of_a = [(a >> LIMB_BITS * i & mask).astype(np.float64) for i in range(limbs)]
    of_b = [(b >> LIMB_BITS * i & mask).astype(np.float64) for i in range(limbs)]
    total = np.zeros((a.shape[0], b.shape[1]), dtype=np.int64)
    for place in range(2 * limbs - 2, -1, -1):  # Horner's rule in 2^23
        total = times(total, np.int64(2**LIMB_BITS % p), p)
        for i in range(max(0, place - limbs + 1), min(place, limbs - 1) + 1):
            total += (of_a[i] @ of_b[place - i]).astype(np.int64) % p
            total -= p * (total >= p)
    return total


def tables_of_two(p: int) -> list[Residues]:
    """Table j holds 2^(x 2^16j) mod p for all x below 2^16."""
    tables = []
    for j in range(4):
        table = np.ones(1, dtype=np.int64)
        for bit in range(16):
            step = np.int64(pow(2, 1 << (16 * j + bit), p))
            table = np.concatenate([table, times(table, step, p)])
        tables.append(table)
    return tables


def power_of_two(exponents: Residues, tables: list[Residues], p: int) -> Residues:
    """2^x mod p for exponents x in [0, 2^62)."""
    result = tables[0][exponents & 0xFFFF]
    for j in range(1, -(-p.bit_length() // 16)):
        result = times(result, tables[j][exponents >> 16 * j & 0xFFFF], p)
    return result


def sums(a: Residues, p: int) -> Residues:
    """Sums mod p of residues along axis 1: halves of 31 bits, of which 2^31 add up below 2^62."""
    high, low = (a >> HALF_BITS).sum(axis=1) % p, (a & (2**HALF_BITS - 1)).sum(axis=1) % p
    return (times(high, np.int64(2**HALF_BITS % p), p) + low) % p


def mixed(weights: Residues, contexts: Residues, p: int, first: int = 0) -> Residues:
    """Features mod p of one head: tokens mixed with the weights (T, n), over the weights' sum.

    first: the number of the first of these examples.
    """
    z = sums(times(weights[:, :, None], contexts, p), p)
    s = sums(weights, p)
    need(s.all(), f"a denominator of example {first + np.argmin(s != 0)} is 0 mod p", "wrong")
    inverses = np.array([pow(int(x), -1, p) for x in s], dtype=np.int64)
    return times(z, inverses[:, None], p)


# Rank.


def first_dependent_row(Z: Residues, p: int) -> int | None:
    """None if the rows of Z are independent mod p, else the first that depends on those above.

    When Z is wide, its columns are first folded: added up in len(Z) + BLOCK classes with fixed
    coefficients. Independent rows of Z S are independent rows of Z; if they are dependent, which
    proves nothing, Z itself is eliminated.
    """
    T, width = len(Z), len(Z) + BLOCK
    if Z.shape[1] > width:
        draw = np.random.default_rng(0)
        folded = np.zeros((T, width), dtype=np.int64)
        for start in range(0, Z.shape[1], width):
            part = Z[:, start : start + width]
            coefficients = draw.integers(1, min(p, 2**HALF_BITS), size=part.shape[1])
            folded[:, : part.shape[1]] += times(part, coefficients, p)
            folded %= p
        if first_dependent_row(folded, p) is None:
            return None
    Z = Z.copy()
    for start in range(0, T, BLOCK):
        block = Z[start : start + BLOCK]
        columns: list[int] = []
        for i, row in enumerate(block):  # Gauss-Jordan within the block
            if not row.any():
                return start + i
            columns.append(int(np.argmax(row != 0)))
            row[:] = times(row, np.int64(pow(int(row[columns[-1]]), -1, p)), p)
            factors = block[:, columns[-1], None].copy()
            factors[i] = 0
            block -= times(factors, row[None, :], p)
            block += p * (block < 0)
        for below in range(start + BLOCK, T, 4 * BLOCK):
            rest = Z[below : below + 4 * BLOCK]
            rest -= product_mod(rest[:, columns], block, p)
            rest += p * (rest < 0)
    return None

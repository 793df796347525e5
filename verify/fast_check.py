"""A fast re-check of `full-rank` certificates above the pure-Python limit of verify/checker.py.

It reads and validates the file with the functions of the checker and shares none of its
arithmetic: everything modulo the prime is vectorised here, in NumPy, and still exact. Its verdicts
say "fast re-check", because an auditor trusts more with it: NumPy, and the BLAS behind `@`.

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

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncert.verify import checker
from attncert.verify.checker import Rejected, Verdict, afford, integers, need, read, typed

Residues = NDArray[np.int64]
HALF_BITS, LIMB_BITS, BLOCK = 31, 23, 64  # BLOCK rows at once: the 64 products of the bound above
LIMIT_SECONDS = 600.0
MAX_HELD_BYTES = 2**33


def check_file(path: str, limit_seconds: float = LIMIT_SECONDS) -> Verdict:
    """Re-check the full-rank certificate at `path`; whatever the file holds, a Verdict comes back.

    Arithmetic: exact, modulo the prime of the certificate; rank T modulo a prime that divides no
    denominator is rank T over the rationals (docs/certificate.md).
    """
    claim, numbers = None, {}
    try:
        cert = read(path)
        claim, numbers = cert["claim"], cert["dims"]
        need(claim == "full-rank", "only full-rank can be checked this way: leave out --fast")
        status, message = "holds", full_rank(cert, limit_seconds)
    except Rejected as rejected:
        status, message = rejected.args
    except (OSError, ArithmeticError, ValueError, RecursionError, MemoryError) as error:
        status, message = "unusable", f"{type(error).__name__}: {str(error)!a:.200}"
    return Verdict(status, claim, f"fast re-check: {message}", numbers)


def full_rank(cert: dict[str, Any], limit: float) -> str:
    """The claim in one line, or Rejected."""
    T, n, d, m, H, d_h, d_v = cert["dims"].values()
    layer = typed(cert["layer"], dict, "layer", "logit_unit heads")
    heads = typed(layer["heads"], list, "layer.heads", "key query")
    need(layer["logit_unit"] == "ln 2", "layer.logit_unit must be 'ln 2'")
    groups = [typed(group, list, "each group") for group in typed(cert["groups"], list, "groups")]
    members = sorted(typed(t, int, "each member of a group") for group in groups for t in group)
    need(all(groups) and members == list(range(T)), "groups must hold each example once", "wrong")
    rank = typed(cert["rank"], dict, "rank", "prime value")
    (p,), unit, _ = integers(limit, [rank["prime"]], "rank.prime", 1)
    prime = unit == p % 2 == 1 < p < 2**62 and pow(2, p - 1, p) == 1  # (all the proof needs)
    need(prime, "rank.prime is not an odd prime below 2^62", "wrong")
    need(typed(rank["value"], int, "rank.value") == T, "rank.value is not dims.examples", "wrong")
    need(d_v >= m, "dims.value_width is less than dims.labels", "wrong")
    contexts = typed(cert["data"]["contexts"], list, "contexts")
    count = 1 if len(contexts) == 1 else T
    E, unit, b_e = integers(limit, contexts, "contexts", count, n, d)
    need(unit % p, "a denominator of the contexts is 0 mod p", "wrong")
    e, unit_q, b_q = integers(limit, cert["data"]["queries"], "queries", T, d)
    integers(limit, cert["data"]["labels"], "labels", T, m)
    key, unit_k, b_k = integers(limit, [head["key"] for head in heads], "key", H, d, d_h)
    query, unit_w, b_w = integers(limit, [head["query"] for head in heads], "query", H, d, d_h)
    bits = b_e + b_q + b_k + b_w
    if bits >= 62:  # logits over Python's integers
        afford(limit, n * T * bits, (T * H * (2 * d * d_h + n * d + n), bits, bits // 4))
    afford_modular(limit, T, n, d, H, p)

    context, queries = array(E), array(e)
    residues = np.asarray(context % p, dtype=np.int64)
    divisor, tables = unit * unit_q * unit_k * unit_w, tables_of_two(p)
    Z = np.empty((T, H * d), dtype=np.int64)
    for h in range(H):
        shifts = logit_shifts(context, queries, array(key[h]), array(query[h]), divisor)
        exponents = np.asarray(shifts % (p - 1), dtype=np.int64)  # 2^(p-1) = 1 modulo p
        Z[:, h * d : (h + 1) * d] = mixed(power_of_two(exponents, tables, p), residues, p)
    t = first_dependent_row(Z, p)
    need(t is None, f"modulo p, the features of example {t} depend on earlier ones", "wrong")
    return f"the features of all {T} examples are independent: rank {T} modulo {p}"


def afford_modular(limit: float, T: int, n: int, d: int, H: int, p: int) -> None:
    """Time and memory, as measured up to T = 2,000, H d = 10,000 on one core."""
    wide = 1 if p < 2**HALF_BITS else 5
    seconds = wide * (8e-9 * T * H * n * d + 5e-10 * T * T * min(T, H * d)) + 5e-6 * T * H
    held = 8 * T * (3 * H * d + n * d)
    work = f"estimated at {seconds:.2g} s, {held >> 20} MiB: see --limit-seconds"
    need(seconds <= limit and held <= MAX_HELD_BYTES, work, "over limit")


# Logits, over the integers.


def array(nested: Any) -> NDArray[Any]:
    """Integers as int64 where all are below 2^62 in size, as Python integers otherwise."""
    exact = np.array(nested, dtype=object)
    return exact.astype(np.int64) if np.abs(exact).max() < 2**62 else exact


def product(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """a @ b, in int64 where a bound on the sums proves that nothing overflows."""
    bound = int(np.abs(a).max()) * int(np.abs(b).max()) * a.shape[-1]
    return a @ b if bound < 2**62 else array(a.astype(object) @ b.astype(object))


def logit_shifts(
    context: NDArray[Any],
    queries: NDArray[Any],
    key: NDArray[Any],
    query: NDArray[Any],
    divisor: int,
) -> NDArray[Any]:
    """Logits of one head in units of ln 2, less the smallest of each example: (T, n) integers."""
    outer = product(product(queries, query), key.T)
    if len(context) == 1:
        logits = product(outer, context[0].T)
    else:
        logits = product(context, outer[:, :, None])[:, :, 0]
    if divisor >= 2**62:
        logits = logits.astype(object)
    need(not (logits % divisor).any(), "a logit / ln 2 is no integer", "wrong")
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


def mixed(weights: Residues, contexts: Residues, p: int) -> Residues:
    """Features mod p of one head: tokens mixed with the weights (T, n), over the weights' sum."""
    z = np.zeros((len(weights), contexts.shape[2]), dtype=np.int64)
    s = np.zeros(len(weights), dtype=np.int64)
    for i in range(weights.shape[1]):
        z = (z + times(weights[:, i, None], contexts[:, i, :], p)) % p
        s = (s + weights[:, i]) % p
    need(s.all(), f"a denominator of example {np.argmin(s != 0)} is 0 mod p", "wrong")
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


main = partial(checker.main, check=check_file)


if __name__ == "__main__":
    raise SystemExit(main())

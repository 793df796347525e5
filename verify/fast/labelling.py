"""The fast check of "every-labelling" certificates: NumPy instead of Python's integers.

Derivatives and rank modulo the prime of the file are those of `verify/rank/`, which also serve what
writes such files.
"""

from __future__ import annotations

from typing import Any

from attncert.verify.checker import Rejected, Work, need
from attncert.verify.checker_labelling import zero_parts
from attncert.verify.fast.near import read
from attncert.verify.features import NotIntegral
from attncert.verify.rank.primes import PRIMES_FLOAT64
from attncert.verify.rank.whole_layer.jacobian_rows import at_once, jacobian_rank


def judge(cert: dict[str, Any], work: Work) -> str:
    """The claim in one line, or Rejected."""
    T, n, d, m, H, d_h, d_v = cert["dims"].values()
    exact, _, p = zero_parts(cert, work)
    large = f"rank.prime is not from 11 to {PRIMES_FLOAT64[0]}: leave out --fast"
    need(11 <= p <= PRIMES_FLOAT64[0], large)
    columns = H * (d * (2 * d_h + d_v) + d_v * m)
    work.spend(1e-7 * T * H * n * (1 + d / 50) + 3e-9 * (T * m) ** 2 * columns)
    work.spend(5.0 if at_once(T, m) < T else 0.0)  # what is compiled for many rows
    # A block of rows: it, its parts, temporaries, residues; those of all rows.
    work.spend(0.0, 72.0 * at_once(T, m) * m * columns + 4.0 * T * m * columns)
    tokens = at_once(T, m) * n
    work.spend(0.0, 8.0 * tokens * (H * (8 * m + 3 * d_h) + 3 * d))
    b_e, others, unit = exact.bits[0], sum(exact.bits[1:]), exact.divisor.bit_length()
    # Long numbers: FLINT's logits, and remainders of the tokens, where they are not int64.
    work.spend(1.2e-13 * T * H * n * (d * b_e * others + 2 * unit * (b_e + others)))
    work.quotients(2 * T * n * d * (b_e > 62), b_e, p.bit_length())
    work.pass_by((tokens, b_e + others) if b_e + others > 62 else (0, 0))
    data, layer, _ = read(cert, work, cert["layer"]["heads"], cert["layer"]["output"])
    need(data.contexts.denominator % p, "p divides the contexts' denominator: leave out --fast")
    try:
        found = jacobian_rank(data, layer, primes=(p,))
    except NotIntegral:
        raise Rejected("wrong", "a logit / ln 2 is not an integer") from None
    need(found.tried[0][1] is not None, "a softmax sum is 0 mod p", "wrong")
    need(found.full, f"modulo p, the Jacobian has rank {found.rank}, not {T * m}", "wrong")
    return (
        f"every labelling of the {T} examples is memorized by {H} heads: at these weights all "
        f"outputs are 0, and their Jacobian has rank {T * m} modulo {p}"
    )

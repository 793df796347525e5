"""The fast check of "every-labelling" certificates: NumPy instead of Python's integers.

It reads and validates the file with the functions of verify/checker_labelling.py; derivatives and
rank modulo the prime of the file are those of `verify/rank/`, which also serve what writes such
files. An auditor trusts more with it, so every verdict begins with "fast check".
"""

from __future__ import annotations

from functools import partial
from typing import Any

from attncert.verify import checker, checker_labelling
from attncert.verify.checker import Verdict, Work, need
from attncert.verify.checker_labelling import zero_parts
from attncert.verify.features import NotIntegral
from attncert.verify.near.fast import read
from attncert.verify.rank.primes import PRIMES_FLOAT64
from attncert.verify.rank.whole_layer.jacobian_rows import jacobian_rank

LIMIT_SECONDS, LIMIT_MIB = 600.0, 8192.0


def check_file(
    path: str, limit_seconds: float = LIMIT_SECONDS, limit_mib: float = LIMIT_MIB
) -> Verdict:
    """Check the certificate at `path`; whatever the file holds, a Verdict comes back."""
    found = checker.check_file(path, limit_seconds, limit_mib, by=every_labelling)
    return found._replace(message=f"fast check: {found.message}")


def every_labelling(cert: dict[str, Any], work: Work) -> str:
    """The claim in one line, or Rejected."""
    need(cert["claim"] == checker_labelling.CLAIM, "only every-labelling can be checked this way")
    T, n, d, m, H, d_h, d_v = cert["dims"].values()
    _, _, p = zero_parts(cert, work)
    large = f"rank.prime is not from 11 to {PRIMES_FLOAT64[0]}: leave out --fast"
    need(11 <= p <= PRIMES_FLOAT64[0], large)
    columns = H * (d * (2 * d_h + d_v) + d_v * m)
    work.spend(1e-7 * T * H * n * (1 + d / 50) + 3e-9 * (T * m) ** 2 * columns + 5.0)
    work.spend(0.0, 8.0 * 512 * m * columns + 4.0 * T * m * columns)
    data, layer, _ = read(cert, work, cert["layer"]["heads"], cert["layer"]["output"])
    try:
        rank = jacobian_rank(data, layer, primes=(p,)).rank
    except NotIntegral:
        rank = None
    need(rank is not None, "a logit / ln 2 is not an integer", "wrong")
    need(rank == T * m, f"modulo p, the Jacobian has rank {rank}, not {T * m}", "wrong")
    return (
        f"every labelling of the {T} examples is memorized by {H} heads: at these weights all "
        f"outputs are 0, and their Jacobian has rank {T * m} modulo {p}"
    )


main = partial(checker.main, check=check_file)


if __name__ == "__main__":
    raise SystemExit(main())

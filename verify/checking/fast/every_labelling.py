"""The fast check of "every-labelling" certificates: NumPy instead of Python's integers.

`verify/rank/` computes derivatives and rank modulo the prime in the file, as it does when such
files are written.
"""

from __future__ import annotations

from typing import Any

from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.constructions.layer import Layer
from attncert.constructions.network.blocks import Attention
from attncert.constructions.network.file import of_json
from attncert.verify.checker import Limits, Rejected, need
from attncert.verify.checker.every_labelling import Parts
from attncert.verify.checker.reading import all_of, dims
from attncert.verify.checking.fast.reading import dataset
from attncert.verify.features.features import NotIntegral
from attncert.verify.rank.whole_layer.jacobian_rows import at_once, jacobian_rank


def judge(cert: dict[str, Any], parts: Parts, limits: Limits) -> str:
    """The claim in one line. Raises Rejected."""
    T, n, d, m = dims(cert, "examples context width labels")
    H, d_h, d_v = dims(cert, "heads head_width value_width")
    p = parts.prime
    large = f"rank.prime is not between 11 and {PRIMES_FLOAT64[0]}: leave out --fast"
    need(11 <= p <= PRIMES_FLOAT64[0], large, "over limit")
    columns, some = H * (d * (2 * d_h + d_v) + d_v * m), at_once(T, m)
    # Memory for a block of rows with its parts, temporaries and residues, for all rows, and for
    # softmax weights.
    limits.hold(72.0 * some * m * columns + 4.0 * T * m * columns)
    limits.hold(8.0 * some * n * (H * (8 * m + 3 * d_h) + 3 * d))
    contexts, queries, *_ = parts.layer.tables
    data = dataset(cert, limits, contexts, queries, parts.labels)
    (block,) = of_json([cert["layer"]]).blocks
    assert isinstance(block, Attention)
    divides = "p divides the contexts' denominator: leave out --fast"
    need(data.contexts.denominator % p, divides, "over limit")

    def on_time(*_: object) -> None:
        limits.on_time()

    try:
        jacobian = jacobian_rank(
            data, Layer(block.heads, block.output), primes=(p,), progress=on_time
        )
    except NotIntegral:
        raise Rejected("wrong", "a logit / ln 2 is not an integer") from None
    need(jacobian.full, f"modulo p, the Jacobian has rank {jacobian.rank}, not {T * m}", "wrong")
    return (
        f"every labelling of {all_of(T)} is memorized by {H} head{'s' * (H > 1)}: at these weights "
        f"all outputs are 0, and their Jacobian has rank {T * m} modulo {p}"
    )

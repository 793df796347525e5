"""The fast check of "network-rank" certificates: NumPy instead of Python's integers.

verify/checker reads the file, `verify/depth` computes the rows, and `verify/rank` their rank; the
same code writes such files.
"""

from __future__ import annotations

from typing import Any

from attncert.constructions.exact.modular import SumVanishes
from attncert.constructions.network.file import of_json
from attncert.verify.checker import Limits, Rejected, need
from attncert.verify.checker.network_rank import Parts, message
from attncert.verify.checker.reading import dims
from attncert.verify.checking.fast.reading import dataset
from attncert.verify.depth.ranks import NetworkRows
from attncert.verify.depth.signs import SignUnknown
from attncert.verify.derivatives.tower import LARGEST
from attncert.verify.rank.whole_layer.jacobian_rows import rank_of_rows


def judge(cert: dict[str, Any], parts: Parts, limits: Limits) -> str:
    """The claim in one line. Raises Rejected. Arithmetic: exact, modulo the primes in the file."""
    T, m = dims(cert, "examples labels")
    count = T if parts.of == "features" else T * m
    small = parts.primes[0] <= LARGEST
    need(small, f"the first prime is above {LARGEST}: leave out --fast", "over limit")
    data = dataset(cert, limits, parts.contexts, parts.queries, parts.labels)
    network = of_json(cert["network"])
    slope = parts.slope % parts.primes[0]
    features = parts.of == "features"
    try:
        table = NetworkRows(data, network, tuple(parts.primes), slope, features=features)
        limits.hold(4.0 * count * len(table.columns))
        rank = rank_of_rows(table, count, lambda done, of: limits.on_time())
    except SumVanishes as vanished:
        raise Rejected("wrong", f"a denominator is 0: {vanished}") from None
    except SignUnknown:
        why = "softmax weights may change a sign before a ReLU"
        raise Rejected("over limit", why) from None
    need(rank == count, f"modulo p, the rank is {rank}", "wrong")
    return message(parts.of, T, rank, parts.primes[0])

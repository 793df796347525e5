"""Files of interpolation-near that cost much more than they weigh, by what they strain.

As in `adversarial_certificates`: each maker takes a size; whether the claims hold does not matter.
One token, zeros in `near.inverse`: only the work is of interest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support.adversarial_certificates import MERSENNE
from support.small_certificates import Certificate, sealed


def table(*shape: int, entry: str = "1") -> Any:
    return [table(*shape[1:], entry=entry) for _ in range(shape[0])] if shape else entry


def near(
    *, T: int = 1, n: int = 1, d: int = 1, m: int = 1, H: int = 1, d_h: int = 1, d_v: int = 1,
    **parts: Any,
) -> Certificate:  # fmt: skip
    """Ones of these shapes, and an inverse of zeros; `parts` are put in place of them."""
    head = {"key": table(d, d_h), "query": table(d, d_h), "value": table(d, d_v)}
    numbers = {"contexts": [table(n, d)], "queries": table(T, d), "labels": table(T, m)}
    claim = {"radius": "1/1000", "unknowns": list(range(T * m))}
    claim["inverse"] = parts.get("inverse") or table(T * m, T * m, entry="0")
    heads = parts.get("heads", [head | parts.get("head", {})] * H)
    return sealed({
        "format": "attncert/1", "claim": "interpolation-near", "construction": "",
        "produced_by": "",
        "dims": {"examples": T, "context": n, "width": d, "labels": m, "heads": H,
                 "head_width": d_h, "value_width": d_v},
        "data": {key: parts.get(key, value) for key, value in numbers.items()},
        "layer": {"logit_unit": "1", "heads": heads, "output": table(H * d_v, m)},
        "near": {key: parts.get(key, value) for key, value in claim.items()},
    })  # fmt: skip


def eights(digits: int) -> str:
    return "8" * digits


def colliding_unknowns(size: int) -> Certificate:
    """Unknowns of one hash, none of them a weight."""
    count = 200 * size
    return near(T=count, unknowns=[1 + i * MERSENNE for i in range(count)], inverse=[[]])


def long_radius_and_inverse(size: int) -> Certificate:
    """The same meets the rows of a long inverse."""
    inverse = [[f"1/{'9' * 40 * size}"] + ["1"] * 9, *table(9, 10)]
    return near(T=10, d=10, radius=f"{'9' * 40 * size}/{eights(40 * size)}", inverse=inverse)


def long_labels(size: int) -> Certificate:
    labels = [[f"1/{eights(100 * size)}"], ["9" * 100 * size], *[["1"]] * 8]
    return near(T=10, d=10, labels=labels)


def small_radius(size: int) -> Certificate:
    """Balls with as many bits, in which exp needs as many terms."""
    contexts = [[[f"{i}/{size}"] for i in range(9)]]
    return near(T=2, n=9, H=3, contexts=contexts, radius=f"1/1{'0' * 5 * size}")


def long_weights(size: int) -> Certificate:
    head = {"key": table(2, 2, entry="9" * 5 * size), "value": table(2, 2, entry=f"1/{eights(99)}")}
    return near(T=2, n=4, d=2, H=2, d_h=2, d_v=2, head=head)


def long_inverse(size: int) -> Certificate:
    inverse = [[f"1/{'9' * 40 * size}"] + ["1"] * 19, *table(19, 20)]
    return near(T=20, d=20, inverse=inverse)


def many_unknowns(size: int) -> Certificate:
    return near(T=size, d=size, inverse=table(size, size, entry="123456789"))


MAKERS: dict[str, Callable[[int], Certificate]] = {
    maker.__name__: maker
    for maker in (
        colliding_unknowns, long_radius_and_inverse, long_labels, small_radius, long_weights,
        long_inverse, many_unknowns,
    )
}  # fmt: skip

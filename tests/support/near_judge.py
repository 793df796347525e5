"""Is what a certificate of interpolation-near states true? Newton's method, for the fuzzer.

Well-formed as `certificate_judge` asks of other claims; then as far as `newton.distance` sees.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from support.certificate_judge import (
    DIMS,
    ENVELOPE,
    Malformed,
    OutOfReach,
    contexts_of,
    demand,
    first_format,
    numbers,
    record,
    sizes_of,
)
from support.newton import DIGITS, distance, number


def near_judgement(certificate: Any) -> bool | None:
    """True or False; None where Newton's method finds no zero, which says nothing."""
    try:
        certificate, more = first_format(certificate)
        _require_form(certificate)
    except OutOfReach:
        return None
    except (Malformed, KeyError, TypeError, ValueError):
        return False
    try:
        moved, error = _distance(json.dumps(certificate))
    except (ArithmeticError, ValueError):
        return None
    if not error < number(f"1/1{'0' * DIGITS}"):
        return None
    return more and bool(moved <= number(certificate["near"]["radius"]))


@lru_cache
def _distance(text: str) -> tuple[Any, Any]:
    """Two checkers are judged on each file."""
    return distance(json.loads(text))


def _require_form(certificate: Any) -> None:
    record(certificate, [*ENVELOPE, "layer", "near"])
    T, n, d, m, H, d_h, d_v = sizes_of(certificate["dims"], DIMS)
    data = record(certificate["data"], ["contexts", "queries", "labels"])
    contexts_of(certificate, data["contexts"], T, n, d)
    numbers(data["queries"], T, d)
    numbers(data["labels"], T, m)
    layer = record(certificate["layer"], ["logit_unit", "heads", "output"])
    demand(layer["logit_unit"] == "1" and type(layer["heads"]) is list)
    for head in layer["heads"]:
        record(head, ["key", "query", "value"])
    for part, width in (("key", d_h), ("query", d_h), ("value", d_v)):
        numbers([head[part] for head in layer["heads"]], H, d, width)
    numbers(layer["output"], H * d_v, m)
    near = record(certificate["near"], ["radius", "unknowns", "inverse"])
    demand(numbers(near["radius"]) > 0)
    unknowns = near["unknowns"]
    demand(type(unknowns) is list and all(type(k) is int for k in unknowns))
    weights = H * (2 * d * d_h + d * d_v + d_v * m)
    demand(len(unknowns) == T * m == len({*unknowns}) and min(unknowns) >= 0)
    demand(max(unknowns) < weights)
    numbers(near["inverse"], T * m, T * m)

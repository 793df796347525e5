"""Records as JSON: values that JSON cannot hold become text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpz

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.numerals import MOST_JSON_BITS, numeral


def readable_json(obj: Any) -> bytes:
    """The JSON text: sorted keys, one item on each line, a newline at the end."""
    text = json.dumps(obj, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode("utf-8", "backslashreplace")


def jsonable(x: Any) -> Any:
    """Plain JSON values; a value that JSON cannot hold becomes a string, and a record an object.

    >>> jsonable({"a": (1, float("-inf")), 2: fmpz(7), "b": Fraction(1, 3)})
    {'a': [1, '-inf'], '2': '7', 'b': '1/3'}
    """
    if x is None or isinstance(x, bool | str):
        return x
    if isinstance(x, np.generic):
        return jsonable(x.item())
    if isinstance(x, int):
        return x if x.bit_length() <= MOST_JSON_BITS else numeral(x)
    if isinstance(x, float):
        return x if math.isfinite(x) else str(x)
    if isinstance(x, Mapping):
        return {str(key): jsonable(entry) for key, entry in x.items()}
    if isinstance(x, Sequence | np.ndarray):
        return [jsonable(entry) for entry in x]
    if isinstance(x, Enum):
        return x.value
    if is_dataclass(x):
        return {field.name: jsonable(getattr(x, field.name)) for field in fields(x)}
    if isinstance(x, Fraction | fmpz | fmpq):
        return numeral(x)
    return str(x)


def about(data: Dataset) -> dict[str, Any]:
    """The sizes of a data set, with each length if contexts have different lengths."""
    tokens = {"tokens": [data.tokens(t) for t in range(data.T)]} if data.ragged else {}
    return {
        "name": data.name, "examples": data.T, "context": data.longest, **tokens, "width": data.d,
        "labels": data.m if data.labelled else None, "shared": data.shared, "sha256": data.sha256,
    }  # fmt: skip

"""Numbers of any exact type as integers over one common denominator; nothing is rounded.

Integers, fractions and decimals are exact: 0.1 as text is 1/10. A float, in an array or in
Python, is the dyadic rational that it stores: m·2^e with an integer m of at most 53 bits. Any other
entry is refused with an error that names its place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from numbers import Rational
from typing import Any, NamedTuple

import numpy as np
from flint import fmpq, fmpz

from attncert.constructions.arrays import AnyArray, IntArray, IntegerArray, ObjectArray
from attncert.constructions.errors import InputError
from attncert.constructions.numerals import integer

MAX_AXES = 8  # the deepest nesting of lists
MAX_DIGITS = 4_300  # digits in a JSON number: Python's own default limit


class Longest(NamedTuple):
    """Limits on the digits of p and of q in a string "p/q", and on the bits of the common
    denominator."""

    digits: int
    bits: int


OF_DATA = Longest(MAX_DIGITS, 2**18)
OF_WEIGHTS = Longest(500_000, 2**21)  # for long readouts; the checker has the same limits
MAX_BYTES = 2**32  # the largest array of numerators, estimated before it is made

NUMBER = re.compile(r"-?[0-9]+(?:/[1-9][0-9]*)?")
_A_NUMBER = 'an integer, a finite float or a string "p/q"'
_PLAIN = {int, float, str, Fraction, list, tuple}  # types that are not arrays
_INT64 = 2**62 - 1  # so that the sum and the difference of two entries also fit
_CHUNK = 2**20  # entries of a float array converted at a time, to bound the memory that this takes

Exact = tuple[IntegerArray, int]  # numerators (integer dtype or Python integers), denominator > 0


def from_lists(argument: str, values: Any, longest: Longest = OF_DATA) -> Exact:
    """Nested lists (or tuples or arrays) of int, float, Decimal, Fraction, "p/q", and the like.
    Raises InputError, with the place, if they are ragged or an entry is not a finite number.

    >>> from_lists("labels", [1, 0.5, "-2/3"])
    (array([ 6,  3, -4]), 6)
    >>> from_lists("labels", [[1, 2], [3, float("nan")]])
    Traceback (most recent call last):
    attncert.InputError: labels[1][1]: must be an integer, a finite float or a string \
"p/q", not nan
    """
    flat, shape = _flatten(argument, values)
    kinds = set(map(type, flat))
    if kinds <= {int}:
        return narrow(flat, shape), 1
    if kinds == {float} and shape:
        return from_floats(argument, np.array(flat).reshape(shape))
    ratios = []
    for index, x in enumerate(flat):
        ratio = _ratio(x, longest.digits)
        if ratio is None:
            long = isinstance(x, str) and len(x) > longest.digits
            must = f"a number of at most {longest.digits} digits" if long else _A_NUMBER
            raise InputError(place(argument, index, shape), must, describe(x))
        ratios.append(ratio)
    return _over_common_denominator(argument, ratios, shape, longest.bits)


def from_array(argument: str, array: AnyArray) -> Exact:
    """A NumPy array of integers, or of floats of at most 64 bits. Raises InputError."""
    if array.dtype.kind == "O" or array.ndim == 0:
        return from_lists(argument, array.tolist())
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        return from_floats(argument, array)
    if array.dtype.kind not in "iu":
        raise InputError(argument, "integers, or floats of at most 64 bits", f"dtype {array.dtype}")
    if array.dtype.itemsize == 8 and array.size:
        low, high = int(array.min()), int(array.max())
        if low < -_INT64 or high > _INT64:
            _check_size(argument, array.size, 64)
            return narrow(array.ravel().tolist(), array.shape), 1
    if array.dtype.kind == "u" or not array.dtype.isnative:
        width = array.dtype.itemsize * (2 if array.dtype.kind == "u" else 1)
        return array.astype(f"i{min(width, 8)}"), 1
    return array, 1


def from_floats(argument: str, array: AnyArray) -> Exact:
    """Floats (one axis or more, at most 64 bits) over their smallest common power of two."""
    low, high = 0, 0  # all entries are integers times 2^low, and below 2^high
    for part in _chunks(array):
        if not np.isfinite(part).all():
            where = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
            index = int(np.ravel_multi_index(where, array.shape))
            raise InputError(place(argument, index, array.shape), _A_NUMBER, array[where])
        whole, power = _odd_times_power(part)
        nonzero = whole != 0
        low = min(low, int(power[nonzero].min(initial=0)))
        high = max(high, int(np.frexp(part)[1][nonzero].max(initial=0)))
    _check_size(argument, array.size, high - low)
    if high - low <= 62:
        out = np.empty(array.shape, dtype=np.int64)
        for part, target in zip(_chunks(array), _chunks(out), strict=True):
            target[...] = np.ldexp(part.astype(np.float64), -low)  # an integer below 2^62
        return out, 1 << -low
    out = np.empty(array.shape, dtype=object)
    for part, target in zip(_chunks(array), _chunks(out), strict=True):
        whole, power = _odd_times_power(part)
        shift = np.where(whole == 0, 0, power - low)
        pairs = zip(whole.ravel().tolist(), shift.ravel().tolist(), strict=True)
        target[...] = objects([w << s for w, s in pairs], part.shape)
    return out, 1 << -low


def on_host(values: Any, argument: str) -> Any:
    """An array of PyTorch, CuPy or the like as a NumPy array; other values are unchanged. Raises
    InputError."""
    if isinstance(values, np.ma.MaskedArray):  # masked entries would be read as numbers
        raise InputError(argument, "a dense array", "a MaskedArray")
    if isinstance(values, (np.ndarray, np.generic, list, tuple)):
        return values
    try:
        if hasattr(values, "detach"):  # PyTorch
            plain = values.detach().cpu()
            return (plain.float() if "bfloat16" in str(plain.dtype) else plain).numpy()
        if hasattr(values, "get") and hasattr(values, "__cuda_array_interface__"):
            return np.asarray(values.get())
        if hasattr(values, "__array_namespace__"):
            return np.asarray(np.from_dlpack(values))
    except Exception:  # sparse, quantized or without data: the exception depends on the library
        raise InputError(argument, "a dense array", f"a {type(values).__name__}") from None
    return values


def narrow(flat: Sequence[int], shape: tuple[int, ...]) -> IntegerArray:
    """Python integers as int64 if they and their differences fit, else as objects."""
    if min(flat, default=0) >= -_INT64 and max(flat, default=0) <= _INT64:
        return np.array(flat, dtype=np.int64).reshape(shape)
    return objects([int(x) for x in flat], shape)


def objects(flat: Sequence[int], shape: tuple[int, ...]) -> ObjectArray:
    out = np.empty(len(flat), dtype=object)
    out[:] = flat
    return out.reshape(shape)


def place(argument: str, index: int, shape: tuple[int, ...]) -> str:
    """The place of entry `index` of the flattened array: 'contexts[3][0][1]'."""
    return argument + "".join(f"[{i}]" for i in np.unravel_index(index, shape))


def describe(content: Any) -> str:
    """A short description of a value that is not a number, for an error."""
    if content is None or isinstance(content, bool):
        return {None: "null", True: "true", False: "false"}[content]
    if isinstance(content, (list, tuple)) and not content:
        return "empty"
    if isinstance(content, str):
        return repr(content[:200])
    if isinstance(content, float | Decimal):
        return str(content)
    words = {int: "an integer", list: "a list", dict: "an object"}
    return words.get(type(content), f"a {type(content).__name__}")


def _flatten(argument: str, values: Any) -> tuple[list[Any], tuple[int, ...]]:
    """Entries in row-major order, one axis at a time (so nothing recurses), and the shape."""
    level: list[Any] = [values]
    shape: tuple[int, ...] = ()
    while True:
        kinds = set(map(type, level))
        if not kinds <= _PLAIN:
            arrays = (on_host(x, argument) for x in level)
            level = [x.tolist() if isinstance(x, np.ndarray) else x for x in arrays]
            kinds = set(map(type, level))
        if not any(issubclass(kind, (list, tuple)) for kind in kinds):
            return level, shape
        if len(shape) == MAX_AXES:
            raise InputError(argument, f"nested at most {MAX_AXES} deep", "deeper")
        lengths = [len(x) if isinstance(x, (list, tuple)) else None for x in level]
        if len(set(lengths)) > 1:
            usual = lengths[0]
            odd = next(i for i, length in enumerate(lengths) if length != usual)
            first = place(argument, 0, shape)
            must = f"{_length(usual)}, like {first}"
            raise InputError(place(argument, odd, shape), must, _length(lengths[odd]))
        shape = (*shape, len(level[0]))
        level = list(chain.from_iterable(level))


def _length(length: int | None) -> str:
    return "a number" if length is None else f"a list of {length}"


def _ratio(x: Any, digits: int) -> tuple[int, int] | None:
    """Numerator and denominator in lowest terms, or None if x is not a finite exact number."""
    if isinstance(x, str):
        if len(x) > 2 * digits + 2 or not NUMBER.fullmatch(x):
            return None
        top, _, bottom = x.partition("/")
        if len(top) - top.startswith("-") > digits or len(bottom) > digits:
            return None
        p, q = integer(top), integer(bottom or "1")
        common = math.gcd(p, q)
        return p // common, q // common
    if isinstance(x, bool):
        return None
    if isinstance(x, (int, float, Fraction)):
        return x.as_integer_ratio() if not isinstance(x, float) or math.isfinite(x) else None
    if isinstance(x, Decimal):
        return x.as_integer_ratio() if abs(x.adjusted()) <= digits and x.is_finite() else None
    if isinstance(x, np.floating):
        return _ratio(float(x), digits) if x.dtype.itemsize <= 8 else None
    if isinstance(x, (fmpz, fmpq)):
        return int(x.numerator), int(x.denominator)
    if isinstance(x, Rational):
        return Fraction(int(x.numerator), int(x.denominator)).as_integer_ratio()
    return None


def _over_common_denominator(
    argument: str, ratios: Sequence[tuple[int, int]], shape: tuple[int, ...], bits: int
) -> Exact:
    common = 1
    denominators = {f"{q:x}": q for _, q in ratios}  # integers can be chosen to collide in a set
    for q in denominators.values():
        common = int(fmpz(common).lcm(q))  # quasi-linear, unlike math.lcm
        if common.bit_length() > bits:
            must = f"numbers with a common denominator of at most {bits} bits"
            raise InputError(argument, must, "numbers with a longer one")
    widest = max(p.bit_length() - q.bit_length() for p, q in ratios) + common.bit_length() + 1
    _check_size(argument, len(ratios), widest)
    factor = {text: common // q for text, q in denominators.items()}
    return narrow([p * factor[f"{q:x}"] for p, q in ratios], shape), common


def _check_size(argument: str, entries: int, bits: int) -> None:
    # 64 bits are 8 bytes; else a pointer, the header of an int, and 4 bytes for every 30 bits
    size = entries * (8 if bits <= 63 else 40 + bits // 7)
    if size > MAX_BYTES:
        must = f"numbers that fit {MAX_BYTES >> 30} GiB over their common denominator"
        raise InputError(argument, must, f"{entries} integers of up to {bits} bits")


def _chunks(array: AnyArray) -> Iterator[AnyArray]:
    step = max(1, _CHUNK * len(array) // array.size) if array.size else 1
    return (array[start : start + step] for start in range(0, len(array), step))


def _odd_times_power(part: AnyArray) -> tuple[IntArray, IntArray]:
    """x = whole·2^power with `whole` odd (0 if x is 0), both int64."""
    mantissa, exponent = np.frexp(part.astype(np.float64))
    whole = (mantissa * 2.0**53).astype(np.int64)
    zeros = np.maximum(np.frexp((whole & -whole).astype(np.float64))[1] - 1, 0)
    return whole >> zeros, exponent.astype(np.int64) - 53 + zeros

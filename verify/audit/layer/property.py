"""A property file: what a layer must do on a data set, in a few keys (docs/models-and-layers.md).

Each of `error`, `saturation` and `rank`, where it stands, is a claim: verified if it holds,
falsified (with the example) if it is refuted, else undecided. Numbers are exact: 0.1 is 1/10.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, BinaryIO

from flint import arb, ctx

from attncert.constructions.data.conversion import describe
from attncert.constructions.data.loading import MAX_EXAMPLES, read_source
from attncert.constructions.errors import InputError, whole
from attncert.constructions.numerals import numeral
from attncert.verify.audit.layer.attention import Attention
from attncert.verify.audit.layer.error import (
    BITS,
    at_most,
    errors,
    failing,
    least_singular_value,
    rank_claim,
)
from attncert.verify.audit.layer.heads import peak
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level, counted
from attncert.verify.questions.rules import exact

_MAX_BYTES = 2**13  # tomllib takes time quadratic in the parts of a dotted key
_MOST_BITS = 10**6
_KEYS = ("examples", "heads", "error", "saturation", "rank")


@dataclass(frozen=True)
class Property:
    """examples, heads: indices from 0; None: all. The others: None or False where not asked for."""

    examples: tuple[int, ...] | None = None
    heads: tuple[int, ...] | None = None
    error: Fraction | None = None
    saturation: int | None = None
    rank: bool = False


def load_property(path: str) -> Property:
    """The property in a TOML file. Raises InputError, and nothing else."""
    must = "a TOML file with a property"
    return read_source(path, {"toml": _read, "json": _read}, must)


def _read(file: BinaryIO, name: str, shown: str) -> Property:
    content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise InputError(shown, f"of at most {_MAX_BYTES} bytes", "larger")
    try:
        keys = tomllib.loads(content.decode("utf-8"), parse_float=str)
    except (ValueError, RecursionError) as error:
        raise InputError(shown, "a TOML file", f"one with an error ({error})") from None
    return property_of(keys, shown)


def property_of(keys: Mapping[str, Any], shown: str = "property") -> Property:
    """The property of these keys. Raises InputError.

    >>> property_of({"error": "0.1", "examples": [0, 2]}).error
    Fraction(1, 10)
    """
    unknown = [key for key in keys if key not in _KEYS]
    if unknown or not set(keys).intersection(_KEYS[2:]):
        must = f"made of {', '.join(_KEYS[2:])}, one at least, and examples and heads"
        raise InputError(shown, must, f"of {', '.join(map(repr, unknown or keys)) or 'nothing'}")
    error, bits, rank = (keys.get(key) for key in _KEYS[2:])
    if error is not None and not isinstance(error, str):
        error = numeral(error) if whole(error) else describe(error)
    if bits is not None and not (whole(bits) and 1 <= bits <= _MOST_BITS):
        raise InputError(
            "property saturation", f"a whole number from 1 to {_MOST_BITS}", describe(bits)
        )
    if rank not in (None, "full"):
        raise InputError("property rank", '"full"', describe(rank))
    return Property(
        _indices("examples", keys.get("examples", "all"), 0),
        _indices("heads", keys.get("heads", "all"), 1),
        None if error is None else _exact(error),
        bits,
        rank == "full",
    )


def _indices(key: str, numbers: Any, first: int) -> tuple[int, ...] | None:
    if numbers == "all":
        return None
    some = isinstance(numbers, list) and numbers != []
    if not some or not all(whole(k) and first <= k <= MAX_EXAMPLES for k in numbers):
        must = f'"all", or a list of whole numbers from {first} to {MAX_EXAMPLES}'
        raise InputError(f"property {key}", must, describe(numbers))
    return tuple(dict.fromkeys(k - first for k in numbers))


def _exact(text: str) -> Fraction:
    rule = exact()
    try:
        return Fraction(rule.read(text))
    except ValueError:
        raise InputError("property error", rule.must, text) from None


def judge(asked: Property, attention: Attention) -> tuple[Claim, ...]:
    """One claim for each condition, in the order of the keys. Raises InputError where an example or
    a head does not exist."""
    some = _chosen("examples", asked.examples, attention.data.T, 0)
    heads = _chosen("heads", asked.heads, len(attention.layer.heads), 1)
    on, claims = attention.on(some), []
    if asked.error is not None:
        claims.append(_error(on, some, asked.error))
    if asked.saturation is not None:
        claims.append(_saturation(on, some, heads, asked.saturation))
    if asked.rank:
        claims.append(_rank(on.of_heads(heads)))
    return tuple(replace(claim, source="ours; docs/models-and-layers.md") for claim in claims)


def _chosen(key: str, numbers: Sequence[int] | None, end: int, first: int) -> tuple[int, ...]:
    if numbers is not None and max(numbers) >= end:
        must = f"numbers from {first} to {end - 1 + first}"
        raise InputError(f"property {key}", must, max(numbers) + first)
    return tuple(range(end) if numbers is None else numbers)


def _error(on: Attention, some: Sequence[int], limit: Fraction) -> Claim:
    """The examples are named as the whole data set has them."""
    claim = errors(on, at_most(limit))[1]
    named = {key: [some[t] for t in claim.numbers[key]] for key in ("beyond", "open")}
    witness = dict(claim.witness or {})
    if "example" in witness:
        witness["example"] = some[witness["example"]]
    if not claim.level.holds:
        witness["reason"] = failing(named)
    numbers = {**claim.numbers, **named}
    return replace(claim, id=ids.PROPERTY_ERROR, numbers=numbers, witness=witness or None)


def _saturation(on: Attention, some: Sequence[int], heads: Sequence[int], bits: int) -> Claim:
    level: Level = Level.ENCLOSED
    witness: dict[str, Any] | None = None
    with ctx.workprec(BITS):
        limit, weights = arb(2) ** -bits, on.weights()
        for h, t in ((h, t) for h in heads for t in range(len(some))):
            row, off, _ = peak(weights[h][t])
            place = {"head": h + 1, "example": some[t], "row": row}
            if all(sum(weights[h][t], arb(0)) - weight > limit for weight in weights[h][t]):
                level, witness = Level.REFUTED, place
                break
            if not off <= limit:
                level, witness = Level.UNDECIDED, place | {"reason": "at the limit itself"}
    return Claim(
        ids.PROPERTY_SATURATION,
        f"In {counted(len(heads), 'head', 'these')} and on {counted(len(some), 'example', 'these')}"
        f" at most $2^{{-{bits}}}$ of the attention is outside one row.",
        level,
        witness=witness or None,
        arithmetic=f"ball arithmetic (Arb), {BITS} bits",
    )


def _rank(on: Attention) -> Claim:
    with ctx.workprec(BITS):
        features = on.features()
        claim = rank_claim(on, features, least_singular_value(features))
    statement = f"The features $Z$ of these heads have rank $T={on.data.T}$."
    return replace(claim, id=ids.PROPERTY_RANK, statement=statement)

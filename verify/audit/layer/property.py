"""A property file: what a layer must do on a data set, in a few keys, decided one by one.

    examples = [0, 3, 7]      # which are meant, from 0; default: all
    heads = [1, 2]            # which are meant by saturation and rank, from 1; default: all

    error = "0.1"             # every output entry differs from its label by at most this
    saturation = 10           # these heads leave at most 2^-10 of the attention outside one row
    rank = "full"             # rank of the features Z of these heads: at least this, or T
    exact-within = "1e-3"     # weights that output the labels exactly are within this of these

Each of the last four, where it stands, is a claim: verified if it holds, falsified (with the
example) if it is refuted, else undecided. Numbers are exact: 0.1 is 1/10. `exact-within` is never
falsified: nothing here shows that no such weights exist.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, BinaryIO

from flint import arb, arb_mat, ctx

from attncert.constructions.data.conversion import describe
from attncert.constructions.data.loading import MAX_EXAMPLES, read_source
from attncert.constructions.errors import InputError, whole
from attncert.constructions.numerals import numeral, short
from attncert.verify.audit.layer.attention import Attention
from attncert.verify.audit.layer.error import BITS, errors, least_singular_value, rank_claim
from attncert.verify.audit.layer.heads import independent_rows, peak
from attncert.verify.audit.layer.near import exact_near
from attncert.verify.audit.layer.numbers import exact_number
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level, counted
from attncert.verify.rank.ball import certify_full_row_rank

_MAX_BYTES = 2**20
_MOST_DOTS = 20  # of a line: tomllib takes time quadratic in the parts of a dotted key
_SELECT, _ASK = ("examples", "heads"), ("error", "saturation", "rank", "exact-within")
_MOST_BITS = 10**6
_WORK_BITS = 10**9  # of all softmax weights together, at the precision that `saturation` asks for
_SOURCE = "ours; docs/third-party-weights.md"


@dataclass(frozen=True)
class Property:
    """examples, heads: indices from 0; None: all. rank: None: not asked; 0: of all examples."""

    examples: tuple[int, ...] | None = None
    heads: tuple[int, ...] | None = None
    error: Fraction | None = None
    saturation: int | None = None
    rank: int | None = None
    exact_within: Fraction | None = None


def load_property(path: str) -> Property:
    """The property in a TOML file. Raises InputError, and nothing else."""
    must = "a TOML file with a property"
    return read_source(path, {"toml": _read, "json": _read}, must)


def _read(file: BinaryIO, name: str, shown: str) -> Property:
    content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise InputError(shown, f"of at most {_MAX_BYTES} bytes", "larger")
    if any(line.count(b".") > _MOST_DOTS for line in content.splitlines()):
        raise InputError(shown, f"of lines with at most {_MOST_DOTS} dots", "with more")
    try:
        value = tomllib.loads(content.decode("utf-8"), parse_float=str)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InputError(shown, "a TOML file", f"one with an error ({error})") from None
    return property_of(value, shown)


def property_of(value: dict[str, Any], shown: str = "property") -> Property:
    """The property of these keys. Raises InputError.

    >>> property_of({"error": "0.1", "examples": [0, 2]}).error
    Fraction(1, 10)
    """
    unknown = [key for key in value if key not in (*_SELECT, *_ASK)]
    if unknown or not set(value).intersection(_ASK):
        must = f"made of {', '.join(_ASK)}, one at least, and {' and '.join(_SELECT)}"
        raise InputError(shown, must, f"of {', '.join(map(repr, unknown or value)) or 'nothing'}")
    rank = value.get("rank")
    if rank is not None and rank != "full":
        rank = _positive("rank", rank)
    bits = value.get("saturation")
    return Property(
        _indices(value, "examples", 0),
        _indices(value, "heads", 1),
        _number(value, "error"),
        None if bits is None else _positive("saturation", bits),
        0 if rank == "full" else rank,
        _number(value, "exact-within"),
    )


def _positive(key: str, value: object) -> int:
    if not whole(value) or not 1 <= value <= _MOST_BITS:
        must = f"a whole number from 1 to {_MOST_BITS}"
        must += ', or "full"' if key == "rank" else ""
        raise InputError(key, must, describe(value))
    return value


def _number(value: dict[str, Any], key: str) -> Fraction | None:
    found = value.get(key)
    if found is None:
        return None
    if not whole(found) and not isinstance(found, str):
        raise InputError(key, 'a number, at least 0, such as 0.01, 1e-6 or "1/2"', describe(found))
    return exact_number(key, found if isinstance(found, str) else numeral(found))


def _indices(value: dict[str, Any], key: str, first: int) -> tuple[int, ...] | None:
    found = value.get(key, "all")
    if found == "all":
        return None
    numbers = found if isinstance(found, list) else []
    if not numbers or not all(whole(x) and first <= x <= MAX_EXAMPLES for x in numbers):
        must = f'"all", or a list of whole numbers from {first} to {MAX_EXAMPLES}, none twice'
        raise InputError(key, must, describe(found))
    if len(set(numbers)) < len(numbers):  # short ones: of long ones many have one hash
        raise InputError(key, "a list with no number twice", "one with")
    return tuple(x - first for x in numbers)


# Deciding.


def judge(asked: Property, attention: Attention) -> tuple[Claim, ...]:
    """One claim for each condition, in the order of the keys. Raises InputError where an example or
    a head does not exist."""
    T, H = attention.data.T, len(attention.layer.heads)
    for key, chosen, end, first in (
        ("examples", asked.examples, T, 0),
        ("heads", asked.heads, H, 1),
    ):
        if chosen is not None and max(chosen) >= end:
            must = f"numbers from {first} to {end - 1 + first}"
            raise InputError(key, must, max(chosen) + first)
    some = tuple(range(T)) if asked.examples is None else asked.examples
    heads = tuple(range(H)) if asked.heads is None else asked.heads
    on = attention if asked.examples is None else attention.on(some)
    judges: dict[str, tuple[Any, Callable[[], Claim]]] = {
        "error": (asked.error, lambda: _error(on, some, asked.error or Fraction(0))),
        "saturation": (asked.saturation, lambda: _saturation(on, some, heads, asked)),
        "rank": (asked.rank, lambda: _rank(on.of_heads(heads), asked.rank or len(some))),
        "exact-within": (asked.exact_within, lambda: _exact(on, asked.exact_within or Fraction(0))),
    }
    return tuple(judged() for value, judged in judges.values() if value is not None)


def _error(on: Attention, some: Sequence[int], limit: Fraction) -> Claim:
    claim = errors(on, limit, strict=False)[1]
    numbers = {
        key: [some[t] for t in x] if key in ("beyond", "open") else x
        for key, x in claim.numbers.items()
    }
    witness = claim.witness
    if witness is not None and "example" in witness:
        witness = {**witness, "example": some[witness["example"]]}
    return replace(claim, id=ids.PROPERTY_ERROR, numbers=numbers, witness=witness, source=_SOURCE)


def _saturation(on: Attention, some: Sequence[int], heads: Sequence[int], asked: Property) -> Claim:
    """Off-peak weights are enclosed at a precision far beyond the bits asked for."""
    bits = asked.saturation or 0
    count = on.data.T * len(on.layer.heads) * on.data.n
    most = _WORK_BITS // count - BITS
    if bits > most:
        raise InputError("saturation", f"at most {most} for {count} softmax weights", bits)
    level: Level = Level.ENCLOSED
    witness: dict[str, Any] | None = None
    with ctx.workprec(BITS + bits):
        limit = arb(2) ** -bits
        weights = on.weights()
        for h in heads:
            for t, example in enumerate(some):
                row, off, _ = peak(on.rows(t), weights[h][t])
                if off <= limit:
                    continue
                place = {"head": h + 1, "example": example, "row": row}
                total = sum(weights[h][t], arb(0))
                if all(total - weight > limit for weight in weights[h][t]):
                    level, witness = Level.REFUTED, place
                elif level is not Level.REFUTED:
                    level, witness = Level.UNDECIDED, place | {"reason": "at the limit itself"}
            if level is Level.REFUTED:
                break
    return Claim(
        ids.PROPERTY_SATURATION,
        f"In {counted(len(heads), 'head', 'all' if asked.heads is None else 'these')} and on "
        f"{counted(len(some), 'example', 'all' if asked.examples is None else 'these')} at most "
        f"$2^{{-{bits}}}$ of the attention is outside one row.",
        level,
        witness=witness,
        arithmetic=f"ball arithmetic (Arb), {BITS + bits} bits",
        source=_SOURCE,
    )


def _rank(on: Attention, r: int) -> Claim:
    T, columns = on.data.T, len(on.layer.heads) * on.data.d
    with ctx.workprec(BITS):
        features = on.features()
        if r == T:
            claim = rank_claim(on, features, least_singular_value(features))
            statement = f"The features $Z$ of these heads have rank $T={T}$."
            return replace(claim, id=ids.PROPERTY_RANK, statement=statement)
        level, witness = Level.UNDECIDED, None
        rows = independent_rows(on, features)[:r]
        if r > min(T, columns):
            level, witness = Level.REFUTED, {"examples": T, "columns": columns}
        elif len(rows) == r:
            table = features.tolist()
            chosen = arb_mat([table[t] for t in rows])
            if certify_full_row_rank(chosen, precision=BITS).certified:
                level = Level.ENCLOSED
    return Claim(
        ids.PROPERTY_RANK,
        f"The features $Z$ of these heads have rank ${r}$ or more.",
        level,
        numbers={"independent rows": list(rows)} if level.holds else {},
        witness=witness,
        arithmetic=f"ball arithmetic (Arb), {BITS} bits",
        source=_SOURCE,
    )


def _exact(on: Attention, radius: Fraction) -> Claim:
    statement = f"Weights that output these labels exactly exist within {short(radius)}."
    found = exact_near(on)
    claim = Claim(ids.PROPERTY_EXACT, statement, Level.UNDECIDED, source=_SOURCE)
    if found is None:
        return replace(claim, witness={"reason": "not tried: docs/third-party-weights.md"})
    claim = replace(found.claim, id=ids.PROPERTY_EXACT, statement=statement)
    if found.distance is not None and found.distance <= radius:
        return claim
    known = {} if found.distance is None else {"found within": found.claim.numbers["distance"]}
    return replace(claim, level=Level.UNDECIDED, witness=known or {"reason": "none found"})


# In words.


def verdict(claims: Sequence[Claim]) -> str:
    """For a badge: verified, falsified or undecided, and where."""
    for level, word in ((Level.REFUTED, "falsified"), (Level.UNDECIDED, "undecided")):
        there = [claim for claim in claims if claim.level is level]
        if there:
            return f"{word} ({'; '.join(map(_place, there))})"
    return f"verified ({len(claims)} of {len(claims)})"


def _place(claim: Claim) -> str:
    name, witness = claim.id.removeprefix("property."), claim.witness or {}
    if claim.level is not Level.REFUTED or "example" not in witness:
        return name
    head = f"head {witness['head']}, " if "head" in witness else ""
    return f"{name}: {head}example {witness['example']}"

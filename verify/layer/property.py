"""A property file: what a layer must do on a data set, in a few keys (docs/models-and-layers.md).

Each of `error`, `saturation` and `rank`, where it stands, is a claim: verified if it holds,
falsified (with the example) if it is refuted, else undecided. Numbers are exact: 0.1 is 1/10.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any, BinaryIO

from flint import arb, ctx

from attncert.constructions.data.loading import read_source
from attncert.constructions.errors import InputError
from attncert.constructions.network.arithmetic import BALLS
from attncert.constructions.network.states import beside
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.layer.attention import Attention
from attncert.verify.layer.error import (
    BITS,
    SOURCE,
    at_most,
    errors,
    failing,
    rank_claim,
)
from attncert.verify.layer.heads import peak
from attncert.verify.questions.values import exact, one_of, whole
from attncert.verify.rank.ball import smallest_singular_value

Property = dict[str, Any]  # examples and heads from 0, and the conditions, as _RULES read them

_MAX_BYTES = 2**13  # tomllib takes time quadratic in the parts of a dotted key
_RULES = {"error": exact(), "saturation": whole(1, 10**6), "rank": one_of("full")}


def load_property(path: str, attention: Attention) -> Property:
    """What a TOML file asks of a layer on data. Raises InputError, and nothing else."""
    read = partial(_read, attention=attention)
    return read_source(path, {"json": read}, "a TOML file with a property")  # of any suffix


def _read(file: BinaryIO, name: str, source: str, attention: Attention) -> Property:
    content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise InputError(source, f"of at most {_MAX_BYTES} bytes", "larger")
    try:
        keys = tomllib.loads(content.decode("utf-8"), parse_float=str)
    except (ValueError, RecursionError) as error:
        raise InputError(source, "a TOML file", f"one with an error ({error})") from None
    unknown = [key for key in keys if key not in ("examples", "heads", *_RULES)]
    if unknown or not _RULES.keys() & keys:
        must = f"made of {', '.join(_RULES)}, one at least, and examples and heads"
        raise InputError(source, must, f"of {', '.join(map(repr, unknown or keys)) or 'nothing'}")
    return {
        "examples": _indices("examples", keys, 0, attention.data.T),
        "heads": _indices("heads", keys, 1, len(attention.layer.heads)),
        **{key: _RULES[key].checked(f"property {key}", keys[key]) for key in _RULES if key in keys},
    }


def _indices(key: str, keys: Property, first: int, count: int) -> list[int]:
    """Of so many examples or heads, which the file numbers from `first`."""
    numbers = keys.get(key, "all")
    if numbers == "all":
        return list(range(count))
    some = isinstance(numbers, list) and numbers != []
    if not some or not all(type(k) is int and first <= k < first + count for k in numbers):
        must = f'"all", or a list of numbers from {first} to {first + count - 1}'
        raise InputError(f"property {key}", must, numbers)
    return [k - first for k in dict.fromkeys(numbers)]


def judge(stated: Property, attention: Attention) -> tuple[Claim, ...]:
    """One claim for each condition, and last that all of them hold."""
    on = attention.on(stated["examples"])
    judges = {"error": _error, "saturation": _saturation, "rank": _rank}
    claims = [claim(on, stated) for key, claim in judges.items() if key in stated]
    names = ", ".join(key for key in judges if key in stated)
    statement = f"The layer has the property of the file ({names})."
    return (*claims, Claim.together(ids.PROPERTY, statement, claims))


def _error(on: Attention, stated: Property) -> Claim:
    """The examples are named as the whole data set has them."""
    claim, examples = errors(on, at_most(Fraction(stated["error"])))[1], stated["examples"]
    numbers, witness = dict(claim.numbers), dict(claim.witness or {})
    for key in ("beyond", "open"):
        numbers[key] = [examples[t] for t in numbers[key]]
    if "example" in witness:
        witness["example"] = examples[witness["example"]]
    if not claim.level.holds:
        witness["reason"] = failing(numbers)
    return replace(claim, id=ids.PROPERTY_ERROR, numbers=numbers, witness=witness or None)


def _saturation(on: Attention, stated: Property) -> Claim:
    level, bits = Level.ENCLOSED, stated["saturation"]
    witness: dict[str, Any] | None = None
    with ctx.workprec(BITS):
        limit, weights = arb(2) ** -bits, on.block.weights(on.states)
        for h, (t, example) in product(stated["heads"], enumerate(stated["examples"])):
            row, off, _ = peak(weights[h][t])
            place = {"head": h + 1, "example": example, "row": row}
            if all(sum(weights[h][t], arb(0)) - weight > limit for weight in weights[h][t]):
                level, witness = Level.REFUTED, place
                break
            if not off <= limit:
                level, witness = Level.UNDECIDED, place | {"reason": "at the limit itself"}
    heads = counted(len(stated["heads"]), "head", "these")
    examples = counted(len(stated["examples"]), "example", "these")
    return Claim(
        ids.PROPERTY_SATURATION,
        f"In {heads} and on {examples} at most $2^{{-{bits}}}$ of the attention is outside one "
        "row.",
        level,
        witness=witness,
        arithmetic=f"ball arithmetic (Arb), {BITS} bits",
        source=SOURCE,
    )


def _rank(on: Attention, stated: Property) -> Claim:
    of_heads = on.of_heads(stated["heads"])
    with ctx.workprec(BITS):
        features = beside(of_heads.block.features(of_heads.states), BALLS)
        claim = rank_claim(of_heads, smallest_singular_value(features, BITS))
    statement = f"The features $Z$ of these heads have rank $T={on.data.T}$."
    return replace(claim, id=ids.PROPERTY_RANK, statement=statement)

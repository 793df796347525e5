"""The relations that make up the statements of a proof, and how each is decided.

A statement yields tuples. `(a, op, b, *where)` compares two values by ==, !=, <, <=, >= or >; `(a,
"mod", p, *where)` says that a residue is not 0. The rest of a tuple says for which example, head or
token. The author of a statement does not state its level, which follows from the numbers:

    rational numbers                     decided exactly: proved, or refuted
    a residue that is not 0 modulo p     proved: the number is not 0; a residue of 0 shows nothing
    `AtLeast(x)`, a lower bound          decided exactly if the bound suffices, else undecided
    balls (Arb)                          enclosed if certainly true, refuted if certainly false,
                                         else undecided
    floating point                       numerical if true, else undecided
    no relation at all                   vacuous, which supports nothing

Values may be single numbers, or matrices, arrays or nested lists of equal shape, which are compared
entry by entry. A single number is compared with each entry of the other value.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Rational
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat, fmpz, fmpz_mat

from attncert.constructions.network.arithmetic import Inexact
from attncert.constructions.numerals import short
from attncert.verify.claims.evidence import OVER_Q, Level

COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">=": operator.ge,
    ">": operator.gt,
}
MODULO = "mod"
MOST = 10**7  # maximum number of relations in one statement
_SHOWN = 12  # maximum number of failures listed in a witness
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", "<=": ">", ">": "<="}
_MATRICES = (fmpq_mat, fmpz_mat, arb_mat, np.ndarray)


class NoRelation(TypeError):
    """A statement yielded something that is not a relation; the message says what, as a clause."""


@dataclass(frozen=True)
class AtLeast:
    """A number with a known lower bound, such as a rank over ℚ, bounded by a rank modulo p.

    Source: ours; a rank modulo a prime never exceeds the rank over ℚ.

    >>> decide([(AtLeast(3), ">=", 3)]).level, decide([(AtLeast(2), ">=", 3)]).level
    (<Level.PROVED: 'proved'>, <Level.UNDECIDED: 'undecided'>)
    """

    bound: int


@dataclass(frozen=True)
class Decision:
    """The outcome of the relations of one statement.

    arithmetic: describes what decided the relations. witness: where the statement fails, and the
    numbers that show it. numbers: figures that the statement yielded in dictionaries.
    """

    level: Level
    witness: Mapping[str, Any] | None = None
    numbers: Mapping[str, Any] = field(default_factory=dict)
    arithmetic: str = ""


def decide(relations: Iterable[Any], where: Sequence[str] = ()) -> Decision:
    """Decide a statement: its level is the weakest level of its relations, and the first failures
    are the witness.

    where: names for the values that follow a relation, used in the witness. Arithmetic: exact for
    rational values, otherwise balls or floats. Raises NoRelation for an item that is not a
    relation. An error raised by the iterable propagates, except `Inexact`, which leaves the
    statement undecided.

    >>> decide([(1, "<", 2, 0), (3, "==", 4, 1)], ["example"]).witness
    {'examples': [1], 'relation': '3 == 4 at example 1'}
    >>> decide([]).level
    <Level.VACUOUS: 'vacuous'>
    """
    numbers, kinds = dict[str, Any](), set[str]()
    refuted, undecided = list[_Failure](), list[_Failure]()
    reason = ""
    try:
        for number, item in enumerate(relations, 1):
            if number > MOST:
                raise NoRelation(f"more than {MOST:,} relations, perhaps infinitely many")
            if isinstance(item, Mapping):
                numbers |= item
                continue
            left, op, right, place = _parts(item)
            if where and len(place) > len(where):
                names = ", ".join(where)
                raise NoRelation(f"a place of {len(place)} values, but `where` names {names} only")
            verdict, kind, failure = _judged(left, op, right, place)
            if kind is None:
                continue
            kinds.add(kind)
            if failure is not None:
                (refuted if verdict is False else undecided).append(failure)
            if len(refuted) >= _SHOWN:
                break
    except Inexact as inexact:
        reason = str(inexact)
    arithmetic = _arithmetic(kinds)
    if refuted:
        witness = _witness(refuted, where)
        return Decision(Level.REFUTED, witness, numbers, arithmetic)
    if reason or undecided:
        witness = _witness(undecided[:_SHOWN], where) | ({"reason": reason} if reason else {})
        return Decision(Level.UNDECIDED, witness, numbers, arithmetic)
    return Decision(_level(kinds), None, numbers, arithmetic)


@dataclass(frozen=True)
class _Failure:
    """A false or open relation as text, and where it occurs."""

    text: str
    where: tuple[Any, ...]


def _parts(item: Any) -> tuple[Any, str, Any, tuple[Any, ...]]:
    if not isinstance(item, tuple) or len(item) < 3:
        raise NoRelation(f"an item of type {type(item).__name__}, not a relation (a, op, b)")
    left, op, right, *where = item
    if op != MODULO and op not in COMPARISONS:
        known = ", ".join((*COMPARISONS, MODULO))
        raise NoRelation(f"a relation with {op!r}, not one of {known}")
    return left, op, right, tuple(where)


def _judged(
    left: Any, op: str, right: Any, where: tuple[Any, ...]
) -> tuple[bool | None, str | None, _Failure | None]:
    """Whether the relation is true (None if open), the kind of its numbers (None if there are
    none), and the first entry that fails."""
    if _at_once(left, op, right):
        return True, "rational", None
    verdict: bool | None = True
    kinds, first = set[str](), None
    for place, a, b in _entries(left, right):
        one, kind = _compared(a, op, b)
        kinds.add(kind)
        if one is True:
            continue
        verdict = one
        if one is False or first is None:
            first = _Failure(_text(a, op, b), _place(where, place))
        if one is False:
            break
    return verdict, min(kinds, key=_KINDS.index, default=None), first


def _place(where: tuple[Any, ...], place: tuple[int, ...]) -> tuple[Any, ...]:
    """The place of an entry. If `where` is a single list, its items are the names of the rows."""
    if len(where) == 1 and isinstance(where[0], Sequence | np.ndarray) and place:
        return (where[0][place[0]], *place[1:])
    return (*where, *place)


def _at_once(left: Any, op: str, right: Any) -> bool:
    """Whether comparing rational matrices or lists, or integer arrays, as a whole shows that a
    relation is true."""
    if op == "==" and type(left) in (fmpq_mat, fmpz_mat) and type(right) is type(left):
        return bool(left == right) and left.nrows() * left.ncols() > 0
    if op == "==" and type(left) is list and type(right) is list:
        rational = {*map(type, left), *map(type, right)} <= {int, fmpz, fmpq}
        return bool(left) and rational and left == right
    if op not in COMPARISONS or type(left) is not np.ndarray or left.dtype.kind not in "ib":
        return False  # a masked array would hide entries from a comparison
    other = np.asarray(right)
    fits = left.size and other.dtype.kind in "ib" and other.shape in ((), left.shape)
    return bool(fits) and bool(COMPARISONS[op](left, other).all())


def _entries(left: Any, right: Any) -> Iterator[tuple[tuple[int, ...], Any, Any]]:
    """Pairs of numbers with their positions. Raises NoRelation if the shapes do not agree."""
    a, b = _nested(left), _nested(right)
    if isinstance(a, list) and not isinstance(b, list):
        b = _filled(a, b)
    elif isinstance(b, list) and not isinstance(a, list):
        a = _filled(b, a)
    yield from _zipped(a, b, ())


def _filled(nested: Any, number: Any) -> Any:
    """A nested list of the same shape, with this number as every entry."""
    return [_filled(x, number) for x in nested] if isinstance(nested, list) else number


def _zipped(a: Any, b: Any, place: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Any, Any]]:
    if not (isinstance(a, list) and isinstance(b, list)):
        if isinstance(a, list) or isinstance(b, list):
            raise NoRelation("a relation between a number and a list of numbers")
        yield place, a, b
        return
    if len(a) != len(b):
        raise NoRelation(f"a relation between lists of {len(a)} and {len(b)} entries")
    for k, (x, y) in enumerate(zip(a, b, strict=True)):
        yield from _zipped(x, y, (*place, k))


def _nested(value: Any) -> Any:
    if isinstance(value, _MATRICES):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_nested(x) for x in value]
    return value


# One comparison.

_KINDS = ("float", "ball", "residue", "bound", "rational")  # the weakest first


def _compared(a: Any, op: str, b: Any) -> tuple[bool | None, str]:
    """Whether the comparison is true (None if open), and the kind of its numbers."""
    if op == MODULO:
        return _nonzero(a, b), "residue"
    if isinstance(a, AtLeast):
        enough = op in (">=", ">") and COMPARISONS[op](_rational(a.bound), _rational(b))
        return (True if enough else None), "bound"
    kinds = {_kind(a), _kind(b)}
    if "float" in kinds:
        return (True if _of_floats(_float(a), op, _float(b)) else None), "float"
    if "ball" in kinds:
        return _of_balls(_ball(a), op, _ball(b)), "ball"
    return bool(COMPARISONS[op](_rational(a), _rational(b))), "rational"


def _of_floats(a: float, op: str, b: float) -> bool:
    """Whether the comparison is true. Every comparison with NaN is false, even !=."""
    return not (math.isnan(a) or math.isnan(b)) and bool(COMPARISONS[op](a, b))


def _of_balls(a: arb, op: str, b: arb) -> bool | None:
    if not (a.is_finite() and b.is_finite()):
        return None
    if op in ("==", "!="):
        equal = True if (a - b).is_zero() else (None if a.overlaps(b) else False)
        return equal if op == "==" or equal is None else not equal
    if COMPARISONS[op](a, b):
        return True
    return False if COMPARISONS[_OPPOSITE[op]](a, b) else None


def _nonzero(residue: Any, p: Any) -> bool | None:
    """True if a rational number is not 0 modulo the prime p; None if nothing is known."""
    number, prime = _rational(residue), p
    if not isinstance(p, Integral | fmpz) or (prime := int(p)) < 2:
        raise NoRelation(f"a relation modulo {p!r}, which is not a prime")
    if number.q % prime == 0:
        return None
    return True if number.p % prime else None


def _kind(x: Any) -> str:
    if isinstance(x, arb):
        return "ball"
    if isinstance(x, bool | np.bool_ | fmpq | fmpz | Rational):
        return "rational"
    if isinstance(x, float | np.floating) or type(x).__name__ in ("mpf", "Float"):
        return "float"
    raise NoRelation(f"a relation with a value of type {type(x).__name__}, which is not a number")


def _rational(x: Any) -> fmpq:
    if isinstance(x, fmpq | fmpz):
        return fmpq(x)
    if _kind(x) != "rational":
        raise NoRelation(f"a value of type {type(x).__name__}, which is not a rational number")
    if isinstance(x, bool | np.bool_):
        return fmpq(int(x))
    return fmpq(int(x.numerator), int(x.denominator))


def _float(x: Any) -> float:
    """The nearest float (for a ball, to its midpoint); infinite beyond the range of floats."""
    if isinstance(x, arb):
        return float(x.mid())
    return float(x if _kind(x) == "float" else arb(_rational(x)))


def _ball(x: Any) -> arb:
    return arb(x) if isinstance(x, arb) else arb(_rational(x))


# Text.


def _text(a: Any, op: str, b: Any) -> str:
    if op == MODULO:
        return f"{_number(a)} is not 0 modulo {b}"
    return f"{_number(a)} {op} {_number(b)}"


def _number(x: Any) -> str:
    if isinstance(x, AtLeast):
        return f"at least {x.bound}"
    if isinstance(x, arb):
        with ctx.workprec(64):
            return str(x.str(6))
    return repr(float(x)) if _kind(x) == "float" else short(_rational(x))


def _witness(failures: Sequence[_Failure], where: Sequence[str]) -> dict[str, Any]:
    """The first failure as text, and where each failure occurs. Any unnamed place is an entry."""
    if not failures:
        return {}
    first = failures[0]
    places = [failure.where for failure in failures if failure.where]
    if not places:
        return {"relation": first.text}
    names = [*where, *["entry"] * len(first.where)]
    words = ", ".join(f"{names[k]} {_jsonable(x)}" for k, x in enumerate(first.where))
    distinct = list(dict.fromkeys(_jsonable(place[0]) for place in places))
    plural = "entries" if names[0] == "entry" else f"{names[0]}s"
    return {plural: distinct, "relation": f"{first.text} at {words}"}


def _jsonable(x: Any) -> int | str:
    return int(x) if isinstance(x, int | np.integer | fmpz) else str(x)


def _level(kinds: set[str]) -> Level:
    if not kinds:
        return Level.VACUOUS
    if "float" in kinds:
        return Level.NUMERICAL
    return Level.ENCLOSED if "ball" in kinds else Level.PROVED


def _arithmetic(kinds: set[str]) -> str:
    words = {
        "rational": OVER_Q,
        "bound": "an exact lower bound, such as a rank modulo a prime",
        "residue": "residues that are not 0",
        "ball": f"ball arithmetic (Arb), {ctx.prec} bits",
        "float": "floating point",
    }
    return "; ".join(words[kind] for kind in reversed(_KINDS) if kind in kinds)

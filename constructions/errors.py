"""Errors: unusable input, false hypotheses, and an expired time limit."""

from __future__ import annotations

import copyreg
import os
from collections.abc import Collection, Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import Any, TypeGuard

from attncert.constructions.foreign import printable

_MOST = 120  # the longest argument and the longest value, in characters


class InputError(ValueError):
    """Unusable input: one printable line that names the argument, its required form and its value.

    An empty argument or value is shown as ''. sentence: replaces everything after the argument.
    Source: ours, docs/commands.md (exit status 2).

    >>> raise InputError("heads", "a positive integer", "0")
    Traceback (most recent call last):
    attncert.InputError: heads: must be a positive integer, not 0
    """

    def __init__(self, argument: str, must: str, got: object, sentence: str | None = None) -> None:
        self.argument, self.must, self.got = argument, must, got
        named, value = (printable(x, _MOST) or "''" for x in (argument, _text(got)))
        super().__init__(f"{named}: {sentence or f'must be {printable(must)}, not {value}'}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _as_it_is(self)


class Broken(InputError):
    """Third-party code raised an error, or returned an unusable value.

    >>> raise Broken("build of mine", "TypeError: a str")
    Traceback (most recent call last):
    attncert.constructions.errors.Broken: build of mine: failed: TypeError: a str
    """

    def __init__(self, argument: str, error: str) -> None:
        sentence = f"failed: {printable(error, _MOST)}"
        super().__init__(argument, "code that does not fail", error, sentence)


InputError.__module__ = "attncert"  # the module that users import it from


class HypothesisFails(Exception):
    """A hypothesis of the construction is false for this data set; `witness` shows it.

    `hypothesis` is its name in the trace, where the claim is "hypothesis.<name>", such as "A2" or
    "capacity" (verify/claims/ids.py lists ours); or, if a builder gave up, "search" or "float64".
    `reason`: one sentence; `witness`: plain data for JSON that anyone can check. Source:
    docs/constructions.md.

    >>> raise HypothesisFails("even", "n is odd", {"n": 3})
    Traceback (most recent call last):
    attncert.constructions.errors.HypothesisFails: n is odd
    """

    def __init__(
        self, hypothesis: str, reason: str, witness: dict[str, Any], *, decided: bool = True
    ) -> None:
        self.hypothesis, self.reason, self.witness = hypothesis, reason, witness
        self.decided = decided  # False: a search gave up, and nothing is refuted
        super().__init__(reason)

    def __reduce__(self) -> tuple[Any, ...]:
        return _as_it_is(self)


def _as_it_is(error: Exception) -> tuple[Any, ...]:
    """Support pickle, which transfers exceptions between processes."""
    return copyreg.__newobj__, (type(error), *error.args), vars(error)  # type: ignore[attr-defined]


def _text(x: object) -> str:
    if isinstance(x, int) and x.bit_length() > 3 * _MOST:
        return f"an integer of {x.bit_length()} bits"
    try:
        text = str(x)
        if len(text) > 60 and isinstance(x, Sized) and not isinstance(x, str):
            return f"a {type(x).__name__} of {len(x)}"
        return text
    except ValueError:  # it contains integers that Python does not print
        return f"a {type(x).__name__} of too many digits"


def extra(name: str) -> str:
    """How to install an extra of pyproject.toml, since attncert is not on any package index.

    >>> extra("torch")
    "the extra `torch` (in a checkout of attncert: pip install '.[torch]')"
    """
    return f"the extra `{name}` (in a checkout of attncert: pip install '.[{name}]')"


def no_such_file(argument: str, must: str) -> InputError:
    """
    >>> print(no_such_file("my.json", "a JSON file"))
    my.json: there is no such file; it must be a JSON file
    """
    return InputError(argument, must, "missing", f"there is no such file; it must be {must}")


def odd_key(keys: Iterable[object], wanted: Collection[str]) -> str:
    """The first unknown, duplicate or missing key, in words; each wanted key must occur once.

    >>> odd_key(["a", "x"], ["a", "b"]), odd_key(["a"], ["a", "b"]), odd_key(["a", "a"], ["a"])
    ("with 'x'", "without 'b'", "with 'a' twice")
    """
    there = [str(key)[:40] for key in keys]
    further = sorted(set(there) - set(wanted))
    if further:
        return f"with {further[0]!r}"
    twice = [key for key in there if there.count(key) > 1]
    if twice:
        return f"with {twice[0]!r} twice"
    return f"without {next(key for key in wanted if key not in there)!r}"


def whole(x: object) -> TypeGuard[int]:
    """Whether x is an integer and not a bool."""
    return isinstance(x, int) and not isinstance(x, bool)


def require_seed(seed: object, argument: str = "--seed") -> None:
    """Raise InputError unless this is a valid random seed.

    >>> require_seed(-1)  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    attncert.InputError: --seed: must be a whole number from 0 to 2^63 - 1, not -1
    """
    if not whole(seed) or not 0 <= seed < 2**63:
        raise InputError(argument, "a whole number from 0 to 2^63 - 1", seed)


def require_positive(**values: int) -> None:
    """Raise InputError for the first of these that is below 1.

    >>> require_positive(heads=2, width=0)
    Traceback (most recent call last):
    attncert.InputError: width: must be a positive integer, not 0
    """
    for argument, count in values.items():
        if count < 1:
            raise InputError(argument, "a positive integer", count)


@contextmanager
def path_errors(argument: str, must: str, path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors about a path inside the block into InputError with the last part of the path."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(argument, must, f"{ending(path, 80)} ({reason})") from None
    except ValueError as error:
        if isinstance(error, UnicodeEncodeError):
            raise InputError(argument, "a path", "one with a lone surrogate") from None
        if isinstance(error, InputError) or "null" not in str(error):
            raise
        raise InputError(argument, "a path", "one with a null character") from None


def ending(path: str | os.PathLike[str], most: int) -> str:
    """The path, or "…" and its last characters, with at most `most` characters in all."""
    text = str(path)
    return text if len(text) <= most else f"…{text[1 - most :]}"

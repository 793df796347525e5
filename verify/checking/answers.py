"""The decorator for all functions that answer a question. It checks arguments and certificates."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from attncert.constructions.errors import InputError
from attncert.verify.claims.answer import Answer
from attncert.verify.questions.question import Question, options

_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer", bound=Answer)


def answers(
    record: type[Question], **kinds: type | tuple[type, ...]
) -> Callable[[Callable[_Arguments, _Answer]], Callable[_Arguments, _Answer]]:
    """A decorator for the function that answers questions of this type. Unusable arguments raise a
    one-line InputError, and a checker judges the certificates of the answer (`judged.py`).
    kinds: the types of the arguments, by name.

    >>> from attncert import load, prove
    >>> prove(load("digits"), heads=3)
    Traceback (most recent call last):
    attncert.InputError: heads: must be an option of the question, Prove(heads=3), not an argument \
of prove
    """

    def decorated(function: Callable[_Arguments, _Answer]) -> Callable[_Arguments, _Answer]:
        parameters = inspect.signature(function).parameters
        types = {"question": record, **kinds}

        @wraps(function)
        def called(*args: _Arguments.args, **named: _Arguments.kwargs) -> _Answer:
            for name in named.keys() & options(record).keys() - parameters.keys():
                must = f"an option of the question, {record.__name__}({name}={named[name]!r})"
                raise InputError(name, must, f"an argument of {function.__name__}")
            for name, argument in {**dict(zip(parameters, args, strict=False)), **named}.items():
                if name in types and argument is not parameters[name].default:
                    _require_type(name, argument, types[name])
            answer = function(*args, **named)
            from attncert.verify.checking.judged import judged  # imports the checkers

            return judged(answer)

        return called

    return decorated


def _require_type(name: str, argument: Any, types: type | tuple[type, ...]) -> None:
    if not isinstance(argument, types):
        every = types if isinstance(types, tuple) else (types,)
        must = f"of type {' or '.join(one.__name__ for one in every)}"
        raise InputError(name, must, repr(argument) if isinstance(argument, str) else argument)

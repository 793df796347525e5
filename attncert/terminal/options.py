"""The options of a command, from the question that it asks: nothing about them is said twice."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import typer

from attncert.constructions.errors import InputError
from attncert.verify.questions.question import Option, Question, arguments, flag, options

__all__ = ["Sources", "answered", "command_of"]

Sources: TypeAlias = dict[str, str | None]  # DATA, and what else a question is asked of

_OUTPUT = "output"
_FOLDER = "folder for the report; default: attncert-report/NAME"
_JSON = "the answer as JSON on stdout"


def command_of(
    question: type[Question], run: Callable[[Sources, Question, str | None, bool], int]
) -> Callable[..., int]:
    """A function whose signature is that of the command, as Typer reads it.

    run: called with the arguments by name, the question, --out and --json; returns the exit status.
    """

    def command(out: str | None, as_json: bool, **given: Any) -> int:
        sources = {name: given.pop(name) for name in arguments(question)}
        with answered(question):
            return run(sources, question(**given), out, as_json)

    command.__name__ = question.command
    command.__doc__ = question.__doc__ and question.__doc__.partition("\n\n")[0]
    parameters = list(_parameters(question))
    command.__signature__ = inspect.Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": int}
    return command


def _parameters(question: type[Question]) -> Iterator[inspect.Parameter]:
    for name in arguments(question):
        about = typer.Argument(help=getattr(question, name))
        if question.optional:
            yield _parameter(name, Annotated[str | None, about], None)
        else:
            yield _parameter(name, Annotated[str, about])
    types_of = get_type_hints(question)
    for name, meaning in options(question).items():
        yield _parameter(name, _annotated(name, meaning, types_of[name]), meaning.default)
    out = typer.Option("--out", help=_FOLDER, rich_help_panel=_OUTPUT)
    yield _parameter("out", Annotated[str | None, out], None)
    as_json = typer.Option("--json", help=_JSON, rich_help_panel=_OUTPUT)
    yield _parameter("as_json", Annotated[bool, as_json], False)


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> Any:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=annotation, default=default)


def _annotated(name: str, meaning: Option, kind: Any) -> Any:
    """The type that Typer parses: text where the question reads it, else that of the field."""
    if meaning.rule.text:
        kind = str | None
    elif get_origin(kind) is Literal:
        kind = str
    elif get_origin(kind) in (Union, types.UnionType):
        (kind,) = (x for x in get_args(kind) if x is not type(None))
        kind = kind | None
    choices = list(meaning.rule.choices)
    given = typer.Option(
        flag(name),
        help=meaning.help,
        autocompletion=(lambda: choices) if choices else None,
        rich_help_panel=meaning.group or None,
    )
    return Annotated[kind, given]


class answered:
    """A block in which an error that names a field of the question names its option."""

    def __init__(self, question: type[Question]) -> None:
        self._names = options(question)

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, InputError) and error.argument in self._names:
            raise InputError(flag(error.argument), error.must, error.got) from None

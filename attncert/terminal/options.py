"""The options of a command, derived from their record."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TypeAlias, TypeVar

import typer

from attncert.constructions.errors import InputError
from attncert.verify.questions.question import Option, Question, arguments, flag, options

Sources: TypeAlias = dict[str, str]  # the arguments by name: WEIGHTS, DATA

_Record = TypeVar("_Record", bound=Question)
_OUT = "folder for the report; default: attncert-report/NAME"
_JSON = "the answer as JSON on stdout"


def command_of(
    record: type[_Record], run: Callable[[Sources, _Record, str | None, bool], int]
) -> Callable[..., int]:
    """A function with the signature of the command, for Typer. `run` takes the arguments by name,
    the options, --out and --json, and returns the exit status."""

    def command(out: str | None, as_json: bool, **settings: Any) -> int:
        sources = {name: settings.pop(name) for name in arguments(record)}
        with naming_options(record):
            return run(sources, record(**settings), out, as_json)

    command.__name__ = record.command
    command.__doc__ = record.__doc__ and record.__doc__.partition("\n\n")[0]
    command.epilog = f"Example: {record.example}"  # type: ignore[attr-defined]
    parameters = list(_parameters(record))
    command.__signature__ = inspect.Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": int}
    return command


def _parameters(record: type[Question]) -> Iterator[inspect.Parameter]:
    for name in arguments(record):
        about = typer.Argument(metavar=name.upper(), help=getattr(record, name))
        yield _parameter(name, Annotated[str, about])
    for name, meaning in options(record).items():
        yield _parameter(name, _annotated(name, meaning), meaning.default)
    out = typer.Option("--out", help=_OUT)
    yield _parameter("out", Annotated[str | None, out], None)
    as_json = typer.Option("--json", help=_JSON)
    yield _parameter("as_json", Annotated[bool, as_json], False)


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> Any:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=annotation, default=default)


def _annotated(name: str, meaning: Option) -> Any:
    """The type that Typer parses, with the help that it shows."""
    kind: Any = meaning.rule.kind
    choices = list(meaning.rule.choices)
    about = typer.Option(
        flag(name),
        help=meaning.help,
        autocompletion=(lambda: choices) if choices else None,
    )
    return Annotated[kind | None if meaning.default is None else kind, about]


@contextmanager
def naming_options(record: type[Question]) -> Iterator[None]:
    """A context in which an error about a field of the record names the field's option."""
    try:
        yield
    except InputError as error:
        if error.argument not in options(record):
            raise
        raise InputError(flag(error.argument), error.must, error.got) from None

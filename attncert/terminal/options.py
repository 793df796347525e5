"""The options of a command, from their record: nothing about them is said twice."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator
from typing import (
    Annotated,
    Any,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import typer

from attncert.constructions.errors import InputError
from attncert.verify.questions.question import Option, Options, arguments, flag, options

__all__ = ["Sources", "answered", "command_of"]

Sources: TypeAlias = dict[str, str | None]  # DATA, and what else a question is asked of

_Record = TypeVar("_Record", bound=Options)
_OUTPUT = "output"
_JSON = "the answer as JSON on stdout"


def command_of(
    record: type[_Record], run: Callable[[Sources, _Record, str | None, bool], int]
) -> Callable[..., int]:
    """A function whose signature is that of the command, as Typer reads it.

    run: called with the arguments by name, the options, --out and --json; returns the exit status.
    """

    def command(out: str | None, as_json: bool, **given: Any) -> int:
        sources = {name: given.pop(name) for name in arguments(record)}
        with answered(record):
            return run(sources, record(**given), out, as_json)

    command.__name__ = record.command
    command.__doc__ = record.__doc__ and record.__doc__.partition("\n\n")[0]
    command.epilog = f"Example: {record.example}"  # type: ignore[attr-defined]
    parameters = list(_parameters(record))
    command.__signature__ = inspect.Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": int}
    return command


def _parameters(record: type[Options]) -> Iterator[inspect.Parameter]:
    for name in arguments(record):
        about = typer.Argument(help=getattr(record, name))
        if record.optional:
            yield _parameter(name, Annotated[str | None, about], None)
        else:
            yield _parameter(name, Annotated[str, about])
    types_of = get_type_hints(record)
    for name, meaning in options(record).items():
        yield _parameter(name, _annotated(name, meaning, types_of[name]), meaning.default)
    out = typer.Option("--out", help=record.folder, rich_help_panel=_OUTPUT)
    default = inspect.Parameter.empty if record.needs_folder else None
    yield _parameter("out", Annotated[str | None, out], default)
    as_json = typer.Option("--json", help=_JSON, rich_help_panel=_OUTPUT)
    yield _parameter("as_json", Annotated[bool, as_json], False)


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> Any:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=annotation, default=default)


def _annotated(name: str, meaning: Option, kind: Any) -> Any:
    """The type that Typer parses: text where the record reads it, else that of the field."""
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
    """A block in which an error that names a field of the record names its option."""

    def __init__(self, record: type[Options]) -> None:
        self._names = options(record)

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, InputError) and error.argument in self._names:
            raise InputError(flag(error.argument), error.must, error.got) from None

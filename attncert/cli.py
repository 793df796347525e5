"""The command line as a whole: its commands, and what an error looks like."""

from __future__ import annotations

import os
import sys

import typer

from attncert.commands.attack import attack
from attncert.commands.audit import audit
from attncert.commands.capacity import capacity
from attncert.commands.check import check
from attncert.commands.explain import explain
from attncert.commands.kruskal import kruskal
from attncert.commands.merge import merge
from attncert.commands.output import Interrupted
from attncert.commands.prove import prove
from attncert.commands.tightness import tightness
from attncert.constructions.errors import InputError

_INTERRUPTED = 130
_READER_GONE = 141  # as a shell has it for SIGPIPE: neither 0 nor 1, which would be an answer
_STDOUT = 1

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Exact attention weights from memorization proofs, every step verified.",
)
for _command in (prove, check, explain, audit, kruskal, merge, tightness, capacity, attack):
    app.command(_command.__name__)(_command)


@app.callback()
def _commands() -> None:
    """Exact attention weights from memorization proofs, every step verified."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status instead of raising."""
    words = sys.argv[1:] if arguments is None else arguments
    if sys.stdout is None:  # closed by the caller (>&-): no file may be opened in its place
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    command = typer.main.get_command(app)
    try:
        result = command.main(words, prog_name="attncert", standalone_mode=False)
        if result == _INTERRUPTED:  # Typer turns Ctrl-C into this status, without a word
            raise KeyboardInterrupt
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except InputError as error:
        message = str(error)
    except typer.TyperException as error:
        message = _usage(error)
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("interrupted: nothing was written", err=True)
        return _INTERRUPTED
    except Interrupted as error:
        typer.echo(f"interrupted: {error}", err=True)
        return _INTERRUPTED
    except (BrokenPipeError, SystemExit):  # Typer leaves with SystemExit where the reader is gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), _STDOUT)
        return _READER_GONE
    except OSError as error:  # nowhere to write the answer to
        os.dup2(os.open(os.devnull, os.O_WRONLY), _STDOUT)
        message = f"standard output: {error.strerror}"
    typer.echo(f"attncert: {' '.join(message.split())}", err=True)
    return 2


def _usage(error: typer.TyperException) -> str:
    """A usage error in the same words as any other: the argument, what it must be, what it is."""
    return f"{error.format_message()} (see attncert --help)"

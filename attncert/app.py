"""All commands, and the exit status of a run without an answer."""

from __future__ import annotations

import io
import logging
import os
import sys
from functools import cache
from typing import Annotated

import typer

from attncert.commands.certificates.check import check
from attncert.commands.certificates.explain import explain
from attncert.commands.certificates.kernel import kernel
from attncert.commands.questions import COMMANDS
from attncert.constructions.errors import InputError
from attncert.constructions.foreign import printable
from attncert.statuses import BROKEN_PIPE, INTERRUPTED, UNUSABLE
from attncert.terminal.output import say
from attncert.terminal.progress import quiet

_STDOUT = 1
_parsed = cache(typer.main.get_command)  # building it takes longer than a short command
_MOST = 500  # the longest error message, in characters

app = typer.Typer(
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Exact attention weights from memorization proofs, every step verified.",
)
for _command in (*COMMANDS, check, explain):
    epilog = getattr(_command, "epilog", None)
    app.command(_command.__name__, epilog=epilog)(_command)  # type: ignore[type-var]
app.add_typer(kernel, name="kernel")


def _version(show: bool) -> None:
    if show:
        from importlib import metadata  # slow to load

        say(f"attncert {metadata.version('attncert')}")
        raise typer.Exit


@app.callback()
def _commands(
    context: typer.Context,
    debug: Annotated[
        bool, typer.Option("--debug", help="show the traceback of an internal error")
    ] = False,
    silent: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="print only errors and the JSON of --json"),
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="print the version and exit"
        ),
    ] = False,
) -> None:
    """Exact attention weights from memorization proofs, every step verified."""
    context.obj |= {"debug": debug, "begun": True}
    quiet.set(silent)


def run(words: list[str], options: dict[str, bool]) -> int:
    """Run the command line with these arguments; returns its exit status. `options` receives the
    global options. Raises KeyboardInterrupt, and exceptions that no command expects."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the caller (>&-): its number must stay taken
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):  # an encoding may lack our characters
        sys.stdout.reconfigure(errors="backslashreplace")
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_Line())
    quiet.set(False)
    try:
        status = _parsed(app).main(
            words or ["--help"], prog_name="attncert", standalone_mode=False, obj=options
        )
        if status == INTERRUPTED:  # Typer turns Ctrl-C into this status
            raise KeyboardInterrupt
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except InputError as error:
        message = str(error)
    except typer.TyperException as error:
        message = _usage(error)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            if options["begun"]:  # third-party code exited, so there is no answer
                raise
            return 0  # shell completion
        # Typer raises SystemExit if the pipe's reader is gone.
        os.dup2(os.open(os.devnull, os.O_WRONLY), _STDOUT)
        return BROKEN_PIPE
    except OSError as error:  # on standard output, unless it names a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), _STDOUT)
        message = f"{error.filename or 'standard output'}: {error.strerror}"
        if error.strerror is None:  # a library that could not be loaded
            message = f"a library: {error}"
    say(f"attncert: {printable(message, _MOST)}", error=True)
    return UNUSABLE


class _Line(logging.Formatter):
    """A library's log record as one printable line, since it may quote untrusted files."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record), _MOST)


def _usage(error: typer.TyperException) -> str:
    """A usage error, with the help that explains the command."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "attncert"
    return f"{printable(error.format_message(), _MOST // 2)} (see {command} --help)"

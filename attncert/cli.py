"""The entry point of the command line: every way in which a run can end has an exit status.

The commands are in attncert/commands/. Only a command that finishes gives an answer (0, 1, 3).
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
from contextlib import suppress
from types import TracebackType
from typing import NoReturn

from attncert.constructions.endings import endings_interrupt
from attncert.statuses import INTERNAL_ERROR, INTERRUPTED

_MOST = 300  # the longest message of an unexpected exception, in characters
_ALLOCATIONS = 20_000  # between garbage collections; with 700, imports spend 0.3 s on them
_OF_LIBRARIES = "MPLBACKEND", "SOURCE_DATE_EPOCH"  # with wrong values libraries cannot be imported


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status, and raises nothing.

    0, 1, 3: the command's answer; 2: unusable input; 70: a defect of attncert, whose traceback
    `attncert --debug COMMAND ...` shows; 130: interrupted; 141: broken pipe.
    Source: docs/commands.md.

    >>> main(["--quiet", "explain", "digits"])
    0
    """
    words = sys.argv[1:] if arguments is None else arguments
    options = {"debug": False, "begun": False}
    try:
        with endings_interrupt():
            from attncert.app import run

            return run(words, options)
    except BaseException as error:  # a user's construction can raise anything
        interrupted = _is_interrupt(error)
        with suppress(Exception):  # stderr may be closed
            if interrupted:
                print("interrupted", file=sys.stderr)
            else:
                _report(error, options["debug"])
        return INTERRUPTED if interrupted else INTERNAL_ERROR


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether this is Ctrl-C, or was raised from it: Python 3.11 wraps one that arrives while a
    class is being created (`__set_name__`) in a RuntimeError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


def process() -> NoReturn:
    """Run `main` as a process, which a second Ctrl-C, or one while Python exits, ends at once."""
    sys.excepthook = _silent
    for setting in _OF_LIBRARIES:
        os.environ.pop(setting, None)
    threads = os.environ.get("NUMBA_NUM_THREADS", "1")
    if not threads.isdecimal() or int(threads) == 0:  # numba refuses 0 while it is imported
        del os.environ["NUMBA_NUM_THREADS"]
    gc.set_threshold(_ALLOCATIONS)
    status = main()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.freeze()  # no last garbage collection, which takes 0.2 s
    _drop_unwritten()
    sys.exit(status)


def _drop_unwritten() -> None:
    """Discard what stderr cannot take. Python would try again at exit, with status 120."""
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _silent(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Report an uncaught exception, except Ctrl-C: Python then ends by SIGINT."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


def _report(error: BaseException, debug: bool) -> None:
    """Print the traceback if `debug`, and one line."""
    from attncert.constructions.foreign import error_text, escaped, printable

    if debug:
        for line in "".join(traceback.format_exception(error)).splitlines():
            print(escaped(line), file=sys.stderr)
    what = printable(error_text(error), _MOST)
    advice = "" if debug else "; attncert --debug COMMAND ... shows where, for a bug report"
    print(f"attncert: internal error: {what} (no answer{advice})", file=sys.stderr)

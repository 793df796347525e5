"""The entry point of the command line: every way in which a run can end has an exit status.

The commands are in attncert/commands/. Only a command that finishes gives an answer (0, 1, 3).
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import traceback
from contextlib import suppress
from itertools import pairwise
from types import TracebackType
from typing import NoReturn

from attncert.constructions.endings import endings_interrupt
from attncert.statuses import INTERNAL_ERROR, INTERRUPTED, UNUSABLE
from attncert.verify.questions.constructions import OURS

_MOST = 300  # the longest message of an unexpected exception, in characters
_ALLOCATIONS = 20_000  # between garbage collections; at 700, imports spend 0.3 s collecting
_MOMENT = 0.1  # seconds: Python has left the hook by then


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status, and raises nothing.

    0, 1, 3: the command's answer; 2: unusable input; 70: a defect in attncert, whose traceback
    `attncert --debug COMMAND ...` shows; 130: interrupted; 141: broken pipe.
    Source: docs/commands.md.

    >>> main(["explain", "no-such-file"])
    2
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
    """Whether this is a KeyboardInterrupt, or was raised from one: if it arrives while a class is
    being created (`__set_name__`), Python 3.11 wraps it in a RuntimeError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


def process() -> NoReturn:
    """Run `main` as a process that ends at once on a second Ctrl-C, or on any Ctrl-C at exit."""
    sys.excepthook, sys.unraisablehook = _silent, _again
    threads = os.environ.get("NUMBA_NUM_THREADS", "1")
    if not threads.isdecimal() or int(threads) == 0:  # numba refuses 0 while it is imported
        del os.environ["NUMBA_NUM_THREADS"]
    gc.set_threshold(_ALLOCATIONS)
    status = main() if not _foreign(sys.argv) else _watched()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.freeze()  # no final garbage collection, which takes 0.2 s
    _drop_unwritten()
    sys.exit(status)


def _drop_unwritten() -> None:
    """Discard what stderr cannot take. Python would try again at exit, and end with status 120."""
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _foreign(words: list[str]) -> bool:
    """Whether a third-party construction is named: its code may end the process at any time. All
    options of that name are checked, since the last one counts."""
    after = [x for word, x in pairwise(words) if word == "--construction"]
    after += [x.partition("=")[2] for x in words if x.startswith("--construction=")]
    return hasattr(signal, "sigwaitinfo") and not {*after} <= {*OURS}


def _watched() -> int:
    """Run `main` in a child process, which reports its status through a pipe. A child that ends
    without this report (`os._exit`) has given no answer. Signals that the terminal did not send to
    the child as well are forwarded to it."""
    read_end, write_end = os.pipe()
    awaited = {signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    child = os.fork()
    if not child:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, awaited)
        status = main()
        os.write(write_end, bytes([status]))  # the exit status may differ, due to atexit
        return status
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        came = signal.sigwaitinfo(awaited)
        if came.si_signo != signal.SIGCHLD and came.si_pid:
            os.kill(child, came.si_signo)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, awaited)
    code = os.waitstatus_to_exitcode(ended[1])
    if code < 0:  # ended by a signal, which then ends this process, too
        with suppress(OSError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os.close(write_end)
    os.set_blocking(read_end, False)
    with suppress(BlockingIOError):  # another process holds the other end
        if reported := os.read(read_end, 1):
            return reported[0]
    line = "--construction: must be code that returns, not code that ends the process"
    print(f"attncert: {line}", file=sys.stderr)
    return UNUSABLE


def _silent(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Report an uncaught exception, except Ctrl-C: Python then ends by SIGINT."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


def _again(dropped: sys.UnraisableHookArgs) -> None:
    """Repeat an interrupt that Python drops because it was raised in a finalizer or the callback
    of a weak reference: the signal is sent again a moment later."""
    if issubclass(dropped.exc_type, KeyboardInterrupt) and hasattr(signal, "pthread_kill"):
        again = (threading.get_ident(), signal.SIGINT)
        threading.Timer(_MOMENT, signal.pthread_kill, again).start()
    else:
        sys.__unraisablehook__(dropped)


def _report(error: BaseException, debug: bool) -> None:
    """Print one line, after the traceback if `debug`."""
    from attncert.constructions.foreign import error_text, escaped, printable

    if debug:
        for line in "".join(traceback.format_exception(error)).splitlines():
            print(escaped(line), file=sys.stderr)
    what = printable(error_text(error), _MOST)
    advice = "" if debug else "; attncert --debug COMMAND ... shows where, for a bug report"
    print(f"attncert: internal error: {what} (no answer{advice})", file=sys.stderr)

"""The command line as a user's shell sees it: an exit status, whatever happens.

What a command says is in attncert/commands/; here the ways to end are mapped to exit statuses. Only
a command that finished gives an answer (0, 1, 3).
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
from attncert.verify.methods.names import OURS

_MOST = 300  # characters of an unexpected exception's message
_ALLOCATIONS = 20_000  # between searches for cycles: with 700, imports spend 0.3 s on them
_OF_LIBRARIES = "MPLBACKEND", "SOURCE_DATE_EPOCH"  # say nothing to us, and can end an import
_MOMENT = 0.1  # seconds: Python has left the hook by then


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status, and raises nothing.

    0, 1, 3: the command's answer; 2: unusable input; 70: a defect of ours, of which the traceback
    is shown by `attncert --debug COMMAND ...`; 130: interrupted; 141: broken pipe.
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
    except BaseException as error:  # a user's construction can raise what is no Exception
        interrupted = _is_interrupt(error)
        with suppress(Exception):  # nothing can be said if stderr is gone, too
            if interrupted:
                print("interrupted", file=sys.stderr)
            else:
                _report(error, options["debug"])
        return INTERRUPTED if interrupted else INTERNAL_ERROR


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether this is Ctrl-C, or was raised from it: Python 3.11 wraps what arrives while a class
    is being created (`__set_name__`) in a RuntimeError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


def process() -> NoReturn:
    """`main` as a process of its own. While Python leaves (workers are waited for), Ctrl-C ends it
    at once: there is nothing to say any more. So does a second one while `main` says so."""
    sys.excepthook, sys.unraisablehook = _silent, _again
    for setting in _OF_LIBRARIES:
        os.environ.pop(setting, None)
    threads = os.environ.get("NUMBA_NUM_THREADS", "1")
    if not threads.isdecimal() or int(threads) == 0:  # numba refuses 0 while it is imported
        del os.environ["NUMBA_NUM_THREADS"]
    gc.set_threshold(_ALLOCATIONS)
    status = main() if not _foreign(sys.argv) else _watched()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.freeze()  # nothing is left for Python's last search for cycles, which takes 0.2 s
    sys.exit(status)


def _foreign(words: list[str]) -> bool:
    """Whether a construction that is not ours is named: code that may end the process at any time.
    The last option of that name counts, so all are looked at."""
    after = [x for word, x in pairwise(words) if word == "--construction"]
    after += [x.partition("=")[2] for x in words if x.startswith("--construction=")]
    return hasattr(signal, "sigwaitinfo") and not {*after} <= {*OURS}


def _watched() -> int:
    """`main` in a child, which tells when it has come to its end. One that ends without a word
    (`os._exit`) has given no answer, whatever status it leaves. Signals that the child did not get
    from the terminal, too, are handed on to it."""
    read_end, write_end = os.pipe()
    awaited = {signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    child = os.fork()
    if not child:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, awaited)
        status = main()
        os.write(write_end, bytes([status]))  # what it leaves with may be another: atexit
        return status
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        came = signal.sigwaitinfo(awaited)
        if came.si_signo != signal.SIGCHLD and came.si_pid:
            os.kill(child, came.si_signo)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, awaited)
    code = os.waitstatus_to_exitcode(ended[1])
    if code < 0:  # by a signal: so does this process
        with suppress(OSError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os.close(write_end)
    os.set_blocking(read_end, False)
    with suppress(BlockingIOError):  # somebody else holds the other end
        if told := os.read(read_end, 1):
            return told[0]
    line = "--construction: must be code that returns, not code that ends the process"
    print(f"attncert: {line}", file=sys.stderr)
    return UNUSABLE


def _silent(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Python shows what nobody caught, and ends by SIGINT if it is Ctrl-C: that needs no words."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


def _again(dropped: sys.UnraisableHookArgs) -> None:
    """Python drops what is raised where nobody can catch it (in a finalizer, in the callback of a
    weak reference). Ctrl-C and what counts as such come again a moment later, as a signal to this
    thread, which may be asleep by then."""
    if issubclass(dropped.exc_type, KeyboardInterrupt) and hasattr(signal, "pthread_kill"):
        again = (threading.get_ident(), signal.SIGINT)
        threading.Timer(_MOMENT, signal.pthread_kill, again).start()
    else:
        sys.__unraisablehook__(dropped)


def _report(error: BaseException, debug: bool) -> None:
    """The traceback where it was asked for, and one line."""
    from attncert.constructions.foreign import error_text, escaped, printable

    if debug:
        for line in "".join(traceback.format_exception(error)).splitlines():
            print(escaped(line), file=sys.stderr)
    what = printable(error_text(error), _MOST)
    advice = "" if debug else "; attncert --debug COMMAND ... shows where, for a bug report"
    print(f"attncert: internal error: {what} (no answer{advice})", file=sys.stderr)

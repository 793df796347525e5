"""A limit on the time of one proof, by the clock: when it is over there is no answer.

A timer of the system interrupts whatever runs, as Ctrl-C does. A single call of a library (FLINT,
BLAS) is not interrupted: the proof ends when that returns.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from attncert.constructions.errors import InputError, OutOfTime

_UNCERTAIN = 2.0  # by what factor an estimate may be off
_SOON = 1e-3  # seconds, where a timer of the caller ran out meanwhile
_AGAIN = 1.0  # seconds after which what Python dropped, as in a finalizer, is raised again


@contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Raises OutOfTime in the block when so many seconds are over; None: no limit. Raises
    InputError where no timer can be set: outside the main thread, or on Windows."""
    if seconds is None:
        yield
        return
    main = threading.current_thread() is threading.main_thread()
    if not (main and hasattr(signal, "setitimer")):
        where = "here: there is no timer outside the main thread, nor on Windows"
        raise InputError("time_limit", "left out", where)

    def over(number: int, frame: FrameType | None) -> None:
        raise OutOfTime(f"the proof did not end within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, over)
    start = time.monotonic()
    callers, interval = signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if callers:  # a timer of the caller goes on
            remaining = max(callers - (time.monotonic() - start), _SOON)
            signal.setitimer(signal.ITIMER_REAL, remaining, interval)


def require_time(limit: float | None, seconds: float, what: str) -> None:
    """Raises OutOfTime now, where what is ahead is estimated at more than twice what is left.

    limit: that of the `limited` block around this, or None.
    """
    if limit is None:
        return
    remaining, _ = signal.getitimer(signal.ITIMER_REAL)
    if seconds > _UNCERTAIN * remaining:
        estimate = f"{what} takes about {seconds:.2g} s, and {remaining:.2g} s are left"
        raise OutOfTime(f"{estimate} (of {limit:g} s)")

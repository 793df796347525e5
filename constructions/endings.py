"""Signals that end a process. They wait while files are moved, and otherwise act like Ctrl-C.

By default, SIGTERM and SIGHUP end a process at once, and its temporary files and child processes
remain. So a command handles them like Ctrl-C, closes everything, and then ends by the same signal.
Only the main thread can set handlers, so nothing changes in other threads; nor does anything change
if code outside Python has set a handler.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_ENDINGS = ("SIGTERM", "SIGHUP")
_Handler = Callable[[int, FrameType | None], None]


@contextmanager
def endings_wait() -> Iterator[None]:
    """Delay Ctrl-C, SIGTERM and SIGHUP until the block ends."""
    came: list[int] = []

    def keep(number: int, frame: FrameType | None) -> None:
        came.append(number)

    with _handled(keep, ("SIGINT", *_ENDINGS), came):
        yield


@contextmanager
def endings_interrupt() -> Iterator[None]:
    """SIGTERM and SIGHUP, unless already handled, raise KeyboardInterrupt in the block and end the
    process after it; a second signal ends it at once."""
    came: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        came.append(number)
        signal.signal(number, signal.SIG_DFL)
        raise KeyboardInterrupt

    with _handled(interrupt, _ENDINGS, came, only=signal.SIG_DFL):
        yield


@contextmanager
def _handled(
    handler: _Handler, names: tuple[str, ...], came: list[int], only: signal.Handlers | None = None
) -> Iterator[None]:
    """Set the handler for these signals; with `only`, just for those whose handler is `only`. At
    the end, the signals in `came` are raised again."""
    here = threading.current_thread() is threading.main_thread()
    numbers = [signal.Signals[name] for name in names if here and hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    held = {
        n: former for n, former in before.items() if former is not None and only in (None, former)
    }
    try:
        for number in held:
            signal.signal(number, handler)
        yield
    finally:
        for number, former in held.items():
            signal.signal(number, former)
        for signal_number in came:
            signal.raise_signal(signal_number)

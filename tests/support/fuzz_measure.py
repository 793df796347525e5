"""What no input may do to the code that reads it, and how that is noticed.

An input may be read or refused in one line. A `Finding` is anything else: another exception, a
refusal that is no single clear line, more time than `HANG`, more memory than `SPARE` and `MULTIPLE`
times its size. Memory is the peak of the resident set while the input is read, less what was
resident before (Linux; elsewhere it is not measured).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attncert.constructions.errors import InputError

HANG = 20.0  # seconds: far more than any limit on work (who waits, libFuzzer ends after 60)
SPARE, MULTIPLE = 2**26, 1000  # 64 MiB, and 1,000 bytes for each byte of the input

_PROCESS = Path("/proc/self")


class Finding(Exception):
    """What no input may cause."""


def timed(parse: Callable[[], str]) -> str:
    """What `parse` returns; Finding if it raises or takes too long, of this process's time."""
    for _ in range(2):  # once more: what a first call imports and compiles is not the input's
        start = time.process_time()
        try:
            word = parse()
        except Finding:
            raise
        except BaseException as error:
            raise Finding(f"raised {type(error).__name__}: {error!s:.300}") from error
        taken = time.process_time() - start
        if taken <= HANG:
            return word
    raise Finding(f"took {taken:.0f} s")


def loaded(read: Callable[[], Any], sound: Callable[[Any], bool]) -> str:
    """What was read is sound, or it was refused in one line."""
    try:
        found = read()
    except InputError as error:
        line = str(error)
        if not (line.isprintable() and ": must be " in line and ", not " in line):
            raise Finding(f"not one clear line: {line!r}") from error
        return "refused"
    if not sound(found):
        raise Finding("read, but not sound")
    return "read"


def bounded(run: Callable[[bytes], str]) -> Callable[[bytes], str]:
    """`run`, that raises Finding where it takes too much memory; `largest` keeps the most taken."""

    def one(content: bytes) -> str:
        allowed = SPARE + MULTIPLE * len(content)
        word, taken = _peak(run, content)
        if taken > allowed:  # once more: what a first call imports and compiles is not the input's
            word, taken = _peak(run, content)
        if taken > allowed:
            raise Finding(f"took {taken >> 20} MiB for {len(content)} bytes")
        _LARGEST.append(max(_LARGEST.pop(), taken))
        return word

    return one


def largest() -> int:
    """Bytes that the most expensive input of this process took."""
    return _LARGEST[0]


def begin() -> None:
    """Forget what was taken so far, by first calls that import and compile."""
    _LARGEST[0] = 0


_LARGEST = [0]


def _peak(run: Callable[[bytes], str], content: bytes) -> tuple[str, int]:
    """What `run` returns, and by how much the resident set grew meanwhile, at its largest."""
    if not (_PROCESS / "clear_refs").exists():
        return run(content), 0
    (_PROCESS / "clear_refs").write_text("5")  # the peak begins anew: proc(5)
    before = _resident("VmRSS")
    return run(content), _resident("VmHWM") - before


def _resident(name: str) -> int:
    lines = (_PROCESS / "status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))

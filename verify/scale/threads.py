"""Jobs on threads, their results in order: so that a search ends at the same place every time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def available_threads() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parallel_map(
    job: Callable[[_Item], _Result], items: Iterable[_Item], threads: int | None = None
) -> Iterator[_Result]:
    """Like map(job, items); only a few items ahead are begun, so leaving early wastes little.

    threads: all cores of the process unless given.

    >>> list(parallel_map(abs, range(-3, 0)))
    [3, 2, 1]
    """
    threads = threads or available_threads()
    if threads == 1:
        yield from map(job, items)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        queue = iter(items)
        running = [pool.submit(job, x) for x in islice(queue, 2 * threads)]
        while running:
            outcome = running.pop(0).result()
            running += [pool.submit(job, x) for x in islice(queue, 1)]
            yield outcome
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # a worker may be the one that collects this

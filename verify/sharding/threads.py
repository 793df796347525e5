"""Jobs on threads, with results in order, so that a search always ends at the same point."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def available_threads() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parallel_map(
    job: Callable[[_Item], _Result], items: Iterable[_Item], threads: int | None = None
) -> Generator[_Result]:
    """Like map(job, items) on threads. Only a few items are started ahead, so that little work is
    lost by stopping early.

    threads: by default, all cores of the process.

    >>> list(parallel_map(abs, range(-3, 0)))
    [3, 2, 1]
    """
    threads = threads or available_threads()
    if threads == 1:
        yield from map(job, items)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        yield from in_order(lambda item: pool.submit(job, item), items, 2 * threads)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # may run on a worker thread


def in_order(submit: Callable[[_Item], Any], items: Iterable[_Item], ahead: int) -> Generator[Any]:
    """The results of the futures that `submit` returns, in the order of the items. At most `ahead`
    items are started at a time."""
    queue = iter(items)
    running = deque(submit(x) for x in islice(queue, ahead))
    while running:
        result = running.popleft().result()
        running.extend(submit(x) for x in islice(queue, 1))
        yield result

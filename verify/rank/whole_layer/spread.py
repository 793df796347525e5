"""The rank modulo p of a tall matrix on a Dask cluster, whose workers jointly hold its panels.

The rows are divided into blocks. Each block is reduced by the panels of all earlier blocks, and the
elimination of what is left gives the panels of this block (`streaming.py`). Panels stay on the
worker that computed them, and blocks travel, so that every worker holds an equal number of panels.
The rank is the total number of pivots. It does not depend on the blocks or on the workers.

Every step is a pure function of earlier results. If a worker is lost, so are its panels; they are
computed again, in their order, on the remaining workers.

**Memory** of a worker with one thread, for w columns: its share of the panels, 4 (T w - T^2/2)
bytes in all; two or three blocks of 4 w _BLOCK bytes; and temporaries of 40 w HEIGHT bytes.
"""

from __future__ import annotations

import copyreg
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from flint import fmpq_mat, fmpz, fmpz_mat

from attncert.constructions.arrays import AnyArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError, whole
from attncert.constructions.exact.modular import SumVanishes
from attncert.constructions.progress import Progress, silent
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.features.features import NotIntegral
from attncert.verify.rank.whole_layer.sizes import HEIGHT
from attncert.verify.rank.whole_layer.streaming import Elimination
from attncert.verify.sharding.engine import (
    WORKERS,
    Cluster,
    answered,
    given_up,
    remote,
    repeated,
    same,
    submitted,
    untrue,
)
from attncert.verify.sharding.shards import Plan, Record, Shard

_BLOCK = 4 * HEIGHT  # maximum number of rows in a block
_LOSSES = 3  # how often workers may be lost
_RETURN = 30.0  # seconds within which a lost worker may be replaced


class Part(Protocol):
    """The rows of some examples modulo p, computed for `at_once` of them at a time."""

    @property
    def at_once(self) -> int: ...

    def rows(self, start: int, stop: int) -> Any: ...


Make = Callable[[Dataset], Part]
Errors = tuple[type[Exception], ...]
ERRORS: Errors = (SumVanishes, NotIntegral)


class _Lost(Exception):
    """A worker that holds panels has left the cluster."""


def spread_rank(
    make: Make,
    data: Dataset,
    p: int,
    count: int,
    cluster: Cluster,
    progress: Progress = silent,
    errors: Errors = ERRORS,
) -> int:
    """The rank of all rows modulo p, which is assumed, since only the first block is also
    eliminated here.

    make: computes the rows of given examples, equally many for each. count: the number of all rows.
    Raises InputError if records are wrong or workers are lost too often. errors: exceptions raised
    by `make`, which are passed on unchanged.
    """
    shards = Plan("rows", 0, data.T, max(1, _BLOCK * data.T // count)).shards()
    run = _Run(shards, make, data, p, count // data.T, cluster, progress, errors)
    for _ in range(_LOSSES + 1):
        workers = sorted(cluster.nthreads())
        try:
            run.eliminate(workers)
            break
        except _Lost:
            with suppress(TimeoutError):
                cluster.wait_for_workers(len(workers), timeout=_RETURN)
    else:
        raise InputError("shards", WORKERS, f"run by workers that were lost {_LOSSES + 1} times")
    first = {shards[0]: run.records[shards[0]]}
    _, true = repeated(first, _first, (make, data, p))
    if not true:
        raise untrue("one that differs from what is computed here")
    return sum(record["rank"] for record in run.records.values())


def rank_records() -> Claim:
    """The claim on which a rank from `spread_rank` rests."""
    statement = (
        "The ranks computed by Dask workers are correct; the first rows of each matrix were "
        "eliminated again here, with the same result."
    )
    return Claim(ids.RANK_RECORDS, statement, Level.ASSUMED, source="docs/commands.md")


class _Run:
    """held: the worker and the future of each block's panels. records: the rank of each block."""

    def __init__(
        self,
        shards: Sequence[Shard],
        make: Make,
        data: Dataset,
        p: int,
        each: int,
        cluster: Cluster,
        progress: Progress,
        errors: Errors,
    ) -> None:
        self.held: dict[Shard, tuple[str, Any]] = {}
        self.records: dict[Shard, Record] = {}
        self._shards, self._data, self._p, self._each = shards, data, p, each
        self._cluster, self._progress, self._errors = cluster, progress, errors
        self._make = submitted(cluster, same, make)

    def eliminate(self, workers: Sequence[str]) -> None:
        """Fill `records` without recomputing panels that one of these workers holds."""
        held = self.held.items()
        self.held = {x: (at, future) for x, (at, future) in held if at in workers and future.done()}
        pending = [shard for shard in self._shards if shard not in self.held]
        submit = partial(self._submit, workers)
        with given_up((_Lost, *self._errors)):
            answers = answered(pending, submit, self._fits, self._cluster)
            for shard, record in zip(pending, answers, strict=True):
                self.records[shard] = record
                self._progress(shard.stop, self._data.T)

    def _submit(self, workers: Sequence[str], shard: Shard) -> _Watched:
        """Start one block, whose panels will be on the worker that holds the fewest."""
        blocks = Counter(at for at, _ in self.held.values())
        own = min(workers, key=lambda worker: blocks[worker])
        part = self._data.take(range(shard.start, shard.stop))
        block = self._on(own, _rows, self._make, part)
        for earlier in self._shards[: self._shards.index(shard)]:
            at, panels = self.held[earlier]
            block = self._on(at, _left, panels, block)
        panels = self._on(own, _eliminated, block, self._p)
        self.held[shard] = own, panels
        answer = self._on(own, remote, _record, shard, panels)
        return _Watched(answer, frozenset(workers), self._cluster)

    def _on(self, worker: str, task: Callable[..., Any], *arguments: Any) -> Any:
        return submitted(self._cluster, task, *arguments, workers=[worker])

    def _fits(self, shard: Shard, record: Any) -> bool:
        form = isinstance(record, dict) and record.keys() == {"rank"} and whole(record["rank"])
        return form and 0 <= record["rank"] <= self._each * shard.count


@dataclass(frozen=True)
class _Watched:
    """A future whose result is available only while none of these workers is lost."""

    future: Any
    workers: frozenset[str]
    cluster: Cluster

    def result(self) -> Any:
        """Raises _Lost."""
        while not self.future.done():
            with suppress(Exception):  # raised below
                self.future.result(timeout=1)
            if not self.workers <= self.cluster.nthreads().keys():
                raise _Lost
        return self.future.result()


# On a worker. Balanced residues are below 2^24, so blocks are kept in float32.


def _rows(make: Make, part: Dataset) -> AnyArray:
    table, T = make(part), part.T
    blocks = (table.rows(t, min(t + table.at_once, T)) for t in range(0, T, table.at_once))
    return np.concatenate([block.astype(np.float32) for block in blocks])


def _left(panels: Elimination, block: AnyArray) -> AnyArray:
    left = np.empty((len(block), panels.columns - panels.rank), np.float32)
    for row in range(0, len(block), HEIGHT):
        left[row : row + HEIGHT] = panels.left_of(block[row : row + HEIGHT].astype(np.float64))
    return left


def _eliminated(block: AnyArray, p: int) -> Elimination:
    panels = Elimination(block.shape[1], p)
    for row in range(0, len(block), HEIGHT):
        panels.add(block[row : row + HEIGHT].astype(np.float64))
    return panels


def _record(shard: Shard, panels: Elimination) -> Record:
    return {"rank": panels.rank}


def _first(shard: Shard, make: Make, data: Dataset, p: int) -> Record:
    part = data.take(range(shard.start, shard.stop))
    return _record(shard, _eliminated(_rows(make, part), p))


def _pickled(matrix: fmpq_mat) -> tuple[Any, ...]:
    numerators, denominator = matrix.numer_denom()
    entries = [int(x) for x in numerators.entries()]
    return _matrix, (matrix.nrows(), matrix.ncols(), entries, int(denominator))


def _matrix(rows: int, columns: int, entries: list[int], denominator: int) -> fmpq_mat:
    return fmpq_mat(fmpz_mat(rows, columns, entries)) / fmpz(denominator)


copyreg.pickle(fmpq_mat, _pickled)  # the weights in `make`

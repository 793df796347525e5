"""The logits of a head for all examples: a table or, for heads of width one, an outer product.

At width one the logits of example t are (query·e_t)·E⁽ᵗ⁾key, a number times a row, and in a shared
context all rows are equal. Ranges, margins and weights follow from the T numbers and a few extreme
entries of the rows, so T + n long integers replace T·n.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from attncert.constructions.arrays import AnyArray, FloatArray, IntArray, ObjectArray

_DROP = 1100  # this many bits below the largest logit, a float weight is 0


@dataclass(frozen=True)
class Outer:
    """The integers by[t]·rows[t], (N, n). by: (N,). rows: (N, n), or (1, n) if all are equal."""

    by: ObjectArray
    rows: ObjectArray

    @classmethod
    def of(cls, by: ObjectArray, rows: ObjectArray, scale: int) -> Outer | None:
        """The outer product by[t]·rows[t]/scale, with each row divided by its greatest common
        divisor; None if the factor of some t is then not an integer. If all t share one row, this
        means that some entry is not an integer."""
        content = math.gcd(*rows.ravel().tolist()) or 1
        common = math.gcd(content, scale)
        if common < content:
            by = by * (content // common)
        if common == scale:
            return cls(by, rows // content)
        scale //= common
        return None if (by % scale).any() else cls(by // scale, rows // content)

    def __len__(self) -> int:
        return len(self.by)

    def __getitem__(self, examples: Sequence[int]) -> Outer:
        chosen = list(examples)
        return Outer(self.by[chosen], self.rows if len(self.rows) == 1 else self.rows[chosen])

    def leads(self, targets: Sequence[int]) -> ObjectArray:
        """The margin by which each target exceeds all other entries, (N,). Needs n > 1."""
        rows, at, which = self.rows, np.array(targets, dtype=np.intp), np.arange(len(targets))
        if len(rows) == 1:
            at, which = np.unique(at, return_inverse=True)
            rows = np.repeat(rows, len(at), axis=0)
        apart = behind_targets(rows, at)
        least, largest = apart.min(axis=1)[which], apart.max(axis=1)[which]
        ahead: ObjectArray = self.by * np.where(self.by > 0, least, largest)
        return ahead


def behind_targets(rows: ObjectArray, targets: Sequence[int] | IntArray) -> ObjectArray:
    """The target entry of each row minus each other entry, in order: (N, n) -> (N, n - 1)."""
    count, n = rows.shape
    at = np.arange(count), np.asarray(targets, dtype=np.intp)
    others = np.ones(rows.shape, dtype=bool)
    others[at] = False
    apart: ObjectArray = (rows[at][:, None] - rows)[others].reshape(count, n - 1)
    return apart


Table: TypeAlias = ObjectArray | Outer  # (N, n); arrays contain Python integers or rationals


def dense(table: Table) -> ObjectArray:
    """The table as an array, (N, n)."""
    return table.by[:, None] * table.rows if isinstance(table, Outer) else table


def ranges(table: Table) -> ObjectArray:
    """The largest minus the smallest logit of each example, as (N,) integers."""
    rows = table.rows if isinstance(table, Outer) else table
    spans: ObjectArray = rows.max(axis=1) - rows.min(axis=1)
    return np.abs(table.by) * spans if isinstance(table, Outer) else spans


def leads(table: Table, targets: Sequence[int]) -> list[Any]:
    """The margins by which the target of each row exceeds its other entries; [] if n = 1."""
    if isinstance(table, Outer):
        alone = table.rows.shape[1] == 1
        return [] if alone else table.leads(targets).tolist()
    if table.shape[1] == 1:
        return []
    return [
        row[target] - max(row[:target] + row[target + 1 :])
        for row, target in zip(table.tolist(), targets, strict=True)
    ]


def log2_off_peak(table: Table, times: IntArray | None = None) -> FloatArray:
    """log2(1 - p_max) for each example, (N,) float64; -inf if n = 1, otherwise at least -10^300.
    times: how often each row is a token, (N, n); default: once."""
    if times is not None:
        own = zip(dense(table), times, strict=True)
        return np.concatenate([log2_off_peak(np.repeat(row, often)[None]) for row, often in own])
    rows = table.rows if isinstance(table, Outer) else table
    if rows.shape[1] == 1:
        return np.full(len(table), -np.inf)
    nearest, drop = _drops(table)
    second = np.maximum(-nearest, -(10**300)).astype(np.float64)
    others = second + np.log2(np.ascontiguousarray(np.exp2(-drop)).sum(axis=1))
    off_peak: FloatArray = others - np.log2(1.0 + np.exp2(np.minimum(others, 60.0)))
    return off_peak


def _drops(table: Table) -> tuple[ObjectArray, FloatArray]:
    """The largest entry minus the second largest, (N,), and the second largest minus each entry
    except the largest, capped at _DROP, with the entries in decreasing order, (N, n - 1).

    Multiplying a row by b > 0 keeps its order, and b < 0 reverses it. min(b·x, _DROP) follows from
    min(b, _DROP) and min(x, _DROP), since b and x are 0 or at least 1.
    """
    if isinstance(table, Outer):
        (first, further), (first_up, further_up) = _drops(table.rows), _drops(-table.rows)
        positive, size = np.array(table.by > 0, dtype=bool), np.abs(table.by)
        drop = np.where(positive[:, None], further, further_up) * _cut(size)[:, None]
        return size * np.where(positive, first, first_up), np.minimum(drop, _DROP)
    apart = behind_targets(table, table.argmax(axis=1))
    nearest = apart.min(axis=1, keepdims=True)
    return nearest[:, 0], np.sort(_cut(apart - nearest), axis=1)[:, ::-1]


def _cut(values: AnyArray) -> FloatArray:
    return np.minimum(values, _DROP).astype(np.float64)

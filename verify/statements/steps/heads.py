"""Functions for the steps of a layer's proof: records of heads, their logits, and residues.

A step checks one head that places a group: it compares the builder's record of the head with the
data and with the logits computed from the layer's weights. The builder is never called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from attncert.constructions.arrays import IntArray, ObjectArray
from attncert.constructions.construction import BuiltLayer, PlacedHead, SteeringHead
from attncert.constructions.data.conversion import objects
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.exact.modular import SumVanishes
from attncert.constructions.layer import Head
from attncert.verify.features import features
from attncert.verify.features.tables import Table, dense
from attncert.verify.statements.statements import Step
from attncert.verify.statements.states import View

Relations = Iterator[Any]
RANKS_EACH_HEAD = 200  # with more examples, the rank is not computed after every head


def placing(
    sentence: str, relations: Callable[[View, Any, int], Iterable[Any]], **rest: Any
) -> Step:
    """A step about every head that places a group. relations: a function of the view, the builder's
    record of the head, and the number of the head."""

    def of_head(at: View, number: int) -> Relations:
        if number <= len(at.built.heads):
            yield from relations(at, at.built.heads[number - 1], number)

    return Step(sentence, of_head, each="head", **rest)


def moving(
    sentence: str, relations: Callable[[View, Any, int], Iterable[Any]], **rest: Any
) -> Step:
    """A step about every head that places a group and also moves earlier examples."""

    def of_record(at: View, head: SteeringHead, number: int) -> Relations:
        if head.selector is not None:
            yield from relations(at, head, number)

    further = rest.pop("applies", lambda at: True)

    def applies(at: View) -> bool:
        moves = any(getattr(head, "selector", None) is not None for head in at.built.heads)
        return moves and bool(further(at))

    return placing(sentence, of_record, applies=applies, **rest)


def few_examples(at: View) -> bool:
    """Whether the rank is computed after every head. Each elimination takes T^3 operations."""
    return at.data.T <= RANKS_EACH_HEAD and bool(features.usable_primes(at.data))


class Tables:
    """Caches of the logits of one head, and of the first heads' features modulo a prime."""

    def __init__(self, data: Dataset, built: BuiltLayer) -> None:
        self.data, self.built = data, built
        self.number = 0
        self.table: Table = np.zeros((0, 0), dtype=object)
        self.residues: features.Progressive | None = None
        self.appended = 0

    def logits(self, number: int) -> Table:
        """The logits of a head, (T, n). Raises NotIntegral."""
        if self.number != number:
            self.table = features.logit_table(self.built.layer.heads[number - 1], self.data)
            self.number = number
        return self.table

    def first(self, count: int) -> features.Progressive:
        """The features of the first `count` heads modulo a prime."""
        if self.residues is None or self.appended > count:
            self.residues = features.Progressive(self.data, features.usable_primes(self.data)[0])
            self.appended = 0
        while self.appended < count:
            self.residues.append(features_of(self.logits(self.appended + 1), self.residues))
            self.appended += 1
        return self.residues


def tables(at: View) -> Tables:
    if "tables" not in at.cache:
        at.cache["tables"] = Tables(at.data, at.built)
    known: Tables = at.cache["tables"]
    return known


def logits(at: View, number: int) -> Table:
    """The integer logits of a head, (T, n). Raises NotIntegral, which leaves a step undecided."""
    return tables(at).logits(number)


def weights_of(at: View, number: int) -> Head:
    head: Head = at.built.layer.heads[number - 1]
    return head


def lead(data: Dataset, head: SteeringHead) -> Table:
    """(v·e_s)·E⁽ˢ⁾u, the coefficient of c, for the earlier s; shape (N, n). Exact: integers if
    possible, else rationals (objects)."""
    steering = Head(head.separator, head.selector)
    table, scale = features.products(steering, data, head.earlier)
    if scale == 1:
        return table
    table = dense(table)
    if not (table % scale).any():
        return table // scale
    return objects([fmpq(x, scale) for x in table.ravel().tolist()], table.shape)


def entries(data: Dataset, u: fmpq_mat) -> Callable[[int], list[fmpq]]:
    """A function that maps t to E⁽ᵗ⁾u, one rational for each token; u is d×1."""
    table, scale = features.token_products(data, u)
    if data.shared:
        once = [fmpq(x, scale) for x in table[0, :, 0].tolist()]
        return lambda t: once
    return lambda t: [fmpq(x, scale) for x in table[t, : data.tokens(t), 0].tolist()]


def features_of(table: Table, residues: features.Progressive) -> IntArray:
    """The features mod p of one head for all examples, from its logits (T, n)."""
    every = range(len(table))
    weights = softmax_residues(dense(table), residues, every)
    return features.mix_mod(weights, residues.contexts(every), residues.prime)


def softmax_residues(
    table: ObjectArray, residues: features.Progressive, examples: Sequence[int]
) -> IntArray:
    """The softmax weights mod p. If a sum vanishes, all are set to 0, which proves nothing."""
    try:
        return features.softmax_mod(table, residues.prime, residues.times(examples))
    except SumVanishes:
        return np.zeros(table.shape, dtype=np.int64)


def group_rows(at: View, head: PlacedHead, number: int) -> list[list[int]]:
    """The logits of the group from the layer's weights: a row of token logits for each example."""
    rows = dense(logits(at, number)[list(head.group)]).tolist()
    return [row[: at.data.kinds(t)] for t, row in zip(head.group, rows, strict=True)]

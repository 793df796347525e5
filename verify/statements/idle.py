"""Blocks that change no example and hidden units that are never active, found from the states.

A network with such blocks or units is not wrong, but needs none of them on these data. States are
compared only if they are rational: nothing is known to be idle after an irrational softmax.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from attncert.constructions.network.arithmetic import Inexact
from attncert.constructions.network.blocks import Block
from attncert.constructions.network.composed import Group
from attncert.constructions.network.states import States
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, Claim, Level
from attncert.verify.claims.words import counted, listed
from attncert.verify.statements.states import Views


def idle(views: Views) -> list[Claim]:
    """Claims that list the blocks that change no state on these data and the units that are 0 at
    every vector to which their block is applied. There is no claim for an empty list. Blocks and
    units are numbered from 1."""
    network, still, off = views.network, list[int](), dict[int, list[int]]()
    if network.depth == 1 and not network.units:
        return []
    with suppress(Inexact):
        for number, block in enumerate(network.blocks, 1):
            before, after = (views.at(None).states(k) for k in (number - 1, number))
            changes = list(_changes(block, before, after))
            still += [number] * all(a == b for a, b in changes)
            units = _never_on(block, changes)
            off |= {number: units} if units else {}
    never = sum(map(len, off.values()))
    where = f"block{'s' * (len(off) > 1)} {listed([*off])}"
    blocks = f"{len(still):,} of {counted(network.depth, 'block')} change{'s' * (len(still) == 1)}"
    hidden = f"{never:,} of {counted(network.units, 'hidden unit')} {'is' if never == 1 else 'are'}"
    candidates = (
        (ids.IDLE_BLOCKS, f"{blocks} no example here: {listed(still)}.", still),
        (ids.IDLE_UNITS, f"{hidden} never active here, in {where}.", off),
    )
    return [
        Claim(name, words, Level.PROVED, numbers={"idle": numbers}, arithmetic=OVER_Q)
        for name, words, numbers in candidates
        if numbers
    ]


def _changes(block: Block, before: States, after: States) -> Iterator[tuple[Any, Any]]:
    """The vectors to which the block is applied and the resulting vectors, as rows."""
    yield before.queries, after.queries
    if block.of == "all":
        yield from zip(before.contexts, after.contexts, strict=True)


def _never_on(block: Block, changes: Sequence[tuple[Any, Any]]) -> list[int]:
    """The units that add 0 to every vector. Units inside a `Group` are not examined."""
    off = [] if isinstance(block, Group) else list(range(block.units))
    for before, after in changes:
        made = after - before if block.residual else after
        for row in range(int(made.nrows())):
            off = [j for j in off if made[row, j] == 0]
            if not off:
                return []
    return [j + 1 for j in off]

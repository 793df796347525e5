"""Blocks that act on no example, and hidden units that are never on: read off the states.

Nothing is wrong with such a network, but its proof hardly needs them. States are rational; from the
first irrational softmax on they are balls, of which only a point is known to be 0, or equal to
another: nothing is called idle that a ball leaves open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from flint import ctx

from attncert.constructions.network.arithmetic import RATIONAL, Inexact
from attncert.constructions.network.blocks import Block
from attncert.constructions.network.states import States
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, Claim, Level
from attncert.verify.claims.words import counted, listed
from attncert.verify.methods.states import BITS, Views


def idle(views: Views) -> list[Claim]:
    """That some blocks change no state on these data, and that some units are 0 at every vector
    that their block is applied to. No claim if there are none. Both are counted from 1."""
    network, still, off, rational = views.network, list[int](), dict[int, list[int]](), True
    if network.depth == 1 and not network.units:
        return []
    for number, before, after in _pairs(views):
        block = network.blocks[number - 1]
        changes = list(_changes(block, before, after))
        unchanged, units = all(a == b for a, b in changes), _never_on(block, changes)
        still += [number] * unchanged
        off |= {number: units} if units else {}
        rational &= after.arithmetic is RATIONAL or not (unchanged or units)
    level, how = Level.PROVED, OVER_Q
    if not rational:
        level, how = Level.ENCLOSED, f"ball arithmetic (Arb), {BITS[0]} bits"
    never = sum(map(len, off.values()))
    where = f"block{'s' * (len(off) > 1)} {listed([*off])}"
    blocks = f"{len(still):,} of {counted(network.depth, 'block')} act{'s' * (len(still) == 1)}"
    hidden = f"{never:,} of {counted(network.units, 'hidden unit')} {'is' if never == 1 else 'are'}"
    said = (
        (ids.IDLE_BLOCKS, f"{blocks} on no example here: {listed(still)}.", still),
        (ids.IDLE_UNITS, f"{hidden} never on here, in {where}.", off),
    )
    return [
        Claim(name, words, level, numbers={"idle": found}, arithmetic=how)
        for name, words, found in said
        if found
    ]


def _pairs(views: Views) -> Iterator[tuple[int, States, States]]:
    """The number of each block with the states before and after it, as far as they are known."""
    exact = _reached(views, None)
    balls = _reached(views, BITS[0]) if len(exact) <= views.network.depth else []
    for k in range(1, max(len(exact), len(balls))):
        known = exact if k < len(exact) else balls
        yield k, known[k - 1], known[k]


def _reached(views: Views, bits: int | None) -> Sequence[States]:
    states = list[States]()
    with ctx.workprec(bits or ctx.prec), suppress(Inexact):
        for k in range(views.network.depth + 1):
            states.append(views.at(bits).states(k))
    return states


def _changes(block: Block, before: States, after: States) -> Iterator[tuple[Any, Any]]:
    """What the block is applied to, and what it makes of it: a vector in each row."""
    yield before.queries, after.queries
    if block.of == "all":
        yield from zip(before.contexts, after.contexts, strict=True)


def _never_on(block: Block, changes: Sequence[tuple[Any, Any]]) -> list[int]:
    """The units that add 0 to every vector."""
    off = list(range(block.units))
    for before, after in changes:
        made = after - before if block.residual else after
        for row in range(int(made.nrows())):
            off = [j for j in off if made[row, j] == 0]
            if not off:
                return []
    return [j + 1 for j in off]

"""What the capacity law of a data set implies, as claims: universal, every labelling, these labels.

Three notions that are kept apart: one choice of keys and queries for all labels; for each labelling
some weights; and weights for the labels that are given (docs/given-labels.md).
"""

from __future__ import annotations

from typing import Any

from attncert.verify.capacity.records import DataCapacity
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import About, Claim, Level, counted, sized

_SOURCE = "ours; docs/given-labels.md"


def claims_of(made: DataCapacity) -> tuple[Claim, ...]:
    """The bound, the rank, and what they say of each notion. made: its claims are not read."""
    data, least, rank = made.data, made.uppers[0], made.rank
    wanted, who = data.T * data.m, _who(made)
    upper = Claim(
        ids.LAW_BOUND,
        f"The Jacobian of the outputs by all weights of {who} has rank at most {least.bound}, "
        "whatever the weights.",
        Level.ARGUED,
        numbers={"bound": least.bound, "from": least.name, "Tm": wanted, "N": made.law},
        arithmetic="ranks over ℚ of tokens and queries",
        source=f"{_SOURCE}, Theorems 7 and 9",
    )
    lower = Claim(
        ids.LAW_RANK,
        f"At some integer weights it has rank {rank.rank} or more.",
        Level.PROVED,
        numbers={"rank": rank.rank, "prime": rank.prime},
        arithmetic=f"derivatives and rank mod {rank.prime}, without the factor ln 2",
        source=f"{_SOURCE}, section 3",
    )
    twice = Claim(
        ids.LAW_TWICE,
        f"Every labelling is memorized by {_who(made, 2)}.",
        Level.PROVED,
        rests_on=(ids.LAW_RANK,),
        source=f"{_SOURCE}, Theorem 13",
    )
    more = (twice,) if rank.full else ()
    return (upper, lower, _these(made), _every(made), *more, _universal(made))


def _who(made: DataCapacity, times: int = 1) -> str:
    return sized(times * made.heads, made.settings.head_width, made.value_width)


def _these(made: DataCapacity) -> Claim:
    """What the rank says of single labellings: an open set is reachable, or almost none."""
    wanted, who = made.data.T * made.data.m, _who(made)
    shown: dict[str, Any] = {"level": Level.UNDECIDED}
    said = f"Whether {who} reach an open set of labellings, or almost none, is open."
    if made.rank.full:
        said = (
            f"The labellings that some weights of {who} output contain an open set. Whether they "
            "contain the given one is another question (attncert fit)."
        )
        shown = {"level": Level.PROVED, "rests_on": (ids.LAW_RANK,)}
    elif made.uppers[0].bound < wanted:
        said = (
            f"Almost no labelling is output by any weights of {who}: the reachable ones have "
            "measure zero. The given one may be among them."
        )
        shown = {"level": Level.ARGUED, "rests_on": (ids.LAW_BOUND,)}
    return Claim(ids.LAW_THESE, said, source=f"{_SOURCE}, Theorem 11", **shown)


def _every(made: DataCapacity) -> Claim:
    """What is known of every labelling by these heads: a zero found, a bound, or nothing."""
    found, who = made.every, _who(made)
    if found.level is Level.PROVED:
        return Claim(
            ids.LAW_EVERY,
            f"Every labelling is memorized by {who}: attncert every-labelling shows it.",
            Level.PROVED,
            numbers={"sets of heads": [len(s) for s in found.zero.sets] if found.zero else []},
            arithmetic="a zero of the outputs whose Jacobian has rank Tm mod a prime",
            source=f"{_SOURCE}, Theorem 12",
            about=About.EVERY_LABELLING,
        )
    if found.level is Level.REFUTED or made.uppers[0].bound < made.data.T * made.data.m:
        witness = dict(found.claims[-1].witness or {}) if found.claims else {}
        return Claim(
            ids.LAW_EVERY,
            f"Every labelling is memorized by {who}.",
            Level.REFUTED,
            witness=witness or {"rank at most": made.uppers[0].bound},
            rests_on=(ids.LAW_BOUND,),
            source=f"{_SOURCE}, Theorem 11",
            about=About.EVERY_LABELLING,
        )
    return Claim(
        ids.LAW_EVERY,
        f"Every labelling is memorized by {who}.",
        Level.UNDECIDED,
        witness={"reason": found.why},
        source=f"{_SOURCE}, Theorem 12",
        about=About.EVERY_LABELLING,
    )


def _universal(made: DataCapacity) -> Claim:
    below, who = made.universal < made.data.T, counted(made.heads, "head")
    return Claim(
        ids.LAW_UNIVERSAL,
        f"One choice of keys and queries of {who}, of any width, serves all labels.",
        Level.REFUTED if below else Level.UNDECIDED,
        numbers={"rank Z at most": made.universal, "T": made.data.T},
        witness={"rank Z at most": made.universal, "T": made.data.T}
        if below
        else {"reason": "attncert tightness and attncert prove look for such weights"},
        source="ours; docs/tightness.md",
        about=About.UNIVERSAL,
    )

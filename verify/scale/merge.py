"""Logs of one run, written by parts on several machines, united into one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from attncert.constructions.errors import InputError
from attncert.verify.scale.log import LogContent, difference, read_log
from attncert.verify.scale.shards import Identity, Plan, Result, Shard

__all__ = ["United", "unite"]

_MOST = 10**6


@dataclass(frozen=True)
class United:
    """finished: every shard of the plans that some log has, in order, once. missing: the others."""

    identity: Identity
    plans: tuple[Plan, ...]
    finished: dict[Shard, Result]
    missing: tuple[Shard, ...]

    def of(self, plan: Plan) -> dict[Shard, Result]:
        """Those of one of the plans."""
        wanted = set(plan.shards())
        return {shard: result for shard, result in self.finished.items() if shard in wanted}


def unite(paths: Sequence[str | os.PathLike[str]]) -> United:
    """Unite logs; raises InputError where they are not logs of one run, or contradict each other.

    The same shard in several logs, or the same log twice, counts once.
    """
    if not paths:
        raise InputError("FILE", "at least one log of shards", "none")
    first = read_log(paths[0], "FILE")
    finished: dict[Shard, Result] = {}
    for path in paths:
        content = read_log(path, "FILE")
        _require_same_run(first, content, path)
        for shard, result in content.finished.items():
            if finished.setdefault(shard, result) != result:
                got = f"two results of shard {shard.as_list()}, one in {path}"
                raise InputError("FILE", "logs with one result for each shard", got)
    plans = _plans(first.identity, paths[0])
    shards = [shard for plan in plans for shard in plan.shards()]
    strange = sorted(set(finished) - set(shards))
    if strange:
        got = f"of others too: {strange[0].as_list()}"
        raise InputError("FILE", "logs of the shards that their header plans", got)
    return United(
        first.identity,
        plans,
        {shard: finished[shard] for shard in shards if shard in finished},
        tuple(shard for shard in shards if shard not in finished),
    )


def _plans(identity: Identity, path: object) -> tuple[Plan, ...]:
    """A checksum shows that a header is as it was written, not that we wrote it."""
    stored = identity.get("plans")
    plans = [Plan.of(plan) for plan in stored] if type(stored) is list else []
    found = tuple(plan for plan in plans if plan is not None)
    kinds = {plan.kind for plan in found}
    if not found or len(kinds) != len(plans) or sum(-(-p.count // p.size) for p in found) > _MOST:
        must = f"logs with a plan for each kind of shard, of at most {_MOST} shards"
        raise InputError("FILE", must, f"one with another: {path}")
    return found


def _require_same_run(first: LogContent, other: LogContent, path: object) -> None:
    differ = difference(first.identity, other.identity)
    if differ is not None:
        got = f"of two ({differ[0]}; {differ[1]}): {path}"
        raise InputError("FILE", "logs of one run", got)

"""Logs of one run, written by parts on several machines, united into one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from attncert.constructions.errors import InputError
from attncert.verify.scale.log import LogContent, Rules, difference, read_log
from attncert.verify.scale.shards import Identity, Plan, Result, Shard

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
        return {shard: result for shard, result in self.finished.items() if plan.has(shard)}


def unite(paths: Sequence[str | os.PathLike[str]], rules: Rules) -> United:
    """Unite logs; raises InputError where they are not logs of one run, or contradict each other.

    The same shard in several logs, or the same log twice, counts once.
    """
    if not paths:
        raise InputError("FILE", "at least one log of shards", "none")
    first = read_log(paths[0], rules, "FILE")
    finished = first.finished
    for path in paths[1:]:
        content = read_log(path, rules, "FILE")
        _require_same_run(first, content, path)
        for shard, result in content.finished.items():
            if finished.setdefault(shard, result) != result:
                got = f"two results of shard {shard.as_list()}, one in {path}"
                raise InputError("FILE", "logs with one result for each shard", got)
    total = sum(-(-plan.count // plan.size) for plan in first.plans)
    if total > _MOST:
        raise InputError("FILE", f"logs of at most {_MOST:,} shards", f"of {total:,}: {paths[0]}")
    shards = [shard for plan in first.plans for shard in plan.shards()]
    return United(
        first.identity,
        first.plans,
        {shard: finished[shard] for shard in shards if shard in finished},
        tuple(shard for shard in shards if shard not in finished),
    )


def _require_same_run(first: LogContent, other: LogContent, path: object) -> None:
    differ = difference(first.identity, other.identity)
    if differ is not None:
        got = f"of two ({differ[0]}; {differ[1]}): {path}"
        raise InputError("FILE", "logs of one run", got)

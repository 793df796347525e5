"""A run of shards in a process of its own, to be killed: slow_shards.py LOG OUT PAUSE JOBS"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from attncert.verify.scale.engine import run
from attncert.verify.scale.log import Judge, ShardLog
from attncert.verify.scale.shards import Identity, Plan, Shard

PLAN = Plan("digests", seed=3, count=40, size=3)
IDENTITY = {
    "version": "1",
    "input_sha256": "0" * 64,
    "settings": {"digests": {}},
    "plans": [PLAN.as_dict()],
}


def anything(identity: Identity, plans: tuple[Plan, ...]) -> Judge:
    """Rules of a log that may say anything."""
    return lambda shard, result: None


def digests(shard: Shard, pause: float = 0.0) -> dict[str, Any]:
    """One digest for each item: what would show an item done twice, left out or put elsewhere."""
    time.sleep(pause)
    items = range(shard.start, shard.stop)
    return {
        "items": [hashlib.sha256(f"{shard.kind} {shard.seed} {i}".encode()).hexdigest()[:8]
                  for i in items]
    }  # fmt: skip


def ends_its_worker(shard: Shard) -> dict[str, str]:
    """One shard ends every process that takes it, as a lack of memory does."""
    if shard.start == 0:
        os._exit(1)
    return digests(shard)


def united(results: dict[Shard, Any]) -> bytes:
    """What a run reports: every item, in order."""
    return json.dumps([item for result in results.values() for item in result["items"]]).encode()


def main(log: str, out: str, pause: float, jobs: int) -> None:
    with ShardLog(log, IDENTITY, anything) as kept:
        results = run(PLAN.shards(), partial(digests, pause=pause), jobs=jobs, log=kept)
    Path(out).write_bytes(united(results))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]))

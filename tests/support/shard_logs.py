"""Logs of shards, small ones, and what they may say; taken apart and put together by other code
than reads and writes them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from attncert.verify.kruskal.examine import examine
from attncert.verify.kruskal.records import rules
from attncert.verify.kruskal.sampling.jobs import Question, identity, run_part
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.scale.log import ShardLog
from attncert.verify.scale.shards import Part, Result, Shard


def contents(raw: bytes) -> list[Any]:
    """What the lines say: the header, and the shards with their results."""
    return [json.loads(line)["content"] for line in raw.splitlines()]


def sealed(lines: Iterable[Any]) -> bytes:
    """The log with these lines, each with its checksum."""
    return b"".join(_sealed(json.dumps(x, sort_keys=True, separators=(",", ":"))) for x in lines)


def _sealed(text: str) -> bytes:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f'{{"content":{text},"sha256":"{digest}"}}\n'.encode()


TABLE = np.random.default_rng(0).integers(-50, 51, (20, 8)).astype(np.float64)
TABLE[3::4] = TABLE[0::4] + TABLE[1::4] + TABLE[2::4]  # 0, 1, 2, 3 are dependent; 4, 5, 6, 7; ...
VECTORS = Vectors.of(TABLE)
ASKED = {"subsets": 8, "prefixes": None}


def question(kind: str) -> Question:
    """What the log of that kind answers; its command line is --k 8, and none."""
    return Question(k=ASKED[kind], budget=None, work=1.0, subsets=200, bases=4, device="cpu")


def write_logs(folder: Path) -> list[Path]:
    """Logs about `VECTORS`: of subsets and of prefixes, each with bases, all with witnesses."""
    for kind in ASKED:
        asked = question(kind)
        with ShardLog(folder / kind, identity(VECTORS, asked), rules(VECTORS)) as log:
            examine(VECTORS, asked, log=log)
    return [folder / kind for kind in ASKED]


def write_sets(folder: Path) -> Path:
    """A log of all sets of 4 of `VECTORS`, dependent ones among them."""
    asked = replace(question("subsets"), k=4, bases=0, subsets=0, all_sets=True)
    with ShardLog(folder / "sets", identity(VECTORS, asked), rules(VECTORS)) as log:
        run_part(VECTORS, asked, Part(1, 1), log)
    return folder / "sets"


def is_sound(
    finished: Mapping[Shard, Result], shown: Mapping[str, Any] | None, verified: bool
) -> bool:
    """Shards that exist; counts of their items; relations that hold, in fractions, wherever they
    are verified; and none that is not verified is shown."""
    for shard, result in finished.items():
        if shard.kind == "sets":
            if not _looked_at(shard, result, verified):
                return False
            continue
        if not 0 <= shard.start < shard.stop <= (4 if shard.kind == "bases" else 200):
            return False
        counts = result.get("lengths") or {k: n for k, n in result.items() if k != "witness"}
        if sum(counts.values()) != shard.stop - shard.start:
            return False
        if verified and result["witness"] is not None and not _holds(result["witness"]):
            return False
    names = ("sampled", "bases", "sets")
    witnesses = [(shown or {})[name] for name in names if (shown or {}).get(name)]
    published = [found["witness"] for found in witnesses if found.get("witness") is not None]
    return all(verified and _holds(witness) for witness in published)


def _looked_at(shard: Shard, result: Result, verified: bool) -> bool:
    """One of the 17 pieces of the search, settled or not; numbers where numbers must be."""
    numbers = [result["settled"], result["looked at"], result["false alarms"], *result["primes"]]
    if not 0 <= shard.start < shard.stop <= 17 or {*map(type, numbers)} != {int}:
        return False
    witness, whole = result["witness"], result["settled"] in (0, shard.stop - shard.start)
    return whole and (witness is None or not verified or _holds(witness))


def _holds(witness: Mapping[str, Any]) -> bool:
    indices, weights = witness["indices"], [Fraction(c) for c in witness["coefficients"]]
    sums = (
        sum(c * Fraction(x) for c, x in zip(weights, column, strict=True))
        for column in TABLE[indices].T.tolist()
    )
    return bool(indices) and 0 not in weights and not any(sums)

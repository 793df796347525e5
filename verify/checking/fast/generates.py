"""The fast check of "generates" certificates: many situations at once, in float64 and Arb.

The plain checker judges the examples. verify/outputs judges the situations, as it did for the
writer of the file.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.data.transducer import Transducer
from attncert.constructions.network.file import of_json
from attncert.verify.checker import Limits, need
from attncert.verify.checker.nearest import Generating, generated
from attncert.verify.checker.nearest import judge as judge_examples
from attncert.verify.outputs.situations import Cases, judged


def judge(cert: dict[str, Any], parts: Generating, limits: Limits) -> str:
    """The claim in one line. Raises Rejected."""
    statement = judge_examples(cert, parts.nearest, limits)
    known, spelled = parts.domain, cert["spelled"]
    domain = Transducer(known.letters, known.places, cert["domain"]["start"], known.step)
    tables = (spelled[key] for key in ("embedding", "positions"))
    embedding, positions = (None if x is None else ExactArray.of(x) for x in tables)
    assert embedding is not None
    cases = Cases(domain, known.width, of_json(cert["network"]), embedding, positions)
    margin = Fraction(*parts.nearest.margin)
    for shard in cases.shards:
        limits.on_time()
        record, where = judged(shard, cases), f"in a situation before symbol {shard.kind}"
        need(record["wrong"] is None, f"the margin {where} is smaller than claimed", "wrong")
        decided = not record["open"] and Fraction(record["least"][1]) >= margin
        need(decided, f"balls are too wide to bound the margin {where}", "over limit")
    return generated(statement, known)

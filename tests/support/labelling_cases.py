"""Small true "every-labelling" certificates, made by the attack's oracle, not by a builder.

Ranks are those of derivatives computed as differences, with the real exponential in mpmath.
"""

from __future__ import annotations

import copy
import random
from functools import cache
from typing import Any

from support.given_oracle import (
    PRIME,
    Example,
    Head,
    draw_matrix,
    jacobian_rank,
    zero_groups,
)
from support.small_certificates import NOTHING, layer_block, sealed

from attncert.constructions.exact.primes import PRIMES_FLOAT64

Certificate = dict[str, Any]

# the sizes of the sets of heads; T, n, d, shared; the head width
CASES = {
    "pair": ((2,), (8, 3, 3, False), 1),
    "three and one": ((3, 1), (13, 2, 3, False), 1),
    "shared": ((2, 2), (9, 3, 3, True), 1),
    "wide": ((2,), (9, 3, 3, False), 2),
    "wide labels": ((2, 2), (5, 3, 3, False), 1),
}


def certificate_of(examples: list[Example], heads: list[Head], m: int = 1) -> Certificate:
    """A file with this claim, true or not."""

    def text(table: Any) -> Any:
        return [text(x) for x in table] if isinstance(table, list | tuple) else str(table)

    contexts = [context for context, _ in examples]
    shared = all(context is contexts[0] for context in contexts) and len(contexts) > 1
    heads_as_text = [
        {"key": text(h.keys), "query": text(h.queries), "value": text(h.values)} for h in heads
    ]
    body = NOTHING | {
        "claim": "every-labelling",
        "construction": "by hand",
        "dims": {
            "examples": len(examples),
            "context": len(contexts[0]),
            "width": len(contexts[0][0]),
            "labels": m,
            "heads": len(heads),
            "head_width": len(heads[0].keys[0]),
            "value_width": len(heads[0].values[0]),
        },
        "data": {
            "contexts": text(contexts[:1] if shared else contexts),
            "queries": text([query for _, query in examples]),
            "labels": text([[0] * m for _ in examples]),
        },
        "network": [layer_block(heads_as_text, text([row for h in heads for row in h.outputs]))],
        "groups": [list(range(len(examples)))],
        "rank": {"prime": str(PRIME), "value": len(examples) * m},
        "produced_by": {},
        "input_sha256": "",
        "digest": "",
    }
    return sealed(body)


@cache
def _case(name: str) -> Certificate:
    sizes, (T, n, d, shared), width = CASES[name]
    rng, m = random.Random(name), 2 if name == "wide labels" else 1
    while True:
        context = draw_matrix(rng, n, d, 5)
        examples = [
            (context if shared else draw_matrix(rng, n, d, 5), e) for e in draw_matrix(rng, T, d, 5)
        ]
        heads = zero_groups(rng, sizes, d, width) if m == 1 else _wide(rng, sizes, d)
        if jacobian_rank(examples, heads) == T * m:
            return certificate_of(examples, heads, m)


def _wide(rng: random.Random, sizes: tuple[int, ...], d: int) -> list[Head]:
    """Sets of two heads with values of width 1 and labels of width 2."""
    heads = []
    for _ in sizes:
        keys, queries, values = (draw_matrix(rng, d, 1, 99) for _ in range(3))
        output = draw_matrix(rng, 1, 2, 99)
        heads.append(Head(keys, queries, values, output))
        heads.append(Head(keys, queries, [[-x for x in row] for row in values], output))
    return heads


def case(name: str) -> Certificate:
    """A new copy, which a test may change."""
    return copy.deepcopy(_case(name))


def with_small_prime(file: Certificate) -> Certificate:
    """The file with a prime for --fast, which uses only float64."""
    file["rank"]["prime"] = str(PRIMES_FLOAT64[0])
    return sealed(file)

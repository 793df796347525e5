"""Files for every claim on token sequences, and the same claims with the prefixes written out."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from support import labelling_cases, near_cases
from support.given_oracle import jacobian_rank, zero_groups
from support.small_certificates import (
    Certificate,
    changed,
    impossible_certificate,
    layer_certificate,
    sealed,
    text,
)

from attncert import Dataset

EMBEDDING = [[1, 0, 2], [-1, 1, 1], [0, 2, -1], [2, 1, 0]]
POSITIONS = [[1, 1, 0], [0, -1, 2], [1, 0, 1], [-2, 1, 1], [0, 3, 1], [1, -1, -1]]
SEQUENCES = [[0, 1, 1, 2, 1, 3], [0, 2, 2, 1], [3]]
EXAMPLES = [[0, 1], [0, 2], [0, 3], [0, 5], [1, 2], [1, 3], [1, 0]]
TOKENS = [place + 1 for _, place in EXAMPLES]
LABELS = [[x] for x in (3, 1, 2, 5, 1, 2, 4)]


def prefixes(positions: Any = None) -> tuple[list[Any], list[Any]]:
    """Contexts, each token in a row of its own, and queries."""
    shifts = positions or [[0, 0, 0]] * 6
    contexts = [
        [
            [a + b for a, b in zip(EMBEDDING[x], shifts[i], strict=True)]
            for i, x in enumerate(SEQUENCES[s][: place + 1])
        ]
        for s, place in EXAMPLES
    ]
    return contexts, [context[-1] for context in contexts]


def listed(plain: Certificate, positions: Any = None) -> Certificate:
    """The same claim with its data as sequences."""
    data = {
        "embedding": text(EMBEDDING),
        "positions": positions and text(positions),
        "sequences": SEQUENCES,
        "examples": EXAMPLES,
        "labels": plain["data"]["labels"],
    }
    return sealed(plain | {"data": data, "tokens": None})


def of_layer(claim: str, positions: Any = None) -> Certificate:
    contexts, queries = prefixes(positions)
    rows = [[[Fraction(x) for x in row] for row in context] for context in contexts]
    inputs = rows, [[Fraction(x) for x in row] for row in queries]
    return layer_certificate(claim, T=7, d=3, H=4, tokens=TOKENS, inputs=inputs)


def near(positions: Any = None) -> Certificate:
    plain = near_cases.certificate(Dataset.of(*prefixes(positions), LABELS), 3, 1, 1)
    plain["data"]["contexts"] = text(prefixes(positions)[0])
    return sealed(plain | {"tokens": TOKENS})


def every_labelling(positions: Any = None) -> Certificate:
    draw, examples = random.Random(5), list(zip(*prefixes(positions), strict=True))
    while True:
        heads = zero_groups(draw, (2, 2), 3, 1)
        if jacobian_rank(examples, heads) == 7:
            plain = labelling_cases.certificate_of(examples, heads)
            plain["rank"]["prime"] = "11863067"  # small enough for the fast check
            plain["dims"]["context"] = 6
            return sealed(plain | {"tokens": TOKENS})


def impossible(positions: Any = None) -> Certificate:
    """The first example occurs twice."""
    contexts, queries = prefixes(positions)
    contexts[6], queries[6] = contexts[0], queries[0]
    return impossible_certificate(contexts, queries, LABELS, [1, 0, 0, 0, 0, 0, -1])


def network(positions: Any = None) -> Certificate:
    plain = of_layer("interpolation", positions)
    dims = {key: plain["dims"][key] for key in ("examples", "context", "width", "labels")}
    return sealed({k: x for k, x in plain.items() if k != "groups"}
                  | {"claim": "network", "dims": dims})  # fmt: skip


def within(positions: Any = None) -> Certificate:
    return sealed(network(positions) | {"claim": "outputs-within", "within": "1/1000"})


BUILDERS: dict[str, Callable[..., Certificate]] = {
    "interpolation": lambda positions=None: of_layer("interpolation", positions),
    "full-rank": lambda positions=None: of_layer("full-rank", positions),
    "interpolation-near": near,
    "every-labelling": every_labelling,
    "impossible": impossible,
    "network": network,
    "outputs-within": within,
}


def twice(certificate: Certificate) -> Certificate:
    """The last example repeats the first."""
    return changed(certificate, "data.examples.6", EXAMPLES[0])


def true_file(claim: str, positions: Any = None) -> Certificate:
    file = listed(BUILDERS[claim](positions), positions)
    return twice(file) if claim == "impossible" else file


TRUE = {claim: true_file(claim) for claim in BUILDERS}

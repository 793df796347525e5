"""True and false files of every claim, on which the checkers must agree: sequences with repeated
symbols, masks, ties, outputs at the bound, small primes, and blocks before a layer."""

from __future__ import annotations

import copy
import random
from contextlib import suppress
from fractions import Fraction
from functools import cache
from typing import Any

from support import networks, sequence_cases
from support.adversarial_changes import OF_CLAIM, changed, true_files
from support.near_cases import case
from support.small_certificates import NOTHING, Certificate, sealed

OF_NETWORKS = ("network", "outputs-within", "nearest")
PRIMES = ["3", "5", "7", "9", "11", "13", "257", "10007", "2147483579", str(2**61 - 1)]


def verdict_file(draw: random.Random) -> tuple[Certificate, bool | None]:
    """A file, and whether what it claims is true, if that is known from plain fractions."""
    if draw.random() < 0.6:
        return of_a_network(draw)
    file = copy.deepcopy(draw.choice(layers(draw.choice([*OF_CLAIM, "interpolation-near"]))))
    if "prime" in file.get("rank", {}) and draw.random() < 0.5:
        file["rank"]["prime"] = draw.choice(PRIMES)
    if "sequences" in file["data"] and draw.random() < 0.5:
        symbols = draw.choice([x for x in file["data"]["sequences"] if x])
        symbols[draw.randrange(len(symbols))] = draw.choice(symbols)  # one repeats another
    if file["claim"] in OF_CLAIM and draw.random() < 0.4:
        file = changed(draw, file)
    return sealed(file), None


@cache
def layers(claim: str) -> list[Certificate]:
    plain = [case("shared")] if claim == "interpolation-near" else true_files(claim)[:40]
    behind = [networks.behind(x, k) for k, x in enumerate(plain[:10]) if "heads" in x["dims"]]
    positions = (None, sequence_cases.POSITIONS)
    builders = [claim] * (claim in sequence_cases.BUILDERS)
    return plain + behind + [sequence_cases.true_file(x, p) for x in builders for p in positions]


def of_a_network(draw: random.Random) -> tuple[Certificate, bool | None]:
    """A file with one of the claims about networks, on small numbers, so that ties occur; its bound
    is met, or missed by 2^-k."""
    data, contexts, queries = sequences(draw)
    lengths, d = {len(context) for context in contexts}, len(queries[0])
    n = lengths.pop() if len(lengths) == 1 else 0
    blocks = networks.random_blocks(draw, d, n, draw.random() < 0.8)
    claim, outputs, exact = draw.choice(OF_NETWORKS), None, True
    written_out = {"contexts": contexts, "queries": queries}
    while outputs is None:
        try:
            outputs = networks.outputs(blocks, written_out, exact)
        except networks.Irrational:
            if not exact:
                return of_a_network(draw)
            exact = False
    off = Fraction(draw.choice([-1, 0, 0, 1]), 2 ** draw.choice([0, 1, 40, 90, 127, 140]))
    bound = Fraction(draw.randint(1, 9), draw.choice([1, 3, 10**9, 10**40]))
    labels, true, told = outputs, bool(off == 0), dict[str, Any]()
    if claim == "outputs-within":
        side, true = draw.choice([-1, 1]), off <= 0
        bound, told = max(bound, 2 * abs(off)), {"within": str(max(bound, 2 * abs(off)))}
        labels = [[x + side * (bound + off) for x in row] for row in outputs]
    elif claim == "network":
        labels = [[x + off * (t == 0) for x in row] for t, row in enumerate(outputs)]
    else:
        labels = [[Fraction(round(x)) for x in row] for row in outputs]
        if draw.random() < 0.3:
            labels = labels[::-1]
        margin = least_margin(outputs, labels)
        if margin is None:
            return of_a_network(draw)
        edge = margin + off if margin + off > 0 else bound
        true, told = margin >= edge, {"nearest": {"margin": str(edge)}}
    data["labels"] = networks.as_text(labels)
    dims = {"examples": len(queries), "context": max(map(len, contexts)), "width": d,
            "labels": len(labels[0])}  # fmt: skip
    file = NOTHING | {
        "claim": claim, "construction": "random", "dims": dims,
        "data": data, "network": blocks, "produced_by": {}, **told,
    }  # fmt: skip
    if draw.random() < 0.15:
        with suppress(LookupError, ValueError, TypeError):
            return sealed(networks.mutant(file, draw)), None
    return sealed(file), true if exact else None


def sequences(draw: random.Random) -> tuple[Any, list[Any], list[Any]]:
    """Data, and the same data written out as contexts and queries."""
    V, d, long = draw.randint(1, 3), draw.randint(1, 2), draw.randint(1, 5)
    embedding = networks.numbers(draw, V, d, draw.random() < 0.8)
    positions = networks.numbers(draw, long, d, True) if draw.random() < 0.3 else None
    texts = [[draw.randrange(V) for _ in range(long)] for _ in range(draw.randint(1, 3))]
    place, places = draw.randrange(long), list[list[int]]()
    for _ in range(draw.randint(1, 3)):
        places.append([draw.randrange(len(texts)), place])
        place = place if draw.random() < 0.7 else draw.randrange(long)
    shifts = positions or [["0"] * d] * long
    rows = [
        [
            networks.plus(networks.vector(embedding[x]), networks.vector(shift))
            for x, shift in zip(text, shifts, strict=True)
        ]
        for text in texts
    ]
    contexts = [rows[s][: i + 1] for s, i in places]
    data = {"embedding": embedding, "positions": positions, "sequences": texts, "examples": places}
    return data, contexts, [context[-1] for context in contexts]


def least_margin(outputs: Any, labels: Any) -> Fraction | None:
    """The least margin; None if there is only one label."""
    margins = [
        sum((a - b) * x - (a * a - b * b) / 2 for a, b, x in zip(y, other, o, strict=True))
        for o, y in zip(outputs, labels, strict=True)
        for other in labels
        if other != y
    ]
    return min(map(Fraction, margins)) if margins else None

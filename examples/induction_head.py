"""Two blocks of attention that continue a pattern (an induction head), on all strings of length 6.

The output is the mean of the successors of earlier copies of the last letter, as one number for
each of three letters; zero where there is no earlier copy. A token holds its letter (3 numbers),
whether it is the start, its place, and room for the letter before it. The query is one for all
strings: an empty token at the place after the last.

Block 1, every token and the query: the key is the place, the query the place before the own one.
The logit is 1 at the token before and 0 elsewhere; the value is that token's letter, written into
the room. (The start sees itself, and has no letter.)

Block 2, the query: both the key and the query are the letter in the room, the query's is the last
one. The logit is 1 at successors of copies, 0 at other tokens, and 1/2 at the start, whose room is
empty: with hardmax the output is the mean, and 0 where nothing reaches 1.

*With softmax* at scale s the logits above are multiplied by s: the margins are s and s/2. What is
not the largest has a weight of at most 6e^(-s) in block 1 and about 6e^(-s/2) in block 2, which is
1e-13 for s = 64. The certificate encloses the outputs on all strings.

    python examples/induction_head.py [FOLDER]
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

from flint import fmpq, fmpq_mat

from attncert import Dataset, check
from attncert.constructions.layer import Head
from attncert.constructions.network.blocks import Attention
from attncert.constructions.network.network import Network
from attncert.verify.network.within import certificate
from attncert.verify.origins.domain import whole_domain

LETTERS, LENGTH, SCALE, WITHIN = 3, 6, 64, Fraction(1, 10**12)
START, PLACE = LETTERS, LETTERS + 1
ROOM = PLACE + LENGTH + 2
WIDTH = ROOM + LETTERS


def network(rule: str = "hardmax", scale: int = 1) -> Network:
    """rule: "hardmax", or "softmax" with logits times scale."""
    unit = "1" if rule == "softmax" else None
    letters = _matrix(LETTERS, {(j, j): 1 for j in range(LETTERS)})
    room = _matrix(LETTERS, {(ROOM + j, j): 1 for j in range(LETTERS)})
    places = LENGTH + 2
    before = Head(
        key=_matrix(places, {(PLACE + i, i): 1 for i in range(places)}),
        query=_matrix(places, {(PLACE + i, max(i - 1, 0)): scale for i in range(places)}),
        value=letters,
    )
    half = _matrix(LETTERS, {(START, j): fmpq(1, 2) for j in range(LETTERS)})
    successors = Head(key=room + half, query=room * fmpq(scale), value=letters)
    one = fmpq_mat(LETTERS, LETTERS, [i == j for i in range(LETTERS) for j in range(LETTERS)])
    return Network((
        Attention((before,), room.transpose(), "all", rule, unit, residual=True),
        Attention((successors,), one, "query", rule, unit),
    ))  # fmt: skip


def _matrix(columns: int, entries: dict[tuple[int, int], object]) -> fmpq_mat:
    rows = [[entries.get((i, j), 0) for j in range(columns)] for i in range(WIDTH)]
    return fmpq_mat(rows)


def strings() -> Dataset:
    """All of them; the label by counting."""
    words = list(product(range(LETTERS), repeat=LENGTH))
    contexts = [[_token(0, START), *(_token(i, x) for i, x in enumerate(w, 1))] for w in words]
    queries = [_token(LENGTH + 1)] * len(words)
    data = Dataset.of(contexts, queries, list(map(continued, words)), "all-strings")
    return whole_domain(data)


def _token(place: int, *marks: int) -> list[int]:
    return [int(j in {PLACE + place, *marks}) for j in range(WIDTH)]


def continued(word: tuple[int, ...]) -> list[Fraction]:
    successors = [b for a, b in pairwise(word) if a == word[-1]]
    count = len(successors) or 1
    return [Fraction(successors.count(letter), count) for letter in range(LETTERS)]


def main(folder: str = ".") -> None:
    data, by = strings(), {"version": "1", "command": "induction_head.py", "seed": 0}
    for name, heads, within in (
        ("hardmax", network(), None),
        ("softmax", network("softmax", SCALE), WITHIN),
    ):
        file = certificate(data, heads, construction="induction", produced_by=by, within=within)
        path = Path(folder, f"induction-{name}.json")
        path.write_text(json.dumps(file))
        verdict = check(path)
        print(f"An induction head by {name}, all {data.T} strings: {verdict.status}.")
        print(f"{path}: {verdict.message}")


if __name__ == "__main__":
    main(*sys.argv[1:])

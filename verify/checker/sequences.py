"""Token sequences. The context of an example is a sequence up to and including some place; its
query is the last token of the context.

A sequence is read once. Contexts are lists of rows of the sequence. Without positions, equal
symbols share one object, so that `merged` in `layer.py` can count them.
"""

if __name__ == "__main__":
    print("unusable: run the folder, not this file: python checker certificate.json")
    raise SystemExit(2)

from typing import Any

from .blocks import shaped
from .limits import Limits, need
from .reading import Table, numbers, typed

KEYS = "embedding positions sequences examples labels"


class Rows:
    """A table that `numbers` accepts instead of JSON."""

    def __init__(self, rows: Any, like: Table, width: int) -> None:
        self.table, self.width = (rows, like.unit, like.bits), width

    def integers(self, where: str, *shape: Any) -> Any:
        wide = not shape or shape[-1] == self.width
        need(wide, "embedding must have the width given in dims")
        return self.table


def prefixes(cert: Any, limits: Limits) -> Any:
    """The certificate with contexts, queries and numbers of tokens instead of sequences."""
    data = cert["data"]
    need(cert["tokens"] is None, "tokens must be null if there are sequences")
    symbols = shaped(limits, data["embedding"], "embedding")
    count, d = len(symbols.rows), len(symbols.rows[0])
    sequences = typed(data["sequences"], list, "sequences")
    for sequence in sequences:
        known = all(type(x) is int and 0 <= x < count for x in typed(sequence, list, "a sequence"))
        need(known, "sequences must hold numbers of rows of embedding, counted from 0")
    examples = places(data["examples"], sequences, cert["dims"]["examples"])
    limits.hold(16 * sum(place + 1 for _, place in examples))
    table, tokens = placed(limits, symbols, sequences, data["positions"], d)
    contexts = [tokens[s][: place + 1] for s, place in examples]
    counts = [len(context) for context in contexts]
    need(max(counts) == cert["dims"]["context"], "dims.context is not the longest context")
    queries = Rows([context[-1] for context in contexts], table, d)
    both = {"contexts": Rows(contexts, table, d), "queries": queries}
    differ = counts if len(set(counts)) > 1 else None
    data = both | {"labels": data["labels"]}
    return cert | {"data": data, "tokens": differ, "spelled": cert["data"]}


def places(examples: Any, sequences: Any, count: int) -> Any:
    need(len(typed(examples, list, "examples")) == count, f"there must be {count} examples")
    for pair in examples:
        whole = len(typed(pair, list, "an example")) == 2 and all(type(x) is int for x in pair)
        inside = whole and 0 <= pair[0] < len(sequences) and 0 <= pair[1] < len(sequences[pair[0]])
        need(inside, "examples must be pairs of a sequence and a place in it, counted from 0")
    return examples


def placed(limits: Limits, symbols: Table, sequences: Any, positions: Any, d: int) -> Any:
    """The rows of each sequence, with positions added, over the unit of the table."""
    if positions is None:
        return symbols, [[symbols.rows[x] for x in sequence] for sequence in sequences]
    count, longest = len(typed(positions, list, "positions")), max(map(len, sequences))
    need(count >= longest, "positions must have a row for each place of the longest sequence")
    shifts = numbers(limits, positions, "positions", count, d)
    unit = limits.lcm(symbols.unit, shifts.unit)
    bits = max(symbols.bits, shifts.bits) + unit.bit_length() + 1
    limits.allow(bits, d * sum(map(len, sequences)))
    tokens = []
    for sequence in sequences:
        limits.on_time()
        pairs = zip((symbols.rows[x] for x in sequence), shifts.rows, strict=False)
        tokens.append([added(row, unit // symbols.unit, at, unit // shifts.unit)
                       for row, at in pairs])  # fmt: skip
    return Table([], unit, bits), tokens


def added(x: Any, a: int, y: Any, b: int) -> list[int]:
    return [p * a + q * b for p, q in zip(x, y, strict=True)]

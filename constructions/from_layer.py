"""A construction from given keys and queries: it finds which examples each head adds.

Every construction results in a layer. The group of a head consists of the examples that become
independent only with its features; the feature columns that show this are its pivots. The readout
needs only these (ours).
"""

from __future__ import annotations

from attncert.constructions.arrays import IntegerArray
from attncert.constructions.construction import (
    BuiltLayer,
    PlacedHead,
    over_primes,
    with_idle_heads,
)
from attncert.constructions.data.conversion import narrow
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails, InputError
from attncert.constructions.exact.modular import UnluckyPrime
from attncert.constructions.exact.primes import PRIMES_21
from attncert.constructions.layer import Head, Layer, integer_logits
from attncert.constructions.search.feature_blocks import FeatureBlocks
from attncert.constructions.search.placement import Placement, independent_rows


def from_layer(layer: Layer, data: Dataset, name: str, heads: int | None = None) -> BuiltLayer:
    """The construction with these keys and queries, all of one width, over ℚ in units of ln 2.
    Heads that place no example come last. Arithmetic: exact; the rank is decided mod p. Raises
    InputError if shapes do not agree, HypothesisFails if the layer has more than H heads, and
    HypothesisFails, undecided, if a logit is not an integer or the rank is below T. Source:
    docs/constructions.md.

    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 0], [0, 1]], [3, 4])
    >>> from_layer(Layer.of_weights([([[1], [0]], [[1], [2]])]), data, "mine").groups
    ((0, 1),)
    """
    _require_shapes(layer, data)
    data = data.expanded()  # one logit for each token
    if heads is not None:
        needed = len(layer.heads)
        if heads < needed:
            numbers = {"heads": heads, "needed": needed}
            raise HypothesisFails("capacity", f"{needed} heads are needed", numbers)
        layer = with_idle_heads(layer.heads, heads)
    tables = [_logits(data, layer, h) for h in range(len(layer.heads))]

    def attempt(prime: int) -> list[tuple[int, PlacedHead]]:
        blocks = FeatureBlocks(data, prime)
        placed = Placement(data.T, prime)
        records = []
        for number, table in enumerate(tables):
            earlier = tuple(placed.rows)
            remaining = placed.unplaced
            if not remaining:
                break
            block = blocks.of(_filled_up(table, data.n))
            rest = placed.remainder(remaining, block)
            rows, pivots = independent_rows(rest, prime)
            if not rows:
                continue
            group = [remaining[i] for i in rows]
            placed.extend(group, block, pivots, rest)
            head = PlacedHead(
                group=tuple(group),
                earlier=earlier,
                logits=tuple(tuple(table[t]) for t in group),
                pivots=blocks.in_features(pivots),
            )
            records.append((number, head))
        if len(placed.rows) < data.T and prime != PRIMES_21[-1]:
            raise UnluckyPrime
        if len(placed.rows) < data.T:
            raise HypothesisFails(
                "search",
                f"the features of these weights have rank {len(placed.rows)} mod {prime}, and "
                f"rank {data.T} is needed: example {placed.unplaced[0]} depends on the others",
                {"rank": len(placed.rows), "examples": data.T},
                decided=False,
            )
        return records

    placing = over_primes(attempt)
    placed = [number for number, _ in placing]
    others = [number for number in range(len(layer.heads)) if number not in set(placed)]
    order = [*placed, *others]
    return BuiltLayer(
        name=name,
        layer=Layer(tuple(Head(layer.heads[h].key, layer.heads[h].query) for h in order)),
        groups=tuple(head.group for _, head in placing),
        heads=tuple(head for _, head in placing),
    )


def _logits(data: Dataset, layer: Layer, h: int) -> list[list[int]]:
    try:
        return integer_logits(layer.heads[h], data)
    except ValueError as error:
        reason = f"the weights of head {h + 1} do not fit: {error}"
        raise HypothesisFails("search", reason, {}, decided=False) from None


def _filled_up(table: list[list[int]], n: int) -> IntegerArray:
    """The table (T, n), with shorter rows padded with their first entry."""
    flat = [k for row in table for k in (*row, *row[:1] * (n - len(row)))]
    return narrow(flat, (len(table), n))


def _require_shapes(layer: Layer, data: Dataset) -> None:
    if not layer.heads:
        raise InputError("layer", "made of at least one head", "empty")
    width = layer.head_width
    for number, head in enumerate(layer.heads, start=1):
        for name, matrix in (("key", head.key), ("query", head.query)):
            shape = (int(matrix.nrows()), int(matrix.ncols()))
            if shape != (data.d, width):
                raise InputError(f"{name} of head {number}", f"of shape {(data.d, width)}", shape)

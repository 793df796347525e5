"""The claims "network" and "outputs-within": the outputs of a sequence of blocks.

The state of an example is its tokens and its query, which are vectors. A block maps a state to
another, and the output is the query after the last block. Read `judge`, then `changed` (a block
applied to a vector), then `arithmetic.py`, which is exact as long as numbers are rational and
otherwise uses balls with the true exponential.
"""

if __name__ == "__main__":
    print("unusable: run the folder, not this file: python checker certificate.json")
    raise SystemExit(2)

from collections import namedtuple
from functools import cached_property
from typing import Any

from .arithmetic import LONGEST, Mixed, is_exact
from .blocks import (
    SMOOTH,
    Attention,
    FeedForward,
    Gated,
    Group,
    Normalization,
    Positions,
    block,
    widths,
)
from .exact import Exact
from .layer import contexts_of, width_of
from .limits import MAX_BITS, Limits, need
from .near import GUARD
from .reading import Table, all_of, dims, numbers

Parts = namedtuple("Parts", "blocks contexts queries labels within")


# Reading.


def parts(cert: Any, limits: Limits) -> Parts:
    T, d, m = dims(cert, "examples width labels")
    need(cert["saturation"] is None, "saturation must be null")
    within = None
    if cert["claim"] == "outputs-within":
        (p,), q, _ = numbers(limits, [cert["within"]], "within", 1)
        need(p > 0, "within must be above 0")
        within = p, q
    need(type(cert["network"]) is list and cert["network"], "network must be a list of blocks")
    parts = Parts(
        [block(limits, x) for x in cert["network"]],
        contexts_of(limits, cert, cert["data"]),
        numbers(limits, cert["data"]["queries"], "queries", T, d),
        numbers(limits, cert["data"]["labels"], "labels", T, m),
        within,
    )
    for n in {len(tokens) for tokens in parts.contexts.rows}:
        query = widths(parts.blocks, n, d, d)[1]
        need(query == m, "the outputs must have as many numbers as the labels")
    return parts


# Evaluating.


def changed(
    on: Any, one: Any, vector: Any, tokens: Any, keys: Any, mask: Any, place: int | None
) -> Any:
    """The block applied to the vector. mask: the tokens that the vector attends to; None for all.
    place: the place of the vector; None for the query."""
    if type(one) is FeedForward:
        new = on.mapped(on.joined([vector, *tokens]) if one.of == "row" else vector, one.map)
        new = activated(on, new, one.activation)
    elif type(one) is Gated:
        gate = activated(on, on.mapped(vector, one.gate), one.activation)
        new = on.times(gate, on.mapped(vector, one.map))
    elif type(one) is Normalization:
        new = on.normalized(vector, one)
    elif type(one) is Positions:
        where = len(tokens) - 1 + one.next if place is None else place
        new = on.vector(one.table.rows[where], one.table.unit)
    else:
        attended = [i for i in range(len(tokens)) if mask is None or mask[i]]
        new = []
        for h, head in enumerate(one.heads):
            seen, rows = [keys[h][i] for i in attended], [tokens[i] for i in attended]
            if one.parts is None:
                weights = on.products(on.mapped(vector, head.query), seen)
            else:
                where = len(tokens) - 1 + one.parts.next if place is None else place
                weights = general(on, one, h, vector, where, seen, attended)
            if one.parts and one.parts.sinks:  # a sink acts like a zero token
                rows = [*rows, on.vector([0] * (len(head.out.columns[0]) - 1), 1)]
            if one.rule == "softmax":
                weights = on.softmax(weights, one.unit == "ln 2")
            elif one.rule == "hardmax":
                weights = on.hardmax(weights)
            new.append(on.mapped(on.mean(weights, rows), head.out))
        new = on.added(new)
    return on.added([new, vector]) if one.residual else new


def prepared(on: Any, parts: Any, which: int, vector: Any, place: int) -> Any:
    """A projected query (which = 0) or key (which = 1) at a place, normalized and rotated: each
    pair (x, y) becomes (x cos a - y sin a, x sin a + y cos a)."""
    if parts.norms:
        vector = on.normalized(vector, parts.norms[which])
    if parts.rotary is None:
        return vector
    radians, frequencies, unit = parts.rotary
    angles = [(on.limits.product(p, place), unit) for p in frequencies]
    cosines, sines = on.rotation(radians, angles)
    return on.added([on.times(vector, cosines), on.times(across(vector), sines)])


def across(vector: Any) -> Any:
    """The vector with each pair (x, y) replaced by (-y, x)."""
    entries, rest = vector
    swapped = [entries[i ^ 1] for i in range(len(entries))]
    turned = [x if i % 2 else -x for i, x in enumerate(swapped)]
    return turned, rest if is_exact(vector) else [rest[i ^ 1] for i in range(len(rest))]


def general(
    on: Any, one: Any, h: int, vector: Any, place: int, keys: Any, attended: list[int]
) -> Any:
    """The logits of head h for a vector at a place, computed in the order given in
    docs/certificate.md."""
    parts, query = one.parts, on.mapped(vector, one.heads[h].query)
    logits = on.products(prepared(on, parts, 0, query, place), keys)
    if parts.root > 1:
        logits = on.over_root(logits, parts.root)
    if parts.cap:
        logits = on.capped(logits, parts.cap)
    more = []
    if parts.slopes:
        slope = parts.slopes.rows[h]
        more.append(on.vector([-slope * abs(place - i) for i in attended], parts.slopes.unit))
    if parts.tables:
        table = parts.tables[h]
        more.append(on.vector([table.rows[place][i] for i in attended], table.unit))
    logits = on.added([logits, *more]) if more else logits
    if parts.sinks:
        logits = on.joined([logits, on.vector([parts.sinks.rows[h]], parts.sinks.unit)])
    return logits


def activated(on: Any, vector: Any, activation: str) -> Any:
    if activation in SMOOTH:
        return on.smooth(vector, activation)
    return vector if activation == "identity" else getattr(on, activation)(vector)


def alone(blocks: Any) -> tuple[Any, Any]:
    """The leading blocks that change each token separately, and the remaining blocks."""

    def is_alone(one: Any) -> bool:
        if type(one) is Group and not all(map(is_alone, one.blocks)):
            return False
        nextly = type(one) is Positions and one.next
        return one.of == "all" and type(one) is not Attention and not nextly

    count = 0
    while count < len(blocks) and is_alone(blocks[count]):
        count += 1
    return blocks[:count], blocks[count:]


def keys_of(on: Any, one: Any, tokens: Any) -> Any:
    """The keys of the tokens by head, if the block is attention."""
    if type(one) is not Attention:
        return []
    keys = [[on.mapped(x, head.key) for x in tokens] for head in one.heads]
    if one.parts:
        keys = [[prepared(on, one.parts, 1, x, i) for i, x in enumerate(row)] for row in keys]
    return keys


def before(on: Any, blocks: Any, tokens: Any, begun: Any = None) -> Any:
    """For each block, the tokens before it and the keys of its heads (for a group, the same for
    each of its blocks); then the final tokens. begun: the tokens that enter the blocks of a leading
    group, and the keys of the first attention, if there is one."""
    for one in blocks:
        n, attends = len(tokens), type(one) is Attention
        inner, keys = begun or (tokens, None)
        begun = None
        if type(one) is Group:
            keys = list(before(on, one.blocks, inner, (inner, keys) if keys else None))
        else:
            keys = keys or keys_of(on, one, tokens)
        yield tokens, keys
        if one.of == "all" and type(one) is Group:
            pairs = zip(keys[-1][0], tokens, strict=True)
            tokens = [on.added([new, x]) if one.residual else new for new, x in pairs]
        elif one.of == "all":
            masks: Any = [None] * n
            if attends and one.mask == "causal":
                masks = [[j <= i for j in range(n)] for i in range(n)]
            elif attends and one.mask is not None:
                masks = one.mask
            seen = zip(tokens, masks, range(n), strict=False)
            tokens = [changed(on, one, x, tokens, keys, mask, i) for x, mask, i in seen]
    yield tokens, []


def query_after(on: Any, blocks: Any, contexts: Any, query: Any, begun: Any = None) -> Any:
    """The query after the blocks. begun: the query that enters the blocks of a leading group."""
    for k, (one, (tokens, keys)) in enumerate(zip(blocks, contexts, strict=False)):
        if type(one) is Group:
            new = query_after(on, one.blocks, keys, query if k or begun is None else begun)
            query = on.added([new, query]) if one.residual else new
            continue
        mask: Any = one.mask if type(one) is Attention else None
        seen = None if mask in (None, "causal") else mask[-1]
        query = changed(on, one, query, tokens, keys, seen, None)
    return query


def states(on: Any, blocks: Any, contexts: Table, queries: Table, limits: Limits) -> Any:
    """For each example, its tokens and its query after the last block."""
    table = []
    for t, query in enumerate(queries.rows):
        limits.on_time()
        if t < len(contexts.rows):  # otherwise the context is shared
            tokens = [on.vector(x, contexts.unit) for x in contexts.rows[t]]
            table = list(before(on, blocks, tokens))
        yield table[-1][0], query_after(on, blocks, table, on.vector(query, queries.unit))


def judge(cert: Any, parts: Parts, limits: Limits) -> str:
    """An output within r / w of c / w is within p / q of y / u if |c u - y w| + r u <= w u p / q.
    It is not if |c u - y w| - r u > w u p / q. Otherwise the balls are too wide."""
    blocks, contexts, queries, labels, within = parts
    T, (p, q), u = cert["dims"]["examples"], within or (0, 1), labels.unit
    P = GUARD + (q // p if p else 0).bit_length()
    on = Mixed(P, limits, LONGEST if within else MAX_BITS)
    wrong = "is further from its label" if within else "is not its label"
    for t, (_, output) in enumerate(states(on, blocks, contexts, queries, limits)):
        centres, radii, w = on.around(output)
        most = limits.product(limits.product(w, u), p)
        for c, r, y in zip(centres, radii, labels.rows[t], strict=True):
            off = abs(limits.product(c, u) - limits.product(y, w))
            need((off - r * u) * q <= most, f"the output of example {t} {wrong}", "wrong")
            undecided = f"balls of {P} bits are too wide to compare the output of example {t}"
            need((off + r * u) * q <= most, undecided, "over limit")
    if within is None:
        return f"the outputs equal the labels of {all_of(T)}, exactly"
    return f"the outputs are within {cert['within']:.40} of the labels of {all_of(T)}"


class Derived:
    """Contexts and queries after all blocks except the last, in a form that `numbers` accepts
    instead of JSON. They are evaluated when they are first read, after the groups."""

    def __init__(self, cert: Any, limits: Limits) -> None:
        self.cert, self.data, self.limits = cert, cert["data"], limits
        self.blocks = [block(limits, x) for x in cert["network"][:-1]]

    @cached_property
    def behind(self) -> dict[str, Any]:
        """Contexts and queries, each as rows, their unit and the bits of the longest number."""
        data, (T, d) = self.data, dims(self.cert, "examples width")
        wide = width_of(self.cert, data)
        queries = numbers(self.limits, data["queries"], "queries", T, wide)
        contexts = contexts_of(self.limits, self.cert, data, wide)
        for n in {len(tokens) for tokens in contexts.rows}:
            fits = widths(self.blocks, n, wide, wide) == (d, d)
            need(fits, f"the blocks before the last must make tokens and queries of width {d}")
        on = Exact(self.limits)
        both = list(states(on, self.blocks, contexts, queries, self.limits))
        tables = [tokens for tokens, _ in both][: len(contexts.rows)]
        flat, unit = on.on_one_unit([vector for table in tables for vector in table])
        rows = iter(flat)
        asked, below = on.on_one_unit([query for _, query in both])
        return {
            "contexts": (
                [[next(rows) for _ in table] for table in tables],
                unit,
                longest(flat, unit),
            ),
            "queries": (asked, below, longest(asked, below)),
        }

    def integers(self, where: str, *_: Any) -> Any:
        return self.behind[where]


def longest(rows: Any, unit: int) -> int:
    return max(x.bit_length() for row in [[unit], *rows] for x in row)

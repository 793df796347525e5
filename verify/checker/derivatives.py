"""A network of softmax and affine blocks and its derivatives, in the arithmetics of two claims.

`network_rank.py` computes modulo a chain of primes: there are several fields, and the softmax
weights in one field come from the logits in the next. `network_near.py` computes with balls, so
there is only one "field", which has its own softmax. Read `attend` (the heads), `forward` (block by
block), `backward` (the chain rule for one block), then `derivatives`.
"""

if __name__ == "__main__":
    print("unusable: run the folder, not this file: python checker certificate.json")
    raise SystemExit(2)

from collections import namedtuple
from typing import Any

from .blocks import Attention, shaped
from .limits import Limits, need
from .near import Balls, vector

# fields: for each field that the block needs, its heads as (key, query, value, output), each with
# its transpose, or its (weights, their transpose, bias). relu: whether a ReLU follows. residual:
# the number of blocks that the skip connection spans, this block included, or 0.
Softmax = namedtuple("Softmax", "whole causal residual fields")
Affine = namedtuple("Affine", "whole residual fields relu")
Saved = namedtuple("Saved", "rows tokens heads")  # heads: for an affine block, its active units
# fields: their arithmetics. behind: 1 if softmax weights are computed from the logits in the next
# field, else 0.
Numbers = namedtuple("Numbers", "fields behind")


def placed(one: Any, written: Any, read: Any, limits: Limits) -> Any:
    """A block with its matrices. read: converts a table to each field; its second argument is the
    number of the table's first weight within the block."""
    if type(one) is not Attention:
        rows = [*written["weights"], written["bias"]]
        maps = [(x[:-1], x[-1]) for x in read(shaped(limits, rows, "weights"), 0)]
        affine_maps = [(a, turned(a), b) for a, b in maps]
        return Affine(one.of == "all", one.residual, affine_maps, one.activation == "relu")
    names, heads, first, start = ("key", "query", "value"), list[Any](), 0, 0
    for head in written["heads"]:
        tables = []
        for name in names:
            table = shaped(limits, head[name], name)
            tables.append(read(table, first))
            first += len(table.rows) * len(table.rows[0])
        heads.append(tables)
    output = read(shaped(limits, written["output"], "output"), first)
    for tables in heads:
        width = len(tables[2][0][0])
        tables.append([table[start : start + width] for table in output])
        start += width
    each = [[[(x, turned(x)) for x in field] for field in zip(*x, strict=True)] for x in heads]
    fields = [list(field) for field in zip(*each, strict=True)]
    return Softmax(one.of == "all", one.mask == "causal", one.residual, fields)


def turned(matrix: Any) -> Any:
    return [list(column) for column in zip(*matrix, strict=True)]


def product(rows: Any, columns: Any, on: Any) -> Any:
    """The product of rows with the matrix that has these columns."""
    made = []
    for row in rows:
        on.limits.on_time()
        made.append([on.dot(row, column) for column in columns])
    return made


def added(one: Any, other: Any, on: Any) -> Any:
    pairs = zip(one, other, strict=True)
    return [[on.plus(x, y) for x, y in zip(*pair, strict=True)] for pair in pairs]


def affine(table: Any, one: Affine, numbers: Numbers, active: Any) -> Any:
    """The block applied to rows in each field. active: each row's active units; None for all."""
    made = list[Any]()
    for rows, (_, columns, bias), on in zip(table, one.fields, numbers.fields, strict=False):
        sums = [
            [on.plus(x, b) for x, b in zip(row, bias, strict=True)]
            for row in product(rows, columns, on)
        ]
        made.append(masked(sums, active, on))
    return made


def masked(rows: Any, active: Any, on: Any) -> Any:
    """The rows with 0 in place of each inactive unit."""
    if active is None:
        return rows
    pairs = zip(rows, active, strict=True)
    return [[x if s else on.zero for x, s in zip(*pair, strict=True)] for pair in pairs]


def attend(rows: Any, tokens: Any, block: Any, numbers: Numbers, often: Any) -> Any:
    """The outputs of the heads for the rows in each field, and the intermediate values in the first
    field, which the derivatives need.

    rows, tokens: one table for each field. often: for each row, how often each token counts.
    """
    made, saved, logits = list[Any](), list[Any](), list[Any]()
    first = numbers.fields[0]
    first.limits.hold(first.bytes * len(block.fields[0]) * len(rows[0]) * len(tokens[0]))
    for heads, on, asking, context in zip(block.fields, numbers.fields, rows, tokens, strict=False):
        by_head = []
        for (_, key), (_, query), *_ in heads:
            keys, queries = product(context, key, on), product(asking, query, on)
            by_head.append((keys, queries, product(queries, keys, on)))
        logits.append(by_head)
    for k in range(len(logits) - numbers.behind):
        on, total, columns = numbers.fields[k], None, turned(tokens[k])
        for h, (_, _, (_, value), (_, output)) in enumerate(block.fields[k]):
            pairs = zip(logits[k + numbers.behind][h][2], often, strict=True)
            shares = [on.softmax(row, times) for row, times in pairs]
            means = product(shares, columns, on)
            values = product(means, value, on)
            part = product(values, output, on)
            total = part if total is None else added(total, part, on)
            if k == 0:
                keys, queries, _ = logits[0][h]
                saved.append((keys, queries, shares, means, values))
        made.append(total)
    return made, Saved(rows[0], tokens[0], saved)


def forward(
    blocks: Any,
    numbers: Numbers,
    tokens: Any,
    asks: Any,
    times: Any,
    limits: Limits,
    active: Any = None,
) -> Any:
    """The output in each remaining field, and the values of each block that the derivatives need.

    tokens: rows for each field. asks: the query as one row for each field. times: how often each
    token occurs in its context. active: for each block with a ReLU, the active units at the query
    and at the tokens.
    """
    saved, before, n = list[Any](), list[Any](), len(times)
    for k, one in enumerate(blocks):
        limits.on_time()
        before.append((asks, tokens))
        if type(one) is Softmax:
            see = [[x if j <= i else 0 for j, x in enumerate(times)] for i in range(n)]
            masks = see if one.causal else [times] * n
            made, of_query = attend(asks, tokens, one, numbers, [times])
            after, of_tokens = tokens, None
            if one.whole:
                after, of_tokens = attend(tokens, tokens, one, numbers, masks)
        else:
            unit, units = (active[k][:1], active[k][1:]) if one.relu else (None, None)
            made, after = affine(asks, one, numbers, unit), tokens
            of_query, of_tokens = Saved(asks[0], None, unit), None
            if one.whole:
                after = affine(tokens, one, numbers, units)
                of_tokens = Saved(tokens[0], None, units)
        saved.append((of_tokens, of_query))
        if one.residual:
            some, others = before[-one.residual]
            made = [added(*x) for x in zip(made, some, numbers.fields, strict=False)]
        if one.whole and one.residual:
            after = [added(*x) for x in zip(after, others, numbers.fields, strict=False)]
        asks, tokens = made, (after if one.whole else tokens)[: len(made)]
    return [row for (row,) in asks], saved


def backward(made: Any, saved: Saved, one: Any, on: Any) -> Any:
    """Derivatives with respect to the rows, the tokens and the weights. made: the derivatives with
    respect to the block's result."""
    if type(one) is Affine:
        weights, _, _ = one.fields[0]
        made = masked(made, saved.heads, on)
        by_weights = product(turned(saved.rows), turned(made), on)
        bias = [on.total(column) for column in zip(*made, strict=True)]
        return product(made, weights, on), None, [*by_weights, bias]
    by_rows, by_tokens, flat, outputs = None, None, list[Any](), list[Any]()
    asking, context = turned(saved.rows), turned(saved.tokens)
    heads = zip(one.fields[0], saved.heads, strict=True)
    for ((key, _), (query, _), (value, _), (output, _)), kept in heads:
        keys, queries, shares, means, values = kept
        outputs += product(turned(values), turned(made), on)
        by_values = product(made, output, on)
        by_value = product(turned(means), turned(by_values), on)
        by_means = product(by_values, value, on)
        slopes = product(by_means, saved.tokens, on)
        by_logits = [on.by_logits(*pair) for pair in zip(shares, slopes, strict=True)]
        by_queries = product(by_logits, turned(keys), on)
        by_keys = product(turned(by_logits), turned(queries), on)
        flat += product(context, turned(by_keys), on)
        flat += product(asking, turned(by_queries), on)
        flat += by_value
        rows = product(by_queries, query, on)
        read = product(turned(shares), turned(by_means), on)
        tokens = added(read, product(by_keys, key, on), on)
        by_rows = rows if by_rows is None else added(by_rows, rows, on)
        by_tokens = tokens if by_tokens is None else added(by_tokens, tokens, on)
    return by_rows, by_tokens, flat + outputs


def derivatives(blocks: Any, on: Any, saved: Any, j: int, m: int, limits: Limits) -> list[Any]:
    """Derivatives of output j with respect to all weights, in file order: key, query and value of
    each head row by row, then output; or weights, then bias. on: the arithmetic of the first
    field."""
    by_query: Any = [[on.one if k == j else on.zero for k in range(m)]]
    by_tokens: Any = None
    columns: list[list[Any]] = []
    skipped = [list[Any]() for _ in blocks]
    for k in reversed(range(len(blocks))):
        limits.on_time()
        one, (of_tokens, of_query) = blocks[k], saved[k]
        if one.residual:
            skipped[k + 1 - one.residual].append((by_query, by_tokens if one.whole else None))
        rows, tokens, weights = backward(by_query, of_query, one, on)
        before = by_tokens
        if of_tokens is not None and by_tokens is not None:
            of_rows, more, others = backward(by_tokens, of_tokens, one, on)
            weights = added(weights, others, on)
            before = of_rows if more is None else added(of_rows, more, on)
        by_query, by_tokens = rows, either(before, tokens, on)
        for of_query, of_tokens in skipped[k]:
            by_query = added(by_query, of_query, on)
            by_tokens = either(by_tokens, of_tokens, on)
        columns.append([x for row in weights for x in row])
    return [x for part in reversed(columns) for x in part]


def either(one: Any, other: Any, on: Any) -> Any:
    """The sum; None stands for 0."""
    return added(one, other, on) if one and other else one or other


# Signs. Vectors of balls are pairs (centres, radii), as in `near.py`.


def active(on: Balls, network: Any, states: Any) -> Any:
    """For each block with a ReLU, which units are positive before the ReLU. states: the query, then
    the tokens."""
    found, before = list[Any](), list[Any]()
    for one in network[:-1]:
        before.append(states)
        changed = states if one.of == "all" else states[:1]
        if type(one) is Attention:
            mean = boxed(states[1:])
            made = [summed([mapped(on, mean, head.out) for head in one.heads])] * len(changed)
        else:
            made = [mapped(on, x, one.map) for x in changed]
        units = None
        if getattr(one, "activation", "") == "relu":
            units = [positive(x) for x in made]
            made = [
                tuple([x * sign for x, sign in zip(part, signs, strict=True)] for part in balls)
                for balls, signs in zip(made, units, strict=True)
            ]
        if one.residual:
            skipped = before[-one.residual]
            made = [summed(pair) for pair in zip(made, skipped, strict=False)]
        found.append(units)
        states = made + states[len(made) :]
    return found


def positive(balls: Any) -> list[bool]:
    decided = all(abs(c) > r for c, r in zip(*balls, strict=True))
    need(decided, "softmax weights may change a sign before a ReLU", "over limit")
    return [c > 0 for c in balls[0]]


def boxed(vectors: Any) -> Any:
    """The smallest box that contains all vectors."""
    ends = [[(c - r, c + r) for c, r in zip(*balls, strict=True)] for balls in vectors]
    columns = [list(zip(*column, strict=True)) for column in zip(*ends, strict=True)]
    centres = [(min(lows) + max(highs)) >> 1 for lows, highs in columns]
    pairs = zip(columns, centres, strict=True)
    return centres, [max(highs) - centre for (_, highs), centre in pairs]


def mapped(on: Balls, balls: Any, by: Any) -> Any:
    longest = max(x.bit_length() for part in balls for x in part)
    on.limits.allow(longest, len(by.columns))
    wide = [*balls[0], 1 << on.P], [*balls[1], 0]
    return vector([on.combination(column, by.unit, wide) for column in by.columns])


def summed(vectors: Any) -> Any:
    return tuple([sum(x) for x in zip(*part, strict=True)] for part in zip(*vectors, strict=True))

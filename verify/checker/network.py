"""The claims "network" and "outputs-within": what blocks in a row make of each example.

The state of an example is its tokens and its query, vectors. A block makes another state of it, and
the output is the query after the last. To read: `judge`, then `changed` (what a block makes of a
vector), then `arithmetic.py`: exact, or in balls with the true exponential.
"""

if __name__ == "__main__":
    print("unusable: run the folder: python checker certificate.json")
    raise SystemExit(2)

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from .arithmetic import Enclosed, Exact, Irrational, Map
from .layer import contexts_of
from .limits import Limits, need
from .near import GUARD
from .reading import Table, all_of, dims, numbers, typed

KEYS = {
    "attention": "kind of rule logit_unit heads output mask residual",
    "feed-forward": "kind of activation weights bias residual",
}
Head = namedtuple("Head", "key query out")
Attention = namedtuple("Attention", "of rule unit heads mask residual")
FeedForward = namedtuple("FeedForward", "of activation map residual")
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
    return Parts(
        [block(limits, x) for x in cert["network"]],
        contexts_of(limits, cert, cert["data"]),
        numbers(limits, cert["data"]["queries"], "queries", T, d),
        numbers(limits, cert["data"]["labels"], "labels", T, m),
        within,
    )


def block(limits: Limits, one: Any) -> Attention | FeedForward:
    kind: Any = one.get("kind") if type(one) is dict else None
    need(kind in list(KEYS), "kind must be attention or feed-forward")
    typed(one, dict, f"each block of {kind}", KEYS[kind])
    residual = typed(one["residual"], bool, "residual")
    if kind == "feed-forward":
        need(one["of"] in ("query", "all", "row"), "of must be query, all or row")
        activation = one["activation"]
        known = activation in ("identity", "relu", "threshold")
        need(known, "activation must be identity, relu or threshold")
        weights = [*typed(one["weights"], list, "weights"), one["bias"]]
        return FeedForward(one["of"], activation, linear(limits, weights, "weights"), residual)
    need(one["of"] in ("query", "all"), "of must be query or all")
    rule, unit = one["rule"], one["logit_unit"]
    need(rule in ("softmax", "hardmax", "linear"), "rule must be softmax, hardmax or linear")
    units = ("ln 2", "1") if rule == "softmax" else (None,)
    need(unit in units, f"logit_unit must be one of {units}")
    heads, start = [], 0
    output = shaped(limits, one["output"], "output")
    for head in typed(one["heads"], list, "heads", "key query value"):
        V = shaped(limits, head["value"], "value")
        width = len(V.rows[0])
        need(start + width <= len(output.rows), "output must have a row for each of the values")
        columns = zip(*output.rows[start : start + width], strict=True)
        out = [[limits.dot(row, c) for row in V.rows] + [0] for c in columns]
        unit_out = limits.product(V.unit, output.unit)
        key, query = (linear(limits, head[x], x, False) for x in ("key", "query"))
        need(len(key.columns) == len(query.columns), "key and query must be equally wide")
        heads.append(Head(key, query, Map(out, unit_out)))
        start += width
    need(heads and start == len(output.rows), "output must have a row for each of the values")
    return Attention(one["of"], rule, unit, heads, mask_of(one["mask"]), residual)


def mask_of(mask: Any) -> Any:
    if mask is None or mask == "causal":
        return mask
    for row in typed(mask, list, "mask"):
        plain = all(type(x) is int and 0 <= x <= 1 for x in typed(row, list, "each row of mask"))
        need(plain and any(row), "a row of mask must hold 0 and 1, and a 1")
    return mask


def shaped(limits: Limits, rows: Any, where: str) -> Table:
    """A matrix that says its own size."""
    if hasattr(rows, "integers"):
        return Table(*rows.integers(where))
    need(typed(rows, list, where) and typed(rows[0], list, where), f"{where} must not be empty")
    return numbers(limits, rows, where, len(rows), len(rows[0]))


def linear(limits: Limits, rows: Any, where: str, bias: bool = True) -> Map:
    """x -> x rows, the last row a bias if there is one."""
    table = shaped(limits, rows, where)
    more = [] if bias else [[0] * len(table.rows[0])]
    return Map(list(zip(*table.rows, *more, strict=True)), table.unit)


# Evaluating.


def changed(on: Any, one: Any, vector: Any, tokens: Any, keys: Any, mask: Any) -> Any:
    """What the block makes of the vector; mask: which tokens it attends to, None: all."""
    if type(one) is FeedForward:
        new = on.mapped(on.joined([vector, *tokens]) if one.of == "row" else vector, one.map)
        new = new if one.activation == "identity" else getattr(on, one.activation)(new)
    else:
        need(mask is None or len(mask) == len(tokens), "a row of mask must have all tokens")
        attended = [i for i in range(len(tokens)) if mask is None or mask[i]]
        new = []
        for head, key in zip(one.heads, keys, strict=True):
            weights = on.products(on.mapped(vector, head.query), [key[i] for i in attended])
            if one.rule == "softmax":
                weights = on.softmax(weights, one.unit == "ln 2")
            elif one.rule == "hardmax":
                weights = on.hardmax(weights)
            new.append(on.mapped(on.mean(weights, [tokens[i] for i in attended]), head.out))
        new = on.added(new)
    return on.added([new, vector]) if one.residual else new


def before(on: Any, blocks: Any, tokens: Any) -> Any:
    """For each block the tokens before it, and the keys of its heads; then the tokens at last."""
    for one in blocks:
        attends, n = type(one) is Attention, len(tokens)
        keys = [[on.mapped(x, head.key) for x in tokens] for head in one.heads] if attends else []
        yield tokens, keys
        if one.of == "all":
            masks: Any = [None] * n
            if attends and one.mask == "causal":
                masks = [[j <= i for j in range(n)] for i in range(n)]
            elif attends and one.mask is not None:
                need(len(one.mask) == n + 1, "mask must have a row for each token and the query")
                masks = one.mask
            pairs = zip(tokens, masks, strict=False)
            tokens = [changed(on, one, x, tokens, keys, mask) for x, mask in pairs]
    yield tokens, []


def query_after(on: Any, blocks: Any, contexts: Any, query: Any) -> Any:
    for one, (tokens, keys) in zip(blocks, contexts, strict=False):
        mask: Any = one.mask if type(one) is Attention else None
        plain = mask in (None, "causal")
        fits = plain or one.of == "all" or len(mask) == 1
        need(fits, "mask must have one row, of the query")
        query = changed(on, one, query, tokens, keys, None if plain else mask[-1])
    return query


def states(on: Any, blocks: Any, contexts: Table, queries: Table, limits: Limits) -> Any:
    """For each example its tokens and its query after the last block."""
    table = []
    for t, query in enumerate(queries.rows):
        limits.on_time()
        if t < len(contexts.rows):  # else shared
            tokens = [on.vector(x, contexts.unit) for x in contexts.rows[t]]
            table = list(before(on, blocks, tokens))
        yield table[-1][0], query_after(on, blocks, table, on.vector(query, queries.unit))


def exactly_or_in_balls(judged: Callable[[Any], str], inverse: int, limits: Limits) -> str:
    """What `judged` says of the arithmetic that it is given: exact, if the network is rational on
    all examples, else balls. inverse: of the least number that these are compared with."""
    try:
        return judged(Exact(limits))
    except Irrational:
        return judged(Enclosed(GUARD + inverse.bit_length(), limits))


def judge(cert: Any, parts: Parts, limits: Limits) -> str:
    blocks, contexts, queries, labels, within = parts
    exact, (T, m) = within is None, dims(cert, "examples labels")
    p, q = within or (1, 1)
    on: Any = Exact(limits) if exact else Enclosed(GUARD + (q // p).bit_length(), limits)
    for t, (_, (output, other)) in enumerate(states(on, blocks, contexts, queries, limits)):
        need(len(output) == m, "the outputs must have as many numbers as the labels")
        for k, y in enumerate(labels.rows[t]):
            if exact:  # other: the unit
                sides = limits.product(output[k], labels.unit), limits.product(y, other)
                need(sides[0] == sides[1], f"the output of example {t} is not its label", "wrong")
            else:  # other: the radii
                off = abs(output[k] - (y << on.balls.P) // labels.unit) + other[k] + 1
                close = off * q <= p << on.balls.P
                need(close, f"the output of example {t} may be further from its label", "wrong")
    if exact:
        return f"the outputs equal the labels of {all_of(T)}, exactly"
    return f"the outputs are within {cert['within']:.40} of the labels of {all_of(T)}"


class Derived:
    """Rows of rows, as `numbers` takes them from elsewhere than JSON."""

    def __init__(self, on: Exact, tables: list[list[Any]]) -> None:
        flat, self.unit = on.on_one_unit([vector for table in tables for vector in table])
        rows = iter(flat)
        self.tables = [[next(rows) for _ in table] for table in tables]

    def integers(self, where: str, *shape: Any) -> Any:
        *more, d = shape
        tables = self.tables if len(more) > 1 else self.tables[0]
        flat = [row for table in self.tables for row in table]
        fits = all(len(row) == d for row in flat)
        need(fits, f"the blocks before the last must make {where} of width {d}")
        longest = max(abs(x) for row in [[self.unit], *flat] for x in row)
        return tables, self.unit, longest.bit_length()


def derived(cert: Any, limits: Limits) -> dict[str, Any]:
    """The data with the contexts and queries that the last block sees. The width in dims is that
    of the last block: data say their own."""
    blocks = [block(limits, x) for x in cert["network"][:-1]]
    queries = shaped(limits, cert["data"]["queries"], "queries")
    need(len(queries.rows) == cert["dims"]["examples"], "queries must be as many as examples")
    contexts = contexts_of(limits, cert, cert["data"], len(queries.rows[0]))
    on = Exact(limits)
    both = list(states(on, blocks, contexts, queries, limits))
    tables = [tokens for tokens, _ in both][: len(contexts.rows)]
    return cert["data"] | {
        "contexts": Derived(on, tables), "queries": Derived(on, [[query for _, query in both]])
    }  # fmt: skip

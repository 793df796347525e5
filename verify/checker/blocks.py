"""The blocks of a network. `block` reads a block from a certificate; `widths` checks that sizes
agree."""

if __name__ == "__main__":
    print("unusable: run the folder, not this file: python checker certificate.json")
    raise SystemExit(2)

from collections import namedtuple
from typing import Any

from .exact import Map
from .limits import Limits, need
from .reading import Table, numbers, typed

KEYS = {
    "attention": "kind of rule logit_unit heads output mask residual",
    "feed-forward": "kind of activation weights bias residual",
    "normalization": "kind of centred epsilon gain bias residual",
    "gated": "kind of activation gate gate_bias weights bias residual",
    "group": "kind of blocks residual",
    "positions": "kind of table query_place residual",
    "general-attention": "kind of rule logit_unit root heads norm rotary cap slopes tables sinks "
    "output mask query_place residual",
}
SMOOTH = "silu", "gelu", "gelu-tanh"
ACTIVATIONS = "identity", "relu", "threshold", *SMOOTH
Head = namedtuple("Head", "key query out")
# parts: a `General` for general attention, otherwise None.
Attention = namedtuple("Attention", "of rule unit heads mask residual parts")
# norms (of queries and keys), rotary, cap, slopes, tables, sinks: None if the block has none. next:
# 1 if the query is at the place after the last token, else 0.
General = namedtuple("General", "root norms rotary cap slopes tables sinks next")
Positions = namedtuple("Positions", "of table next residual")
FeedForward = namedtuple("FeedForward", "of activation map residual")
Normalization = namedtuple("Normalization", "of centred epsilon gain bias unit residual")
Gated = namedtuple("Gated", "of activation gate map residual")
Group = namedtuple("Group", "of blocks residual")


def block(limits: Limits, one: Any) -> Any:
    kind: Any = one.get("kind") if type(one) is dict else None
    need(kind in list(KEYS), f"kind must be one of: {', '.join(KEYS)}")
    typed(one, dict, f"each block of {kind}", KEYS[kind])
    residual = typed(one["residual"], bool, "residual")
    if kind in ("feed-forward", "gated"):
        activation = one["activation"]
        need(activation in ACTIVATIONS, f"activation must be one of: {', '.join(ACTIVATIONS)}")
        map = affine(limits, one, "weights", "bias")
    if kind == "feed-forward":
        need(one["of"] in ("query", "all", "row"), "'of' must be query, all or row")
        return FeedForward(one["of"], activation, map, residual)
    need(one["of"] in ("query", "all"), "'of' must be query or all")
    if kind == "gated":
        gate = affine(limits, one, "gate", "gate_bias")
        need(len(gate.columns) == len(map.columns), "gate and weights must be equally wide")
        return Gated(one["of"], activation, gate, map, residual)
    if kind == "group":
        need(typed(one["blocks"], list, "blocks"), "blocks must have at least one block")
        return Group(one["of"], [block(limits, x) for x in one["blocks"]], residual)
    if kind == "normalization":
        return normalization(limits, one, residual)
    if kind == "positions":
        table = shaped(limits, one["table"], "table")
        return Positions(one["of"], table, is_next(one), residual)
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
    parts = general(limits, one, heads) if kind == "general-attention" else None
    return Attention(one["of"], rule, unit, heads, mask_of(one["mask"]), residual, parts)


def general(limits: Limits, one: Any, heads: Any) -> General:
    H, wide = len(heads), len(heads[0].query.columns)
    even = all(len(head.query.columns) == wide for head in heads)
    root = typed(one["root"], int, "root")
    need(root > 0, "root must be above 0")
    norms = rotary = cap = tables = None
    if one["norm"] is not None:
        norm = typed(one["norm"], dict, "norm", "epsilon query_gain key_gain")
        plain = {"centred": False, "epsilon": norm["epsilon"], "bias": ["0"] * wide, "of": "all"}
        gains = norm["query_gain"], norm["key_gain"]
        norms = [normalization(limits, plain | {"gain": x}, False) for x in gains]
        need(even, "norm needs queries of equal widths")
    if one["rotary"] is not None:
        rotary = typed(one["rotary"], dict, "rotary", "unit frequencies")
        need(rotary["unit"] in ("turn", "radian"), "rotary.unit must be turn or radian")
        need(even and wide % 2 == 0, "rotary needs queries of equal and even widths")
        (row,), unit, _ = numbers(limits, [rotary["frequencies"]], "frequencies", 1, wide // 2)
        rotary = rotary["unit"] == "radian", [p for p in row for _ in range(2)], unit
    if one["cap"] is not None:
        (p,), q, _ = numbers(limits, [one["cap"]], "cap", 1)
        need(p > 0, "cap must be above 0")
        cap = p, q
    slopes, sinks = (
        None if one[name] is None else numbers(limits, one[name], name, H)
        for name in ("slopes", "sinks")
    )
    need(sinks is None or one["rule"] != "linear", "linear attention must have no sinks")
    if one["tables"] is not None:
        tables = [shaped(limits, x, "tables") for x in typed(one["tables"], list, "tables")]
        need(len(tables) == H, "tables must have one table for each head")
    return General(root, norms, rotary, cap, slopes, tables, sinks, is_next(one))


def is_next(one: Any) -> int:
    need(one["query_place"] in ("last", "next"), "query_place must be last or next")
    return int(one["query_place"] == "next")


def differentiable(limits: Limits, read: Any, written: Any, unit: str, activations: Any) -> Any:
    """The blocks of a claim about derivatives, each with its form in the certificate. They must be
    softmax attention with this unit, or affine maps with these activations. Groups are expanded."""
    pairs = flat(read, written)
    for one, as_written in pairs:
        if type(one) is Attention and one.parts is None:
            known = one.rule == "softmax" and one.unit == unit and one.mask in (None, "causal")
            need(known, f"attention must be softmax with logit_unit {unit!r}, unmasked or causal")
        else:
            plain = type(one) is FeedForward and one.activation in activations and one.of != "row"
            must = f"feed-forward, of query or all, with activation {' or '.join(activations)}"
            kind = as_written["kind"]
            need(plain, f"this claim allows no such {kind} block: other blocks must be {must}")
    return pairs


def flat(read: Any, written: Any) -> list[Any]:
    """`residual` becomes a number k: the block adds the input of the first of the k blocks ending
    with this one, or nothing if k = 0."""
    pairs = list[Any]()
    for one, as_written in zip(read, written, strict=True):
        inner = [(one._replace(residual=int(one.residual)), as_written)]
        if type(one) is Group:
            inner = flat(one.blocks, as_written["blocks"])
            last, whole = inner[-1][0], all(x.of == one.of for x, _ in inner)
            need(whole, "blocks of a group must change the same vectors as the group")
            need(not (one.residual and last.residual), "a block has two skip connections")
            if one.residual:
                inner[-1] = last._replace(residual=len(inner)), inner[-1][1]
        pairs += inner
    return pairs


def affine(limits: Limits, one: Any, weights: str, bias: str) -> Map:
    return linear(limits, [*typed(one[weights], list, weights), one[bias]], weights)


def normalization(limits: Limits, one: Any, residual: bool) -> Normalization:
    is_centred = typed(one["centred"], bool, "centred")
    (p,), q, _ = numbers(limits, [one["epsilon"]], "epsilon", 1)
    need(p >= 0, "epsilon must not be negative")
    (gain, bias), unit, _ = shaped(limits, [one["gain"], one["bias"]], "gain and bias")
    return Normalization(one["of"], is_centred, (p, q), gain, bias, unit, residual)


def mask_of(mask: Any) -> Any:
    if mask is None or mask == "causal":
        return mask
    for row in typed(mask, list, "mask"):
        plain = all(type(x) is int and 0 <= x <= 1 for x in typed(row, list, "each row of mask"))
        need(plain and any(row), "each row of mask must hold only 0 and 1, and at least one 1")
    return mask


def shaped(limits: Limits, rows: Any, where: str) -> Table:
    """A matrix of any size: `dims` does not prescribe one."""
    if hasattr(rows, "integers"):
        return Table(*rows.integers(where))
    need(typed(rows, list, where) and typed(rows[0], list, where), f"{where} must not be empty")
    return numbers(limits, rows, where, len(rows), len(rows[0]))


def linear(limits: Limits, rows: Any, where: str, bias: bool = True) -> Map:
    """The map x -> x rows; if there is a bias, it is the last row."""
    table = shaped(limits, rows, where)
    more = [] if bias else [[0] * len(table.rows[0])]
    return Map(list(zip(*table.rows, *more, strict=True)), table.unit)


def widths(blocks: Any, n: int, token: int, query: int) -> tuple[int, int]:
    """The widths of tokens and query after the blocks have been applied to n tokens. If the shapes
    of weights do not fit, the certificate is unusable, whatever the numbers are."""
    for one in blocks:
        every = one.of == "all"
        reads = [query + n * token if one.of == "row" else query, *([token] if every else [])]
        tokens = None  # set by a group; any other block makes tokens as wide as the query
        if type(one) is Group:
            sizes = []
            tokens, made = widths(one.blocks, n, token, query)
        elif type(one) in (FeedForward, Gated):
            maps = [one.map] if type(one) is FeedForward else [one.gate, one.map]
            sizes, made = [len(x.columns[0]) - 1 for x in maps], len(one.map.columns)
        elif type(one) is Normalization:
            sizes, made = [len(one.gain)], len(one.gain)
        elif type(one) is Positions:
            sizes, made = [], len(one.table.rows[0])
            need(len(one.table.rows) >= n + one.next, "table must have a row for each place")
        else:
            rows = None if one.mask in (None, "causal") else one.mask
            lines = n + 1 if every else 1
            fits = rows is None or (len(rows) == lines and all(len(row) == n for row in rows))
            need(fits, "mask must have a row for each changed vector and a column for each token")
            sizes = [len(head.query.columns[0]) - 1 for head in one.heads]
            made = len(one.heads[0].out.columns)
            taken = {len(x.columns[0]) - 1 for head in one.heads for x in (head.key, head.out)}
            need(taken == {token}, "key and value must have a row for each entry of a token")
            for table in (one.parts and one.parts.tables) or ():
                fits = len(table.rows) >= n + one.parts.next and len(table.rows[0]) >= n
                need(fits, "tables must have a row and a column for each place")
        fits = all(size == k for size in sizes for k in reads)
        need(fits, "weights must have a row for each entry of a vector")
        tokens = (tokens or made) if every else token
        residual = not one.residual or (query, token) == (made, tokens)
        need(residual, "a skip connection adds vectors of different widths")
        token, query = tokens, made
    return token, query

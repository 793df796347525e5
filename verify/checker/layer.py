"""An attention layer, its logits and its saturation; the claim "interpolation".

For an example with context E (rows are tokens) and query e, a head has the logits ln 2 * k. Here k
= E @ key @ query.T @ e must be integral, so the softmax weights 2^k_i / sum_j 2^k_j are rational.
"""

if __name__ == "__main__":
    print("unusable: run the folder, not this file: python checker certificate.json")
    raise SystemExit(2)

from collections import Counter, namedtuple
from typing import Any

from .limits import Limits, need
from .reading import MAX_ITEMS, Table, all_of, dims, numbers, typed

# All numbers are integers: contexts over `unit`, heads as key and transposed query, logits over
# `divisor`. tables: contexts, queries, keys and query weights. saturation: (bits, own) or None.
Layer = namedtuple("Layer", "contexts queries heads unit divisor tables saturation")
Parts = namedtuple("Parts", "layer values output labels")


def contexts_of(limits: Limits, cert: Any, data: Any, width: int = 0) -> Table:
    """One context for all examples, or one for each, with its own number of tokens. width: the
    width of the data, if it differs from the width in dims."""
    T, n, d = dims(cert, "examples context width")
    d = width or d
    contexts, tokens = data["contexts"], cert["tokens"]
    if tokens is not None:
        [typed(k, int, "each of tokens") for k in typed(tokens, list, "tokens")]
        fits = len(tokens) == T and 0 < min(tokens) < max(tokens) == n
        need(fits, "tokens must have one number per example, up to dims.context and not all equal")
        return numbers(limits, contexts, "contexts", T, tokens, d)
    one = type(contexts) is list and len(contexts) == 1
    return numbers(limits, contexts, "contexts", 1 if one else T, n, d)


def width_of(cert: Any, data: Any) -> Any:
    """The width of the data. The width in dims is that of the layer. If there are blocks before the
    layer, the width of the data is the length of the first query."""
    queries = data["queries"]
    if "heads" in cert["dims"] and type(cert["network"]) is list and len(cert["network"]) > 1:
        if hasattr(queries, "width"):  # the queries come from sequences
            return queries.width
        if type(queries) is list and queries and type(queries[0]) is list and queries[0]:
            return len(queries[0])
    return cert["dims"]["width"]


def attention(limits: Limits, cert: Any) -> Layer:
    T, d, H, d_h = dims(cert, "examples width heads head_width")
    heads = cert["layer"]["heads"]
    groups = [typed(group, list, "each group") for group in typed(cert["groups"], list, "groups")]
    members = [typed(t, int, "each member of a group") for group in groups for t in group]
    once = len(members) == T and sorted(members) == list(range(T))
    need(once and all(groups), "each example must be in exactly one group", "wrong")
    saturation = saturation_of(cert, len(groups))
    contexts = contexts_of(limits, cert, cert["data"])
    queries = numbers(limits, cert["data"]["queries"], "queries", T, d)
    key = numbers(limits, [head["key"] for head in heads], "key", H, d, d_h)
    query = numbers(limits, [head["query"] for head in heads], "query", H, d, d_h)
    tables, divisor = (contexts, queries, key, query), 1
    for table in tables:
        divisor = limits.product(divisor, table.unit)
    pairs = zip(key.rows, query.rows, strict=True)
    turned = [(k, list(zip(*w, strict=True))) for k, w in pairs]
    return Layer(contexts.rows, queries.rows, turned, contexts.unit, divisor, tables, saturation)


def saturation_of(cert: Any, groups: int) -> tuple[int, bool] | None:
    if cert["saturation"] is None:
        return None
    claim = typed(cert["saturation"], dict, "saturation", "bits own")
    bits, own = claim["bits"], claim["own"]
    fits = type(bits) is int and 0 < bits <= MAX_ITEMS and type(own) is bool
    need(fits, f"saturation.bits must be 1 to {MAX_ITEMS}, saturation.own true or false")
    need(groups <= cert["dims"]["heads"], "there are more groups than heads", "wrong")
    return bits, own


def shifts(limits: Limits, layer: Layer) -> Any:
    """For each example, the columns of its context, the count of each token and, for each head, the
    values of logits / ln 2 minus the smallest."""
    divisor, dot = layer.divisor, limits.dot
    for t, e in enumerate(layer.queries):
        context, times = merged(layer.contexts[t if len(layer.contexts) > 1 else 0])
        longest, by_head = 0, []
        for h, (key, query) in enumerate(layer.heads, start=1):
            limits.allow(longest, h * len(context))
            inner = [dot(column, e) for column in query]
            outer = [dot(row, inner) for row in key]
            logits = [dot(token, outer) for token in context]
            low, bits = min(logits), divisor.bit_length()
            limits.divide(max(x.bit_length() for x in logits) - bits, bits)
            need(not any(x % divisor for x in logits), "a logit / ln 2 is not an integer", "wrong")
            by_head.append([(x - low) // divisor for x in logits])
            longest = max(longest, max(by_head[-1]).bit_length())
        yield list(zip(*context, strict=True)), times, by_head


def merged(context: Any) -> tuple[list[Any], list[int]]:
    """The distinct tokens (as objects), and how often each occurs in the context."""
    once, often = {id(token): token for token in context}, Counter(map(id, context))
    return [*once.values()], [often[key] for key in once]


def saturated(limits: Limits, cert: Any, layer: Layer) -> str:
    """Checks `saturation`, if it is claimed. Let p be the largest weight. Then 1 - p < 2^-bits in
    the head of each group for the examples in all earlier groups and, with `own`, in the group
    itself.

    If S is the sum of 2^-drop over the other rows, this means S * 2^bits < 1 + S; S < 2^-bits is
    sufficient. Drops may be capped at n * (bits + 1) (docs/certificate.md).
    """
    if layer.saturation is None:
        return ""
    (bits, own), groups, pairs = layer.saturation, cert["groups"], 0
    head_of = {t: h for h, group in enumerate(groups) for t in group}
    for t, (_, times, logits) in enumerate(shifts(limits, layer)):
        for h in range(head_of[t] + (not own), len(groups)):
            limits.on_time()
            pairs_of = zip(logits[h], times, strict=True)
            *rest, top = sorted(k for k, often in pairs_of for _ in range(often))
            if rest and top - rest[-1] < bits + len(rest).bit_length():
                most = min((len(rest) + 1) * (bits + 1), top)
                limits.allow(most + bits)
                S = sum(1 << most - min(top - k, most) for k in rest)
                near = S << bits < S + (1 << most)
                need(near, f"head {h}, example {t}: 1-p >= 2^-{bits}", "wrong")
            pairs += 1
    return f"; (head, example) pairs with 1-p < 2^-{bits}: {pairs}"


# The claim that the outputs equal the labels.


def parts(cert: Any, limits: Limits) -> Parts:
    T, d, m, H, d_v = dims(cert, "examples width labels heads value_width")
    layer = attention(limits, cert)
    values = [head["value"] for head in cert["layer"]["heads"]]
    return Parts(
        layer,
        numbers(limits, values, "value", H, d, d_v),
        numbers(limits, cert["layer"]["output"], "output", H * d_v, m),
        numbers(limits, cert["data"]["labels"], "labels", T, m),
    )


def judge(cert: Any, parts: Parts, limits: Limits) -> str:
    T, d, m, H, d_v = dims(cert, "examples width labels heads value_width")
    layer, V, W, labels = parts
    limits.allow(V.bits + W.bits + d_v.bit_length(), H * d * m)
    maps = []  # value @ output: d numbers for each head and entry of a label
    for h, rows in enumerate(V.rows):
        columns = list(zip(*W.rows[h * d_v : (h + 1) * d_v], strict=True))
        by_row = []
        for row in rows:
            limits.on_time()
            by_row.append([limits.dot(row, column) for column in columns])
        maps.append(list(zip(*by_row, strict=True)))
    unit = limits.product(V.unit, W.unit)
    for t, (columns, times, logits) in enumerate(shifts(limits, layer)):
        terms, bits = [], layer.tables[0].bits  # bits: no more than the common denominator has
        for x, rows in zip(logits, maps, strict=True):
            bits += max(x)
            limits.allow(bits, len(x) + d + m)
            weights = [often << k for k, often in zip(x, times, strict=True)]
            z = [limits.dot(weights, column) for column in columns]
            terms.append(([limits.dot(z, row) for row in rows], layer.unit * sum(weights)))
        outputs, common = added(limits, terms)
        common = limits.product(common, unit)
        pairs = zip(outputs, labels.rows[t], strict=True)
        equal = all(limits.product(x, labels.unit) == limits.product(y, common) for x, y in pairs)
        need(equal, f"the output of example {t} is not its label", "wrong")
    more = saturated(limits, cert, layer)
    return f"the outputs equal the labels of {all_of(T)}, exactly{more}"


def added(limits: Limits, terms: list[tuple[list[int], int]]) -> tuple[list[int], int]:
    """The sum of fractions, each a list of numerators over one denominator. The list of terms is
    halved repeatedly, so that factors have similar lengths."""
    if len(terms) == 1:
        return terms[0]
    half, product = len(terms) // 2, limits.product
    (x, s), (y, r) = added(limits, terms[:half]), added(limits, terms[half:])
    pairs = zip(x, y, strict=True)
    return [product(a, r) + product(b, s) for a, b in pairs], product(s, r)


def address(k: int, d: int, m: int, H: int, d_h: int, d_v: int) -> tuple[str, int, int, int]:
    """Kind, head, row and column of weight k. The order: key, query and value of each head, then
    output."""
    h, rest = divmod(k, 2 * d * d_h + d * d_v)
    if h >= H:
        row, j = divmod(k - H * (2 * d * d_h + d * d_v), m)
        return "output", row // d_v, row % d_v, j
    for kind in ("key", "query"):
        if rest < d * d_h:
            return kind, h, *divmod(rest, d_h)
        rest -= d * d_h
    return "value", h, *divmod(rest, d_v)

"""The claim "network-rank": rows computed from a network with softmax blocks are independent.

`rank.of` says which rows they are: one for each entry of each label, or one for each example:

    "jacobian"          the derivatives of the outputs with respect to all weights. Then the
                        labellings that weights of this shape output contain an open set.
    "jacobian at zero"  the same, and all outputs are 0, whatever the data are: for heads of the
                        last block with equal key and query, the products value @ output add up to
                        0. Then weights of this shape memorize every labelling: by the rank, the
                        outputs map a neighbourhood of the weights onto a neighbourhood of 0, which
                        contains y / c for any labels y and some c > 0; multiplying the values of
                        the last block by c multiplies the outputs by c.
    "features"          the features of the last block (its heads' means of the tokens). Then one
                        choice of keys, queries and earlier blocks serves every labelling.

The arithmetic. Logits are in units of ln 2. The states after a softmax block are rational, and so
are the next logits. Let p_0 = 2 p_1 + 1, p_1 = 2 p_2 + 1, ... be primes (`rank.primes`), one more
than there are softmax blocks, with the last prime 3 modulo 4. Then each p_k except the last is 7
modulo 8, so 2 is a square modulo p_k and has order p_{k+1}, and 2^x modulo p_k depends only on x
modulo p_{k+1}. Block l of L is evaluated modulo p_0, ..., p_{L-l}, its logits modulo p_1, ...,
p_{L-l+1}.

What it shows. Let D be a common denominator of the logits of a block on these data, and c a
multiple of D that is 1 modulo every p_k. If the keys are multiplied by such a c in one block after
another, all logits become integers and no residue changes. So these are the residues for actual
real weights. A derivative is a polynomial in ln 2 with rational coefficients, and ln 2 is
transcendental. So a minor is not 0 if it is not 0 modulo p_0 with some integer (`rank.slope`) in
place of ln 2. Denominators are softmax sums and the denominators in the file; none may be 0 modulo
a prime with which it is used.

ReLU. A residue has no sign. So the network is also evaluated in balls (`active`). Whatever the keys
and queries are, softmax weights are positive and add up to 1, so a mean of the tokens is in the
smallest box around them. If the ball of a number before a ReLU does not contain 0, the number has
the same sign for all keys and queries, scaled or not. Near these weights the ReLU is then the
identity or 0, and the argument above applies.
"""

if __name__ == "__main__":
    print("unusable: run the folder, not this file: python checker certificate.json")
    raise SystemExit(2)

from collections import namedtuple
from itertools import pairwise
from typing import Any

from .blocks import Attention, block, differentiable, shaped, widths
from .derivatives import Numbers, Softmax, active, derivatives, forward, placed
from .full_rank import Echelon, dot_mod, is_prime
from .layer import contexts_of, merged
from .limits import Limits, need
from .near import GUARD, Balls
from .reading import Table, all_of, dims, numbers, typed

OF = ("jacobian", "jacobian at zero", "features")
Parts = namedtuple("Parts", "blocks kinds contexts queries labels primes slope of")


# Reading.


def parts(cert: Any, limits: Limits) -> Parts:
    T, d, m = dims(cert, "examples width labels")
    null = cert["saturation"] is None and cert["origin"] is None
    need(null, "saturation and origin must be null")
    rank = typed(cert["rank"], dict, "rank", "of primes slope value")
    need(rank["of"] in OF, f"rank.of must be one of: {', '.join(OF)}")
    network = typed(cert["network"], list, "network")
    need(network, "network must have at least one block")
    kinds = [block(limits, one) for one in network]
    pairs = differentiable(limits, kinds, network, "ln 2", ("identity", "relu"))
    softmax = [one for one, _ in pairs if type(one) is Attention]
    last = kinds[-1]
    ends = type(last) is Attention and last.of == "query" and not last.residual
    need(ends, "the last block must be attention of the query, without residual")
    primes = chain(limits, rank["primes"], len(softmax))
    (slope,), unit, _ = numbers(limits, [rank["slope"]], "rank.slope", 1)
    need(unit == 1, "rank.slope must be an integer")
    contexts = contexts_of(limits, cert, cert["data"])
    queries = numbers(limits, cert["data"]["queries"], "queries", T, d)
    labels = numbers(limits, cert["data"]["labels"], "labels", T, m)
    for n in {len(tokens) for tokens in contexts.rows}:
        need(widths(kinds, n, d, d)[1] == m, "the outputs must have as many numbers as the labels")
    rows = T if rank["of"] == "features" else T * m
    count = typed(rank["value"], int, "rank.value")
    need(count == rows, f"rank.value is not {rows}", "wrong")
    if rank["of"] == "jacobian at zero":
        zero_outputs(limits, network[-1])
    narrow = min(
        len(shaped(limits, head["value"], "value").rows[0]) for head in network[-1]["heads"]
    )
    wide = rank["of"] != "features" or narrow >= m
    need(wide, "values of the last block are narrower than the labels", "wrong")
    blocks, left = [], len(primes)
    for one, written in pairs:
        used = primes[:left]
        left -= type(one) is Attention

        def read(table: Table, _: int, used: list[int] = used) -> Any:
            return residues(table, used, limits)

        blocks.append(placed(one, written, read, limits))
    return Parts(
        blocks, [one for one, _ in pairs], contexts, queries, labels, primes, slope, rank["of"]
    )


def chain(limits: Limits, texts: Any, softmax: int) -> list[int]:
    """The primes. The rank is computed modulo the first prime."""
    need(softmax, "the network must have an attention block")
    primes, unit, _ = numbers(limits, typed(texts, list, "rank.primes"), "rank.primes", softmax + 1)
    known = unit == 1 and all(2 < p < 2**62 and p % 2 and is_prime(p) for p in primes)
    need(known, "rank.primes are not odd primes below 2^62", "wrong")
    linked = all(p == 2 * q + 1 for p, q in pairwise(primes))
    need(linked and primes[-1] % 4 == 3, "rank.primes are not a chain", "wrong")
    return primes


def zero_outputs(limits: Limits, last: Any) -> None:
    """Checks that value @ output adds up to 0 over heads of the last block with equal key and
    query."""
    output, start, totals = shaped(limits, last["output"], "output"), 0, list[Any]()
    m = len(output.rows[0])
    for head in last["heads"]:
        limits.on_time()
        key, query, value = (shaped(limits, head[x], x) for x in ("key", "query", "value"))
        stop = start + len(value.rows[0])
        columns = list(zip(*output.rows[start:stop], strict=True))
        made = [[limits.dot(row, column) for column in columns] for row in value.rows]
        for k, (pair, total, unit) in enumerate(totals):
            if pair == (key[:2], query[:2]):
                both = limits.product(unit, value.unit)
                sums = [
                    limits.product(x, value.unit) + limits.product(y, unit)
                    for old, new in zip(total, made, strict=True)
                    for x, y in zip(old, new, strict=True)
                ]
                totals[k] = pair, [sums[i : i + m] for i in range(0, len(sums), m)], both
                break
        else:
            totals.append(((key[:2], query[:2]), made, value.unit))
        start = stop
    zero = not any(any(row) for _, total, _ in totals for row in total)
    need(zero, "value @ output of heads with equal key and query must add up to 0", "wrong")


def residues(table: Table, primes: list[int], limits: Limits) -> list[Any]:
    """The table in each field."""
    limits.on_time()
    fields = []
    for p in primes:
        need(table.unit % p, f"a denominator is 0 mod {p}", "wrong")
        over = pow(table.unit, -1, p)
        fields.append([[x * over % p for x in row] for row in table.rows])
    return fields


class Field:
    """The integers modulo p. `softmax` takes logits modulo the next prime, which is the order of
    2."""

    zero, one = 0, 1
    bytes = 200  # memory for logits and softmax weights in all fields, for one token and one row

    def __init__(self, p: int, slope: int, limits: Limits) -> None:
        self.p, self.slope, self.limits = p, slope % p, limits

    def dot(self, x: Any, y: Any) -> int:
        return dot_mod(x, y, self.p)

    def plus(self, x: int, y: int) -> int:
        return (x + y) % self.p

    def total(self, column: Any) -> int:
        return sum(column) % self.p

    def softmax(self, exponents: list[int], times: list[int]) -> list[int]:
        pairs = zip(exponents, times, strict=True)
        powers = [often * pow(2, x, self.p) for x, often in pairs]
        total = sum(powers) % self.p
        need(total, f"a softmax sum is 0 mod {self.p}", "wrong")
        over = pow(total, -1, self.p)
        return [x * over % self.p for x in powers]

    def by_logits(self, shares: list[int], slopes: list[int]) -> list[int]:
        """The derivatives with respect to the logits, with `slope` instead of ln 2."""
        mean = self.dot(shares, slopes)
        pairs = zip(shares, slopes, strict=True)
        return [x * (y - mean) * self.slope % self.p for x, y in pairs]


# Judging.


def judge(cert: Any, parts: Parts, limits: Limits) -> str:
    T, m = dims(cert, "examples labels")
    p, echelon = parts.primes[0], Echelon(parts.primes[0], T * m)
    numbers = Numbers([Field(p, parts.slope, limits) for p in parts.primes], 1)
    contexts, queries = parts.contexts, parts.queries
    asks = residues(queries, parts.primes, limits)
    causal = any(type(one) is Softmax and one.causal for one in parts.blocks)
    relu, on = any(getattr(x, "relu", False) for x in parts.blocks), Balls(GUARD, limits)
    what = "the features" if parts.of == "features" else "the derivatives"
    for t in range(T):
        context = contexts.rows[t if len(contexts.rows) > 1 else 0]
        distinct, times = (context, [1] * len(context)) if causal else merged(context)
        tokens = residues(contexts._replace(rows=distinct), parts.primes, limits)
        units = None
        if relu:
            exact = [(queries.rows[t], queries.unit), *((x, contexts.unit) for x in distinct)]
            states = [([(x << GUARD) // q for x in row], [1] * len(row)) for row, q in exact]
            units = active(on, parts.kinds, states)
        each = [[x[t]] for x in asks]
        _, saved = forward(parts.blocks, numbers, tokens, each, times, limits, units)
        if parts.of == "features":
            rows = [[x for kept in saved[-1][1].heads for x in kept[3][0]]]
        else:
            some = range(m)
            rows = [derivatives(parts.blocks, numbers.fields[0], saved, j, m, limits) for j in some]
        for row in rows:
            limits.on_time()
            limits.allow(echelon.width, (len(echelon.pivots) + 1) * len(row))
            dependent = f"modulo p, {what} of example {t} depend on earlier ones"
            need(echelon.joins(row), dependent, "wrong")
    return message(parts.of, T, len(echelon.pivots), p)


def message(of: str, T: int, rank: int, p: int) -> str:
    shown = {
        "jacobian": f"weights of this shape output an open set of labellings of {all_of(T)}",
        "jacobian at zero": f"weights of this shape memorize every labelling of {all_of(T)}",
        "features": f"one choice of keys and queries serves every labelling of {all_of(T)}",
    }
    return f"{shown[of]}: the {of} has rank {rank} modulo {p}".replace(
        "features has", "features have"
    )

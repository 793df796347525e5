"""The claim "network-near": real weights near those of a network give the labels exactly.

The claim and theorem of `near.py` for networks of softmax attention (base e) and affine blocks: as
many weights as there are equations, N = examples * labels, vary by at most `radius`, and Newton's
map is shown to take this box into itself. The outputs and their derivatives are computed by
`derivatives.py`, in balls that hold for every point of the box.
"""

if __name__ == "__main__":
    print("unusable: run the folder, not this file: python checker certificate.json")
    raise SystemExit(2)

from collections import namedtuple
from operator import lt
from typing import Any

from .blocks import block, differentiable, widths
from .derivatives import Numbers, Softmax, derivatives, forward, placed
from .layer import contexts_of, merged
from .limits import SHORT, Limits, need
from .near import COARSE, GUARD, NO_INVERSE, Balls, contraction, errors_at, inverse, up, vector
from .reading import Table, all_of, dims, numbers, typed

# blocks: pairs of a block and its form in the certificate. radius: (numerator, denominator).
Parts = namedtuple("Parts", "blocks contexts queries labels radius unknowns inverse")


def parts(cert: Any, limits: Limits) -> Parts:
    T, d, m = dims(cert, "examples width labels")
    null = cert["saturation"] is None and cert["origin"] is None
    need(null, "saturation and origin must be null")
    claim = typed(cert["near"], dict, "near", "radius unknowns inverse")
    (p,), q, _ = numbers(limits, [claim["radius"]], "near.radius", 1)
    need(p > 0, "near.radius must be above 0", "wrong")
    network = typed(cert["network"], list, "network")
    need(network, "network must have at least one block")
    read = [block(limits, one) for one in network]
    pairs = differentiable(limits, read, network, "1", ("identity",))
    contexts = contexts_of(limits, cert, cert["data"])
    for n in {len(tokens) for tokens in contexts.rows}:
        need(widths(read, n, d, d)[1] == m, "the outputs must have as many numbers as the labels")
    unknowns = [typed(x, int, "each unknown") for x in typed(claim["unknowns"], list, "unknowns")]
    order = sorted(unknowns)  # not a set: integers can be chosen to collide in one
    fits = len(order) == T * m and all(map(lt, order, order[1:])) and order[0] >= 0
    need(fits, "near.unknowns must name examples * labels distinct weights", "wrong")
    return Parts(
        pairs,
        contexts,
        numbers(limits, cert["data"]["queries"], "queries", T, d),
        numbers(limits, cert["data"]["labels"], "labels", T, m),
        (p, q),
        unknowns,
        inverse(limits, claim["inverse"], T * m),
    )


class BallNumbers:
    """The arithmetic of single balls (centre, radius) over 2^P, as defined in `near.py`."""

    zero = (0, 0)
    bytes = 600  # memory for logits and softmax weights, for one token and one row

    def __init__(self, P: int, limits: Limits) -> None:
        self.balls, self.limits, self.one = Balls(P, limits), limits, (1 << P, 0)

    def dot(self, x: Any, y: Any) -> tuple[int, int]:
        return self.balls.inner(vector(x), vector(y))

    def plus(self, x: Any, y: Any) -> tuple[int, int]:
        return x[0] + y[0], x[1] + y[1]

    def total(self, column: Any) -> tuple[int, int]:
        centres, radii = vector(column)
        return sum(centres), sum(radii)

    def softmax(self, logits: Any, times: Any) -> Any:
        self.limits.allow(max(abs(c).bit_length() for c, _ in logits), len(logits))
        seen = [k for k, often in enumerate(times) if often]
        shares = self.balls.softmax([logits[k] for k in seen], [times[k] for k in seen])
        balls = dict(zip(seen, zip(*shares, strict=True), strict=True))
        return [balls.get(k, self.zero) for k in range(len(times))]

    def by_logits(self, shares: Any, slopes: Any) -> Any:
        c, r = self.dot(shares, slopes)
        less = [(x - c, y + r) for x, y in slopes]
        return [self.balls.product(*pair) for pair in zip(shares, less, strict=True)]


def judge(cert: Any, parts: Parts, limits: Limits) -> str:
    need(parts.inverse, NO_INVERSE, "over limit")
    T, m = dims(cert, "examples labels")
    labels, (p, q) = parts.labels, parts.radius
    N, P = T * m, GUARD + (q // p).bit_length()
    limits.long |= P > SHORT // 4
    limits.divide(2 * P, 2 * P)
    limits.allow(parts.inverse.bits + P, 4 * N * N)
    errors, rows, widths_, drop = [], list[Any](), list[int](), P - COARSE
    for t, (output, _) in enumerate(evaluated(cert, parts, P, limits, box=False)):
        errors += errors_at(t, output, labels, P, limits)
    for _, derived in evaluated(cert, parts, P, limits, box=True):
        for row in derived:
            rows.append([row[k][0] >> drop for k in parts.unknowns])
            widths_.append(sum((row[k][1] >> drop) + 2 for k in parts.unknowns))
    f, spread = vector(errors)
    worst = contraction(limits, parts, P, f, spread, rows, widths_)
    return (
        f"weights within {cert['near']['radius']:.40} of these give the labels of {all_of(T)}, "
        f"exactly (contraction by {worst:.2g} in dimension {N})"
    )


def evaluated(cert: Any, parts: Parts, P: int, limits: Limits, *, box: bool) -> Any:
    """For each example, its outputs and, if `box` is set, the derivatives with respect to all
    weights in the box."""
    T, m = dims(cert, "examples labels")
    on, (p, q) = BallNumbers(P, limits), parts.radius
    free, reach, first, blocks = set(parts.unknowns) if box else set(), up(p << P, q), 0, []

    def balls(table: Table, start: int) -> Any:
        """The table as balls, for a single field. Its weights are numbered from `start` on."""
        rows, k = [], start
        for row in table.rows:
            limits.on_time()
            limits.allow(table.bits + P, len(row))
            pairs = [divmod(x << P, table.unit) for x in row]
            moved = [reach if k + i in free else 0 for i in range(len(row))]
            rows.append([(c, (rest > 0) + r) for (c, rest), r in zip(pairs, moved, strict=True)])
            k += len(row)
        return [rows]

    for one, written in parts.blocks:
        begin, ends = first, [0]

        def read(table: Table, at: int, begin: int = begin, ends: list[int] = ends) -> Any:
            ends.append(at + len(table.rows) * len(table.rows[0]))
            return balls(table, begin + at)

        blocks.append(placed(one, written, read, limits))
        first += max(ends)
    need(max(parts.unknowns) < first, "near.unknowns must be indices of weights", "wrong")
    causal = any(type(one) is Softmax and one.causal for one in blocks)
    contexts, queries = parts.contexts, parts.queries
    for t in range(T):
        limits.on_time()
        context = contexts.rows[t if len(contexts.rows) > 1 else 0]
        distinct, times = (context, [1] * len(context)) if causal else merged(context)
        tokens = balls(contexts._replace(rows=distinct), first)
        asks = balls(queries._replace(rows=[queries.rows[t]]), first)
        (output,), saved = forward(blocks, Numbers([on], 0), tokens, asks, times, limits)
        some = range(m if box else 0)
        yield output, [derivatives(blocks, on, saved, j, m, limits) for j in some]

"""The claim "interpolation-near": real weights near those in the file give the labels exactly.

For an example with context E (n tokens, width d) and query e, a head has the logits E @ key @
query.T @ e. The softmax has base e.

The claim: within `radius` of the weights in the file, in the maximum norm, there are real weights
whose outputs EQUAL the labels. Only the N = examples * labels weights in `unknowns` vary. Let f(u)
be the outputs minus the labels as functions of these weights, u0 their values in the file, r the
radius, B the box |u - u0| <= r, and A the N x N matrix `inverse`, about which nothing is assumed.

Theorem. If for every row i there are eta_i >= |A f(u0)|_i and kappa_i >= sum_j |I - A f'(u)|_ij for
all u in B, with kappa_i < 1 and eta_i + kappa_i r <= r, then f has exactly one zero in B.

Proof. Let g(u) = u - A f(u), so g' = I - A f'. By the mean value theorem, coordinate by coordinate,
|g(u) - u0|_i <= eta_i + kappa_i r <= r. So g maps B into B and contracts it by max kappa_i < 1. By
Banach's theorem it has exactly one fixed point, where A f = 0. A f'(u0) differs from I by less than
1 in norm, so it is invertible; hence A is invertible, and f = 0 at this point. QED

Read `judge`, then `evaluated` (the layer and its derivatives, in balls), then `Balls`.
"""

if __name__ == "__main__":
    print("unusable: run the folder, not this file: python checker certificate.json")
    raise SystemExit(2)

from collections import namedtuple
from operator import lt
from typing import Any

from .layer import address, contexts_of, merged
from .limits import SHORT, Limits, need
from .reading import Table, all_of, dims, numbers, typed

# radius: (numerator, denominator). weights: tables of keys, queries, values and the output.
Parts = namedtuple("Parts", "contexts queries labels weights radius unknowns inverse")
NO_INVERSE = "near.inverse is null; check --fast computes such a matrix"
GUARD, COARSE = 128, 64  # bits of balls beyond the length of 1 / radius; bits of derivatives


def up(x: int, unit: int) -> int:
    return -(-x // unit)


def vector(balls: Any) -> tuple[Any, Any]:
    centres, radii = zip(*balls, strict=True)
    return centres, radii


class Balls:
    """An integer centre c and radius r stand for all real v with |2^P v - c| <= r. A vector of
    balls is (centres, radii). Centres are rounded down, with an error below 1, and radii up."""

    def __init__(self, P: int, limits: Limits) -> None:
        self.P, self.limits, self.dot = P, limits, limits.dot

    def combination(self, factors: Any, unit: int, vector: Any) -> tuple[int, int]:
        """A ball that contains sum factors_i v_i / unit, given integers factors_i and balls v_i."""
        centres, radii = vector
        radius = self.dot(map(abs, factors), radii)
        return self.dot(factors, centres) // unit, up(radius, unit) + 1

    def inner(self, x: Any, y: Any) -> tuple[int, int]:
        """A ball for sum x_i y_i: |xy - cd| <= |c| s + r |d| + r s for balls (c, r) and (d, s)."""
        (c, r), (d, s), dot = x, y, self.dot
        radius = dot(map(abs, c), s) + dot(r, map(abs, d)) + dot(r, s)
        return dot(c, d) >> self.P, (radius >> self.P) + 2

    def product(self, x: tuple[int, int], y: tuple[int, int]) -> tuple[int, int]:
        (c, r), (d, s) = x, y
        return c * d >> self.P, ((abs(c) * s + r * (abs(d) + s)) >> self.P) + 2

    def exp_bounds(self, X: int) -> tuple[int, int]:
        """Integers below and above 2^P exp(X / 2^P), for X <= 0.

        With y = |X| / 2^(P+s) < 1/64, exp(X / 2^P) = exp(-y)^(2^s). Each term of exp(y) is computed
        from the previous one and rounded down, so the error of term k is below error_(k-1) y / k +
        1 < 2. The first term that is computed as 0 is therefore below 2, and the later terms add up
        to less than (1/2 + 1/6 + ...) 2 < 2.
        """
        P = self.P
        if -X >= P << P:
            return 0, 1  # exp(-P) < 2^-P
        s = (-X >> P).bit_length() + 6  # fewer terms
        W = P + s + 16
        Y, k, term, total = -X << (W - P - s), 0, 1 << W, 1 << W
        while term:
            self.limits.on_time()
            k += 1
            term = (term * Y >> W) // k
            total += term
        low, high = (1 << 2 * W) // (total + 2 * k + 2), up(1 << 2 * W, total)
        for _ in range(s):
            low, high = low * low >> W, -(-high * high >> W)
        return low >> (W - P), -(-high >> (W - P))

    def softmax(self, logits: list[tuple[int, int]], times: Any) -> tuple[Any, Any]:
        """exp(l_i) / sum_k exp(l_k) increases with l_i and decreases with every other l_k. Shifting
        all logits, here by the largest upper end, changes nothing."""
        P, top = self.P, max(c + r for c, r in logits)
        lows = [self.exp_bounds(c - r - top)[0] for c, r in logits]
        highs = [self.exp_bounds(c + r - top)[1] for c, r in logits]
        lows, highs = ([x * k for x, k in zip(some, times, strict=True)] for some in (lows, highs))
        all_low, all_high, balls = sum(lows), sum(highs), []
        for low, high in zip(lows, highs, strict=True):
            least = (low << P) // (low + all_high - high or 1)
            most = up(high << P, high + all_low - low)
            centre = (least + most) >> 1
            balls.append((centre, most - centre))
        return vector(balls)


# The layer.


def evaluated(on: Balls, weights: Any, data: Any, sizes: Any, unknowns: Any = None) -> Any:
    """For each example, balls around the outputs and, if `unknowns` are given, around the
    derivatives with respect to them.

    p = softmax(E w) with w = key q, q = query.T e. A head adds p.s to output j, with s = E (value
    output_j). So the derivative of output j with respect to logit i is g_i = p_i (s_i - p.s); with
    respect to w it is gamma = E.T g; to key[a][b], gamma_a q_b; to query[a][b], e_a (key.T
    gamma)_b; to value[a][b], z_a output_bj with z = E.T p; and to output[b][j], (value.T z)_b.
    """
    m, H, d_v = sizes
    contexts, unit, queries, unit_e = data
    combination, inner, product = on.combination, on.inner, on.product
    heads = []
    for h in range(H):
        K, Q, V = (matrix[h] for matrix in weights[:3])
        output = weights[3][h * d_v : (h + 1) * d_v]
        columns = [vector(column) for column in zip(*output, strict=True)]
        mixed = [vector([inner(vector(row), o) for row in V]) for o in columns]
        turned = [[vector(column) for column in zip(*x, strict=True)] for x in (K, Q, V)]
        heads.append(([vector(row) for row in K], *turned, output, mixed))
        on.limits.on_time()
    for t, e in enumerate(queries):
        E, times = merged(contexts[t if len(contexts) > 1 else 0])
        across, total, by_head = list(zip(*E, strict=True)), [(0, 0)] * m, []
        for K, keys, query_columns, values, output, mixed in heads:
            on.limits.on_time()
            q = vector([combination(e, unit_e, column) for column in query_columns])
            w = vector([inner(row, q) for row in K])
            p = on.softmax([combination(token, unit, w) for token in E], times)
            scores = [vector([combination(token, unit, c) for token in E]) for c in mixed]
            means = [inner(p, s) for s in scores]
            total = [(c + x, r + y) for (c, r), (x, y) in zip(total, means, strict=True)]
            if unknowns is None:
                continue
            gammas = []
            for (centres, radii), (c, r) in zip(scores, means, strict=True):
                less = [(x - c, y + r) for x, y in zip(centres, radii, strict=True)]
                pairs = zip(zip(*p, strict=True), less, strict=True)
                g = vector([product(x, y) for x, y in pairs])
                gammas.append([combination(column, unit, g) for column in across])
            back = [[inner(key, vector(gamma)) for key in keys] for gamma in gammas]
            z = [combination(column, unit, p) for column in across]
            v = [inner(value, vector(z)) for value in values]
            by_head.append((list(zip(*q, strict=True)), gammas, back, z, v, output))
        rows = []
        for j in range(m if unknowns is not None else 0):
            row = []
            for kind, h, a, b in unknowns:
                q, gammas, back, z, v, output = by_head[h]
                if kind == "key":
                    row.append(product(gammas[j][a], q[b]))
                elif kind == "query":
                    c, r = back[j][b]
                    row.append((e[a] * c // unit_e, up(abs(e[a]) * r, unit_e) + 1))
                elif kind == "value":
                    row.append(product(z[a], output[b][j]))
                else:  # output: a is the row within the head, b the entry of the label
                    row.append(v[a] if b == j else (0, 0))
            rows.append(row)
            on.limits.on_time()
        yield total, rows


def parts(cert: Any, limits: Limits) -> Parts:
    T, d, m, H, d_h, d_v = dims(cert, "examples width labels heads head_width value_width")
    need(cert["saturation"] is None, "saturation must be null")
    layer, heads = cert["layer"], cert["layer"]["heads"]
    claim = typed(cert["near"], dict, "near", "radius unknowns inverse")
    (p,), q, _ = numbers(limits, [claim["radius"]], "near.radius", 1)
    need(p > 0, "near.radius must be above 0", "wrong")
    unknowns = [typed(x, int, "each unknown") for x in typed(claim["unknowns"], list, "unknowns")]
    order = sorted(unknowns)  # not a set: integers can be chosen to collide in one
    fits = len(order) == T * m and all(map(lt, order, order[1:])) and order[0] >= 0
    fits = fits and order[-1] < H * (2 * d * d_h + d * d_v + d_v * m)
    need(fits, "near.unknowns must name examples * labels distinct weights", "wrong")
    weights = [
        numbers(limits, [head[name] for head in heads], name, H, d, width)
        for name, width in (("key", d_h), ("query", d_h), ("value", d_v))
    ]
    return Parts(
        contexts_of(limits, cert, cert["data"]),
        numbers(limits, cert["data"]["queries"], "queries", T, d),
        numbers(limits, cert["data"]["labels"], "labels", T, m),
        [*weights, numbers(limits, layer["output"], "output", H * d_v, m)],
        (p, q),
        unknowns,
        inverse(limits, claim["inverse"], T * m),
    )


def inverse(limits: Limits, nested: Any, N: int) -> Table | None:
    """The matrix A. A file may leave the choice of A to the fast check, since any A will do."""
    return None if nested is None else numbers(limits, nested, "near.inverse", N, N)


def judge(cert: Any, parts: Parts, limits: Limits) -> str:
    need(parts.inverse, NO_INVERSE, "over limit")
    T, n, d, m = dims(cert, "examples context width labels")
    H, d_h, d_v = dims(cert, "heads head_width value_width")
    contexts, queries, labels, tables, (p, q), numbered, (_, _, b_a) = parts
    N, part, sizes = T * m, 2 * d * d_h + d * d_v, (m, H, d_v)
    P, b_p = GUARD + (q // p).bit_length(), max(p, q).bit_length()

    # No ball has more than b bits: each value is a sum of products of at most two entries of the
    # context, one entry of the query and three weights.
    b_w = max((p // q).bit_length(), *(table.bits for table in tables))
    b_w += (n * d * d_h * d_v).bit_length()
    b = P + 2 * contexts.bits + queries.bits + 3 * b_w + 64
    limits.long |= b > SHORT
    limits.allow(b, 4 * H * (part + d_v * m) + 2 * N * m + 8 * H * (n * m + d * m))
    limits.allow(b - P + COARSE, 4 * N * N)
    limits.allow(b_p + b_a + b + labels.bits)
    limits.divide(2 * P, 2 * P)
    limits.divide(b, max(table.bits for table in (contexts, queries, labels, *tables)))

    def balls(matrix: Any, unit: int, first: int, box: bool) -> Any:
        """The rows as balls; the weights are numbered from `first` on."""
        rows = []
        for row in matrix:
            limits.on_time()
            centres = [divmod(x << P, unit) for x in row]
            moved = (reach if box and k in free else 0 for k in range(first, first + len(row)))
            rows.append([(c, (rest > 0) + r) for (c, rest), r in zip(centres, moved, strict=True)])
            first += len(row)
        return rows

    def weights(box: bool) -> Any:
        starts = (0, d * d_h, 2 * d * d_h)
        matrices = [
            [balls(x, table.unit, h * part + at, box) for h, x in enumerate(table.rows)]
            for table, at in zip(tables, starts, strict=False)
        ]
        return [*matrices, balls(tables[3].rows, tables[3].unit, H * part, box)]

    free, reach, on = set(numbered), up(p << P, q), Balls(P, limits)
    unknowns = [address(k, d, m, H, d_h, d_v) for k in numbered]
    data = contexts.rows, contexts.unit, queries.rows, queries.unit
    errors = []  # f(u0), in balls
    outputs = evaluated(on, weights(False), data, sizes)
    for t, (total, _) in enumerate(outputs):
        errors += errors_at(t, total, labels, P, limits)
    f, spread = vector(errors)
    rows, widths, drop = [], [], P - COARSE
    for _, derivatives in evaluated(on, weights(True), data, sizes, unknowns):
        for row in derivatives:
            rows.append([c >> drop for c, _ in row])
            widths.append(sum((r >> drop) + 2 for _, r in row))
    worst = contraction(limits, parts, P, f, spread, rows, widths)
    return (
        f"weights within {cert['near']['radius']:.40} of these give the labels of {all_of(T)}, "
        f"exactly (contraction by {worst:.2g} in dimension {N})"
    )


def errors_at(t: int, output: Any, labels: Table, P: int, limits: Limits) -> Any:
    """The output of example t minus its label: centres and radii over 2^P."""
    for (c, r), y in zip(output, labels.rows[t], strict=True):
        limits.divide(P + labels.bits, labels.unit.bit_length())
        yield c - (y << P) // labels.unit, r + 1


def contraction(
    limits: Limits, parts: Any, P: int, f: Any, spread: Any, rows: Any, widths: Any
) -> float:
    """The largest kappa, if Newton's map takes the box into itself. f, spread: centres and radii of
    the errors over 2^P. rows, widths: the derivatives over 2^COARSE, and the sum of radii in each
    row."""
    (p, q), (A, unit_a, _) = parts.radius, parts.inverse
    columns, one, dot = list(zip(*rows, strict=True)), unit_a << COARSE, limits.dot
    largest = 0.0
    for i, row in enumerate(A):
        limits.on_time()
        size = list(map(abs, row))
        eta = abs(dot(row, f)) + dot(size, spread)  # in units of 1 / (unit_a 2^P)
        kappa = dot(size, widths)  # in units of 1 / (unit_a 2^COARSE), like `one`
        kappa += sum(
            abs((one if i == k else 0) - dot(row, column)) for k, column in enumerate(columns)
        )
        need(kappa < one, f"kappa is not below 1 in row {i}", "wrong")
        inside = eta * q << COARSE <= p * (one - kappa) << P
        need(inside, f"eta + kappa * radius is above the radius in row {i}", "wrong")
        largest = max(largest, up(kappa << 20, one) / 2**20)
    return largest

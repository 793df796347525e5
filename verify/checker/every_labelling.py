"""The claim "every-labelling": for all labels there are weights whose outputs equal them.

For an example with context E and query e, a head has the logits ln 2 * k with integers k = E K Q^T
e, the softmax weights p_i = 2^k_i / sum_j 2^k_j and z = E^T p. Output j is the sum of (V O)_j^T z
over the heads. The layer's real weights are K, Q' = ln 2 * Q, V and O.

The claim: FOR ALL labels of these examples there are real weights of H heads of these widths
whose outputs are those labels. It is checked that

(1) heads with equal K and Q have products V O that add up to 0. They have equal z, so all outputs
    are 0, whatever the data are;
(2) the Jacobian of the T*m outputs with respect to all weights has rank T*m.

Theorem. (1) and (2) prove the claim. Proof. By (1) and (2) the outputs map a neighbourhood of these
weights onto a neighbourhood of 0. Given labels y, choose c > 0 such that y / c is in the latter.
Outputs are linear in V, so multiplying V by c turns weights that output y / c into weights that
output y. QED

The Jacobian. Let C = E^T (diag p - p p^T) E and g = C (V O)_j. Output j has these derivatives:

    for K_ab:  g_a (Q'^T e)_b = ln 2 * g_a (Q^T e)_b      for Q'_ab:  e_a (K^T g)_b
    for V_ab:  z_a O_bj                                   for O_bj:   (V^T z)_b

The Jacobian is J D with J rational and D diagonal, with ln 2 for the columns of K and 1 elsewhere,
so its rank is that of J. Contexts and queries are multiplied by common denominators; O and each K,
Q and V are scaled to integers without a common factor. Each column of J is thereby multiplied by a
nonzero number, and softmax sums are the only denominators left. None may be 0 modulo the prime p.
Then a minor that is not 0 modulo p is not 0: if the rank modulo p is T*m, so is the rank of J.
"""

if __name__ == "__main__":
    print("unusable: run the folder, not this file: python checker certificate.json")
    raise SystemExit(2)

from collections import namedtuple
from itertools import chain
from math import gcd
from typing import Any

from .full_rank import Echelon, dot_mod, powers_mod, prime_of
from .layer import attention, shifts
from .limits import Limits, need
from .reading import all_of, dims, numbers

# heads: each is (K^T, Q^T, V^T, O, (V O)^T) modulo the prime.
Parts = namedtuple("Parts", "layer heads prime labels values output")


def parts(cert: Any, limits: Limits) -> Parts:
    """Checks (1) and everything else except the rank."""
    T, d, m, H, d_v = dims(cert, "examples width labels heads value_width")
    need(cert["saturation"] is None, "saturation must be null")
    layer = attention(limits, cert)
    labels = numbers(limits, cert["data"]["labels"], "labels", T, m)
    values = [head["value"] for head in cert["layer"]["heads"]]
    V = numbers(limits, values, "value", H, d, d_v)
    O = numbers(limits, cert["layer"]["output"], "output", H * d_v, m)  # noqa: E741
    p = prime_of(limits, cert, T * m)
    limits.allow(V.bits + O.bits + d_v.bit_length(), H * d * m)
    heads, totals = list[Any](), list[Any]()
    outputs = residues(limits, O.rows, p)
    for h, (key, query) in enumerate(layer.heads):
        limits.on_time()
        rows = slice(h * d_v, (h + 1) * d_v)
        K, Q, small = (residues(limits, x, p) for x in (key, query, V.rows[h]))
        columns = list(zip(*outputs[rows], strict=True))
        mixed = [[dot_mod(row, column, p) for row in small] for column in columns]
        keys, values = (list(zip(*x, strict=True)) for x in (K, small))
        heads.append((keys, Q, values, outputs[rows], mixed))
        total = next((total for pair, total in totals if pair == (key, query)), None)
        if total is None:
            total = [[0] * d for _ in range(m)]
            totals.append(((key, query), total))
        columns = list(zip(*O.rows[rows], strict=True))
        for row, column in zip(total, columns, strict=True):
            limits.on_time()
            row[:] = [x + limits.dot(y, column) for x, y in zip(row, V.rows[h], strict=True)]
    zero = not any(any(row) for _, total in totals for row in total)
    need(zero, "value @ output of heads with equal key and query must add up to 0", "wrong")
    return Parts(layer, heads, p, labels, V, O)


def judge(cert: Any, parts: Parts, limits: Limits) -> str:
    T, d, m, H, d_h, d_v = dims(cert, "examples width labels heads head_width value_width")
    layer, heads, p, *_ = parts
    echelon = Echelon(p, T * m)
    limits.allow(echelon.width, T * m * H * (d * (2 * d_h + d_v) + d_v * m))
    for t, (columns, times, logits) in enumerate(shifts(limits, layer)):
        for row in derivatives(limits, layer.queries[t], columns, times, logits, heads, p, m, t):
            limits.on_time()
            dependent = f"modulo p, the derivatives of example {t} depend on earlier ones"
            need(echelon.joins(row), dependent, "wrong")
    return (
        f"every labelling of {all_of(T)} is memorized by {H} head{'s' * (H > 1)}: at these weights "
        f"all outputs are 0, and their Jacobian has rank {T * m} modulo {p}"
    )


def residues(limits: Limits, rows: Any, p: int) -> list[list[int]]:
    """The integers without their common factor, modulo p."""
    common = 0
    for x in chain(*rows):
        limits.divide(common.bit_length(), x.bit_length())
        common = gcd(common, x)
    reduced = []
    for row in rows:
        limits.on_time()
        reduced.append([x // (common or 1) % p for x in row])
    return reduced


def derivatives(
    limits: Limits,
    e: Any,
    columns: Any,
    times: Any,
    logits: Any,
    heads: Any,
    p: int,
    m: int,
    t: int,
) -> list[list[int]]:
    """The m rows of J for example t modulo p. logits: the logits of each head."""
    rows: list[list[int]] = [[] for _ in range(m)]
    columns, e = ([[x % p for x in column] for column in columns], [x % p for x in e])
    tokens = list(zip(*columns, strict=True))
    for x, (keys, query, values, output, mixed) in zip(logits, heads, strict=True):
        limits.on_time()
        powers = powers_mod(x, times, p)
        s = sum(powers) % p
        need(s, f"a softmax sum of example {t} is 0 mod p", "wrong")
        inverse = pow(s, -1, p)
        weights = [w * inverse % p for w in powers]
        z = [dot_mod(weights, column, p) for column in columns]
        q = [dot_mod(column, e, p) for column in query]  # Q^T e
        hidden = [dot_mod(column, z, p) for column in values]  # V^T z
        for j, row in enumerate(rows):
            limits.on_time()
            scores = [dot_mod(token, mixed[j], p) for token in tokens]
            mean = dot_mod(weights, scores, p)
            slopes = [w * (y - mean) % p for w, y in zip(weights, scores, strict=True)]
            g = [dot_mod(slopes, column, p) for column in columns]
            back = [dot_mod(column, g, p) for column in keys]  # K^T g
            row += [a * b % p for a in g for b in q]
            row += [a * b % p for a in e for b in back]
            row += [a * b[j] % p for a in z for b in output]
            row += [b if j == k else 0 for b in hidden for k in range(m)]
    return rows

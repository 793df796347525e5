"""What checker.py checks of the claim "every-labelling".

Standard library only; nothing in the file is believed.
Head h gives example t, with context E and query e, logits ln 2 * k with integers k = E K Q^T e, the
softmax weights p_i = 2^k_i / sum_j 2^k_j and z = E^T p; label j is the sum over the heads of
(V O)_j^T z. The layer's real weights are K, Q' = ln 2 * Q, V and O.

The claim: FOR EVERY labels of these examples there are real weights of H heads of these widths
whose outputs are those labels. It is checked that

(1) heads with equal K and Q have products V O that add up to 0. They have equal z; so all outputs
    are 0, whatever the data;
(2) the Jacobian of the T*m outputs by all weights has rank T*m.

Theorem. (1) and (2) prove the claim. Proof. By (2) the outputs map a neighbourhood of these weights
onto a neighbourhood of 0. For labels y some c > 0 has y / c in it; the outputs are linear in V, so
c times the V of the weights that give y / c give y. QED

The Jacobian. With C = E^T (diag p - p p^T) E and g = C (V O)_j the derivatives of label j are

    by K_ab:  g_a (Q'^T e)_b = ln 2 * g_a (Q^T e)_b      by Q'_ab:  e_a (K^T g)_b
    by V_ab:  z_a O_bj                                   by O_bj:   (V^T z)_b

It is J D with D diagonal, ln 2 in the columns of K and 1 elsewhere, and J rational: the ranks are
equal. Contexts and queries are taken times common denominators; each K, Q and V, and O, in integers
without a common factor. Both multiply every column of J by one nonzero number. Softmax sums are the
only denominators left. None may be 0 modulo the prime p; then a minor that is not 0 modulo p is not
0, and rank T*m modulo p is rank T*m.
"""

from itertools import chain
from math import gcd
from typing import Any

if __package__:
    from attncert.verify.checker import Work, attention, dot, integers, need, shifts
    from attncert.verify.checker_rank import joins, prime_of
else:  # checker.py was run as a file
    from checker import Work, attention, dot, integers, need, shifts  # type: ignore
    from checker_rank import joins, prime_of  # type: ignore


def every_labelling(cert: Any, work: Work) -> str:
    T, n, d, m, H, d_h, d_v = cert["dims"].values()
    layer, heads, p = zero_parts(cert, work)
    P, b_p = H * (d * (2 * d_h + d_v) + d_v * m), p.bit_length()
    b_e, b_q = layer.bits[:2]
    work.spend(2e-5 * T * H * n)  # the powers
    work.dots(T * H * (n * m + d_h), d, b_e, b_p + b_q)  # scores, Q^T e
    work.dots(T * H * (d + m * d + m), n, b_p, b_e + b_p)
    work.dots(T * H * (m * d_h + d_v), d, b_p, b_p)
    work.dots(T * m * P, 1, b_p, b_p + b_q)
    work.quotients(T * m * (P + H * (n + d + n * m)), 2 * b_p + b_e + b_q, b_p)
    work.dots(T * m * T * m / 2, P, b_p, b_p)  # each row less multiples of those above
    work.hold(T * m * P, b_p)
    work.pass_by((2 * P * (m + 1) + H * d * (m + n), 3 * b_p + b_e + b_q))
    pivots: list[tuple[int, list[int]]] = []
    for t, (columns, logits) in enumerate(shifts(cert, work, layer)):
        for row in derivatives(layer.queries[t], columns, logits, heads, p, m, t):
            dependent = f"modulo p, the derivatives of example {t} depend on earlier ones"
            need(joins(row, pivots, p), dependent, "wrong")
    return (
        f"every labelling of the {T} examples is memorized by {H} heads: at these weights all "
        f"outputs are 0, and their Jacobian has rank {T * m} modulo {p}"
    )


def zero_parts(cert: Any, work: Work) -> tuple[Any, Any, int]:
    """The layer, its heads as (K^T, Q^T, V^T, O, (V O)^T) modulo p, and p; (1) is checked."""
    T, _, d, m, H, d_h, d_v = cert["dims"].values()
    need(cert.get("saturation") is None, "saturation must be null")
    p = prime_of(cert, work, T * m)
    layer = attention(cert, work, "logit_unit heads output", "key query value")
    integers(work, cert["data"]["labels"], "labels", T, m)
    values = [head["value"] for head in cert["layer"]["heads"]]
    V, _, b_v = integers(work, values, "value", H, d, d_v)
    O, _, b_o = integers(work, cert["layer"]["output"], "output", H * d_v, m)  # noqa: E741
    b_m = b_v + b_o + d_v.bit_length()
    work.dots(H * d * m, d_v, b_v, b_o)
    work.hold(H * d * (m + 2 * d_h + d_v), max(b_m, *layer.bits))
    for count, bits in ((2 * d * d_h, max(layer.bits[2:])), (d_v * (d + m), max(b_v, b_o))):
        work.quotients(2 * H * count, bits / 2, bits)  # common factors, and modulo p
    work.dots(H * d * m, d_v, p.bit_length(), p.bit_length())
    work.hold(H * m * (d + d_v), p.bit_length())
    work.spend(H * H * d * d_h * (1e-7 + 2e-11 * max(layer.bits)))  # heads told apart
    heads, sets, outputs = list[Any](), list[Any](), residues(O, p)
    for h, (key, query) in enumerate(layer.heads):
        rows = slice(h * d_v, (h + 1) * d_v)
        mixed, parts = product(V[h], O[rows]), [residues(x, p) for x in (key, query, V[h])]
        small = [[x % p for x in row] for row in product(parts[2], outputs[rows])]
        keys, values = (list(zip(*x, strict=True)) for x in parts[::2])
        heads.append((keys, parts[1], values, outputs[rows], small))
        total = next((total for other, total in sets if other == (key, query)), None)
        if total is None:
            total = [[0] * d for _ in range(m)]
            sets.append(((key, query), total))
        for row, more in zip(total, mixed, strict=True):
            row[:] = [x + y for x, y in zip(row, more, strict=True)]
    zero = not any(any(row) for _, total in sets for row in total)
    need(zero, "value @ output of heads with equal key and query must add up to 0", "wrong")
    return layer, heads, p


def product(V: Any, O: Any) -> list[list[int]]:  # noqa: E741
    """(V O)^T."""
    return [[dot(row, column) for row in V] for column in zip(*O, strict=True)]


def residues(rows: Any, p: int) -> list[list[int]]:
    """Modulo p, of integers in proportion to these that have no common factor."""
    common = gcd(*chain(*rows)) or 1
    return [[x // common % p for x in row] for row in rows]


def derivatives(
    e: Any, columns: Any, logits: Any, heads: Any, p: int, m: int, t: int
) -> list[list[int]]:
    """The m rows of example t modulo p; columns: of its context; logits: by head, in ln 2."""
    rows: list[list[int]] = [[] for _ in range(m)]
    tokens = list(zip(*columns, strict=True))
    for x, (keys, query, values, out, mixed) in zip(logits, heads, strict=True):
        powers = [pow(2, k % (p - 1), p) for k in x]  # 2^(p-1) = 1 mod p
        s = sum(powers) % p
        need(s, f"a softmax sum of example {t} is 0 mod p", "wrong")
        inverse = pow(s, -1, p)
        weights = [w * inverse % p for w in powers]
        z = [dot(weights, column) % p for column in columns]
        asked = [dot(column, e) % p for column in query]  # Q^T e
        hidden = [dot(column, z) % p for column in values]  # V^T z
        for j, row in enumerate(rows):
            scores = [dot(token, mixed[j]) % p for token in tokens]
            mean = dot(weights, scores) % p
            slopes = [w * (y - mean) % p for w, y in zip(weights, scores, strict=True)]
            g = [dot(slopes, column) % p for column in columns]
            back = [dot(column, g) % p for column in keys]  # K^T g
            row += [a * b % p for a in g for b in asked]
            row += [a * b % p for a in e for b in back]
            row += [a * b[j] % p for a in z for b in out]
            row += [b if j == k else 0 for b in hidden for k in range(m)]
    return rows

"""What checker.py checks of the claim "full-rank".

Standard library only; nothing in the file is believed. Modulo a prime that divides no denominator,
independent rows are the images of rows that are independent over the rationals.
"""

from typing import Any

if __package__:
    from attncert.verify.checker import Work, attention, dot, integers, need, shifts, steered, typed
else:  # checker.py was run as a file
    from checker import Work, attention, dot, integers, need, shifts, steered, typed  # type: ignore


def is_prime(p: int) -> bool:
    """Of an odd p > 1, by Miller and Rabin's test: with these bases no composite below 3 * 10^23
    passes it (Sorenson and Webster, Strong pseudoprimes to twelve prime bases, 2017)."""
    twos = (p - 1 & 1 - p).bit_length() - 1
    for a in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        x = pow(a, p >> twos, p)
        if a % p and x != 1 and all(pow(x, 2**i, p) != p - 1 for i in range(twos)):
            return False
    return True


def prime_of(cert: Any, work: Work, rows: int) -> int:
    """The prime of a claim that so many rows are independent modulo it."""
    rank = typed(cert["rank"], dict, "rank", "prime value")
    (p,), unit, _ = integers(work, [rank["prime"]], "rank.prime", 1)
    prime = unit == p % 2 == 1 < p < 2**62 and is_prime(p)
    need(prime, "rank.prime is not an odd prime below 2^62", "wrong")
    told = typed(rank["value"], int, "rank.value")
    need(told == rows, f"rank.value is not {rows}", "wrong")
    return p


def joins(row: list[int], pivots: list[tuple[int, list[int]]], p: int) -> bool:
    """Whether the row is independent of those before it, modulo p; if so, it joins the pivots: a
    column, and the row from there on, less multiples of those above, with leading 1."""
    for start, pivot in pivots:
        if factor := row[start] % p:
            row[start:] = [x - factor * y for x, y in zip(row[start:], pivot, strict=True)]
    start = next((j for j, x in enumerate(row) if x % p), -1)
    if start < 0:
        return False
    inverse = pow(row[start], -1, p)
    pivots.append((start, [x * inverse % p for x in row[start:]]))
    return True


def rank_parts(cert: Any, work: Work) -> tuple[Any, int]:
    """The layer and the prime of a full-rank claim; all but the rank itself is checked."""
    T, _, d, m, H, _, d_v = cert["dims"].values()
    p = prime_of(cert, work, T)
    layer = attention(cert, work, "logit_unit heads", "key query")
    integers(work, cert["data"]["labels"], "labels", T, m)
    need(d_v >= m, "dims.value_width is less than dims.labels", "wrong")
    need(H * d >= T, "there are more examples than features: heads times width", "wrong")
    need(layer.unit % p, "a denominator of the contexts is 0 mod p", "wrong")
    return layer, p


def full_rank(cert: Any, work: Work) -> str:
    T, n, d, _, H, _, _ = cert["dims"].values()
    layer, p = rank_parts(cert, work)
    b_p, b_e = p.bit_length(), layer.bits[0]
    work.spend(2e-5 * T * H * n)  # the powers
    work.dots(T * H * (d + 1), n, b_p, b_e)
    work.quotients(T * H * (d + 2), b_p + b_e, b_p)
    work.dots(T * T / 2, H * d, b_p, b_p)  # each row less multiples of those above
    work.hold(T * H * d, b_p)
    work.pass_by((n + 5 * H * d, 3 * b_p + b_e))
    pivots: list[tuple[int, list[int]]] = []
    for t, (columns, logits) in enumerate(shifts(cert, work, layer)):
        row = []
        for x in logits:
            weights = [pow(2, k % (p - 1), p) for k in x]  # 2^(p-1) = 1 mod p
            s = layer.unit * sum(weights) % p
            need(s, f"a denominator of example {t} is 0 mod p", "wrong")
            row += [dot(weights, column) * pow(s, -1, p) % p for column in columns]
        dependent = f"modulo p, the features of example {t} depend on earlier ones"
        need(joins(row, pivots, p), dependent, "wrong")
    more = steered(cert, work, layer)
    return f"the features of all {T} examples are independent: rank {T} modulo {p}{more}"

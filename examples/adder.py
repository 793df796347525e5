"""A hand-built transformer that adds ten-digit numbers, with outputs enclosed for all 10²⁰ pairs.

Written from the description of the one-layer adders with positions of period 11 on AdderBoard
(github.com/anadim/AdderBoard: cosminscn, lichengliu03); the weights here are ours. The network
reads a, 0, b, 0 and generates the sum s, lowest digits first. With its 0, each operand has n = 11
digits; positions i and n + i hold the digits a_i and b_i, and position 2n + i holds s_i.

A token is (x, cos, sin, 0): its digit x and the angle of its position i, 2πi/n. When s_i is due,
the query is the digit before it: s_(i-1), or for i = 0 the second 0. Head 1 rotates the query by
one position, so its softmax picks out a_i and b_i: twice their mean is u = a_i + b_i. Head 2 does
not rotate it and picks out a_(i-1), b_(i-1), s_(i-1). From three times their mean and x, the next
block computes

    D = a_(i-1) + b_(i-1) - s_(i-1) = 10 c - c', with carries c, c' into places i, i - 1.

So D is at most 0, or at least 9, and c = relu(D - 1/2) - relu(D - 3/2). If t = u + c is at most 9,
so is r = u + D/10; otherwise r is at least 9.9. So w = relu(2r - 18.25) - relu(2r - 19.25) is 0 or
1, and s_i = t - 10w. The output at digit v is 2v s_i - v², largest at the nearest digit.
"""

from functools import partial
from math import cos, pi, sin

from flint import fmpq, fmpq_mat

from attncert import (
    Attention,
    Construction,
    FeedForward,
    Generates,
    Head,
    Hypothesis,
    Nearest,
    Network,
    Step,
    additions,
)  # fmt: skip

GRID = 10**6  # of the rounded angles


def rounded(x):
    return fmpq(round(GRID * x), GRID)


def tables(digits, base=10):  # embedding and positions, for `additions(digits, base)`
    n = digits + 1
    angles = [2 * pi * (i % n) / n for i in range(3 * n)]
    positions = [[0, str(rounded(cos(x))), str(rounded(sin(x))), 0] for x in angles]
    return {"embedding": [[x, 0, 0, 0] for x in range(base)], "positions": positions}


def build(data, request, digits=10, base=10, scale=1000):  # scale: of the logits
    n, B = digits + 1, fmpq(base)
    C, S = rounded(cos(2 * pi / n)) * scale, rounded(sin(2 * pi / n)) * scale
    angle, digit = fmpq_mat([[0, 0], [1, 0], [0, 1], [0, 0]]), fmpq_mat([[1], [0], [0], [0]])
    turned, plain = fmpq_mat([[0, 0], [C, S], [-S, C], [0, 0]]), angle * scale
    into = fmpq_mat([[0, 0, 0, 2], [fmpq(-3, 2), 0, 0, 0]])  # x becomes -D/2, and 0 becomes u
    heads = Head(angle, turned, digit), Head(angle, plain, digit)
    hidden = fmpq_mat([[-2, -2, -4 / B, -4 / B, 0], [0] * 5, [0] * 5, [0, 0, 2, 2, 1]])
    bias = fmpq_mat([["-1/2", "-3/2", fmpq(7, 4) - 2 * B, fmpq(3, 4) - 2 * B, 0]])
    total = fmpq_mat([[1], [-1], [-B], [B], [1]])
    digits_ = fmpq_mat([[2 * v for v in range(base)]])
    return Network((
        Attention(heads, into, "query", "softmax", "1", residual=True),
        FeedForward(hidden, bias, activation="relu"),
        FeedForward(total * digits_, fmpq_mat([[-v * v for v in range(base)]])),
    ))  # fmt: skip


def carries(at, domain, base):
    for (c, letter), (after, s) in domain.step.items():
        yield sum(letter) + c, "==", s + base * after, c, letter


def adder(digits=10, base=10, scale=1000, build=build):
    domain = additions(digits, base)
    return Construction(
        name=f"adder-{digits}-{base}-{scale}",
        title=f"a transformer that adds numbers of {digits} digits",
        theorem="the addition theorem",
        source="examples/adder.py",
        build=partial(build, digits=digits, base=base, scale=scale),
        hypotheses={"sequences": Hypothesis("The data are token sequences.", lambda data: [
            (data.origin.inputs is not None, "==", True)])},
        steps={"carries": Step("Digits and carries add up to digit and carry.",
                               partial(carries, domain=domain, base=base))},
        claims=(Nearest(), Generates(domain, width=2, rests_on=("carries",))),
    )  # fmt: skip


def pairs(numbers, digits=10, base=10):  # pairs of numbers as data
    domain = additions(digits, base)
    spelled = [[[x // base**i % base for i in range(digits + 1)] for x in two] for two in numbers]
    words = [list(zip(*two, strict=True)) for two in spelled]
    return domain.dataset(words, "sums", **tables(digits, base))


ADDER = adder()

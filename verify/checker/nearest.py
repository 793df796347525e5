"""The claim "nearest": each output is nearer to its own label than to any other, by a margin.

Let o be the output of an example and y its label. For another label y' of the data,
    |o - y'|^2 - |o - y|^2 = 2 ((y - y').o - (|y|^2 - |y'|^2) / 2).
The least of (y - y').o - (|y|^2 - |y'|^2) / 2 over all these y' is the margin of the example: o is
nearer to y than to any other label exactly if it is above 0. For one-hot labels the margin is the
output at the label minus the largest other output.

The labels are Y / u and the claimed margin is p / q, in integers; each entry of o is within r / w
of c / w. Times 2 q u^2 w, the margin is at least p / q for all such o if, for every Y',
    2 q u ((Y - Y').c - |Y - Y'|.r) >= w (q (|Y|^2 - |Y'|^2) + 2 p u^2).
These are integers, so nothing is rounded. For exact outputs r is 0.
"""

if __name__ == "__main__":
    print("unusable: run the folder: python checker certificate.json")
    raise SystemExit(2)

from collections import namedtuple
from itertools import groupby
from typing import Any

from . import network
from .arithmetic import Mixed
from .limits import Limits, need
from .near import GUARD
from .reading import all_of, numbers, typed

Parts = namedtuple("Parts", "network margin others")  # others: each label once, and its square


def parts(cert: Any, limits: Limits) -> Parts:
    plain = network.parts(cert, limits)
    margin = typed(cert["nearest"], dict, "nearest", "margin")["margin"]
    (p,), q, _ = numbers(limits, [margin], "nearest.margin", 1)
    need(p > 0, "nearest.margin must be above 0")
    once = [label for label, _ in groupby(sorted(plain.labels.rows))]
    need(len(once) > 1, "nearest needs two different labels")
    return Parts(plain, (p, q), [(label, limits.dot(label, label)) for label in once])


def judge(cert: Any, parts: Parts, limits: Limits) -> str:
    (blocks, contexts, queries, labels, _), (p, q), others = parts
    dot, product, u, P = limits.dot, limits.product, labels.unit, GUARD + (q // p).bit_length()
    scale, gap = product(2 * q, u), product(2 * p, product(u, u))
    on = Mixed(P, limits)
    states = network.states(on, blocks, contexts, queries, limits)
    for t, (_, query) in enumerate(states):
        centres, radii, w = on.around(query)
        label = labels.rows[t]
        square = dot(label, label)
        for other, its_square in others:
            limits.on_time()
            if other == label:
                continue
            apart = [x - y for x, y in zip(label, other, strict=True)]
            middle, spread = dot(apart, centres), dot(map(abs, apart), radii)
            least = product(w, product(q, square - its_square) + gap)
            possible = product(scale, middle + spread) >= least
            need(possible, f"the margin of example {t} is smaller", "wrong")
            undecided = f"balls of {P} bits do not decide the margin of example {t}"
            need(product(scale, middle - spread) >= least, undecided, "over limit")
    return (
        f"the outputs of {all_of(cert['dims']['examples'])} are nearer to their labels than "
        f"to any other, by a margin of {cert['nearest']['margin']:.40}"
    )

"""The fast check of "network" and "outputs-within" certificates: FLINT.

The file is read by verify/checker; its blocks are then evaluated by constructions/network, in
rationals as far as they go, then in balls (Arb). That is the code that builds networks and writes
such files: trust it with FLINT, or leave out --fast.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from flint import arb, arb_mat, fmpq

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.network.arithmetic import BALLS, MAX_BITS, RATIONAL, Inexact
from attncert.constructions.network.blocks import Block
from attncert.constructions.network.file import of_json
from attncert.constructions.network.network import Network
from attncert.constructions.network.states import States
from attncert.verify.checker import Limits, Rejected, need
from attncert.verify.checker.arithmetic import LONGEST
from attncert.verify.checker.network import Parts
from attncert.verify.checker.reading import all_of
from attncert.verify.claims.evidence import Level
from attncert.verify.fast.reading import dataset
from attncert.verify.interpolation.enclosure import enclosed_error

MOST_BITS = 4096  # of balls: what needs more is not decided


def judge(cert: dict[str, Any], parts: Parts, limits: Limits) -> str:
    """The claim in one line, or Rejected."""
    within = Fraction(*parts.within or (0, 1))
    text = "is further from its label" if within else "is not its label"
    network, data = network_and_data(cert, parts, limits)
    states, rest = exact_as_far(network, data, limits, LONGEST if parts.within else MAX_BITS)
    if not rest:
        limit = fmpq(within.numerator, within.denominator)
        pairs = zip(states.queries.tolist(), data.label_matrix.tolist(), strict=True)
        for t, (output, label) in enumerate(pairs):
            close = all(abs(x - y) <= limit for x, y in zip(output, label, strict=True))
            need(close, f"the output of example {t} {text}", "wrong")
    else:
        outputs = partial(enclosed, states, rest, data.m, limits)
        error = enclosed_error(data, outputs, tolerance=within, max_bits=MOST_BITS)
        t = [*error.numbers["beyond"], *error.numbers["open"], 0][0]
        need(error.level is not Level.REFUTED, f"the output of example {t} {text}", "wrong")
        need(error.level.holds, f"balls do not decide the output of example {t}", "over limit")
    if parts.within is None:
        return f"the outputs equal the labels of {all_of(data.T)}, exactly"
    return f"the outputs are within {cert['within']:.40} of the labels of {all_of(data.T)}"


def network_and_data(cert: dict[str, Any], parts: Parts, limits: Limits) -> tuple[Network, Dataset]:
    data = dataset(cert, limits, parts.contexts, parts.queries, parts.labels)
    limits.hold(200.0 * (len(data.contexts) * data.longest + data.T) * (data.d + data.m))
    try:
        return of_json(cert["network"]), data
    except InputError as error:
        raise Rejected("unusable", str(error)) from None


def exact_as_far(
    network: Network, data: Dataset, limits: Limits, longest: int = LONGEST
) -> tuple[States, tuple[Block, ...]]:
    """The states before the first block that is not rational, or makes numbers of more bits than
    `longest`; and the blocks from it on."""
    states = States.of(data, RATIONAL)
    for k, block in enumerate(network.blocks):
        limits.on_time()
        try:
            after = block.after(states)
        except Inexact:
            return states, network.blocks[k:]
        if max(RATIONAL.bits(x) for x in (*after.contexts, after.queries)) > longest:
            return states, network.blocks[k:]
        states = after
    return states, ()


def enclosed(states: States, blocks: tuple[Block, ...], labels: int, limits: Limits) -> arb_mat:
    """The outputs in balls of the working precision; no numbers if that leaves a tie or a sign
    open."""
    balls = States(tuple(map(arb_mat, states.contexts)), arb_mat(states.queries), BALLS)
    try:
        for block in blocks:
            limits.on_time()
            balls = block.after(balls)
    except Inexact:
        T = int(balls.queries.nrows())
        return arb_mat(T, labels, [arb("nan")] * (T * labels))
    return balls.queries

"""The fast check of "network" and "outputs-within" certificates: FLINT.

The file is read by verify/checker; its blocks are then evaluated by constructions/network, in
rationals or in balls (Arb). That is the code that builds networks and writes such files: trust it
with FLINT, or leave out --fast.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from flint import arb_mat, fmpq_mat, fmpz_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.layer import Head
from attncert.constructions.network.arithmetic import Inexact, TooLong
from attncert.constructions.network.blocks import Attention, Block, FeedForward
from attncert.constructions.network.network import Network
from attncert.verify.checker import Limits, Rejected, need
from attncert.verify.checker.arithmetic import Map
from attncert.verify.checker.network import Parts
from attncert.verify.fast.near import dataset
from attncert.verify.interpolation.enclosure import enclosed_error
from attncert.verify.network.within import balls, require_width

MOST_BITS = 4096  # of balls: a claim that needs more is refused, as not shown to hold


def judge(cert: dict[str, Any], parts: Parts, limits: Limits) -> str:
    """The claim in one line, or Rejected."""
    data = dataset(cert, limits, parts.contexts, parts.queries, parts.labels)
    limits.room(200.0 * (len(data.contexts) * data.n + data.T) * (data.d + data.m))
    compare = exactly if parts.within is None else partial(nearly, within=Fraction(*parts.within))
    try:
        compare(Network(tuple(map(block, parts.blocks))), data, limits)
    except InputError as error:
        raise Rejected("unusable", str(error)) from None
    except TooLong as error:
        limits.over(str(error))
    except Inexact as error:
        raise Rejected("wrong", str(error)) from None
    if parts.within is None:
        return f"the outputs equal the labels of all {data.T} examples, exactly"
    return f"the outputs are within {cert['within']:.40} of the labels of all {data.T} examples"


def exactly(network: Network, data: Dataset, limits: Limits) -> None:
    for behind in network.states(data):
        limits.on_time()
        outputs = behind.queries
    require_width(outputs, data)
    pairs = zip(outputs.tolist(), data.label_matrix.tolist(), strict=True)
    wrong = next((t for t, (output, label) in enumerate(pairs) if output != label), None)
    need(wrong is None, f"the output of example {wrong} is not its label", "wrong")


def nearly(network: Network, data: Dataset, limits: Limits, within: Fraction) -> None:
    def outputs() -> arb_mat:
        limits.on_time()
        enclosures = balls(network, data)
        require_width(enclosures, data)
        return enclosures

    error = enclosed_error(data, outputs, tolerance=within, max_bits=MOST_BITS)
    far = [*error.numbers["beyond"], *error.numbers["open"], 0][0]
    message = f"the output of example {far} may be further from its label"
    need(error.level.holds, message, "wrong")


def block(one: Any) -> Block:
    """From the checker's form, in which each head has its own part of the output."""
    if hasattr(one, "activation"):
        rows = matrix(one.map).tolist()
        weights, bias = fmpq_mat(rows[:-1]), fmpq_mat(rows[-1:])
        return FeedForward(weights, bias, one.of, one.activation, one.residual)
    heads = [Head(*map(unbiased, (head.key, head.query, head.out))) for head in one.heads]
    width = len(one.heads[0].out.columns)
    output = fmpq_mat([[int(i == j) for j in range(width)] for _ in heads for i in range(width)])
    rows = isinstance(one.mask, list)
    mask = tuple(tuple(map(bool, row)) for row in one.mask) if rows else one.mask
    return Attention(tuple(heads), output, one.of, one.rule, one.unit, mask, one.residual)


def unbiased(by: Map) -> fmpq_mat:
    return fmpq_mat(matrix(by).tolist()[:-1])


def matrix(by: Map) -> fmpq_mat:
    return fmpq_mat(fmpz_mat(list(map(list, zip(*by.columns, strict=True))))) / by.unit

"""Outputs of one attention layer: exact logits of all heads, and the true softmax in Arb balls.

Example t has the context E (n×d) and the query e. Head h has the logits E (e Q Kᵀ)ᵀ, and adds to
output j the mean of the scores E (V O)_j, weighted by its softmax. The logits and scores of all
heads are one product of integers, and each of its rows has a denominator. FLINT computes this
product several times as fast as products of balls.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul

from flint import arb, arb_mat, ctx, fmpq_mat, fmpz, fmpz_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.arithmetic import factor
from attncert.constructions.network.blocks import Attention
from attncert.constructions.network.network import Network

_MOST_LABELS = 4  # with more labels, means of tokens are cheaper than means of scores
_MOST_BITS = 512  # with longer numbers, products of balls are cheaper


def enclosed(data: Dataset, network: Network, bits: int) -> arb_mat:
    """`Network.enclosures`, with exact logits if the network is one plain softmax layer with short
    numbers and few labels."""
    block, *others = network.blocks
    if others or not isinstance(block, Attention) or not _is_plain(data, block):
        return network.enclosures(data, bits)
    asked, scored = _products(data, block)
    if max(bottom.bit_length() for _, bottom in (*asked, *scored)) > _MOST_BITS:
        return network.enclosures(data, bits)
    with ctx.workprec(bits):
        units = [factor(block.unit) / bottom for _, bottom in asked]
        shares = [1 / arb(bottom) for _, bottom in scored]
        rows = [matrix.entries() for matrix, _ in asked]
        ends = [x for matrix, _ in scored for x in matrix.entries()]
        d, outputs = data.d, list[list[arb]]()
        for t in range(data.T):
            flat = [x for row in rows for x in row[t * d : (t + 1) * d]] + ends
            tokens = data.rows(t).integer_matrix().transpose()
            products = arb_mat(fmpz_mat(len(flat) // d, d, flat) * tokens).tolist()
            outputs.append(_means(products, units, shares, data.m))
        return arb_mat(outputs)


def _is_plain(data: Dataset, block: Attention) -> bool:
    if type(block) is not Attention or block.rule != "softmax" or block.mask is not None:
        return False
    *matrices, output = block.matrices
    widths = {int(matrix.nrows()) for matrix in matrices}
    few = int(output.ncols()) == data.m <= _MOST_LABELS
    return few and widths == {data.d} and block.of == "query" and not block.residual


def _products(
    data: Dataset, block: Attention
) -> tuple[list[tuple[fmpz_mat, fmpz]], list[tuple[fmpz_mat, fmpz]]]:
    """For each head the rows e Q Kᵀ of all examples (T×d), and (V O)ᵀ (m×d): integers over a
    denominator."""
    queries, bottom = data.queries.integer_matrix(), fmpz(data.queries.denominator)
    rows = iter(block.output.tolist())
    asked, scored = [], []
    for head in block.heads:
        assert head.value is not None
        (query, q), (key, k) = (x.numer_denom() for x in (head.query, head.key))
        scale = bottom * q * k * data.contexts.denominator
        asked.append((queries * query * key.transpose(), scale))
        output = fmpq_mat([next(rows) for _ in range(head.value.ncols())])
        numerators, v = (head.value * output).numer_denom()
        scored.append((numerators.transpose(), v * data.contexts.denominator))
    return asked, scored


def _means(
    products: Sequence[Sequence[arb]], units: Sequence[arb], shares: Sequence[arb], m: int
) -> list[arb]:
    """The outputs of one example. products: for each head a row of logits, in the head's unit; then
    for each head and label a row of scores, in units of the head's share."""
    outputs, scores = [arb(0)] * m, iter(products[len(units) :])
    for logits, unit, share in zip(products, units, shares, strict=False):
        top = max(logits)
        powers = [((x - top) * unit).exp() for x in logits]
        total = sum(powers, arb(0))
        for j in range(m):
            outputs[j] += sum(map(mul, powers, next(scores)), arb(0)) * share / total
    return outputs

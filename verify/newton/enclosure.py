"""A layer over a box of weights, in balls. Base e, true exponential.

With E, e the context and query of an example and K, Q, V, O the matrices of a head,

    w = K Qᵀe,  p = softmax(Ew),  output_j = Σ_heads p·s_j,  s_j = E(VO)_j.

At the weights themselves this is evaluated in Arb. The contexts stay integers: w and VO are divided
by their denominator. Derivatives are those of the layer as a network (`network_enclosure.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb, arb_mat, ctx

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.constructions.network.arithmetic import BALLS
from attncert.constructions.network.network import Network
from attncert.verify.derivatives.balls import BallArray
from attncert.verify.newton import network_enclosure


def errors(data: Dataset, layer: Layer, bits: int) -> BallArray:
    """Outputs minus labels at the weights themselves, (T·m,), computed with `bits` bits."""
    with ctx.workprec(bits):
        outputs = arb_mat(_outputs(data, layer))
        differences = outputs - arb_mat(data.label_matrix)
        return BallArray.of(differences.entries(), (data.T * data.m,))


def derivatives(
    data: Dataset, layer: Layer, unknowns: Sequence[int], radius: Fraction
) -> BallArray:
    """Derivatives of the outputs in the N unknowns, (T·m, N), anywhere within `radius` of the
    weights.

    Weights are numbered key, query, value row by row and head by head, then output; only the
    unknowns vary.
    """
    network = Network.of_layer(layer, "1")
    return network_enclosure.derivatives(data, network, unknowns, radius)


def _outputs(data: Dataset, layer: Layer) -> list[list[arb]]:
    """T×m."""
    m, unit = data.m, arb(1) / data.contexts.denominator
    queries = arb_mat(data.query_matrix)
    asked = [
        (queries * arb_mat(head.query) * arb_mat(head.key).transpose() * unit).tolist()
        for head in layer.heads
    ]  # w of each head, T×d
    assert layer.output is not None
    rows = layer.output.tolist()
    width = len(rows) // len(layer.heads)
    mixed = [
        (arb_mat(head.value) * arb_mat(rows[h * width : (h + 1) * width]) * unit).transpose()
        for h, head in enumerate(layer.heads)
    ]
    read = [row for matrix in mixed for row in matrix.tolist()]  # (VO)_j of each head, H·m×d
    table, whole = [], None
    for t in range(data.T):
        if whole is None or not data.shared:
            whole = arb_mat(data.rows(t).integer_matrix()).transpose()
        w = arb_mat([head[t] for head in asked] + read)
        logits_and_scores = (w * whole).tolist()
        logits, scores = logits_and_scores[: len(asked)], logits_and_scores[len(asked) :]
        shares = [BALLS.softmax(row, "1") for row in logits]
        table.append(
            [
                sum((_dot(p, scores[h * m + j]) for h, p in enumerate(shares)), arb(0))
                for j in range(m)
            ]
        )
    return table


def _dot(x: list[arb], y: list[arb]) -> arb:
    return (arb_mat([x]) * arb_mat([y]).transpose())[0, 0]

"""A layer and its derivatives over a box of weights, in Arb's balls. Base e, true exponential.

With E, e the context and query of an example and K, Q, V, O the matrices of a head,

    q = Qᵀe,  w = Kq,  p = softmax(Ew),  s = E(VO)_j,  output_j = Σ_heads p·s,
    g_i = p_i (s_i - p·s),  γ = Eᵀg,  z = Eᵀp,

the derivatives of output j are γ qᵀ (by K), e (Kᵀγ)ᵀ (by Q), z O_jᵀ (by V) and Vᵀz (by O_j): the
chain rule, with ∂p_i/∂ℓ_k = p_i (δ_ik - p_k). If they are evaluated on balls that hold a box of
weights, each resulting ball holds the value at every point of the box. γ, z, Kᵀγ and Vᵀz are
computed with Arb; their outer products in float64 with radii (`contraction.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.constructions.network.arithmetic import BALLS
from attncert.constructions.network.network import Network
from attncert.verify.derivatives.balls import BallArray

BOX_BITS = 64  # derivatives are needed to a few digits only
_AT_ONCE = 512  # examples whose balls are in memory


def errors(data: Dataset, layer: Layer, bits: int) -> BallArray:
    """Outputs minus labels at the weights themselves, (T·m,), computed with `bits` bits."""
    with ctx.workprec(bits):
        outputs = Network.of_layer(layer, "1").enclosures(data, bits)
        differences = outputs - arb_mat(data.label_matrix)
        return BallArray.of(differences.entries(), (data.T * data.m,))


def derivatives(
    data: Dataset, layer: Layer, unknowns: Sequence[int], radius: Fraction
) -> BallArray:
    """Derivatives of the outputs by the N unknowns, (T·m, N), anywhere within `radius` of the
    weights.

    Weights are numbered key, query, value row by row and head by head, then output; only the
    unknowns vary.
    """
    with ctx.workprec(BOX_BITS):
        reach = arb(0, arb(fmpq(radius.numerator, radius.denominator)).abs_upper())
        run = _Run(data, layer, frozenset(unknowns), reach)
        return run.jacobian(unknowns)


class _Run:
    """The layer's matrices as balls, and products that all examples share."""

    def __init__(self, data: Dataset, layer: Layer, moving: frozenset[int], reach: arb) -> None:
        self.data, self.H = data, len(layer.heads)
        self.d_h, self.d_v = layer.head_width, layer.value_width or 0
        self.part = 2 * data.d * self.d_h + data.d * self.d_v
        self.output_moves = any(k >= self.H * self.part for k in moving)
        widths = {"key": self.d_h, "query": self.d_h, "value": self.d_v}
        self.matrices: dict[str, list[arb_mat]] = {name: [] for name in widths}
        first = 0
        for head in layer.heads:
            for name, width in widths.items():
                matrix = getattr(head, name)
                self.matrices[name].append(_boxed(matrix, first, moving, reach))
                first += data.d * width
        whole = _boxed(layer.output, first, moving, reach).tolist()
        self.output = [arb_mat(whole[h * self.d_v : (h + 1) * self.d_v]) for h in range(self.H)]
        queries = arb_mat(data.query_matrix)
        self.q = [queries * query for query in self.matrices["query"]]  # T×d_h
        self.q_rows = [q.tolist() for q in self.q]
        mixed = [v * o for v, o in zip(self.matrices["value"], self.output, strict=True)]
        columns = [x for matrix in mixed for x in matrix.transpose().tolist()]
        self.mixed = arb_mat(columns).transpose()  # VO of all heads: d×(H·m)

    def jacobian(self, unknowns: Sequence[int]) -> BallArray:
        T, d, m, H = self.data.T, self.data.d, self.data.m, self.H
        whole = BallArray(np.zeros((T, m, len(unknowns))), np.zeros((T, m, len(unknowns))))
        e = BallArray.of(arb_mat(self.data.query_matrix).entries(), (T, d))
        q = [BallArray.of(q.entries(), (T, self.d_h)) for q in self.q]
        chosen = np.asarray(unknowns, dtype=np.int64)

        def put(rows: slice, first: int, block: BallArray) -> None:
            """The columns of those weights first, first + 1, ... that are unknowns."""
            block = block.reshape(len(block.mid), m, -1)
            where = np.flatnonzero((chosen >= first) & (chosen < first + block.mid.shape[2]))
            columns = chosen[where] - first
            whole.mid[rows, :, where] = block.mid[:, :, columns]
            whole.rad[rows, :, where] = block.rad[:, :, columns]

        for begin in range(0, T, _AT_ONCE):
            rows = slice(begin, min(begin + _AT_ONCE, T))
            gammas, features = self._examples(rows)
            for h in range(H):
                for first, block in self._blocks(h, gammas[h], features[h], e[rows], q[h][rows]):
                    put(rows, first, block)
        return whole.reshape(T * m, len(unknowns))

    def _examples(self, rows: slice) -> tuple[list[list[list[arb]]], list[list[list[arb]]]]:
        """The rows γ of each example and label, and z of each example, for each head."""
        m, H = self.data.m, self.H
        gammas: list[list[list[arb]]] = [[] for _ in range(H)]
        features: list[list[list[arb]]] = [[] for _ in range(H)]
        w = [
            (arb_mat(q[rows]) * key.transpose()).tolist()
            for q, key in zip(self.q_rows, self.matrices["key"], strict=True)
        ]
        for t, *directions in zip(range(rows.start, rows.stop), *w, strict=True):
            context = arb_mat(self.data.context(t))
            p = [
                BALLS.softmax(row, "1")
                for row in (arb_mat(directions) * context.transpose()).tolist()
            ]
            scores = (context * self.mixed).transpose().tolist()
            means = [[_dot(p[h], scores[h * m + j]) for j in range(m)] for h in range(H)]
            g = [
                [x * (y - means[h][j]) for x, y in zip(p[h], scores[h * m + j], strict=True)]
                for h in range(H)
                for j in range(m)
            ]
            gamma, z = (arb_mat(g) * context).tolist(), (arb_mat(p) * context).tolist()
            for h in range(H):
                gammas[h] += gamma[h * m : (h + 1) * m]
                features[h].append(z[h])
        return gammas, features

    def _blocks(
        self,
        h: int,
        gamma: list[list[arb]],
        z: list[list[arb]],
        e: BallArray,
        q: BallArray,
    ) -> Iterator[tuple[int, BallArray]]:
        """Derivatives in key, query, value and output of head h, each (examples, m, ...), with the
        number of its first weight."""
        T, d, m, start = len(z), self.data.d, self.data.m, h * self.part
        gamma_b = BallArray.of((x for row in gamma for x in row), (T, m, d))
        yield start, gamma_b[:, :, :, None] * q[:, None, None, :]
        products = arb_mat(gamma) * self.matrices["key"][h]
        back = BallArray.of(products.entries(), (T, m, self.d_h))
        yield start + d * self.d_h, e[:, None, :, None] * back[:, :, None, :]
        z_b = BallArray.of((x for row in z for x in row), (T, d))
        o = BallArray.of(self.output[h].transpose().entries(), (m, self.d_v))
        yield start + 2 * d * self.d_h, z_b[:, None, :, None] * o[None, :, None, :]
        if self.output_moves:
            v = BallArray.of((arb_mat(z) * self.matrices["value"][h]).entries(), (T, self.d_v))
            by_output = np.zeros((2, T, m, self.d_v, m))
            for j in range(m):
                by_output[0, :, j, :, j], by_output[1, :, j, :, j] = v.mid, v.rad
            yield self.H * self.part + h * self.d_v * m, BallArray(by_output[0], by_output[1])


def _boxed(matrix: fmpq_mat, first: int, moving: frozenset[int], reach: arb) -> arb_mat:
    """The matrix as balls; entry k, counted by rows from `first`, varies if k is in `moving`."""
    entries = [
        arb(x) + reach if k in moving else arb(x)
        for k, x in enumerate(matrix.entries(), start=first)
    ]
    return arb_mat(matrix.nrows(), matrix.ncols(), entries)


def _dot(x: list[arb], y: list[arb]) -> arb:
    return sum((a * b for a, b in zip(x, y, strict=True)), arb(0))

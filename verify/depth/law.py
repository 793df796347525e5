r"""The maximum number of labels that L layers of attention can carry: the dimension count N_L
(ours).

Layers 1 … L-1 add to every token and to the query Σ_h Σ_i σ_i (V_hO_h)ᵀx_i, with a skip
connection; layer L reads out at the query, with m outputs. Head h has M_h = K_hQ_hᵀ of rank at most
w, and W_h = V_hO_h of rank at most v. A layer is *read* by the later ones through the columns of
their K, Q and V, and by the output. Let

    s_l = min(d, s + (l-1) H v)   the dimension of a space that holds all vectors before layer l: s
                                  of the data, and the rows of the O_h of the layers before;
    r_l = min(d, R_l)             the directions that read layer l < L: R_l has H(2w + min(v, m))
                                  for layer L and H(2w + v) for each layer between; r_L = m;
    a_1, q_1, t_1                 the spans of differences of tokens of one context, of the rows
                                  that attend (queries alone if L = 1), of the tokens; s_l for all
                                  three from l = 2 on.

**Theorem (upper bound).** For all weights rank J ≤ N_L, with ρ_l = min(w, a_l, q_l), v_l = min(v,
t_l, r_l) and

    N_L = Σ_l H [ρ_l (a_l + q_l - ρ_l) + v_l (t_l + r_l - v_l)].

*Proof.* The image of J is the sum of its images by the weights of each layer. Softmax does not
change if all logits of a row are shifted: a head depends on M_h through the bilinear form on
differences of tokens and attending vectors, an a_l×q_l matrix. Derivatives by K and Q move it
within {A Qᵀ + K Bᵀ}, which has dimension at most ρ(a_l + q_l - ρ) if K and Q have rank at most ρ in
these spaces. The rest of the network sees W_h as a map from the span of the tokens to the r_l
directions that are read: derivatives by V and O move it within {A O + V B}, of dimension at most
v_l(t_l + r_l - v_l). Each image is spanned by that many vectors or fewer. ∎

So for T·m > N_L almost no labelling is output by any weights (Sard, as for one layer). That N_L is
reached is proved on given data by a rank modulo a prime (`ranks.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

import numpy as np

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.law import span_of, spans
from attncert.verify.claims.words import counted, sized


@dataclass(frozen=True)
class Architecture:
    """L layers of H heads of widths d_h and d_v."""

    layers: int
    heads: int
    head_width: int
    value_width: int

    def words(self) -> str:
        """
        >>> Architecture(2, 3, 1, 1).words()
        '2 layers of 3 heads of width 1 (values: 1)'
        """
        layers = counted(self.layers, "layer")
        return f"{layers} of {sized(self.heads, self.head_width, self.value_width)}"

    def parameters(self, data: Dataset) -> int:
        """The number of entries in all weights."""
        each = data.d * (2 * self.head_width + self.value_width)
        between = self.heads * (each + self.value_width * data.d)
        return (self.layers - 1) * between + self.heads * (each + self.value_width * data.m)


@dataclass(frozen=True)
class DeepSpans:
    """width: d. vectors, tokens, differences, queries: dimensions of their spans. labels: m."""

    width: int
    vectors: int
    tokens: int
    differences: int
    queries: int
    labels: int

    @classmethod
    def of(cls, data: Dataset) -> DeepSpans:
        """Exact.

        >>> from attncert.constructions.data.generators import random
        >>> DeepSpans.of(random(T=6, n=2, d=3, seed=1))
        DeepSpans(width=3, vectors=3, tokens=3, differences=3, queries=3, labels=1)
        """
        some = spans(data)
        tokens, queries = data.contexts.numerators, data.queries.numerators
        vectors = np.concatenate([tokens.reshape(-1, data.d), queries])
        return cls(
            data.d,
            span_of(vectors),
            some.differences + some.common,
            some.differences,
            some.queries,
            data.m,
        )

    def bound(self, shape: Architecture) -> int:
        """N_L.

        >>> digits = DeepSpans(16, 16, 16, 16, 16, 1)
        >>> [digits.bound(Architecture(L, 1, 1, 1)) for L in (1, 2, 3)]
        [47, 96, 148]
        """
        return sum(self._layer(shape, layer) for layer in range(1, shape.layers + 1))

    def fewest_heads(self, examples: int, layers: int, head_width: int, value_width: int) -> int:
        """The least H with N_L >= T·m.

        >>> DeepSpans(16, 16, 16, 16, 16, 1).fewest_heads(1782, 2, 1, 1)
        17
        """
        for heads in count(1):
            shape = Architecture(layers, heads, head_width, value_width)
            if self.bound(shape) >= examples * self.labels:
                return heads
        raise AssertionError

    def before(self, shape: Architecture, layer: int) -> int:
        """The largest dimension that the vectors before a layer can span."""
        return min(self.width, self.vectors + (layer - 1) * shape.heads * shape.value_width)

    def _layer(self, shape: Architecture, layer: int) -> int:
        """The layer's term of the sum."""
        H, w, v, L = shape.heads, shape.head_width, shape.value_width, shape.layers
        between = H * (2 * w + v) * (L - 1 - layer)
        read = self.labels
        if layer < L:
            read = min(self.width, between + H * (2 * w + min(v, self.labels)))
        a = q = t = self.before(shape, layer)
        if layer == 1:
            a, q, t = self.differences, self.vectors if L > 1 else self.queries, self.tokens
        rho, value = min(w, a, q), min(v, t, read)
        return H * (rho * (a + q - rho) + value * (t + read - value))

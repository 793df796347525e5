r"""An upper bound on the number of labels that L attention layers can memorize: the dimension count
N_L (ours).

Layers 1 … L-1 add to every token and to the query Σ_h Σ_i σ_i (V_hO_h)ᵀx_i, with a skip
connection; layer L reads out at the query, with m outputs. Head h has M_h = K_hQ_hᵀ of rank at most
w, and W_h = V_hO_h of rank at most v. Later layers *read* the result of a layer through the columns
of their K and Q, and through their W_h on the directions that are read after them. Let

    s_l = min(d, s + (l-1) H v)   the dimension of a space that contains all vectors before layer l:
                                  s for the data, plus the rows of O_h in earlier layers;
    r_l = min(d, R_l)             the directions that read layer l < L; r_L = m. R_L = 0, and
                                  R_(l-1) = R_l + H(2w + min(v, r_l));
    a_1, q_1, t_1                 the dimensions spanned by differences of tokens in one context, by
                                  the rows that attend (queries alone if L = 1), and by the
                                  tokens; for l ≥ 2 all three are s_l.

**Theorem (upper bound).** For all weights rank J ≤ N_L, with ρ_l = min(w, a_l, q_l), v_l = min(v,
t_l, r_l) and

    N_L = Σ_l H [ρ_l (a_l + q_l - ρ_l) + v_l (t_l + r_l - v_l)].

The proof: docs/depth.md, Theorem 1.

**ReLU blocks.** After each layer l < L let every token and the query become x + B relu(A x + a) +
b, with W units. Then s_l grows by Hv + W + 1 for each earlier layer, and R_l by W for each block
after layer l. Let s'_l = min(d, s_l + Hv) be the dimension of a space that contains all vectors
before block l, and r'_l = min(d, R_l - W) the number of directions that read the block. The block
adds W (s'_l + r'_l) + b_l to N_L, with b_l = min(d, Hw) for l < L-1 and min(d, Hw + min(Hv, m)) for
the last block.

*Proof.* Fix which units are active for each token. Then f is analytic in all weights. There are
finitely many such functions, so it suffices to bound the Jacobian of each. The rest of the network
depends on unit i through its affine form (A_i, a_i) on a space of dimension s'_l, which has s'_l +
1 numbers, and through B_i on the r'_l directions that are read. If (A_i, a_i) is not 0 on this
space, a change along (A_i, a_i, -B_i) has no effect, because relu is positively homogeneous; if it
is 0, the derivatives with respect to B_i are 0. So each unit adds at most s'_l + r'_l dimensions.

The bias b shifts all tokens and the query by the same vector c. In the next layer, this shift
changes the softmax through the Hw query columns, but not through the keys, and it changes the
outputs of the heads by (Σ_h V_hO_h)ᵀc. If that layer is the last, these are at most min(Hv, m)
numbers. Otherwise, with the skip connection, the result is another common shift c'. It changes the
sums of unit i of the next block by A_i·c', like the bias a_i, and the result of the block by c',
like its bias b, so that these derivatives are counted with that block. ∎

**Data in a subspace.** Without ReLU blocks, J has rank at most N_L - Σ_{l<L} (s_(l+1) - s_l) r_l if
s is at least w and t_1 at least v.

*Proof.* The rank is largest at generic weights. Let G be linear, with xG = 0 for all vectors x of
the data. Replace the O_h of layers l < L by O_h(1 + G), and K, Q, V of later layers by (1 + G)⁻¹K,
…. Then the vectors after a layer are multiplied by 1 + G, and no output changes. So J is 0 on the
tangents that all such G produce in the N_L dimensions. The tangent of G is 0 if M_hG and W_hG -
GW_h change nothing that layers l ≥ 2 use, and W_hG changes nothing that is read from layer 1. On
the vectors before layer l, with vectors of the data on one side, GM_h + M_hGᵀ = 0 implies GK_h =
GQ_h = 0, since s ≥ w; similarly W_hG = 0 and GW_h = 0. Hence G maps the s_l dimensions before each
layer l ≥ 2 to 0 on the r_(l-1) directions that read them. These are Σ (s_l - s_(l-1)) r_(l-1)
independent conditions. ∎

**One context for all examples, separate from the query** (no ReLU blocks). Layer l has the same n
tokens X_l for all examples. Outputs depend on differences of rows of X_lK_h and X_lW_h, and on the
sum over h of a row of X_lW_h, as for one layer (`constructions/given/law.py`) with a = n - 1, b =
1, queries that span d' = min(d, d'_1 + (l-1)Hv), and, in place of labels, the min(d, (L-l)H min(w,
n-1)) directions that read the query. Changing X_l only changes the left factors of these products.
So the rank of J is at most the sum of the N of all layers. If n - 1 and t_1 are at least w and v,
it is again smaller, for each l < L, by d'_(l+1) - d'_l times the number of directions.

**Narrow values.** The T×m outputs are a product of a T×Hv matrix and the O_h of layer L. If k = H v
is less than T and m, then rank J ≤ k(T + m - k), which is the dimension of {A O + V B}.

So if T·m > N_L, almost no labelling is output by any weights (by Sard's theorem, as for one layer).
A rank modulo a prime proves on given data that N_L is attained (`ranks.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count, pairwise

import numpy as np

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.law import Spans, span_of, spans
from attncert.verify.claims.words import counted, sized


@dataclass(frozen=True)
class Architecture:
    """L layers of H heads of widths d_h and d_v. feed_forward: the number W of ReLU units after
    each layer except the last; 0 if there are no such blocks."""

    layers: int
    heads: int
    head_width: int
    value_width: int
    feed_forward: int = 0

    def words(self) -> str:
        """
        >>> Architecture(2, 3, 1, 1).words()
        '2 layers of 3 heads of width 1 (values: 1)'
        >>> Architecture(2, 3, 1, 1, 4).words()
        '2 layers of 3 heads of width 1 (values: 1), with 4 ReLU units after all but the last'
        """
        layers = counted(self.layers, "layer")
        attention = f"{layers} of {sized(self.heads, self.head_width, self.value_width)}"
        if not self.feed_forward:
            return attention
        units = counted(self.feed_forward, "ReLU unit")
        return f"{attention}, with {units} after all but the last"

    def parameters(self, data: Dataset) -> int:
        """The number of entries in all weights."""
        each = data.d * (2 * self.head_width + self.value_width)
        between = self.heads * (each + self.value_width * data.d)
        if self.feed_forward:
            between += self.feed_forward * (2 * data.d + 1) + data.d
        return (self.layers - 1) * between + self.heads * (each + self.value_width * data.m)


@dataclass(frozen=True)
class DeepSpans:
    """The counts and dimensions that determine the bound. width: d. vectors, tokens, differences,
    queries: the dimensions of their spans. labels: m. examples: T. context: the number of tokens if
    all examples share one context, else 0."""

    width: int
    vectors: int
    tokens: int
    differences: int
    queries: int
    labels: int
    examples: int
    context: int = 0

    @classmethod
    def of(cls, data: Dataset) -> DeepSpans:
        """The numbers for these data. Exact.

        >>> from attncert.constructions.data.generators import random
        >>> DeepSpans.of(random(T=6, n=2, d=3, seed=1))
        DeepSpans(width=3, vectors=3, tokens=3, differences=3, queries=3, labels=1, examples=6, \
context=0)
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
            data.T,
            data.n if data.shared else 0,
        )

    def bound(self, shape: Architecture) -> int:
        """An upper bound on the rank of J: N_L, or less if the last values are narrow.

        >>> digits = DeepSpans(16, 16, 16, 16, 16, 1, 1782)
        >>> [digits.bound(Architecture(L, 1, 1, 1)) for L in (1, 2, 3)]
        [47, 96, 148]
        >>> digits.bound(Architecture(2, 1, 1, 1, 4))
        178
        >>> digits.bound(Architecture(3, 1, 1, 4))  # r_2 = 3, so R_1 is 3 + 2 + 3
        237
        """
        total = sum(self._layer(shape, layer) for layer in range(1, shape.layers + 1))
        if shape.feed_forward:
            total += sum(self._feed_forward(shape, layer) for layer in range(1, shape.layers))
        else:
            total -= self._unseen(shape)
            total = min(total, self._shared(shape)) if self.context else total
        k = shape.heads * shape.value_width
        if k < min(self.examples, self.labels):
            return min(total, k * (self.examples + self.labels - k))
        return total

    def fewest_heads(self, layers: int, head_width: int, value_width: int) -> int | None:
        """The least H for which the bound is at least T·m; None if there is none.

        >>> DeepSpans(16, 16, 16, 16, 16, 1, 1782).fewest_heads(2, 1, 1)
        17
        """

        def enough(heads: int) -> bool:
            shape = Architecture(layers, heads, head_width, value_width)
            return self.bound(shape) >= self.examples * self.labels

        return self.fewest(layers, enough)

    def fewest(self, layers: int, enough: Callable[[int], bool]) -> int | None:
        """The least number of heads that is enough, or None. From d heads on, either every further
        head adds to the bound or none does, so `last` heads are enough if any number is."""
        last = self.examples * self.labels + layers * self.width**2
        return next(filter(enough, count(1))) if enough(last) else None

    def before(self, shape: Architecture, layer: int) -> int:
        """The largest dimension that the vectors before a layer can span."""
        units = shape.feed_forward + 1 if shape.feed_forward else 0
        each = shape.heads * shape.value_width + units
        return min(self.width, self.vectors + (layer - 1) * each)

    def _readers(self, shape: Architecture, layer: int) -> int:
        """R_l: the number of columns that read the result of layer l and its ReLU block."""
        if layer == shape.layers:
            return 0
        after = layer + 1
        units = shape.feed_forward if after < shape.layers else 0
        each = 2 * shape.head_width + min(shape.value_width, self._read(shape, after))
        return shape.heads * each + units + self._readers(shape, after)

    def _read(self, shape: Architecture, layer: int) -> int:
        """r_l: the number of directions that read the result of a layer."""
        if layer == shape.layers:
            return self.labels
        return min(self.width, self._readers(shape, layer) + shape.feed_forward)

    def _feed_forward(self, shape: Architecture, layer: int) -> int:
        """The term of the ReLU block after a layer."""
        values = shape.heads * shape.value_width
        before = min(self.width, self.before(shape, layer) + values)
        read = min(self.width, self._readers(shape, layer))
        outputs = min(values, self.labels) if layer == shape.layers - 1 else 0
        bias = min(self.width, shape.heads * shape.head_width + outputs)
        return shape.feed_forward * (before + read) + bias

    def _unseen(self, shape: Architecture) -> int:
        """The reduction by maps that fix the data."""
        if min(self.vectors, self.tokens) < max(shape.head_width, shape.value_width):
            return 0
        before = [self.before(shape, layer) for layer in range(1, shape.layers + 1)]
        steps = enumerate(pairwise(before), 1)
        return sum((more - less) * self._read(shape, k) for k, (less, more) in steps)

    def _shared(self, shape: Architecture) -> int:
        """The bound for one context that all examples share."""
        H, w, v, L = shape.heads, shape.head_width, shape.value_width, shape.layers
        others = self.context - 1
        tokens, total = (self.differences, self.tokens - self.differences), 0
        for layer in range(1, L + 1):
            read = min(self.width, (L - layer) * H * min(w, others)) if layer < L else self.labels
            asking = min(self.width, self.queries + (layer - 1) * H * v)
            total += Spans(*tokens, asking, read).bound(H, w, v)
            if layer < L and min(others, self.tokens) >= max(w, v):
                total -= (min(self.width, asking + H * v) - asking) * read
            tokens = others, 1
        return total

    def _layer(self, shape: Architecture, layer: int) -> int:
        """The term of a layer in the sum."""
        H, w, v, L = shape.heads, shape.head_width, shape.value_width, shape.layers
        read = self._read(shape, layer)
        a = q = t = self.before(shape, layer)
        if layer == 1:
            a, q, t = self.differences, self.vectors if L > 1 else self.queries, self.tokens
        rho, value = min(w, a, q), min(v, t, read)
        return H * (rho * (a + q - rho) + value * (t + read - value))

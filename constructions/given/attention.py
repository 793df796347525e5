"""Outputs and Jacobian of an attention layer with any array library, in floats or modulo a prime.

Example t has the context E (n×d) and the query e. Head h, with K, Q (d×d_h), V (d×d_v) and its rows
O (d_v×m) of the output matrix, computes

    q = Qᵀe,  w = Kq,  ℓ = Ew,  p = softmax(ℓ),  z = Eᵀp,  v = Vᵀz,  and adds Oᵀv to the output.

Label j of the output depends on the logits through s = E·(VO)_j alone: ∂/∂ℓ_i = p_i (s_i - p·s) =:
g_i, hence ∂/∂w = Eᵀg =: γ. From there on, everything is linear or bilinear:

    ∂/∂K = γ qᵀ,   ∂/∂Q = e (Kᵀγ)ᵀ,   ∂/∂V = z O_jᵀ,   ∂/∂O_j = v.                            (1)

`times` (T, n) says how often each row of a context is a token (default: once); p is 0 on padding
rows. The weights form one vector, numbered as in certificates: key, query, value row by row and
head by head, then output.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from array_api_compat import array_namespace, device

Array = Any  # an array of NumPy, CuPy or another library of the array API standard


@dataclass(frozen=True)
class Shape:
    """Width d of tokens and queries, labels of width m, H heads of widths d_h and d_v."""

    d: int
    m: int
    heads: int
    head_width: int
    value_width: int

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The numbers of weights in the key, the query and the value of one head."""
        return self.d * self.head_width, self.d * self.head_width, self.d * self.value_width

    @property
    def attention(self) -> int:
        """The number of weights in keys, queries and values; the output matrix follows them."""
        return self.heads * sum(self.sizes)

    @property
    def parameters(self) -> int:
        return self.attention + self.heads * self.value_width * self.m

    @property
    def free(self) -> int:
        """The number of weights that a search changes: the output is [I_m; 0] if d_v ≥ m."""
        return self.parameters if self.value_width < self.m else self.attention

    def split(self, weights: Array) -> tuple[Array, Array, Array, Array]:
        """K, Q (H, d, d_h), V (H, d, d_v) and O (H, d_v, m) of one vector of weights."""
        xp = array_namespace(weights)
        by_head = xp.reshape(weights[: self.attention], (self.heads, -1))
        parts, start = [], 0
        for size in self.sizes:
            part = by_head[:, start : start + size]
            parts.append(xp.reshape(part, (self.heads, self.d, size // self.d)))
            start += size
        output = xp.reshape(weights[self.attention :], (self.heads, self.value_width, self.m))
        return parts[0], parts[1], parts[2], output


def outputs(
    contexts: Array, queries: Array, weights: Array, shape: Shape, times: Array | None = None
) -> Array:
    """The (T, m) outputs, rounded to float64; contexts (T or 1, n, d), queries (T, d)."""
    key, query, value, output = shape.split(weights)
    p, _ = attend(contexts, queries, key, query, times)
    xp = array_namespace(weights)
    scores = contexts @ _columns(xp, value @ output)  # E·(VO)_j, (T or 1, n, H·m)
    scores = xp.reshape(scores, (*scores.shape[:2], shape.heads, shape.m))
    return xp.sum(p[..., None] * scores, axis=(1, 2))


def jacobian(
    contexts: Array,
    queries: Array,
    weights: Array,
    shape: Shape,
    free: int | None = None,
    times: Array | None = None,
) -> tuple[Array, Array]:
    """The (T, m) outputs and their derivatives (1) with respect to the first `free` weights, (T, m,
    free).

    free: `shape.attention` if the output matrix is constant; None for all weights.
    """
    key, query, value, output = shape.split(weights)
    p, q = attend(contexts, queries, key, query, times)
    whole = free is None or free > shape.attention
    return chain(contexts, queries, p, q, (key, value, output), by_output=whole)


def chain(
    contexts: Array,
    queries: Array,
    p: Array,
    q: Array,
    matrices: tuple[Array, Array, Array],
    product: Callable[[Array, Array], Array] = operator.matmul,
    reduced: Callable[[Array], Array] = lambda x: x,
    by_output: bool = True,
) -> tuple[Array, Array]:
    """Outputs and derivatives (1) from softmax weights p (T, n, H) and q (T, H, d_h). `product` and
    `reduced` are replaced for arithmetic modulo a prime."""
    key, value, output = matrices
    xp, (T, _, H), m = array_namespace(queries), p.shape, output.shape[2]
    d, p = queries.shape[1], p[..., None]
    scores = product(contexts, _columns(xp, product(value, output)))  # s, (T or 1, n, H·m)
    scores = xp.reshape(scores, (*scores.shape[:2], H, m))
    means = reduced(xp.sum(reduced(p * scores), axis=1))  # p·s, (T, H, m)
    g = reduced(p * reduced(scores - means[:, None, ...]))
    turned = xp.matrix_transpose(contexts)
    gamma = product(turned, xp.reshape(g, (T, -1, H * m)))  # (T, d, H·m)
    gamma = xp.permute_dims(xp.reshape(gamma, (T, d, H, m)), (0, 3, 2, 1))  # (T, m, H, d)
    z = xp.matrix_transpose(product(turned, p[..., 0]))  # (T, H, d)
    kappa = product(gamma[:, :, :, None, :], key)  # Kᵀγ, (T, m, H, 1, d_h)
    blocks = (
        gamma[..., :, None] * q[:, None, :, None, :],
        queries[:, None, None, :, None] * kappa,
        z[:, None, :, :, None] * xp.permute_dims(output, (2, 0, 1))[None, :, :, None, :],
    )
    heads = xp.concat([xp.reshape(reduced(block), (T, m, H, -1)) for block in blocks], axis=3)
    derivatives = xp.reshape(heads, (T, m, -1))
    if by_output:
        v = xp.reshape(product(z[:, :, None, :], value), (T, 1, -1, 1))  # Vᵀz of each head
        unit = xp.eye(m, dtype=v.dtype, device=device(v))
        last = xp.reshape(v * unit[None, :, None, :], (T, m, -1))
        derivatives = xp.concat((derivatives, last), axis=2)
    return reduced(xp.sum(means, axis=1)), derivatives


def attend(
    contexts: Array, queries: Array, key: Array, query: Array, times: Array | None = None
) -> tuple[Array, Array]:
    """Softmax weights p (T, n, H) and q = Qᵀe (T, H, d_h)."""
    xp = array_namespace(queries)
    H, d, width = query.shape
    q = queries @ xp.reshape(xp.permute_dims(query, (1, 0, 2)), (d, H * width))
    q = xp.reshape(q, (-1, H, width))
    w = xp.permute_dims(xp.sum(key[None, ...] * q[:, :, None, :], axis=3), (0, 2, 1))
    logits = contexts @ w
    powers = xp.exp(logits - xp.max(logits, axis=1, keepdims=True))
    powers = powers if times is None else powers * times[..., None]
    return powers / xp.sum(powers, axis=1, keepdims=True), q


def _columns(xp: Any, blocks: Array) -> Array:
    """(H, d, m) as (d, H·m)."""
    H, d, m = blocks.shape
    return xp.reshape(xp.permute_dims(blocks, (1, 0, 2)), (d, H * m))

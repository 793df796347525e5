"""Width one for contexts of any rank (ours; docs/width-one.md, Theorem 2).

The proof in `theorem.py` needs rank n for at most one example, the last of a full first group. In
every other place, fewer dimensions suffice (constructions/search/dimensions.py), rows may be
repeated, and token counts may differ. The head is the same, with one change: u gives different
entries of E⁽ᵗ⁾u to *different* rows of E⁽ᵗ⁾. Equal rows have equal logits; together they act as one
row with their total weight.

*Curve lemma for repeated rows.* A flat that does not contain all rows of E contains Eᵀσ(αEu) for at
most m - 1 real α, m the number of distinct rows. So the j-th member of a group, whose forbidden
flat has dimension at most j - 1 (a linear subspace in the first group), has an allowed value among
any n.
"""

from __future__ import annotations

from collections.abc import Sequence

from attncert.constructions.arrays import IntArray
from attncert.constructions.construction import BuiltLayer, over_primes, with_idle_heads
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import require_positive
from attncert.constructions.progress import Progress, silent
from attncert.constructions.search.dimensions import by_dimension
from attncert.constructions.search.separation import apart
from attncert.constructions.width_one.head import WidthOneBuilder
from attncert.constructions.width_one.theorem import WidthOneHead, proof_heads


def build(
    data: Dataset, *, heads: int | None = None, seed: int = 0, progress: Progress = silent
) -> BuiltLayer:
    """Key and query weights of width one for which the features of all examples are independent.

    heads: the maximum number of heads; default: one for each group found. Arithmetic: exact; the
    rank is decided mod p here, and verify/ proves it again. Raises InputError, and HypothesisFails
    if no grouping meets P' and D, or none was found.
    """
    require_positive(heads=1 if heads is None else heads)
    groups = by_dimension(data, heads, seed)

    def attempt(prime: int) -> list[WidthOneHead]:
        return proof_heads(_Builder(data, seed=seed, prime=prime), groups, progress)

    chosen = over_primes(attempt)
    return BuiltLayer(
        name="affine",
        layer=with_idle_heads([head.weights() for head in chosen], max(heads or 0, len(groups))),
        groups=groups,
        heads=tuple(chosen),
    )


class _Builder(WidthOneBuilder):
    """The same u is used for every group, because it separates all contexts."""

    def _separators(self, group: Sequence[int]) -> IntArray:
        return apart(self.key_coordinates.images, self.rng)

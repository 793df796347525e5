"""The same examples by every construction: heads, parameters, and the ratio to the fewest.

H(2d·d_h + d·d_v + d_v·m) parameters. For T = H(n-1) + 1 examples the paper's heads of width n need
(2dn + d + 1)/(3d + 1) ≈ 2n/3 times those of width one (m = d_v = 1); narrower ones of the paper's
need more, since an example costs (2d·d_h + d + 1)/(d_h - 1). Generic weights are tried with as many
heads, which corollary 2 of docs/width-one.md promises, and with the fewest that any weights can do
with, ⌈T/d⌉ where contexts are in general position: nothing promises these, and the rank decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from attncert.constructions import generic, width_one
from attncert.constructions import paper as the_paper
from attncert.constructions.construction import Construction, fewest_heads
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.layer import parameter_count
from attncert.verify.steps import conclusions
from attncert.verify.tightness.relations.flat import flat_of


@dataclass(frozen=True)
class Cost:
    """What one construction needs for `examples`; d_v = m.

    certified: rank Z = T is proved for the layer that was built. ratio: of the parameters to those
    of width-one heads of the proof.
    """

    construction: str
    examples: int
    shared: bool
    heads: int
    head_width: int
    parameters: int
    certified: bool
    ratio: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def costs(data: Dataset, seed: int = 0) -> tuple[Cost, ...]:
    """Every construction on all of the data, built and ranked. Raises HypothesisFails where the
    paper's construction or heads of width one do not apply.

    >>> from attncert.constructions.data.generators import family
    >>> [(c.construction, c.heads, c.parameters) for c in costs(family(7, 3, 6, seed=1))]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('paper, d_h = n', 3, 129), ('width-one', 3, 57), ('generic, d_h = 1', 3, 57),
     ('generic, fewest heads', 2, 38)]
    """
    promised = fewest_heads(data.T, data.n, data.n) or 1
    unit = parameter_count(data.d, data.m, promised, 1, data.m)
    return tuple(
        Cost(
            name,
            data.T,
            data.shared,
            heads,
            width,
            count := parameter_count(data.d, data.m, heads, width, data.m),
            built is not None and conclusions.full_rank(data, built.layer).level.holds,
            round(count / unit, 3),
        )
        for name, heads, width, built in _built(data, promised, seed)
    )


def _built(
    data: Dataset, heads: int, seed: int
) -> Iterator[tuple[str, int, int, Construction | None]]:
    paper = the_paper.build(data, heads=heads, head_width=data.n, seed=seed)
    yield "paper, d_h = n", heads, data.n, paper
    yield "width-one", heads, 1, width_one.build(data, heads=heads, seed=seed)
    yield "generic, d_h = 1", heads, 1, _generic(data, heads, seed)
    flat = flat_of(data)
    few = next(h for h in range(1, data.T + 1) if min(flat.bound(h), h * data.d) >= data.T)
    if few < heads:
        yield "generic, fewest heads", few, 1, _generic(data, few, seed)


def _generic(data: Dataset, heads: int, seed: int) -> Construction | None:
    try:
        return generic.build(data, heads=heads, seed=seed)
    except HypothesisFails:
        return None

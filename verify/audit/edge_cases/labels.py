"""Edge cases of the labels: wide, constant, of too high a rank, more than the parameters hold."""

from __future__ import annotations

from functools import partial

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import family, random
from attncert.verify.audit.edge_cases.records import (
    EdgeCase,
    Expect,
    both,
    dependent,
    hypothesis,
    impossible,
    labels,
    limits,
    weights,
)
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level

PROVED, REFUTED, NOT = Level.PROVED, Level.REFUTED, Level.NOT_APPLICABLE
_EYE = [[int(i == j) for j in range(4)] for i in range(4)]


def _seven(examples: int) -> Dataset:
    """Distinct contexts, n = d = m = 2."""
    contexts = [[[1, k], [0, 1]] for k in range(7)]
    queries = [[1, k] for k in range(7)]
    labels = [[1, 0], [0, 1], [1, 1], [1, 3], [2, 1], [3, 2], [1, 4]]
    return Dataset.of(contexts, queries, labels).take(examples)


def too_few(numbers: dict[str, int]) -> Expect:
    """Fewer free parameters than numbers to fit, for one head of width 1 with values of width 2."""
    options = {"heads": 1, "head_width": 1, "value_width": 2}
    return Expect("impossibility", REFUTED, shows={ids.IMPOSSIBLE_COUNT: numbers}, options=options)


case = partial(EdgeCase.of, "labels")

CASES = (
    case("labels of dimension m=3", "proved",
         "one choice of keys and queries serves every column of $Y$", "paper, Theorem 1",
         lambda: family(5, 3, 4, m=3, bound=2, seed=6),
         *both(PROVED, heads=2)),
    case("labels wider than the data, m>d", "proved",
         "$m$ is bounded by $d_v$ alone", "paper, Theorem 1",
         lambda: family(3, 2, 3, m=5, seed=6),
         *both(PROVED, heads=2)),
    case("all labels zero", "proved",
         "$V=0$ solves $ZV=0$", "paper, Theorem 1",
         lambda: Dataset.of(_EYE[:2], _EYE[:3], [0, 0, 0]),
         *both(PROVED)),
    case("all labels equal", "proved",
         "labels need not differ", "paper, Theorem 1",
         lambda: Dataset.of(_EYE[:2], _EYE[:3], [7, 7, 7]),
         *both(PROVED)),
    case("conflicting labels for equal inputs, d_v wide",
         "impossible for all weights, given labels too",
         "no width helps against equal inputs", "docs/tightness.md, section 3",
         lambda: Dataset.of(_EYE[:2], [_EYE[0], _EYE[0]], [[1, 0], [0, 1]]),
         *impossible(limits("rows", labels=True), dependent([0, 1], [1, -1]), value_width=4),
         labels(REFUTED, 1, -1)),
    case("rank Y > H d_v", "these labels are impossible",
         "outputs are $C W_O$ with $C$ of $H d_v=2$ columns", "docs/tightness.md, section 5",
         lambda: Dataset.of(_EYE, _EYE[:3], _EYE[:3]),
         *impossible(limits("label rank", "value width", labels=True),
                     hypothesis("value-width", d_v=2, m=4), heads=1, value_width=2),
         Expect("label rank", REFUTED, options={"heads": 1, "value_width": 2})),
    case("given labels beyond the universal bound", "impossible universally; these labels are met",
         "$A=a+b\\,\\mathrm{sigmoid}(\\ell\\cdot e)$ meets any labels of independent queries",
         "docs/tightness.md, section 5",
         lambda: Dataset.of([[1, 0, 0, 0], [0, 1, 0, 0]], _EYE, [3, -1, 4, 1]),
         *impossible(limits("flat"), hypothesis("capacity", T=4, capacity=2), heads=1),
         weights(REFUTED, 1, directions=1), Expect("given labels", PROVED)),
    case("given labels that are dyadic",
         "impossible universally; these labels are met by a rational layer",
         "$(y-\\text{low})/(\\text{high}-y)$ is a power of two for every label",
         "docs/tightness.md, section 5",
         lambda: Dataset.of([[1, 0, 0, 0], [0, 1, 0, 0]], _EYE[:3], ["1/2", "1/3", "2/3"]),
         *impossible(limits("flat"), hypothesis("capacity", T=3, capacity=2), heads=1),
         Expect("given labels", PROVED, options={"low": 0, "high": 1})),
    case("more numbers to fit than parameters",
         "impossible universally; almost no labelling is met",
         "$Tm=14$ numbers, 12 parameters, 7 of them free: what a layer of this size gives has "
         "measure zero", "verify/tightness/impossibility.py, by counting",
         lambda: _seven(7),
         *impossible(limits("flat"), hypothesis("capacity", T=7, capacity=2), heads=1),
         too_few({"P": 7, "T m": 14, "all parameters": 12})),
    case("as many numbers to fit as parameters, some of them redundant",
         "impossible universally; almost no labelling is met",
         "$Tm=8<12$, but $M_h$ of rank one has $2d-1=3$ free numbers, $W_VW_O$ four: 7 in all",
         "verify/tightness/impossibility.py, by counting",
         lambda: _seven(4),
         *impossible(limits("flat"), hypothesis("capacity", T=4, capacity=2), heads=1),
         too_few({"P": 7, "T m": 8, "all parameters": 12})),
    case("labels of very different size", "proved",
         "the readout is linear in the labels and exact", "paper, Theorem 1",
         lambda: Dataset.of(_EYE[:2], _EYE[:3],
                            [10**40, "1/7", "-3/10000000000000000000000000001"]),
         *both(PROVED)),
    case("random labels of dimension 2, values of dimension 4", "proved",
         "$d_v>m$ and $m>1$ together", "paper, Theorem 1",
         lambda: random(3, 2, 3, m=2, seed=11),
         *both(PROVED, value_width=4, heads=2)),
)  # fmt: skip

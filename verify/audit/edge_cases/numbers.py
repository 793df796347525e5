"""Edge cases of the numbers themselves: huge, tiny, fractional, floating."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import gaussian, random
from attncert.verify.audit.edge_cases.records import EdgeCase, Expect, both, dependent
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level

PROVED, NOT = Level.PROVED, Level.NOT_APPLICABLE
_THEOREM = "paper, Theorem 1; exact arithmetic"
_QUERIES = [[1, 2], [3, 1], [1, 1]]

case = partial(EdgeCase.of, "numbers")

CASES = (
    case("rationals with small denominators", "proved",
         "denominators are cleared first and folded into $M_h$", _THEOREM,
         lambda: random(3, 2, 3, denominator=12, seed=2),
         *both(PROVED)),
    case("rationals with large denominators", "proved",
         "denominators of forty digits without a common factor", _THEOREM,
         lambda: Dataset.of([[Fraction(1, 10**40 + 1), 0], [0, Fraction(1, 10**39 + 3)]],
                            _QUERIES, [1, 2, 3]),
         *both(PROVED)),
    case("floats without a short decimal", "proved, by rank: the exact readout would be too long",
         "0.1 is taken as the dyadic rational that it stores", _THEOREM,
         lambda: Dataset.of([[0.1, 0.2], [0.3, 0.7]],
                            [[0.1, 0.3], [0.2, 0.9], [1.0, 0.1]], [0.1, 2, 3]),
         *both(PROVED, {ids.READOUT: {}})),
    case("float32 noise", "proved",
         "dyadic rationals with large common denominators", _THEOREM,
         lambda: gaussian(3, 2, 3, seed=1),
         Expect("width-one", PROVED)),
    case("subnormal and huge floats together", "proved",
         "$5\\cdot10^{-324}$ and $10^{300}$ are both exact", _THEOREM,
         lambda: Dataset.of([[5e-324, 0.0], [0.0, 1.0]], [[1e300, 0.0], [1.0, 1.0]], [1, 2]),
         *both(PROVED)),
    case("huge integers", "proved",
         "context entries of 200 digits", _THEOREM,
         lambda: Dataset.of([[10**200 + 1, 7], [3, 10**200 - 1]], _QUERIES, [1, 2, 3]),
         *both(PROVED)),
    case("negative zero", "proved",
         "-0.0 is 0", _THEOREM,
         lambda: Dataset.of([[1.0, -0.0], [-0.0, 1.0]], _QUERIES, [-0.0, 1, 2]),
         *both(PROVED)),
    case("queries equal after rounding to float64 only", "proved",
         "$10^{20}$ and $10^{20}+1$ are the same float64 and different integers", _THEOREM,
         lambda: Dataset.of([[1, 0], [0, 1]], [[10**20, 1], [10**20 + 1, 1]], [1, 2]),
         *both(PROVED)),
    case("queries parallel only in exact arithmetic", "not applicable, with the exact relation",
         "$1/3$ and $2/3$ as fractions are exactly parallel; their floats are too, but rounding "
         "plays no part", _THEOREM,
         lambda: Dataset.of([[1, 0], [0, 1]], [["1/3", "1/7"], ["2/3", "2/7"]], [1, 2]),
         *both(NOT, dependent([0, 1], [2, -1]))),
)  # fmt: skip

"""Edge cases of the sizes: n, d, d_h, d_v, H and T at, below and above what the theorem asks."""

from __future__ import annotations

from functools import partial

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import family, random
from attncert.verify.audit.edge_cases.records import (
    EdgeCase,
    Expect,
    both,
    hypothesis,
    impossible,
    limits,
    rows,
    weights,
)
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level

PROVED, REFUTED, NOT = Level.PROVED, Level.REFUTED, Level.NOT_APPLICABLE
_THEOREM = "paper, Theorem 1"


case = partial(EdgeCase.of, "sizes")

CASES = (
    case(
        "n=1, T=1",
        "proved",
        "capacity $H(1-1)+1=1$; the softmax of one token is 1, so $Z=E$",
        _THEOREM,
        lambda: Dataset.of([[2, 1]], [[1, 3]], [5]),
        *both(PROVED),
    ),
    case(
        "n=1, T=2, distinct contexts",
        "not applicable, but some weights serve",
        "$T>1=H(1-1)+1$ for every $H$, but $Z$ is the two context rows, which are independent",
        f"{_THEOREM}; exact rank",
        lambda: Dataset.of([[[2, 1]], [[1, 1]]], [[1, 3], [0, 1]], [5, 6]),
        *both(NOT, hypothesis("capacity", T=2, capacity=1)),
        weights(PROVED, 1),
    ),
    case(
        "n=1, T=2, shared context",
        "impossible for all weights",
        "with one token every $z_t$ is that token",
        "docs/tightness.md, section 3",
        lambda: Dataset.of([[2, 1]], [[1, 3], [0, 1]], [5, 6]),
        *impossible(limits("rows", labels=True), hypothesis("capacity", T=2, capacity=1)),
        weights(REFUTED, 3, relation={"indices": [0, 1], "coefficients": ["1", "-1"]}),
    ),
    case(
        "d_h=1, T=1",
        "proved",
        "$r=\\min(n,1)=1$: capacity 1 by the paper",
        _THEOREM,
        lambda: family(1, 3, 3),
        *both(PROVED),
        Expect("paper", PROVED, options={"head_width": 1}),
    ),
    case(
        "d_h=1, T=H(n-1)+1",
        "the paper's theorem does not apply; proved by heads of width one",
        "the paper's $r$ is 1, the width-one theorem's is $n$",
        "docs/width-one.md",
        lambda: family(5, 3, 4),
        Expect("paper", NOT, hypothesis("capacity", capacity=1), options={"head_width": 1}),
        Expect("width-one", PROVED, options={"heads": 2}),
    ),
    case(
        "1<d_h<n, T=H(d_h-1)+1",
        "proved; A1 is asked at strength $d_h$ only",
        "$r=\\min(n,d_h)=d_h$",
        _THEOREM,
        lambda: family(5, 4, 4, bound=2, seed=1),
        Expect("paper", PROVED, options={"head_width": 2, "heads": 4}),
    ),
    case(
        "d_h<n, T=H(d_h-1)+2",
        "not applicable at this $H$; some weights of that width serve",
        "one example more than $H(r-1)+1$; width-one heads reach $H(n-1)+1$",
        f"{_THEOREM}; docs/width-one.md",
        lambda: family(6, 4, 4, seed=1),
        Expect(
            "paper",
            NOT,
            hypothesis("capacity", T=6, capacity=5),
            options={"head_width": 2, "heads": 4},
        ),
        weights(PROVED, 4, 2),
    ),
    case(
        "d_h>n",
        "proved; capacity stays $H(n-1)+1$",
        "$r=\\min(n,d_h)=n$: the surplus columns are zero",
        _THEOREM,
        lambda: family(3, 2, 3, seed=1),
        Expect("paper", PROVED, options={"head_width": 5, "heads": 2}),
        Expect(
            "paper",
            NOT,
            hypothesis("capacity", T=3, capacity=2),
            options={"head_width": 5, "heads": 1},
        ),
    ),
    case(
        "d_h>d",
        "proved",
        "$r\\le n\\le d$: keys and queries are padded with zero columns",
        _THEOREM,
        lambda: family(3, 2, 2, seed=1),
        Expect("paper", PROVED, options={"head_width": 4}),
    ),
    case(
        "n=d",
        "proved",
        "$n\\le d$ is all that is asked; the selector is forced up to scale",
        f"{_THEOREM}; step 3",
        lambda: family(5, 3, 3, bound=2, seed=2),
        *both(PROVED, heads=2),
    ),
    case(
        "n=d=1",
        "proved",
        "the smallest data set there is",
        _THEOREM,
        lambda: Dataset.of([[3]], [[-2]], [1]),
        *both(PROVED),
    ),
    case(
        "n>d",
        "not applicable, but some weights serve",
        "three rows in two dimensions are dependent, and so are three queries",
        f"{_THEOREM}; exact rank",
        lambda: random(3, 3, 2, seed=1),
        *both(
            NOT,
            hypothesis("context-size", n=3, d=2)
            | rows(0, [46, -7, -9])
            | hypothesis("A1", examples=[0, 1, 2], coefficients=["1", "2", "-1"]),
        ),
        weights(PROVED, 2),
    ),
    case(
        "H=1, T=n",
        "proved",
        "one group of $r=n$: no selector, no saturation",
        _THEOREM,
        lambda: family(3, 3, 4, seed=3),
        *both(PROVED, heads=1),
    ),
    case(
        "T<n",
        "proved",
        "the first group is short; A1 is read as: every $\\min(n,T)$ queries are independent",
        _THEOREM,
        lambda: family(2, 4, 5, seed=3),
        *both(PROVED),
    ),
    case(
        "short last group",
        "proved",
        "$T$ below capacity: groups of 3, 2 and 1",
        _THEOREM,
        lambda: family(6, 3, 4, seed=4),
        *both(PROVED, heads=3),
    ),
    case(
        "more heads than needed",
        "proved",
        "heads without a group are idle: all weights zero",
        _THEOREM,
        lambda: family(3, 3, 4, seed=4),
        *both(PROVED, heads=4),
    ),
    case(
        "T at capacity, shared context",
        "proved",
        "$T=H(n-1)+1$: the most that shared contexts allow",
        f"{_THEOREM}; docs/tightness.md, section 4",
        lambda: family(5, 3, 4, shared=True, seed=5),
        *both(PROVED, heads=2),
    ),
    case(
        "T above capacity, shared context",
        "impossible for all weights",
        "all features lie in a flat of dimension $n-1$: $\\operatorname{rank}Z\\le H(n-1)+1$",
        "docs/tightness.md, section 2",
        lambda: family(6, 3, 4, shared=True, seed=5),
        *impossible(limits("flat"), hypothesis("capacity", T=6, capacity=5), heads=2),
        Expect(
            "universal",
            REFUTED,
            shows={ids.UNIVERSAL: {"no weights exceed rank": 5}},
            options={"heads": 2, "width": 1},
        ),
    ),
    case(
        "T above capacity, distinct contexts",
        "not applicable, but some weights serve",
        "the bound of shared contexts does not bind: up to $Hd$ columns",
        f"{_THEOREM}; exact rank",
        lambda: family(7, 3, 4, seed=5),
        *both(NOT, hypothesis("capacity", T=7, capacity=5), heads=2),
        weights(PROVED, 2),
    ),
    case(
        "T>Hd",
        "impossible for all weights",
        "$Z$ has only $Hd$ columns",
        "counting columns",
        lambda: family(5, 2, 2, seed=4),
        *impossible(limits("flat"), hypothesis("capacity", T=5, capacity=3), heads=2),
        weights(REFUTED, 2, columns=4),
    ),
    case(
        "d_v<m, T=2",
        "not applicable; these labels are impossible at $H=1$",
        "the outputs have rank at most $H d_v=1$, the labels rank 2",
        f"{_THEOREM}; docs/tightness.md, section 5",
        lambda: Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1]], [[1, 0], [0, 1]]),
        *both(NOT, hypothesis("value-width", d_v=1, m=2), value_width=1),
        Expect("label rank", REFUTED, options={"heads": 1, "value_width": 1}),
    ),
    case(
        "d_v<m, labels of rank one",
        "not applicable; the labels' rank forbids nothing",
        "$\\operatorname{rank}Y=1\\le H d_v$: $d_v\\ge m$ is asked for *all* labels",
        f"{_THEOREM}; docs/tightness.md, section 5",
        lambda: Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1]], [[1, 2], [2, 4]]),
        *both(NOT, hypothesis("value-width", d_v=1, m=2), value_width=1),
        Expect("label rank", PROVED, options={"heads": 1, "value_width": 1}),
    ),
    case(
        "d_v>m",
        "proved",
        "values are padded with zero columns",
        _THEOREM,
        lambda: random(2, 2, 3, m=2, seed=4),
        *both(PROVED, value_width=3),
    ),
)

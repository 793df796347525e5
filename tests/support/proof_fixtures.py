"""Hand-made `Proof` records of every kind, for the tests of the reports.

They are plausible, not true: nothing here was built or verified, the records only have the shape
and the sizes of real ones. What the reports *say* about them is what is tested.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from flint import fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Head, Layer, parameter_count
from attncert.reports.answers import report
from attncert.reports.words import drawing
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.proof import HeadSummary, Kind, Proof, Setup
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.coq.theorems import in_coq
from attncert.verify.methods import registry
from attncert.verify.questions.prove import Prove

EXACT = "exact over ℚ (FLINT)"
VERSIONS = {"attncert": "0.1.0", "python": "3.11.7", "python-flint": "0.9.0"}


def data_set(T: int, n: int, d: int, name: str = "toy") -> Dataset:
    """Unit rows as contexts, moment-curve queries, labels 0, 1, 2, ...: exact and small."""
    contexts = [[int(i == j) for j in range(d)] for i in range(n)]
    queries = [[(t + 1) ** (j % 4) for j in range(d)] for t in range(T)]
    return Dataset.of(contexts, queries, [t % 10 for t in range(T)], name=name)


def groups_of(T: int, H: int, r: int) -> tuple[tuple[int, ...], ...]:
    """Sizes r, r-1, r-1, ...; the last one may be short."""
    cuts = [0, min(r, T)]
    while cuts[-1] < T and len(cuts) <= H:
        cuts.append(min(T, cuts[-1] + max(1, r - 1)))
    return tuple(tuple(range(a, b)) for a, b in pairwise(cuts))


def paper_proof(
    heads: int = 2,
    head_width: int = 2,
    n: int = 3,
    d: int = 3,
    *,
    a1: Level = Level.SAMPLED,
    name: str = "toy",
    change: Callable[[Claim], Claim] = lambda claim: claim,
    call: str = "",
) -> Proof:
    """A finished run of the paper's construction; `change` edits each claim before the trace."""
    r = min(n, head_width)
    T = heads * (r - 1) + 1
    data = data_set(T, n, d, name)
    groups = groups_of(T, heads, r)
    claims = [change(c) for c in _paper_claims(data, groups, r, a1)]
    return Proof(
        question=Prove(heads=heads, head_width=head_width),
        data=data,
        setup=setup_of(data, heads, head_width, r, "interpolation"),
        trace=ProofTrace(claims),
        conclusion="memorization",
        layer=_layer(data, heads, head_width),
        groups=groups,
        heads=tuple(_summary(h, groups, n) for h in range(len(groups))),
        certificate=certificate(data, "interpolation", groups),
        versions=VERSIONS,
        call=call,
    )


def single() -> Proof:
    """H = 1, T = 1, n = 1: one row, so every weight is 1."""
    return paper_proof(1, 1, 1, 1, a1=Level.PROVED, name="one")


def large() -> Proof:
    """H = 600, r = 4: T = 1801."""
    return paper_proof(600, 4, 4, 8, name="large")


def full_rank() -> Proof:
    """Float data: rank proved modulo a prime, the interpolation error enclosed."""
    data = data_set(3, 3, 3, "embeddings")
    groups = groups_of(3, 2, 2)
    prime = "4611686018427377339"
    return Proof(
        question=Prove(heads=2),
        data=data,
        setup=setup_of(data, 2, 2, 2, "full-rank"),
        trace=ProofTrace([
            Claim("hypothesis.A2", "every context has rank $n$", Level.PROVED,
                  {"asked": "rank 3", "found": "rank 3"}, arithmetic=EXACT, source="paper, A2"),
            Claim("rank", "rank $Z = T$ over $\\mathbb{Q}$", Level.PROVED,
                  {"prime": prime, "rank": 3}, arithmetic="modulo a prime, lifted",
                  rests_on=("hypothesis.A2",), source="mathematics, section 3"),
            Claim("interpolation.enclosed",
                  "the largest error over all examples is below $2^{-40}$", Level.ENCLOSED,
                  {"error": 3.1e-14, "precision_bits": 256}, arithmetic="Arb balls",
                  rests_on=("rank",)),
            Claim("memorization", "for every choice of labels there are values and an output with "
                  "$A(E^{(t)}, e^{(t)}) = y^{(t)}$ on all 3 examples", Level.PROVED,
                  rests_on=("rank",), source="paper, Theorem 1; reduction"),
        ]),
        conclusion="memorization",
        groups=groups,
        heads=tuple(_summary(h, groups, 3) for h in range(2)),
        certificate=certificate(data, "full-rank", groups),
        versions=VERSIONS,
    )  # fmt: skip


def enclosed() -> Proof:
    """The same run, asked for the interpolation itself: no more than enclosed."""
    return replace(full_rank(), conclusion="interpolation.enclosed")


def refused_context() -> Proof:
    """A2 is false: two rows of context 1 are parallel."""
    return _refusal(
        Claim("hypothesis.A2", "every context has rank $n = 3$", Level.REFUTED,
              {"asked": "rank 3 in all 5 contexts", "found": "rank 2 in context 1"},
              {"context": 1, "rank": 2, "rows": [0, 2], "coefficients": ["2", "-1/3"]},
              EXACT, source="paper, A2")
    )  # fmt: skip


def refused_grouping() -> Proof:
    return _refusal(
        Claim("hypothesis.grouping", "each group of queries is independent, and no earlier query "
              "lies in the span of a later group", Level.REFUTED,
              {"asked": "independent groups of 3, 2", "found": "group 1 is dependent"},
              {"group": 1, "queries": [0, 1, 2], "coefficients": ["1", "1", "-1"]},
              EXACT, source="paper, A1 at strength r")
    )  # fmt: skip


def refused_capacity() -> Proof:
    return _refusal(
        Claim("hypothesis.capacity", "$T \\le H(r-1)+1$", Level.NOT_APPLICABLE,
              {"asked": "T at most 5", "found": "T = 9"}, {"examples": 9, "capacity": 5},
              "integers", source="paper, Theorem 1"),
        T=9,
    )  # fmt: skip


def wrong_weights() -> Proof:
    """Weights were built, and two examples do not get their labels."""

    def change(claim: Claim) -> Claim:
        if claim.id != "interpolation.exact":
            return claim if claim.id != "memorization" else replace(claim, level=Level.REFUTED)
        witness = {
            "example": 1,
            "label": 0,
            "output_minus_label": "1/7",
            "failing_examples": [1, 2],
        }
        return replace(claim, level=Level.REFUTED, witness=witness)

    return replace(paper_proof(change=change), certificate=None)


def undecided() -> Proof:
    return _refusal(
        Claim("hypothesis.grouping", "some order of the examples has independent groups",
              Level.UNDECIDED, {"orders_tried": 1000, "seed": 0}, arithmetic=EXACT,
              source="paper, A1 at strength r")
    )  # fmt: skip


def weak(level: Level) -> Proof:
    """A conclusion that is known at `level` only."""
    return _refusal(
        Claim("hypothesis.A1", "the queries have Kruskal rank at least 3", level,
              {"subsets": 5000, "bound": 6e-4}, arithmetic="float64"),
        verdict=level,
    )  # fmt: skip


HOSTILE = (
    'a|b `c` <script>alert("1")</script> $x$ [l](u) *i* _j_ \\ & "]:::x --> end\n'
    "# h\u202e\ud800 ```"
)


def hostile() -> Proof:
    """Text meant to break tables, code spans, HTML, mathematics, Mermaid and LaTeX."""

    def change(claim: Claim) -> Claim:
        if claim.id not in ("hypothesis.A1", "rank"):
            return claim
        return replace(
            claim,
            statement=f"{claim.statement} {HOSTILE}",
            numbers={"found": HOSTILE, HOSTILE: HOSTILE},
            arithmetic=HOSTILE,
            source=HOSTILE,
            level=Level.NUMERICAL,
            uses={"A1": HOSTILE},
            witness={HOSTILE: [HOSTILE]},
        )

    proof = paper_proof(change=change, call=f"attncert prove DATA {HOSTILE}")
    object.__setattr__(proof.data, "name", HOSTILE)  # which `Dataset` itself would not let through
    return proof


KINDS: dict[str, Callable[[], Proof]] = {
    "small": paper_proof,
    "three-heads": lambda: paper_proof(3, 4, 4, 6),
    "nine-heads": lambda: paper_proof(9, 3, 3, 6),
    "digits-like": lambda: paper_proof(16, 4, 4, 16),
    "wide-groups": lambda: paper_proof(2, 64, 64, 64),
    "single": single,
    "full-rank": full_rank,
    "enclosed": enclosed,
    "refused-context": refused_context,
    "refused-grouping": refused_grouping,
    "refused-capacity": refused_capacity,
    "undecided": undecided,
    "wrong-weights": wrong_weights,
    "sampled": lambda: weak(Level.SAMPLED),
    "numerical": lambda: weak(Level.NUMERICAL),
    "assumed": lambda: weak(Level.ASSUMED),
    "argued": lambda: weak(Level.ARGUED),
    "hostile": hostile,
}


def rendered(kind: str) -> tuple[Proof, dict[str, bytes]]:
    """A proof by name, "large" included, and its report; made once for all tests, and once more
    for those that have figures drawn."""
    return _rendered(kind, drawing.FigureCanvasSVG)


@functools.cache
def _rendered(kind: str, canvas: type) -> tuple[Proof, dict[str, bytes]]:
    proof = large() if kind == "large" else KINDS[kind]()
    return proof, report(proof).files


def certificate(
    data: Dataset, claim: str, groups: tuple[tuple[int, ...], ...]
) -> Mapping[str, Any]:
    """An envelope of the right form; its layer is left out, since it is not checked here."""
    body: dict[str, Any] = {
        "format": "attncert/1",
        "claim": claim,
        "construction": "mahdavi2024",
        "dims": {"examples": data.T, "context": data.n, "width": data.d, "labels": data.m},
        "data": data.canonical(),
        "groups": [list(g) for g in groups],
        "input_sha256": data.sha256,
    }
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return body | {"digest": hashlib.sha256(text.encode()).hexdigest()}


def setup_of(data: Dataset, heads: int, head_width: int, r: int, claim: Kind) -> Setup:
    paper = registry.method("paper")
    return Setup(
        construction="paper",
        heads=heads,
        head_width=head_width,
        value_width=data.m,
        r=r,
        capacity=heads * (r - 1) + 1,
        parameters=parameter_count(data.d, data.m, heads, head_width, data.m),
        claim=claim,
        voice=paper.voice,
        outline=paper.outline,
        certificate_name=paper.certificate_name,
        usable_width="\\min(n, d_h)",
    )


def _layer(data: Dataset, heads: int, head_width: int) -> Layer:
    d, m = data.d, data.m
    key = fmpq_mat(d, head_width, [(i * 7 + 3) % 11 for i in range(d * head_width)])
    value = fmpq_mat(d, m, [2**40 + i for i in range(d * m)])
    head = Head(key, key, value)
    return Layer((head,) * heads, fmpq_mat(heads * m, m, [1] * (heads * m * m)))


def _summary(h: int, groups: tuple[tuple[int, ...], ...], n: int) -> HeadSummary:
    T, start = sum(map(len, groups)), groups[h][0]
    bits = 12 + 3 * h if h else None
    own = _softmaxes(T, n)
    off = []
    for t in range(T):
        if n == 1:
            off.append(-math.inf)
        elif t < start and bits is not None:
            off.append(math.log2(n - 1) - bits - (t * 5 + h) % 7)
        else:
            off.append(math.log2(1 - max(own[t])))
    return HeadSummary(
        group=groups[h],
        c=17 * h + 5 if h else None,
        bits=bits,
        apriori_c=None if not h else 90 * h + 41,
        apriori_bits=None if not h else 4 * (bits or 0),
        z_bits=20 + 9 * h,
        condition=1.0 + 2.5**h if h < 40 else 1e16,
        log2_off_peak=tuple(off),
        own_weights=tuple(tuple(own[t]) for t in groups[h]),
    )


@functools.cache
def _softmaxes(T: int, n: int) -> list[list[float]]:
    """One row of n weights for each example, all different enough."""
    powers = [[2.0 ** ((i * (t + 2)) % (n + 1)) for i in range(n)] for t in range(T)]
    return [[p / sum(row) for p in row] for row in powers]


def _paper_claims(
    data: Dataset, groups: tuple[tuple[int, ...], ...], r: int, a1: Level
) -> list[Claim]:
    T, n, H = data.T, data.n, len(groups)
    claims = [
        Claim("hypothesis.A1",
              f"the queries have Kruskal rank at least $\\min(n, T) = {min(n, T)}$", a1,
              {"asked": f"every {min(n, T)} of {T} queries independent",
                   "found": "5,000 random subsets independent; at most 0.06 % of all fail (95 %)"},
              arithmetic="modulo a prime", source="paper, A1"),
        Claim("hypothesis.A2", f"every context has rank $n = {n}$", Level.PROVED,
              {"asked": f"rank {n}", "found": f"rank {n} in all {T}"}, arithmetic=EXACT,
              source="paper, A2"),
        Claim("hypothesis.grouping", "the queries of each group are independent, and no earlier "
              "query lies in the span of a later group", Level.PROVED,
              {"asked": f"groups of {r}, {max(1, r - 1)}, ...", "found": "all independent"},
              arithmetic=EXACT, source="paper, A1 at strength r"),
        Claim("hypothesis.capacity", "$T \\le H(r-1)+1$", Level.PROVED,
              {"asked": f"T at most {T}", "found": f"T = {T}"}, arithmetic="integers",
              source="paper, Theorem 1"),
        Claim("reduction", "rank $Z = T$ is enough: $ZV = Y$ is then solvable for all labels",
              Level.KERNEL, arithmetic=in_coq("reduction.reduction"),
              source="ours, docs/mathematics.md, section 1"),
    ]  # fmt: skip
    for h, group in enumerate(groups, start=1):
        claims += _head_claims(h, group, n)
    last = tuple(f"head.{h}.independence" for h in range(1, H + 1))
    routes = (("exact", EXACT), ("symbolic", "SymPy, log 2 and exp, symbolic labels"))
    claims += [
        Claim("rank", f"rank $Z = T = {T}$ at the finite $c$ of every head", Level.PROVED,
              {"rank": T, "z_bits": 20 + 9 * H}, arithmetic=EXACT, rests_on=last,
              source="paper, Theorem 1, step 8"),
        *(
            Claim(f"interpolation.{route}",
                  "$A(E^{(t)}, e^{(t)}) = y^{(t)}$ for every example", Level.PROVED,
                  {"examples": T}, arithmetic=arithmetic, source="step 10")
            for route, arithmetic in routes
        ),
        Claim("interpolation.mpmath", "the forward pass with the true exponential agrees with the "
              "labels", Level.NUMERICAL, {"largest_error": 1.5e-40, "digits": 45},
              arithmetic="mpmath, 45 digits"),
        Claim("memorization", f"the layer memorizes all examples ($T = {T}$) exactly: "
              "$A(E^{(t)}, e^{(t)}) = y^{(t)}$ for every $t$", Level.PROVED, arithmetic=EXACT,
              rests_on=("interpolation.exact",), source="paper, Theorem 1"),
        Claim("theorem", "Theorem 1 applies to this data", Level.PROVED,
              rests_on=("hypothesis.A1", "hypothesis.A2", "hypothesis.capacity", "reduction"),
              source="paper, Theorem 1"),
    ]  # fmt: skip
    return claims


def _head_claims(h: int, group: tuple[int, ...], n: int) -> list[Claim]:
    def claim(step: str, statement: str, rests: tuple[str, ...], **more: Any) -> Claim:
        rests_on = tuple(x if "." in x else f"head.{h}.{x}" for x in rests)
        return Claim(f"head.{h}.{step}", statement, Level.PROVED, arithmetic=EXACT,
                     rests_on=rests_on, seconds=0.001 * h, **more)  # fmt: skip

    dual = claim("dual", f"$\\hat e_t\\cdot e_{{t'}}=\\delta_{{tt'}}$ on $G_{{{h}}}$",
                 ("hypothesis.grouping",), uses={"A1": f"independence of {len(group)}"},
                 source="paper, step 2")  # fmt: skip
    targets = claim("logits", "$E^{(t)}w_t=g_t$ is solved by whole $w_t$", ("hypothesis.A2",),
                    uses={"A2": f"rank {n} of the group's contexts"})  # fmt: skip
    before = (f"head.{h - 1}.independence",) if h > 1 else ()
    place = claim("independence", "each row of the group leaves the span of all rows so far",
                  ("dual", "logits", *(("saturation",) if h > 1 else ()), *before),
                  numbers={"group": list(group)}, source="paper, step 7")  # fmt: skip
    if h == 1:
        return [dual, targets, place]
    return [
        dual,
        targets,
        claim("selector", f"$v\\perp G_{{{h}}}$ and $v\\cdot e_s\\ne0$ for every earlier $s$",
              ("hypothesis.grouping",), uses={"A1": "no earlier query in the group's span"},
              numbers={"largest": 3 * h, "smallest": 1}, source="paper, step 3"),
        claim("separator", "the entries of $E^{(s)}u$ have a unique maximum and minimum",
              ("hypothesis.A2",), numbers={"gap": 1}, source="paper, step 4"),
        claim("saturation", "$1-p_{i^*}\\le (n-1)2^{-B}$ for every earlier example",
              ("selector", "separator"), numbers={"c": 17 * h + 5, "bits": 12 + 3 * h},
              source="paper, step 8"),
        place,
    ]  # fmt: skip


def _refusal(claim: Claim, verdict: Level = Level.PROVED, T: int = 5) -> Proof:
    data = data_set(T, 3, 4, "refused")
    return Proof(
        question=Prove(heads=2),
        data=data,
        setup=setup_of(data, 2, 3, 3, "interpolation"),
        trace=ProofTrace([
            claim,
            Claim("memorization", "some layer of this construction has "
                  "$A(E^{(t)}, e^{(t)}) = y^{(t)}$ for every $t$", verdict, rests_on=(claim.id,)),
        ]),
        conclusion="memorization",
        versions=VERSIONS,
    )  # fmt: skip

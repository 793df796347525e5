"""The cases of docs/gallery/tightness: bounds on memorization, and what reaches or exceeds them.

A case distinguishes *universal* memorization (one choice of keys and queries for all labels) from
memorizing *given labels*, and has a certified layer if such a layer shows what is claimed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from flint import fmpq_mat
from hypotheses.universal import universal
from support.exact_data import family

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import signed_pairs
from attncert.constructions.layer import Head, Layer
from attncert.reports.words.claims import lines
from attncert.reports.words.levels import legend
from attncert.reports.words.templating import page
from attncert.verify.certificates.certificate import canonical_bytes, certificate, produced_by
from attncert.verify.claims.evidence import About, Claim, Level
from attncert.verify.limits.tightness.columns import column_bound
from attncert.verify.limits.tightness.limits import label_rank
from attncert.verify.limits.tightness.relations.probes import best_rank
from attncert.verify.limits.tightness.relations.rows import row_bound
from attncert.verify.outputs.rational import rational

__all__ = ["Case", "cases", "render"]

TEMPLATES = Path(__file__).parent / "templates"
_COMMAND = "python docs/make_gallery.py tightness"


@dataclass(frozen=True)
class Case:
    """claims have distinct ids. certificate: what a checker reads, or None."""

    name: str
    title: str
    text: str
    claims: tuple[Claim, ...]
    certificate: Mapping[str, Any] | None = None

    @property
    def universal(self) -> Level:
        """Universal memorization by these heads: proved, refuted, or undecided."""
        levels = {claim.level for claim in self.claims if claim.about is About.UNIVERSAL}
        order = Level.REFUTED, Level.PROVED
        return next((level for level in order if level in levels), Level.UNDECIDED)


def render(cases: Sequence[Case]) -> dict[str, bytes]:
    """report.md, and certificates/NAME.json."""
    paths = {case.name: f"certificates/{case.name}.json" for case in cases}
    context = {
        "cases": [(case, paths[case.name], lines(case.claims)) for case in cases],
        "levels": legend(claim.level for case in cases for claim in case.claims),
    }
    files = {"report.md": page("tightness.md.j2", context, TEMPLATES)}
    return files | {
        paths[case.name]: canonical_bytes(case.certificate)
        for case in cases
        if case.certificate is not None
    }


def given_labels(examples: int = 4, seed: int = 0) -> Case:
    """One head of width one gives T independent queries any labels, above the universal bound.

    n = 2, H = d_h = d_v = m = 1, one shared context, labels 5q/(q + 1) with q = 2^k for each query:
    if the first token has weight q/(q + 1), the layer outputs them, and its logits are k in units
    of ln 2.
    """
    exponents = range(-(examples // 2), examples - examples // 2)
    labels = [5 * odds / (odds + 1) for odds in (Fraction(2) ** k for k in exponents)]
    rng = np.random.default_rng(seed)
    while True:
        queries = rng.integers(-2, 3, (examples, examples))
        if round(abs(float(np.linalg.det(queries)))) == 1:  # the duals are integral
            break
    context = np.eye(2, examples, dtype=np.int64)
    data = Dataset.of(context, queries, labels, f"given-labels-{examples}")
    first = fmpq_mat(examples, 1, [1, *[0] * (examples - 1)])
    query = data.query_matrix.inv() * fmpq_mat(examples, 1, list(exponents))
    layer = Layer((Head(first, query, 5 * first),), fmpq_mat(1, 1, [1]))
    return Case(
        f"given-labels-{examples}",
        f"Given labels: {examples} examples by one head of width one",
        "n = 2, one head, key and value of width one, one number as label, one shared context, "
        f"{examples} independent queries. No single choice of keys and queries serves all labels "
        "of more than two examples. It still outputs these labels, as it would any others: the "
        "query weights are chosen for them. So the bounds on this page are about universal "
        "memorization alone.",
        (rational(data, layer), universal(data, 1)),
        certificate(
            data,
            layer,
            [range(examples)],
            construction="given labels (docs/tightness.md, section 5)",
            produced_by=produced_by(_COMMAND, seed),
            value_width=1,
        ),
    )


def cases(seed: int = 0) -> Iterator[Case]:
    """The cases of the page: the counterexample, and contexts that reach the bound or exceed it."""
    for examples in (3, 4, 6):
        yield given_labels(examples, seed)
    permuted = family(4 * 2 + 1, 3, 5, contexts="permuted", seed=seed)
    yield _reached(
        "permuted",
        "Permuted contexts reach H·a + 1 exactly",
        "One context of 3 rows, reordered for every example: they lie in a plane, a = 2, and "
        "4 heads serve 9 examples universally, as many as any weights can.",
        permuted,
        4,
    )
    yield _bounded(
        "permuted-above",
        "... and not one more",
        "The same with a tenth example: the bound for every choice of weights, and the verdict.",
        family(10, 3, 5, contexts="permuted", seed=seed),
        4,
    )
    yield _reached(
        "distinct",
        "Distinct contexts exceed H(n-1) + 1",
        "4 heads of width one, n = 4, d = 8: 32 = H·d examples are memorized universally, where "
        "H(n-1) + 1 is 13.",
        family(32, 4, 8, seed=seed),
        4,
    )
    yield _bounded(
        "shifted",
        "Shifted copies of one context: differences within contexts count",
        "Ten examples whose contexts differ by a shift. Their rows span an affine flat of "
        "dimension 5, but the differences within contexts span only a = 2, and the rows add "
        "b = 4: with 2 heads, rank Z is at most Ha + b = 8, where 5 H + 1 is 11.",
        _shifted(10, seed),
        2,
    )
    pairs = signed_pairs()
    yield Case(
        "signed-pairs",
        "n = 2, queries e, -e, f, -f: impossible with any number of heads",
        "A relation between the rows of Z that holds for all weights: A(e) + A(-e) = A(f) + A(-f).",
        row_bound(pairs),
    )
    many = family(4, 3, 4, m=3, seed=seed)
    yield Case(
        "label-rank",
        "Labels of too large a rank",
        "One head with values of width 2 and labels of three numbers: no weights give labels of "
        "rank 3, whatever the data. This is about the given labels.",
        (label_rank(many, 1, 2),),
    )


def _shifted(examples: int, seed: int) -> Dataset:
    """Three unit rows in R^6, all shifted by the same multiple of one of the other unit vectors."""
    t = np.arange(examples)
    shift = (7 + t)[:, None] * np.eye(6, dtype=np.int64)[3 + t % 3]
    queries = family(examples, 3, 6, queries="moment-curve", seed=seed).queries
    return Dataset.of(np.eye(3, 6, dtype=np.int64) + shift[:, None, :], queries, t, "shifted")


def _bounded(name: str, title: str, text: str, data: Dataset, heads: int) -> Case:
    return Case(name, title, text, column_bound(data, heads))


def _reached(name: str, title: str, text: str, data: Dataset, heads: int) -> Case:
    """The case with the certificate of a layer that reaches T."""
    reached = best_rank(data, heads, data.T, draws=24)
    file = certificate(
        data,
        reached.layer,
        [range(data.T)],
        construction="small random integers (docs/tightness.md)",
        produced_by=produced_by(_COMMAND, 0),
        value_width=data.m,
        prime=reached.prime,
    )
    return Case(name, title, text, (universal(data, heads, draws=24),), file)

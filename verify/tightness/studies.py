"""What bounds memorization on one data set, all statements together; and the cases worth showing.

A study keeps *universal* memorization (one choice of keys and queries for all labels) apart from
the *given labels*, and carries a layer with a certificate where one shows what is claimed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from attncert.constructions import generic
from attncert.constructions.brief import command_line, in_brief
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.generators import family, signed_pairs
from attncert.constructions.errors import HypothesisFails, InputError
from attncert.constructions.layer import Layer
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.certificate import TooLarge, certificate, produced_by
from attncert.verify.claims.evidence import About, Claim, Level, counted
from attncert.verify.features import rank_of
from attncert.verify.tightness.by_heads import by_heads, claims_by_heads
from attncert.verify.tightness.given_labels import fit_given_labels
from attncert.verify.tightness.labels import label_rank
from attncert.verify.tightness.relations.flat import affine_bound, column_bound
from attncert.verify.tightness.relations.probes import best_rank
from attncert.verify.tightness.relations.rows import few_tied, row_bound
from attncert.verify.tightness.shared_contexts.explore import explore_distinct_queries
from attncert.verify.tightness.shared_contexts.largest_rank import applies, shared_capacity
from attncert.verify.tightness.values import all_at_value_width

__all__ = ["Study", "cases", "given_labels", "study"]

MOST_FEATURES = 200_000  # T·H·d up to which layers are drawn and relations tested


@dataclass(frozen=True)
class Study:
    """claims: with distinct ids. certificate: an attncert/1 object, or None.

    data: None for a study of many data sets. command: what repeats it; "" for one of the gallery.
    """

    name: str
    title: str
    text: str
    data: Dataset | None
    claims: tuple[Claim, ...]
    certificate: Mapping[str, Any] | None = None
    command: str = ""

    def __repr__(self) -> str:
        return in_brief(
            self,
            self.name,
            universal=self.universal,
            claims=len(self.claims),
            certificate=self.certificate is not None,
        )

    @property
    def universal(self) -> Level:
        """Universal memorization by these heads: proved, refuted, or undecided."""
        levels = {claim.level for claim in self.claims if claim.about is About.UNIVERSAL}
        order = Level.REFUTED, Level.PROVED
        return next((level for level in order if level in levels), Level.UNDECIDED)


def study(
    data: Dataset,
    heads: int | None = None,
    value_width: int | None = None,
    seed: int = 0,
    progress: StageProgress = silent,
) -> Study:
    """Everything that is known of these examples for every choice of weights of H heads.

    heads: default the fewest that are promised to be enough under A1 and A2. value_width: d_v,
    default m. Raises InputError. Deterministic for a seed.

    >>> from attncert.constructions.data.generators import signed_pairs
    >>> study(signed_pairs(), 2).universal.value
    'refuted'
    """
    command = command_line(
        "attncert tightness DATA",
        examples=data.T, heads=heads, value_width=value_width, seed=seed,
    )  # fmt: skip
    heads = generic.promised_heads(data) if heads is None else heads
    value_width = data.m if value_width is None else value_width
    for argument, value in (("--heads", heads), ("--value-width", value_width)):
        if not 1 <= value <= 10**4:
            raise InputError(argument, "a whole number from 1 to 10,000", value)
    small = data.T * heads * data.d <= MOST_FEATURES
    progress("columns of Z", 0, 1)
    claims = [*(affine_bound if small else column_bound)(data, heads)]
    progress("rows of Z", 0, 1)
    claims += row_bound(data) if few_tied(data) else []
    if small and applies(data):
        progress("shared contexts", 0, 1)
        claims += shared_capacity(data, heads, seed=seed)
    if small:
        progress("ranks by heads", 0, 1)
        claims += claims_by_heads(data, by_heads(data, seed))
    claims = all_at_value_width(claims, data, heads, value_width)
    claims += [label_rank(data, heads, value_width)] if data.labelled else []
    proof = None
    if small:
        progress("small weights", 0, 1)
        try:
            built = generic.build(data, heads=heads, seed=seed)
            proof = (
                _full_rank(data, built.layer, value_width, seed, command)
                if value_width >= data.m
                else None
            )
        except HypothesisFails:
            pass  # the claims say what is known
    examples = counted(data.T, "example")
    text = f"{counted(heads, 'head')} of any width on {examples}, n = {data.lengths}, d = {data.d}."
    return Study(
        "data", "Limits that hold for all weights", text, data, tuple(claims), proof, command
    )


def given_labels(examples: int = 4, seed: int = 0) -> Study:
    """Any labels of T independent queries by one head of width one: above the universal bound.

    n = 2, H = d_h = d_v = m = 1, one shared context. The labels are such that the layer is rational
    in units of ln 2, so that it has an ordinary certificate.
    """
    odds = [2**k for k in range(-(examples // 2), examples - examples // 2)]
    labels = [f"{5 * q}/{q + 1}" if q >= 1 else f"5/{round(1 / q) + 1}" for q in odds]
    rng = np.random.default_rng(seed)
    while True:
        queries = rng.integers(-2, 3, (examples, examples))
        if round(abs(float(np.linalg.det(queries)))) == 1:  # duals are whole
            break
    context = np.eye(2, examples, dtype=np.int64)
    data = Dataset.of(context, queries, labels, f"given-labels-{examples}")
    fit = fit_given_labels(data, 0, 5)
    assert fit.layer is not None
    return Study(
        f"given-labels-{examples}",
        f"Given labels: {examples} examples by one head of width one",
        "n = 2, one head, key and value of width one, one number as label, one shared context, "
        f"{examples} independent queries. No one choice of keys and queries serves all labels of "
        "more than two examples. It still outputs these labels, as it would any others: the "
        "query weights are chosen for them. So the bounds on this page are about universal "
        "memorization alone.",
        data,
        fit.claims,
        certificate(
            data,
            fit.layer,
            [range(examples)],
            construction="given labels (docs/tightness.md, section 5)",
            produced_by=produced_by("attncert tightness", seed),
            value_width=1,
        ),
    )


def cases(explored: int = 1500, seed: int = 0) -> Iterator[Study]:
    """The gallery: the counterexample, the search, contexts that reach the bound or exceed it."""
    for examples in (3, 4, 6):
        yield given_labels(examples, seed)
    yield Study(
        "explored",
        "One shared context, merely distinct queries, n ≥ 3: a search",
        "A theorem of docs/tightness.md, section 4, says that H(n-1) + 1 distinct queries are "
        "memorized universally however they lie, on one line too. The search tries to refute it.",
        None,
        (explore_distinct_queries(explored, seed),),
    )
    permuted = family(4 * 2 + 1, 3, 5, contexts="permuted", seed=seed)
    yield _reached(
        "permuted",
        "Permuted contexts reach H·a + 1 exactly",
        "One context of 3 rows in another order for every example: they lie in a plane, a = 2, and "
        "4 heads serve 9 examples universally, as many as any weights can.",
        permuted,
        4,
    )
    yield _bounded(
        "permuted-above",
        "... and not one more",
        "The same with a tenth example: the relations between the columns of Z that hold for every "
        "choice of weights, and the verdict.",
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
        "Shifted copies of one context: below H·a + 1",
        "Ten examples whose contexts differ by a shift. Their rows span an affine flat of "
        "dimension a = 5, with b = 2 directions within a context: with 2 heads rank Z is at most "
        "Hb + ρ - b = 8, where H·a + 1 is 11.",
        _shifted(10, seed),
        2,
    )
    pairs = signed_pairs()
    yield Study(
        "signed-pairs",
        "n = 2, queries e, -e, f, -f: impossible with any number of heads",
        "A relation between the rows of Z that holds for all weights: A(e) + A(-e) = A(f) + A(-f).",
        pairs,
        row_bound(pairs),
    )
    many = family(4, 3, 4, m=3, seed=seed)
    yield Study(
        "label-rank",
        "Labels of too large a rank",
        "One head with values of width 2 and labels of three numbers: no weights give labels of "
        "rank 3, whatever the data. This is about the given labels.",
        many,
        (label_rank(many, 1, 2),),
    )


def _shifted(examples: int, seed: int) -> Dataset:
    """Three unit rows in R^6, all moved by the same multiple of one of the other unit vectors."""
    t = np.arange(examples)
    shift = (7 + t)[:, None] * np.eye(6, dtype=np.int64)[3 + t % 3]
    queries = family(examples, 3, 6, queries="moment-curve", seed=seed).queries
    return Dataset.of(np.eye(3, 6, dtype=np.int64) + shift[:, None, :], queries, t, "shifted")


def _bounded(name: str, title: str, text: str, data: Dataset, heads: int) -> Study:
    return Study(name, title, text, data, affine_bound(data, heads))


def _reached(name: str, title: str, text: str, data: Dataset, heads: int) -> Study:
    """With the certificate of a layer that reaches T."""
    layer = best_rank(data, heads, data.T, draws=24).layer
    return Study(name, title, text, data, affine_bound(data, heads, draws=24),
                 _full_rank(data, layer, data.m))  # fmt: skip


def _full_rank(
    data: Dataset,
    layer: Layer,
    value_width: int,
    seed: int = 0,
    command: str = "attncert tightness",
) -> Mapping[str, Any] | None:
    """None where the rank is not full, or the file would be more than the checker reads."""
    rank, prime = rank_of(data, layer)
    if rank < data.T:
        return None
    try:
        return certificate(
            data,
            layer,
            [range(data.T)],
            construction="small random integers (docs/tightness.md)",
            produced_by=produced_by(command, seed),
            value_width=value_width,
            prime=prime,
        )
    except TooLarge:
        return None

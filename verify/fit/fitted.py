"""`attncert fit` as a function: the number of heads from the capacity law, a fit, and a claim.

As in `prove`, reasons that exclude these labels for all weights come first: tied examples, or
labels whose rank is too large. A fit that does not end at a solution excludes nothing, so the
answer is undecided. If there are more labels than the dimension count N
(`constructions/given/law.py`), almost all labellings are out of reach, and no fit is tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attncert.constructions.arrays import FloatArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.given.attention import Shape
from attncert.constructions.given.law import Law, law
from attncert.constructions.given.least_squares import MAX_STEPS, Descent
from attncert.constructions.given.shared import search
from attncert.constructions.layer import require_size
from attncert.constructions.progress import StageProgress, silent, timed
from attncert.verify.certificates.certificate import TooLarge, produced_by
from attncert.verify.checking.answers import answers
from attncert.verify.claims import ids
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import About, Claim, Level
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.claims.words import counted, sized
from attncert.verify.depth.law import Architecture
from attncert.verify.limits.tightness.certificate import tied_certificate
from attncert.verify.limits.tightness.limits import impossible, label_limits
from attncert.verify.newton.certify import MOST_UNKNOWNS, Near, certify, claim, near_certificate
from attncert.verify.newton.descent import DEEP_STEPS, DeepLaw, descend_deep
from attncert.verify.newton.models import Model
from attncert.verify.provenance.conclusion import in_words_of
from attncert.verify.provenance.sequences import by_class
from attncert.verify.questions.fit import Fit
from attncert.verify.rank.engines.devices import choose_device
from attncert.verify.rank.residues import to_host

_TRIES, _TRIES_OF_ONE = 2, 8  # starts for each number of heads, and for a single head
_DEEP_TRIES = 4  # starts for each number of heads, for several layers


@dataclass(frozen=True)
class Attempt:
    """One attempt: the number of heads in each layer, the seed, the bound N for these heads,
    the number of weights, and how the fit ended."""

    heads: int
    seed: int
    bound: int
    parameters: int
    descent: Descent


@dataclass(frozen=True, kw_only=True, repr=False)
class Fitted(Answer):
    """The result of `fit`. law: the bound on the number of labels that H heads can fit. attempts:
    the starts in order, the last of which decides; empty if the labels are excluded or exceed the
    bound. near: what was shown about the weights, if a fit was found.
    """

    question: Fit
    data: Dataset
    law: Law | DeepLaw
    attempts: tuple[Attempt, ...] = ()
    near: Near | None = None


@answers(Fit, data=Dataset)
def fit(data: Dataset, question: Fit | None = None, progress: StageProgress = silent) -> Fitted:
    """Weights for these labels, and whether real weights nearby output them exactly.

    Arithmetic: float64 for the fit; balls and proved bounds for the claim. Raises InputError if the
    data are beyond the range of float64 or the device is missing. Source: ours,
    docs/certificate.md, interpolation-near, and docs/given-labels.md.

    >>> from attncert import Dataset, Fit, fit
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    >>> fit(data, Fit(heads=2)).standing.value
    'enclosed'
    """
    question = question or Fit()
    data = by_class(question.of(data))
    value_width = question.value_width or data.m
    require_size(data.d, data.m, question.heads or 1, question.head_width, value_width)
    search = _Search(data, question, progress)
    progress("limits for all weights", 0, 1)
    if question.layers == 1 and (excluded := _limits(data, question.heads, value_width)):
        provenance = produced_by(question.line(), question.seed)
        certificate = tied_certificate(data, provenance)
        claims = in_words_of(data, excluded)
        return search.answer(claims, certificate, "no certificate states the rank of labels")
    if beyond := _beyond(search.law, question, data.T, value_width):
        return search.answer([_undecided(data, beyond)], None, "nothing was shown")
    search.run(value_width)
    near = search.near
    if near is None:
        last = search.attempts[-1].descent.why
        why = f"no fit found in {counted(len(search.attempts), 'start')}; the last one: {last}"
        return search.answer([_undecided(data, why)], None, "nothing was shown")
    return search.answer(in_words_of(data, [claim(near)]), *_certificate(near, question))


def _certificate(near: Near, question: Fit) -> tuple[dict[str, Any] | None, str]:
    if not near.holds:
        return None, "nothing was shown"
    unknowns = len(near.unknowns)
    if unknowns > MOST_UNKNOWNS:
        return None, f"{unknowns} unknowns, and a file has at most {MOST_UNKNOWNS}"
    provenance = produced_by(question.line(), question.seed)
    try:
        return near_certificate(near, construction="fit", produced_by=provenance), ""
    except TooLarge as reason:
        return None, str(reason)


def _undecided(data: Dataset, reason: str) -> Claim:
    return Claim(
        ids.INTERPOLATION_NEAR,
        "Some real weights output exactly these labels.",
        Level.UNDECIDED,
        {"examples": data.T},
        {"reason": reason},
        about=About.THESE_LABELS,
    )


class _Search:
    """The search, which tries one start after another until weights are certified."""

    def __init__(self, data: Dataset, question: Fit, progress: StageProgress) -> None:
        self.data, self.question, self.progress = data, question, progress
        self.place = choose_device(question.device)
        self.arrays = _floats(data)
        self.seconds = dict[str, float]()
        with timed(self.seconds, "law"):
            self.law = law(data) if question.layers == 1 else DeepLaw.of(data, question.layers)
        self.attempts: list[Attempt] = []
        self.near: Near | None = None

    def answer(
        self, claims: Sequence[Claim], certificate: Mapping[str, Any] | None, uncertified: str
    ) -> Fitted:
        """The answer with these claims, the last of which is the conclusion."""
        return Fitted(
            question=self.question,
            data=self.data,
            trace=ProofTrace(claims),
            conclusion=claims[-1].id,
            certificate=certificate,
            uncertified="" if certificate else uncertified,
            seconds=self.seconds,
            law=self.law,
            attempts=tuple(self.attempts),
            near=self.near,
        )

    def run(self, value_width: int) -> None:
        self.seconds |= {"fit": 0.0, "certify": 0.0}
        for number, seed in _starts(self.law, self.question, value_width):
            shape = self._shape(number, value_width)
            attempt = self._attempt(shape, seed)
            self.attempts.append(attempt)
            if not attempt.descent.converged:
                continue
            self.progress(f"certificate, {counted(self.data.T * self.data.m, 'unknown')}", 0, 1)
            with timed(self.seconds, "certify"):
                self.near = certify(self.data, attempt.descent.weights, shape)
            if self.near.holds:
                return

    def _shape(self, heads: int, value_width: int) -> Shape | Architecture:
        widths = self.question.head_width, value_width
        if self.question.layers > 1:
            return Architecture(self.question.layers, heads, *widths)
        return Shape(self.data.d, self.data.m, heads, *widths)

    def _attempt(self, shape: Shape | Architecture, seed: int) -> Attempt:
        name = f"{counted(shape.heads, 'head')}, start {seed - self.question.seed + 1}"
        bound = self.law.bound(shape.heads, shape.head_width, shape.value_width)
        contexts, queries, labels, times = self.arrays
        steps, xp = self.question.steps, self.place.namespace
        limits = {} if steps is None else {"max_steps": steps, "patience": steps}

        def progress(step: int, error: float) -> None:
            most = MAX_STEPS if isinstance(shape, Shape) else DEEP_STEPS
            self.progress(f"fit, {name}", step, steps or most)

        with timed(self.seconds, "fit"):
            if isinstance(shape, Architecture):
                descent = descend_deep(self.data, shape, seed, steps or DEEP_STEPS, progress)
            else:
                descent = search(
                    contexts, queries, labels, shape, seed,
                    times=times, xp=xp, progress=progress, **limits,
                )  # fmt: skip
        descent = replace(descent, weights=to_host(descent.weights))
        parameters = Model.of(self.data, shape).parameters
        return Attempt(shape.heads, seed, bound, parameters, descent)


def _floats(data: Dataset) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray | None]:
    """Contexts, queries and labels as floats, and how many tokens each row stands for (None: 1)."""
    contexts, queries, labels = (
        data.contexts.floats(), data.queries.floats(), data.labels.floats()
    )  # fmt: skip
    for name, array in (("contexts", contexts), ("queries", queries), ("labels", labels)):
        largest = float(np.max(np.abs(array)))
        if not largest < 1e100:
            raise InputError(name, "made of numbers below 1e100 in absolute value", largest)
    times = None if data.times is None else data.times.astype(np.float64)
    return contexts, queries, labels, times


def _limits(data: Dataset, heads: int | None, value_width: int) -> tuple[Claim, ...]:
    """The claims that exclude these labels for all weights, and the conclusion; empty if no claim
    excludes them."""
    claims = label_limits(data, heads, value_width)
    labels = [claim for claim in claims if claim.excludes(About.THESE_LABELS)]
    if not labels:
        return ()
    return (*claims, impossible((), labels, heads, value_width, data))


def _beyond(law: Law | DeepLaw, question: Fit, T: int, value_width: int) -> str:
    """Why no fit is tried: T·m exceeds N for the given number of heads, or for every number."""
    labels = T * law.whole.labels
    if question.heads is None:
        if law.fewest_heads(question.head_width, value_width) is not None:
            return ""
        capacity = "no number of heads has that many"
    else:
        bound = law.bound(question.heads, question.head_width, value_width)
        if labels <= bound:
            return ""
        capacity = f"{sized(question.heads, question.head_width, value_width)} "
        capacity += f"{'has' if question.heads == 1 else 'have'} {bound}"
    return (
        f"fitting {counted(labels, 'label')} takes {labels} effective parameters, but {capacity}: "
        "almost all labels are out of reach"
    )


def tries(heads: int) -> int:
    """The number of starts for this number of heads. A start with one head takes little time."""
    return _TRIES_OF_ONE if heads == 1 else _TRIES


def _starts(law: Law | DeepLaw, question: Fit, value_width: int) -> Iterator[tuple[int, int]]:
    """Pairs (heads, seed), from the fewest heads that the law allows to one and a half times as
    many."""
    if question.heads is not None:
        counts: list[int] = [question.heads]
    else:
        least = law.fewest_heads(question.head_width, value_width) or 1
        step = max(1, math.ceil(least / 10))
        counts = list(range(least, least + 5 * step + 1, step))
    for count in counts:
        for k in range(tries(count) if question.layers == 1 else _DEEP_TRIES):
            yield count, question.seed + k

"""`attncert fit` as a function: heads by the capacity law, a fit, a claim about these labels.

What excludes these labels for all weights comes first, as in `prove`: tied examples, too large a
rank. A fit that does not end at a solution says nothing of the kind: it is undecided. Above the
dimension count N (`constructions/given/law.py`) almost all labels are out of reach, and a fit is
tried only if that is asked for.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from attncert.constructions.brief import in_brief
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError, require_seed, require_sizes, whole
from attncert.constructions.given.adam import STEPS, Training, load_torch, train
from attncert.constructions.given.attention import Shape
from attncert.constructions.given.law import Law, law
from attncert.constructions.given.least_squares import MAX_STEPS, Fit, fit
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.claims.evidence import About, Claim, Level, counted, sized
from attncert.verify.near.certificate import Near, certify, claim
from attncert.verify.near.heads import Heads, heads
from attncert.verify.rank.engines.devices import DeviceChoice, choose_device
from attncert.verify.rank.residues import to_host
from attncert.verify.tightness.limits import impossible, label_limits

TRIES = 2  # starts for each number of heads
OPTIMIZERS = ("lm", "adam")
_MOST_STEPS = 10**9


@dataclass(frozen=True)
class FitSettings:
    """heads: None for the fewest that the law allows, and then more until a fit is found.

    value_width: None for the labels' width. force: fit even where T·m is above N. optimizer: "lm",
    or "adam" to train `steps` steps first (None: 50,000) and fit from there. device: of the fit,
    "auto", "cpu" or "cuda"; training runs on the CPU.
    """

    heads: int | None = None
    head_width: int = 1
    value_width: int | None = None
    seed: int = 0
    force: bool = False
    optimizer: str = "lm"
    steps: int | None = None
    device: DeviceChoice = "auto"

    def __post_init__(self) -> None:
        if self.optimizer not in OPTIMIZERS:
            raise InputError("--optimizer", " or ".join(OPTIMIZERS), self.optimizer)
        if self.optimizer == "adam":
            load_torch()
        if self.steps is not None:
            if self.optimizer != "adam":
                raise InputError("--steps", "left out without --optimizer adam", self.steps)
            if not (whole(self.steps) and 1 <= self.steps <= _MOST_STEPS):
                raise InputError("--steps", f"a whole number from 1 to {_MOST_STEPS}", self.steps)
        require_sizes(self)
        require_seed(self.seed)


@dataclass(frozen=True)
class Attempt:
    """One start: heads, its seed, N for so many heads, and how it ended.

    fit: by Levenberg-Marquardt, from where the training ended, if there was one.
    """

    heads: int
    seed: int
    bound: int
    fit: Fit
    training: Training | None = None

    @property
    def moved(self) -> float | None:
        """How far the fit went from the trained weights, in the maximum norm."""
        if self.training is None:
            return None
        return float(np.abs(self.fit.weights - self.training.weights).max())

    def __repr__(self) -> str:
        return in_brief(
            self, heads=self.heads, seed=self.seed, found=self.fit.found, error=self.fit.error
        )


@dataclass(frozen=True)
class Fitted:
    """attempts: in order, the last one decides. near: what was shown of weights that fit, if any.

    beyond: half a sentence where nothing was tried because T·m is above N. limits: what excludes
    these labels for all weights, the conclusion last; then nothing was tried either. seen: what
    each head does, where weights were found.
    """

    data: Dataset
    settings: FitSettings
    law: Law
    attempts: tuple[Attempt, ...]
    near: Near | None = None
    seen: Heads | None = None
    beyond: str = ""
    limits: tuple[Claim, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        return in_brief(
            self,
            self.data.name,
            examples=self.data.T,
            holds=self.holds,
            heads=self.attempts[-1].heads if self.attempts else None,
            why=self.why or None,
        )

    @property
    def holds(self) -> bool:
        return self.near is not None and self.near.holds

    @property
    def level(self) -> Level:
        return Level.UNDECIDED if self.claim is None else self.claim.level

    @property
    def exit_status(self) -> int:
        """0: weights exist, enclosed; 1: none exist; 3: undecided, or not tried."""
        return 0 if self.holds else 1 if self.limits else 3

    @property
    def claim(self) -> Claim | None:
        if self.limits:
            return self.limits[-1]
        return None if self.near is None else claim(self.near)

    @property
    def why(self) -> str:
        """Half a sentence, where nothing was shown."""
        if self.limits:
            return str((self.limits[-1].witness or {})["reason"])
        if self.beyond or self.holds:
            return self.beyond
        if self.near is not None:
            return self.near.why
        last = self.attempts[-1].fit.why
        return f"no fit found in {counted(len(self.attempts), 'start')}; the last one: {last}"


def fit_data(
    data: Dataset,
    settings: FitSettings | None = None,
    progress: StageProgress = silent,
) -> Fitted:
    """Weights for these labels, and whether real weights nearby output them exactly.

    Arithmetic: float64 for the fit; balls and proved bounds for the claim. Raises InputError where
    the data are beyond the range of float64, and for a device that is not there.
    """
    settings = settings or FitSettings()
    place = choose_device(settings.device)
    arrays = data.contexts.floats(), data.queries.floats(), data.labels.floats()
    for name, array in zip(("contexts", "queries", "labels"), arrays, strict=True):
        largest = float(np.max(np.abs(array)))
        if not largest < 1e100:
            raise InputError(name, "made of numbers below 1e100 in size", largest)
    there = None if data.present is None else data.present.astype(np.float64)
    start = time.perf_counter()
    found = law(data)
    took = {"law": time.perf_counter() - start}
    value_width = settings.value_width or data.m
    wanted, attempts = data.T * data.m, list[Attempt]()
    progress("limits for all weights", 0, 1)
    if excluded := _limits(data, settings.heads, value_width):
        return Fitted(data, settings, found, (), limits=excluded, seconds=took)
    beyond = _beyond(found, settings, data.T, value_width)
    if beyond:
        return Fitted(data, settings, found, (), beyond=beyond, seconds=took)
    near = None
    took |= {"fit": 0.0, "certify": 0.0}
    tokens, asked, labels = (place.namespace.asarray(array) for array in arrays)
    present = None if there is None else place.namespace.asarray(there)
    for number, seed in _starts(found, settings, value_width):
        shape = Shape(data.d, data.m, number, settings.head_width, value_width)
        which = f"{counted(number, 'head')}, start {seed - settings.seed + 1}"
        bound = found.bound(number, settings.head_width, value_width)
        training, begin = None, seed
        if settings.optimizer == "adam":
            start, steps = time.perf_counter(), settings.steps or STEPS
            step = _stage(progress, f"training, {which}", steps)
            training = train(*arrays, shape, seed, present=there, steps=steps, progress=step)
            begin = place.namespace.asarray(training.weights)
            took["train"] = took.get("train", 0.0) + time.perf_counter() - start
        start = time.perf_counter()
        step = _stage(progress, f"fit, {which}", MAX_STEPS)
        tried = fit(tokens, asked, labels, shape, begin, present=present, progress=step)
        tried = replace(tried, weights=to_host(tried.weights))
        attempts.append(Attempt(number, seed, bound, tried, training))
        took["fit"] += time.perf_counter() - start
        if not tried.found:
            continue
        start = time.perf_counter()
        progress(f"certificate, {wanted} unknowns", 0, 1)
        near = certify(data, tried.weights, shape)
        took["certify"] += time.perf_counter() - start
        if near.holds:
            break
    seen = None
    if attempts and attempts[-1].fit.found:
        last = attempts[-1].fit
        seen = heads(arrays[0], arrays[1], last.weights, last.shape, there)
    return Fitted(data, settings, found, tuple(attempts), near, seen, seconds=took)


def _stage(progress: StageProgress, name: str, of: int) -> Callable[[int, float], None]:
    return lambda step, error: progress(name, step, of)


def _limits(data: Dataset, heads: int | None, value_width: int) -> tuple[Claim, ...]:
    """What excludes these labels, and that conclusion; nothing where nothing known does."""
    claims = label_limits(data, heads, value_width)
    labels = [claim for claim in claims if claim.excludes(About.THESE_LABELS)]
    if not labels:
        return ()
    return (*claims, impossible((), labels, claims, heads, value_width, data.T))


def _beyond(found: Law, settings: FitSettings, T: int, value_width: int) -> str:
    """Why nothing is tried: T·m above N for the heads asked for, or for any number of heads."""
    wanted = T * found.whole.labels
    if settings.force:
        return ""
    if settings.heads is None:
        if found.fewest_heads(settings.head_width, value_width) is not None:
            return ""
        what = "no number of heads has so many"
    else:
        bound = found.bound(settings.heads, settings.head_width, value_width)
        if wanted <= bound:
            return ""
        what = f"{sized(settings.heads, settings.head_width, value_width)} "
        what += f"{'has' if settings.heads == 1 else 'have'} {bound}"
    return (
        f"{wanted} labels need {wanted} effective parameters, and {what}: almost all labels are "
        "out of reach (these may not be: --force tries)"
    )


def _starts(found: Law, settings: FitSettings, value_width: int) -> Iterator[tuple[int, int]]:
    """(heads, seed), from the fewest heads that the law allows to half as many more."""
    if settings.heads is not None:
        counts: list[int] = [settings.heads]
    else:
        least = found.fewest_heads(settings.head_width, value_width) or 1
        step = max(1, math.ceil(least / 10))
        counts = list(range(least, least + 5 * step + 1, step))
    for count in counts:
        for k in range(TRIES):
            yield count, settings.seed + k


def fit_dict(fitted: Fitted) -> dict[str, Any]:
    """JSON-able, without times."""
    data, shown = fitted.data, fitted.claim
    near = fitted.near
    return {
        "holds": fitted.holds,
        "why": fitted.why,
        "data": {"sha256": data.sha256, "examples": data.T, "labels": data.m},
        "settings": vars(fitted.settings),
        "law": {
            "differences": fitted.law.whole.differences,
            "common": fitted.law.whole.common,
            "queries": fitted.law.whole.queries,
        },
        "attempts": [
            {
                "heads": attempt.heads,
                "seed": attempt.seed,
                "effective_parameters": attempt.bound,
                "parameters": attempt.fit.shape.parameters,
                "found": attempt.fit.found,
                "why": attempt.fit.why,
                "error": _finite(attempt.fit.error),
                "steps": [[_finite(s.error), _finite(s.damping)] for s in attempt.fit.steps],
                "training": _training(attempt),
            }
            for attempt in fitted.attempts
        ],
        "condition": None if near is None else _finite(near.condition),
        "heads": None if fitted.seen is None else fitted.seen.as_dict(),
        "claim": None if shown is None else shown.as_dict(),
        "limits": [claim.as_dict() for claim in fitted.limits],
    }


def _training(attempt: Attempt) -> dict[str, Any] | None:
    done, moved = attempt.training, attempt.moved
    if done is None or moved is None:
        return None
    return {
        "steps": done.steps,
        "error": _finite(done.error),
        "errors": [[step, _finite(error)] for step, error in done.errors],
        "moved": _finite(moved),
    }


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None

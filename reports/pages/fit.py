"""The report of `attncert fit`: what was shown for these labels, and how it was found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from attncert.reports.report import PageParts
from attncert.verify.fit.fitted import Attempt, Fitted
from attncert.verify.newton.certify import brief
from attncert.verify.newton.heads import SATURATED, Heads


def page_parts(fitted: Fitted) -> PageParts:
    last = fitted.attempts[-1] if fitted.attempts else None
    context = {
        "fitted": fitted,
        "last": last,
        "near": fitted.near,
        "radius": "" if fitted.near is None else brief(fitted.near.radius),
        "shares": _shares(fitted.heads),
        "threshold": SATURATED,
    }
    return PageParts("fit.md.j2", context, exhibits(fitted))


def exhibits(fitted: Fitted) -> dict[str, Any]:
    whole, near = fitted.law.whole, fitted.near
    return {
        "law": {
            "differences": whole.differences,
            "common": whole.common,
            "queries": whole.queries,
        },
        "attempts": [_attempt(attempt) for attempt in fitted.attempts],
        "condition": None if near is None else _finite(near.condition),
        "heads": None if fitted.heads is None else fitted.heads.as_dict(),
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    descent = attempt.descent
    return {
        "heads": attempt.heads,
        "seed": attempt.seed,
        "effective_parameters": attempt.bound,
        "parameters": attempt.parameters,
        "found": descent.converged,
        "why": descent.why,
        "error": _finite(descent.error),
        "steps": [_finite(error) for error in descent.steps],
    }


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


def _shares(heads: Heads | None) -> tuple[float, ...]:
    if heads is None:
        return ()
    return tuple(float(f(heads.share)) for f in (np.median, np.min, np.max))

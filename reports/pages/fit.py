"""The report of `attncert fit`: what was shown for these labels, and how it was found."""

from __future__ import annotations

import math
from typing import Any

from attncert.reports.report import PageParts
from attncert.verify.fit.fitted import Attempt, Fitted
from attncert.verify.newton.certify import brief


def page_parts(fitted: Fitted) -> PageParts:
    last = fitted.attempts[-1] if fitted.attempts else None
    context = {
        "fitted": fitted,
        "last": last,
        "near": fitted.near,
        "radius": "" if fitted.near is None else brief(fitted.near.radius),
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

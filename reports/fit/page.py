"""The report of `attncert fit`: what was shown for these labels, how it was found, and what not."""

from __future__ import annotations

from typing import Any

import numpy as np

from attncert.constructions.brief import command_line
from attncert.reports.report import FIT, Report
from attncert.reports.words.claims import lines
from attncert.reports.words.jsonable import readable_json
from attncert.reports.words.levels import WORDING
from attncert.reports.words.numbers import count
from attncert.reports.words.templating import page
from attncert.verify.certificate import TooLarge, canonical_bytes, produced_by
from attncert.verify.near.certificate import MOST_UNKNOWNS, brief, near_certificate
from attncert.verify.near.fitted import Fitted, fit_dict
from attncert.verify.near.heads import SATURATED, Heads
from attncert.verify.tightness.impossibility import tied_certificate

FORMAT = "attncert-fit/1"


def one_line(fitted: Fitted) -> str:
    """For a terminal: the claim about these labels, or why nothing was shown."""
    claim = fitted.claim
    if fitted.holds and claim is not None:
        heads = fitted.attempts[-1].heads
        return f"These labels, {count(heads, 'head')}: {claim.level.value}: {claim.statement}."
    verdict = "not tried" if fitted.beyond else fitted.level.value
    return f"These labels: {verdict}: {fitted.why}."


def command(fitted: Fitted) -> str:
    """What does it again; paths are left out."""
    asked = {name: x for name, x in vars(fitted.settings).items() if x not in ("lm", "auto")}
    return command_line("attncert fit DATA", examples=fitted.data.T, **asked)


def certificate_of(fitted: Fitted) -> tuple[dict[str, Any] | None, str]:
    """The file's content, or None and why there is none."""
    made = produced_by(command(fitted), fitted.settings.seed)
    if fitted.limits:
        return tied_certificate(fitted.data, made), ""
    if not fitted.holds or fitted.near is None:
        return None, "nothing was shown"
    unknowns = len(fitted.near.unknowns)
    if unknowns > MOST_UNKNOWNS:
        return None, f"{unknowns} unknowns, and above {MOST_UNKNOWNS} a file is no shorter way"
    try:
        return near_certificate(fitted.near, construction="fit", produced_by=made), ""
    except TooLarge as reason:
        return None, str(reason)


def report(fitted: Fitted) -> Report:
    return Report(FIT, render(fitted), fit_dict(fitted), (one_line(fitted),), fitted.exit_status)


def render(fitted: Fitted) -> dict[str, bytes]:
    """report.md, fit.json, timings.json, and certificate.json where there is one."""
    certificate, without = certificate_of(fitted)
    last, near = fitted.attempts[-1] if fitted.attempts else None, fitted.near
    level = fitted.level
    context = {
        "line": one_line(fitted),
        "fitted": fitted,
        "last": last,
        "near": near,
        "radius": "" if near is None else brief(near.radius),
        "command": command(fitted),
        "certificate": certificate is not None,
        "without": without,
        "level": level.value.capitalize(),
        "meaning": WORDING[level].meaning,
        "lines": lines(fitted.limits),
        "threshold": SATURATED,
        "shares": () if fitted.seen is None else _shares(fitted.seen),
    }
    files = {
        "report.md": page("fit.md.j2", context),
        "fit.json": readable_json({"format": FORMAT, **fit_dict(fitted)}),
        "timings.json": readable_json({"seconds": fitted.seconds}),
    }
    if certificate is not None:
        files["certificate.json"] = canonical_bytes(certificate)
    return files


def _shares(seen: Heads) -> tuple[float, float, float]:
    """The carrier's share: median, least, largest."""
    return float(np.median(seen.share)), float(seen.share.min()), float(seen.share.max())

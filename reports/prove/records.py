"""A proof as data: the exhibits of answer.json."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from attncert.reports.words.jsonable import about
from attncert.verify.certificates.certificate import canonical_bytes
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.proof import HeadSummary, Proof, Setup

MOST_NUMBERS = 50_000  # limit on the pairs of a head and an example in answer.json


def exhibits(proof: Proof, setup: Setup) -> dict[str, Any]:
    """The data, the setup, the numbers of each head, and the claims that fail or are not proved."""
    trace = proof.trace
    sizes = asdict(setup)
    del sizes["r"]  # part of the theorem
    failing = [] if proof.standing.holds else trace.pivotal(proof.conclusion)
    return {
        "data": about(proof.data),
        "setup": sizes | dict(proof.data.origin.settings),
        "groups": proof.groups,
        "heads": _heads(proof),
        "failures": [claim.id for claim in failing],
        "not_proved": {c.id: trace.standing(c.id).value for c in not_proved(proof)},
        "certificate_sha256": certificate_sha256(proof),
    }


def not_proved(proof: Answer) -> list[Claim]:
    """Every claim that is not proved, on its own or because of what it rests on."""
    return [c for c in proof.trace if proof.trace.standing(c.id) < Level.PROVED]


def worst_earlier(heads: Sequence[HeadSummary]) -> list[float | None]:
    """For each head the largest log2(1 - p_max) over examples of earlier groups, if any."""
    earlier: list[int] = []
    out: list[float | None] = []
    for head in heads:
        off_peak = np.array(head.log2_off_peak)[earlier] if earlier else None
        out.append(None if off_peak is None else float(off_peak.max()))
        earlier += head.group
    return out


def certificate_sha256(proof: Answer) -> str | None:
    """The hash of the bytes of certificate.json: sorted keys, no insignificant white space."""
    if proof.certificate is None:
        return None
    return hashlib.sha256(canonical_bytes(proof.certificate)).hexdigest()


def _heads(proof: Proof) -> list[dict[str, Any]]:
    """Each head's numbers, with rounded floats; numbers for each example only if these are few."""
    of_examples = sum(len(head.log2_off_peak) for head in proof.heads) <= MOST_NUMBERS
    out = []
    for head, worst in zip(proof.heads, worst_earlier(proof.heads), strict=True):
        numbers: dict[str, Any] = {
            "group": head.group,
            "c": head.c,
            "rate": head.rate,
            "bits": head.bits,
            "z_bits": head.z_bits,
            "worst_earlier_log2_off_peak": None if worst is None else round(worst, 3),
        }
        if of_examples:
            numbers["log2_off_peak"] = [round(x, 3) for x in head.log2_off_peak]
        out.append(numbers)
    return out

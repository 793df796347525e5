"""Small certificates of interpolation-near."""

from __future__ import annotations

from functools import cache
from typing import Any

from support.newton import data_set

from attncert.constructions.data.dataset import Dataset
from attncert.verify.fit.fitted import fit
from attncert.verify.newton.certify import near_certificate
from attncert.verify.questions.fit import Fit

Certificate = dict[str, Any]

# T, n, d, m, shared; heads, head width, value width
CASES = {
    "distinct": ((5, 3, 3, 1, False), (2, 1, 1)),
    "shared": ((5, 3, 3, 1, True), (2, 2, 1)),
    "wide labels": ((3, 3, 3, 2, False), (2, 1, 2)),
    "narrow values": ((3, 2, 4, 3, False), (3, 2, 2)),
    "one token": ((2, 1, 3, 1, False), (1, 1, 1)),
    "wide values": ((3, 2, 2, 1, False), (2, 1, 3)),
}


@cache
def _case(name: str) -> Certificate:
    sizes, layer = CASES[name]
    *lengths, shared = sizes
    return certificate(data_set(*lengths, shared=shared), *layer)


def case(name: str) -> Certificate:
    """A new copy, which a test may change."""
    import copy

    return copy.deepcopy(_case(name))


def certificate(data: Dataset, heads: int, head_width: int, value_width: int) -> Certificate:
    fitted = fit(data, Fit(heads, head_width, value_width))
    assert fitted.near is not None and fitted.holds, fitted.reason
    return near_certificate(fitted.near, construction="fit", produced_by={})

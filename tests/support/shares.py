"""Default tests run a share of a long list of cases, and slow tests run all of it."""

import os
from collections.abc import Iterable
from typing import Any

import pytest

SOME_OR_ALL = pytest.mark.parametrize(
    "every",
    [pytest.param(19, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)],
)


def random_cases(count: int) -> Any:
    """A parameter of a slow test: this number of random cases, or ATTNCERT_CASES if it is set."""
    return pytest.param(int(os.environ.get("ATTNCERT_CASES", count)), marks=pytest.mark.slow)


def share(cases: Iterable[Any], every: int) -> list[Any]:
    """Parameters for parametrize: the first of every `every` cases, with the others marked slow.

    A tuple is one case with several arguments.
    """
    spread = [case if type(case) is tuple else (case,) for case in cases]
    slow = pytest.mark.slow
    return [pytest.param(*case, marks=slow if k % every else ()) for k, case in enumerate(spread)]

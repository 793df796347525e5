"""Default tests are kept short and slow tests run in full; every trace obeys the rules.

Figures are blank unless a folder, a module or a test requests them. The number of random examples
is a fifth of the number that a test requests, and at least ten; with ATTNCERT_EXAMPLES=all, as in
`make slow`, all are run.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings
from support.requires import chromium
from support.shell import Shell
from support.trace_rules import require_all_rules

from attncert.verify.claims.proof import Proof
from attncert.verify.prove import prove
from attncert.verify.prove.run import Run
from attncert.verify.statements import registry
from attncert.verify.statements.judged import Judged

# Examples have no time limit, since the machine may be busy.
settings.register_profile("attncert", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("attncert")
EVERY_EXAMPLE = os.environ.get("ATTNCERT_EXAMPLES") == "all"


@pytest.fixture(scope="session", autouse=True)
def traces() -> Iterator[None]:
    """Every proof about a layer that a test makes obeys all rules for traces."""

    def checked(run: Run, statements: Judged) -> Proof:
        proof = of_layer(run, statements)
        require_all_rules(proof)
        return proof

    of_layer = prove._of_layer
    with patch.object(prove, "_of_layer", checked):
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """After a test, remove the constructions that it registered."""
    before = dict(registry._registered)
    yield
    registry._registered.clear()
    registry._registered.update(before)


def pytest_collection_finish() -> None:
    """Modules imported so far remain, so the garbage collector need not visit them again, nor run
    after every 700 new objects."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20)


def pytest_itemcollected(item: pytest.Item) -> None:
    test = getattr(item, "function", None)
    asked = getattr(test, "_hypothesis_internal_use_settings", None)
    if asked is not None and not EVERY_EXAMPLE and not hasattr(test, "fewer"):
        test.fewer = True  # a test is collected once for each set of parameters
        fewer = min(asked.max_examples, max(10, asked.max_examples // 5))
        test._hypothesis_internal_use_settings = settings(asked, max_examples=fewer)

"""What the machine must have: a test is skipped without it, or fails where it is required.

ATTNCERT_REQUIRE names what must be there, with commas between: coq, chromium, latex, site, cuda.
"""

from __future__ import annotations

import os

import pytest


def require(name: str, found: bool, missing: str) -> None:
    """Skip the test with one line, `missing`, unless it was `found`; fail where it is required."""
    if found:
        return
    if required(name):
        pytest.fail(missing)
    pytest.skip(missing)


def required(name: str) -> bool:
    return name in os.environ.get("ATTNCERT_REQUIRE", "").split(",")

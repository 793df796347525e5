"""What a test needs besides Python: where it is missing the test is skipped, and says so.

ATTNCERT_REQUIRE=coq,chromium,latex turns the skip into a failure for what it names.
"""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def missing(name: str, reason: str) -> NoReturn:
    """Skip the test, or fail it where `name` is required."""
    if name in os.environ.get("ATTNCERT_REQUIRE", "").split(","):
        pytest.fail(f"required: {name}; {reason}")
    pytest.skip(f"{name}: {reason}")

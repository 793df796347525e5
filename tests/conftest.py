"""For all tests: what was loaded before the first is no garbage, and is not searched for any."""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()

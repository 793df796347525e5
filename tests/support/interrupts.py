"""An interrupt from the keyboard that comes while a given function is called."""

from __future__ import annotations

import signal
from typing import Any

import pytest


def interrupt_at(patch: pytest.MonkeyPatch, place: Any, name: str) -> None:
    """SIGINT is raised whenever `place.name` is called, which then does what it did before."""
    original = getattr(place, name)

    def interrupted(*args: Any, **options: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return original(*args, **options)

    patch.setattr(place, name, interrupted)

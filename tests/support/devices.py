"""The array library of a test marked `gpu`: CuPy on a GPU, or the stand-in for CuPy."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from support import stand_in


@dataclass(frozen=True)
class Gpu:
    """cupy: CuPy or the stand-in. real: whether there is a GPU. xp: the array API namespace."""

    cupy: Any
    real: bool

    @property
    def xp(self) -> Any:
        return importlib.import_module("array_api_compat.cupy")

    def most_bytes(self, job: Callable[[], object]) -> int:
        """The most bytes of arrays held on the device while `job` runs, beyond those held
        before."""
        if not self.real:
            before = stand_in.Memory.restart()
            job()
            return stand_in.Memory.most - before
        hook = _Peak(self.cupy)
        with hook.watching():
            job()
        return hook.most


class _Peak:
    """Watches CuPy's memory pool: the most bytes in use at any allocation."""

    def __init__(self, cupy: Any) -> None:
        self.pool, self.most = cupy.get_default_memory_pool(), 0
        self.before = self.pool.used_bytes()
        base = importlib.import_module("cupy.cuda.memory_hook").MemoryHook
        peak = self

        class Hook(base):  # type: ignore
            name = "attncert"

            def malloc_postprocess(self, **_: Any) -> None:
                peak.most = max(peak.most, peak.pool.used_bytes() - peak.before)

        self.hook = Hook()

    def watching(self) -> Any:
        return self.hook

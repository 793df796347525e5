"""A stand-in for CuPy: CuPy's names, implemented in NumPy, and our kernels on the host. It is slow
and needs no GPU."""

from __future__ import annotations

import atexit
import importlib
import shutil
import sys
import tempfile
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from support.stand_in import kernels
from support.stand_in.arrays import NAMES, Device, Memory, bare, namespace, ndarray

__all__ = ["LAUNCHES", "NAME", "Memory", "bare", "installed", "load"]

NAME = "stand-in, not a GPU"
BYTES = 1 << 33  # the memory that the device claims to have
LAUNCHES: list[dict[str, Any]] = []
_COMPAT = "array_api_compat.cupy"


class RawKernel:
    """cupy.RawKernel for the panel."""

    folder: Path | None = None

    def __init__(self, source: str, name: str, options: tuple[str, ...]) -> None:
        assert name == "panel"
        values = {o.split("=")[0]: int(o.split("=")[1]) for o in options}
        self.per_thread, self.bound = values["-DPER_THREAD"], values["-DTHREADS"]
        if RawKernel.folder is None:
            RawKernel.folder = Path(tempfile.mkdtemp(prefix="attncert-kernels-"))
            atexit.register(shutil.rmtree, RawKernel.folder, ignore_errors=True)
        self.launch = kernels.build(RawKernel.folder, source, values["-DPANEL"], self.per_thread)

    def __call__(self, grid: tuple[int], block: tuple[int], arguments: Any) -> None:
        width = int(arguments[6])
        assert block[0] * self.per_thread >= width and block[0] % 32 == 0
        assert block[0] <= self.bound <= 1024
        LAUNCHES.append({"grid": grid, "block": block, "width": width})
        self.launch(grid, block, tuple(bare(argument) for argument in arguments))


class _Pool:
    def free_all_blocks(self) -> None: ...

    def free_bytes(self) -> int:
        return 0

    def used_bytes(self) -> int:
        return Memory.live


def _cupy() -> dict[str, types.ModuleType]:
    cupy, linalg, fft = (
        namespace(name, numpy)
        for name, numpy in (("cupy", np), ("cupy.linalg", np.linalg), ("cupy.fft", np.fft))
    )
    runtime = namespace("cupy.cuda.runtime", types.SimpleNamespace())
    runtime.getDeviceCount = lambda: 1
    runtime.getDevice = lambda: 0
    runtime.runtimeGetVersion = runtime.driverGetVersion = lambda: 0
    runtime.memGetInfo = lambda: (BYTES - Memory.live, BYTES)
    runtime.getDeviceProperties = lambda number: {
        "name": NAME.encode(), "major": 0, "minor": 0, "multiProcessorCount": 1,
        "totalGlobalMem": BYTES,
    }  # fmt: skip
    cublas = namespace("cupy.cuda.cublas", types.SimpleNamespace())
    cublas.CUBLAS_OP_N, cublas.CUBLAS_POINTER_MODE_HOST = 0, 0
    cublas.getPointerMode = lambda handle: 1
    cublas.setPointerMode = lambda handle, mode: None
    cublas.dgemmStridedBatched = kernels.dgemm_strided_batched
    cuda = types.ModuleType("cupy.cuda")
    cuda.runtime, cuda.cublas, cuda.Device = runtime, cublas, Device
    cuda.device = device = types.ModuleType("cupy.cuda.device")
    device.Device, device.get_cublas_handle = Device, lambda: 1
    cupy.__version__ = f"{NAMES['version']} ({NAME})"
    cupy.ndarray, cupy.linalg, cupy.fft, cupy.cuda = ndarray, linalg, fft, cuda
    cupy.fuse = lambda function: function
    cupy.RawKernel, cupy.get_default_memory_pool = RawKernel, _Pool
    modules = (cupy, linalg, fft, cuda, device)
    return {module.__name__: module for module in modules}


_MODULES: dict[str, types.ModuleType] = {}


def load() -> None:
    """Put the stand-in where `import cupy` finds it, permanently."""
    if not _MODULES:
        _MODULES.update(_cupy())
        sys.modules.update(_MODULES)
        importlib.import_module(_COMPAT)
        names = [name for name in sys.modules if name.startswith(_COMPAT)]
        _MODULES.update((name, sys.modules[name]) for name in names)
    sys.modules.update(_MODULES)


@contextmanager
def installed() -> Iterator[Any]:
    """Use the stand-in instead of CuPy until the end of the block."""
    before = {name: sys.modules.get(name) for name in ("cupy", *_MODULES)}
    load()
    try:
        yield _MODULES["cupy"]
    finally:
        for name in _MODULES:
            sys.modules.pop(name, None)
        sys.modules.update({name: module for name, module in before.items() if module})

"""The device on which an elimination runs. It is chosen once and recorded."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from attncert.constructions.errors import InputError
from attncert.verify.certificates.installed import version
from attncert.verify.questions.values import DeviceChoice

__all__ = ["Device", "DeviceChoice", "choose_device"]

DEFAULT_MEMORY = 1 << 31


@dataclass(frozen=True)
class Device:
    """A device. kind, name: the hardware. libraries: the versions of the libraries used."""

    kind: Literal["cpu", "cuda"]
    name: str
    libraries: Mapping[str, str] = field(default_factory=dict)

    @property
    def versions(self) -> Mapping[str, str]:
        return {"device": self.name, **self.libraries}

    @property
    def namespace(self) -> Any:
        """The namespace of the device's arrays: CuPy through array-api-compat, or NumPy."""
        return importlib.import_module("array_api_compat.cupy") if self.kind == "cuda" else np

    def memory(self, memory: int | None = None) -> int:
        """The budget in bytes: `memory`, or the free memory of the GPU if that is less. If `memory`
        is None, it is 2 GiB, or a quarter of the free memory of the GPU."""
        if self.kind == "cpu":
            return memory or DEFAULT_MEMORY
        cupy = _load_cupy()
        free, _ = cupy.cuda.runtime.memGetInfo()
        free += cupy.get_default_memory_pool().free_bytes()
        return min(memory or free // 4, free)


def choose_device(device: DeviceChoice = "auto") -> Device:
    """The device to compute on: "auto" prefers a usable GPU to the CPU.

    Raises InputError for "cuda" if there is no usable CUDA device.

    >>> choose_device("cpu").name
    'CPU threads'
    """
    if device != "cpu":
        missing = _why_no_cuda()
        if missing is None:
            return _cuda()
        if device == "cuda":
            raise InputError("device", "cpu or auto if no CUDA device can be used", missing)
    return Device("cpu", "CPU threads", {"numba": version("numba")})


def _why_no_cuda() -> str | None:
    """None if CuPy finds a device, otherwise the unmet requirement, for an InputError."""
    try:
        count = _load_cupy().cuda.runtime.getDeviceCount()
    except ModuleNotFoundError:
        return "cuda (CuPy is not installed)"
    except (ImportError, RuntimeError) as error:  # libraries are missing, or CUDARuntimeError
        return f"cuda ({error})"
    return None if count > 0 else "cuda (CuPy sees no device)"


def _load_cupy() -> Any:
    return importlib.import_module("cupy")


def _cuda() -> Device:
    cupy = _load_cupy()
    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.runtime.getDevice())
    runtime = str(cupy.cuda.runtime.runtimeGetVersion())
    libraries = {"cupy": cupy.__version__, "cuda_runtime": runtime}
    return Device("cuda", properties["name"].decode(), libraries)

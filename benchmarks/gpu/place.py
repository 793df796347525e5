"""The machine of a run: a GPU through CuPy, or for a dry run the tests' stand-in for it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

from machine import machine

from attncert.constructions.errors import InputError
from attncert.verify.rank.engines.devices import choose_device

ROOT = Path(__file__).resolve().parents[2]
results = ROOT / "build"  # the folder of this run's results
PACKAGES = ("numpy", "numba", "scipy", "python-flint", "torch", "cupy-cuda12x", "cupy-cuda13x")


def name_the_package() -> None:
    """Certificates name the version that made them, so a checkout that is not installed gets
    metadata with its version, in a folder that git ignores."""
    if _installed("attncert"):
        return
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    folder = ROOT / "attncert.egg-info"
    folder.mkdir(exist_ok=True)
    text = f"Metadata-Version: 2.1\nName: attncert\nVersion: {version}\n"
    (folder / "PKG-INFO").write_text(text)


def load_stand_in() -> None:
    """Make `import cupy` find the stand-in from now on in this process, for a dry run."""
    sys.path.insert(0, str(ROOT / "tests"))
    importlib.import_module("support.stand_in").load()


def missing() -> str:
    """The reason why there is no GPU to measure on, or ""."""
    try:
        choose_device("cuda")
    except InputError as error:
        return str(error)
    return ""


def has_torch() -> bool:
    return importlib.util.find_spec("torch") is not None


def description() -> dict[str, Any]:
    """A record of device, driver, CUDA, CuPy, processor, Python and packages."""
    cupy = importlib.import_module("cupy")
    runtime = cupy.cuda.runtime
    found = runtime.getDeviceProperties(runtime.getDevice())
    device = {
        "name": found["name"].decode(),
        "compute_capability": f"{found['major']}.{found['minor']}",
        "multiprocessors": found["multiProcessorCount"],
        "memory_GiB": round(found["totalGlobalMem"] / 2**30, 1),
        "driver_cuda": runtime.driverGetVersion(),
        "runtime_cuda": runtime.runtimeGetVersion(),
        "driver": _driver(),
        "cupy": cupy.__version__,
    }
    return machine(*filter(_installed, PACKAGES)) | {"device": device}


def _driver() -> str:
    """The version of the kernel module, if it states one."""
    path = Path("/proc/driver/nvidia/version")
    words = path.read_text().split() if path.exists() else []
    return next((word for word in words if word[:1].isdigit() and "." in word), "unknown")


def _installed(package: str) -> bool:
    try:
        return bool(metadata.version(package))
    except metadata.PackageNotFoundError:
        return False

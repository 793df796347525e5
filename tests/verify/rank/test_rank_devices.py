"""Which device is chosen, what is recorded, and that CuPy stays out unless asked for."""

from __future__ import annotations

import subprocess
import sys
import types

import array_api_strict
import pytest

from attncert.constructions.errors import InputError
from attncert.verify.rank.engines import devices
from attncert.verify.rank.engines.devices import choose_device
from attncert.verify.rank.modular import IndependenceTester

TABLE = [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [1.0, 3.0, 1.0]]


def test_importing_and_using_the_cpu_never_imports_cupy() -> None:
    program = (
        "import sys, attncert.verify.rank.modular as m\n"
        "m.IndependenceTester([[1, 2], [3, 4]], device='cpu').subsets([[0, 1]])\n"
        "assert 'cupy' not in sys.modules\n"
        "print('no cupy')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "no cupy\n", done.stderr


def test_cuda_without_cupy_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise ModuleNotFoundError("No module named 'cupy'")

    monkeypatch.setattr(devices, "_load_cupy", missing)
    with pytest.raises(InputError, match=r"device: must be cpu or auto .*CuPy is not installed"):
        IndependenceTester(TABLE, device="cuda").subsets([[0, 1]])


@pytest.mark.parametrize("failure", ["raises", "none"])
def test_cupy_without_a_device_is_refused_or_passed_over(
    monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    def count() -> int:
        if failure == "raises":
            raise RuntimeError("cudaErrorInsufficientDriver: too old")
        return 0

    cupy = types.ModuleType("cupy")
    cupy.cuda = types.SimpleNamespace(runtime=types.SimpleNamespace(getDeviceCount=count))
    monkeypatch.setattr(devices, "_load_cupy", lambda: cupy)
    with pytest.raises(InputError, match=r"no device|InsufficientDriver") as raised:
        choose_device("cuda")
    assert "\n" not in str(raised.value)
    assert choose_device("auto").engine == "numba"


def test_a_usable_gpu_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = types.SimpleNamespace(
        getDeviceCount=lambda: 1,
        getDevice=lambda: 0,
        getDeviceProperties=lambda index: {"name": b"Some GPU"},
        runtimeGetVersion=lambda: 13000,
    )
    cupy = types.ModuleType("cupy")
    cupy.cuda, cupy.__version__ = types.SimpleNamespace(runtime=runtime), "14.0"
    monkeypatch.setattr(devices, "_load_cupy", lambda: cupy)
    for choice in ("auto", "cuda"):
        found = choose_device(choice)
        assert (found.kind, found.engine, found.name) == ("cuda", "array", "Some GPU")
        assert found.versions["cupy"] == "14.0" and found.versions["cuda_runtime"] == "13000"
    assert choose_device("cpu").kind == "cpu"


def test_the_namespace_comes_from_the_input() -> None:
    table = array_api_strict.asarray(TABLE)
    found = choose_device("auto", table)
    assert (found.kind, found.engine, found.name) == ("cpu", "array", "array_api_strict")
    tester = IndependenceTester(table)
    assert tester.subsets([[0, 1], [0, 2]]).certified.tolist() == [True, True]
    assert tester.device == found

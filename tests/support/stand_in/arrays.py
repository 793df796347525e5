"""NumPy arrays that are as strict as CuPy's; nothing runs on a GPU.

Only names and parameters that CuPy has can be used (names.json), host and device arrays do not mix,
nothing becomes a host array except through `get`, a singular system gives NaN instead of an
exception, and new memory is filled with NaN. `Memory` counts the bytes of arrays that are alive.
"""

from __future__ import annotations

import json
import types
from pathlib import Path
from typing import Any

import numpy as np

NAMES: dict[str, Any] = json.loads((Path(__file__).parent / "names.json").read_text())
_FROM_HOST = ("asarray", "array", "ascontiguousarray", "asanyarray")


class Memory:
    """The bytes of all arrays that are alive, and their maximum since `restart`."""

    live = most = 0

    @classmethod
    def restart(cls) -> int:
        cls.most = cls.live
        return cls.live

    @classmethod
    def change(cls, count: int) -> None:
        cls.live += count
        cls.most = max(cls.most, cls.live)


class _Block:
    """Memory that one or more arrays share."""

    def __init__(self, count: int) -> None:
        self.count = count
        Memory.change(count)

    def __del__(self) -> None:
        Memory.change(-self.count)


class ndarray:  # CuPy's name
    """A NumPy array behind CuPy's interface."""

    __array_ufunc__ = None  # it does not mix with NumPy arrays

    def __init__(self, host: np.ndarray, block: _Block | None = None) -> None:
        self._host = host
        self._block = _Block(host.nbytes) if block is None else block

    def get(self) -> np.ndarray:
        return self._host.copy()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return dict(self._host.__array_interface__)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    @property
    def data(self) -> Any:
        return types.SimpleNamespace(ptr=self._host.__array_interface__["data"][0])

    @property
    def device(self) -> Any:
        return Device(0)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._host.shape

    @shape.setter
    def shape(self, new: tuple[int, ...]) -> None:
        self._host = self._host.reshape(new, copy=False)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in NAMES["ndarray"]:
            raise AttributeError(f"CuPy's arrays have no {name}")
        value = getattr(self._host, name)
        return function(name, value, None, self) if callable(value) else wrapped(value, (self,))

    def __getitem__(self, key: Any) -> Any:
        return wrapped(np.asarray(self._host[bare(key)]), (self,))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._host[bare(key)] = bare(value)

    def __len__(self) -> int:
        return len(self._host)

    def __bool__(self) -> bool:
        return bool(self._host)

    def __float__(self) -> float:
        return float(self._host)

    def __int__(self) -> int:
        return int(self._host)


def _operator(name: str) -> Any:
    def apply(self: ndarray, *others: Any) -> Any:
        if any(isinstance(other, np.ndarray) for other in others):
            raise TypeError("Unsupported type <class 'numpy.ndarray'>")
        return wrapped(getattr(self._host, name)(*map(bare, others)), (self, *others))

    return apply


_OPERATORS = (
    "abs add and eq floordiv ge gt iadd imul invert isub le lt matmul mod mul ne neg or pos pow "
    "radd rfloordiv rmod rmul rpow rshift rsub rtruediv sub truediv xor"
)
for _name in _OPERATORS.split():
    assert f"__{_name}__" in NAMES["ndarray"]
    setattr(ndarray, f"__{_name}__", _operator(f"__{_name}__"))


class Device:
    """cupy.cuda.Device."""

    def __init__(self, number: int | None = None) -> None:
        self.id = number or 0

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: Any) -> None: ...

    def synchronize(self) -> None: ...


def bare(value: Any) -> Any:
    """NumPy's view of arguments: arrays, also in lists and tuples. Host arrays are refused."""
    if isinstance(value, ndarray):
        return value._host
    if isinstance(value, np.ndarray):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    if type(value) in (list, tuple):
        return type(value)(bare(x) for x in value)
    return value


def wrapped(value: Any, parents: Any = ()) -> Any:
    """Results: arrays and NumPy's scalars, which CuPy returns as arrays without a dimension."""
    if type(value) in (list, tuple) and any(isinstance(x, np.ndarray) for x in value):
        return type(value)(wrapped(x, parents) for x in value)
    if isinstance(value, np.generic):
        value = np.asarray(value)
    if not isinstance(value, np.ndarray):
        return value
    for parent in _arrays(parents):
        if value is parent._host or _root(value) is _root(parent._host):
            return ndarray(value, parent._block)
    return ndarray(value)


def _arrays(values: Any) -> list[ndarray]:
    found = []
    for value in values:
        if isinstance(value, ndarray):
            found.append(value)
        elif type(value) in (list, tuple):
            found += _arrays(value)
    return found


def _root(host: np.ndarray) -> Any:
    while isinstance(host.base, np.ndarray):
        host = host.base
    return host


def function(name: str, target: Any, parameters: list[str] | None, *bound: ndarray) -> Any:
    """NumPy's function with CuPy's parameters."""

    def call(*values: Any, **options: Any) -> Any:
        if parameters is not None and not {"args", "kwargs"} & set(parameters):
            unknown = set(options) - set(parameters)
            if unknown or len(values) > len(parameters):
                raise TypeError(f"CuPy's {name} has no {sorted(unknown) or len(values)}")
        if name in _FROM_HOST:
            host = values[0]._host if isinstance(values[0], ndarray) else values[0]
            made = np.asarray(host, *map(bare, values[1:]), **options)
            made = made.copy() if made is host and host is not bare_or_none(values[0]) else made
            return wrapped(np.ascontiguousarray(made) if "contig" in name else made, values)
        try:
            made = target(*map(bare, values), **{k: bare(v) for k, v in options.items()})
        except np.linalg.LinAlgError:
            made = np.full_like(bare(values[-1]), np.nan)
        if name in ("empty", "empty_like") and made.dtype.kind == "f":
            made.fill(np.nan)
        return wrapped(made, (*bound, *values))

    return call


def bare_or_none(value: Any) -> Any:
    return value._host if isinstance(value, ndarray) else None


def namespace(name: str, numpy: Any) -> types.ModuleType:
    """A module with the names of a CuPy module, which call NumPy's functions."""
    names, module = NAMES[name], types.ModuleType(name)

    def missing(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"the stand-in for CuPy has this name of {name} only")

    for entry, parameters in names.items():
        value = getattr(numpy, entry, missing)
        plain = isinstance(value, (type, types.ModuleType)) or not callable(value)
        setattr(module, entry, value if plain else function(entry, value, parameters))
    module.__all__ = list(names)
    return module

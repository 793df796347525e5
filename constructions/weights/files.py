"""Files of named arrays: .npz, .safetensors and PyTorch's .pt. The names are read first, and then
the arrays that are needed.

A model's file is large and a layer is small, so only one layer is read, within limits. Floats are
read as stored, and bfloat16 as float32, which is exact.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import warnings
import zipfile
from collections.abc import Callable, Collection, Sequence
from typing import Any, BinaryIO

import numpy as np

from attncert.constructions.arrays import AnyArray
from attncert.constructions.data.archives import read_arrays
from attncert.constructions.data.conversion import on_host
from attncert.constructions.errors import InputError, extra

MAX_BYTES = 2**26  # limit for the arrays of one layer, and for a JSON file
MAX_NUMBERS = 2**24  # limit for one layer: each number becomes a rational
_STATES = ("state_dict", "model")  # keys of a checkpoint that hold its state dict

Choose = Callable[[Sequence[str]], Collection[str]]  # picks the names to read from a file


def from_npz(file: BinaryIO, source: str, choose: Choose) -> dict[str, AnyArray]:
    def check(shapes: list[tuple[int, ...]]) -> None:
        _require_small(sum(map(math.prod, shapes)), source)

    return read_arrays(file, source, lambda names: sorted(choose(names)), check, MAX_BYTES)


def from_safetensors(file: BinaryIO, source: str, choose: Choose) -> dict[str, AnyArray]:
    """Some arrays, read by the safetensors library (extra `weights`). Raises InputError."""
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:
        raise InputError(source, f"read with {extra('weights')}", "without it") from None
    try:
        path = _path(file, source)
        with safe_open(path, framework="numpy") as content:
            names = sorted(choose(list(content.keys())))
            described = {name: content.get_slice(name) for name in names}
            _require_small(sum(math.prod(x.get_shape()) for x in described.values()), source)
            brief = [name for name, one in described.items() if one.get_dtype() == "BF16"]
            return _bfloats(path, brief) | {
                name: content.get_tensor(name) for name in names if name not in brief
            }
    except (  # AttributeError, TypeError: this NumPy lacks the dtype
        SafetensorError, AttributeError, KeyError, TypeError, ValueError, MemoryError
    ) as error:  # fmt: skip
        if isinstance(error, InputError):
            raise
        must = "a .safetensors file of float16, bfloat16, float32 or float64"
        raise InputError(source, must, f"unreadable ({type(error).__name__}: {error})") from None


def _bfloats(path: str, names: Collection[str]) -> dict[str, AnyArray]:
    """Arrays of bfloat16, each number the upper half of a float32, from a validated file."""
    if not names:
        return {}
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header, arrays = json.loads(file.read(length)), {}
        for name in names:
            start, end = header[name]["data_offsets"]
            file.seek(8 + length + start)
            raw = np.frombuffer(file.read(end - start), dtype="<u2")
            wide = (raw.astype(np.uint32) << 16).view(np.float32)
            arrays[name] = wide.reshape(header[name]["shape"])
        return arrays


def from_torch_file(file: BinaryIO, source: str, choose: Choose) -> dict[str, AnyArray]:
    """Some tensors of a file, read by PyTorch; no code in it is run. Raises InputError."""
    try:
        import torch
    except ImportError:
        raise InputError(source, f"read with {extra('torch')}", "without it") from None
    must = "a .pt file of tensors only, as torch.save(module.state_dict(), ...) writes it"
    try:
        path = _path(file, source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _require_stored(path, source)
            content = torch.load(path, map_location="cpu", weights_only=True)
            tensors = _tensors(content)
            names = choose(list(tensors))
            _require_small(sum(tensors[name].numel() for name in names), source)
            return {name: of_tensor(tensors[name], name) for name in names}
    except InputError:
        raise
    except pickle.UnpicklingError as error:
        message = str(error).lower()
        code = "unsupported global" in message or "unrecognized" in message
        why = "one that contains code, which is not run" if code else "a pickle of another kind"
        raise InputError(source, must, why) from None
    except Exception as error:  # an untrusted file can make PyTorch's reader raise anything
        raise InputError(source, must, f"unreadable ({type(error).__name__})") from None


def _require_stored(path: str, source: str) -> None:
    """Refuse compressed files: PyTorch reads whole archives, and does not write compressed ones."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            size = sum(info.file_size for info in archive.infolist())
        if size > os.path.getsize(path):
            raise InputError(source, "a .pt file that is not compressed", f"of {size} bytes within")


def _tensors(content: Any) -> dict[str, Any]:
    """The tensors of a state dict by name, or of the state dict in a checkpoint."""
    if not isinstance(content, dict):
        return {}
    inner = (content[key] for key in _STATES if isinstance(content.get(key), dict))
    return {
        name: tensor
        for name, tensor in next(inner, content).items()
        if isinstance(name, str) and hasattr(tensor, "numel")
    }


def of_tensor(tensor: Any, name: str) -> AnyArray:
    """The numbers in a PyTorch tensor, on the host; bfloat16 becomes float32. Raises InputError."""
    kind = str(tensor.dtype).removeprefix("torch.")
    if kind not in ("bfloat16", "float16", "float32", "float64") or "strided" not in str(
        tensor.layout
    ):
        must = "of float16, bfloat16, float32 or float64, not sparse or quantized"
        raise InputError(name, must, kind)
    array: AnyArray = on_host(tensor, name)
    return array


def require_module(module: Any) -> None:
    """Raise InputError unless this is a PyTorch module (and not its class)."""
    if isinstance(module, type) or not hasattr(module, "state_dict"):
        raise InputError("module", "a PyTorch module", f"of type {type(module).__name__}")


def _require_small(count: int, source: str) -> None:
    if count > MAX_NUMBERS:
        raise InputError(source, f"a layer of at most {MAX_NUMBERS} numbers", count)


def _path(file: BinaryIO, source: str) -> str:
    """The path of the file, for libraries that need one. Raises InputError for standard input."""
    name = getattr(file, "name", None)
    if not isinstance(name, (str, os.PathLike)):
        raise InputError(source, "a file if it has this format", "standard input")
    return os.fspath(name)

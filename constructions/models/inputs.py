"""What a model is shown: images of a folder, passages of a text, or arrays; a few at a time.

Nothing is downloaded or drawn here. Every kind counts its inputs, hashes them, and hands out
batches of NumPy arrays under the names by which models take them.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from attncert.constructions.arrays import AnyArray, IntArray
from attncert.constructions.data.archives import read_arrays
from attncert.constructions.errors import InputError, path_errors
from attncert.constructions.models.embeddings import file_sha256

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff", ".ppm")
_MOST_TEXT = 2**28  # bytes
_MOST_STRETCHED = 100  # the longer side of an image over the shorter, which is scaled up
MISSING = "used with the extra `models` (pip install 'attncert[models]')"
_KINDS = "a folder of images, a text file, or an .npz with images or tokens"


class Inputs(Protocol):
    """count: how many. told: for the manifest, their hash among it."""

    @property
    def count(self) -> int: ...
    @property
    def told(self) -> Mapping[str, Any]: ...
    def batch(self, start: int, stop: int) -> dict[str, AnyArray]: ...


@dataclass(frozen=True)
class Pixels:
    """How a model takes images: (3, size, size), each channel less its mean over its deviation."""

    size: int
    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    deviation: tuple[float, float, float] = (0.5, 0.5, 0.5)

    def of(self, images: AnyArray) -> dict[str, AnyArray]:
        """uint8 (B, size, size, 3) as `pixel_values`."""
        scaled = images.astype(np.float32) / np.float32(255)
        with np.errstate(all="ignore"):  # anybody's means: what is not finite is refused as states
            scaled -= np.array(self.mean, dtype=np.float32)
            scaled /= np.array(self.deviation, dtype=np.float32)
        return {"pixel_values": np.ascontiguousarray(scaled.transpose(0, 3, 1, 2))}


@dataclass(frozen=True)
class Folder:
    """The images of a folder in the order of their names: the shorter side scaled, the middle."""

    files: tuple[Path, ...]
    pixels: Pixels

    @classmethod
    def of(cls, folder: Path, pixels: Pixels) -> Folder:
        with path_errors(str(folder), _KINDS, folder):
            files = sorted(p for p in folder.iterdir() if p.suffix.lower() in SUFFIXES)
            other = [path.name for path in files if not path.is_file()]  # a pipe would block
        if not files:
            raise InputError(str(folder), f"a folder with images ({', '.join(SUFFIXES)})", "empty")
        if other:
            raise InputError(other[0], "a file, as its name says", "something else")
        return cls(tuple(files), pixels)

    @property
    def count(self) -> int:
        return len(self.files)

    @property
    def told(self) -> Mapping[str, Any]:
        digest = hashlib.sha256()
        for path in self.files:
            digest.update(bytes.fromhex(file_sha256(path)))
        return {"kind": "images", "count": self.count, "sha256": digest.hexdigest()}

    def batch(self, start: int, stop: int) -> dict[str, AnyArray]:
        return self.pixels.of(np.stack([self._image(path) for path in self.files[start:stop]]))

    def _image(self, path: Path) -> AnyArray:
        from PIL import Image

        size = self.pixels.size
        try:
            with warnings.catch_warnings(), Image.open(path) as stored:
                warnings.simplefilter("error", Image.DecompressionBombWarning)
                image = stored.convert("RGB")
                scale = size / min(image.size)
                if scale * max(image.size) > _MOST_STRETCHED * size:
                    raise ValueError(f"one side over {_MOST_STRETCHED} times the other")
                width, height = (max(size, round(side * scale)) for side in image.size)
                image = image.resize((width, height), Image.Resampling.BICUBIC)
                left, top = (width - size) // 2, (height - size) // 2
                return np.asarray(image.crop((left, top, left + size, top + size)))
        except Exception as error:  # whatever a file made by anyone leads the library to
            raise InputError(path.name, "an image", f"unreadable ({error})") from None


@dataclass(frozen=True)
class Passages:
    """A text, cut into passages of equal length: special tokens around words of the text.

    ids: of the whole text. starts: where each passage begins in it. before, after: special tokens.
    """

    ids: IntArray
    starts: IntArray
    before: tuple[int, ...]
    after: tuple[int, ...]
    body: int
    source: Mapping[str, Any]

    @classmethod
    def of(cls, path: Path, tokenizer: str, length: int, count: int | None) -> Passages:
        """length: of a passage, special tokens among it. count: None for all that do not overlap;
        else so many, evenly spread, which overlap where the text is shorter than all of them."""
        with path_errors(str(path), _KINDS, path):
            if path.stat().st_size > _MOST_TEXT:
                raise InputError(str(path), f"a text of at most {_MOST_TEXT} bytes", "longer")
            content = path.read_bytes()
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(str(path), "a text in UTF-8", f"bytes with {error.reason}") from None
        tool, told = _tokenizer(tokenizer)
        try:
            ids = np.array(tool.encode(text, add_special_tokens=False).ids, dtype=np.int64)
            before, after = _special(tool)
        except Exception as error:  # tokenizers raises nothing narrower
            must = "a tokenizer that takes this text"
            raise InputError("--tokenizer", must, f"{tokenizer} ({error})") from None
        body = length - len(before) - len(after)
        if body < 1:
            raise InputError("--length", f"over {length - body} tokens", length)
        if len(ids) < body:
            raise InputError(str(path), f"a text of at least {body} tokens", f"of {len(ids)}")
        starts = _starts(len(ids), body, count)
        step = int(np.diff(starts).min()) if len(starts) > 1 else body
        source = {
            "kind": "text", "sha256": hashlib.sha256(content).hexdigest(), "tokens": len(ids),
            "length": length, "count": len(starts), "overlap": max(0, body - step),
            "tokenizer": told,
        }  # fmt: skip
        return cls(ids, starts, before, after, body, source)

    @property
    def count(self) -> int:
        return len(self.starts)

    @property
    def told(self) -> Mapping[str, Any]:
        return self.source

    def batch(self, start: int, stop: int) -> dict[str, AnyArray]:
        rows = [
            [*self.before, *self.ids[at : at + self.body].tolist(), *self.after]
            for at in self.starts[start:stop].tolist()
        ]
        return {"input_ids": np.array(rows, dtype=np.int64)}


def _starts(total: int, body: int, count: int | None) -> IntArray:
    """
    >>> _starts(10, 4, None).tolist(), _starts(10, 4, 3).tolist(), _starts(10, 4, 4).tolist()
    ([0, 4], [0, 3, 6], [0, 2, 4, 6])
    """
    if count is None:
        return np.arange(total // body, dtype=np.int64) * body
    room = total - body
    if count > room + 1:
        raise InputError("--count", f"at most {room + 1}, the passages of this text", count)
    return np.arange(count, dtype=np.int64) * room // max(1, count - 1)


@dataclass(frozen=True)
class Arrays:
    """images: uint8 (N, size, size, 3); tokens: (N, length), integers."""

    kind: str
    values: AnyArray
    pixels: Pixels | None

    @classmethod
    def of(cls, path: Path, pixels: Pixels | None) -> Arrays:
        key = "tokens" if pixels is None else "images"

        def choose(keys: list[str]) -> tuple[str, ...]:
            if keys.count(key) != 1:
                got = ", ".join(repr(name[:40]) for name in sorted(keys)[:8]) or "nothing"
                raise InputError(str(path), f"made of {key}, as this model takes them", f"of {got}")
            return (key,)

        def check(shapes: list[tuple[int, ...]]) -> None:
            shape = shapes[0]
            if pixels is None and (len(shape) != 2 or 0 in shape):
                raise InputError("tokens", "of shape (N, length)", shape)
            if pixels is not None and (shape[1:] != (pixels.size, pixels.size, 3) or not shape[0]):
                raise InputError("images", f"of shape (N, {pixels.size}, {pixels.size}, 3)", shape)

        with path_errors(str(path), _KINDS, path), path.open("rb") as file:
            (values,) = read_arrays(file, str(path), choose, check).values()
        wanted = "iu" if pixels is None else "u"
        if values.dtype.kind not in wanted or (pixels is not None and values.dtype != np.uint8):
            raise InputError(key, "integers" if pixels is None else "uint8", values.dtype)
        return cls(key, values, pixels)

    @property
    def count(self) -> int:
        return len(self.values)

    @property
    def told(self) -> Mapping[str, Any]:
        digest = hashlib.sha256(f"{self.values.dtype.str} {self.values.shape} ".encode())
        digest.update(np.ascontiguousarray(self.values).tobytes())
        return {"kind": self.kind, "count": self.count, "sha256": digest.hexdigest()}

    def batch(self, start: int, stop: int) -> dict[str, AnyArray]:
        part = self.values[start:stop]
        return {"input_ids": part.astype(np.int64)} if self.pixels is None else self.pixels.of(part)


@dataclass(frozen=True)
class First:
    """The first `count` of some inputs."""

    inputs: Inputs
    count: int

    @property
    def told(self) -> Mapping[str, Any]:
        return {**self.inputs.told, "count": self.count}

    def batch(self, start: int, stop: int) -> dict[str, AnyArray]:
        return self.inputs.batch(start, stop)


def open_inputs(
    source: str,
    *,
    pixels: Pixels | None,
    tokenizer: str,
    length: int | None,
    longest: int | None,
    count: int | None,
) -> Inputs:
    """What `source` is: a folder of images, an .npz, or else a text.

    pixels: how the model takes images; None for a model of tokens. tokenizer, length: for a text;
    longest: tokens that the model takes. count: so many inputs alone. Raises InputError.
    """
    path = Path(source)
    if count is not None and count < 1:
        raise InputError("--count", "a positive whole number", count)
    with path_errors(source, _KINDS, path):
        exists, folder, file = path.exists(), path.is_dir(), path.is_file()
    if not folder and not file:  # a pipe would block, a device never end
        raise InputError(source or "''", _KINDS, "a pipe or device" if exists else "missing")
    if folder != (pixels is not None) and path.suffix.lower() != ".npz":
        takes = "tokens: a text file" if pixels is None else "images: a folder of them"
        raise InputError(source, f"what this model takes, {takes}, or an .npz", "another kind")
    found: Inputs
    if folder and pixels is not None:
        found = Folder.of(path, pixels)
    elif path.suffix.lower() == ".npz":
        found = Arrays.of(path, pixels)
    else:
        wanted = longest if length is None else length
        if wanted is None:
            raise InputError("--length", "given for this model", "missing")
        return Passages.of(path, tokenizer, wanted, count)
    if length is not None:
        raise InputError("--length", "left out, except with a text", length)
    if count is not None and count > found.count:
        raise InputError("--count", f"at most {found.count}, the inputs there are", count)
    return found if count is None else First(found, count)


def _tokenizer(source: str) -> tuple[Any, Mapping[str, str]]:
    """A tokenizer from a tokenizer.json, a folder with one, or the Hugging Face hub."""
    try:
        import tokenizers
    except ImportError:
        raise InputError("text", MISSING, "without it") from None
    path = Path(source)
    path = path / "tokenizer.json" if path.is_dir() else path
    try:
        if path.is_file():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            return _whole(tokenizers.Tokenizer.from_file(os.fspath(path))), {"sha256": digest}
        tool = _whole(tokenizers.Tokenizer.from_pretrained(source))
    except Exception as error:  # tokenizers raises nothing narrower
        must = "a tokenizer.json, a folder with one, or a tokenizer of the hub that is in reach"
        raise InputError("--tokenizer", must, f"{source} ({error})") from None
    return tool, {"name": source, "sha256": hashlib.sha256(tool.to_str().encode()).hexdigest()}


def _whole(tool: Any) -> Any:
    """Which takes a text as it is: a stored tokenizer may cut or fill it."""
    tool.no_truncation()
    tool.no_padding()
    return tool


def _special(tool: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Tokens that the tokenizer puts before and after a text."""
    whole, bare = (tool.encode("a", add_special_tokens=x).ids for x in (True, False))
    for at in range(len(whole) - len(bare) + 1):
        if whole[at : at + len(bare)] == bare:
            return tuple(whole[:at]), tuple(whole[at + len(bare) :])
    return (), ()

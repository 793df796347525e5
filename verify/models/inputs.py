"""What a model is shown: images of a folder, passages of a text, or arrays; a few at a time.

The model's image processor and tokenizer, as transformers has them, make numbers of these.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from attncert.constructions.arrays import AnyArray, IntArray
from attncert.constructions.errors import InputError, path_errors
from attncert.verify.assume.embeddings import file_sha256, require_file
from attncert.verify.models.network import bare, foreign, libraries, settings_sha256
from attncert.verify.questions.embed import Embed

_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff", ".ppm")
_KINDS = "a folder of images, a text file, or an .npy of images or tokens"
Batch = Mapping[str, AnyArray]


@dataclass(frozen=True)
class Inputs:
    """count: how many. batch(start, stop): arrays under the names by which models take them.
    provenance: for the manifest, their hash among it."""

    count: int
    batch: Callable[[int, int], Batch]
    provenance: Mapping[str, Any]


def open_inputs(source: str, model: str, config: Any, options: Embed) -> Inputs:
    """What `source` is: a folder of images, an .npy, or else a text; as the model takes it. Raises
    InputError."""
    path, count = Path(source), options.count
    with path_errors(source, _KINDS, path):
        if path.is_dir():
            inputs = _folder(path, model, config)
        elif path.suffix.lower() == ".npy":
            inputs = _array(path, model, config)
        else:
            return _text(path, model, config, options)
    if options.length is not None:
        raise InputError("length", "left out, except with a text", options.length)
    if count is not None and count > inputs.count:
        raise InputError("count", f"at most {inputs.count}, the inputs there are", count)
    return inputs if count is None else replace(inputs, count=count)


def spread(inputs: int, count: int) -> list[int]:
    """So many of the inputs, evenly; all where there are no more.

    >>> spread(10, 3), spread(2, 9), spread(5, 0)
    ([0, 3, 6], [0, 1], [])
    """
    count = min(count, inputs)
    return [i * inputs // count for i in range(count)]


def _folder(folder: Path, model: str, config: Any) -> Inputs:
    """In the order of their names."""
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in _SUFFIXES)
    if not files:
        raise InputError(str(folder), f"a folder with images ({', '.join(_SUFFIXES)})", "another")
    digests = "".join(file_sha256(path) for path in files)

    def image(k: int) -> Any:
        from PIL import Image

        with foreign("an image", files[k].name), Image.open(files[k]) as stored:
            if max(stored.size) > 100 * min(stored.size):  # scaled up it may take gigabytes
                raise ValueError("one side over 100 times the other")
            return stored.convert("RGB")

    return _images(len(files), image, hashlib.sha256(digests.encode()).hexdigest(), model, config)


def _array(path: Path, model: str, config: Any) -> Inputs:
    """images: uint8 (N, height, width, 3); tokens: (N, n), integers. Read as they are needed."""
    must = "an array of tokens, integers (N, n), or of images, uint8 (N, height, width, 3)"
    require_file(path)
    with foreign(must, path.name):
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    if array.size and array.ndim == 2 and array.dtype.kind in "iu":
        return _tokens(array.astype(np.int64), {"inputs": "tokens"})
    if not array.size or array.ndim != 4 or array.shape[3] != 3 or array.dtype != np.uint8:
        raise InputError(path.name, must, f"of {array.dtype} {array.shape}")

    def image(k: int) -> Any:
        from PIL import Image

        return Image.fromarray(array[k])

    return _images(len(array), image, file_sha256(path), model, config)


def _images(
    count: int, image: Callable[[int], Any], digest: str, model: str, config: Any
) -> Inputs:
    """A model without a processor takes them as ViT does: scaled to its size."""
    _, transformers = libraries()
    stored = (Path(model) / "preprocessor_config.json").exists()
    with foreign("one that takes images"):
        if stored or not (os.path.isdir(model) or bare(model, random=True)):
            kind = transformers.AutoImageProcessor
            processor = kind.from_pretrained(model, trust_remote_code=False)
        else:
            size = {"height": config.image_size, "width": config.image_size}
            processor = transformers.ViTImageProcessor(size=size)
        if re.search(r'(?:height|width|edge)": \d{5}', processor.to_json_string()):
            raise InputError("MODEL", "one that takes images of less than 10,000 pixels", model)

    def batch(start: int, stop: int) -> Batch:
        images = [image(k) for k in range(start, stop)]
        with foreign("one whose image processor takes these images"):
            return dict(processor(images, return_tensors="np"))

    hashes = {"inputs sha256": digest, "processor sha256": settings_sha256(processor)}
    return Inputs(count, batch, {"inputs": "images", **hashes})


def _tokens(ids: IntArray, provenance: Mapping[str, Any]) -> Inputs:
    """ids (N, n), one row for each input."""
    digest = hashlib.sha256(f"{ids.shape} ".encode() + ids.tobytes()).hexdigest()
    provenance = {**provenance, "tokens sha256": digest}
    return Inputs(len(ids), lambda start, stop: {"input_ids": ids[start:stop]}, provenance)


def _text(path: Path, model: str, config: Any, options: Embed) -> Inputs:
    """Cut into passages of `length` tokens, special ones around words of the text. count: None for
    all that do not overlap; else so many, evenly spread, which overlap where they must."""
    require_file(path)
    if not options.tokenizer and bare(model, options.random):
        raise InputError("tokenizer", "given for this model and a text", "left out")
    length = options.length or getattr(config, "max_position_embeddings", None)
    if length is None:
        raise InputError("length", "given for this model", "left out")
    content, count = path.read_bytes(), options.count
    with foreign("a text in UTF-8", "INPUTS"):
        text = content.decode()
    with foreign("a tokenizer that takes this text", "tokenizer"):
        tool = _tokenizer(options.tokenizer or model)
        words = len(tool(text, add_special_tokens=False)["input_ids"])
        body = length - tool.num_special_tokens_to_add()
        if not 0 < body <= words:
            must = f"over {length - body} tokens, and at most {words + length - body}, of this text"
            raise InputError("length", must, length)
        room, others = words - body, (count or 1) - 1
        if others > room:
            raise InputError("count", f"at most {room + 1}, the passages of this text", count)
        step = min(body, room // others) if others else body
        cut = tool(
            text, truncation=True, max_length=length, stride=body - step,
            return_overflowing_tokens=True,
        )  # fmt: skip
    ids = np.array([row for row in cut["input_ids"] if len(row) == length], dtype=np.int64)
    facts = {"text sha256": hashlib.sha256(content).hexdigest(), "overlap": body - step}
    return _tokens(ids[spread(len(ids), count or len(ids))], {"inputs": "text", **facts})


def _tokenizer(source: str) -> Any:
    """Of a tokenizer.json, a folder with one, or the hub. (Of a folder without one transformers
    would make one up.)"""
    _, transformers = libraries()
    path = Path(source)
    if path.exists():
        file = path / "tokenizer.json" if path.is_dir() else path
        return transformers.PreTrainedTokenizerFast(tokenizer_file=str(file))
    return transformers.AutoTokenizer.from_pretrained(source, trust_remote_code=False)

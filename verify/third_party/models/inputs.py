"""The inputs of a model, a few at a time: images in a folder, passages of a text, or tokens.

The model's own image processor or tokenizer, from transformers, converts them to numbers.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attncert.constructions.arrays import AnyArray, IntArray
from attncert.constructions.errors import InputError, no_such_file, path_errors
from attncert.verify.questions.embed import Embed
from attncert.verify.third_party.assume.embeddings import file_sha256, require_file
from attncert.verify.third_party.models.network import foreign, libraries, settings_sha256

_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff", ".ppm")


@dataclass(frozen=True)
class Inputs:
    """Inputs of a model. count: the number of inputs. batch(start, stop): arrays by the names of
    the model's parameters. provenance: what the manifest states about the inputs, with their
    hash."""

    count: int
    batch: Callable[[int, int], Mapping[str, AnyArray]]
    provenance: Mapping[str, Any]


def open_inputs(source: str, model: str, options: Embed) -> Inputs:
    """Open a folder of images, an .npy file of tokens, or a text file. Raises InputError."""
    path = Path(source)
    array = path.suffix.lower() == ".npy"
    if options.length is not None and (array or path.is_dir()):
        raise InputError("length", "left out, except with a text", options.length)
    must = "a folder of images, a text file, or an .npy of tokens"
    if not path.exists():
        raise no_such_file(source, must)
    with path_errors(source, must, path):
        if path.is_dir():
            return _images(path, model)
        require_file(path)
        ids = _tokens(path) if array else _passages(path, model, options.length)
    digest = hashlib.sha256(f"{ids.shape} ".encode() + ids.tobytes()).hexdigest()
    provenance = {"inputs": "tokens" if array else "text", "tokens sha256": digest}
    return Inputs(len(ids), lambda start, stop: {"input_ids": ids[start:stop]}, provenance)


def _images(folder: Path, model: str) -> Inputs:
    """The images in a folder, in the order of their names."""
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in _SUFFIXES)
    if not files:
        raise InputError(str(folder), f"a folder with images ({', '.join(_SUFFIXES)})", "another")
    digests = "".join(file_sha256(path) for path in files)
    _, transformers = libraries()
    with foreign("one that takes images"):
        processor = transformers.AutoImageProcessor.from_pretrained(model, trust_remote_code=False)
        if re.search(r'(?:height|width|edge)": \d{5}', processor.to_json_string()):
            raise InputError("MODEL", "one that takes images of fewer than 10,000 pixels", model)

    def batch(start: int, stop: int) -> dict[str, AnyArray]:
        images = [_image(path) for path in files[start:stop]]
        with foreign("one whose image processor takes these images"):
            return dict(processor(images, return_tensors="np"))

    provenance = {
        "inputs": "images",
        "inputs sha256": hashlib.sha256(digests.encode()).hexdigest(),
        "processor sha256": settings_sha256(processor),
    }
    return Inputs(len(files), batch, provenance)


def _image(path: Path) -> Any:
    from transformers.image_utils import load_image

    with foreign("an image", path.name):
        image = load_image(str(path))
        if max(image.size) > 100 * min(image.size):  # when scaled up, it may take gigabytes
            raise ValueError("one side over 100 times the other")
        return image


def _tokens(path: Path) -> IntArray:
    """The tokens in an .npy file, (N, n)."""
    must = "an array of tokens, integers (N, n)"
    with foreign(must, path.name):
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    if not array.size or array.ndim != 2 or array.dtype.kind not in "iu":
        raise InputError(path.name, must, f"of {array.dtype} {array.shape}")
    return array.astype(np.int64)


def _passages(path: Path, model: str, length: int | None) -> IntArray:
    """The passages of a text, (N, length), with the model's special tokens around each."""
    _, transformers = libraries()
    if length is None:
        raise InputError("length", "given for a text", "left out")
    content = path.read_bytes()
    with foreign("a text in UTF-8", "INPUTS"):
        text = content.decode()
    with foreign("one with a tokenizer.json that takes this text"):
        tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(model)
        least = tokenizer.num_special_tokens_to_add() + 1
        if length < least:
            raise InputError("length", f"at least {least}, for a token of the text", length)
        passages = tokenizer(
            text, truncation=True, max_length=length, return_overflowing_tokens=True
        )["input_ids"]
    whole = [passage for passage in passages if len(passage) == length]
    if not whole:
        raise InputError("length", f"at most {len(passages[0])}, the tokens of this text", length)
    return np.array(whole, dtype=np.int64)

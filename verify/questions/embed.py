"""The options of `attncert embed`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attncert.verify.questions.question import Options, option
from attncert.verify.questions.values import SEED, SWITCH, one_of, whole

_COUNT = 10**6


@dataclass(frozen=True)
class Embed(Options):
    """Write the queries of all INPUTS, and contexts of some, at one layer of MODEL."""

    command = "embed"
    example = "attncert embed gpt2 text.txt --length 128 --out states"
    parameters = ("model", "inputs")
    model: ClassVar[str] = "name on the Hugging Face hub, or a local folder"
    inputs: ClassVar[str] = "folder of images, text file, or .npy of tokens"
    folder = "folder for the embeddings"
    needs_folder = True

    layer: int | None = option(
        None, whole(0, 10**4), "states after so many layers, 0: raw; default: 1 (of one layer: 0)"
    )
    query: str | None = option(
        None, one_of("first", "last"), "first | last; default: last of a GPT, else first (CLS)"
    )
    random: bool = option(False, SWITCH, "random weights, of a configuration alone")
    contexts: int = option(200, whole(0, _COUNT), "most contexts that are kept, evenly spread")
    length: int | None = option(None, whole(1, _COUNT), "tokens of a passage, for a text")
    batch: int = option(32, whole(1, _COUNT), "inputs at a time, and in a shard")
    dtype: str = option(
        "float32", one_of("float32", "float64"), "the model's arithmetic: float32 | float64"
    )
    memory: int = option(4096, whole(1, 2**31), "MiB that the weights may take")
    seed: int = option(0, SEED, "random seed of the weights")

"""The options of `attncert embed`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attncert.verify.questions.question import Options, option
from attncert.verify.questions.values import SEED, SWITCH, one_of, whole

_COUNT = 10**6


@dataclass(frozen=True)
class Embed(Options):
    """Write the queries of all INPUTS and the contexts of some, at one layer of MODEL."""

    command = "embed"
    example = "attncert embed gpt2 text.txt --length 128 --out states"
    parameters = ("model", "inputs")
    model: ClassVar[str] = "name on the Hugging Face hub, or a local folder"
    inputs: ClassVar[str] = "folder of images, text file, or .npy of tokens"
    folder = "folder for the embeddings"
    needs_folder = True

    layer: int | None = option(
        None,
        whole(0, 10**4),
        "states after this many layers (0: raw); default: 1, or 0 if there is one layer",
    )
    query: str | None = option(
        None,
        one_of("first", "last"),
        "query token: first | last; default: last for a GPT, else first",
    )
    random: bool = option(False, SWITCH, "draw random weights for the model's configuration")
    contexts: int = option(
        200, whole(0, _COUNT), "maximum number of contexts to keep, evenly spread"
    )
    length: int | None = option(None, whole(1, _COUNT), "number of tokens in a passage of text")
    batch: int = option(32, whole(1, _COUNT), "number of inputs in a batch and in a shard")
    dtype: str = option(
        "float32", one_of("float32", "float64"), "arithmetic of the model: float32 | float64"
    )
    memory: int = option(4096, whole(1, 2**31), "maximum memory for the weights, in MiB")
    seed: int = option(0, SEED, "random seed of the weights")

"""Writes the inputs of one layer of a Hugging Face model to a file, for `attncert assume`.

    python examples/embed_model.py MODEL INPUTS FILE

MODEL is a name on the hub, or a local folder with safetensors files; no code from a model is run.
INPUTS is a folder of images, which the model's own processor turns into numbers; an .npy file of
tokens (N, n); or a UTF-8 text file, which the model's own tokenizer cuts into passages of --length
tokens. The states that enter block k + 1 are hidden_states[k]. Needs the extra `models`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

Batch = Callable[[int, int], dict[str, Any]]  # the inputs from one index up to another


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("inputs", type=Path)
    parser.add_argument("file", type=Path, help="an .npz")
    parser.add_argument("--layer", type=int, default=1, help="0: raw embeddings")
    parser.add_argument("--query", choices=("first", "last"), help="last for a GPT, else first")
    parser.add_argument("--contexts", type=int, default=200, help="the contexts to keep")
    parser.add_argument("--length", type=int, help="tokens in a passage of text")
    parser.add_argument("--batch", type=int, default=32, help="inputs run together")
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32")
    parser.add_argument("--random", action="store_true", help="draw the weights at random")
    write(parser.parse_args())


def write(options: argparse.Namespace) -> None:
    """Write the queries of all inputs, and the contexts and indices of the inputs that are kept."""
    model = loaded(options.model, options.random).to(getattr(torch, options.dtype)).eval()
    count, batch = read(options.inputs, options.model, options.length)
    query = options.query or ("last" if model.config.model_type.startswith("gpt") else "first")
    if not 0 <= options.layer < model.config.num_hidden_layers:
        raise SystemExit(f"--layer must be from 0 to {model.config.num_hidden_layers - 1}.")
    number = min(options.contexts, count)
    kept = np.arange(number) * count // max(1, number)  # evenly spread
    queries, contexts = list[np.ndarray](), list[np.ndarray]()
    for start in range(0, count, options.batch):
        states = states_of(model, batch(start, start + options.batch), options.layer)
        queries.append(states[:, 0 if query == "first" else -1])
        contexts.append(states[kept[(start <= kept) & (kept < start + len(states))] - start])
    arrays = {"queries": np.concatenate(queries), "contexts": np.concatenate(contexts)}
    np.savez(options.file, **arrays, kept=kept)


def loaded(name: str, random: bool) -> Any:
    """The model. Weights missing from the files are set to NaN, so that no state can depend on
    them unnoticed."""
    if random:
        torch.manual_seed(0)
        config = transformers.AutoConfig.from_pretrained(name, trust_remote_code=False)
        return transformers.AutoModel.from_config(config, trust_remote_code=False)
    model, loading = transformers.AutoModel.from_pretrained(
        name, dtype=torch.float32, use_safetensors=True, trust_remote_code=False,
        output_loading_info=True,
    )  # fmt: skip
    for key, tensor in model.state_dict().items():
        if key in loading["missing_keys"] and tensor.is_floating_point():
            tensor.fill_(np.nan)
    return model


def states_of(model: Any, inputs: dict[str, Any], layer: int) -> np.ndarray:
    """The states (B, n, d) that enter block `layer` + 1."""
    tensors = {key: torch.as_tensor(x) for key, x in inputs.items()}
    if "pixel_values" in tensors:
        tensors["pixel_values"] = tensors["pixel_values"].to(model.dtype)
    with torch.inference_mode():
        states = model(**tensors, output_hidden_states=True).hidden_states[layer].numpy()
    if not np.isfinite(states).all():
        raise SystemExit("The files lack a weight on which these states depend.")
    return np.asarray(states)


def read(inputs: Path, model: str, length: int | None) -> tuple[int, Batch]:
    """The number of inputs, and a function that returns a range of them."""
    if inputs.is_dir():
        processor = transformers.AutoImageProcessor.from_pretrained(model, trust_remote_code=False)
        paths = [str(path) for path in sorted(inputs.iterdir())]

        def images(start: int, stop: int) -> dict[str, Any]:
            some = [transformers.image_utils.load_image(path) for path in paths[start:stop]]
            return dict(processor(some, return_tensors="np"))

        return len(paths), images
    if inputs.suffix == ".npy":
        tokens = np.load(inputs, allow_pickle=False).astype(np.int64)
    else:
        tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(model)
        passages = tokenizer(
            inputs.read_text(), truncation=True, max_length=length, return_overflowing_tokens=True
        )["input_ids"]
        tokens = np.array([passage for passage in passages if len(passage) == length])
    return len(tokens), lambda start, stop: {"input_ids": tokens[start:stop]}


if __name__ == "__main__":
    main()

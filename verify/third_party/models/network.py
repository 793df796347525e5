"""The states that enter a layer of a Hugging Face model, which transformers builds, loads and runs.

`hidden_states[k]` enters block k + 1. Later blocks do not affect it and are removed before the run.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from attncert.constructions.arrays import AnyArray
from attncert.constructions.errors import InputError, extra
from attncert.verify.questions.embed import Embed

_LARGE_COUNT = re.compile(r'label\w*": \d{6}|(?:layers?|depths?|experts)": \[?(?:\d+, )*\d{5}')
_KERNEL = re.compile(r'implementation": "[^"]*/')


@dataclass(frozen=True, eq=False)
class Network:
    """A model on the CPU, in the arithmetic of its weights, and the number k of a layer. absent:
    the weights that no file contains; they are set to NaN.
    """

    model: Any
    layer: int
    provenance: Mapping[str, Any]
    absent: tuple[str, ...] = ()

    def states(self, batch: Mapping[str, AnyArray]) -> AnyArray:
        """The states (B, n, d) that enter block k + 1. Raises InputError if the model has no such
        states on these inputs."""
        torch, _ = libraries()
        tensors = {key: torch.from_numpy(array) for key, array in batch.items()}
        kind = self.model.dtype
        inputs = {k: x.to(kind) if x.is_floating_point() else x for k, x in tensors.items()}
        must = f"one that turns such {' and '.join(batch)} to states"
        with torch.inference_mode(), foreign(must):
            outputs = self.model(**inputs, output_hidden_states=True)
            states: AnyArray = outputs.hidden_states[self.layer].numpy()
        if states.ndim != 3 or states.shape[2] != self.model.config.hidden_size:
            raise InputError("MODEL", "one with a state of its width for each token", states.shape)
        if not np.isfinite(states).all():
            must = "one with finite states, whose files hold all weights that these depend on"
            raise InputError("MODEL", must, f"one without {', '.join(self.absent) or 'them'}")
        return states


def build(name: str, options: Embed) -> Network:
    """Load a model from a local folder or the hub, up to the block that the states enter. No code
    of the model is run. Raises InputError."""
    torch, transformers = libraries()
    config = _configuration(name)
    most = config.num_hidden_layers - 1  # the states enter a layer, so one layer remains above
    layer = min(1, most) if options.layer is None else options.layer
    if layer > most:
        must = f"from 0 to {most}, below a layer of this model"
        raise InputError("layer", must, layer)
    make = partial(transformers.AutoModel.from_config, config, trust_remote_code=False)
    with foreign("one that its configuration describes"):
        with torch.device("meta"):
            numbers = sum(x.numel() for x in make().parameters())
        need = -(-numbers * (4 if options.dtype == "float32" else 8) // 2**20)
        if need > options.memory:
            must = f"at least {need} MiB, what these weights take"
            raise InputError("memory", must, f"{options.memory} MiB")
        torch.manual_seed(options.seed)
        model, absent = (make(), ()) if options.random else _stored(name, config)
    provenance = {
        "model": Path(name).name if os.path.isdir(name) else name,
        "configuration sha256": settings_sha256(config),
        "weights": f"random, seed {options.seed}" if options.random else "stored",
        "weights sha256": _tensors_sha256(model),
        "arithmetic": options.dtype,
        "torch": str(torch.__version__),
        "transformers": transformers.__version__,
    }
    for module in model.modules():  # the first list of this length contains the blocks
        if isinstance(module, torch.nn.ModuleList) and len(module) == config.num_hidden_layers:
            del module[layer + 1 :]
            break
    return Network(model.eval().to(getattr(torch, options.dtype)), layer, provenance, absent)


def libraries() -> tuple[Any, Any]:
    """torch and transformers, imported only here. Raises InputError if they are missing."""
    try:
        import torch
        import transformers
    except ImportError:
        raise InputError("attncert embed", f"used with {extra('models')}", "without it") from None
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return torch, transformers


@contextmanager
def foreign(must: str, argument: str = "MODEL") -> Iterator[None]:
    """A context manager that turns any exception of the libraries into an InputError."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise InputError(argument, must, f"another ({type(error).__name__}: {error})") from None


def settings_sha256(config: Any) -> str:
    """The SHA-256 of all settings of a model or an image processor, except its path."""
    settings = {**config.to_dict(), "_name_or_path": ""}
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()


def _configuration(name: str) -> Any:
    """The configuration. Raises InputError if it would run code or fill the memory."""
    _, transformers = libraries()
    with foreign("one of the Hugging Face hub, or a folder with a config.json of a model"):
        stored = json.dumps(transformers.PretrainedConfig.get_config_dict(name)[0], default=str)
        if _LARGE_COUNT.search(stored):  # transformers creates lists of this length
            raise InputError("MODEL", "one of fewer than 10,000 layers and 100,000 labels", name)
        if _KERNEL.search(stored):  # transformers would download and run its code
            raise InputError("MODEL", "one that names no attention code on a hub", name)
        config = transformers.AutoConfig.from_pretrained(name, trust_remote_code=False)
        if config.hidden_size % config.num_attention_heads or config.num_hidden_layers < 1:
            raise InputError("MODEL", "one of layers whose width is a multiple of H", name)
    return config


def _tensors_sha256(model: Any) -> str:
    """The SHA-256 of all loaded tensors, with names, types and shapes."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)} ".encode())
        digest.update(tensor.contiguous().numpy())
    return digest.hexdigest()


def _stored(name: str, config: Any) -> tuple[Any, tuple[str, ...]]:
    """The model, and the names of its weights that no file contains. transformers draws these
    weights at random; here they are set to NaN, so that states that depend on them are noticed."""
    torch, transformers = libraries()
    index = Path(name) / "model.safetensors.index.json"
    with foreign("one whose weights are in safetensors files"), warnings.catch_warnings():
        files = json.loads(index.read_bytes())["weight_map"].values() if index.exists() else ()
        if any(os.path.isabs(file) or ".." in Path(file).parts for file in files):
            raise InputError(index.name, "one of files in its folder", "one of files outside it")
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", "Casting complex")  # it would drop imaginary parts
        model, loading = transformers.AutoModel.from_pretrained(
            name, config=config, use_safetensors=True, dtype=torch.float32,
            trust_remote_code=False, output_loading_info=True,
        )  # fmt: skip
    absent = tuple(sorted(loading["missing_keys"]))
    for key, tensor in model.state_dict().items():
        if key in absent and tensor.is_floating_point():
            tensor.fill_(np.nan)
    return model, absent

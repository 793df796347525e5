"""One layer's input, out of a Hugging Face model: only the layers below it are built.

The state taken is the one that enters block k + 1, which is the output of block k (for k = 0: of
the embeddings), read off the model by a hook. So a model built with k blocks gives the state that
the whole model gives, whatever its last steps are: a final norm, which GPT-2 applies after its last
block, is not part of it. For k below the number of blocks this is `hidden_states[k]` of the whole
model. That is what is taken where the blocks are not one list of modules, one for each layer (the
layers of ALBERT share theirs): then the whole model is built and run.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from attncert.constructions.arrays import AnyArray
from attncert.constructions.errors import InputError, require_seed, whole
from attncert.constructions.foreign import printable
from attncert.constructions.models.inputs import MISSING, Pixels
from attncert.constructions.models.stored import stored, weights_sha256

SHAPES: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "vit-base": ("vit", {}),
    "vit-large": (
        "vit",
        {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
         "intermediate_size": 4096},
    ),
    "bert-base": ("bert", {}),
    "bert-large": (
        "bert",
        {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
         "intermediate_size": 4096},
    ),
    "gpt2": ("gpt2", {}),
    "gpt2-medium": ("gpt2", {"n_embd": 1024, "n_layer": 24, "n_head": 16}),
    "gpt2-large": ("gpt2", {"n_embd": 1280, "n_layer": 36, "n_head": 20}),
}  # fmt: skip
"""Shapes that --random knows without a configuration: 224×224 images in patches of 16; BERT with
512 tokens; GPT-2 with 1,024. Other sizes as the libraries have them."""

BYTES = {"float32": 4, "float64": 8}
_MOST_PARTS = 100_000  # modules and parameters; some 10 s, and BERT's 24 layers have 820
_COUNTS = re.compile("label|layer|depth|expert")


@dataclass(frozen=True, eq=False)
class Network:
    """The lower layers of a model. Arithmetic: that of its weights, on the CPU.

    blocks: the modules of layers 1 to k, at least one; None where the whole model is built. layer:
    k. layers, heads, width: of the whole model. pixels: how it takes images, None for tokens.
    longest: tokens it takes; vocabulary: ids. last: its queries are last tokens by default. absent:
    weights that no file has, NaN here.
    """

    model: Any
    blocks: Any
    layer: int
    layers: int
    heads: int
    width: int
    pixels: Pixels | None
    longest: int | None
    vocabulary: int | None
    last: bool
    told: Mapping[str, Any]
    absent: tuple[str, ...] = ()

    def states(self, batch: Mapping[str, AnyArray]) -> AnyArray:
        """The states (B, n, d) that enter block k + 1, as the model has them. Raises InputError for
        a model that has no such states of these inputs."""
        import torch

        kind = next(self.model.parameters()).dtype
        tensors = {key: torch.from_numpy(value) for key, value in batch.items()}
        inputs = {k: x.to(kind) if x.is_floating_point() else x for k, x in tensors.items()}
        with torch.inference_mode():
            try:
                found = self._whole(inputs) if self.blocks is None else self._hooked(inputs)
                states: AnyArray = found.numpy()
            except Exception as error:  # whatever a model made by anyone leads the libraries to
                must = f"a model that turns {' and '.join(inputs)} into hidden states"
                raise InputError("MODEL", must, f"another ({error})") from None
        if states.ndim != 3 or states.shape[2] != self.width:
            must = f"a model whose hidden states have {self.width} numbers for each token"
            raise InputError("MODEL", must, f"of shape {states.shape[1:]}")
        if self.absent and not np.isfinite(states).all():
            must = "a model whose files hold all weights that these states depend on"
            raise InputError("MODEL", must, f"one without {', '.join(self.absent)}")
        return states

    def _whole(self, inputs: Mapping[str, Any]) -> Any:
        return self.model(**inputs, output_hidden_states=True).hidden_states[self.layer]

    def _hooked(self, inputs: Mapping[str, Any]) -> Any:
        caught: list[Any] = []

        def before(module: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
            caught.append(arguments[0] if arguments else named["hidden_states"])

        def after(module: Any, arguments: tuple[Any, ...], result: Any) -> None:
            caught.append(result[0] if isinstance(result, tuple) else result)

        if self.layer == 0:
            hook = self.blocks[0].register_forward_pre_hook(before, with_kwargs=True)
        else:
            hook = self.blocks[self.layer - 1].register_forward_hook(after)
        try:
            self.model(**inputs)
        finally:
            hook.remove()
        return caught[0]


def build(
    name: str,
    *,
    layer: int,
    random: bool = False,
    seed: int = 0,
    dtype: str = "float32",
    memory: int | None = None,
) -> Network:
    """The model `name`, a local folder or of the Hugging Face hub, up to `layer`.

    dtype: "float32", or "float64" for the same weights in wider arithmetic. memory: bytes that the
    weights may take, counted before any is made.

    random: weights drawn with `seed` from the configuration alone, which may also be one of SHAPES.
    They are those of the model as far as it is built: another layer has other weights. Stored
    weights are read from safetensors files only, and no code of theirs is run. Raises InputError.
    """
    torch, transformers = libraries()
    require_seed(seed)
    config, told = _configuration(transformers, name, random)
    layers = getattr(config, "num_hidden_layers", None)
    if not isinstance(layers, int) or not hasattr(config, "hidden_size"):
        raise InputError("MODEL", "a model with hidden states in layers", name)
    if not 0 <= layer <= layers:
        raise InputError("--layer", f"from 0 to {layers}, the layers of this model", layer)
    with _foreign(name):
        facts = _facts(config)
        told |= {"configuration sha256": _config_sha256(config), "layers": layers}
        place = _place_of_blocks(_skeleton(torch, transformers, config), layers)
        if place:
            config.num_hidden_layers = max(1, layer)
        else:
            told["built"] = "the whole model, whose hidden_states are taken"
        _require_memory(_skeleton(torch, transformers, config), BYTES[dtype], memory)
    absent: tuple[str, ...] = ()
    if random:
        torch.manual_seed(seed)
        with _foreign(name):
            model = transformers.AutoModel.from_config(config)
        told |= {"weights": "random", "seed": seed}
    else:
        model, absent = stored(transformers, name, config)
        told |= {"weights": "stored", "weights sha256": weights_sha256(name)}
    model.eval().to(getattr(torch, dtype))
    told["arithmetic"] = dtype
    blocks = model.get_submodule(place) if place else None
    with _foreign(name):
        pixels = _pixels(config, name, random) if model.main_input_name == "pixel_values" else None
    told |= {"torch": str(torch.__version__), "transformers": transformers.__version__}
    return Network(model, blocks, layer, layers, pixels=pixels, told=told, absent=absent, **facts)


def libraries() -> tuple[Any, Any]:
    """torch and transformers, which no other part loads; InputError where they are missing."""
    try:
        import torch
        import transformers
    except ImportError:
        raise InputError("attncert embed", MISSING, "without it") from None
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return torch, transformers


def bytes_needed(network: Network, batch: int, tokens: int, dtype: str) -> int:
    """An estimate, rather too high, of what weights and one batch take, in bytes.

    Weights twice, as they are read and copied; for each token of a batch the states of a block: the
    residual, queries, keys, values, the wider layer and its copy, and each head's weights; of the
    whole model the states between its blocks, too. Of an image its pixels, as PIL has them, as
    bytes, and as numbers twice.
    """
    weights = sum(p.numel() for p in network.model.parameters())
    wide = getattr(network.model.config, "intermediate_size", None) or 4 * network.width
    each = 8 * network.width + 3 * wide + 2 * network.heads * tokens
    each += 0 if network.blocks is not None else (network.layers + 1) * network.width
    side = 0 if network.pixels is None else network.pixels.size
    found = BYTES[dtype] * (2 * weights + batch * tokens * each)
    return found + batch * side * side * 3 * (4 + 2 * BYTES["float64"])


@contextmanager
def _foreign(name: str) -> Iterator[None]:
    """Whatever a configuration made by anyone leads the libraries to, as InputError."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        must = "a model that its configuration describes"
        raise InputError("MODEL", must, f"{name} ({type(error).__name__}: {error})") from None


def _configuration(transformers: Any, name: str, random: bool) -> tuple[Any, dict[str, Any]]:
    if random and name in SHAPES and not os.path.lexists(name):
        kind, changed = SHAPES[name]
        return transformers.AutoConfig.for_model(kind, **changed), {"model": name}
    must = "a model of the Hugging Face hub that is in reach, or a folder with config.json"
    if not random and name in SHAPES:
        raise InputError("MODEL", f"{must}; this name is for --random", name)
    try:
        _require_counts(transformers.PretrainedConfig.get_config_dict(name)[0])
        config = transformers.AutoConfig.from_pretrained(name, trust_remote_code=False)
    except InputError:
        raise
    except Exception as error:  # whatever a file made by anyone leads the library to
        more = f"; or with --random one of {', '.join(SHAPES)}" if random else ""
        raise InputError("MODEL", must + more, f"{name} ({type(error).__name__})") from None
    told: dict[str, Any] = {"model": Path(name).name if os.path.isdir(name) else name}
    revision = getattr(config, "_commit_hash", None)
    return config, told | ({} if revision is None else {"revision": revision})


def _require_counts(described: Any, key: str = "") -> None:
    """Of what the libraries make lists of as they read a configuration: layers and labels, if only
    of their names."""
    if isinstance(described, dict):
        for name, value in described.items():
            _require_counts(value, name)
    elif isinstance(described, list):
        for value in described:
            _require_counts(value, key)
    elif _COUNTS.search(key) and whole(described) and described > _MOST_PARTS:
        must = f"a model whose configuration has at most {_MOST_PARTS:,} as its {printable(key)}"
        raise InputError("MODEL", must, described)


def _skeleton(torch: Any, transformers: Any, config: Any) -> Any:
    """The model without its weights, which take no memory on the meta device. Its parts do, and are
    counted as they are made. Raises InputError."""
    made = count()

    def another(*_: Any) -> None:
        if next(made) >= _MOST_PARTS:
            raise InputError("MODEL", f"one of at most {_MOST_PARTS:,} parts", "a larger one")

    parts = torch.nn.modules.module
    hooks = (
        parts.register_module_module_registration_hook(another),
        parts.register_module_parameter_registration_hook(another),
    )
    try:
        with torch.device("meta"):
            return transformers.AutoModel.from_config(config)
    finally:
        for hook in hooks:
            hook.remove()


def _require_memory(skeleton: Any, each: int, memory: int | None) -> None:
    """Weights twice, as they are read and copied."""
    count = sum(p.numel() for p in skeleton.parameters())
    if memory is not None and 2 * each * count > memory:
        must = f"at least {-(-2 * each * count // 2**20)} MiB, what these weights take"
        raise InputError("--memory", must, f"{memory // 2**20} MiB")


def _facts(config: Any) -> dict[str, Any]:
    heads = getattr(config, "num_attention_heads", None)
    for key in ("max_position_embeddings", "vocab_size"):
        if (size := getattr(config, key, None)) is not None and not whole(size):
            raise InputError("MODEL", f"a model with a whole number as its {key}", size)
    if not isinstance(heads, int) or heads < 1 or config.hidden_size % heads:
        raise InputError("MODEL", "a model whose width is a multiple of its heads", heads)
    return {
        "heads": heads,
        "width": int(config.hidden_size),
        "longest": getattr(config, "max_position_embeddings", None),
        "vocabulary": getattr(config, "vocab_size", None),
        "last": config.model_type.startswith("gpt"),
    }


def _place_of_blocks(skeleton: Any, layers: int) -> str:
    """The name of the one outermost list of so many modules: the model's blocks. "" for none, or
    several, as an encoder beside a decoder."""
    import torch

    found = [
        name
        for name, module in skeleton.named_modules()
        if isinstance(module, torch.nn.ModuleList) and len(module) == layers
    ]
    outer = [x for x in found if not any(x.startswith(f"{y}.") for y in found)]
    return outer[0] if len(outer) == 1 else ""


def _config_sha256(config: Any) -> str:
    """Of the whole configuration, without what says how and by whom it was saved."""
    left_out = ("transformers_version", "_name_or_path", "torch_dtype", "dtype", "architectures")
    kept = {key: x for key, x in config.to_dict().items() if key not in left_out}
    return hashlib.sha256(json.dumps(kept, sort_keys=True, default=str).encode()).hexdigest()


def _pixels(config: Any, name: str, random: bool) -> Pixels:
    size = config.image_size
    side = size if isinstance(size, int) else size[0]
    if random and name in SHAPES:
        return Pixels(side)
    from transformers.utils import cached_file

    try:
        found = json.loads(Path(cached_file(name, "preprocessor_config.json")).read_text())
        mean, deviation = (np.array(found[k], dtype=float) for k in ("image_mean", "image_std"))
    except (OSError, ValueError, KeyError, TypeError):
        return Pixels(side)
    if mean.shape != (3,) or deviation.shape != (3,) or not (deviation > 0).all():
        return Pixels(side)
    return Pixels(side, tuple(mean.tolist()), tuple(deviation.tolist()))

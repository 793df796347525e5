"""Fuzz targets for third-party weights: layers, masks, state dicts and property files."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save
from support.fuzz_measure import loaded, timed
from support.small_certificates import CASES
from support.third_party import third_party

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.weights.load import load_weights
from attncert.verify.audit.layer.attention import read_mask
from attncert.verify.audit.layer.property import Property, load_property

PROPERTY = ("error", "saturation", "rank", "examples", "heads", " = ", "[0, 1]",
            '"full"', "1e-3", "inf", "nan", "0x1F", "1_0", "\\n", "[a]", "1" * 40)  # fmt: skip
STATE = ("q_proj.weight", "in_proj_weight", "c_attn.bias", "BF16", "F32", "I8", "[6,2]", "[999999]",
         "data_offsets", "__metadata__", '{"', "PK\\x05\\x06", "<f4", "(2, 2)")  # fmt: skip


def layer_file(content: bytes, scratch: Path) -> str:
    """Third-party weights, in any of three formats."""
    path = scratch / f"layer{suffix(content)}"
    path.write_bytes(content)
    return timed(lambda: loaded(lambda: load_weights(path), lambda found: found.layer.heads != ()))


def mask_file(content: bytes, scratch: Path) -> str:
    """Which rows each query attends to, for `attncert audit --layer`."""
    path = scratch / f"mask{suffix(content)}"
    path.write_bytes(content)
    return timed(
        lambda: loaded(
            lambda: read_mask(str(path), _MASKED),
            lambda found: found is not None and found.dtype == bool,
        )
    )


_MASKED = Dataset.of([[[1], [2]], [[3], [4]]], [[1], [2]], [0, 1])


def mask_seeds() -> list[bytes]:
    file = io.BytesIO()
    np.savez(file, mask=np.array([[1, 0], [1, 1]], dtype=np.int8))
    texts = [[[1, 0], [0, 1]], [True, False], {"mask": [[True, 0], [1, 1]]}, {"mask": [1, 2]}]
    return [file.getvalue(), *(json.dumps(x).encode() for x in texts)]


def suffix(content: bytes) -> str:
    if content.startswith(b"PK"):
        return ".npz"
    return ".json" if content[:1] in (b"{", b"[", b" ") else ".safetensors"


def layer_seeds() -> list[bytes]:
    arrays = {"W_K": np.ones((1, 2, 1), dtype=np.float32)}
    arrays |= {"W_Q": arrays["W_K"], "W_V": arrays["W_K"], "W_O": np.ones((1, 1), dtype=np.float32)}
    file = io.BytesIO()
    np.savez(file, **arrays)
    head = {key: [["1"], ["-1/2"]] for key in ("key", "query", "value")}
    ours = {"logit_unit": "ln 2", "heads": [head, head], "output": [["1"], ["1"]]}
    lists = {name: array.tolist() for name, array in arrays.items()}
    texts = (ours, lists, {"layer": ours, "groups": [[0], [1]]}, CASES["interpolation"]())
    return [file.getvalue(), save(arrays), *(json.dumps(x).encode() for x in texts)]


def state_dict(content: bytes, scratch: Path) -> str:
    """Layers as libraries store them, one head."""
    path = scratch / ("state.npz" if content.startswith(b"PK") else "state.safetensors")
    path.write_bytes(content)
    return timed(
        lambda: loaded(
            lambda: load_weights(path, heads=1), lambda found: len(found.layer.heads) == 1
        )
    )


def state_seeds() -> list[bytes]:
    rng, found = np.random.default_rng(0), []
    for style in ("mha", "gpt2", "bert", "q_proj o_proj"):
        state = third_party(style, rng, d=2, heads=1, prefix="a.").state
        found.append(save({key: np.ascontiguousarray(x) for key, x in state.items()}))
    file = io.BytesIO()
    np.savez(file, **third_party("timm", rng, d=2, heads=1, dtype=np.float16).state)
    return [*found, file.getvalue()]


def property_file(content: bytes, scratch: Path) -> str:
    """TOML for `attncert audit --property`."""
    path = scratch / "property.toml"
    path.write_bytes(content)
    return timed(
        lambda: loaded(lambda: load_property(str(path)), lambda found: found != Property())
    )


def property_seeds() -> list[bytes]:
    texts = (
        "examples = [0, 2]\nerror = 0.1",
        'heads = [1]\nsaturation = 10\nrank = "full"',
        'error = "1/3"\nexamples = "all"',
    )
    return [text.encode() for text in texts]

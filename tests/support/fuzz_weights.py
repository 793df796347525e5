"""Fuzz targets for what comes with third-party weights: state dicts and property files."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from safetensors.numpy import save
from support.fuzz_measure import loaded, timed
from support.third_party import third_party

from attncert.constructions.weights.load import load_weights
from attncert.verify.audit.layer.property import Property, load_property

PROPERTY = ("error", "saturation", "rank", "exact-within", "examples", "heads", " = ", "[0, 1]",
            '"full"', "1e-3", "inf", "nan", "0x1F", "1_0", "\\n", "[a]", "1" * 40)  # fmt: skip
STATE = ("q_proj.weight", "in_proj_weight", "c_attn.bias", "BF16", "F32", "I8", "[6,2]", "[999999]",
         "data_offsets", "__metadata__", '{"', "PK\\x05\\x06", "<f4", "(2, 2)")  # fmt: skip


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
        'error = "1/3"\nexact-within = 1e-3\nexamples = "all"',
        "rank = 3",
    )
    return [text.encode() for text in texts]

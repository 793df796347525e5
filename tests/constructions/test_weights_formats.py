"""Weights as libraries store them give NumPy's outputs; all other files are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file
from support.shell import Shell
from support.third_party import STYLES, gaps, third_party

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.weights.load import load_weights
from attncert.verify.third_party.layer.mask import visible_rows

RNG = np.random.default_rng(15)
T, N, D = 5, 4, 6
CONTEXTS, QUERIES, LABELS = (RNG.normal(size=s) for s in ((T, N, D), (T, D), (T, D)))
DATA = Dataset.of(CONTEXTS, QUERIES, LABELS)
MASK = np.array([[1, 1, 0, 0], [1, 1, 1, 1], [0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 1, 1]], dtype=bool)


MASKED = visible_rows(DATA, MASK)


@pytest.mark.parametrize("style", STYLES)
def test_every_format_computes_what_numpy_does(style: str, tmp_path: Path) -> None:
    """Layers with and without biases, in two dtypes and two kinds of file."""
    kinds: list[dict[str, Any]] = [{}, {"biased": False, "dtype": np.float16}]
    for kind in kinds:
        layer = third_party(style, RNG, prefix="model.layers.0.attn.", **kind)
        save_file(layer.state, tmp_path / "x.safetensors")
        np.savez(tmp_path / "x.npz", **layer.state)
        expected = layer.outputs(CONTEXTS, QUERIES, MASK) - LABELS
        for name in ("x.safetensors", "x.npz"):
            weights = load_weights(tmp_path / name, heads=layer.heads)
            assert weights.scale == "sqrt-d" and weights.prefix == "model.layers.0.attn"
            assert weights.biased == kind.get("biased", True)
            np.testing.assert_allclose(gaps(weights, MASKED), expected, rtol=0, atol=1e-12)
        assert abs(gaps(weights, MASKED, scale="none") - expected).max() > 1e-3, "the scale is seen"


def test_one_bias_alone(tmp_path: Path) -> None:
    """Qwen has no output bias, and other models lack other biases: a missing bias counts as 0."""
    for missing in ("o_proj.bias", "q_proj.bias"):
        layer = third_party("q_proj o_proj", RNG)
        layer.parts[f"b{missing[0]}"][:] = 0
        np.savez(tmp_path / "x.npz", **{key: x for key, x in layer.state.items() if key != missing})
        expected = layer.outputs(CONTEXTS, QUERIES) - LABELS
        found = gaps(load_weights(tmp_path / "x.npz", heads=3), DATA)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def bfloat16(path: Path, state: dict[str, Any]) -> None:
    """Write the file as its format prescribes: a header, then the upper half of each float32."""
    header, blob = {}, b""
    for name, array in state.items():
        raw = (array.view(np.uint32) >> 16).astype("<u2").tobytes()
        place = [len(blob), len(blob) + len(raw)]
        header[name] = {"dtype": "BF16", "shape": list(array.shape), "data_offsets": place}
        blob += raw
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + blob)


def test_bfloat16_is_taken_exactly(tmp_path: Path) -> None:
    layer = third_party("mha", RNG)
    bfloat16(tmp_path / "x.safetensors", layer.state)
    for name, array in layer.parts.items():  # truncated to bfloat16, whose bits are stored
        layer.parts[name] = (array.view(np.uint32) & 0xFFFF0000).view(np.float32)
    expected = layer.outputs(CONTEXTS, QUERIES) - LABELS
    weights = load_weights(tmp_path / "x.safetensors", heads=3)
    np.testing.assert_allclose(gaps(weights, DATA), expected, rtol=0, atol=1e-12)


MODEL = {
    f"h.{i}.attn.{key}": x
    for i in range(3)
    for key, x in (
        *third_party("gpt2", RNG).state.items(),
        ("bias", np.tril(np.ones((1, 1, 4, 4))) > 0),
        ("masked_bias", np.array(-np.inf)),
    )
} | {"wte.weight": np.ones((9, D), dtype=np.float32), "h.0.mlp.c_proj.weight": np.ones((D, D))}


def _state(**change: Any) -> dict[str, Any]:
    state = third_party("q_proj out_proj", np.random.default_rng(1)).state
    return {key: x for key, x in (state | change).items() if x is not None}


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a table of biases": (
        MODEL | {"h.0.attn.bias_table": np.ones((2, 2))}, {"prefix": "h.0.attn", "heads": 3},
        "h.0.attn: must be made of query, key, value and output projections only",
    ),
    "no prefix": (MODEL, {}, "prefix: must be one of h.0.attn, h.1.attn, h.2.attn, not left out"),
    "another prefix": (MODEL, {"prefix": "h.9.attn"}, "prefix: must be one of h.0.attn, h.1"),
    "a prefix of a layer alone": (
        _state(), {"prefix": "h.0", "heads": 3},
        "prefix: must be left out for arrays without a prefix, not h.0",
    ),
    "no heads": (MODEL, {"prefix": "h.0.attn"}, "heads: must be given for weights of the for"),
    "heads that do not divide": (_state(), {"heads": 4}, "heads: must be a divisor of 6, the"),
    "zero heads": (_state(), {"heads": 0}, "heads: must be a positive integer, not 0"),
    "another format": (
        _state(), {"format": "torch-mha"}, "the query, key, value and output weights of a layer, "
        "in the format torch-mha, not one with 'q_proj.weight', 'q_proj.bias', "
    ),
    "an unknown format": (_state(), {"format": "jax"}, "format: must be one of auto, attncert"),
    "our format": (_state(), {"format": "attncert"}, "made of query, key, value and output"),
    "no layer": ({"fc.weight": np.ones((2, 2))}, {}, "in any known format, not one with 'fc."),
    "a projection missing": (_state(**{"k_proj.weight": None}), {}, "in any known format, not"),
    "normalized queries": (
        _state(**{"q_norm.weight": np.ones(2)}), {"heads": 3},
        "layer: must be made of query, key, value and output projections only, not of "
        "'q_norm.weight' as well",
    ),
    "a key of another width": (
        _state(**{"k_proj.weight": np.ones((6, 5))}), {"heads": 3},
        "k_proj.weight (key): must be of shape (6, 6), for 3 heads, not (6, 5)",
    ),
    "a bias of another length": (
        _state(**{"v_proj.bias": np.ones(5)}), {"heads": 3},
        "v_proj.bias: must be of shape (6,), not (5,)",
    ),
    "fused, too few rows": (
        {"qkv.weight": np.ones((7, 6)), "proj.weight": np.ones((6, 6))}, {"heads": 3},
        "qkv.weight: must be of 6 rows each for queries, keys and values, not 7 rows",
    ),
    "a NaN among fused keys": (
        {"qkv.weight": np.where(np.arange(108) == 43, np.nan, 1.0).reshape(18, 6),
         "proj.weight": np.ones((6, 6))}, {"heads": 3}, "qkv.weight[7][1]: must be an integer, a",
    ),
    "heads of ours": (
        {name: np.ones((2, 2)) for name in ("query", "key", "value", "output")}, {"heads": 3},
        "heads: must be 1, as the file says, not 3",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, tmp_path: Path, shell: Shell) -> None:
    state, options, line = REFUSED[name]
    path = tmp_path / "x.npz"
    np.savez(path, **state)
    with pytest.raises(InputError) as error:
        load_weights(path, **options)
    assert line in str(error.value) and "\n" not in str(error.value)
    words = [word for key, x in options.items() for word in (f"--{key}", str(x))]
    DATA_FILE = tmp_path / "data.npz"
    np.savez(DATA_FILE, contexts=CONTEXTS, queries=QUERIES, labels=LABELS)
    shell.refuses("layer", path, DATA_FILE, *words)


def test_pickles_need_pytorch_or_are_refused(tmp_path: Path) -> None:
    """With or without PyTorch, code in a file is not run, and the error is one line."""
    import pickle

    marker = tmp_path / "ran"

    class Code:
        def __reduce__(self) -> Any:
            return Path.touch, (marker,)

    (tmp_path / "x.pt").write_bytes(pickle.dumps({"in_proj_weight": Code()}))
    with pytest.raises(InputError, match=r"must be (read with the extra|a \.pt file of tens)"):
        load_weights(tmp_path / "x.pt", heads=2)
    assert not marker.exists()


def test_a_prefix_reaches_no_page_as_markup(tmp_path: Path) -> None:
    state = third_party("q_proj out_proj", RNG, prefix="$x$ <b>\x1b[31m `.a_1.").state
    save_file(state, tmp_path / "x.safetensors")
    assert load_weights(tmp_path / "x.safetensors", heads=3).prefix == "x-b-31m-.a_1"

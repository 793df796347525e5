"""What is known about a layer from its configuration, from its outputs, or by assumption, tested
without PyTorch.

tests/constructions/test_model_types.py compares the listed types with transformers itself.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.shell import Shell
from support.third_party import ThirdParty, gaps, third_party

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.weights.load import load_weights
from attncert.constructions.weights.recording import Recording
from attncert.verify.claims.evidence import Level
from attncert.verify.questions.layer import LayerQuestion
from attncert.verify.third_party.layer.layer import layer

RNG = np.random.default_rng(5)
T, N, D = 4, 3, 6
CONTEXTS, QUERIES = RNG.normal(size=(T, N, D)), RNG.normal(size=(T, D))
GPT2 = third_party("gpt2", RNG, prefix="h.0.attn.")
OUTPUTS = GPT2.outputs(CONTEXTS, QUERIES)
DATA = Dataset.of(CONTEXTS, QUERIES, OUTPUTS)


def folder(path: Path, layer: ThirdParty = GPT2, **config: Any) -> Path:
    """A model's folder, with these options."""
    np.savez(path / "layer.npz", **layer.state)
    (path / "config.json").write_text(json.dumps(config))
    return path / "layer.npz"


def test_a_configuration_says_heads_scale_and_type(tmp_path: Path) -> None:
    weights = load_weights(folder(tmp_path, model_type="gpt2", n_head=3))
    assert (weights.type, weights.scale, len(weights.layer.heads)) == ("gpt2", "sqrt-d", 3)
    off = {"model_type": "gpt2", "n_head": 3, "scale_attn_weights": False}
    weights = load_weights(folder(tmp_path, **off), heads=3)
    assert (weights.type, weights.scale, len(weights.layer.heads)) == ("gpt2", "none", 3)
    with pytest.raises(InputError, match=r"heads: must be 3, as config\.json says, not 2"):
        load_weights(folder(tmp_path, **off), heads=2)
    assert len(load_weights(tmp_path / "layer.npz", "hf", heads=2).layer.heads) == 2
    bart = third_party("q_proj out_proj", RNG)
    both = {"encoder_attention_heads": 3, "decoder_attention_heads": 2}
    with pytest.raises(InputError, match="heads: must be given"):
        load_weights(folder(tmp_path, bart, model_type="bart", **both))
    for odd in ([1], 0, -1, 10**30, True, "3", None, {"a": 1}, 1.5):
        with pytest.raises(InputError, match="heads: must be"):
            load_weights(folder(tmp_path, model_type="gpt2", n_head=odd))
    nameless = folder(tmp_path, bart, **{"model_type": "bart", "": False})
    assert load_weights(nameless, heads=3).scale == "sqrt-d"


REFUSED = {
    "another type": ({"model_type": "gptj"}, "must be of a type of model that is listed in docs/"),
    "no text": ({"model_type": ["gpt2"]}, "plain attention, not ['gpt2']"),
    "scaled by the layer": (
        {"model_type": "gpt2", "scale_attn_by_inverse_layer_idx": True},
        "config.json: scale_attn_by_inverse_layer_idx: must be False, for attention to be plain",
    ),
    "relative positions": (
        {"model_type": "bert", "position_embedding_type": "relative_key"}, "must be absolute, for"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_configuration_says_otherwise_is_refused(case: str, tmp_path: Path) -> None:
    config, line = REFUSED[case]
    path = folder(tmp_path, **config)
    with pytest.raises(InputError) as error:
        load_weights(path, heads=3)
    assert line in str(error.value) and "\n" not in str(error.value)
    assert load_weights(path, format="hf", heads=3).type == "", "assumed: the user says so"
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(InputError, match=r"config\.json: must be JSON"):
        load_weights(path, heads=3)
    (tmp_path / "config.json").write_text('{"_class_name": "x"}')
    assert load_weights(path, heads=3).type == ""


def test_what_is_assumed_is_said_and_rested_on(tmp_path: Path, shell: Shell) -> None:
    np.savez(tmp_path / "layer.npz", **GPT2.state)
    np.savez(tmp_path / "data.npz", contexts=CONTEXTS, queries=QUERIES, labels=OUTPUTS)
    words = ["layer", str(tmp_path / "layer.npz"), str(tmp_path / "data.npz")]
    words += ["--heads", "3", "--tolerance", "0.001", "--out", str(tmp_path / "out")]
    said = "Assumed, since names of arrays do not say it: softmax attention with logits divided by"
    out = shell.runs(*words).out
    assert said in out and "no cap or clip, no added row, no mask." in out
    assert said in (tmp_path / "out" / "report.md").read_text()
    content = json.loads((tmp_path / "out" / "answer.json").read_text())
    reading, *others = content["claims"]
    assert (reading["id"], reading["level"]) == ("layer.read", "assumed")
    assert others and all("layer.read" in claim["rests_on"] for claim in others)
    assert content["standing"] == "assumed"
    folder(tmp_path, model_type="gpt2", n_head=3)
    assert said not in shell.runs(*words).out
    page = (tmp_path / "out" / "report.md").read_text()
    assert "The configuration says: type gpt2" in page and "Assumed" not in page
    out = shell.runs(*words, "--scale", "none", status=1).out
    assert said.replace("divided by", "that are not divided") in out


def recording(outputs: Any = OUTPUTS, unit: float = 2.0**-24) -> Recording:
    return Recording(list(zip(QUERIES, CONTEXTS, outputs, strict=True)), "layer", unit)


def test_recorded_outputs_must_be_reproduced(tmp_path: Path) -> None:
    np.savez(tmp_path / "layer.npz", **GPT2.state)
    weights = load_weights(tmp_path / "layer.npz", heads=3)
    found = layer(weights, recording(), LayerQuestion(tolerance="0.1"))
    assert found.exit_status == 0 and found.trace["layer.read"].level is Level.NUMERICAL
    assert found.trace["layer.read"].statement.startswith("The layer as read gives the recorded")
    for outputs, unit, status in (
        (OUTPUTS.astype(np.float32), 2.0**-24, 0),
        (OUTPUTS + 1e-4, 2.0**-24, 3),
        (OUTPUTS + 1e-4, 2.0**-11, 0),  # rounding in float16
        (OUTPUTS * 1.01, 2.0**-24, 3),
    ):
        found = layer(weights, recording(outputs, unit), LayerQuestion(tolerance="1"))
        assert found.exit_status == status
    far = third_party("q_proj out_proj", RNG, dtype=np.float64)
    for part in (far.state["v_proj.weight"], far.parts["v"]):
        part *= 1e60  # beyond float32
    np.savez(tmp_path / "far.npz", **far.state)
    found = layer(
        load_weights(tmp_path / "far.npz", heads=3),
        recording(far.outputs(CONTEXTS, QUERIES)),
        LayerQuestion(tolerance="1e60"),
    )
    assert found.trace["layer.read"].level is Level.NUMERICAL
    found = layer(weights, recording(OUTPUTS * 1.01), LayerQuestion(tolerance="1"))
    assert "A part of the layer was not read" in found.reason
    assert found.audit is None, "and no verdict about labels"


def test_a_recording_on_disk_is_checked_in_the_same_way(tmp_path: Path, shell: Shell) -> None:
    np.savez(tmp_path / "layer.npz", **GPT2.state)
    for outputs, status in ((OUTPUTS, 0), (OUTPUTS * 1.01, 3)):
        data, mask = recording(outputs).labelled(OUTPUTS).save(tmp_path / "batch.npz")
        words = ["layer", str(tmp_path / "layer.npz"), str(data), "--mask", str(mask)]
        words += ["--heads", "3", "--tolerance", "0.1", "--out", str(tmp_path / "out")]
        shell.runs(*words, status=status)
        printed = shell.runs(*words, "--examples", "2", status=status)
    assert "So the labels were not judged." in printed.out
    for wrong, line in (
        ({"outputs": OUTPUTS[:2], "unit": 0.1}, "outputs: must be of the shape (4, 6), not (2, 6)"),
        ({"outputs": OUTPUTS * np.nan, "unit": 0.1}, "outputs: must be finite numbers, not nan"),
        ({"outputs": OUTPUTS, "unit": 2.0}, "the unit roundoff of the outputs, not 2.0"),
        ({"outputs": OUTPUTS, "unit": [0.1] * 2}, "the unit roundoff of the outputs, not (2,)"),
        ({"outputs": OUTPUTS}, "the unit roundoff of the outputs, not 0.0"),
    ):
        np.savez(mask, mask=np.ones((T, N)) > 0, **wrong)  # type: ignore[arg-type]
        assert line in shell.refuses(*words)


# Formats that differ in how much they say about a layer.


def heads_apart(layer: ThirdParty) -> dict[str, Any]:
    """TransformerLens: a matrix (d, d_h) for each head."""
    parts, H = layer.parts, layer.heads
    arrays = {f"W_{x.upper()}": parts[x].reshape(H, -1, D).transpose(0, 2, 1) for x in "qkv"}
    arrays |= {f"b_{x.upper()}": parts[f"b{x}"].reshape(H, -1) for x in "qkv"}
    out = parts["o"].T.reshape(H, -1, D)
    buffers = {"mask": np.tril(np.ones((3, 3))) > 0, "IGNORE": np.array(-np.inf)}
    return arrays | {"W_O": out, "b_O": parts["bo"]} | buffers


def test_transformer_lens(tmp_path: Path) -> None:
    arrays = heads_apart(GPT2)
    state = {f"blocks.0.attn.{key}": x for key, x in arrays.items()}
    np.savez(tmp_path / "x.npz", **state)
    weights = load_weights(tmp_path / "x.npz")
    assert (weights.format, weights.scale) == ("transformer-lens", "sqrt-d")
    assert abs(gaps(weights, DATA)).max() < 1e-12
    with pytest.raises(InputError, match="heads: must be 3, as the file says, not 2"):
        load_weights(tmp_path / "x.npz", heads=2)
    np.savez(tmp_path / "x.npz", **state | {"blocks.0.attn.rotary_sin": np.ones((3, 3))})
    with pytest.raises(InputError, match=r"not of 'blocks\.0\.attn\.rotary_sin' as well"):
        load_weights(tmp_path / "x.npz")


def test_the_class_of_the_paper_s_public_code(tmp_path: Path) -> None:
    """That class has wide heads, values of width one, and logits divided by the square root of the
    model's width."""
    H, wide, m = 3, 4, 5
    Wq, Wk = RNG.normal(size=(2, H, D, wide))
    Wv, Wo = RNG.normal(size=(H, D, 1)), RNG.normal(size=(H, m))
    state = {"attention.Wq": Wq, "attention.Wk": Wk, "attention.Wv": Wv, "attention.Wo": Wo}
    np.savez(tmp_path / "x.npz", **state)
    weights = load_weights(tmp_path / "x.npz")
    assert (weights.format, weights.scale, weights.prefix) == ("paper", "sqrt-model", "attention")
    logits = np.einsum("td,hdc,hfc,tnf->thn", QUERIES, Wq, Wk, CONTEXTS) / np.sqrt(D)
    p = np.exp(logits)
    p /= p.sum(axis=2, keepdims=True)
    mixed = np.einsum("thn,tnd,hdv->thv", p, CONTEXTS, Wv).reshape(T, H)
    assert abs(gaps(weights, Dataset.of(CONTEXTS, QUERIES, mixed @ Wo))).max() < 1e-12

"""PyTorch's own modules: their weights, files and forward passes against the audit's outputs."""

from __future__ import annotations

import json
import os
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.third_party import GROUPED, STYLES, third_party

from attncert.cli import main
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.weights.load import load_weights
from attncert.constructions.weights.recording import Recording, record
from attncert.constructions.weights.stored import StoredLayer
from attncert.constructions.weights.weights import Weights
from attncert.verify.layer.attention import Attention
from attncert.verify.layer.error import at_most, audit_layer

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'attncert[torch]'")

D, HEADS, N, BATCH = 8, 4, 5, 2


def outputs(weights: StoredLayer, data: Dataset) -> Any:
    attention = Attention.of(weights, data)
    found = np.array([[float(x.mid()) for x in row] for row in attention.outputs().tolist()])
    labels = attention.data.label_matrix.tolist()
    gaps = found - [[int(x.p) / int(x.q) for x in row] for row in labels]
    return gaps + data.labels.floats()


def multihead(**options: Any) -> Any:
    torch.manual_seed(1)
    module = torch.nn.MultiheadAttention(D, HEADS, batch_first=True, **options)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_()
    return module.eval()


@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_multihead_attention(dtype: str, biased: bool, tmp_path: Path) -> None:
    """From the module and from its file, against its own forward pass in float64."""
    module = multihead(bias=biased).to(getattr(torch, dtype))
    state = module.state_dict()
    torch.save({"model": {"attn": state}}, tmp_path / "x.pt")
    twin = multihead(bias=biased).double()
    twin.load_state_dict({key: x.double() for key, x in state.items()})
    x = torch.randn(BATCH, N, D, dtype=torch.float64)
    with record(twin) as taken, torch.no_grad():
        twin(x, x, x)
    assert not taken.data.ragged and taken.data.T == BATCH * N
    for weights in (Weights.from_torch(module), load_weights(tmp_path / "x.pt", heads=HEADS)):
        found = outputs(weights, taken.data)
        np.testing.assert_allclose(found, taken.data.labels.floats(), rtol=0, atol=1e-12)


def test_masks_of_multihead_attention() -> None:
    """Causal, padding, both, as truth values or numbers: what the module saw, the audit sees."""
    module = multihead().double()
    x = torch.randn(BATCH, N, D, dtype=torch.float64)
    causal = torch.triu(torch.ones(N, N, dtype=torch.bool), 1)
    padding = torch.zeros(BATCH, N, dtype=torch.bool)
    padding[0, 3:] = True
    low = torch.zeros(N, N, dtype=torch.float64).masked_fill(causal, -torch.inf)
    each = causal.expand(BATCH * HEADS, N, N)
    for given in (
        {"attn_mask": causal, "is_causal": True}, {"attn_mask": low}, {"attn_mask": each},
        {"key_padding_mask": padding}, {"attn_mask": causal, "key_padding_mask": padding},
    ):  # fmt: skip
        with record(module) as taken, torch.no_grad():
            module(x, x, x, need_weights=False, **given)
        causal_rows = [*range(1, N + 1)] if "attn_mask" in given else [N] * N
        padded_rows = [min(n, 3 if "key_padding_mask" in given else N) for n in causal_rows]
        assert taken.data.counts == (*padded_rows, *causal_rows)
        found = outputs(Weights.from_torch(module), taken.data)
        np.testing.assert_allclose(found, taken.data.labels.floats(), rtol=0, atol=1e-12)
    with pytest.raises(InputError, match="attn_mask: must be a mask"), record(module):
        module(x, x, x, attn_mask=low.clamp(min=-2.0))
    with pytest.raises(InputError, match="value: must be the same as key"), record(module):
        module(x, x, x + 1)
    assert not module._forward_hooks, "hooks are taken off, whatever happens"


def test_positions_lengths_and_cross_attention() -> None:
    module = multihead().double()
    with record(module, positions=[-1]) as taken, torch.no_grad():
        for n in (3, 5):
            x = torch.randn(BATCH, n, D, dtype=torch.float64)
            module(torch.randn(BATCH, 2, D, dtype=torch.float64), x, x)
    data = taken.data
    assert data.counts == (3, 3, 5, 5)
    found = outputs(Weights.from_torch(module), data)
    np.testing.assert_allclose(found, data.labels.floats(), rtol=0, atol=1e-12)


def test_a_layer_inside_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The ten lines of the documentation; past PyTorch's fast path, with a padding mask."""
    torch.manual_seed(3)
    layer = torch.nn.TransformerEncoderLayer(D, HEADS, 16, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 2).eval()
    batch = torch.randn(BATCH, N, D)
    padding = torch.zeros(BATCH, N, dtype=torch.bool)
    padding[1, 4] = True
    with record(model.layers[1].self_attn) as taken, torch.no_grad():
        model(batch, src_key_padding_mask=padding)
    data, mask = taken.save(tmp_path / "batch.npz")
    torch.save(model.state_dict(), tmp_path / "model.pt")
    words = ["layer", str(tmp_path / "model.pt"), str(data), "--mask", str(mask)]
    words += ["--tolerance", "1e-5", "--out", str(tmp_path / "out"), "--heads", str(HEADS)]
    assert main(words) == 2
    assert "must be one of layers.0.self_attn, layers.1.self_attn" in capsys.readouterr().err
    assert main([*words, "--prefix", "layers.1.self_attn"]) == 0
    assert capsys.readouterr().out.startswith("Numerical only. On all 10")


def test_what_is_refused(tmp_path: Path) -> None:
    class Code:
        def __reduce__(self) -> Any:
            return Path.touch, (tmp_path / "ran",)

    class Blocked:
        def __reduce__(self) -> Any:
            return os.system, (f"touch {tmp_path / 'ran'}",)

    contents = {"code": {"w": Code()}, "blocked": {"w": Blocked()}, "module": multihead()}
    for name, content in contents.items():
        torch.save(content, tmp_path / f"{name}.pt")
        with pytest.raises(InputError, match="not one with code in it, which is not run"):
            load_weights(tmp_path / f"{name}.pt", heads=HEADS)
    assert not (tmp_path / "ran").exists()
    (tmp_path / "x.pt").write_bytes(b"\x80\x02.")
    with pytest.raises(InputError, match=r"x\.pt: must be a \.pt file of tensors alone"):
        load_weights(tmp_path / "x.pt")
    torch.save([1], tmp_path / "y.pt")
    with pytest.raises(InputError, match=r"made of query, key, value and output .* not of nothing"):
        load_weights(tmp_path / "y.pt")
    for options in ({"add_bias_kv": True}, {"kdim": 3, "vdim": 3}, {"add_zero_attn": True}):
        with pytest.raises(
            InputError, match=r"add_zero_attn: must be False|module|layer: must be made"
        ):
            Weights.from_torch(multihead(**options))
    with pytest.raises(InputError, match="must be run once at least inside"):
        Recording().data  # noqa: B018
    for module in (3, torch.nn.Linear(2, 2)):
        with pytest.raises(InputError, match="module: must be"), record(module):
            pass
    quantized = {"in_proj_weight": torch.ones(6, 2).int(), "out_proj.weight": torch.ones(2, 2)}
    torch.save(quantized, tmp_path / "z.pt")
    with pytest.raises(InputError, match="in_proj_weight: must be of float16, bfloat16"):
        load_weights(tmp_path / "z.pt", heads=1)


# One hundred random layers of each format.


def by_torch(style: str, state: Any, heads: int, x: Any, e: Any) -> Any:
    """A forward pass by PyTorch's own functions, float64: (T, n, d) contexts, (T, d) queries."""
    t = {key: torch.from_numpy(np.asarray(y, dtype=np.float64)) for key, y in state.items()}
    linear = torch.nn.functional.linear
    if style == "gpt2":
        t = {key: y.T if y.ndim == 2 else y for key, y in t.items()}
    if style == "mha":
        module = torch.nn.MultiheadAttention(e.shape[1], heads, batch_first=True,
                                             bias="in_proj_bias" in t).double().eval()  # fmt: skip
        module.load_state_dict(t)
        with torch.no_grad():
            return module(e[:, None], x, x, need_weights=False)[0][:, 0].numpy()
    weights = [key for key in state if key.endswith("weight")]
    out = weights[-1].removesuffix(".weight")
    inner = t[f"{out}.weight"].shape[1]
    if len(weights) == 2:
        name = weights[0].removesuffix(".weight")
        both = [t[f"{name}.weight"], t.get(f"{name}.bias")]
        others = (len(both[0]) - inner) // 2
        sizes = (inner, others, others)
        parts = [y.split(sizes) if y is not None else (None,) * 3 for y in both]
        (q, k, v), biases = parts
    else:
        q, k, v = (t[name] for name in weights[:3])
        biases = [t.get(name.replace("weight", "bias")) for name in weights[:3]]
    sources = zip((e[:, None], x, x), (q, k, v), biases, strict=True)
    q, k, v = (
        linear(y, w, b).unflatten(-1, (-1, inner // heads)).transpose(1, 2) for y, w, b in sources
    )
    mixed = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, enable_gqa=k.shape[1] != q.shape[1]
    )
    bias = t.get(f"{out}.bias")
    return linear(mixed.transpose(1, 2).flatten(2), t[f"{out}.weight"], bias)[:, 0].numpy()


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
def test_one_hundred_random_layers(style: str, tmp_path: Path) -> None:
    """Outputs within rounding, and the same examples within a tolerance."""
    rng = np.random.default_rng(STYLES.index(style))
    worst, verdicts = 0.0, 0
    for _ in range(100):
        heads, width, d = int(rng.integers(1, 5)), int(rng.integers(1, 5)), int(rng.integers(2, 8))
        if style in ("mha", "gpt2", "nanogpt"):  # no other width in these
            d = heads * width
        groups = [g for g in range(1, heads + 1) if heads % g == 0] if style in GROUPED else [heads]
        layer = third_party(
            style, rng, d=d, heads=heads, width=width, groups=int(rng.choice(groups)),
            biased=bool(rng.integers(2)), dtype=rng.choice([np.float16, np.float32, np.float64]),
        )  # fmt: skip
        n = int(rng.integers(1, 6))
        x, e = rng.normal(size=(4, n, d)), rng.normal(size=(4, d))
        y = by_torch(style, layer.state, heads, torch.from_numpy(x), torch.from_numpy(e))
        labels = y + rng.choice([0.05, 0.2], size=(4, 1))
        np.savez(tmp_path / "x.npz", **layer.state)
        weights = load_weights(tmp_path / "x.npz", heads=heads)
        data = Dataset.of(x, e, labels)
        worst = max(worst, float(abs(outputs(weights, data) - y).max()))
        found = audit_layer(Attention.of(weights, data), limit=at_most(Fraction(1, 10)))
        expected = [t for t in range(4) if abs(y[t] - labels[t]).max() > 0.1]
        verdicts += found["layer.memorizes"].numbers["beyond"] == expected
    print(json.dumps({"style": style, "largest difference": worst, "equal verdicts": verdicts}))
    assert worst < 1e-11 and verdicts == 100


def test_files_that_ask_for_much(tmp_path: Path) -> None:
    """Dictionaries in themselves and in many others; tensors without numbers; compressed ones."""
    one = torch.eye(2)
    state: dict[str, Any] = {f"{x}_proj.weight": one for x in ("q", "k", "v", "out")}

    def read(content: Any) -> StoredLayer:
        torch.save(content, tmp_path / "x.pt")
        return load_weights(tmp_path / "x.pt", heads=1)

    shared: dict[str, Any] = {"x": 1}
    for _ in range(40):
        shared = {"a": shared, "b": shared}
    around = {**state, "shared": shared}
    around["around"] = around
    assert len(read(around).layer.heads) == 1
    for change in (lambda x: x.to("meta"), torch._neg_view):
        with pytest.raises(InputError, match="tensors alone, as"):
            read({name: change(x) for name, x in state.items()})
    torch.save(state | {"other": torch.zeros(10**6)}, tmp_path / "x.pt")
    packing = zipfile.ZipFile(tmp_path / "y.pt", "w", zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(tmp_path / "x.pt") as stored, packing as packed:
        for name in stored.namelist():
            packed.writestr(name, stored.read(name))
    with pytest.raises(InputError, match="that is not compressed"):
        load_weights(tmp_path / "y.pt", heads=1)


def test_two_tensors_of_one_name_are_refused(tmp_path: Path) -> None:
    """Joined by dots, they are one: neither is the layer."""
    x, out = torch.ones(6, 2), {"out_proj.weight": torch.ones(2, 2)}
    torch.save(
        {"a": {"b.in_proj_weight": x, "b": {"in_proj_weight": 2 * x} | out}}, tmp_path / "x.pt"
    )
    with pytest.raises(InputError, match=r"each tensor once, not two of 'a\.b\.in_proj_weight'"):
        load_weights(tmp_path / "x.pt", heads=1)

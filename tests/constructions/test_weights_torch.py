"""Compares weights, files and forward passes of PyTorch's own modules with the audit's outputs."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from support.third_party import gaps

from attncert.cli import main
from attncert.constructions.errors import InputError
from attncert.constructions.weights.load import load_weights
from attncert.constructions.weights.recording import record
from attncert.constructions.weights.stored import StoredLayer
from attncert.constructions.weights.weights import Weights

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[torch]'")

D, HEADS, N, BATCH = 8, 4, 5, 2


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
    """Weights from the module and from its file are compared with its forward pass in float64."""
    module = multihead(bias=biased).to(getattr(torch, dtype))
    state = module.state_dict()
    torch.save({"model": state, "epoch": 1}, tmp_path / "x.pt")
    twin = multihead(bias=biased).double()
    twin.load_state_dict({key: x.double() for key, x in state.items()})
    x = torch.randn(BATCH, N, D, dtype=torch.float64)
    with record(twin) as taken, torch.no_grad():
        twin(x, x, x)
    assert not taken.data.ragged and taken.data.T == BATCH * N
    for weights in (Weights.from_torch(module), load_weights(tmp_path / "x.pt", heads=HEADS)):
        assert abs(gaps(weights, taken.data)).max() < 1e-12


def test_masks_of_multihead_attention() -> None:
    """Masks are causal, for padding, or both; their entries are booleans or numbers. The audit sees
    the same rows."""
    module = multihead().double()
    x = torch.randn(BATCH, N, D, dtype=torch.float64)
    causal = torch.triu(torch.ones(N, N, dtype=torch.bool), 1)
    padding = torch.zeros(BATCH, N, dtype=torch.bool)
    padding[0, 3:] = True
    low = torch.zeros(N, N, dtype=torch.float64).masked_fill(causal, -torch.inf)
    for given in (
        {"attn_mask": causal, "is_causal": True}, {"attn_mask": low},
        {"key_padding_mask": padding}, {"attn_mask": causal, "key_padding_mask": padding},
    ):  # fmt: skip
        with record(module) as taken, torch.no_grad():
            module(x, x, x, need_weights=False, **given)
        causal_rows = [*range(1, N + 1)] if "attn_mask" in given else [N] * N
        padded_rows = [min(n, 3 if "key_padding_mask" in given else N) for n in causal_rows]
        assert taken.data.counts == (*padded_rows, *causal_rows)
        assert abs(gaps(Weights.from_torch(module), taken.data)).max() < 1e-12
    with pytest.raises(InputError, match=r"attn_mask: must be .L, S., the same"), record(module):
        module(x, x, x, attn_mask=causal.expand(BATCH * HEADS, N, N))
    with pytest.raises(InputError, match="attn_mask: must be a mask"), record(module):
        module(x, x, x, attn_mask=low.clamp(min=-2.0))
    with pytest.raises(InputError, match="value: must be the same as key"), record(module):
        module(x, x, x + 1)
    assert not module._forward_hooks, "hooks are always removed"


def test_positions_lengths_and_cross_attention() -> None:
    module = multihead().double()
    with record(module, positions=[-1]) as taken, torch.no_grad():
        for n in (3, 5):
            x = torch.randn(BATCH, n, D, dtype=torch.float64)
            module(torch.randn(BATCH, 2, D, dtype=torch.float64), x, x)
    data = taken.data
    assert data.counts == (3, 3, 5, 5)
    assert abs(gaps(Weights.from_torch(module), data)).max() < 1e-12


def test_a_layer_inside_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The example from the documentation, without PyTorch's fast path, and with a padding mask."""
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
        with pytest.raises(InputError, match="not one that contains code, which is not run"):
            load_weights(tmp_path / f"{name}.pt", heads=HEADS)
    assert not (tmp_path / "ran").exists()
    (tmp_path / "x.pt").write_bytes(b"\x80\x02.")
    with pytest.raises(InputError, match=r"x\.pt: must be a \.pt file of tensors only"):
        load_weights(tmp_path / "x.pt")
    torch.save([1], tmp_path / "y.pt")
    with pytest.raises(InputError, match=r"made of query, key, value and output .* not of nothing"):
        load_weights(tmp_path / "y.pt")
    for options in ({"add_bias_kv": True}, {"add_zero_attn": True}):
        with pytest.raises(
            InputError, match=r"add_zero_attn: must be False|module|layer: must be made"
        ):
            Weights.from_torch(multihead(**options))
    with pytest.raises(InputError, match="module: must be"), record(torch.nn.Linear(2, 2)):
        pass
    quantized = {"in_proj_weight": torch.ones(6, 2).int(), "out_proj.weight": torch.ones(2, 2)}
    torch.save(quantized, tmp_path / "z.pt")
    with pytest.raises(InputError, match="in_proj_weight: must be of float16, bfloat16"):
        load_weights(tmp_path / "z.pt", heads=1)


def test_files_that_ask_for_much(tmp_path: Path) -> None:
    """A dictionary that contains itself, tensors without numbers, and compressed tensors."""
    one = torch.eye(2)
    state: dict[str, Any] = {f"{x}_proj.weight": one for x in ("q", "k", "v", "out")}

    def read(content: Any) -> StoredLayer:
        torch.save(content, tmp_path / "x.pt")
        return load_weights(tmp_path / "x.pt", heads=1)

    around: dict[str, Any] = {**state, "other": {"x": 1}}
    around["around"] = around
    assert len(read(around).layer.heads) == 1
    for change in (lambda x: x.to("meta"), torch._neg_view):
        with pytest.raises(InputError, match=r"tensors only, as|a dense array"):
            read({name: change(x) for name, x in state.items()})
    torch.save(state | {"other": torch.zeros(10**6)}, tmp_path / "x.pt")
    packing = zipfile.ZipFile(tmp_path / "y.pt", "w", zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(tmp_path / "x.pt") as stored, packing as packed:
        for name in stored.namelist():
            packed.writestr(name, stored.read(name))
    with pytest.raises(InputError, match="that is not compressed"):
        load_weights(tmp_path / "y.pt", heads=1)

"""Weights from files: the three formats agree; a file that is not a layer gives a one-line
error."""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file
from support.shell import Shell

from attncert.cli import main
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray
from attncert.constructions.errors import InputError
from attncert.constructions.layer import LAYER_BLOCK
from attncert.constructions.weights.load import load_weights
from attncert.constructions.weights.stored import StoredLayer
from attncert.verify.prove.prove import prove
from attncert.verify.questions.prove import Prove
from attncert.verify.third_party.layer.mask import read_mask

RNG = np.random.default_rng(1)
H, D, WIDTH, VALUES, M = 3, 4, 2, 2, 1
ARRAYS = {
    "query": RNG.normal(size=(H, D, WIDTH)).astype("float32"),
    "key": RNG.normal(size=(H, D, WIDTH)).astype("float32"),
    "value": RNG.normal(size=(H, D, VALUES)).astype("float32"),
    "output": RNG.normal(size=(H, VALUES, M)).astype("float32"),
}
PAPER = {"query": "W_Q", "key": "W_K", "value": "W_V", "output": "W_O"}
DATA = {"contexts": [[[1, 0, 2, 1], [0, 1, 1, 3]]], "queries": [[1, 2, 0, 1], [3, 1, 1, 0]],
        "labels": [5, "1/3"]}  # fmt: skip


def entries(stored: StoredLayer) -> Any:
    layer = stored.layer
    assert layer.output is not None
    parts = [m.tolist() for head in layer.heads for m in (head.key, head.query, head.value)]
    return [*parts, layer.output.tolist()]


def written(array: np.ndarray) -> Any:
    """The numbers that floats store, as text."""
    return ExactArray.of(array).strings()


def test_the_formats_agree(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **ARRAYS)
    np.savez_compressed(tmp_path / "b.npz", **{PAPER[key]: x for key, x in ARRAYS.items()})
    flat = ARRAYS | {"output": ARRAYS["output"].reshape(H * VALUES, M)}
    save_file(flat, tmp_path / "c.safetensors")
    parts = ("query", "key", "value")
    heads = [{key: written(ARRAYS[key][h]) for key in parts} for h in range(H)]
    block = LAYER_BLOCK | {"heads": heads, "output": written(flat["output"]), "logit_unit": "1"}
    (tmp_path / "d.json").write_text(json.dumps({"network": [block]}))
    names = ("a.npz", "b.npz", "c.safetensors", "d.json")
    found = [load_weights(tmp_path / name) for name in names]
    assert [x.dtype for x in found] == ["float32"] * 3 + ["rational"]
    assert all(entries(x) == entries(found[0]) for x in found)
    numbers = [float(x.p) / float(x.q) for x in found[0].layer.heads[1].key.entries()]
    assert numbers == ARRAYS["key"][1].astype(float).ravel().tolist(), "taken exactly"


def test_one_head_without_its_axis(tmp_path: Path) -> None:
    np.savez(tmp_path / "one.npz", **{key: x[0] for key, x in ARRAYS.items()})
    assert len(load_weights(tmp_path / "one.npz").layer.heads) == 1


def test_a_certificate_is_its_own_layer(tmp_path: Path) -> None:
    data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    proof = prove(data, Prove(heads=2))
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(proof.certificate))
    stored = load_weights(path)
    assert stored.unit == "ln2"
    assert proof.layer is not None
    assert entries(stored) == entries(StoredLayer(proof.layer, ""))


_HEADER = b'{"query":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}}'
_FLOAT8 = len(_HEADER).to_bytes(8, "little") + _HEADER + b"\0"


def npz(**changed: np.ndarray | None) -> bytes:
    """The layer's archive with these arrays changed, or left out."""
    arrays, file = {**ARRAYS, **changed}, io.BytesIO()
    np.savez(file, **{key: x for key, x in arrays.items() if x is not None})
    return file.getvalue()


BAD: dict[str, tuple[str, bytes | str, str]] = {
    "no npz": ("x.npz", b"PK", "must be an .npz archive as numpy.savez writes it"),
    "no safetensors": ("x.safetensors", b"\x02\0\0\0\0\0\0\0{}", "made of query, key"),
    "a dtype of 8 bits": ("x.safetensors", _FLOAT8, "must be a .safetensors file of float16"),
    "empty safetensors": ("x.safetensors", b"", "must be a .safetensors file"),
    "no JSON": ("x.json", b"{", "must be JSON, not a text with an error"),
    "no network": ("x.json", '{"heads": 3}', 'must be a JSON file {"network": blocks}'),
    "a key missing": ("x.npz", npz(value=None), "made of query"),
    "a bias": ("x.npz", npz(bias=np.ones(1)), "in any known format, not one with"),
    "a NaN": ("x.npz", npz(query=ARRAYS["query"] * np.nan), "not nan"),
    "too few outputs": ("x.npz", npz(output=np.ones((5, 1))), "output: must be of shape (3, 2, m)"),
    "a vector": ("x.npz", npz(query=np.ones(2)), "query: must be nonempty, of shape"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_one_line(name: str, tmp_path: Path, shell: Shell) -> None:
    file, content, line = BAD[name]
    path = tmp_path / file
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError) as error:
        load_weights(path)
    assert line in str(error.value) and "\n" not in str(error.value)
    (tmp_path / "data.json").write_text(json.dumps(DATA))
    shell.refuses("layer", path, tmp_path / "data.json", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_sizes_of_arrays_are_looked_at_first(tmp_path: Path) -> None:
    path = tmp_path / "big.npz"
    np.savez_compressed(path, query=np.zeros(2**23 + 1, dtype="float64"))
    with pytest.raises(InputError, match="arrays of at most"):
        load_weights(path)
    np.savez(path, query=np.array([object()], dtype=object))
    with pytest.raises(InputError):
        load_weights(path)


# The command.


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "data.json").write_text(json.dumps(DATA))
    np.savez(tmp_path / "layer.npz", **ARRAYS)
    return tmp_path


def run(files: Path, *options: str) -> tuple[int, dict[str, Any]]:
    out = files / "out"
    arguments = ["layer", str(files / "layer.npz"), str(files / "data.json")]
    status = main([*arguments, "--out", str(out), *options])
    return status, json.loads((out / "answer.json").read_text())


def by_id(content: dict[str, Any]) -> dict[str, Any]:
    return {claim["id"]: claim for claim in content["claims"]}


def test_the_command(files: Path) -> None:
    status, content = run(files)
    assert status == 1, "random weights do not memorize"
    claims = {claim["id"]: claim["numbers"] for claim in content["claims"]}
    assert content["exhibits"]["dtype"] == "float32" and len(claims["layer.error"]["errors"]) == 2
    assert "layer.rank" in claims
    status, _ = run(files, "--tolerance", "1000")
    assert status == 0
    content = run(files, "--scale", "sqrt-d", "--logit-unit", "ln2")[1]
    read = content["exhibits"]
    assert (read["scale"], read["logit unit"]) == ("sqrt-d", "ln2")
    others = {claim["id"]: claim["numbers"] for claim in content["claims"]}
    assert others["layer.error"] != claims["layer.error"]


def test_masks_from_files(files: Path) -> None:
    data = Dataset.of(**DATA)
    np.savez(files / "mask.npz", mask=np.array([0, 1], dtype="int8"))
    assert read_mask(str(files / "mask.npz"), data)[0].tolist() == [[False, True]] * 2
    visible = np.array([[True, False], [True, True]])
    for name in ("mask", "attn_mask", "key_padding_mask"):
        np.savez(files / "mask.npz", **{name: visible if name == "mask" else ~visible})
        assert (read_mask(str(files / "mask.npz"), data)[0] == visible).all()
    assert run(files, "--mask", str(files / "mask.npz"))[1]["exhibits"]["masked"]
    for arrays, line in (
        ({"mask": visible * 0.5}, "of 0 and 1, or of booleans, not .*: mask of float64 and other"),
        ({"mask": visible * 2}, "of 0 and 1, or of booleans, not .*: mask of int64 and other num"),
        ({"mask": visible, "attn_mask": visible}, "one of mask, .* with 'mask', 'attn_mask'"),
        ({"x": visible}, "with one of mask, attn_mask, key_padding_mask, not with 'x'"),
    ):
        np.savez(files / "mask.npz", **arrays)
        with pytest.raises(InputError, match=line):
            read_mask(str(files / "mask.npz"), data)
    (files / "mask.json").write_text("[[1, 0], [1, 1]]")
    with pytest.raises(InputError, match=r"an \.npz archive as numpy"):
        read_mask(str(files / "mask.json"), data)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["1/2", "x", 1e308, 2.5]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*ARRAYS, "heads", "network"]), inner, max_size=5)
    ),
    max_leaves=12,
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from([*ARRAYS, "heads", "network", "logit_unit"]), JUNK) | JUNK)
def test_no_json_gives_a_traceback(value: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "layer.json"
        path.write_text(json.dumps(value))
        try:
            stored = load_weights(path)
        except InputError as error:
            assert "\n" not in str(error) and ": must be " in str(error)
        else:
            assert stored.layer.heads

"""Embedding without a model: batches, shards, what is kept, resuming, and bad input."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.embedding_cases import FakeNetwork
from support.shell import Shell

from attncert.constructions.errors import InputError
from attncert.verify.questions.embed import Embed
from attncert.verify.third_party.assume.embeddings import load_embeddings
from attncert.verify.third_party.models import embed as module
from attncert.verify.third_party.models.embed import embed
from attncert.verify.third_party.models.inputs import open_inputs

IDS = np.random.default_rng(1).integers(0, 10, (23, 5))


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> FakeNetwork:
    fake = FakeNetwork()
    monkeypatch.setattr(module, "build", lambda *a: fake)
    return fake


@pytest.fixture
def tokens(tmp_path: Path) -> str:
    np.save(tmp_path / "t.npy", IDS)
    return str(tmp_path / "t.npy")


def run(source: str, folder: Path, **settings: Any) -> dict[str, Any]:
    return embed("fake", source, folder, Embed(batch=8, **settings))


def killed(source: str, folder: Path, after: int) -> None:
    """A run that ends after this many inputs, rounded up to a shard."""

    def stop(stage: str, done: int, of: int) -> None:
        if done >= after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed("fake", source, folder, Embed(batch=8), stop)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_input_is_embedded_once(network: FakeNetwork, tokens: str, tmp_path: Path) -> None:
    summary = run(tokens, tmp_path / "o", contexts=4, query="last")
    found, all_states = load_embeddings(tmp_path / "o"), network.states({"input_ids": IDS})
    assert (found.queries.array == all_states[:, -1]).all()
    assert found.with_context == (0, 5, 11, 17)
    assert all((context == all_states[k]).all() for k, context in found.contexts())
    assert [summary[key] for key in ("inputs", "kept", "shards", "reused")] == [23, 4, 3, 0]
    assert (found.heads, found.head_width, found.provenance["query"]) == (2, 3, "last")


def test_a_killed_run_goes_on(network: FakeNetwork, tokens: str, tmp_path: Path) -> None:
    run(tokens, tmp_path / "whole")
    killed(tokens, tmp_path / "o", after=8)
    with pytest.raises(InputError, match='of "inputs" as in its shards, 8, not 23'):
        load_embeddings(tmp_path / "o")
    summary = run(tokens, tmp_path / "o")
    assert (summary["reused"], summary["shards"]) == (1, 3)
    assert content(tmp_path / "o") == content(tmp_path / "whole")
    assert run(tokens, tmp_path / "o")["reused"] == 3


def _flip(path: Path) -> None:
    bits = bytearray(path.read_bytes())
    bits[len(bits) // 2] ^= 1
    path.write_bytes(bits)


def _unlisted(path: Path) -> None:
    """Change a shard as a killed run leaves it, before its manifest is written."""
    manifest = json.loads((path.parent / "manifest.json").read_text())
    manifest["shards"] = [entry for entry in manifest["shards"] if entry["file"] != path.name]
    (path.parent / "manifest.json").write_text(json.dumps(manifest))
    _flip(path)


@pytest.mark.parametrize(
    "damage", [_flip, _unlisted, Path.unlink, lambda path: path.write_text("")]
)
def test_only_whole_shards_are_reused(
    damage: Callable[[Path], Any], network: FakeNetwork, tokens: str, tmp_path: Path
) -> None:
    run(tokens, tmp_path / "whole")
    killed(tokens, tmp_path / "o", after=16)
    damage(tmp_path / "o" / "shard-00000.npz")
    assert run(tokens, tmp_path / "o")["reused"] == 1
    assert content(tmp_path / "o") == content(tmp_path / "whole")


def test_only_the_same_run_goes_on(network: FakeNetwork, tokens: str, tmp_path: Path) -> None:
    killed(tokens, tmp_path / "o", after=8)
    np.save(tmp_path / "other.npy", IDS[::-1])
    for source, settings in ((tokens, {"query": "last"}), (str(tmp_path / "other.npy"), {})):
        with pytest.raises(InputError, match="the folder of the same run"):
            run(source, tmp_path / "o", **settings)
    network.provenance = {"model": "fake", "weights sha256": "of other tensors"}
    with pytest.raises(InputError, match="the folder of the same run"):
        run(tokens, tmp_path / "o")


def test_a_folder_of_another_kind_of_run(network: FakeNetwork, tokens: str, tmp_path: Path) -> None:
    for name in ("bytes", "pipe", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "bytes" / "manifest.json").write_bytes(b"\xff")
    os.mkfifo(tmp_path / "pipe" / "manifest.json")
    (tmp_path / "other" / "x").touch()
    for name in ("bytes", "pipe", "other"):
        with pytest.raises(InputError, match="--out: must be new, empty, or the folder of the"):
            run(tokens, tmp_path / name)
    with pytest.raises(InputError, match="--out: must be a folder that can be written"):
        run(tokens, tmp_path / "other" / "x")


@pytest.mark.parametrize(
    "array", [IDS * 0.5, IDS[0], IDS[:0], np.zeros((2, 4, 4), np.uint8), np.array([{}])]
)
def test_bad_arrays(array: np.ndarray, network: FakeNetwork, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(InputError, match=r"a\.npy: must be an array of tokens, integers"):
        run(str(tmp_path / "a.npy"), tmp_path / "o")


def test_what_is_no_file_is_not_read(network: FakeNetwork, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "text")
    for source, said in (
        ("text", "text: must be a file, not a directory, a pipe or a device"),
        ("nothing", "nothing: there is no such file; it must be a folder of images"),
        ("", "folder with images"),
    ):
        with pytest.raises(InputError, match=said):
            open_inputs(str(tmp_path / source), "fake", Embed(length=5 if source else None))
    os.mkfifo(tmp_path / "b.png")
    with pytest.raises(InputError, match=r"b\.png: must be a file, not"):
        open_inputs(str(tmp_path), "fake", Embed())


def test_a_command_without_the_extra(
    monkeypatch: pytest.MonkeyPatch, shell: Shell, tmp_path: Path
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    (tmp_path / "x").write_text("a text")
    words = ["embed", "gpt2", tmp_path / "x", "--length=5", "--out", tmp_path / "o"]
    assert "pip install '.[models]'" in shell.refuses(*words)
    for wrong in ("some", "9" * 5000, "٣"):
        shell.refuses("embed", "g", "x", "--out", "o", f"--contexts={wrong}")
    assert not (tmp_path / "o").exists()

"""Embedding without a model: batches, shards, what is kept, going on, and bad input."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.embedding_cases import FakeNetwork

import attncert
from attncert.constructions.errors import InputError
from attncert.constructions.models import embed as room
from attncert.constructions.models.embed import EmbedSettings, embed
from attncert.constructions.models.embeddings import load_embeddings
from attncert.constructions.models.inputs import Folder, Pixels, open_inputs

IDS = np.random.default_rng(1).integers(0, 10, (23, 5))


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> FakeNetwork:
    fake = FakeNetwork()
    monkeypatch.setattr(room, "build", lambda *a, **k: fake)
    monkeypatch.setattr(room, "_SHARD_INPUTS", 8)
    return fake


@pytest.fixture
def tokens(tmp_path: Path) -> str:
    np.savez(tmp_path / "t.npz", tokens=IDS)
    return str(tmp_path / "t.npz")


def run(source: str, folder: Path, **settings: Any) -> Any:
    return embed("fake", source, folder, EmbedSettings(**settings))


def test_every_input_is_embedded_once(network: FakeNetwork, tokens: str, tmp_path: Path) -> None:
    made = run(tokens, tmp_path / "o", batch=3, contexts=4, query="2")
    found, all_states = load_embeddings(tmp_path / "o"), network.states({"input_ids": IDS})
    assert (found.queries == all_states[:, 2]).all()
    assert found.kept == (0, 5, 11, 17)
    assert all((context == all_states[k]).all() for k, context in found.contexts())
    assert (made.inputs, made.kept, made.shards, made.reused) == (23, 4, 3, 0)
    assert (found.heads, found.head_width, found.provenance["query"]) == (2, 3, "2")


def test_an_interrupted_run_goes_on(network: FakeNetwork, tokens: str, tmp_path: Path) -> None:
    run(tokens, tmp_path / "whole", batch=4)

    def stop(stage: str, done: int, of: int) -> None:
        if done == 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed("fake", tokens, tmp_path / "whole2", EmbedSettings(batch=4), stop)
    left = tmp_path / "whole2"
    with pytest.raises(InputError, match=r"a folder of embeddings with manifest\.json"):
        load_embeddings(left)
    with pytest.raises(InputError, match="the folder of the same run"):
        run(tokens, left, batch=4, query="1")
    made = run(tokens, left, batch=4)
    assert (made.reused, made.shards) == (1, 3)
    files = sorted(path.name for path in left.iterdir())
    assert files == sorted(path.name for path in (tmp_path / "whole").iterdir())
    for name in files[1:]:
        assert (left / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    with pytest.raises(InputError, match="the folder of the same run"):  # it is finished
        run(tokens, left, batch=4)


def test_nothing_is_spent_beyond_the_memory(
    network: FakeNetwork, tokens: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="--memory: must be at least 1 MiB"):
        run(tokens, tmp_path / "o", memory=1000)
    assert not (tmp_path / "o").exists()


def test_wider_arithmetic_is_stored_as_it_is(
    network: FakeNetwork, tokens: str, tmp_path: Path
) -> None:
    run(tokens, tmp_path / "o", dtype="float64")
    found = load_embeddings(tmp_path / "o")
    assert found.queries.dtype == np.float64
    assert next(found.contexts())[1].dtype == np.float64


def test_a_model_of_nan_writes_nothing(network: FakeNetwork, tokens: str, tmp_path: Path) -> None:
    network.spoiled = int(IDS[0, 1])
    with pytest.raises(InputError, match="finite numbers, not NaN or infinite, input 0"):
        run(tokens, tmp_path / "o")
    assert not (tmp_path / "o").exists()


def test_a_folder_of_another_kind_of_run(network: FakeNetwork, tokens: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(b"\xff")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "run.json")
    (tmp_path / "t.npz").rename(tmp_path.parent / "t.npz")
    for folder in (tmp_path / "pipe", tmp_path):
        with pytest.raises(
            InputError, match="--out: must be new, empty, or the folder of the same"
        ):
            run(str(tmp_path.parent / "t.npz"), folder)


def test_an_interrupt_says_what_is_kept(
    network: FakeNetwork,
    tokens: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(batch: object) -> np.ndarray:
        raise KeyboardInterrupt

    monkeypatch.setattr(network, "states", interrupted)
    words = ["embed", "fake", tokens, "--out", str(tmp_path / "o")]
    assert attncert.main(words) == 130 and capsys.readouterr().err == "interrupted\n"


def test_extreme_means_of_pixels_give_no_warning() -> None:
    pixels = Pixels(2, mean=(0.5, float("inf"), 1e38), deviation=(1e-300, 1.0, 1e-30))
    found = pixels.of(np.zeros((1, 2, 2, 3), dtype=np.uint8))["pixel_values"]
    assert not np.isfinite(found).any()


def test_nan_is_one_line(network: FakeNetwork, tokens: str, tmp_path: Path) -> None:
    network.spoiled = int(IDS[20, 1])
    first = int(np.argmax((network.spoiled == IDS).any(axis=1)))
    with pytest.raises(InputError, match=f"finite numbers, not NaN or infinite, input {first}"):
        run(tokens, tmp_path / "o")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"query": "5"}, "--query: must be first, last, or a position from 0 to 4"),
        ({"query": "-1"}, "--query"),
        ({"query": "9" * 5000}, "--query"),
        ({"query": "٣"}, "--query"),
        ({"count": 24}, "--count: must be at most 23"),
        ({"length": 3}, "--length: must be left out"),
        ({"batch": 0}, "--batch"),
        ({"dtype": "float16"}, "--dtype: must be float32 or float64"),
        ({"contexts": -1}, "--contexts"),
    ],
)
def test_bad_settings(
    settings: dict[str, Any], said: str, network: FakeNetwork, tokens: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=said):
        run(tokens, tmp_path / "o", **settings)


def test_bad_inputs(network: FakeNetwork, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", tokens=IDS + 5)
    np.savez(tmp_path / "b.npz", token=IDS)
    np.savez(tmp_path / "c.npz", tokens=np.hstack([IDS, IDS]))
    np.savez(tmp_path / "d.npz", tokens=IDS * 0.5)
    for name, said in {
        "a": "ids from 0 to 9", "b": "made of tokens", "c": "at most 5 tokens", "d": "integers",
        "e": "missing",
    }.items():  # fmt: skip
        with pytest.raises(InputError, match=said):
            run(str(tmp_path / f"{name}.npz"), tmp_path / "o")
    with pytest.raises(InputError, match="another kind"):
        run(str(tmp_path), tmp_path / "o")


def test_images_of_a_folder(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    size = {"pixels": Pixels(4), "tokenizer": "", "length": None, "longest": None, "count": None}
    with pytest.raises(InputError, match="a folder with images"):
        open_inputs(str(tmp_path), **size)  # type: ignore[arg-type]
    image.new("L", (8, 4), 255).save(tmp_path / "a.png")
    (tmp_path / "b.jpg").write_bytes(b"no image")
    inputs = open_inputs(str(tmp_path), **size)  # type: ignore[arg-type]
    assert isinstance(inputs, Folder) and inputs.count == 2
    white = inputs.batch(0, 1)["pixel_values"]
    assert white.shape == (1, 3, 4, 4) and (white == 1).all()
    with pytest.raises(InputError, match=r"b\.jpg: must be an image, not unreadable"):
        inputs.batch(0, 2)
    image.new("L", (1, 401)).save(tmp_path / "a.png")  # as wide as asked for, 401 times as long
    with pytest.raises(InputError, match=r"a\.png: .* \(one side over 100 times the other\)"):
        inputs.batch(0, 1)


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_is_not_read(kind: str, network: FakeNetwork, tmp_path: Path) -> None:
    size = {"tokenizer": "", "length": None, "longest": None, "count": None}
    make = Path.mkdir if kind == "folder" else os.mkfifo
    (tmp_path / "a.png").write_bytes(b"")
    make(tmp_path / "b.png")
    with pytest.raises(InputError, match=r"b\.png: must be a file"):
        open_inputs(str(tmp_path), pixels=Pixels(4), **size)  # type: ignore[arg-type]
    os.mkfifo(tmp_path / "text")
    with pytest.raises(InputError, match="not a pipe or device"):
        open_inputs(str(tmp_path / "text"), pixels=None, **size)  # type: ignore[arg-type]


def test_a_command_without_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    assert attncert.main(["embed", "gpt2", "x", "--out", str(tmp_path / "o")]) == 2
    assert "pip install 'attncert[models]'" in capsys.readouterr().err
    for wrong in ("some", "9" * 5000, "٣"):
        assert attncert.main(["embed", "g", "x", "--out", "o", f"--contexts={wrong}"]) == 2
    assert not (tmp_path / "o").exists()

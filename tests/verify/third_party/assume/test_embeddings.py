"""The documented folder of embeddings, and the theorem on positions, against every minor."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from support.embedding_cases import random_states, write_folder, write_shard

from attncert.constructions.errors import InputError
from attncert.verify.third_party.assume.embeddings import load_embeddings

STATES = random_states(6, 3, 4)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "a b", STATES, [1, 4], heads=2, head_width=2)
    found = load_embeddings(folder)
    assert (found.queries.array == STATES[:, 0]).all() and found.queries.array.dtype == np.float32
    assert [k for k, _ in found.contexts()] == [1, 4] == list(found.with_context)
    assert all((context == STATES[k]).all() for k, context in found.contexts())
    assert (found.heads, found.head_width, found.tokens, found.name) == (2, 2, 3, "a-b")
    assert load_embeddings(folder / "manifest.json").queries.array.shape == (6, 4)


def test_provenance_is_text_that_may_be_shown(tmp_path: Path) -> None:
    told = {"model": "\x1b[31mred", "inputs": {"kind": "text"}, "seed": 3}
    found = load_embeddings(write_folder(tmp_path, STATES, [], layer=1, provenance=told))
    assert found.provenance == {
        "layer": "1", "model": "\\x1b[31mred", "inputs": "{'kind': 'text'}", "seed": "3",
    }  # fmt: skip


def rewrite(folder: Path, **changes: Any) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({k: x for k, x in manifest.items() if x is not None}))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": "x"}, 'an object with "format"'),
        ({"inputs": 7}, '"inputs" as in its shards, 6'),
        ({"tokens": None}, "tokens: must be a positive whole number, not left out"),
        ({"width": 5}, r"queries: must be of shape \(B, 5\)"),
        ({"heads": "12"}, "heads: must be a positive whole number"),
        ({"shards": [{"file": "../part-0.npz"}]}, "the name of an .npz in its folder"),
        ({"shards": [{"file": "part-0.npz", "sha256": "0"}]}, "the file with SHA-256 0"),
        ({"shards": [{"file": "none.npz"}]}, "a file that can be read"),
        ({"shards": [{"file": "part-0.npz"}] * 2}, "once"),
        ({"shards": "part-0.npz"}, "a list of objects"),
        ({"provenance": 3}, "provenance: must be an object"),
    ],
)
def test_a_wrong_manifest_is_refused(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    rewrite(write_folder(tmp_path, STATES, [0]), **changes)
    with pytest.raises(InputError, match=said):
        load_embeddings(tmp_path)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"queries": STATES[:, 0]}, "made of queries, contexts, kept, not of 'queries'"),
        ({"query": STATES[:, 0], "contexts": STATES[:1], "kept": [0]}, "made of queries"),
        ({"queries": STATES[:, 0] * np.nan, "contexts": STATES[:1], "kept": [0]}, "finite"),
        ({"queries": STATES[:, 0], "contexts": STATES[:2], "kept": [1, 0]}, "increasing"),
        ({"queries": STATES[:, 0], "contexts": STATES[:1], "kept": [6]}, "increasing"),
        ({"queries": STATES[:, 0], "contexts": STATES[:1], "kept": [0.0]}, "kept: must be int"),
        ({"queries": STATES[:, 0].astype(int), "contexts": STATES[:1], "kept": [0]}, "floats"),
    ],
)
def test_a_wrong_shard_is_refused(arrays: dict[str, Any], said: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **{key: np.array(x) for key, x in arrays.items()})
    manifest = {"format": "attncert-embeddings/1", "inputs": 6, "tokens": 3, "width": 4}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | {"shards": [{"file": "a.npz"}]}))
    with pytest.raises(InputError, match=said):
        load_embeddings(tmp_path)


@pytest.mark.parametrize("bad", [STATES[:1, :2], STATES[:2], STATES[:1] * np.inf])
def test_wrong_contexts_are_refused_when_read(bad: np.ndarray, tmp_path: Path) -> None:
    write_shard(tmp_path / "a.npz", STATES[:, 0], bad, [0])
    manifest = {"format": "attncert-embeddings/1", "inputs": 6, "tokens": 3, "width": 4}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | {"shards": [{"file": "a.npz"}]}))
    with pytest.raises(InputError, match="contexts"):
        list(load_embeddings(tmp_path).contexts())


BASES = [10_000.0, 2.0, 1 + 2.0**-52, 1.0, 1 - 2.0**-53, 0.5, 1 / 9, 2.0**-40]


def rank(width: int, base: float) -> int:
    """The number of first positions that are independent (docs/models-and-layers.md)."""
    return 0 if width == 1 else min(width, 2) if base == 1 else width


def encodings(positions: int, width: int, base: float) -> list[list[arb]]:
    """The encodings by definition, in balls."""
    b, rows = fmpq(*Fraction(base).as_integer_ratio()), []
    for p in range(positions):
        angles = [p * arb(b) ** (arb(-2 * (j // 2)) / width) for j in range(width)]
        rows.append([a.cos() if j % 2 else a.sin() for j, a in enumerate(angles)])
    return rows


def independent(rows: list[list[arb]]) -> bool:
    """Whether some minor is not 0, by Laplace expansion along the rows. If no minor differs from 0,
    all are below 2^-1000."""
    minors = {(): arb(1)}
    for k, row in enumerate(rows, start=1):
        minors = {
            columns: sum(
                ((-1) ** i * row[j] * minors[columns[:i] + columns[i + 1 :]]
                 for i, j in enumerate(columns)), arb(0),
            )
            for columns in combinations(range(len(row)), k)
        }  # fmt: skip
    assert all(abs(x) > 0 or abs(x) < arb(2) ** -1000 for x in minors.values())
    return any(abs(x) > 0 for x in minors.values())


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("width", range(1, 8))
def test_the_theorem_and_every_minor_agree(width: int, base: float) -> None:
    with ctx.workprec(3000):
        rows = encodings(width + 1, width, base)
        for n in range(1, width + 2):
            assert independent(rows[:n]) is (n <= rank(width, base))

"""Vectors from files: valid files are read exactly, and all others give a one-line error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.data_files import as_json
from support.shell import Shell

from attncert.constructions.errors import InputError
from attncert.verify.kruskal.vectors import Vectors, load_vectors


def saved(folder: Path, **arrays: Any) -> Path:
    path = folder / "v.npz"
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", ">f8", "uint64"])
def test_an_archive_of_vectors(tmp_path: Path, dtype: str) -> None:
    table = np.array([[1.0, 2.0, 0.0], [3.0, 4.0, 0.0]], dtype=dtype)
    found = load_vectors(saved(tmp_path, vectors=table, other=np.zeros(3)))
    assert (found.name, found.N, found.d) == ("v", 2, 3)
    assert found.array.dtype == np.dtype(dtype).newbyteorder("=")
    assert found.array.tolist() == table.tolist()
    assert not found.array.flags.writeable


@pytest.mark.parametrize("key", ["vectors", "queries"])
def test_json_with_fractions(tmp_path: Path, key: str) -> None:
    path = tmp_path / "v.json"
    path.write_text(json.dumps(as_json({key: [["1/2", "1/3"], [1, 2]]})))
    assert load_vectors(path).array.tolist() == [[3, 2], [6, 12]]


def test_rows_are_exact_and_share_one_factor() -> None:
    vectors = Vectors.of(np.array([[0.1, 3.0], [1e-30, 2.0]]))
    whole, part = vectors.rows([0, 1]).tolist(), vectors.rows([1]).tolist()
    assert int(whole[0][1]) * 2 == int(whole[1][1]) * 3
    assert int(part[0][0]) * int(whole[1][1]) == int(part[0][1]) * int(whole[1][0])


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "NaN": ({"vectors": np.array([[1.0, np.nan]])}, "finite numbers, not nan at row 0, column 1"),
    "infinite": ({"vectors": np.array([[np.inf]])}, "finite numbers, not inf"),
    "one axis": ({"vectors": np.arange(3)}, r"nonempty, of shape \(N, d\)"),
    "three axes": ({"vectors": np.zeros((2, 2, 2))}, r"nonempty, of shape \(N, d\)"),
    "no vectors": ({"vectors": np.zeros((0, 3))}, r"nonempty, of shape \(N, d\)"),
    "no width": ({"vectors": np.zeros((3, 0))}, r"nonempty, of shape \(N, d\)"),
    "other names": ({"a": np.eye(2), "b": np.eye(2)}, "one array, or one named vectors or q"),
    "words": ({"vectors": np.array([["a"]])}, "integers, or floats of at most 64 bits"),
    "objects": ({"vectors": np.array([[1, None]], dtype=object)}, "integers, or floats"),
    "complex": ({"vectors": np.eye(2) * 1j}, "integers, or floats"),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_a_bad_archive_gives_one_line(tmp_path: Path, name: str) -> None:
    arrays, line = BAD[name]
    with pytest.raises(InputError, match=line) as refusal:
        load_vectors(saved(tmp_path, **arrays))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("v.csv", "0.1, 0.3\n+.3,9e-1\n"),
        ("v.json", '{"vectors": [[0.1, 0.3], [0.3, 0.9]]}'),
        ("v.json", '{"queries": [[0.1, 0.3], ["3/10", 9e-1]]}'),
    ],
)
def test_a_decimal_in_a_text_is_what_is_written(
    name: str, text: str, tmp_path: Path, shell: Shell
) -> None:
    """As floats these two vectors are independent, and the report once called them integers."""
    (tmp_path / name).write_text(text)
    printed = shell.runs("kruskal", tmp_path / name, "--out", tmp_path / "k").out
    assert "is 1: vectors 0 and 1 are dependent" in printed
    report = (tmp_path / "k" / "report.md").read_text()
    assert (
        "stored as exact decimals or fractions (0.1 is 1/10) with common denominator 10." in report
    )
    np.save(tmp_path / "f.npy", np.array([[0.1, 0.3], [0.3, 0.9]]))
    assert (
        "general position" in shell.runs("kruskal", tmp_path / "f.npy", "--out", tmp_path / "f").out
    )


def test_vectors_from_other_formats(tmp_path: Path) -> None:
    values = np.array([[1, 0, 2], [0, 1, -3]])
    np.save(tmp_path / "v.npy", values)
    np.save(tmp_path / "f.npy", np.asfortranarray(values * 0.5))
    (tmp_path / "v.csv").write_text("a,b,c\n1,0,2\n\n0,1,-3\n")
    (tmp_path / "f.csv").write_text("1/2,0,1e0\n0,.5,-1.5\n")
    (tmp_path / "v.json").write_text('{"points": [[1, 0, 2], [0, 1, -3]]}')
    np.savez(tmp_path / "v.npz", points=values)
    for name in ("v.npy", "v.csv", "v.json", "v.npz"):
        assert load_vectors(tmp_path / name).array.tolist() == values.tolist()
    assert load_vectors(tmp_path / "f.npy").array.tolist() == (values * 0.5).tolist()
    assert load_vectors(tmp_path / "f.csv").array.tolist() == values.tolist()  # the doubled numbers
    np.save(tmp_path / "b.npy", values > 0)
    assert load_vectors(tmp_path / "b.npy").array.tolist() == [[1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.npy", b"\x93NUMPY\x01\x00v\x00{'descr': '<f8'"),
        ("x.npy", b""),
        ("x.csv", b"1,2\n3\n"),
        ("x.csv", b"1,2\n3,b4\n"),
        ("x.csv", b"1,\xff\n"),
        ("x.csv", b""),
        ("x.csv", b"1,nan\n"),
        ("x.csv", b"nan,-inf\n1,2\n"),  # no header
    ],
)
def test_what_is_no_vectors_is_one_line(
    name: str, content: bytes, tmp_path: Path, shell: Shell
) -> None:
    (tmp_path / name).write_bytes(content)
    shell.refuses("kruskal", tmp_path / name, "--out", tmp_path / "k")
    assert not (tmp_path / "k").exists()


def test_the_first_vectors_alone(tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "v.csv").write_text("1,0\n0,1\n1,0\n")
    words = ["kruskal", tmp_path / "v.csv", "--work", "1", "--k", "2", "--out", tmp_path / "k"]
    shell.runs(*words, status=1)
    shell.runs(*words, "--examples", "2")
    line = shell.refuses(*words, "--examples", "4")
    assert "--examples: must be from 1 to 3, not 4" in line

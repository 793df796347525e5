"""Valid files are read exactly; every other file quickly gives a one-line error."""

from __future__ import annotations

import io
import json
import os
import time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.data_files import A_NUMBER, archive, as_json, each, json_text
from support.strategies import floats, numbers, raw_data

from attncert.constructions.data import loading
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.loading import load, parse_json, read_npz
from attncert.constructions.errors import InputError


def line_of(text: bytes) -> str:
    """The one-line error for a JSON text."""
    with pytest.raises(InputError) as refusal:
        parse_json(text)
    return str(refusal.value)


# --- valid files ---------------------------------------------------------------------------------


@settings(deadline=None)
@given(raw_data(numbers))
def test_json_is_read_exactly(raw: dict[str, Any]) -> None:
    """Decimals are taken literally."""
    data = parse_json(json.dumps(as_json(raw)).encode())
    written = each(raw, lambda x: Fraction(repr(x)) if isinstance(x, float) else x)
    assert data.canonical() == Dataset.of(**written).canonical()


@settings(deadline=None)
@given(st.one_of(raw_data(st.integers(-(2**63), 2**63 - 1)), raw_data(floats)), st.booleans())
def test_both_formats_agree(raw: dict[str, Any], compressed: bool) -> None:
    file = io.BytesIO()
    arrays = {key: np.array(values) for key, values in raw.items()}
    (np.savez_compressed if compressed else np.savez)(file, **arrays)
    data = read_npz(file, name="x")
    stored = each(raw, lambda x: str(Fraction(x)))
    assert data.canonical() == parse_json(json.dumps(stored).encode()).canonical()
    assert data.name == "x"


def test_files_are_named_after_themselves(tmp_path: Path) -> None:
    (tmp_path / "my data.v2.json").write_bytes(json_text())
    (tmp_path / "X.NPZ").write_bytes(archive().getvalue())
    assert load(tmp_path / "my data.v2.json").name == "my-data.v2"
    assert load(str(tmp_path / "X.NPZ")).name == "X"
    assert load(tmp_path / "X.NPZ").sha256 == load(tmp_path / "my data.v2.json").sha256
    assert parse_json(json_text(name="../titles")).name == "titles"
    assert parse_json(b"\xef\xbb\xbf" + json_text()).name == "data"  # a byte order mark is harmless


def test_bundled_data_give_way_to_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load("digits").T == 1782
    (tmp_path / "digits").write_bytes(json_text())
    assert load("digits").T == 2


def test_decimals_are_what_is_written_and_long_integers_exact() -> None:
    long = "1" + "0" * 4298 + "7"
    text = json_text(labels=[0.1, 1]).replace(b" 1]}", b" " + long.encode() + b"]}")
    assert b"0007]" in text
    assert parse_json(text).labels.strings() == [["1/10"], [long]]
    text = json_text(labels=[1, 2]).replace(b"[1, 2]}", b"[-0.0, 1.5e-400]}")
    assert parse_json(text).labels.fractions() == [[0], [Fraction(3, 2 * 10**400)]]
    written = Dataset.of(**json.loads(json_text()) | {"labels": [Decimal("0.1"), 0.5]})
    assert written.labels.strings() == [["1/10"], ["1/2"]]


# --- refused: JSON -------------------------------------------------------------------------------


def with_last(number: bytes) -> bytes:
    """A valid text whose last query ends in this number."""
    return json_text().replace(b"[3, 4]", b"[3, " + number + b"]")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"", "data: must be JSON, not a text with an error (line 1, column 1: Expecting value)"),
        (b"{'a': 1}", "line 1, column 2: Expecting property name enclosed in double quotes)"),
        (b"\0" * 9, "data: must be JSON, not a text with an error (line 1, column 1: Expecting"),
        (json_text()[:-1], "data: must be JSON, not a text with an error (line 1, column"),
        (json_text() + b"x", ": Extra data)"),
        ("{}".encode("utf-16"), "data: must be JSON in UTF-8, not bytes with invalid start byte"),
        (b'{"\xff": 1}', "data: must be JSON in UTF-8, not bytes with invalid start byte"),
        (b"[1]", "data: must be an object with contexts, queries and labels, not a list"),
        (b"null", "data: must be an object with contexts, queries and labels, not null"),
        (b"NaN", "data: must be an object with contexts, queries and labels, not 'NaN'"),
        (b"{}", "data: must be made of contexts, queries and labels, not without 'contexts'"),
        (json_text(weights=1), "made of contexts, queries and labels, not with 'weights'"),
        (b'{"labels": 1, "labels": 2}', "JSON with each key once, not with 'labels' twice"),
        (b'{"name": {"a": 1, "a": 2}}', "JSON with each key once, not with 'a' twice"),
        (b"[" * 200_000, "data: must be JSON nested at most 8 deep, not deeper"),
        (json_text(labels=[[[[[[[[[1]]]]]]]]]), "labels: must be nested at most 8 deep, not deep"),
        (json_text(name=5), "name: must be a string, not an integer"),
        (json_text(labels=[1, True]), f"labels[1]: must be {A_NUMBER}, not true"),
        (json_text(labels=[1, float("nan")]), f"labels[1]: must be {A_NUMBER}, not 'NaN'"),
        (with_last(b"-1e4301"), f"queries[1][1]: must be {A_NUMBER}, not -1E+4301"),
        (with_last(b"1e-999999999"), f"queries[1][1]: must be {A_NUMBER}, not 1E-999999999"),
        (with_last(b"1e" + b"9" * 20), f"queries[1][1]: must be {A_NUMBER}, not '1e9999"),
        (with_last(b"1" + b"0" * 4300), "queries[1][1]: must be a number of at most 4300 digits"),
        (with_last(b"0." + b"1" * 10**6), "queries[1][1]: must be a number of at most 4300 digits"),
    ],
)
def test_bad_json_is_refused_in_one_line(text: bytes, line: str) -> None:
    refusal = line_of(text)
    assert line in refusal
    assert refusal.isprintable() and ": must be " in refusal and ", not " in refusal


def test_json_over_its_limits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(loading, "MAX_EXAMPLES", 1)
    assert line_of(json_text()) == "queries: must be at most 1 examples, not 2"
    monkeypatch.setattr(loading, "MAX_JSON_BYTES", 50)
    (tmp_path / "long.json").write_bytes(json_text())
    with pytest.raises(
        InputError, match=r"long\.json: must be JSON of at most 50 bytes, not longer"
    ):
        load(tmp_path / "long.json")


# --- refused: paths ------------------------------------------------------------------------------


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    long = "x" * 5000
    for path, reason in (
        (tmp_path / "missing.json", "there is no such file"),
        (tmp_path, "a directory"),
        (tmp_path / "pipe.json", "a pipe or device"),
        ("/dev/zero", "a pipe or device"),
        ("a\0b", "there is no such file"),
        ("\ud800", "there is no such file"),
        ("", "a directory"),
        (long, "File name too long"),
    ):
        with pytest.raises(InputError) as refusal:
            load(path)
        line = str(refusal.value)
        assert line.isprintable() and reason in line
        assert " must be a JSON or .npz file, or the name of bundled data (digits)" in line


@pytest.mark.parametrize("name", ["x.json", "x.npz"])
def test_files_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / name).write_bytes(b"")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r", not unreadable \(Permission denied\)$"):
        load(tmp_path / name)


def test_memory_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise MemoryError

    (tmp_path / "x.json").write_bytes(json_text())
    monkeypatch.setattr(loading, "parse_json", fail)
    with pytest.raises(InputError, match="must be data that fit in this machine's memory, not lar"):
        load(tmp_path / "x.json")


# --- speed and memory ----------------------------------------------------------------------------


def test_denominators_of_one_hash() -> None:
    """A set of 25,000 denominators with the same hash once took half a minute."""
    entries = [f"1/{1 + (i + 1) * (2**61 - 1)}" for i in range(25_000)]
    start = time.process_time()
    with pytest.raises(InputError, match="common denominator of at most"):
        parse_json(json.dumps({"contexts": [[entries]], "queries": [], "labels": []}).encode())
    assert time.process_time() - start < 15

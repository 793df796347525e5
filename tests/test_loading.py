"""Files: what is valid is read exactly, whatever else gives one line, soon."""

from __future__ import annotations

import io
import json
import os
import struct
import time
import tracemalloc
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import datasets, floats, numbers, raw_data

from constructions import generators, loading
from constructions.dataset import Dataset
from constructions.digits import all_digits
from constructions.errors import InputError
from constructions.loading import load, parse_json, read_npz

VALID: dict[str, Any] = {"contexts": [[1, 0], [0, 1]], "queries": [[1, 2], [3, 4]], "labels": [1, 2]}
A_NUMBER = 'an integer, a finite float or a string "p/q"'
NPZ = "an .npz archive as numpy.savez writes it"


def line_of(text: bytes) -> str:
    """The one line that refuses a JSON text."""
    with pytest.raises(InputError) as refusal:
        parse_json(text)
    return str(refusal.value)


def with_(**changes: Any) -> bytes:
    return json.dumps(VALID | changes).encode()


def archive(**arrays: Any) -> io.BytesIO:
    file = io.BytesIO()
    np.savez(file, **{key: np.array(value) for key, value in (VALID | arrays).items()})
    return file


def line_of_npz(file: io.BytesIO) -> str:
    with pytest.raises(InputError) as refusal:
        read_npz(file)
    return str(refusal.value)


def as_json(values: Any) -> Any:
    """Fractions as "p/q", the rest as it is."""
    if isinstance(values, (list, dict)):
        pairs = values.items() if isinstance(values, dict) else enumerate(values)
        out = {key: as_json(x) for key, x in pairs}
        return out if isinstance(values, dict) else list(out.values())
    return str(values) if isinstance(values, Fraction) else values


# --- valid files ---------------------------------------------------------------------------------


@settings(deadline=None)
@given(raw_data(numbers))
def test_json_is_read_exactly(raw: dict[str, Any]) -> None:
    data = parse_json(json.dumps(as_json(raw)).encode())
    assert data.canonical() == Dataset.of(**raw).canonical()


@settings(deadline=None, max_examples=60)
@given(datasets(numbers))
def test_the_canonical_form_reads_as_itself(data: Dataset) -> None:
    again = parse_json(json.dumps(data.canonical()).encode())
    assert again.canonical() == data.canonical()
    assert again.shared == data.shared


@settings(deadline=None)
@given(st.one_of(raw_data(st.integers(-(2**63), 2**63 - 1)), raw_data(floats)), st.booleans())
def test_both_formats_agree(raw: dict[str, Any], compressed: bool) -> None:
    file = io.BytesIO()
    arrays = {key: np.array(values) for key, values in raw.items()}
    (np.savez_compressed if compressed else np.savez)(file, **arrays)
    data = read_npz(file, name="x")
    assert data.canonical() == parse_json(json.dumps(raw).encode()).canonical()
    assert data.name == "x"


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u8", "f2", "f4", "f8", ">i4", ">f8"])
def test_npz_of_every_dtype_and_order(dtype: str) -> None:
    contexts = np.arange(12).reshape(2, 2, 3).astype(dtype)
    labels = np.array([[1, 2], [3, 4]], dtype=dtype)
    file = io.BytesIO()
    np.savez(file, contexts=np.asfortranarray(contexts), queries=contexts[0], labels=labels)
    expected = Dataset.of(contexts.tolist(), contexts[0].tolist(), labels.tolist())
    assert read_npz(file).sha256 == expected.sha256


def test_files_are_named_after_themselves(tmp_path: Path) -> None:
    (tmp_path / "my data.v2.json").write_bytes(with_())
    (tmp_path / "X.NPZ").write_bytes(archive().getvalue())
    assert load(tmp_path / "my data.v2.json").name == "my-data.v2"
    assert load(str(tmp_path / "X.NPZ")).name == "X"
    assert load(tmp_path / "X.NPZ").sha256 == load(tmp_path / "my data.v2.json").sha256
    assert parse_json(with_(name="../titles")).name == "titles"
    assert parse_json(b"\xef\xbb\xbf" + with_()).name == "data"  # a byte order mark is harmless


def test_bundled_data_give_way_to_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load("digits").T == 1782
    (tmp_path / "digits").write_bytes(with_())
    assert load("digits").T == 2


def test_floats_are_the_nearest_float64_and_long_integers_exact() -> None:
    long = "1" + "0" * 4298 + "7"
    text = with_(labels=[0.1, 1]).replace(b" 1]}", b" " + long.encode() + b"]}")
    assert b"0007]" in text
    assert parse_json(text).labels.strings() == [[str(Fraction(0.1))], [long]]
    text = with_(labels=[1, 2]).replace(b"[1, 2]}", b"[-0.0, 1e-400]}")
    assert parse_json(text).labels.strings() == [["0"], ["0"]]


# --- refused: JSON -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"", "data: must be JSON, not a text with an error (line 1, column 1: Expecting value)"),
        (b"{'a': 1}", "line 1, column 2: Expecting property name enclosed in double quotes)"),
        (b"\0" * 9, "data: must be JSON, not a text with an error (line 1, column 1: Expecting"),
        (with_()[:-1], "data: must be JSON, not a text with an error (line 1, column"),
        (with_() + b"x", ": Extra data)"),
        ("{}".encode("utf-16"), "data: must be JSON in UTF-8, not bytes with invalid start byte"),
        (b'{"\xff": 1}', "data: must be JSON in UTF-8, not bytes with invalid start byte"),
        (b"[1]", "data: must be an object with contexts, queries and labels, not a list"),
        (b"null", "data: must be an object with contexts, queries and labels, not null"),
        (b"NaN", "data: must be an object with contexts, queries and labels, not 'NaN'"),
        (b"{}", "data: must be made of contexts, queries and labels, not of none"),
        (
            with_(weights=1),
            "data: must be made of contexts, queries and labels, not of 'contexts', 'labels', "
            "'queries', 'weights'",
        ),
        (
            b'{"labels": 1, "labels": 2}',
            "data: must be JSON with each key once, not with 'labels' twice",
        ),
        (b'{"name": {"a": 1, "a": 2}}', "data: must be JSON with each key once, not with 'a' twice"),
        (b"[" * 200_000, "data: must be JSON nested at most 8 deep, not deeper"),
        (b'{"a":' * 200_000, "data: must be JSON nested at most 8 deep, not deeper"),
        (with_(labels=[[[[[[[[[1]]]]]]]]]), "labels: must be nested at most 8 deep, not deeper"),
        (with_(name=5), "name: must be a string, not an integer"),
        (with_(name=None), "name: must be a string, not null"),
        (with_(labels=[1, True]), f"labels[1]: must be {A_NUMBER}, not true"),
        (with_(labels=[None, 1]), f"labels[0]: must be {A_NUMBER}, not null"),
        (with_(labels=[1, {}]), f"labels[1]: must be {A_NUMBER}, not an object"),
        (with_(labels=["1/0", 1]), f"labels[0]: must be {A_NUMBER}, not '1/0'"),
        (with_(labels=["x", 1]), f"labels[0]: must be {A_NUMBER}, not 'x'"),
        (with_(labels=["\u0661", 1]), f"labels[0]: must be {A_NUMBER}, not '\u0661'"),
        (with_(labels=[1, float("nan")]), f"labels[1]: must be {A_NUMBER}, not 'NaN'"),
        (with_(labels=[1, -float("inf")]), f"labels[1]: must be {A_NUMBER}, not '-Infinity'"),
        (with_().replace(b"[3, 4]", b"[3, 1e400]"), f"queries[1][1]: must be {A_NUMBER}, not '1e400'"),
        (
            with_(labels=[10**4299, 0]).replace(b"0, 0]}", b"00, 0]}"),
            "labels[0]: must be a number of at most 4300 digits, not '1000",
        ),
        (
            with_().replace(b"[3, 4]", b"[3, 0." + b"1" * 10**6 + b"]"),
            "queries[1][1]: must be a number of at most 4300 digits, not '0.111",
        ),
        (
            with_(contexts=[[1, 0], [0]]),
            "contexts[1]: must be a list of 2, like contexts[0], not a list of 1",
        ),
        (
            with_(contexts=[[[1, 0]], [[0]]]),
            "contexts[1][0]: must be a list of 2, like contexts[0][0], not a list of 1",
        ),
        (with_(queries=[[1, 0], 5]), "queries[1]: must be a list of 2, like queries[0], not a number"),
        (with_(queries=[]), "queries: must be (T, d) numbers, no size 0, not (0,)"),
        (with_(queries=[[], []]), "queries: must be (T, d) numbers, no size 0, not (2, 0)"),
        (with_(contexts=[]), "contexts: must be (T, n, d) or (n, d) numbers, no size 0, not (0,)"),
        (with_(contexts=[[], []]), "must be (T, n, d) or (n, d) numbers, no size 0, not (2, 0)"),
        (with_(contexts=7), "contexts: must be (T, n, d) or (n, d) numbers, no size 0, not ()"),
        (with_(labels=[]), "labels: must be (T,) or (T, m) numbers, no size 0, not (0,)"),
        (with_(labels=[[], []]), "labels: must be (T,) or (T, m) numbers, no size 0, not (2, 0)"),
        (with_(labels=[1]), "labels: must be one for each of the 2 queries, not 1 of them"),
        (with_(queries=[[1], [2]]), "queries: must be as wide as the contexts' rows, 2, not 1"),
        (
            with_(contexts=[[[1, 2]]] * 3),
            "contexts: must be one for each of the 2 queries, or one shared by all, not 3 of them",
        ),
        (
            with_(queries=[["1/" + "9" * 4300, f"1/{k}" + "7" * 4290] for k in range(1, 100)]),
            "queries: must be numbers with a common denominator of at most 262144 bits, not numbers",
        ),
    ],
)
def test_bad_json_is_refused_in_one_line(text: bytes, line: str) -> None:
    refusal = line_of(text)
    assert line in refusal
    assert refusal.isprintable() and ": must be " in refusal and ", not " in refusal


def test_json_over_its_limits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(loading, "MAX_EXAMPLES", 1)
    assert line_of(with_()) == "queries: must be at most 1 examples, not 2"
    monkeypatch.setattr(loading, "MAX_JSON_BYTES", 50)
    (tmp_path / "long.json").write_bytes(with_())
    with pytest.raises(InputError, match=r"long\.json: must be JSON of at most 50 bytes, not longer"):
        load(tmp_path / "long.json")


# --- refused: archives ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["?", "c16", "U3", "S3", "M8[s]", "O"])
def test_arrays_of_other_types_are_refused_unread(dtype: str) -> None:
    file = io.BytesIO()
    labels = np.array([1, 2]).astype(dtype)
    np.savez(file, contexts=VALID["contexts"], queries=VALID["queries"], labels=labels)
    line = line_of_npz(file)
    assert line.startswith("labels: must be integers, or floats of at most 64 bits, not dtype '")


def test_structures_and_long_doubles_are_refused() -> None:
    for labels in (np.zeros(2, dtype=[("a", "i4")]), np.zeros(2, dtype=np.longdouble)):
        line = line_of_npz(archive(labels=labels))
        assert line.startswith("labels: must be integers, or floats of at most 64 bits, not dtype ")


class Trap:
    sprung = False

    def __reduce__(self) -> tuple[Any, ...]:
        return setattr, (Trap, "sprung", True)


def test_pickles_are_not_run() -> None:
    file = io.BytesIO()
    labels = np.array([Trap(), Trap()], dtype=object)
    np.savez(file, contexts=VALID["contexts"], queries=VALID["queries"], labels=labels)
    assert "labels: must be integers" in line_of_npz(file)
    assert not Trap.sprung
    file.seek(0)
    np.load(file, allow_pickle=True)["labels"]
    assert Trap.sprung  # so it was a pickle that could have run


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"labels": [1.0, np.nan]}, f"labels[1]: must be {A_NUMBER}, not nan"),
        ({"labels": [1.0, np.inf]}, f"labels[1]: must be {A_NUMBER}, not inf"),
        ({"labels": 5}, "labels: must be (T,) or (T, m) numbers, no size 0, not ()"),
        ({"queries": np.zeros((0, 2))}, "queries: must be (T, d) numbers, no size 0, not (0, 2)"),
        ({"labels": [1, 2, 3]}, "labels: must be one for each of the 2 queries, not 3 of them"),
        (
            {"more": [1]},
            "data: must be made of contexts, queries and labels, not of 'contexts', 'labels', "
            "'more', 'queries'",
        ),
    ],
)
def test_bad_arrays_are_refused_in_one_line(changes: dict[str, Any], line: str) -> None:
    assert line_of_npz(archive(**changes)) == line


def member(shape: str, descr: str = "<i8", body: bytes = b"") -> bytes:
    """An .npy file with any claim in its header."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + body


def zipped(compression: int = zipfile.ZIP_STORED, **members: bytes) -> io.BytesIO:
    file = io.BytesIO()
    whole = {"contexts": member("(1, 1)", body=b"\1" * 8), "queries": member("(1, 1)", body=b"\1" * 8)}
    whole["labels"] = member("(1,)", body=b"\1" * 8)
    with zipfile.ZipFile(file, "w", compression) as out:
        for key, content in (whole | members).items():
            out.writestr(f"{key}.npy", content)
    return file


def test_hand_made_archives_are_read() -> None:
    assert read_npz(zipped()).labels.strings() == [[str(0x0101010101010101)]]


BILLION = "1" + "0" * 9


@pytest.mark.parametrize(
    ("members", "line"),
    [
        (
            {"queries": member(f"({BILLION}, 1)"), "labels": member(f"({BILLION},)")},
            "queries: must be at most 1000000 examples, not 1000000000",
        ),
        (
            {"queries": member(f"({BILLION}, 1)")},
            "labels: must be one for each of the 1000000000 queries, not 1 of them",
        ),
        (
            {"contexts": member(f"({BILLION}, 1)")},
            "data: must be arrays of at most 2147483648 bytes, not 8000000016",
        ),
        (
            {"contexts": member(f"({'9' * 400}, 1)")},
            "data: must be arrays of at most 2147483648 bytes, not an integer of 1332 bits",
        ),
        (
            {"contexts": member("(100000000, 1)", "|i1")},
            f"data: must be {NPZ}, not unreadable (contexts has another size than its shape says)",
        ),
        ({"labels": member("(1,)")}, "(labels has another size than its shape says)"),
        ({"labels": member("(1,)", body=b"\0" * 9)}, "(labels has another size than its shape says)"),
        ({"labels": member("(1 2,)", body=b"\0" * 8)}, "unreadable (invalid literal for int()"),
        ({"labels": member("(,1)", body=b"\0" * 8)}, f"data: must be {NPZ}, not unreadable ("),
        ({"labels": member("(-1,)")}, "unreadable (labels has no header as numpy.save writes it)"),
        ({"labels": b""}, "unreadable (labels has no header as numpy.save writes it)"),
        ({"labels": b"\x80\x04K\x01."}, "(labels has no header as numpy.save writes it)"),
        (
            {"labels": b"\x93NUMPY\2\0" + b"\xff" * 4 + b"x" * 9000},
            "unreadable (labels has no header as numpy.save writes it)",
        ),
        ({"labels": b"\x93NUMPY\7\0" + member("(1,)", body=b"\1" * 8)[8:]}, "unreadable ("),
    ],
)
def test_false_claims_are_refused_unread(members: dict[str, bytes], line: str) -> None:
    file = zipped(**members)
    tracemalloc.start()
    start = time.process_time()
    refusal = line_of_npz(file)
    seconds, peak = time.process_time() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert line in refusal
    assert seconds < 0.5 and peak < 2**20


def test_a_bomb_is_refused_unread() -> None:
    """3 GiB of zeros that a stored size of a few bytes announces honestly, or not at all."""
    honest = zipped(contexts=member(f"({3 * 2**27}, 1)"))
    assert "must be arrays of at most 2147483648 bytes, not 3221225488" in line_of_npz(honest)
    body = zipped(zipfile.ZIP_DEFLATED, contexts=member("(1, 1)", body=b"\0" * 2**24))
    assert "contexts has another size than its shape says" in line_of_npz(body)
    # The same with the announced size forged: the reader stops at what was announced.
    raw, size = body.getvalue(), len(member("(1, 1)")) + 2**24
    forged = raw.replace(struct.pack("<L", size), struct.pack("<L", len(member("(1, 1)")) + 8))
    assert forged != raw
    assert line_of_npz(io.BytesIO(forged)).startswith(f"data: must be {NPZ}, not unreadable (Bad CRC")


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_refused(compression: int) -> None:
    assert "unreadable (neither stored nor deflated)" in line_of_npz(zipped(compression))


def test_encrypted_members_are_refused() -> None:
    raw = bytearray(zipped().getvalue())
    for signature, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        raw[raw.index(signature) + flags] |= 1
    assert "is encrypted, password required" in line_of_npz(io.BytesIO(raw))


def test_a_name_twice_is_refused() -> None:
    file = zipped()
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(file, "a") as out:
        out.writestr("labels.npy", member("(1,)", body=b"\2" * 8))
    assert line_of_npz(file).startswith("data: must be made of contexts, queries and labels, not of")


def test_long_directories_are_refused_unread() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        for k in range(2000):
            out.writestr(f"{k}", b"")
    assert "unreadable (its directory is over 4096 bytes)" in line_of_npz(file)
    raw = archive().getvalue()
    extended = raw[:-22] + b"PK\6\7" + b"\0" * 16 + raw[-22:]
    assert "unreadable (its directory is over 4096 bytes)" in line_of_npz(io.BytesIO(extended))


def test_truncated_archives_are_refused_at_every_length() -> None:
    raw = archive().getvalue()
    for length in range(0, len(raw), 7):
        line = line_of_npz(io.BytesIO(raw[:length]))
        assert line == f"data: must be {NPZ}, not unreadable (no end record in its last 22 bytes)"


# --- refused: paths ------------------------------------------------------------------------------


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    long = "x" * 5000
    for path, reason in (
        (tmp_path / "missing.json", "missing"),
        (tmp_path, "a directory"),
        (tmp_path / "pipe.json", "a pipe or device"),
        ("/dev/zero", "a pipe or device"),
        ("a\0b", "missing"),
        ("\ud800", "missing"),
        ("", "a directory"),
        (long, "File name too long"),
    ):
        with pytest.raises(InputError) as refusal:
            load(path)
        line = str(refusal.value)
        assert line.isprintable() and reason in line
        assert ": must be a JSON or .npz file, or the name of bundled data (digits), not " in line


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
    def fail(*_: Any) -> None:
        raise MemoryError

    (tmp_path / "x.json").write_bytes(with_())
    monkeypatch.setattr(loading, "parse_json", fail)
    with pytest.raises(InputError, match="must be data that fit the memory of this machine, not lar"):
        load(tmp_path / "x.json")


# --- fuzz ----------------------------------------------------------------------------------------


def only_refuses(read: Any, content: Any) -> None:
    """A data set or one line, nothing else."""
    try:
        data = read(content)
    except InputError as error:
        line = str(error)
        assert line.isprintable() and ": must be " in line and ", not " in line
    else:
        assert data.T >= 1 and len(data.sha256) == 64


fragments = st.sampled_from(
    [b"[", b"]", b"{", b"}", b",", b":", b"1", b"-", b".5", b"e9", b"null", b"NaN", b'"', b"1/3"]
    + [b'"contexts":', b'"queries":', b'"labels":', b"[[1]]", b"[1]", b"\\ud800", b"\xff", b" "]
)


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.binary(), st.lists(fragments, max_size=30).map(b"".join)))
@example(b'{"contexts":[[1]],"queries":[[1]],"labels":["\\ud800"]}')
@example(b'{"\\ud800":1}')
def test_garbage_is_refused(content: bytes) -> None:
    only_refuses(parse_json, content)
    only_refuses(read_npz, io.BytesIO(content))


@settings(deadline=None, max_examples=400)
@given(st.booleans(), st.data())
def test_damaged_files_are_refused_or_read(compressed: bool, draw: st.DataObject) -> None:
    file = io.BytesIO()
    arrays = {key: np.array(value, dtype=np.int16) for key, value in VALID.items()}
    (np.savez_compressed if compressed else np.savez)(file, **arrays)
    for original, read in ((with_(), parse_json), (file.getvalue(), read_npz)):
        content = bytearray(original)
        for _ in range(draw.draw(st.integers(1, 4))):
            at = draw.draw(st.integers(0, len(content) - 1))
            how = draw.draw(st.sampled_from(["flip", "set", "cut", "double"]))
            if how == "flip":
                content[at] ^= 1 << draw.draw(st.integers(0, 7))
            elif how == "set":
                content[at] = draw.draw(st.integers(0, 255))
            elif how == "cut":
                del content[at : at + draw.draw(st.integers(1, 20))]
            else:
                content[at:at] = content[at : at + 20]
            content = content or bytearray(b"\0")
        only_refuses(read, bytes(content) if read is parse_json else io.BytesIO(content))


# --- speed and memory ----------------------------------------------------------------------------


def test_all_digits_are_read_in_half_a_second(tmp_path: Path) -> None:
    data = all_digits()
    lists = {key: getattr(data, key).stored.tolist() for key in VALID}
    (tmp_path / "d.json").write_text(json.dumps(lists))
    start = time.process_time()
    read = load(tmp_path / "d.json")
    assert time.process_time() - start < 0.5
    assert read.sha256 == data.sha256


def test_small_integers_take_their_own_size_and_no_more() -> None:
    shape = (100, 50, 768)
    contexts = np.random.default_rng(0).integers(-128, 128, shape, dtype=np.int8)
    file = io.BytesIO()
    np.savez(file, contexts=contexts, queries=np.ones((100, 768), np.int8), labels=np.arange(100))
    tracemalloc.start()
    data = read_npz(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * contexts.nbytes
    assert np.array_equal(data.contexts.stored, contexts)
    assert data.contexts[7].integer_matrix()[3, 5] == int(contexts[7, 3, 5])


def test_generated_data_survive_a_file() -> None:
    data = generators.gaussian(4, 2, 3, dtype=np.float64, m=2, seed=5)
    file = io.BytesIO()
    np.savez(file, **{key: getattr(data, key).floats() for key in VALID})
    assert read_npz(file).sha256 == data.sha256

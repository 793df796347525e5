"""Garbage, damaged files and .npz files that are not data sets never make a false claim pass."""

from __future__ import annotations

import io
import json
import struct
import time
import zipfile
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.data_files import A_NUMBER, VALID, archive, json_text, member, traced, zipped
from support.file_strategies import data_files, garbage, mutated

from attncert.constructions.data.loading import parse_json, read_npz
from attncert.constructions.errors import InputError

NPZ = "an .npz archive as numpy.savez writes it"


def line_of_npz(file: io.BytesIO) -> str:
    with pytest.raises(InputError) as refusal:
        read_npz(file)
    return str(refusal.value)


@pytest.mark.parametrize("dtype", ["c16", "U3", "S3", "M8[s]", "O"])
def test_arrays_of_other_types_are_refused_unread(dtype: str) -> None:
    file = io.BytesIO()
    labels = np.array([1, 2]).astype(dtype)
    np.savez(file, contexts=VALID["contexts"], queries=VALID["queries"], labels=labels)
    line = line_of_npz(file)
    assert line.startswith("labels: must be integers, or floats of at most 64 bits, not dtype '")


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
    assert Trap.sprung  # so the pickle could have run


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"labels": [1.0, np.nan]}, f"labels[1]: must be {A_NUMBER}, not nan"),
        ({"labels": 5}, "labels: must be nonempty, of shape (T,) or (T, m), not ()"),
        ({"more": [1]}, "data: must be made of contexts, queries and labels, not with 'more'"),
    ],
)
def test_bad_arrays_are_refused_in_one_line(changes: dict[str, Any], line: str) -> None:
    assert line_of_npz(archive(**changes)) == line


BILLION = "1" + "0" * 9
NO_HEADER = f"data: must be {NPZ}, not unreadable (labels has no numpy.save header)"


@pytest.mark.parametrize(
    ("members", "line"),
    [
        (
            {"queries": member(f"({BILLION}, 1)"), "labels": member(f"({BILLION},)")},
            "queries: must be at most 1000000 examples, not 1000000000",
        ),
        ({"queries": member(f"({BILLION}, 1)")}, "one for each of the 1000000000 queries, not 1"),
        ({"contexts": member(f"({BILLION}, 1)")}, "of at most 2147483648 bytes, not 8000000016"),
        ({"contexts": member(f"({'9' * 400}, 1)")}, "bytes, not an integer of 1332 bits"),
        ({"contexts": member("(100000000, 1)", "|i1")}, "(the size of contexts does not match"),
        ({"labels": member("(1,)")}, "(the size of labels does not match its shape)"),
        ({"labels": member("(1,)", body=b"\0" * 9)}, "(the size of labels does not match its"),
        ({"labels": member("(1 2,)", body=b"\0" * 8)}, NO_HEADER),
        ({"labels": member("(,1)", body=b"\0" * 8)}, NO_HEADER),
        ({"labels": member("(-1,)")}, NO_HEADER),
        ({"labels": member("(1L,)", body=b"\0" * 8)}, NO_HEADER),
        ({"labels": member("(1,) if 1 else ()", body=b"\0" * 8)}, NO_HEADER),
        ({"labels": b""}, NO_HEADER),
        ({"labels": b"\x80\x04K\x01."}, NO_HEADER),
        ({"labels": b"\x93NUMPY\2\0" + b"\xff" * 4 + b"x" * 9000}, NO_HEADER),
        ({"labels": b"\x93NUMPY\7\0" + member("(1,)", body=b"\1" * 8)[8:]}, NO_HEADER),
    ],
)
def test_false_claims_are_refused_unread(members: dict[str, bytes], line: str) -> None:
    file = zipped(**members)
    with traced() as peak:
        start = time.process_time()
        refusal = line_of_npz(file)
        assert time.process_time() - start < 5
        assert peak() < 2**20
    assert line in refusal


def test_a_bomb_is_refused_unread() -> None:
    """3 GiB of zeros are stored in a few bytes; the announced size is true or forged."""
    honest = zipped(contexts=member(f"({3 * 2**27}, 1)"))
    assert "must be arrays of at most 2147483648 bytes, not 3221225488" in line_of_npz(honest)
    body = zipped(zipfile.ZIP_DEFLATED, contexts=member("(1, 1)", body=b"\0" * 2**24))
    assert "the size of contexts does not match its shape" in line_of_npz(body)
    # With a forged size, the reader stops at the announced size.
    raw, size = body.getvalue(), len(member("(1, 1)")) + 2**24
    forged = raw.replace(struct.pack("<L", size), struct.pack("<L", len(member("(1, 1)")) + 8))
    assert forged != raw
    assert line_of_npz(io.BytesIO(forged)).startswith(
        f"data: must be {NPZ}, not unreadable (Bad CRC"
    )


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
    assert line_of_npz(file).startswith(
        "data: must be made of contexts, queries and labels, not with"
    )


def test_long_directories_are_refused_unread() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        for k in range(2000):
            out.writestr(f"{k}", b"")
    assert "unreadable (its directory is over 4096 bytes)" in line_of_npz(file)
    raw = archive().getvalue()
    extended = raw[:-22] + b"PK\6\7" + b"\0" * 16 + raw[-22:]
    assert "unreadable (it is 2 GiB or larger" in line_of_npz(io.BytesIO(extended))


def test_comments_are_refused_unread() -> None:
    """With a comment, zipfile would look for another end record, which was not checked."""
    raw = archive().getvalue()
    for end in (raw[-22:-2] + b"\1\0", raw[-22:-2] + b"\1\0!"):
        line = line_of_npz(io.BytesIO(raw[:-22] + end))
        assert line == f"data: must be {NPZ}, not unreadable (no end record in its last 22 bytes)"


def test_small_integers_take_their_own_size_and_no_more() -> None:
    shape = (100, 50, 768)
    contexts = np.random.default_rng(0).integers(-128, 128, shape, dtype=np.int8)
    file = io.BytesIO()
    np.savez(file, contexts=contexts, queries=np.ones((100, 768), np.int8), labels=np.arange(100))
    with traced() as peak:
        data = read_npz(file)
        assert peak() < 1.5 * contexts.nbytes
    assert np.array_equal(data.contexts.stored, contexts)
    assert data.contexts[7].integer_matrix()[3, 5] == int(contexts[7, 3, 5])


def refused_or_read(read: Any, content: Any) -> bool:
    """Whether the result is a data set or a one-line error."""
    try:
        data = read(content)
    except InputError as error:
        line = str(error)
        return line.isprintable() and ": must be " in line and ", not " in line
    return data.T >= 1 and len(data.sha256) == 64


@settings(deadline=None, max_examples=150)
@given(data_files().flatmap(mutated) | garbage)
def test_nearly_valid_data_are_refused_or_read(value: Any) -> None:
    assert refused_or_read(parse_json, json.dumps(value).encode())


WORDS = rb'[ ] { } , : 1 - .5 e9 null NaN " 1/3 \ud800 "contexts": "queries": "labels": [[1]] [1]'
fragments = st.sampled_from([*WORDS.split(), b" ", b"\xff"])


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.binary(), st.lists(fragments, max_size=30).map(b"".join)))
@example(b'{"contexts":[[1]],"queries":[[1]],"labels":["\\ud800"]}')
@example(b'{"\\ud800":1}')
def test_garbage_is_refused(content: bytes) -> None:
    assert refused_or_read(parse_json, content)
    assert refused_or_read(read_npz, io.BytesIO(content))


@settings(deadline=None, max_examples=400)
@given(st.booleans(), st.data())
def test_damaged_files_are_refused_or_read(compressed: bool, draw: st.DataObject) -> None:
    file = io.BytesIO()
    arrays = {key: np.array(value, dtype=np.int16) for key, value in VALID.items()}
    (np.savez_compressed if compressed else np.savez)(file, **arrays)
    for original, read in ((json_text(), parse_json), (file.getvalue(), read_npz)):
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
        damaged = bytes(content) if read is parse_json else io.BytesIO(content)
        assert refused_or_read(read, damaged)

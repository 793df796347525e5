"""Archives that Python and PyTorch would read as two different ones are refused."""

from __future__ import annotations

import io
import pickle
import zipfile

import pytest

from attncert.constructions.weights.pickled import require_plain

PLAIN, COSTLY = pickle.dumps({"a": 1}, 2), pickle.dumps({(1, 2): 3}, 2)


def archive(content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr(zipfile.ZipInfo("x/data.pkl"), content)
    return file.getvalue()


def parts(file: bytes) -> tuple[bytes, bytes]:
    """The members and the directory of an archive."""
    size, offset = (int.from_bytes(file[i : i + 4], "little") for i in (-10, -6))
    return file[:offset], file[offset : offset + size]


def ends(size: int, offset: int, at: int | None = None, comment: bytes = b"") -> bytes:
    """The end records; at: where those of long archives begin, so that there are some."""
    told = size.to_bytes(4, "little") + offset.to_bytes(4, "little")
    end = b"PK\5\6" + bytes(4) + b"\1\0\1\0" + told + len(comment).to_bytes(2, "little") + comment
    if at is None:
        return end
    one, wide = (1).to_bytes(8, "little"), [x.to_bytes(8, "little") for x in (size, offset, at)]
    long = b"PK\6\6" + (44).to_bytes(8, "little") + b"\x2d\0\x2d\0" + bytes(8) + one + one
    return long + wide[0] + wide[1] + b"PK\6\7" + bytes(4) + wide[2] + b"\1\0\0\0" + end


def test_archives_are_read_with_and_without_long_records() -> None:
    members, directory = parts(archive(PLAIN))
    at = len(members) + len(directory)
    for last in (ends(len(directory), len(members)), ends(len(directory), len(members), at)):
        require_plain(io.BytesIO(members + directory + last))
    with pytest.raises(pickle.UnpicklingError, match="other keys than texts"):
        require_plain(io.BytesIO(archive(COSTLY)))


def test_one_file_is_not_two_archives() -> None:
    """Python would see the directory before the end records, PyTorch the one that they name."""
    costly, hidden = parts(archive(COSTLY + bytes(200)))
    plain, directory = parts(archive(PLAIN))
    size, at = len(hidden), len(costly) + len(hidden) + len(plain) + len(directory)
    moved = len(costly) - len(plain)  # Python adds what stands between where and said
    directory = directory[:42] + moved.to_bytes(4, "little") + directory[46:]
    both = costly + hidden + plain + directory
    told = ends(size, len(costly))
    with zipfile.ZipFile(io.BytesIO(both + told)) as seen:
        assert seen.read("x/data.pkl") == PLAIN
    whole, whole_directory = parts(archive(PLAIN))
    own = len(whole) + size
    for file in (
        both + told,
        both + ends(size, len(costly), at),
        whole + whole_directory + ends(size, len(whole), comment=b"PK\1\2"),
        whole + whole_directory + ends(size, len(whole), own + 1),
        whole + whole_directory + ends(size, len(whole), own)[:-8] + bytes(8),
    ):
        with pytest.raises((pickle.UnpicklingError, zipfile.BadZipFile)):
            require_plain(io.BytesIO(file))

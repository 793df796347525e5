"""What a .pt file makes PyTorch build, looked at before PyTorch builds it.

With `weights_only` PyTorch runs no code of a file. But it calls `bytearray(10**10)`, and takes the
hash of a key: of (t, t) with t = (s, s) and so on, 40 deep, for ever. Here the same instructions
are read in Python, with nothing built: keys of dictionaries are texts or short integers, tuples are
not nested, and only tensors and what describes them are called for.
"""

from __future__ import annotations

import io
import pickle
import re
import zipfile
from collections.abc import Iterable
from typing import Any, BinaryIO, ClassVar

_MOST_BYTES = 2**22  # of a pickle: some 16,000 tensors; an instruction of a byte may build 64 bytes
_END, _LOCATOR, _LONG = 22, 20, 56  # bytes of the records at the end of an archive
_LEGACY = 5  # pickles in a row, in files older than PyTorch 1.6: the last lists the storages
_GLOBALS = re.compile(
    r"collections\.OrderedDict|torch\._utils\._rebuild_\w+|torch\.serialization\._get_layout"
    r"|torch\.nn\.parameter\.Parameter|torch\.(?:[A-Z]\w*Storage|Size|device)"
    r"|torch\.(?:bool|b?float|double|half|u?int|short|long|q[iu]|bits|complex|cfloat)\w*"
)
_INSTRUCTIONS = (
    pickle.PROTO, pickle.STOP, pickle.MARK, pickle.GLOBAL, pickle.REDUCE, pickle.NEWOBJ,
    pickle.BINPERSID, pickle.APPEND, pickle.APPENDS, pickle.TUPLE, pickle.TUPLE1, pickle.TUPLE2,
    pickle.TUPLE3, pickle.NONE, pickle.NEWFALSE, pickle.NEWTRUE, pickle.EMPTY_TUPLE,
    pickle.EMPTY_LIST, pickle.EMPTY_DICT, pickle.EMPTY_SET, pickle.BININT, pickle.BININT1,
    pickle.BININT2, pickle.BINFLOAT, pickle.BINUNICODE, pickle.SHORT_BINSTRING, pickle.BINGET,
    pickle.LONG_BINGET, pickle.BINPUT, pickle.LONG_BINPUT, pickle.LONG1,
)  # fmt: skip
"""Those that PyTorch's reader knows; SETITEM, SETITEMS and BUILD are below."""


def require_plain(file: BinaryIO) -> None:
    """Raises pickle.UnpicklingError, or what a file that is no .pt leads to, where PyTorch would
    build more than tensors in dictionaries and lists. Reads from the start."""
    file.seek(0)
    if file.read(4) == b"PK\3\4":  # as PyTorch tells them apart
        _require_one_directory(file)
        with zipfile.ZipFile(file) as archive:
            for info in archive.infolist():
                if "data.pkl" in info.orig_filename.lower():  # the other may be an alias
                    _read(archive.read(info)) if info.file_size <= _MOST_BYTES else _refuse("long")
        return
    file.seek(0)
    start = io.BytesIO(file.read(_MOST_BYTES))
    for _ in range(_LEGACY):
        last = _Census(start).load()
    for key in last if isinstance(last, list) else ():
        _require_key(key)


def _require_one_directory(file: BinaryIO) -> None:
    """The archive's list of members is where Python looks for it, and PyTorch as well.

    Python takes what stands before the end records, PyTorch goes to the offset that they say: so
    the one ends where the others begin, and behind them is no comment. Records of archives above
    4 GiB, which PyTorch always writes, stand side by side, and the two say the same.
    """
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - _LONG - _LOCATOR - _END))
    tail = file.read()
    end, locator = tail[-_END:], tail[-_END - _LOCATOR : -_END]
    said = length, offset = [int.from_bytes(end[i : i + 4], "little") for i in (12, 16)]
    stop = size - _END
    if locator.startswith(b"PK\6\7"):
        long, stop = tail[: -_END - _LOCATOR], stop - _LOCATOR - _LONG
        length, offset = (int.from_bytes(long[i : i + 8], "little") for i in (40, 48))
        same = said == [min(x, 2**32 - 1) for x in (length, offset)]
        here = int.from_bytes(locator[8:16], "little") == stop
        if not (same and here and long.startswith(b"PK\6\6")):
            _refuse("in an archive with two ends")
    if not (end.startswith(b"PK\5\6") and end.endswith(b"\0\0") and offset + length == stop):
        _refuse("in an archive with a list of members elsewhere")


def _read(content: bytes) -> None:
    _Census(io.BytesIO(content)).load()


def _refuse(what: str) -> None:
    raise pickle.UnpicklingError(f"a pickle that is {what}")


def _require_key(key: Any) -> None:
    """With a hash that is one of its own: a text, or an integer that is short."""
    if not (isinstance(key, str) or (type(key) is int and abs(key) < 2**31)):
        _refuse("one with other keys than texts")


def _require_shallow(values: Iterable[Any], levels: int = 2) -> None:
    for value in values:
        if isinstance(value, tuple):
            _require_shallow(value, levels - 1) if levels else _refuse("one with nested tuples")


class _Thing:
    """In place of whatever is called for."""

    def __init__(self, *arguments: Any) -> None:
        _require_shallow(arguments)


def _nothing_in(*items: Any) -> dict[str, Any]:
    if items:
        _refuse("one with a dictionary made of a list")
    return {}


def _layout(name: Any) -> _Thing:
    _require_key(name)
    return _Thing()


_Reader: Any = pickle._Unpickler  # in Python, which typeshed knows in part


class _Census(_Reader):  # type: ignore[misc]
    """Python's own reader, with nothing built but lists, tuples and numbers."""

    dispatch: ClassVar[Any] = {code[0]: _Reader.dispatch[code[0]] for code in _INSTRUCTIONS}

    def find_class(self, module: str, name: str) -> Any:
        if not _GLOBALS.fullmatch(f"{module}.{name}"):
            raise pickle.UnpicklingError("unsupported global")
        return {"OrderedDict": _nothing_in, "_get_layout": _layout}.get(name, _Thing)

    def persistent_load(self, pid: Any) -> Any:
        if isinstance(pid, tuple):  # ("storage", its type, key, location, length, ...)
            _require_key(pid[2] if len(pid) > 2 else None)
            _require_shallow(pid, 1)
        return _Thing()

    def set_item(self) -> None:
        self.stack.pop()
        _require_key(self.stack.pop())

    def set_items(self) -> None:
        for key in self.pop_mark()[::2]:
            _require_key(key)

    def build(self) -> None:
        _require_shallow([self.stack.pop()])

    dispatch |= {pickle.SETITEM[0]: set_item, pickle.SETITEMS[0]: set_items, pickle.BUILD[0]: build}

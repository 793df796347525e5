"""Garbage and damaged files: a data set or one line, nothing else."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.data_files import VALID, json_text
from support.file_strategies import data_files, garbage, mutated

from attncert.constructions.data.loading import parse_json, read_npz
from attncert.constructions.errors import InputError


def only_refuses(read: Any, content: Any) -> None:
    """A data set or one line, nothing else."""
    try:
        data = read(content)
    except InputError as error:
        line = str(error)
        assert line.isprintable() and ": must be " in line and ", not " in line
    else:
        assert data.T >= 1 and len(data.sha256) == 64


@settings(deadline=None, max_examples=150)
@given(data_files().flatmap(mutated) | garbage)
def test_nearly_valid_data_are_refused_or_read(value: Any) -> None:
    only_refuses(parse_json, json.dumps(value).encode())


WORDS = rb'[ ] { } , : 1 - .5 e9 null NaN " 1/3 \ud800 "contexts": "queries": "labels": [[1]] [1]'
fragments = st.sampled_from([*WORDS.split(), b" ", b"\xff"])


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
        only_refuses(read, bytes(content) if read is parse_json else io.BytesIO(content))

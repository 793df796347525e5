"""Tests marked `gpu` run on a GPU that CuPy can use, or otherwise on the stand-in for CuPy.

With ATTNCERT_REQUIRE=cuda, every test that finds no GPU fails.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import pytest
from support import stand_in
from support.devices import Gpu
from support.requires import required

from attncert.constructions.errors import InputError
from attncert.verify.rank.engines.devices import choose_device


@pytest.fixture(scope="module")
def gpu() -> Iterator[Gpu]:
    try:
        choose_device("cuda")
    except InputError as missing:
        if required("cuda"):
            pytest.fail(str(missing))
        with stand_in.installed() as cupy:
            yield Gpu(cupy, real=False)
    else:
        yield Gpu(importlib.import_module("cupy"), real=True)

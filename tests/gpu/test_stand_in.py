"""The stand-in refuses what CuPy refuses: planted mistakes, each of them seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_strict
import numpy as np
import pytest
from support import stand_in

from attncert.constructions.data import generators
from attncert.constructions.given.zeros import draw_groups
from attncert.verify.rank.whole_layer.jacobian_rows import jacobian_rank

MISTAKES: dict[str, tuple[Callable[[Any, Any], object], type[Exception]]] = {
    "a host operand": (lambda cp, x: x + np.ones(3), TypeError),
    "a host operand in front": (lambda cp, x: np.ones(3) + x, TypeError),
    "a host argument": (lambda cp, x: cp.matmul(x, np.ones(3)), TypeError),
    "a host index": (lambda cp, x: x[np.array([0])], TypeError),
    "a silent transfer": (lambda cp, x: np.asarray(x), TypeError),
    "a NumPy name": (lambda cp, x: cp.longdouble(1), AttributeError),
    "a NumPy method": (lambda cp, x: x.to_device("cpu"), AttributeError),
    "a NumPy parameter": (lambda cp, x: cp.sum(x, where=x > 0), TypeError),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_what_cupy_has_not_is_refused(name: str) -> None:
    mistake, error = MISTAKES[name]
    with stand_in.installed() as cupy, pytest.raises(error):
        mistake(cupy, cupy.asarray(np.ones(3)))


@pytest.mark.parametrize("T", [12, pytest.param(320, marks=pytest.mark.slow)])
def test_the_jacobian_uses_only_the_array_api(T: int) -> None:
    data = generators.random(T=T, n=4, d=6, seed=1)
    layer = draw_groups(data, (3,) * (2 if T < 100 else 24), seed=1).layer
    assert jacobian_rank(data, layer, xp=array_api_strict) == jacobian_rank(data, layer)

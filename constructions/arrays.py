"""Names of array types, for annotations.

    IntArray      int64, also indices
    FloatArray    float64: numbers, or residues modulo a prime below 2^21
    BoolArray     booleans
    DigitArray    uint32: digits and residues below 2^32
    WordArray     uint64: words of a sum and its index
    ObjectArray   Python integers or rationals, one by one
    IntegerArray  integers of any size: an integer dtype if they fit (int64 in arithmetic), else
                  Python integers; `dtype` shows which
    ResidueArray  residues held in float32 or float64, depending on the size of the prime
    AnyArray      any dtype

Type checkers distinguish the first six. They treat the last three as one type.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
DigitArray: TypeAlias = NDArray[np.uint32]
WordArray: TypeAlias = NDArray[np.uint64]
ObjectArray: TypeAlias = NDArray[np.object_]
IntegerArray: TypeAlias = NDArray[Any]
ResidueArray: TypeAlias = NDArray[Any]
AnyArray: TypeAlias = NDArray[Any]

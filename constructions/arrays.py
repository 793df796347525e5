"""Names of array types, for annotations.

    IntArray      int64, also places in other arrays
    FloatArray    float64: numbers, or residues modulo a prime below 2^21
    BoolArray     yes or no
    DigitArray    uint32: digits and residues below 2^32
    WordArray     uint64: words that hold a sum and where it comes from
    ObjectArray   Python integers or rationals, one by one
    IntegerArray  whole numbers of any size, exactly: an integer dtype where they fit (int64 in
                  arithmetic), else Python integers; `dtype` tells which
    ResidueArray  residues held in float32 or float64, by the size of the prime
    AnyArray      any dtype

Type checkers tell the first six apart. The last three differ for readers only.
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

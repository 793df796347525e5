"""Names of array types, for annotations. Type checkers treat the last three as one type."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]  # also indices
FloatArray: TypeAlias = NDArray[np.float64]  # numbers, or residues modulo a prime below 2^21
BoolArray: TypeAlias = NDArray[np.bool_]
DigitArray: TypeAlias = NDArray[np.uint32]  # digits and residues below 2^32
WordArray: TypeAlias = NDArray[np.uint64]  # words that hold a sum and its index
ObjectArray: TypeAlias = NDArray[np.object_]  # Python integers or rationals
IntegerArray: TypeAlias = NDArray[Any]  # an integer dtype if the numbers fit, else Python integers
ResidueArray: TypeAlias = NDArray[Any]  # float32 or float64, depending on the size of the prime
AnyArray: TypeAlias = NDArray[Any]

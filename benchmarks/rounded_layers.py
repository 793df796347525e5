"""Rounds our own weights for the digits: at which precision does memorization survive?

python benchmarks/rounded_layers.py [T ...]: the paper's construction, H heads of width 4, exported
as float64 and rounded; the error is enclosed and the rank certified (verify/outputs/error.py).
Deterministic.
"""

from __future__ import annotations

import sys

import numpy as np

from attncert.constructions.data.digits import digits
from attncert.constructions.errors import InputError
from attncert.constructions.weights.own import of_arrays
from attncert.verify.prove.prove import prove
from attncert.verify.questions.prove import Prove
from attncert.verify.third_party.layer.layer import layer

DTYPES = ("float64", "float32", "float16")


def main(sizes: list[int]) -> None:
    print("| T | heads | stored as | largest error | outputs tell labels apart | rank Z = T |")
    print("| ---: | ---: | --- | ---: | --- | --- |")
    for T in sizes:
        data = digits().take(T)
        heads = (T - 1 + 2) // 3
        built = prove(data, Prove(heads=heads, head_width=4, claim="interpolation")).layer
        assert built is not None
        arrays = built.to_numpy()
        for dtype in DTYPES:
            with np.errstate(over="ignore"):
                rounded = {name: array.astype(dtype) for name, array in arrays.items()}
            row = f"| {T} | {heads} | {dtype} |"
            try:
                found = layer(of_arrays(rounded), data).trace
            except InputError as error:
                print(row, f"{error} | no | - |")
                continue
            memorizes, rank = found["layer.memorizes"].level, found["layer.rank"].level
            print(row, f"{float(found['layer.error'].numbers['error'][1]):.2g} |", end=" ")
            print(f"{'yes' if memorizes.holds else 'no'} | {rank.value} |")


if __name__ == "__main__":
    main([int(x) for x in sys.argv[1:]] or [4, 7, 13, 25, 37])

"""The table of docs/models-and-layers.md: model types, their options, how closely outputs agree.

PYTHONPATH=tests python benchmarks/model_types.py [CASES]: for each listed type, it takes 20 small
random models from transformers and records one random layer of each
(`tests/support/model_cases.py`), in float64, with and without padding. The table shows the largest
difference between the module's outputs and those of the layer read from the module and from the
file, relative to the largest output.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from support.model_cases import difference, recorded

from attncert.constructions.weights.model_types import MODEL_TYPES, ModelType


def agreement(name: str, cases: int) -> float:
    worst = 0.0
    for seed in range(cases):
        with tempfile.TemporaryDirectory() as folder:
            taken, layers = recorded(name, seed, Path(folder))
        worst = max(worst, *(difference(taken, weights) for weights in layers))
    return worst


def options(kind: ModelType) -> tuple[str, str]:
    """Table cells: the types, and the options that are refused."""
    plain = (f"{key} except {' or '.join(map(str, values))}" for key, values in kind.plain.items())
    return ", ".join(kind.names), "; ".join(plain) or "-"


def main(cases: int = 20) -> None:
    print("| type | options refused | agreement |")
    print("| --- | --- | ---: |")
    for kind in MODEL_TYPES:
        worst = max(agreement(name, cases) for name in kind.names)
        print(f"| {' | '.join(options(kind))} | {worst:.1e} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

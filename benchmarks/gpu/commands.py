"""Times commands from end to end with --device cuda: data, claim, certificate, and its check."""

from __future__ import annotations

import functools
import io
import json
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

import attncert
from attncert.constructions.data import generators
from gpu.rows import START, Row, rounded

# heads, n, d of a width-one layer on T = H(n - 1) + 1 examples with one context; expected seconds
PROVE = [(20, 32, 64, 20.0), (12, 197, 768, 120.0)]
DRY_PROVE = [(3, 4, 5, 0.0)]
FIT = (200, 6, 12)


def rows(dry: bool) -> list[Row]:
    found = []
    for heads, n, d, seconds in DRY_PROVE if dry else PROVE:
        for device in ("cuda", "cpu"):
            job = functools.partial(prove, heads, n, d, device)
            found.append(Row(f"prove T={heads * (n - 1) + 1} {device}", START + seconds, job))
    sizes = (12, 3, 4) if dry else FIT
    found.append(Row(f"fit T={sizes[0]} cuda", START + 20.0, functools.partial(fit, *sizes)))
    return found


def prove(heads: int, n: int, d: int, device: str) -> dict[str, Any]:
    """Time `attncert prove` and `attncert check --fast`."""
    data = generators.random(heads * (n - 1) + 1, n, d, shared=True, bound=9, seed=1)
    options = ["--construction", "width-one", "--claim", "full-rank", "--heads", str(heads)]
    return run("prove", data, [*options, "--device", device], ["--fast"])


def fit(T: int, n: int, d: int) -> dict[str, Any]:
    """Time `attncert fit` and `attncert check`."""
    return run("fit", generators.random(T, n, d, shared=False, seed=1), ["--device", "cuda"], [])


def run(command: str, data: Any, options: list[str], checked: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        arrays = {
            part: getattr(data, part).numerators for part in ("contexts", "queries", "labels")
        }
        arrays["contexts"] = arrays["contexts"][0] if data.shared else arrays["contexts"]
        np.savez(folder / "data.npz", **arrays)
        row: dict[str, Any] = {"T": data.T, "command": " ".join(["attncert", command, *options])}
        out = folder / "out"
        steps = {
            command: [command, str(folder / "data.npz"), *options, "--out", str(out)],
            "check": ["check", str(out / "certificate.json"), *checked],
        }
        for step, words in steps.items():
            start, said = time.perf_counter(), io.StringIO()
            with redirect_stdout(said):
                status = attncert.main(words)
            row[step] = {"seconds": rounded(time.perf_counter() - start), "exit_status": status}
            if status:
                return row | {
                    "error": f"{step} ended with status {status}: {said.getvalue()[:500]}"
                }
        if (out / "timings.json").exists():
            row["timings"] = json.loads((out / "timings.json").read_text())
    return row

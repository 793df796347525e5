"""Write names.json: the names in CuPy, with the parameters of its functions. It needs an installed
CuPy (but no GPU): `python tests/support/stand_in/make_names.py`."""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path
from typing import Any

OUT = Path(__file__).parent / "names.json"
MODULES = ("cupy", "cupy.linalg", "cupy.fft", "cupy.cuda.runtime", "cupy.cuda.cublas")


def names() -> dict[str, Any]:
    """Each public name of each module, with its parameters if Python knows them, else null."""
    cupy = importlib.import_module("cupy")
    found: dict[str, Any] = {"version": cupy.__version__}
    for name in MODULES:
        module = cupy
        for part in name.split(".")[1:]:
            module = getattr(module, part)
        public = [n for n in dir(module) if n[0] != "_" and n.upper() != n]
        found[name] = {n: parameters(getattr(module, n)) for n in public}
    found["ndarray"] = {n: None for n in dir(cupy.ndarray) if n[0] != "_" or n.startswith("__")}
    return found


def text(found: dict[str, Any]) -> str:
    """One name on each line."""
    parts = [f'"version": {json.dumps(found["version"])}']
    for module in (*MODULES, "ndarray"):
        lines = [f"{json.dumps(n)}: {json.dumps(found[module][n])}" for n in sorted(found[module])]
        parts.append(f'"{module}": {{\n' + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def parameters(value: Any) -> list[str] | None:
    try:
        return list(inspect.signature(value).parameters)
    except (TypeError, ValueError):
        return None


if __name__ == "__main__":
    OUT.write_text(text(names()))

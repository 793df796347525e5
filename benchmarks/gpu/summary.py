"""The table at the end: GPU, CPU of the same machine, and torch on the same GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cases import table

from gpu.parts import PARTS
from gpu.store import DRY

NOT_YET = "not measured on a GPU yet"
AIMS = {"N=2000 k=197": 100_000, "N=2000 k=768": 10_000}  # subsets per second, on an H200
LAYER_AIM = ("T=12545 shared", 60.0)  # seconds
TORCH_AIM = 20  # times torch, batched


def write(folder: Path, dry: bool) -> None:
    """table.md beside the files of results."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "table.md").write_text((f"{DRY}\n\n" if dry else "") + markdown(folder))


def markdown(folder: Path) -> str:
    """What is there; rows that are not say so.

    >>> markdown(Path("/nowhere")).count(NOT_YET) > 3
    True
    """
    found = {part: _rows(folder, number, part) for number, part in enumerate(PARTS, 1)}
    parts = [_subsets(found["subsets"]), _pairs(found), _tests(found["tests"]), _failed(found)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _rows(folder: Path, number: int, part: str) -> dict[str, Any]:
    path = folder / f"{number}-{part}.json"
    return json.loads(path.read_text())["rows"] if path.exists() else {}


def _subsets(rows: dict[str, Any]) -> str:
    headings = ["subsets", "GPU/s", "aim", "CPU/s", "torch batched/s", "torch single/s",
                "GPU to CPU", f"to torch batched (aim {TORCH_AIM})"]  # fmt: skip
    names = [name.removesuffix(" GPU") for name in rows if name.endswith(" GPU")] or list(AIMS)
    lines = []
    for name in names:
        ours, cpu, batched, single = (
            rows.get(f"{name} {way}", {}).get("per_second")
            for way in ("GPU", "CPU", "torch batched", "torch single")
        )
        aim = f"{AIMS[name]:,}" if name in AIMS else "-"
        lines.append([name, _number(ours), aim, _number(cpu), _number(batched), _number(single),
                      _ratio(ours, cpu), _ratio(ours, batched)])  # fmt: skip
    return table(headings, lines)


def _pairs(found: dict[str, dict[str, Any]]) -> str:
    """Seconds of the same row on both devices."""
    lines = []
    for part, gpu, cpu in (("layers", " GPU", " CPU"), ("fit", " GPU", " CPU"),
                           ("commands", " cuda", " cpu")):  # fmt: skip
        for name, row in found[part].items():
            if name.endswith(gpu):
                base = name.removesuffix(gpu)
                there, here = _seconds(row), _seconds(found[part].get(base + cpu, {}))
                aim = f"{LAYER_AIM[1]:g} s" if base == LAYER_AIM[0] else "-"
                ratio = _ratio(here, there)
                lines.append([part, base, _number(there), aim, _number(here), ratio])
    for name, row in found["kruskal"].items():
        there, here = (_seconds(row.get(device, {})) for device in ("cuda", "cpu"))
        lines.append(["kruskal", name, _number(there), "-", _number(here), _ratio(here, there)])
    lines = lines or [["layers", LAYER_AIM[0], NOT_YET, f"{LAYER_AIM[1]:g} s", "-", "-"]]
    return table(["part", "what", "GPU, s", "aim", "CPU, s", "CPU to GPU"], lines)


def _seconds(row: dict[str, Any]) -> float | None:
    if "command" in row:
        row = row.get(row["command"].split()[1], {})
    found: float | None = row.get("seconds", row.get("first_s"))
    return found


def _tests(rows: dict[str, Any]) -> str:
    lines = [[name, row.get("tests", "-"), len(row.get("failed", {})), row.get("skipped", "-")]
             for name, row in rows.items()]  # fmt: skip
    return table(["tests", "run", "failed", "skipped"], lines or [["gpu", NOT_YET, "-", "-"]])


def _failed(found: dict[str, dict[str, Any]]) -> str:
    lines = [f"- {part}, {name}: {row['error'].splitlines()[0]}"
             for part, rows in found.items() for name, row in rows.items()
             if "error" in row]  # fmt: skip
    return "\n".join(["Failed:", "", *lines]) if lines else ""


def _number(x: float | None) -> str:
    return NOT_YET if x is None else f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


def _ratio(a: float | None, b: float | None) -> str:
    return "-" if a is None or not b else f"{a / b:.1f}"

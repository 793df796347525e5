"""Tables of results: the GPU, its floor, the CPU of the same machine, and torch on the same GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cases import show, table

from gpu.parts import PARTS
from gpu.store import DRY

NOT_YET = "not measured on a GPU yet"


def write(folder: Path, dry: bool, document: bool) -> None:
    """Write the tables into benchmarks/README.md, or as table.md next to the results files."""
    text = markdown(folder)
    if document:
        show("gpu", text)
    else:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "table.md").write_text((f"{DRY}\n\n" if dry else "") + text + "\n")


def markdown(folder: Path) -> str:
    """The tables of the rows that were measured; missing rows are marked.

    >>> markdown(Path("/nowhere")).count(NOT_YET)
    3
    """
    files = {part: _file(folder, number, part) for number, part in enumerate(PARTS, 1)}
    found = {part: file["rows"] for part, file in files.items()}
    parts = [_machine(files), _subsets(found["subsets"]), _pairs(found)]
    parts += [_experiments(found["experiments"]), _failed(found)]
    return "\n\n".join(part for part in parts if part)


def _file(folder: Path, number: int, part: str) -> dict[str, Any]:
    path = folder / f"{number}-{part}.json"
    return json.loads(path.read_text()) if path.exists() else {"rows": {}}


def _machine(files: dict[str, dict[str, Any]]) -> str:
    """A sentence with the device, versions, dates and the outcome of the tests."""
    file, rows = files["subsets"], files["tests"]["rows"].values()
    if "machine" not in file:
        return f"Tests: {NOT_YET}."
    machine = file["machine"]
    days = " and ".join(sorted({f["date"].split()[0] for f in files.values() if "date" in f}))
    device, packages = machine["device"], machine["packages"]
    ran, failed = sum(row["tests"] for row in rows), sum(len(row["failed"]) for row in rows)
    rate = next((row["float64_per_s"] for row in file["rows"].values() if "floor_s" in row), 0.0)
    return (
        f"{device['name']}, driver {device['driver']}, CuPy {device['cupy']}, CUDA "
        f"{device['runtime_cuda']}, torch {packages['torch']}, {machine['cores']} cores; {days}. "
        f"Tests: {ran} ran, {failed} failed. One float64 product: {rate / 1e12:.1f} TFLOP/s."
    )


def _subsets(rows: dict[str, Any]) -> str:
    headings = ["subsets", "GPU/s", "times floor", "CPU/s", "GPU to CPU", "torch/s", "to torch"]
    lines = []
    for name in (name.removesuffix(" GPU") for name in rows if name.endswith(" GPU")):
        ways = "GPU", "CPU", "torch batched", "torch single"
        rates = [rows.get(f"{name} {way}", {}).get("per_second") for way in ways]
        torch = max(filter(None, rates[2:]), default=None)
        floor = rows[f"{name} GPU"].get("times_floor")
        beside = [_number(rates[1]), _ratio(rates[0], rates[1])]
        beside += [_number(torch), _ratio(rates[0], torch)]
        lines.append([name, _number(rates[0]), _number(floor), *beside])
    return table(headings, lines or [["N=2000 k=197", NOT_YET, *["-"] * 5]])


def _pairs(found: dict[str, dict[str, Any]]) -> str:
    """The seconds of each row on both devices."""
    lines = []
    for part, gpu, cpu in (("layers", " GPU", " CPU"), ("fit", " GPU", " CPU"),
                           ("depth", " GPU", " CPU"), ("commands", " cuda", " cpu")):  # fmt: skip
        for name, row in found[part].items():
            if name.endswith(gpu):
                base = name.removesuffix(gpu)
                lines.append([part, base, row, found[part].get(base + cpu, {})])
    for name, row in found["kruskal"].items():
        lines.append(["kruskal", name, row["cuda"] | row, row["cpu"]])
    rows = [
        [part, name, _number(_seconds(row)), _number(row.get("times_floor")),
         _number(_seconds(other)), _ratio(_seconds(other), _seconds(row))]
        for part, name, row, other in lines
    ]  # fmt: skip
    headings = ["part", "what", "GPU, s", "times floor", "CPU, s", "CPU to GPU"]
    return table(headings, rows or [["layers", "T=12545 shared", NOT_YET, *["-"] * 3]])


def _experiments(rows: dict[str, Any]) -> str:
    """The largest T for which weights were found, and how long the search took."""
    points = [f"{name} {row['T']:,} ({_number(row['seconds'])} s)" for name, row in rows.items()]
    return f"Experiments, T found: {', '.join(points)}." if points else ""


def _seconds(row: dict[str, Any]) -> float | None:
    if "command" in row:
        row = row.get(row["command"].split()[1], {})
    found: float | None = row.get("seconds", row.get("first_s"))
    return found


def _failed(found: dict[str, dict[str, Any]]) -> str:
    lines = [f"- {part}, {name}: {row['error'].splitlines()[0]}"
             for part, rows in found.items() for name, row in rows.items()
             if "error" in row]  # fmt: skip
    return "\n".join(["Failed:", "", *lines]) if lines else ""


def _number(x: float | None) -> str:
    return "-" if x is None else f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


def _ratio(a: float | None, b: float | None) -> str:
    return "-" if a is None or not b else f"{a / b:.1f}"

"""For every command and option, the command that a report prints reproduces that report."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import typer
from support import exact_data
from support.shares import share

import attncert
from attncert.app import app
from attncert.constructions.layer import LAYER_BLOCK

DATA = exact_data.family(8, 3, 4, queries="moment-curve", seed=1)
OWN = "examples.own_construction:PARITY"
# Keys that no result depends on, or that differ between reports.
LEFT_OUT = {"out", "json", "help", "device", "dask"}
CASES = [
    "prove --examples 5 --heads 4 --head-width 2 --value-width 2 --seed 3",
    "prove --examples 5 --saturate 9 --claim interpolation",
    "prove --examples 4 --round 1/4 --data-file",
    "prove --examples 4 --before mean",
    "prove --examples 5 --construction retrieval --beta 1/3",
    *(f"prove --examples 6 --construction {c}" for c in ("width-one", "affine", "generic", OWN)),
    "fit --examples 6",
    "fit --examples 7 --heads 3 --head-width 2 --value-width 2 --steps 300 --seed 2",
    "capacity --examples 6",
    "capacity --examples 4 --before mean",
    "capacity --examples 4 --heads 1 --layers 2 --feed-forward 1",
    "fit --examples 5 --heads 2 --layers 2",
    f"compare --examples 6 --seed 2 --construction {OWN}",
    "kruskal --examples 7 --work 1 --subsets 20 --seed 5",
    "kruskal --examples 7 --work 1 --k 3",
    "capacity --examples 5 --heads 2 --head-width 2 --value-width 2 --seed 6",
    "assume --subsets 20 --work 0.5 --seed 7",
    "assume --examples 5 --subsets 0 --heads 3 --head-width 2",
    "audit --quick --construction paper --seed 1",
    "attack --construction paper --cases 5 --seed 2",
    "layer --examples 5 --format attncert --heads 2 --scale sqrt-d --logit-unit ln2 --mask MASK",
    "layer --tolerance 1e-3 --computed-in float32",
]
HEAD = {"query": [[1], [0], [2], [1]], "key": [[1], [1], [0], [1]], "value": [[1], [2], [0], [1]]}
BLOCK = {"heads": [HEAD, HEAD], "output": [[1], [2]], "logit_unit": "1"}
FILES = {
    "DATA": json.dumps(DATA.canonical()),
    "WEIGHTS": json.dumps({"network": [LAYER_BLOCK | BLOCK]}),
}
ASKED_OF = {"attack": [], "audit": [], "layer": ["WEIGHTS", "DATA"]}
NOT_HERE = {
    "layer": {"prefix"},  # tested with several layers in test_weights_formats.py
}


@pytest.mark.parametrize("case", share(CASES, 2))
def test_the_command_of_a_report_repeats_it(case: str, tmp_path: Path) -> None:
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    np.savez(tmp_path / "MASK.npz", mask=[1] * DATA.n)
    (tmp_path / "MASK.npz").rename(tmp_path / "MASK")

    def run(words: list[str], out: Path) -> int:
        paths = [str(tmp_path / word) if (tmp_path / word).is_file() else word for word in words]
        return attncert.main([*paths, "--out", str(out)])

    command, *options = shlex.split(case)
    first, second = tmp_path / "first", tmp_path / "second"
    status = run([command, *ASKED_OF.get(command, ["DATA"]), *options], first)
    page = (first / "report.md").read_text()
    printed = re.findall(rf"attncert {command} [A-Z-][^`\n]*", page)[-1]
    assert run(shlex.split(printed)[1:], second) == status in (0, 1, 3)
    names = {path.relative_to(first) for path in first.rglob("*") if path.is_file()}
    assert names == {path.relative_to(second) for path in second.rglob("*") if path.is_file()}
    for name in names - {Path("timings.json")}:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name
    if (first / "certificate.json").exists():
        certificate = json.loads((first / "certificate.json").read_text())
        assert certificate["produced_by"]["command"] == printed


def test_every_option_of_every_command_is_tried() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    tried = {case.split()[0]: set[str]() for case in CASES}
    for case in CASES:
        command, *options = shlex.split(case)
        tried[command] |= {word[2:] for word in options if word.startswith("--")}
    writing = {name for name, c in commands.items() if any(p.name == "out" for p in c.params)}
    assert tried.keys() == writing
    for command, options in tried.items():
        names = {name[2:] for p in commands[command].params for name in p.opts if name[:2] == "--"}
        assert names - LEFT_OUT - NOT_HERE.get(command, set()) == options - LEFT_OUT

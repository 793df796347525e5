"""The scripts that pages name run, each at its smallest size: no other test would show that a
function they call has changed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import EXAMPLES, ROOT
from support.requires import needed

from attncert import Prove, load, prove

pytestmark = pytest.mark.slow

SMALLEST = {
    "benchmarks/commands.py": "--quick --out OUT",
    "benchmarks/depth.py": "--quick --out OUT",
    "benchmarks/depth_attack.py": "20 --out OUT",
    "benchmarks/digits.py": "--up-to 25 --out OUT",
    "benchmarks/every_labelling.py": "--quick --out OUT",
    "benchmarks/experiments.py": "--series one-hot --budget 1 --resume OUT",
    "benchmarks/experiments_layers.py": "--layers 1 --out OUT",
    "benchmarks/fit.py": "--large 1 --out OUT",
    "benchmarks/kernel.py": "CERTIFICATE --out OUT",
    "benchmarks/layer_shapes.py": "bert-base 2 4",
    "benchmarks/model_types.py": "1",
    "benchmarks/models.py": "--help",  # takes hours and needs weights from a package
    "benchmarks/models_trained.py": "--help",  # takes minutes and needs a text to train on
    "benchmarks/networks.py": "10 4",
    "benchmarks/networks_public.py": "--quick",
    "benchmarks/parts.py": "--quick --out OUT",
    "benchmarks/prove.py": "--quick --out OUT",
    "benchmarks/rank.py": "--quick --out OUT",
    "benchmarks/rank_tables.py": "",
    "benchmarks/rounded_layers.py": "4",
    "benchmarks/spread.py": "--heads 2 --kill 1 --out OUT",
    "benchmarks/width_one.py": "--quick --out OUT",
    "benchmarks/zeros.py": "3x4 --examples 21 --heads 2 --out OUT",
    "examples/embed_model.py": "--help",  # tests/docs/test_embed_model.py runs it
    "examples/train_layer.py": "FOLDER",
    "examples/train_network.py": "FOLDER",
}
MODELS = ("embed_model", "model_types", "models", "models_trained")
NAMED = sorted({
    script
    for folder in ("*.md", "docs/**/*.md", "benchmarks/*.md")
    for page in ROOT.glob(folder)
    for script in re.findall(r"python ((?:benchmarks|examples)/\w+\.py)", page.read_text("utf-8"))
})  # fmt: skip


@pytest.mark.parametrize("script", NAMED)
def test_a_script_that_pages_name_runs(script: str, tmp_path: Path) -> None:
    if Path(script).stem in MODELS:
        pytest.importorskip("transformers")
        pytest.importorskip("torch")
    if script == "examples/train_network.py":
        pytest.importorskip("torch")
    if script == "benchmarks/kernel.py":
        needed()
        prove(load(EXAMPLES / "tiny.json"), Prove(heads=2)).write(tmp_path / "report")
    words = SMALLEST[script]
    places = {"OUT": "out.json", "FOLDER": ".", "CERTIFICATE": "report/certificate.json"}
    arguments = [places.get(word, word) for word in words.split()]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(ROOT / script), *arguments],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": paths}, text=True, capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    if "OUT" in words:
        assert json.loads((tmp_path / "out.json").read_text())

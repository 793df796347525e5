"""After fixed blocks, capacity counts merged examples once, and all others separately."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.requires import EXECUTABLE, verified_status
from support.shares import share
from support.shell import Shell
from support.small_certificates import written

from attncert import Capacity, Dataset, capacity, of_sequences
from attncert.constructions.data.generators import random
from attncert.constructions.network.file import as_json
from attncert.constructions.network.mixing import mean
from attncert.verify.checker import check_file
from attncert.verify.checking.fast.check import check_file as check_fast
from attncert.verify.claims import ids

DATA = random(T=6, n=3, d=3, seed=4)
CHECKS = check_file, check_fast


def blocks(folder: Path, *network: Any) -> str:
    path = folder / "blocks.json"
    path.write_text(json.dumps({"network": network}))
    return str(path)


@pytest.mark.parametrize("layers", share([1, 2], 2))
def test_examples_that_the_blocks_merge_count_once(layers: int, tmp_path: Path) -> None:
    """The last two examples differ only in the third number, which the block drops."""
    rows = DATA.canonical()
    rows["contexts"][5] = [[*row[:2], "7"] for row in rows["contexts"][4]]
    rows["queries"][5] = [*rows["queries"][4][:2], "7"]
    data = Dataset.of(*(rows[name] for name in ("contexts", "queries", "labels")))
    drop = {"kind": "feed-forward", "of": "all", "activation": "identity", "residual": False}
    drop |= {"weights": [["1", "0"], ["0", "1"], ["0", "0"]], "bias": ["0", "0"]}
    question = Capacity(heads=3, layers=layers, before=blocks(tmp_path, drop))
    free, merged = capacity(data, Capacity(heads=3, layers=layers)), capacity(data, question)
    last = ids.LAW_RANK if layers == 1 else ids.DEPTH_RANK
    assert free.trace[last].numbers["rank"] == 6 and merged.trace[last].numbers["rank"] == 5


def test_blocks_see_the_order_of_tokens(tmp_path: Path) -> None:
    """A layer cannot tell the prefixes abc and bac apart; a block with a causal mask can."""
    vectors = {"a": [1, 0, 2], "b": [0, 1, 5], "c": [1, 1, 1]}
    data = of_sequences(["abcc", "bacc"], vectors, labels=[*range(6)])
    causal = {**as_json(mean(3))[0], "mask": "causal"}
    question = Capacity(heads=2, before=blocks(tmp_path, causal))
    ranks = [capacity(data, x).trace[ids.LAW_RANK].numbers["rank"] for x in (Capacity(2), question)]
    assert data.T == 6 and ranks == [5, 6]


@pytest.mark.parametrize("layers", [1, 2])
def test_certificates_and_words(layers: int, tmp_path: Path, shell: Shell) -> None:
    """For one layer, the files hold the given data and the block; for two, only the data after
    it."""
    file, out = tmp_path / "data.json", tmp_path / "out"
    file.write_text(json.dumps(DATA.canonical()))
    line = ["capacity", file, "--layers", layers, "--heads", 1, "--before", "mean", "--out", out]
    assert "One fixed block computed the data from the given data." in shell.runs(*line).out
    page = (out / "report.md").read_text()
    assert "--before mean" in page and DATA.sha256 in page and "| `before` | proved |" in page
    assert ("holds the given data and all blocks" in page) == (layers == 1)
    assert ("neither the given data nor any fixed block" in page) == (layers == 2)
    files = [json.loads(x.read_text()) for x in sorted(out.glob("certificate*.json"))]
    assert len(files) == layers + 1
    behind = mean(3).apply(DATA)
    for content in files:
        held = DATA if layers == 1 else behind
        assert content["data"] == held.canonical() and content["input_sha256"] == held.sha256
        path = written(content, tmp_path)
        assert [check(path).status for check in CHECKS] == ["holds"] * 2
        assert not EXECUTABLE.exists() or verified_status(path) == "holds"


@pytest.mark.parametrize("command", ["capacity", "prove"])
def test_blocks_that_are_not_rational(command: str, tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "data.json").write_text(json.dumps(DATA.canonical()))
    one = [["1"], ["0"], ["0"]]
    soft = {**as_json(mean(3))[0], "rule": "softmax", "logit_unit": "1"}
    soft |= {"heads": [{"key": one, "query": one, "value": one}], "output": [["1", "0", "0"]]}
    line = [command, tmp_path / "data.json", "--before", blocks(tmp_path, soft)]
    assert "before: must be blocks with exact outputs" in shell.refuses(*line)

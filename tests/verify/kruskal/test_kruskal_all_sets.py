"""All sets of k as shards: what they prove, resumed, united, and what a log may not say of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.kruskal_cases import planted

import attncert
from attncert.verify.kruskal.examine import examine
from attncert.verify.kruskal.methods import middle
from attncert.verify.kruskal.methods.exhaustive import decide
from attncert.verify.kruskal.sampling.all_sets import AllSets, sets_of
from attncert.verify.kruskal.sampling.jobs import Question
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.scale.engine import run
from attncert.verify.scale.log import _line

GENERAL = Vectors.of(np.random.default_rng(0).integers(0, 64, (24, 13)))


@pytest.mark.parametrize(("k", "first"), [(4, 10**6), (6, 20)])
def test_shards_prove_what_one_search_does(
    k: int, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By quotients, and by the middle."""
    monkeypatch.setitem(middle._FROM, k, first)
    for vectors in (GENERAL, planted(24, 13, k, seed=1)[0]):
        search = AllSets.of(vectors, k)
        plan = search.plan(0)
        results = run(plan.shards(), search, (vectors.array,))
        found = sets_of(plan, search.settings(), results)
        assert found.complete and found.settled == plan.count
        assert found.bound == decide(vectors, k).bound() is not None


def test_all_sets_need_a_size() -> None:
    for k in (None, 2):
        with pytest.raises(ValueError, match="--all-sets: must be given with --k from 3"):
            examine(GENERAL, Question(k=k, work=1.0, budget=None, all_sets=True))


@pytest.fixture
def log(tmp_path: Path) -> tuple[str, Path, list[str]]:
    data, log = tmp_path / "v.npy", tmp_path / "log"
    np.save(data, GENERAL.array)
    words = ["kruskal", str(data), "--k", "4", "--all-sets", "--subsets", "0"]
    for part in ("1/2", "2/2"):
        path = f"{log}{part[0]}"
        assert attncert.main([*words, "--shard", part, "--log", path]) == 0
    return str(data), log, words


def test_parts_unite_and_answer(
    log: tuple[str, Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, path, words = log
    assert attncert.main(["merge", f"{path}1"]) == 3
    assert "none is dependent, which proves nothing before the rest is" in capsys.readouterr().out
    both = ["merge", f"{path}1", f"{path}2", "--data", data, "--out", str(path)]
    assert attncert.main(both) == 0
    assert "so every 4 are independent (proved)" in capsys.readouterr().out
    before = path.read_bytes()
    out = ["--log", str(path), "--out", str(tmp_path / "out")]
    assert attncert.main([*words, "--budget", "1", *out]) == 0
    assert path.read_bytes() == before
    assert "Every 4 of the 24 vectors are independent (proved)." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"settled": 1}, "settled as a whole"),
        ({"primes": [5]}, "the primes of a search"),
        ({"looked at": -1}, "a number of looked at"),
        ({"witness": {"indices": [0, 1], "coefficients": ["1", "-1"]}}, "a false one"),
    ],
)
def test_a_log_that_says_otherwise_is_refused(
    change: dict[str, object], why: str, log: tuple[str, Path, list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    data, path, _ = log
    head, first, *rest = Path(f"{path}1").read_bytes().splitlines(keepends=True)
    content = json.loads(first)["content"]
    if "settled" in change:
        change = {"settled": content["result"]["settled"] + 1}
    content["result"] |= change
    path.write_bytes(b"".join([head, _line(content), *rest]))
    assert attncert.main(["merge", str(path), "--data", data]) == 2
    error = capsys.readouterr().err
    assert why in error and error.count("\n") == 1

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
from attncert.verify.kruskal.vectors import Vectors, load_vectors
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
    said = "so every 4 are independent, if the log is right. The log has 21 of 21 parts"
    assert said in capsys.readouterr().out
    before = path.read_bytes()
    out = ["--log", str(path), "--out", str(tmp_path / "out")]
    assert attncert.main([*words, "--budget", "1", *out]) == 0
    assert path.read_bytes() == before
    printed = capsys.readouterr().out
    assert "Every 4 of the 24 vectors are independent (assumed)." in printed and said in printed
    report = (tmp_path / "out" / "report.md").read_text()
    assert "proved from both sides" not in report and "is known" not in report
    assert "The log has 21 of 21 parts of this search" in report
    assert attncert.main([*words, "--budget", "60", "--out", str(tmp_path / "out")]) == 0
    assert "Every 4 of the 24 vectors are independent (proved)." in capsys.readouterr().out


def test_a_log_that_hides_a_dependent_set_proves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All checksums are right, and the vectors are those of the log; 0, 1, 2 and 3 are dependent.
    Beside a shard that names them, the log contradicts itself."""
    table = GENERAL.array.copy()
    table[3] = table[0] + table[1] + table[2]
    data, log = tmp_path / "v.npy", tmp_path / "log"
    np.save(data, table)
    words = ["kruskal", str(data), "--k", "4", "--all-sets", "--subsets", "50", "--log", str(log)]
    assert attncert.main([*words, "--shard", "1/1"]) == 0
    head, subsets, *sets = (json.loads(line)["content"] for line in log.read_bytes().splitlines())
    primes = sets[-1]["result"]["primes"]
    for line in sets:
        pieces = line["shard"][3] - line["shard"][2]
        line["result"] |= {"settled": pieces, "witness": None, "primes": primes}
    log.write_bytes(b"".join(map(_line, (head, subsets, *sets))))
    out = ["--budget", "0.001", "--out", str(tmp_path / "out")]
    capsys.readouterr()
    attncert.main([*words, *out])
    attncert.main(["merge", str(log), "--data", str(data)])
    printed = capsys.readouterr().out
    assert "are independent (proved)" not in printed and printed.count("if the log is right") == 2

    witness = {"indices": [0, 1, 2, 3], "coefficients": ["1", "1", "1", "-1"]}
    subsets["result"] |= {"dependent": 1, "independent": 49, "witness": witness}
    log.write_bytes(b"".join(map(_line, (head, subsets, *sets))))
    for command in ([*words, *out], ["merge", str(log), "--data", str(data)], ["merge", str(log)]):
        assert attncert.main(command) == 2
        error = capsys.readouterr().err
        assert "hides 4 of them" in error or "a log whose shards agree" in error


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"settled": 1}, "settled as a whole"),
        ({"primes": [5]}, "the primes of a search"),
        ({"primes": [[1]], "settled": 0}, "the primes of a search"),
        ({"primes": [{}, "\x1b[31m"], "settled": 0}, "the primes of a search"),
        ({"primes": [65267.0, 65147.0]}, "the primes of a search"),
        ({"looked at": 2**63}, "a number of looked at"),
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
    if change == {"settled": 1}:
        change = {"settled": content["result"]["settled"] + 1}
    content["result"] |= change
    path.write_bytes(b"".join([head, _line(content), *rest]))
    assert attncert.main(["merge", str(path), "--data", data]) == 2
    error = capsys.readouterr().err
    assert why in error and error.count("\n") == 1


# The log of all sets of six of the digits' queries: 674 shards, 13 minutes of one core.

SIX = Path(__file__).parents[3] / "benchmarks" / "results" / "kruskal-digits-6.jsonl"


def test_the_committed_log_shows_that_six_of_the_digits_are_independent(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert attncert.main(["merge", str(SIX), "--data", "digits"]) == 0
    assert "so every 6 are independent, if the log is right" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("line", [17, 600])
def test_a_shard_of_it_is_what_a_new_search_finds(line: int) -> None:
    vectors = load_vectors("digits")
    stored = json.loads(SIX.read_text().splitlines()[line])["content"]
    search = AllSets.of(vectors, 6)
    shard = next(s for s in search.plan(0).shards() if s.as_list() == stored["shard"])
    again = run([shard], search, (vectors.array,))[shard]
    assert json.loads(json.dumps(again)) == stored["result"]

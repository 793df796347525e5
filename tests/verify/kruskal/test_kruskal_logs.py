"""Logs that were edited, checksums and all: refused in one line, or nothing false is said."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.file_strategies import mutated
from support.shard_logs import (
    ASKED,
    TABLE,
    VECTORS,
    contents,
    is_sound,
    question,
    sealed,
    write_logs,
    write_sets,
)

import attncert
from attncert.constructions.errors import InputError
from attncert.verify.kruskal.examine import examine
from attncert.verify.kruskal.records import rules
from attncert.verify.kruskal.sampling.draws import sequences
from attncert.verify.kruskal.sampling.jobs import identity
from attncert.verify.kruskal.vectors import Vectors
from attncert.verify.scale.log import ShardLog, read_log
from attncert.verify.scale.merge import unite
from attncert.verify.scale.shards import Shard

Edit = Callable[[list[dict[str, Any]]], object]

QUICK = ["--work", "1", "--subsets", "200", "--bases", "4", "--device", "cpu"]
WORDS = {"subsets": ["--k", "8"], "prefixes": []}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The vectors, and three logs about them: of subsets, of prefixes, of sets; with witnesses."""
    place = tmp_path_factory.mktemp("logs")
    np.savez(place / "vectors.npz", vectors=TABLE)
    write_logs(place)
    write_sets(place)
    return place


def first(lines: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    """The first result of a kind with a witness, if there is one."""
    found = [x["result"] for x in lines[1:] if x["shard"][0] == kind]
    result: dict[str, Any] = min(found, key=lambda result: result["witness"] is None)
    return result


def witness(**changes: Any) -> Edit:
    return lambda lines: first(lines, "bases")["witness"].update(changes)


def result(kind: str = "subsets", **changes: Any) -> Edit:
    return lambda lines: first(lines, kind).update(changes)


def header(*path: Any, value: Any) -> Edit:
    def edit(lines: list[dict[str, Any]]) -> None:
        inner = lines[0]["run"]
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value

    return edit


def without(name: str) -> Edit:
    return lambda lines: first(lines, "subsets").pop(name)


EDITS: dict[str, Edit] = {
    "index out of range": witness(indices=[0, 1, 2, 20]),
    "index negative": witness(indices=[-1, 1, 2, 3]),
    "index boolean": witness(indices=[False, True, 2, 3]),
    "index float": witness(indices=[0.0, 1, 2, 3]),
    "index text": witness(indices=["0", 1, 2, 3]),
    "index of 600 digits": witness(indices=[0, 1, 2, int("9" * 600)]),
    "index of 5,000 digits": witness(indices=[0, 1, 2, "9" * 5000]),
    "indices out of order": witness(indices=[1, 0, 2, 3]),
    "index twice": witness(indices=[0, 0, 2, 3]),
    "indices a number": witness(indices=4),
    "coefficients too few": witness(coefficients=["1", "1"]),
    "coefficients too many": witness(coefficients=["1"] * 5),
    "coefficient a word": witness(coefficients=["x", "1", "1", "-1"]),
    "coefficient a number": witness(coefficients=[1, 1, 1, -1]),
    "coefficient zero": witness(coefficients=["0", "1", "1", "-1"]),
    "coefficient in other digits": witness(coefficients=["١", "1", "1", "-1"]),
    "coefficient null": witness(coefficients=[None, "1", "1", "-1"]),
    "witness empty": witness(indices=[], coefficients=[]),
    "witness of everything": witness(indices=list(range(20)), coefficients=["1"] * 20),
    "witness with more": witness(why="because"),
    "witness a list": result(witness=[1]),
    "witness deep": result(witness=json.loads("[" * 400 + "]" * 400)),
    "witness missing": without("witness"),
    "witness null where some are dependent": result(witness=None),
    "count missing": without("independent"),
    "count too large": result(independent=10**9),
    "count boolean": result("bases", bases=True),
    "count float": result("bases", bases=1.0),
    "count negative": result(independent=-1, undecided=65),
    "count null": result(independent=None),
    "key more": result(more=1),
    "k changed": header("settings", "subsets", "k", value=7),
    "k boolean": header("settings", "subsets", "k", value=True),
    "draws missing": lambda lines: lines[0]["run"]["settings"]["subsets"].pop("draws"),
    "plan larger": header("plans", 1, "count", value=10**9),
    "plan far too large": header("plans", 1, "count", value=10**500),
    "plan cut otherwise": header("plans", 0, "size", value=50),
    "plan of another kind": header("plans", 0, "kind", value="others"),
    "plans none": header("plans", value=[]),
    "plans twice": lambda lines: lines[0]["run"]["plans"].append(lines[0]["run"]["plans"][0]),
    "seed negative": header("plans", 0, "seed", value=-1),
    "vectors more": header("settings", "bases", "vectors", value=2**31),
    "vectors of another size": header("settings", "bases", "vectors", value=21),
    "vectors null": header("settings", "bases", "vectors", value=None),
    "settings deep": header("settings", "bases", value=json.loads("[" * 400 + "]" * 400)),
    "settings missing": lambda lines: lines[0]["run"].pop("settings"),
    "version another": header("version", value="0.0.0"),
    "version escape": header("version", value="\x1b[31m\ud800"),
    "sha another word": header("input_sha256", value="ab"),
    "format another": lambda lines: lines[0].update(format="attncert-shards/9"),
    "header more": lambda lines: lines[0].update(more=1),
    "shard outside the plan": lambda lines: lines[1].update(shard=["subsets", 0, 64, 65]),
    "shard of another seed": lambda lines: lines[1].update(shard=["subsets", 1, 0, 64]),
    "shard boolean": lambda lines: lines[1].update(shard=["subsets", False, 0, 64]),
    "shard missing": lambda lines: lines[1].pop("shard"),
    "result missing": lambda lines: lines[1].pop("result"),
    "result a list": lambda lines: lines[1].update(result=[]),
}  # fmt: skip


def test_a_log_as_it_was_written_is_read(folder: Path) -> None:
    for kind in ASKED:
        raw = (folder / kind).read_bytes()
        assert sealed(contents(raw)) == raw
        for known in (VECTORS, None):
            found = read_log(folder / kind, rules(known))
            assert len(found.finished) == 4 + 4 and found.whole == len(raw)
            assert any(x["witness"] for x in found.finished.values())


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edited_log_is_refused_in_one_line(edit: Edit, folder: Path, tmp_path: Path) -> None:
    """To go on with, to unite with the vectors at hand, and to unite without."""
    lines = contents((folder / "subsets").read_bytes())
    edit(lines)
    log = tmp_path / "log"
    log.write_bytes(before := sealed(lines))
    for read in (
        lambda: ShardLog(log, identity(VECTORS, question("subsets")), rules(VECTORS)),
        lambda: unite([log], rules(VECTORS)),
        lambda: unite([log], rules(None)),
    ):
        with pytest.raises(InputError) as error:
            read()
        assert str(error.value).isprintable() and log.read_bytes() == before


@pytest.mark.parametrize("edit", ["index float", "count too large", "k changed", "witness deep"])
def test_both_commands_refuse_an_edited_log_before_they_write(
    edit: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = contents((folder / "subsets").read_bytes())
    EDITS[edit](lines)
    log, out, data = tmp_path / "log", tmp_path / "out", str(folder / "vectors.npz")
    log.write_bytes(sealed(lines))
    resumed = ["kruskal", data, *QUICK, *WORDS["subsets"], "--out", str(out), "--log", str(log)]
    for words in (resumed, ["merge", str(log), "--out", str(out)], ["merge", str(log), "--json"]):
        assert attncert.main(words) == 2
        printed = capsys.readouterr()
        assert printed.out == "" and printed.err.count("\n") == 1 and not out.exists()


def test_a_log_of_another_k_with_the_draws_of_that_k_is_of_another_run(
    folder: Path, tmp_path: Path
) -> None:
    lines = contents((folder / "subsets").read_bytes())
    lines[0]["run"]["settings"]["subsets"] |= {"k": 7, "draws": draws_of(7)}
    (tmp_path / "log").write_bytes(sealed(lines))
    with pytest.raises(InputError, match=r"this run \(subsets: k 8\)"):
        ShardLog(tmp_path / "log", identity(VECTORS, question("subsets")), rules(VECTORS))


def draws_of(k: int) -> str:
    return hashlib.sha256(sequences(20, k, 0, 0, 64).astype("<i8").tobytes()).hexdigest()[:16]


FALSE: dict[str, Edit] = {
    "another relation": witness(coefficients=["1", "1", "1", "1"]),
    "other vectors": witness(indices=[0, 1, 2, 4]),
    "no lowest terms": witness(coefficients=["2", "2", "2", "-2"]),
    "another sign": witness(coefficients=["-1", "-1", "-1", "1"]),
    "ten digits": witness(coefficients=["9" * 10, "1", "1", "-1"]),
    "a million digits": witness(coefficients=["9" * 10**6] * 3 + ["7" * 10**6]),
}


@pytest.mark.parametrize("edit", FALSE.values(), ids=FALSE)
def test_a_false_witness_is_never_published(
    edit: Edit, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the vectors are at hand the log is refused; elsewhere no witness is shown."""
    lines = contents((folder / "subsets").read_bytes())
    edit(lines)
    log, data = tmp_path / "log", str(folder / "vectors.npz")
    log.write_bytes(sealed(lines))
    resumed = ["kruskal", data, *QUICK, *WORDS["subsets"], "--out", str(tmp_path / "o")]
    for words in ([*resumed, "--log", str(log)], ["merge", str(log), "--json", "--data", data]):
        assert attncert.main(words) == 2
        printed = capsys.readouterr()
        assert printed.out == "" and "must be a witness " in printed.err
    assert attncert.main(["merge", str(log), "--json"]) == 0
    printed = capsys.readouterr().out
    assert "coefficients" not in printed and json.loads(printed)["unverified"] >= 1
    assert attncert.main(["merge", str(log)]) == 0
    printed = capsys.readouterr().out
    assert "proved" not in printed and "circuit" not in printed and "Left out: " in printed


def test_merge_with_other_vectors_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.npz"
    np.savez(other, vectors=TABLE + 1)
    assert attncert.main(["merge", str(folder / "subsets"), "--data", str(other)]) == 2
    assert "must be of the vectors given" in capsys.readouterr().err


def test_a_log_with_the_vectors_hash_and_another_size_is_not_said_to_be_of_other_vectors(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = contents((folder / "subsets").read_bytes())[:1]
    for kind in lines[0]["run"]["settings"].values():
        kind["width"] -= 1
    (log := tmp_path / "log").write_bytes(sealed(lines))
    assert attncert.main(["merge", str(log), "--data", str(folder / "vectors.npz")]) == 2
    said = capsys.readouterr().err
    digests = re.findall("[0-9a-f]{64}", said)
    assert "must be " in said and len(digests) == len(set(digests))


@pytest.mark.parametrize("depth", [1000, 100_000])
@pytest.mark.parametrize("last", [True, False])
def test_a_nesting_bomb_is_one_line(
    depth: int, last: bool, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a line, as the content of one with its checksum, and as the header."""
    whole = (folder / "subsets").read_bytes()
    bomb = b"[" * depth + b"]" * depth
    held = b'{"content":%b,"sha256":"%b"}\n' % (bomb, hashlib.sha256(bomb).hexdigest().encode())
    rest = b"" if last else whole.splitlines(keepends=True)[1]
    log = tmp_path / "log"
    for raw in (whole + held + rest, held + rest, bomb + b"\n" + rest, whole + bomb + b"\n" + held):
        log.write_bytes(raw)
        assert attncert.main(["merge", str(log)]) == 2
        printed = capsys.readouterr()
        assert printed.out == "" and printed.err.count("\n") == 1


@pytest.mark.parametrize("place", ["out/log", "out", "link/log", "out/deeper/log"])
def test_a_log_inside_the_folder_of_the_report_is_refused_at_the_start(
    place: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    def work(*_: Any, **__: Any) -> None:
        raise AssertionError("the budget is being spent")

    monkeypatch.setattr("attncert.verify.kruskal.examine.examine", work)
    (tmp_path / "out").mkdir()
    (tmp_path / "link").symlink_to("out")
    words = ["kruskal", str(folder / "vectors.npz"), *QUICK, "--out", str(tmp_path / "out")]
    assert attncert.main([*words, "--log", str(tmp_path / place)]) == 2
    assert "--log: must be a file outside the folder of the report" in capsys.readouterr().err
    assert not list((tmp_path / "out").iterdir())


def test_a_result_that_no_line_holds_is_refused_when_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attncert.verify.scale.log.MAX_JSON_BYTES", 600)
    asked = question("subsets")
    with (
        ShardLog(tmp_path / "log", identity(VECTORS, asked), rules(VECTORS)) as log,
        pytest.raises(InputError, match="--log: must be left out where a result takes over"),
    ):
        log.append(Shard("subsets", 0, 0, 64), {"witness": "9" * 700})


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(kind=st.sampled_from([*sorted(ASKED), "sets"]), data=st.data())
def test_whatever_lines_say_only_what_is_true_is_taken_from_them(
    kind: str, data: st.DataObject, folder: Path
) -> None:
    """One line, or several, changed in structure or in values; all checksums computed afresh."""
    lines = contents((folder / kind).read_bytes())
    number = data.draw(st.integers(0, len(lines) - 1))
    lines[number] = data.draw(mutated(lines[number]))
    log = folder / "edited"
    log.write_bytes(sealed(lines))
    for known in (VECTORS, None):
        try:
            found = read_log(log, rules(known))
        except InputError as error:
            assert str(error).isprintable()
            continue
        assert is_sound(found.finished, None, verified=known is not None)


def test_the_longest_coefficients_that_circuits_have_are_read(tmp_path: Path) -> None:
    """Ours are within the bound by Cramer and Hadamard, also of entries with 400 digits."""
    rng = np.random.default_rng(1)
    large = [[int(x) ** 100 * 10**200 for x in row] for row in rng.integers(1, 10**4, (6, 4))]
    for table in (large, [[3, 5], [7, 11], [0, 1]], [[1e-30, 1.0], [1.0, 1e30], [2.0, 0.1]]):
        vectors = Vectors.of([[*row, 0] for row in table])  # of less than full rank
        asked = replace(question("prefixes"), bases=8)
        log = tmp_path / str(len(table[0]))
        with ShardLog(log, identity(vectors, asked), rules(vectors)) as kept:
            examine(vectors, asked, log=kept)
        found = read_log(log, rules(vectors)).finished
        assert any(result["witness"] for result in found.values())
        log.unlink()

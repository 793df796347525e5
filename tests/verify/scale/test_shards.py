"""Shards: cutting, logs that survive kills and damage, logs that unite."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.interrupts import interrupt_at
from support.paths import TESTS
from support.slow_shards import IDENTITY, PLAN, anything, digests, united

from attncert.constructions.errors import InputError
from attncert.verify.scale.engine import run
from attncert.verify.scale.log import ShardLog, _line, difference, read_log, write_log
from attncert.verify.scale.merge import unite
from attncert.verify.scale.shards import Part, Plan, Shard

WHOLE = united(run(PLAN.shards(), digests))


# Cutting.


@given(
    count=st.integers(0, 200), size=st.integers(1, 50), k=st.integers(1, 9), seed=st.integers(0, 9)
)
def test_shards_and_parts_cover_every_item_once(count: int, size: int, k: int, seed: int) -> None:
    shards = Plan("items", seed, count, size).shards()
    assert [i for s in shards for i in range(s.start, s.stop)] == list(range(count))
    parts = [Part(i, k).of_shards(shards) for i in range(1, k + 1)]
    assert sorted(shard for part in parts for shard in part) == shards


@pytest.mark.parametrize("text", ["0/3", "4/3", "1/0", "1", "a/b", "-1/3", "1/3/5", "", "1.0/2"])
def test_a_part_is_i_of_k(text: str) -> None:
    with pytest.raises(InputError, match="--shard: must be i/k"):
        Part.parse(text)


# Logs.


def test_a_run_resumes_from_its_log_and_does_nothing_twice(tmp_path: Path) -> None:
    done: list[Shard] = []

    def counting(shard: Shard) -> dict[str, Any]:
        done.append(shard)
        if len(done) == 6:
            raise RuntimeError("power cut")
        return digests(shard)

    with ShardLog(tmp_path / "log", IDENTITY, anything) as log, pytest.raises(RuntimeError):
        run(PLAN.shards(), counting, log=log)
    with ShardLog(tmp_path / "log", IDENTITY, anything) as log:
        assert len(log.finished) == 5
        results = run(PLAN.shards(), counting, log=log)
    assert united(results) == WHOLE
    assert Counter(done) == Counter(PLAN.shards()) + Counter([done[5]])


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_killed_run_resumes_to_the_same_bytes(tmp_path: Path, jobs: int) -> None:
    log, out = tmp_path / "log", tmp_path / "out"
    command = [sys.executable, str(TESTS / "support" / "slow_shards.py"), str(log), str(out)]
    victim = subprocess.Popen([*command, "0.2", str(jobs)], stderr=subprocess.DEVNULL)
    try:
        _wait_for_lines(log, 5, victim)
    finally:
        victim.send_signal(signal.SIGKILL)
        victim.wait()
    before = log.read_bytes()
    finished = read_log(log, anything).finished
    assert 4 <= len(finished) < len(PLAN.shards()) and not out.exists()
    subprocess.run([*command, "0", "1"], check=True)
    assert out.read_bytes() == WHOLE
    assert (
        log.read_bytes().startswith(before[: read_log(log, anything).whole]) or before[-1:] != b"\n"
    )
    assert len(log.read_bytes().splitlines()) == 1 + len(PLAN.shards())


def _wait_for_lines(path: Path, count: int, writer: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and writer.poll() is None:
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.01)
    raise TimeoutError(path)


@pytest.fixture
def log_file(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    with ShardLog(path, IDENTITY, anything) as log:
        run(PLAN.shards()[:5], digests, log=log)
    return path


def test_every_torn_last_line_is_dropped_and_done_again(log_file: Path) -> None:
    whole = log_file.read_bytes()
    start = whole.rstrip(b"\n").rfind(b"\n") + 1
    for cut in [*range(start, len(whole), 9), len(whole) - 1]:
        log_file.write_bytes(whole[:cut])
        with ShardLog(log_file, IDENTITY, anything) as log:
            assert len(log.finished) == 4
            run(PLAN.shards()[:5], digests, log=log)
        assert log_file.read_bytes() == whole


def test_every_torn_header_is_written_again(log_file: Path) -> None:
    whole = log_file.read_bytes()
    for cut in [*range(0, whole.find(b"\n"), 9), whole.find(b"\n")]:
        log_file.write_bytes(whole[:cut])
        with ShardLog(log_file, IDENTITY, anything) as log:
            assert log.finished == {}
        assert log_file.read_bytes() == whole[: whole.find(b"\n") + 1]


def test_a_corrupted_last_line_is_dropped(log_file: Path) -> None:
    whole = log_file.read_bytes()
    log_file.write_bytes(whole[:-20] + b"x" + whole[-19:])
    with ShardLog(log_file, IDENTITY, anything) as log:
        assert len(log.finished) == 4
        run(PLAN.shards()[:5], digests, log=log)
    assert log_file.read_bytes() == whole


@pytest.mark.parametrize("line", [1, 2, 3])
@pytest.mark.parametrize("torn", [b"", b'{"content"'])
def test_a_corrupted_middle_line_is_an_error_that_names_it(
    log_file: Path, line: int, torn: bytes
) -> None:
    lines = log_file.read_bytes().splitlines(keepends=True)
    digit = lines[line].index(b"start" if b"start" in lines[line] else b"digests")
    lines[line] = lines[line][:digit] + b"X" + lines[line][digit + 1 :]
    damaged = b"".join(lines) + torn
    log_file.write_bytes(damaged)
    with pytest.raises(InputError, match=f"corrupted line {line + 1}:"):
        ShardLog(log_file, IDENTITY, anything)
    assert log_file.read_bytes() == damaged  # left as it was, for whoever looks into it


def test_a_corrupted_last_line_before_a_torn_one_is_an_error(log_file: Path) -> None:
    whole = log_file.read_bytes()
    log_file.write_bytes(whole[:-20] + b"x" + whole[-19:] + b'{"cont')
    with pytest.raises(InputError, match="corrupted line 6:"):
        ShardLog(log_file, IDENTITY, anything)


def test_a_shard_that_occurs_twice_counts_once(log_file: Path) -> None:
    lines = log_file.read_bytes().splitlines(keepends=True)
    log_file.write_bytes(b"".join([*lines, lines[2], lines[1]]))
    with ShardLog(log_file, IDENTITY, anything) as log:
        assert len(log.finished) == 5
        assert united(run(PLAN.shards(), digests, log=log)) == WHOLE


def test_two_results_of_one_shard_are_an_error(log_file: Path, tmp_path: Path) -> None:
    shard = PLAN.shards()[1]
    write_log(tmp_path / "other", IDENTITY, {shard: {"items": []}})
    forged = (tmp_path / "other").read_bytes().splitlines(keepends=True)[1]
    with log_file.open("ab") as file:
        file.write(forged)
    with pytest.raises(InputError, match="two results of shard"):
        ShardLog(log_file, IDENTITY, anything)
    with pytest.raises(InputError, match="two results of shard"):
        unite([log_file], anything)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"version": "2"}, r"this run \(version 2\), not the log of another \(version 1\): "),
        ({"input_sha256": "1" * 64}, r"this run \(SHA-256 of the vectors 1111"),
        ({"settings": {"digests": {"k": 3}}}, r"this run \(digests: k 3\)"),
        ({"plans": [Plan("digests", 3, 41, 3).as_dict()]}, r"this run \(digests: count 41\)"),
    ],
)
def test_the_log_of_another_run_is_refused(
    log_file: Path, change: dict[str, Any], says: str
) -> None:
    before = log_file.read_bytes()
    with pytest.raises(InputError, match=says):
        ShardLog(log_file, IDENTITY | change, anything)
    assert log_file.read_bytes() == before


def test_of_two_plans_the_difference_is_named_and_not_what_follows_from_it() -> None:
    def run(kind: str, count: int, k: int, draws: str) -> dict[str, Any]:
        plan = {"kind": kind, "count": count, "seed": 0, "size": 64 // k}
        settings = {kind: {"k": k, "draws": draws}}
        return {"version": "1", "input_sha256": "", "plans": [plan], "settings": settings}

    one = run("subsets", 1000, 3, "a")
    assert difference(one, one) is None
    assert difference(one, run("subsets", 20001, 3, "a")) == (
        "subsets: count 1,000",
        "subsets: count 20,001",
    )
    assert difference(one, run("subsets", 1000, 4, "b")) == ("subsets: k 3", "subsets: k 4")
    assert difference(one, run("subsets", 1000, 3, "b")) == ("subsets: draws a", "subsets: draws b")
    assert difference(one, run("prefixes", 1000, 3, "b")) == (
        "shards of subsets",
        "shards of prefixes",
    )


@pytest.mark.parametrize("content", [b"a thesis\n", b"a thesis", b"{}\n", b"[]\n", b"\n", b"\0"])
def test_a_file_that_is_no_log_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "thesis"
    path.write_bytes(content)
    with pytest.raises(InputError, match="--log: must be new, or a log of shards"):
        ShardLog(path, IDENTITY, anything)
    assert path.read_bytes() == content


def test_a_log_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no" / "folder", Path("/dev/zero"), "nul\0l"):
        with pytest.raises(InputError, match="--log: must be a"):
            ShardLog(path, IDENTITY, anything)


def test_one_run_at_a_time_holds_a_log(tmp_path: Path) -> None:
    with (
        ShardLog(tmp_path / "log", IDENTITY, anything),
        pytest.raises(InputError, match="no other run is writing"),
    ):
        ShardLog(tmp_path / "log", IDENTITY, anything)
    with ShardLog(tmp_path / "log", IDENTITY, anything) as log:
        assert log.finished == {}


def test_a_full_disk_is_one_line_and_leaves_a_log_that_resumes(
    log_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    with ShardLog(log_file, IDENTITY, anything) as log, monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda file, line: write(file, line[:50]))
        with pytest.raises(InputError, match="No space left"):
            run(PLAN.shards(), digests, log=log)
    with ShardLog(log_file, IDENTITY, anything) as log:
        assert len(log.finished) == 5
        assert united(run(PLAN.shards(), digests, log=log)) == WHOLE


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(place=st.integers(0), byte=st.integers(1, 255), cut=st.booleans())
def test_whatever_happens_to_a_file_no_wrong_result_comes_from_it(
    log_file: Path, place: int, byte: int, cut: bool
) -> None:
    """One byte changed, or the rest lost: refused, or some of the true results."""
    path = log_file.with_name("damaged")
    raw = bytearray(log_file.read_bytes())
    place %= len(raw)
    if cut:
        del raw[place:]
    else:
        raw[place] ^= byte
    path.write_bytes(raw)
    try:
        found = read_log(path, anything).finished
    except InputError as error:
        assert "\n" not in str(error)
        return
    true = read_log(log_file, anything).finished
    assert len(found) >= 4 or cut
    assert all(true[shard] == result for shard, result in found.items())


def test_progress_counts_what_the_log_had(log_file: Path) -> None:
    seen: list[tuple[int, int]] = []
    with ShardLog(log_file, IDENTITY, anything) as log:
        run(PLAN.shards(), digests, log=log, progress=lambda _, done, of: seen.append((done, of)))
    assert seen[0] == (5, 14) and seen[-1] == (14, 14)


# Logs that unite.


def _parts(folder: Path, of: int) -> list[Path]:
    paths = [folder / f"{i}-of-{of}.jsonl" for i in range(1, of + 1)]
    for i, path in enumerate(paths, start=1):
        with ShardLog(path, IDENTITY, anything) as log:
            run(Part(i, of).of_shards(PLAN.shards()), digests, log=log)
    return paths


def test_the_parts_are_the_whole(tmp_path: Path) -> None:
    paths = _parts(tmp_path, 3)
    whole = unite([paths[2], paths[0], paths[1], paths[0]], anything)
    assert united(whole.finished) == WHOLE and whole.missing == ()
    write_log(tmp_path / "united", whole.identity, whole.finished)
    with ShardLog(tmp_path / "single", IDENTITY, anything) as log:
        run(PLAN.shards(), digests, log=log)
    assert (tmp_path / "united").read_bytes() == (tmp_path / "single").read_bytes()


def test_missing_shards_are_reported(tmp_path: Path) -> None:
    paths = _parts(tmp_path, 3)
    found = unite(paths[:2], anything)
    assert list(found.missing) == PLAN.shards()[2::3]
    torn = paths[0].read_bytes()[:-5]
    paths[0].write_bytes(torn)
    assert set(unite(paths, anything).missing) == {Part(1, 3).of_shards(PLAN.shards())[-1]}
    assert paths[0].read_bytes() == torn  # merging only reads


def test_logs_of_two_runs_do_not_unite(tmp_path: Path) -> None:
    paths = _parts(tmp_path, 2)
    with ShardLog(tmp_path / "other", IDENTITY | {"input_sha256": "1" * 64}, anything):
        pass
    with pytest.raises(InputError, match=r"one run, not of two \(SHA-256 of the vectors 000"):
        unite([*paths, tmp_path / "other"], anything)


def test_a_shard_outside_the_plan_is_refused(tmp_path: Path) -> None:
    write_log(tmp_path / "log", IDENTITY, {Shard("digests", 3, 1, 4): {"items": []}})
    with pytest.raises(InputError, match="a shard that the header plans"):
        unite([tmp_path / "log"], anything)


def test_what_is_no_log_does_not_unite(tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text(json.dumps({"contexts": 1}))
    with pytest.raises(InputError, match="another file"):
        unite([tmp_path / "data.json"], anything)
    with pytest.raises(InputError, match="No such file"):
        unite([tmp_path / "nothing"], anything)


@pytest.mark.parametrize("place", ["notes.txt", "folder", "pipe", ""])
def test_a_united_log_never_takes_the_place_of_something_else(tmp_path: Path, place: str) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    before = {path.name: path.stat().st_ino for path in tmp_path.iterdir()}
    with pytest.raises(InputError, match=r"^--out: must be "):
        write_log(tmp_path / place if place else "", IDENTITY, {})
    assert before == {path.name: path.stat().st_ino for path in tmp_path.iterdir()}


def test_a_united_log_may_replace_a_log(tmp_path: Path) -> None:
    write_log(tmp_path / "log", IDENTITY, {})
    write_log(tmp_path / "log", IDENTITY, {PLAN.shards()[0]: {"items": []}})
    assert list(read_log(tmp_path / "log", anything).finished) == PLAN.shards()[:1]


def test_a_united_log_never_replaces_one_that_is_being_written(tmp_path: Path) -> None:
    """The run would write on, into a file that has no name any more."""
    log, shard = tmp_path / "log", PLAN.shards()[0]
    with ShardLog(log, IDENTITY, anything) as running:
        with pytest.raises(InputError, match="--out: must be a file that no other run is writing"):
            write_log(log, IDENTITY, {})
        running.append(shard, {"items": []})
    assert list(read_log(log, anything).finished) == [shard]


@pytest.mark.parametrize("at", ["replace", "unlink"])
def test_what_interrupts_a_united_log_leaves_no_half_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    interrupt_at(monkeypatch, os if at == "replace" else Path, at)
    with pytest.raises(KeyboardInterrupt):
        write_log(tmp_path / "log", IDENTITY, {})
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


@pytest.mark.parametrize(
    "plans",
    [None, 1, [], [1], [{}], [PLAN.as_dict() | {"size": 0}], [PLAN.as_dict() | {"count": -1}],
     [PLAN.as_dict() | {"count": 10**12}], [PLAN.as_dict() | {"kind": []}], [PLAN.as_dict()] * 2],
)  # fmt: skip
def test_a_plan_that_is_none_is_one_line(tmp_path: Path, plans: object) -> None:
    write_log(tmp_path / "log", IDENTITY | {"plans": plans}, {})
    with pytest.raises(InputError, match=r"header with version|at most 1,000,000 shards"):
        unite([tmp_path / "log"], anything)


@pytest.mark.parametrize("content", [
    {}, {"shard": 1, "result": {}}, {"shard": ["digests", 3, 0, []], "result": {}},
    {"shard": [[], 3, 0, 3], "result": {}}, {"shard": ["digests", 3, 0, 3]},
    {"shard": ["digests", 3, 0, 3], "result": 1},
])  # fmt: skip
def test_a_line_with_a_right_checksum_and_no_shard_is_one_line(
    tmp_path: Path, content: dict[str, object]
) -> None:
    write_log(tmp_path / "log", IDENTITY, {})
    with (tmp_path / "log").open("ab") as log:
        log.write(_line(content))
    with pytest.raises(InputError, match=r"^line 2 of .*: must be "):
        read_log(tmp_path / "log", anything)

"""Two layers: one report, one check from the given data to the labels; planted defects; limits."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from support.first_layers import SECOND, before, pair_judgement
from support.small_certificates import CASES, put, sealed
from support.trace_rules import broken

import attncert
from attncert import Dataset, Prove, prove, write_report
from attncert.constructions.mixing import mixed
from attncert.verify import checker
from attncert.verify.checker import Verdict
from attncert.verify.checker.first_layer import check_files
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level
from attncert.verify.claims.proof import Proof
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.fast import check as fast_check
from attncert.verify.origins.first_layer import first_layer, mixing_claim

MIX = Prove(heads=2, mix=True)
BOTH = ["checker", "certificate.json", "--first", "first-layer.json"]
DATA = Dataset.of(
    [[[1, 0, 2], [0, 3, 1]], [[2, 1, 0], [0, 1, 0]], [[1, 1, 5], [0, 2, "1/3"]]],
    [[1, 1, 1]] * 3,
    [5, "1/2", 7],
)


@pytest.fixture(scope="module")
def proof() -> Proof:
    return prove(DATA, MIX)


@pytest.fixture(scope="module")
def folder(proof: Proof, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mix") / "o"
    write_report(proof, path)
    return path


def test_one_query_is_memorized_in_two_layers(proof: Proof, folder: Path) -> None:
    assert prove(DATA, Prove(heads=2)).standing is Level.NOT_APPLICABLE
    trace = proof.trace
    assert proof.standing is Level.PROVED and ids.MIXING in trace[ids.MEMORIZATION].rests_on
    told = trace[ids.MIXING]
    assert list(told.numbers.values()) == [1, 3] and trace[ids.A1].level is Level.PROVED
    page = (folder / "report.md").read_text()
    assert "The layer is the second of two" in page and "--mix" in page
    assert f"`{DATA.sha256}`" in page and "the first of two layers" in page


def test_the_trace_must_hold_the_first_layer(proof: Proof) -> None:
    assert broken(proof) == {}
    claims = [claim for claim in proof.trace if claim.id != ids.MIXING]
    lost = [replace(c, rests_on=tuple(i for i in c.rests_on if i != ids.MIXING)) for c in claims]
    without_edge = [*lost, proof.trace[ids.MIXING]]
    for claims, rule in ((lost, "complete"), (without_edge, "edges")):
        assert list(broken(replace(proof, trace=ProofTrace(claims)))) == [rule]


def test_the_two_layers_output_the_labels(folder: Path) -> None:
    """From first-layer.json and certificate.json alone: both layers, in fractions."""
    first = json.loads((folder / "first-layer.json").read_text())
    cert = json.loads((folder / "certificate.json").read_text())
    E, e, y = (numbers(first["data"][name]) for name in ("contexts", "queries", "labels"))
    layer = cert["layer"]
    output = numbers(layer["output"])
    for t in range(3):
        mean = [sum(column) / 2 for column in zip(*E[t], strict=True)]
        rows = [[a + m for a, m in zip(x, mean, strict=True)] for x in [*E[t], e[t]]]
        context, query, heads = rows[:2], rows[2], []
        for head in layer["heads"]:
            K, Q, V = (numbers(head[name]) for name in ("key", "query", "value"))
            inner = [dot(column, query) for column in zip(*Q, strict=True)]
            logits = [dot([dot(row, inner) for row in K], x) for x in context]
            powers = [Fraction(2) ** int(k) for k in logits]
            assert all(k.denominator == 1 for k in logits)
            z = [dot(powers, column) / sum(powers) for column in zip(*context, strict=True)]
            heads += [dot(z, column) for column in zip(*V, strict=True)]
        assert [dot(heads, column) for column in zip(*output, strict=True)] == y[t]


def numbers(nested: Any) -> Any:
    return [numbers(x) for x in nested] if isinstance(nested, list) else Fraction(nested)


def dot(x: Any, y: Any) -> Fraction:
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))


def test_the_files_alone_are_checked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = [sys.executable, "-I", *BOTH]
    done = subprocess.run(script, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "of what the first layer makes of 3 examples" in done.stdout
    both = [str(folder / name) for name in ("certificate.json", "first-layer.json")]
    assert attncert.main(["check", both[0], "--first", both[1]]) == 0
    assert capsys.readouterr().out == done.stdout
    assert attncert.main(["check", both[0], "--first", str(folder / "none.json")]) == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_an_answer_that_cannot_be_written_has_no_status_of_one(folder: Path) -> None:
    script = [sys.executable, "-Iu", *BOTH]
    with open("/dev/full", "w") as full:
        done = subprocess.run(script, cwd=folder, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (2, b"")


@pytest.mark.parametrize("words", [[], ["--first", "first-layer.json"]])
def test_limits_are_the_same_with_a_first_layer(
    folder: Path, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = list[float]()

    def check_file(path: str, limit_seconds: float, limit_mib: float) -> Verdict:
        seen.append(limit_mib)
        return Verdict("over limit", None, "", {})

    monkeypatch.setattr(fast_check, "check_file", check_file)
    monkeypatch.chdir(folder)
    assert attncert.main(["check", "certificate.json", "--fast", *words]) == 3
    assert seen == [fast_check.LIMIT_MIB]


@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        (put("data", "contexts", 1, 0, 0, to="3"), "wrong", "another context of example 1"),
        (put("data", "queries", 2, 1, to="2"), "wrong", "another query of example 2"),
        (put("data", "labels", 0, 0, to="6"), "wrong", "the labels differ"),
        (put("data", "contexts", to=[[["1", "0", "2"], ["0", "3", "1"]]]), "wrong", "not as many"),
        (put("layer", "heads", 0, "key", 1, 0, to="1"), "wrong", "not all rows get the same"),
        (put("layer", "heads", 0, "value", 0, 0, to="2"), "wrong", "value does not copy"),
        (put("layer", "output", 0, 1, to="1"), "wrong", "output does not copy"),
        (put("second", to="0" * 64), "wrong", "digest of another certificate"),
        (put("format", to="attncert/1"), "unusable", "the format is not"),
        (put("more", to=1), "unusable", "with the keys"),
        (put("data", "queries", 0, 0, to=1.5), "unusable", ""),
    ],
)
def test_a_changed_first_layer_is_seen(
    folder: Path, tmp_path: Path, change: Callable[[Any], None], status: str, said: str
) -> None:
    """Each with fresh digests; and stale, where nothing else is looked at."""
    first = json.loads((folder / "first-layer.json").read_text())
    change(first)
    (tmp_path / "stale.json").write_text(json.dumps(first))
    (tmp_path / "fresh.json").write_text(json.dumps(sealed(first)))
    found = check_files(str(tmp_path / "fresh.json"), str(folder / "certificate.json"))
    assert found.status == status and said in found.message
    found = check_files(str(tmp_path / "stale.json"), str(folder / "certificate.json"))
    assert found.status in ("wrong", "unusable") and found.message.startswith("first layer: ")


SCHEMAS = [
    json.loads((Path(checker.__file__).parents[1] / "schema" / f"{name}.schema.json").read_text())
    for name in ("first-layer-1", "attncert-1")
]
KNOWN = Registry().with_resource("attncert-1.schema.json", Resource.from_contents(SCHEMAS[1]))
SCHEMA = Draft202012Validator(SCHEMAS[0], registry=KNOWN)


@pytest.mark.parametrize("name", SECOND)
def test_the_schema_admits_first_layers(name: str, folder: Path, tmp_path: Path) -> None:
    """Ours, and such as stand before small certificates, which hold."""
    Draft202012Validator.check_schema(SCHEMAS[0])
    ours = json.loads((folder / "first-layer.json").read_text())
    second = CASES[name]()
    made = before(second)
    assert list(SCHEMA.iter_errors(ours)) == list(SCHEMA.iter_errors(made)) == []
    for file, content in (("first", made), ("second", second)):
        (tmp_path / file).write_text(json.dumps(content))
    found = check_files(str(tmp_path / "first"), str(tmp_path / "second"))
    assert found.status == "holds" and pair_judgement(made, second)


@pytest.mark.parametrize(
    "change",
    [
        put("format", to="attncert/1"),
        put("more", to=1),
        put("second", to="0" * 63),
        put("data", "queries", 0, 0, to=1),
        put("data", "labels", to=None),
        put("layer", "heads", to=[]),
        put("layer", "heads", 0, "key", 0, to=["0", "0"]),
        put("layer", "logit_unit", to="ln 2"),
        put("layer", "output", 0, to=[]),
    ],
)
def test_the_schema_refuses_malformed_ones(folder: Path, change: Callable[[Any], None]) -> None:
    first = json.loads((folder / "first-layer.json").read_text())
    change(first)
    assert not SCHEMA.is_valid(sealed(first))


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (DATA, "the context of example 0"),
        (Dataset(mixed(DATA).contexts, DATA.queries, DATA.labels), "the query of example 0"),
        (Dataset(mixed(DATA).contexts, mixed(DATA).queries, None), "the labels were changed"),
    ],
)
def test_other_data_are_refuted(after: Dataset, said: str) -> None:
    claim = mixing_claim(DATA, after)
    assert claim.level is Level.REFUTED and claim.witness and said in claim.witness["reason"]


@pytest.mark.parametrize(
    ("contexts", "status", "said"),
    [  # one mean; the second a permutation of the first
        ([[[1, 0, 0], [0, 2, 0]], [[1, 1, 1], [0, 1, -1]]], 3, "the same mean: uniform mixing"),
        ([[[1, 0, 0], [0, 2, 0]], [[0, 2, 0], [1, 0, 0]]], 1, "a permutation of the other: unif"),
    ],
)
def test_equal_means_leave_queries_equal(
    contexts: Any, status: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = {"contexts": contexts, "queries": [[1, 1, 1]] * 2, "labels": [[0], [1]]}
    (tmp_path / "x.json").write_text(json.dumps(data))
    words = ["prove", str(tmp_path / "x.json"), "--mix", "--out", str(tmp_path / "o")]
    assert attncert.main(words) == status
    assert "Examples 0 and 1 have the same query" in (told := capsys.readouterr().out)
    assert said in told


def test_mixing_and_rounding_are_not_one_run() -> None:
    with pytest.raises(attncert.InputError, match="mix: must be given without round"):
        Prove(mix=True, round="1/4")
    with pytest.raises(attncert.InputError, match="mix: must be given without data_file"):
        Prove(mix=True, data_file=True)


def test_long_numbers_cost_less_than_the_second_layer_does(tmp_path: Path) -> None:
    """Twelve different denominators of 1,000 digits."""
    below = [f"1/{10**1000 + 2 * k + 1}" for k in range(12)]
    contexts = [[below[i : i + 2], below[i + 2 : i + 4]] for i in (0, 4, 8)]
    data = Dataset.of(contexts, [[1, 1], [2, 1], [1, 3]], [1, 2, 3])
    dims = {"examples": 3, "context": 2, "width": 2}
    second = {"data": mixed(data).canonical(), "dims": dims, "digest": ""}
    second["format"] = "attncert/1"
    for name, content in (("first", first_layer(data, second)), ("second", second)):
        (tmp_path / name).write_text(json.dumps(content))
    paths = [str(tmp_path / name) for name in ("first", "second")]
    holds = Verdict("holds", "full-rank", "", dims)
    found = check_files(*paths, limit_seconds=0.5, by=lambda *_, **__: holds)
    assert found.status == "holds", found.message

"""The checker on small certificates: what holds, what cannot be read, limits, the command."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.small_certificates import CASES, Certificate, changed, written
from sympy import isprime

from attncert.verify import checker
from attncert.verify.checker import EXIT, Verdict, check_file, layer
from attncert.verify.checker import full_rank as rank

CHECKER = Path(checker.__file__).parent
SCHEMA = json.loads((CHECKER.parent / "schema" / "attncert-3.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)
LAYER = CASES["interpolation"]()
RANK = CASES["full-rank"]()
SET = CASES["dependent-set"]()
TIED = CASES["impossible"]()

# What holds.


@pytest.mark.parametrize("name", CASES)
def test_true_certificates_hold_and_the_schema_admits_them(name: str, tmp_path: Path) -> None:
    certificate = CASES[name]()
    verdict = check_file(written(certificate, tmp_path))
    assert verdict.status == "holds", verdict.message
    assert verdict.claim == certificate["claim"] == name.split(",")[0]
    assert verdict.numbers == certificate["dims"]
    VALIDATOR.validate(certificate)


def test_the_schema_is_one_and_knows_a_digest() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert not VALIDATOR.is_valid(LAYER | {"digest": "0" * 63})


MALFORMED = [
    ("interpolation", "dims.heads", 0),
    ("interpolation", "dims.heads", True),
    ("interpolation", "data.queries.0.0", 1),
    ("interpolation", "data.queries.0.0", "1.5"),
    ("interpolation", "data.queries.0", []),
    ("interpolation", "groups.0", ["0"]),
    ("interpolation", "network.0.logit_unit", "ln 3"),
    ("interpolation", "network.0.heads.0.bias", [["0"]]),
    ("interpolation", "claim", "improbable"),
    ("interpolation", "extra", 1),
    ("interpolation, steered", "saturation.bits", 0),
    ("interpolation, steered", "saturation.own", 1),
    ("interpolation, steered", "origin.grid", "1e3"),
    ("interpolation, steered", "origin.data.queries.0", []),
    ("interpolation, steered", "data_file", {}),
    ("interpolation, lengths", "tokens", [0, 1, 2, 2]),
    ("interpolation, lengths", "network.0.kind", "pooling"),
    ("interpolation, lengths", "network.0.residual", None),
    ("interpolation, lengths", "network.0.mask", [[2]]),
    ("interpolation, lengths", "network", []),
    ("interpolation, lengths", "origin", {"kind": "rounded"}),
    ("interpolation, lengths", "data.sequences", []),
    ("interpolation, lengths", "layer", None),
    ("dependent-set", "saturation", {"bits": 1, "own": False}),
    ("interpolation", "format", "attncert/2"),
]


@pytest.mark.parametrize(("name", "path", "value"), MALFORMED)
def test_the_schema_admits_no_malformed_ones(name: str, path: str, value: Any) -> None:
    certificate = changed(CASES[name](), path, value)
    assert not VALIDATOR.is_valid(certificate)


def test_unreduced_numbers_and_any_white_space_are_fine(tmp_path: Path) -> None:
    certificate = CASES["interpolation"]()
    query = certificate["data"]["queries"][0][0]
    certificate = changed(
        certificate, "data.queries.0.0", f"{3 * int(query)}/03".replace("/0", "/")
    )
    certificate = changed(
        certificate, "data.labels.0.0", f"{certificate['data']['labels'][0][0]}/1"
    )
    certificate = changed(certificate, "network.0.output.0.0", "001")
    assert (
        check_file(written(json.dumps(certificate, indent=3) + "\n\n", tmp_path)).status == "holds"
    )


def test_free_text_is_free(tmp_path: Path) -> None:
    certificate = changed(CASES["full-rank"](), "construction", "caf\u00e9 \ud800 \n")
    certificate = changed(certificate, "produced_by", {"": None, "seed": 10**19, "a": ["b", True]})
    assert check_file(written(certificate, tmp_path)).status == "holds"


def test_numbers_beyond_the_limit_of_python(tmp_path: Path) -> None:
    """With one head and one token, the output is the value, here of 60,000 digits."""
    top, bottom = "7" * 60_000, "1" + "0" * 50_000
    certificate = CASES["interpolation, one"]()
    for path, value in {
        "data.contexts": [[["1"]]],
        "data.labels.0.0": f"-{top}/{bottom}",
        "network.0.heads.0.value": [[f"-{top}/{bottom}"]],
    }.items():
        certificate = changed(certificate, path, value)
    before = sys.get_int_max_str_digits()
    assert check_file(written(certificate, tmp_path)).status == "holds"
    certificate = changed(certificate, "data.labels.0.0", f"-{top}/{bottom}1")
    message = "the output of example 0 is not its label"
    verdict = Verdict("wrong", "interpolation", message, certificate["dims"])
    assert check_file(written(certificate, tmp_path)) == verdict
    assert sys.get_int_max_str_digits() == before < 60_000


PSEUDOPRIMES = [341, 561, 645, 1105, 46337**2, 3215031751, 3825123056546413051 % 2**62]


@pytest.mark.parametrize("n", [*range(-3, 45), *PSEUDOPRIMES, *range(2**62 - 60, 2**62 + 3)])
def test_what_is_asked_of_the_prime(n: int, tmp_path: Path) -> None:
    """The prime is odd and below 2^62; no composite passes, not even a strong pseudoprime."""
    verdict = check_file(written(changed(RANK, "rank.prime", str(n)), tmp_path))
    asked = 2 < n < 2**62 and isprime(n)
    assert ("not an odd prime" in verdict.message) == (not asked)
    assert verdict.status in (("holds", "wrong") if asked else ("wrong",))


def test_products_of_two_primes_are_none() -> None:
    """Most strong pseudoprimes have the form (k + 1)(2 k + 1)."""
    pairs = [(k + 1, 2 * k + 1) for k in range(2, 20_000, 2)]
    products = [p * q for p, q in pairs if isprime(p) and isprime(q)]
    assert len(products) > 300 and not any(map(rank.is_prime, products))


# Files that cannot be read, and limits.


@pytest.mark.parametrize("path", ["missing.json", "\0", "a" * 5000, "\udcff"])
def test_unreadable_paths(path: str, tmp_path: Path) -> None:
    verdict = check_file(str(tmp_path / path))
    assert verdict.status == "unusable" and verdict.claim is None
    assert "Error: " in verdict.message and "\n" not in verdict.message


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_is_refused_unread(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.mkdir() if kind == "folder" else os.mkfifo(path)
    assert check_file(str(path)) == Verdict("unusable", None, "this is not a regular file", {})


def test_lack_of_memory_is_a_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(layer, "contexts_of", exhausted)
    verdict = check_file(written(LAYER, tmp_path))
    assert (verdict.status, verdict.message) == ("over limit", "MemoryError")


# The file itself, and the command.


FILES = sorted(CHECKER.glob("*.py"))


def test_an_auditor_can_read_it_in_one_sitting() -> None:
    """The checker imports only the standard library and the files of its folder."""
    assert len(FILES) <= 21
    for path in FILES:
        source = path.read_text()
        assert len(source.splitlines()) < 300
        nodes = list(ast.walk(ast.parse(source)))
        outside = [node for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
        names = {node.module or "" for node in outside}
        names |= {x.name for node in nodes if isinstance(node, ast.Import) for x in node.names}
        assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_no_file_of_it_ends_well_without_a_verdict(file: Path, tmp_path: Path) -> None:
    """Each file is run on a true certificate, by its path and as a module."""
    path = written(LAYER, tmp_path)
    for start in ([str(file)], ["-m", f"{CHECKER.name}.{file.stem}"]):
        done = subprocess.run(
            [sys.executable, "-B", "-S", *start, path],
            capture_output=True, text=True, check=False, cwd=CHECKER.parent,
        )  # fmt: skip
        line = "holds: " if file.stem == "__main__" else "unusable: "
        assert done.returncode == EXIT[line[:-2]]
        assert done.stdout.startswith(line) and done.stdout.count("\n") == 1
        assert "Traceback" not in done.stderr


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The checker as an auditor runs it: no site packages, no environment, no current folder."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(CHECKER), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("content", "options", "code", "line"),
    [
        (LAYER, [], 0, "holds: the outputs equal the labels of all 4 examples, exactly"),
        (RANK, [], 0, "holds: the features of all 4 examples are independent: rank 4 modulo"),
        (SET, [], 0, "holds: 4 of the 5 vectors are dependent"),
        (TIED, [], 0, "holds: no weights give these labels: the outputs of 2 examples obey"),
        (LAYER | {"groups": []}, [], 1, "wrong: digest is stale: the content was changed"),
        ("[" * 10**6, [], 2, "unusable: the file is nested too deeply"),
        (changed(LAYER, "dims.heads", 2), [], 2, "unusable: key must be nested lists of the"),
        (
            changed(LAYER, "network.0.heads.0.key.0.0", f"1{0:0>18}"),
            [],
            3,
            "over limit: a number of",
        ),
        (LAYER, ["--limit-seconds", "0"], 3, "over limit: above --limit-seconds 0"),
        (LAYER, ["--limit-mib", "0"], 3, "over limit: above --limit-mib 0"),
    ],
)
def test_the_command(
    content: Certificate | bytes | str, options: list[str], code: int, line: str, tmp_path: Path
) -> None:
    path = written(content, tmp_path)
    done = command(path, *options)
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.startswith(line) and done.stdout.count("\n") == 1
    done = command(path, *options, "--json")
    assert (done.returncode, done.stderr) == (code, "")
    report = json.loads(done.stdout)
    assert EXIT[report["status"]] == code
    assert f"{report['status']}: {report['message']}".startswith(line)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: file"),
        (["a", "b"], "unrecognized arguments: b"),
        (["a", "--limit-seconds", "x"], "argument --limit-seconds: invalid float value: 'x'"),
    ],
)
def test_usage_errors_are_one_line(arguments: list[str], message: str) -> None:
    done = command(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"checker: error: {message}\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("unbuffered", [[], ["-u"]])
def test_an_answer_that_is_not_written_is_no_status(unbuffered: list[str], tmp_path: Path) -> None:
    path = written(CASES["dependent-set"](), tmp_path)
    words = [sys.executable, *unbuffered, str(CHECKER), path]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode not in (0, 1, 3)

"""A third-party proof: the example, planted defects, and what can go wrong in its code."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import metadata
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from flint import fmpq_mat
from support.paths import ROOT
from support.shell import Shell

import attncert
from attncert import Dataset, InputError, Layer, Prove, Request, prove, prove_layer
from attncert.constructions.data import generators
from attncert.constructions.data.loading import load
from attncert.constructions.layer import Head, features
from attncert.reports.answers import report, report_page
from attncert.verify.attack.cases import Case
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.methods import paper, registry

PLACE = "examples.own_construction:METHOD"
FILE = str(ROOT / "examples" / "tiny.json")
TINY = load(FILE)
PROVE_TINY = ["prove", FILE, "--construction"]
QUESTION = Prove(PLACE)
METHOD = registry.method(PLACE)
del registry._registered[METHOD.name]  # each use of the place registers it again


pytestmark = pytest.mark.usefixtures("registered")


def test_the_report_names_its_own_proof_and_nothing_of_the_papers() -> None:
    proof = prove(TINY, QUESTION)
    files = report(proof).files
    page = files["report.md"].decode()
    assert proof.exit_status == 0
    assert "The hypotheses of the parity theorem hold" in page
    assert "Source: examples/own_construction.py." in page
    assert "no saturation" not in page, "a head without a multiplier c can still be hardmax"
    assert "**`alone`**" in page and "`parity`**: proved" in page
    everything = b"".join(files.values()).decode()
    for never in ("Theorem 1", "mahdavi", "Mahdavi", "hypothesis.A", "Assumption", "paper,"):
        assert never not in everything, never


def distinct(T: int, n: int, d: int, seed: int) -> Dataset:
    """Distinct contexts whose tokens a vector u marks: the first coordinate, turned by a shear."""
    base = generators.random(T, n, d, seed=seed)
    contexts = base.contexts.numerators.copy()
    contexts[:, :, 0] = -contexts[:, :, 1:].sum(axis=2)  # u = (1, ..., 1) gives 0
    contexts[:, 0, 0] += 1
    queries = [[(t + 1) ** j for j in range(d)] for t in range(T)]
    return Dataset.of(contexts, queries, list(range(T)))


@pytest.mark.parametrize(("T", "n", "d"), [(1, 2, 2), (5, 4, 3), (6, 2, 3), (4, 6, 2)])
def test_more_tokens_than_the_width_and_distinct_contexts(T: int, n: int, d: int) -> None:
    """The determinant of the matrix of n·u·z, by FLINT, is an odd number over an odd one."""
    data = distinct(T, n, d, seed=T)
    proof = prove(data, QUESTION)
    assert proof.exit_status == 0 and proof.trace.standing("parity") is Level.PROVED
    built = METHOD.build(data, Request(), lambda done, of: None)
    columns = [(features(h, data) * h.key * n).entries() for h in built.layer.heads]
    determinant = fmpq_mat([list(row) for row in zip(*columns, strict=True)]).det()
    assert determinant.p % 2 == 1 and determinant.q % 2 == 1


NOT_APPLICABLE = {
    "even": Dataset.of([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 2, 0], [3, 1, 1]], [1, 2]),
    "marked": Dataset.of([[1, 1], [1, 1]], [[1, 2], [3, 1]], [1, 2]),
    "apart": Dataset.of([[1, 0], [0, 1]], [[1, 2], [-2, -4]], [1, 2]),
}


@pytest.mark.parametrize("name", NOT_APPLICABLE)
def test_where_a_hypothesis_of_its_own_fails(name: str) -> None:
    proof = prove(NOT_APPLICABLE[name], QUESTION)
    failing = proof.trace[f"hypothesis.{name}"]
    assert failing.level is Level.REFUTED and failing.witness
    assert proof.exit_status == (1 if name == "marked" else 3)  # equal rows: no weights tell apart
    assert proof.certificate is None or proof.certificate["claim"] == "impossible"
    others = [c.id for c in proof.trace if c.id.startswith("hypothesis.") and c is not failing]
    assert all(proof.trace[i].level.holds for i in others)
    assert "it is not true that" in report_page(proof).decode() or proof.exit_status == 1


def spoilt(change: Callable[[Head], Head]) -> list[Claim]:
    """The claims about a correct layer whose second head was changed after it was built."""
    built = METHOD.build(TINY, Request(), lambda done, of: None)
    heads = list(built.layer.heads)
    heads[1] = change(heads[1])
    changed = replace(built, layer=Layer(tuple(heads)))
    claims = [*METHOD.steps(TINY, changed, with_ranks=False), *METHOD.follows(TINY, changed)]
    return [claim for claim in claims if claim.level is Level.REFUTED]


DEFECTS: dict[str, Callable[[Head], Head]] = {
    "v_t is not orthogonal to its query": lambda h: replace(
        h, query=h.query + fmpq_mat([[2], [0]])
    ),
    "v_t of another example": lambda h: replace(h, query=fmpq_mat([[-2], [1]])),
    "u marks twice as much": lambda h: replace(h, key=h.key * 2),
    "u marks the other token": lambda h: replace(h, key=fmpq_mat([[0], [1]])),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_planted_defect_is_seen_by_the_step(defect: str) -> None:
    assert spoilt(lambda head: head) == []
    seen = [claim.id for claim in spoilt(DEFECTS[defect])]
    assert seen and seen[0] == "head.2.alone"


def test_the_parity_sees_what_the_step_alone_would_not() -> None:
    """Two heads for one example and none for another: every head is in order by itself."""
    built = METHOD.build(TINY, Request(), lambda done, of: None)
    first = built.layer.heads[0], built.heads[0]
    twice = replace(
        built,
        layer=Layer((first[0], first[0], *built.layer.heads[2:])),
        heads=(first[1], replace(built.heads[1], chosen=first[1].chosen)),  # type: ignore[attr-defined, call-arg]
    )
    claims = [*METHOD.steps(TINY, twice, with_ranks=False), *METHOD.follows(TINY, twice)]
    refuted = {claim.id for claim in claims if claim.level is Level.REFUTED}
    assert "parity" in refuted and "head.2.alone" not in refuted


# Code that is not ours.

BROKEN = {
    "build": ("def build(data, request, progress):\n    return 1 / 0", "ZeroDivisionError: "),
    "leaves": ("def build(data, request, progress):\n    raise SystemExit(0)", "SystemExit: 0"),
    "changes": (
        "def build(data, request, progress):\n"
        "    data.queries.stored[0] += 1; raise attncert.HypothesisFails('odd', 'n is odd', {})",
        "ValueError: it changes the data",
    ),
    "nothing": ("def build(data, request, progress):\n    pass", "TypeError: a NoneType and no"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_construction_that_breaks_is_named_in_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    """From the current folder, as `python -m` would."""
    code, error = BROKEN[name]
    (tmp_path / f"broken_{name}.py").write_text(
        f"import attncert\n{code}\nMETHOD = attncert.Method('broken', '', '', build, "
        "attncert.each_head(source=''), attncert.Outline())\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    line = shell.refuses(*PROVE_TINY, f"broken_{name}:METHOD")
    begins = f"attncert: build of construction broken: failed: {error}"
    assert line.startswith(begins)
    assert name in ("nothing", "changes") or f"(broken_{name}.py, line 3)" in line
    assert not (tmp_path / "attncert-report").exists()


def test_a_construction_that_ends_the_process_gives_no_answer(tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text("import os\nos._exit(0)\n")
    command = [sys.executable, "-m", "attncert", *PROVE_TINY, "ends:METHOD"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 2 and ended.stdout == ""
    assert ended.stderr == (
        "attncert: --construction: must be code that returns, not code that ends the process\n"
    )


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """A module in the current folder; the place of its METHOD."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def written(name: str, *lines: str) -> str:
        before = "import attncert\nfrom examples.own_construction import METHOD as TRUE"
        keys = "'broken', '', '', build, attncert.each_head(source=''), attncert.Outline()"
        after = f"METHOD = attncert.Method({keys}, attack=ATTACK)"
        text = "\n".join([before, "ATTACK = attncert.Target()", *lines, after])
        (tmp_path / f"{name}.py").write_text(text)
        return f"{name}:METHOD"

    return written


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise SystemExit(0)", "SystemExit: 0 (attacked_"),
        ("raise SystemExit(3)", "SystemExit: 3 (attacked_"),
        ("raise BrokenPipeError", "BrokenPipeError (attacked_"),
        (
            "raise type('Silent', (Exception,), {'__str__': lambda self: 1 / 0})",
            "Silent (attacked_",
        ),
        ("return TRUE", "'Method' object has no attribute 'layer'"),
        ("import types; return types.SimpleNamespace(layer=1)", "a int and no Layer is returned"),
    ],
)
def test_an_attack_finds_a_construction_that_breaks(
    body: str, said: str, own: Callable[..., str], shell: Shell, request: pytest.FixtureRequest
) -> None:
    name = f"attacked_{request.node.callspec.indices['body']}"
    place = own(name, f"def build(data, request, progress):\n    {body}")
    printed = shell.runs("attack", "--construction", place, "--cases", "20", "--json", status=1)
    failure = json.loads(printed.out)["verdict"]
    assert "Broken: build of construction broken: failed:" in failure
    assert said in failure


def test_what_a_construction_prints_is_no_answer(own: Callable[..., str], shell: Shell) -> None:
    lines = (
        "print('read')\ndef build(data, *_):\n    print('built')\n    return TRUE.build(data, *_)"
    )
    for status, words in ((0, PROVE_TINY), (1, ["attack", "--cases", "3", "--construction"])):
        place = own(f"prints_{words[0]}", lines)
        printed = shell.runs(*words, place, "--json", status=status)
        json.loads(printed.out)
        assert printed.err.startswith("read\nbuilt\n")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "ModuleNotFoundError: No module named 'mine_0'"),
        ("", "AttributeError: module 'mine_1' has no attribute 'METHOD'"),
        ("METHOD = 3", "must be a Method, not of type int"),
        ("raise RuntimeError('so\\nit is')", "RuntimeError: so it is"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("import attncert as a\nMETHOD = a.Method('My Name', '', '', None, None, a.Outline())",
         "not My Name"),
    ],
)  # fmt: skip
def test_a_place_that_is_none_is_refused_in_one_line(
    text: str | None, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    shell: Shell, request: pytest.FixtureRequest,
) -> None:  # fmt: skip
    module = f"mine_{request.node.callspec.indices['text']}"
    if text is not None:
        (tmp_path / f"{module}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert reason in shell.refuses(*PROVE_TINY, f"{module}:METHOD")


def test_a_file_beside_it_stands_in_for_no_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The current folder comes first while the module is read, and last from then on."""
    (tmp_path / "beside.py").write_text("from attncert.verify.methods.paper import METHOD\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert registry.method("beside:METHOD") is registry.method("paper")
    assert sys.path[-1] == str(tmp_path) and sys.path.count(str(tmp_path)) == 1


def test_errors_in_steps_and_traces_name_the_construction() -> None:
    def raising(data: object, record: object, head: object, number: int) -> Claim:
        raise LookupError("lost")

    def unknown(data: object, built: object) -> list[Claim]:
        return [Claim("mine", "It holds.", Level.PROVED, rests_on=("nothing",))]

    def endless() -> Iterator[Claim]:
        for number in count():
            yield Claim(ids.ClaimId(f"mine.{number}"), "It holds.", Level.PROVED)

    for parts, words in (
        ({"steps": attncert.each_head(raising, source="")},
         "steps of construction parity: failed: LookupError: lost (test_own"),
        ({"follows": lambda data, built: endless()}, "more than 600 claims are returned"),
        ({"follows": unknown}, "trace of construction parity: .* rests on 'nothing'"),
        ({"follows": lambda data, built: ()}, "trace of construction parity: .*parity is missing"),
    ):  # fmt: skip
        registry.register(replace(METHOD, **parts))  # type: ignore[arg-type]
        with pytest.raises(InputError, match=words.replace("(", r"\(")) as raised:
            prove(TINY, Prove("parity"))
        assert raised.value.__cause__ is not None  # the traceback is there for the author


@pytest.mark.parametrize(
    ("promise", "words"),
    [
        ({"parity": ("head.9.alone",)}, "head.9.alone is missing, on which parity must rest"),
        ({"alone": ("hypothesis.odd",)}, "hypothesis.odd is missing, on which head.1.alone must"),
        ({"alone": ("selector",)}, "selector is missing, on which head.1.alone must rest"),
        ({"triangular": ()}, "triangular is no step and no claim about the whole layer"),
        ({"theorem": ("parity",)}, "theorem is no step and no claim about the whole layer"),
        ({"alone": ("parity",)}, "head.1.alone does not name parity"),
        ({"parity": ("rank",)}, "parity does not name rank"),
    ],
)
def test_an_outline_promises_nothing_unknown(
    promise: dict[str, tuple[str, ...]], words: str
) -> None:
    outline = replace(METHOD.outline, rests_on=promise)  # type: ignore[arg-type]
    registry.register(replace(METHOD, outline=outline))
    with pytest.raises(InputError, match=re.escape(words)):
        prove(TINY, Prove("parity"))


def test_our_own_errors_stay_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise LookupError("ours")

    monkeypatch.setattr(paper, "head_claims", broken)
    monkeypatch.setattr("attncert.constructions.paper.build", broken)
    with pytest.raises(LookupError, match="ours"):
        prove(TINY)


def test_entry_points_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    registry._registered.pop("parity", None)
    point = metadata.EntryPoint("any", PLACE, "attncert.constructions")
    monkeypatch.setattr(metadata, "entry_points", lambda group: [point])
    monkeypatch.setattr(registry, "_announced", set())
    assert registry.names()[-1] == "parity"
    assert registry.method("parity") is METHOD


def test_a_broken_entry_point_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    point = metadata.EntryPoint("theirs", "nowhere.at.all:X", "attncert.constructions")
    monkeypatch.setattr(metadata, "entry_points", lambda group: [point])
    with pytest.raises(InputError, match=r"^entry point theirs \(nowhere.at.all:X\): must be one"):
        registry.names()
    assert registry.method("paper").name == "paper"  # who does not need it is not bothered


def test_a_name_can_be_registered_again_but_none_of_ours() -> None:
    again = registry.register(replace(METHOD, theorem="another"))
    assert registry.method("parity") is again
    with pytest.raises(InputError, match="a name that is still free, not generic"):
        registry.register(replace(METHOD, certificate="generic"))


# A layer that was given.


def test_a_given_layer() -> None:
    layer = Layer.of_weights([([[1], [0]], [[-2], [1]]), ([["1/2"], ["-1/2"]], [[2], ["6"]])])
    proof = prove_layer(TINY, layer)
    assert proof.exit_status == 0
    assert {c.id for c in proof.trace if c.id.startswith("hypothesis")} == {
        "hypothesis.value-width"
    }
    assert "theorem" not in proof.trace
    files = report(proof).files
    everything = b"".join(files.values()).decode()
    assert "Theorem 1" not in everything and "Mahdavi" not in everything
    assert "attncert.prove_layer(DATA, LAYER)" in everything and "--construction" not in everything
    assert proof.setup.heads == 2 and proof.layer is not None
    again = prove_layer(TINY, Layer(tuple(replace(h, value=None) for h in proof.layer.heads)))
    assert again.certificate == proof.certificate


def test_a_given_layer_that_does_not_do() -> None:
    """rank 2 < 3; the refusal counts the heads of the layer."""
    proof = prove_layer(TINY, Layer.of_weights([([[1], [0]], [[-2], [1]])]))
    assert proof.exit_status == 1 and proof.setup.heads == 1  # no weights of one head do
    same = prove_layer(TINY, Layer.of_weights([([[1], [0]], [[-2], [1]])] * 2))
    assert same.exit_status == 3 and "rank 2" in same.trace[same.conclusion].statement


@pytest.mark.parametrize(
    ("heads", "words"),
    [
        ([], "layer: must be made of at least one head, not empty"),
        ("ab", "layer: must be a list of pairs (key, query), not of type str"),
        ([3], "head 1: must be a pair (key, query), not of type int"),
        ([([[1]],)], "head 1: must be a pair (key, query), not 1 things"),
        ([([1, 0], [[1], [0]])], "key of head 1: must be a matrix (d, d_h), not of shape (2,)"),
        ([([[1], [0]], [[1]])], "query of head 1: must be of shape (2, 1), not (1, 1)"),
        ([([[1]], [[1]]), ([[1, 2]], [[1, 2]])], "key of head 2: must be of shape (1, 1), not"),
        ([([["x"]], [[1]])], "key of head 1"),
    ],
)  # fmt: skip
def test_weights_that_are_none(heads: list[object], words: str) -> None:
    with pytest.raises(InputError) as raised:
        Layer.of_weights(heads)
    assert str(raised.value).startswith(words)


def blocks(language: str) -> list[str]:
    page = (ROOT / "docs" / "constructions.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def test_the_page_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for number, program in enumerate(blocks("python"), start=1):
        exec(compile(program, f"block {number} of constructions.md", "exec"), names)
    assert (tmp_path / "parity-report" / "report.md").exists()


def test_the_command_on_the_page_prints_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (session,) = blocks("console")
    command, _, shown = session.partition("\n")
    assert shell.runs(*shlex.split(command.removeprefix("$ attncert "))).out == shown


class _Stopped(BaseException):
    """What no handler of exceptions expects."""


def _stop(*given: object) -> NoReturn:
    raise _Stopped


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": 5}, "construction: name: must be of type str, not int"),
        ({"certificate": "../../x\n"}, "construction: must be named in lower case, like my-heads"),
        ({"outline": None}, "construction: outline: must be of type Outline, not NoneType"),
        ({"bound": 5}, "construction: bound: must be of type Bound or None, not int"),
        ({"voice": None}, "construction: voice: must be of type Voice, not NoneType"),
        ({"hypotheses": lambda data, request: [1]}, "hypotheses of construction odd: failed: "),
        ({"remarks": lambda data, built: 5}, "remarks of construction odd: failed: "),
        ({"remarks": lambda data, built: {5: None}}, "remarks of construction odd: failed: "),
        ({"follows": lambda data, built: [None]}, "consequences of construction odd: failed: "),
        ({"bound": attncert.Bound(places=_stop)}, "bound of construction odd: failed: "),
        ({"bound": attncert.Bound(strength=_stop)}, "bound of construction odd: failed: "),
        ({"width": lambda n: -1}, "width of construction odd: failed: "),
        ({"build": _stop}, "build of construction odd: failed: _Stopped"),
    ],
)
def test_records_and_answers_of_another_type(changes: dict[str, Any], words: str) -> None:
    """One line that names the construction, and no internal error of ours."""
    with pytest.raises(InputError) as raised:
        registry.register(replace(paper.METHOD, **{"name": "odd", "certificate": None} | changes))
        attncert.prove(TINY, attncert.Prove("odd"))
    assert str(raised.value).startswith(words)


@pytest.mark.parametrize(
    "change",
    [{"groups": tuple((np.int64(t),) for t in range(TINY.T))}, {"heads": ()}],
    ids=["numbers that JSON does not know", "no records"],
)
def test_groups_and_records_of_which_no_certificate_is_made(change: dict[str, Any]) -> None:
    def build(data: Dataset, request: Any, progress: Any) -> Any:
        return replace(METHOD.build(data, request, progress), **change)

    registry.register(replace(METHOD, name="odd", build=build))
    with pytest.raises(InputError, match="groups and heads of construction odd: failed: "):
        prove(TINY, Prove("odd"))


def test_an_attack_that_is_promised_nothing_tries_nothing() -> None:
    """And cases can be adapted to a hypothesis that chance does not meet."""
    attack = METHOD.attack
    assert attack is not None and attack.promises is not None
    promises = attack.promises

    def ending_in_seven(data: Dataset, heads: int, width: int) -> bool:
        rows = data.query_matrix.tolist()
        return all(row[-1] == 7 for row in rows) and promises(data, heads, width)

    def adapt(case: Case) -> Case:
        queries = case.queries.copy()
        queries[:, -1] = 7 * case.denominator
        return replace(case, queries=queries)

    for change, status in ({}, 3), ({"adapt": adapt}, 0):
        registry.register(
            replace(METHOD, attack=replace(attack, promises=ending_in_seven, **change))
        )
        report = attncert.attack(attncert.Attack(METHOD.name, cases=40, seed=1))
        assert report.exit_status == status and bool(report.built) == (status == 0)
        assert ("promises nothing of these" in report.reason) == (status == 3)

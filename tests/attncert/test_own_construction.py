"""A third-party proof: the example, planted defects, and errors in its code."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from flint import fmpq_mat
from support.paths import ROOT
from support.shares import share
from support.shell import Shell

from attncert import (
    AtLeast,
    Attack,
    Attention,
    Construction,
    Dataset,
    FeedForward,
    Hypothesis,
    HypothesisFails,
    InputError,
    Layer,
    Network,
    Prove,
    Request,
    Step,
    View,
    attack,
    prove,
    readout,
)
from attncert.constructions.data import generators
from attncert.constructions.data.loading import load
from attncert.constructions.layer import Head, features
from attncert.reports.answers import proof_lines, report, verdict
from attncert.verify.claims import relations
from attncert.verify.claims.evidence import Level
from attncert.verify.statements import registry

PLACE = "examples.own_construction:PARITY"
FILE = str(ROOT / "examples" / "tiny.json")
TINY = load(FILE)
PROVE_TINY = ["prove", FILE, "--construction"]
PARITY: Any = registry.method(PLACE)
del registry._registered[PARITY.name]  # each use of MODULE:NAME registers it again


def audited(**changes: Any) -> Any:
    """The result of `prove` for the parity proof with these fields changed."""
    registry.register(replace(PARITY, **changes))
    return prove(load(FILE), Prove("parity"))  # data that the proof may change


def with_step(**steps: Step) -> Any:
    return audited(steps={**PARITY.steps, **steps})


def test_the_report_names_its_own_proof_and_nothing_of_the_papers() -> None:
    proof = prove(TINY, Prove(PLACE))
    files = report(proof).files
    page = files["report.md"].decode()
    assert (proof.exit_status, proof.proof_standing) == (0, Level.PROVED)
    assert "The hypotheses of the parity theorem hold" in page
    assert "Source: examples/own_construction.py." in page
    assert "`step.parity`**: proved" in page
    content = (ROOT / "examples" / "own_construction.py").read_bytes()
    assert files["construction/own_construction.py"] == content
    assert f"`{hashlib.sha256(content).hexdigest()}`" in page
    assert "> The proof is valid for these data: 3 hypotheses, 4 steps and 1 promise hold." in page
    everything = b"".join(files.values()).decode()
    for never in ("Theorem 1", "mahdavi", "Mahdavi", "hypothesis.A", "Assumption", "paper,"):
        assert never not in everything, never


def distinct(T: int, n: int, d: int, seed: int) -> Dataset:
    """Distinct contexts, where u = (1, ..., 1) gives 1 on the first token and 0 on all others."""
    base = generators.random(T, n, d, seed=seed)
    contexts = base.contexts.numerators.copy()
    contexts[:, :, 0] = -contexts[:, :, 1:].sum(axis=2)  # u = (1, ..., 1) gives 0
    contexts[:, 0, 0] += 1
    queries = [[(t + 1) ** j for j in range(d)] for t in range(T)]
    return Dataset.of(contexts, queries, list(range(T)))


@pytest.mark.parametrize(("T", "n", "d"), [(1, 2, 2), (5, 4, 3), (6, 2, 3), (4, 6, 2)])
def test_more_tokens_than_the_width_and_distinct_contexts(T: int, n: int, d: int) -> None:
    """FLINT's determinant of the matrix of all n·u·z is a quotient of odd numbers."""
    data = distinct(T, n, d, seed=T)
    proof = prove(data, Prove(PLACE))
    assert proof.exit_status == 0 and proof.trace.standing("step.parity") is Level.PROVED
    layer = PARITY.build(data, Request())
    columns = [(features(h, data) * h.key * n).entries() for h in layer.heads]
    determinant = fmpq_mat([list(row) for row in zip(*columns, strict=True)]).det()
    assert determinant.p % 2 == 1 and determinant.q % 2 == 1


NOT_APPLICABLE = {
    "even": Dataset.of([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 2, 0], [3, 1, 1]], [1, 2]),
    "marked": Dataset.of([[1, 1], [1, 1]], [[1, 2], [3, 1]], [1, 2]),
    "apart": Dataset.of([[1, 0], [0, 1]], [[1, 2], [-2, -4]], [1, 2]),
}


@pytest.mark.parametrize("name", NOT_APPLICABLE)
def test_where_a_hypothesis_of_its_own_fails(name: str) -> None:
    """The builder fails and the hypothesis is named; only a false "even" does not stop the
    builder."""
    proof = prove(NOT_APPLICABLE[name], Prove(PLACE))
    failing = proof.trace[f"hypothesis.{name}"]
    assert failing.level is Level.REFUTED and failing.witness
    others = [c.id for c in proof.trace if c.id.startswith("hypothesis.") and c is not failing]
    assert all(proof.trace[i].level.holds for i in others)
    assert (proof.exit_status, proof.proof_standing) in ((3, Level.NOT_APPLICABLE), (3, None))
    if name == "even":
        assert verdict(proof).endswith("but the proof does not apply to these data.")
    else:
        assert proof.built is None


def spoilt(change: Callable[[Head], Head]) -> Any:
    """The proof about a layer whose second head was changed after it was built."""

    def build(data: Dataset, request: Request) -> Layer:
        heads = list(PARITY.build(data, request).heads)
        heads[1] = change(heads[1])
        return Layer(tuple(heads))

    return audited(build=build)


DEFECTS: dict[str, Callable[[Head], Head]] = {
    "v_t is not orthogonal to its query": lambda h: replace(h, query=fmpq_mat([[0], [1]])),
    "v_t of another example": lambda h: replace(h, query=fmpq_mat([[-2], [1]])),
    "u marks both tokens": lambda h: replace(h, key=h.key + fmpq_mat([[0], [1]])),
    "u marks the other token": lambda h: replace(h, key=fmpq_mat([[0], [1]])),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_planted_defect_is_the_first_line_after_the_verdict(defect: str) -> None:
    proof = spoilt(DEFECTS[defect])
    assert (proof.exit_status, proof.proof_standing) == (1, Level.REFUTED)
    (line,) = proof_lines(proof)
    assert line.startswith("The proof fails at head.2.alone") and " at example " in line
    assert "Proved" not in verdict(proof)
    notebook = proof._repr_markdown_()
    assert "Proved" not in notebook and "The proof fails at head.2.alone" in notebook
    page = report(proof).files["report.md"].decode().splitlines()
    assert (
        page[3].endswith("but the proof is not valid for these data.") and "head.2.alone" in page[5]
    )


def test_the_parity_sees_what_the_step_alone_would_not() -> None:
    """Two heads single out the same example, so one of the examples is singled out by none."""

    def build(data: Dataset, request: Request) -> Layer:
        first, _, third = PARITY.build(data, request).heads
        return Layer((first, first, third))

    proof = audited(build=build)
    assert proof.exit_status == 1
    refuted = {claim.id for claim in proof.trace if claim.level is Level.REFUTED}
    assert {"head.2.alone", "step.parity", "proof"} <= refuted


# Values that a step can yield.


def always(*relations: Any) -> Step:
    return Step("It holds.", lambda at: relations)


@pytest.mark.parametrize(
    ("step", "level", "status"),
    [
        (always((1, "<", 2)), "proved", 0),
        (always((AtLeast(3), ">=", 3)), "proved", 0),
        (always((0.1 + 0.2, ">", 0.3)), "numerical", 0),
        (always((0.1 + 0.2, "<", 0.3)), "undecided", 3),
        (always(), "vacuous", 0),
        (always(([], "==", [])), "vacuous", 0),
        (replace(always((1, "==", 1)), rests_on=("nothing",)), "proved", 3),
        (always((1, "==", 2)), "refuted", 1),
    ],
)
def test_the_level_follows_from_the_relations(step: Step, level: str, status: int) -> None:
    proof = with_step(nothing=always(), mine=step)
    assert proof.trace["step.nothing"].level is Level.VACUOUS
    assert (proof.trace["step.mine"].level.value, proof.exit_status) == (level, status)
    (line,) = proof_lines(proof)
    assert ("vacuous: step.nothing" in line) == (status == 0)


def test_vacuous_steps_alone_support_nothing() -> None:
    proof = audited(steps={"nothing": always()})
    assert (proof.exit_status, proof.standing) == (3, Level.PROVED)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (Step("x", lambda at: [1 / 0]), "step mine of construction parity: failed"),
        (Step("x", lambda at: [3]), "NoRelation: an item of type int, not a relation"),
        (Step("x", lambda at: [("a", "==", "b")]), "a value of type str, which is not a number"),
        (Step("x", lambda at: [([1], "==", [1, 2])]), "lists of 1 and 2 entries"),
        (Step("x", lambda at: [([1, 2], "==", [[1], [2]])]), "a number and a list of numbers"),
        (Step("x", lambda at: [(1, "==", 1, 0, 0)], where=("example",)), "a place of 2 values"),
        (Step("x", lambda at: at.logits(2)), "parity: failed: InputError: block: must be the "),
        (Step("x", lambda at: at.query[9]), "from 0 to 1, not 9 (test_own_construction.py, line"),
        (Step("x", lambda at, h: [h / 0], each="head"), "step head.1.mine of construction parity"),
    ],
)
def test_what_is_no_statement_is_named_in_one_line(step: Step, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        with_step(mine=step)


def test_quantifiers_speak_of_each_head_group_and_block() -> None:
    steps = {
        "narrow": Step("h", lambda at, h: [(h, "<=", len(at.heads))], each="head"),
        "filled": Step("g", lambda at, g: [(len(at.groups[g - 1]), ">=", 1)], each="group"),
        "alone": Step("k", lambda at, k: [(k, "==", at.network.depth)], each="block"),
        "second": Step("2", lambda at, h: [(h, "==", 2)] * (h == 2), ("narrow",), "head"),
    }
    proof = audited(steps=steps)
    assert proof.exit_status == 0
    own = [c.id for c in proof.trace if c.id.split(".")[-1] in steps]
    assert own == [*(f"head.{h}.narrow" for h in (1, 2, 3)),
                   *(f"group.{g}.filled" for g in range(1, len(proof.groups) + 1)),
                   "block.1.alone", "head.2.second"]  # fmt: skip
    assert proof.trace["head.2.second"].rests_on == ("head.2.narrow",)


# A network whose steps are given balls if a softmax is irrational.

IRRATIONAL = Dataset.of([[[0], [1]]] * 2, [[1], [2]], [0, 1])


def softmax(data: Dataset, request: Request) -> Network:
    one = fmpq_mat(1, 1, [1])
    attention = Attention((Head(one, one, one),), one, unit="1")
    return Network((attention, FeedForward(one, fmpq_mat([[-1]]), activation="threshold")))


def test_a_step_of_an_irrational_softmax_is_enclosed() -> None:
    def below(at: Any) -> Any:
        for t, row in enumerate(at.weights(1)):
            yield row[0] + row[1], "<", 2, t
            yield row[1], "<", 1, t
        yield at.query[1][1][0], ">", at.query[1][0][0]

    registry.register(Construction("soft", softmax, steps={"below": Step("Below 1.", below)}))
    proof = prove(IRRATIONAL, Prove("soft"))
    assert proof.trace["step.below"].level is Level.ENCLOSED
    assert "bits" in proof.trace["step.below"].arithmetic


def test_a_block_that_does_not_fit_is_located_behind_the_steps_that_hold() -> None:
    def build(data: Dataset, request: Request) -> Network:
        return Network((readout(fmpq_mat([[1]])), readout(fmpq_mat([[1], [1]]))))

    steps = {
        "first": Step("x", lambda at: [(at.query[1][0][0], "==", 1)]),
        "second": Step("x", lambda at: [(at.query[2][0][0], "==", 1)]),
    }
    registry.register(Construction("unfit", build, steps=steps))
    proof = prove(IRRATIONAL, Prove("unfit"))
    assert proof.trace["step.first"].level is Level.PROVED
    second = proof.trace["step.second"]
    assert second.level is Level.UNDECIDED and "block 2" in str(second.witness)
    assert proof.exit_status == 3


def test_a_false_hypothesis_that_no_step_uses_is_said() -> None:
    spare = Hypothesis("It is false.", lambda data: [(0, "==", 1)])
    hypotheses = {**PARITY.hypotheses, "spare": spare}
    registry.register(replace(PARITY, name="spared", hypotheses=hypotheses))
    proof = prove(TINY, Prove("spared"))
    assert proof.exit_status == 0 and proof.proof_claim is not None
    assert "false, but used by no step: hypothesis.spare" in proof.proof_claim.statement


def test_the_one_width_of_heads_may_be_named() -> None:
    assert prove(TINY, Prove("width-one", head_width=1)).exit_status == 0
    with pytest.raises(InputError, match="head_width: must be left out for the construction wid"):
        prove(TINY, Prove("width-one", head_width=2))


# The record, and third-party code.


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": 5}, "name: must be in lower case, like my-heads, not 5"),
        ({"name": "My Name"}, "name: must be in lower case, like my-heads, not My"),
        ({"build": 3}, "parity: build: must be a function, not int"),
        ({"steps": [1]}, "parity: steps: must be Step records by name, not list"),
        ({"steps": {"a b": always()}}, "parity: steps: must be named by words"),
        ({"steps": {"a": 1}}, "parity: steps: a: must be a Step, not int"),
        ({"hypotheses": {"a": always()}}, "parity: hypotheses: a: must be a Hypothesis"),
        ({"steps": {"even": always()}}, "parity: steps: must be named unlike every"),
        ({"steps": {"a": Step("x", len, ("b",))}}, "parity: steps: a: rests_on: must be"),
        ({"steps": {"a": Step("x", len, ("a",))}}, "parity: steps: must be such that none"),
        ({"steps": {"a": Step("x", len, each="heads")}}, "parity: steps: a: each: must be"),
        ({"claims": []}, "parity: claims: must be one or more, such as Exact()"),
    ],
)
def test_a_record_that_is_not_one_is_refused_when_it_is_made(
    changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=f"^construction:? {re.escape(words)}"):
        replace(PARITY, **changes)


def _stop(*given: object) -> NoReturn:
    raise KeyError("lost")


def _relabels(at: View) -> list[tuple[int, str, int]]:
    at.data.label_matrix[0, 0] += 1
    return [(1, "==", 1)]


def _mends(at: View) -> list[tuple[int, str, int]]:
    at.heads[0].key[0, 0] += 1
    return [(1, "==", 1)]


def endless(relation: Any) -> Step:
    return Step("x", lambda at: (relation for _ in count()))


def changing(data: Dataset, request: Request) -> NoReturn:
    data.queries.stored[0] += 1
    raise HypothesisFails("odd", "n is odd", {})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"build": _stop}, "build of construction parity: failed: KeyError"),
        ({"build": lambda *_: 1}, "it returns int, not a Network or a Layer"),
        ({"build": changing}, "parity: failed: ValueError: it changes the data"),
        ({"steps": {"mine": endless((1, "==", 1))}}, "infinitely many"),
        ({"steps": {"mine": endless({})}}, "infinitely many"),
        ({"subject": _stop}, "subject of construction parity: failed"),
        ({"steps": {"mine": Step("x", _relabels)}}, "it changes the data"),
        ({"steps": {"mine": Step("x", _mends)}}, "they change the network"),
        ({"promises": {"heads": lambda s: s.T + 0.9}}, "'float' object cannot be interpreted"),
        ({"promises": {"examples": _stop}}, "promise examples of construction parity: failed"),
        ({"promises": {"beauty": lambda s: 1}}, "construction parity: promises: must be of "),
        ({"hypotheses": {**PARITY.hypotheses, "even": Hypothesis("x", _stop)}}, "hypothesis even"),
    ],
)
def test_errors_name_the_construction_and_the_part(
    changes: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relations, "MOST", 1000)
    with pytest.raises(InputError, match=re.escape(words)):
        audited(**changes)


def test_a_step_may_rely_on_a_hypothesis_that_is_false() -> None:
    false = Hypothesis("One is two.", lambda data: [(1, "==", 2)])
    proof = audited(
        hypotheses={**PARITY.hypotheses, "false": false},
        steps={"shapes": Step("x", lambda at: [([1], "==", [1, 2])], ("false",))},
    )
    assert proof.exit_status == 3 and proof.trace["hypothesis.false"].level is Level.REFUTED


def test_a_promise_that_is_broken_is_refuted() -> None:
    proof = audited(promises={"heads": lambda sizes: sizes.T - 1})
    assert proof.exit_status == 1 and proof.trace["promise.heads"].level is Level.REFUTED


@pytest.mark.parametrize(("short_by", "status"), [(0, 0), (1, 1)])
def test_the_parameters_of_a_layer_include_its_values(short_by: int, status: int) -> None:
    """The parameters are the keys, queries, values and outputs of heads of width one."""
    proof = audited(promises={"parameters": lambda s: s.H * (2 * s.d + s.d + s.m) - short_by})
    claim = proof.trace["promise.parameters"]
    assert claim.numbers["built"] == proof.trace["parameters"].numbers["parameters"]
    assert proof.exit_status == status


def test_without_a_step_no_proof_is_said_to_stand() -> None:
    never = Step("x", lambda at: [(1, "==", 2)], applies=lambda at: False)
    (line,) = proof_lines(audited(steps={"never": never}))
    assert line == "The proof has no step about these data: 1 promise holds."


# The last --construction counts.
@pytest.mark.parametrize("before", share([["paper", "--construction"], []], 2))
def test_a_construction_that_ends_the_process_gives_no_answer(
    before: list[str], tmp_path: Path
) -> None:
    (tmp_path / "ends.py").write_text("import os\nos._exit(0)\n")
    command = [sys.executable, "-m", "attncert", *PROVE_TINY, *before, "ends:METHOD"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 2 and ended.stdout == ""
    assert ended.stderr == (
        "attncert: --construction: must be code that returns, not code that ends the process\n"
    )


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """A function that writes a module to the current folder, where `python -m` would find it, and
    returns the argument that names its construction, NAME:OWN."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def written(name: str, *lines: str) -> str:
        before = "import attncert\nfrom examples.own_construction import PARITY as TRUE"
        after = "OWN = attncert.Construction('broken', build)"
        (tmp_path / f"{name}.py").write_text("\n".join([before, *lines, after]))
        return f"{name}:OWN"

    return written


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return 1 / 0", "ZeroDivisionError: division by zero (attacked_0.py, line 4)"),
        ("raise SystemExit(0)", "SystemExit: 0 (attacked_1.py, line 4)"),
        ("return TRUE", "it returns Construction, not a Network or a Layer"),
    ],
)
def test_a_builder_that_breaks_is_one_line_of_prove_and_a_failure_in_an_attack(
    body: str, said: str, own: Callable[..., str], shell: Shell, request: pytest.FixtureRequest
) -> None:
    name = f"attacked_{request.node.callspec.indices['body']}"
    place = own(name, f"def build(data, request):\n    {body}")
    line = shell.refuses(*PROVE_TINY, place)
    begins = "attncert: build of construction broken: failed:"
    assert line.startswith(begins) and said in line
    printed = shell.runs("attack", "--construction", place, "--cases", "3", "--json", status=1)
    assert said in json.loads(printed.out)["verdict"]
    assert not Path("attncert-report/tiny").exists()


def test_what_a_construction_prints_is_no_answer(own: Callable[..., str], shell: Shell) -> None:
    lines = "print('read')\ndef build(*_):\n    print('built')\n    return TRUE.build(*_)"
    place = own("prints", lines)
    printed = shell.runs(*PROVE_TINY, place, "--json")
    json.loads(printed.out)
    assert printed.err.startswith("read\nbuilt\n")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "ModuleNotFoundError: No module named 'mine_0'"),
        ("", "AttributeError: module 'mine_1' has no attribute 'OWN'"),
        ("OWN = 3", "must be a Construction, not of type int"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("import attncert\nOWN = attncert.Construction('My Name', len)", "not My Name"),
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
    assert reason in shell.refuses(*PROVE_TINY, f"{module}:OWN")


def test_our_own_errors_stay_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise LookupError("ours")

    monkeypatch.setitem(vars(registry.method("paper")), "build", broken)
    with pytest.raises(LookupError, match="ours"):
        prove(TINY)


def test_a_name_can_be_registered_again_but_none_of_ours() -> None:
    again = registry.register(replace(PARITY, theorem="another"))
    assert registry.method("parity") is again
    with pytest.raises(InputError, match="a name that is not in use, not generic"):
        registry.register(replace(PARITY, name="generic"))


@pytest.mark.slow
def test_an_attack_that_is_promised_nothing_tries_nothing() -> None:
    """Random data rarely meet the hypotheses, so without `adapt` the attack has nothing to try."""

    def adapt(data: Dataset) -> Dataset:
        return Dataset.of([[1, 0], [0, 1]], [[1, t] for t in range(data.T)], list(range(data.T)))

    odd = {**PARITY.hypotheses, "odd": Hypothesis("x", lambda data: [(data.d, "==", 2)])}
    never = {**odd, "never": Hypothesis("x", lambda data: [(1, "==", 2)])}
    for changes, status in (
        ({"hypotheses": never}, 3),
        ({"adapt": adapt}, 0),
        ({"adapt": adapt, "build": lambda *_: SimpleNamespace(layer=1)}, 1),
    ):
        registry.register(replace(PARITY, **changes))
        answer = attack(Attack("parity", cases=30, seed=1))
        assert answer.exit_status == status and answer.built.total() == (30 if not status else 0)


# A given layer.


def by(layer: Layer) -> Any:
    registry.register(Construction("given", lambda data, request: layer))
    return prove(TINY, Prove("given"))


def test_a_given_layer() -> None:
    layer = Layer.of_weights([([[1], [0]], [[-2], [1]]), ([["1/2"], ["-1/2"]], [[2], ["6"]])])
    proof = by(layer)
    assert proof.exit_status == 0
    assert {c.id for c in proof.trace if c.id.startswith("hypothesis")} == {
        "hypothesis.value-width"
    }
    assert "theorem" not in proof.trace
    everything = b"".join(report(proof).files.values()).decode()
    assert "Theorem 1" not in everything and "Mahdavi" not in everything
    assert proof.setup.heads == 2 and proof.layer is not None
    again = by(Layer(tuple(replace(h, value=None) for h in proof.layer.heads)))
    assert again.certificate == proof.certificate


def test_a_given_layer_of_too_small_a_rank() -> None:
    """The rank is 2, and T is 3."""
    proof = by(Layer.of_weights([([[1], [0]], [[-2], [1]])] * 2))
    assert proof.exit_status == 3 and "rank 2" in proof.trace[proof.conclusion].statement


@pytest.mark.parametrize(
    ("heads", "words"),
    [
        ([], "layer: must be made of at least one head, not empty"),
        ("ab", "layer: must be a list of pairs (key, query), not of type str"),
        ([([[1]],)], "head 1: must be a pair (key, query), not 1 items"),
        ([([1, 0], [[1], [0]])], "key of head 1: must be a matrix (d, d_h), not of shape (2,)"),
        ([([[1], [0]], [[1]])], "query of head 1: must be of shape (2, 1), not (1, 1)"),
    ],
)  # fmt: skip
def test_weights_that_are_none(heads: list[object], words: str) -> None:
    with pytest.raises(InputError) as raised:
        Layer.of_weights(heads)
    assert str(raised.value).startswith(words)


def test_the_page_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    page = (ROOT / "docs" / "constructions.md").read_text()
    programs = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    for number, program in enumerate(programs, start=1):
        exec(compile(program, f"block {number} of constructions.md", "exec"), names)
    assert (tmp_path / "adder-report" / "report.md").exists()

"""The claim about all inputs of a domain holds for an adder, and planted defects are found."""

from __future__ import annotations

import random
import runpy
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from support.every_claim import TRUE
from support.paths import EXAMPLES, ROOT
from support.slow_shards import two_workers
from support.small_certificates import changed, written

from attncert import (
    Claim,
    ClaimId,
    Construction,
    Dataset,
    FeedForward,
    Generates,
    Head,
    InputError,
    Nearest,
    Network,
    Prove,
    Transducer,
    additions,
    check,
    load,
    prove,
    register,
)
from attncert.constructions.network.blocks import Normalization
from attncert.constructions.network.composed import Group
from attncert.constructions.network.file import of_json
from attncert.constructions.network.positional import GeneralAttention
from attncert.verify.checking.fast import check as fast_check
from attncert.verify.outputs import situations
from attncert.verify.statements import generates
from examples.adder import ADDER, adder, build, pairs, tables

DOMAIN = additions(2, 4)
DATA = pairs([(7, 9), (0, 0), (15, 15)], 2, 4)


def claims(construction: Construction, data: Dataset = DATA) -> tuple[Claim, Claim]:
    trace = prove(data, Prove(register(construction).name)).trace
    return trace[ClaimId("situations")], trace[ClaimId("claimed.generates")]


def generating(domain: Any, width: int | None, build: Any = build) -> Construction:
    goals = (Nearest(), Generates(domain, width))
    return replace(adder(2, 4), name="planted", build=partial(build, digits=2, base=4),
                   claims=goals)  # fmt: skip


def simulated(network: Network, prompt: list[int]) -> list[int]:
    """The answer that the network generates, in float64 with NumPy."""
    attention, hidden, last = network.blocks
    numbers = lambda x: np.array([[float(y.p) / float(y.q) for y in row] for row in x.tolist()])  # noqa: E731
    vectors = tables(2, 4)
    table, positions = (np.array(vectors[k], dtype=object) for k in ("embedding", "positions"))
    shifts = np.array([[float(eval(str(x))) for x in row] for row in positions])
    row = list(prompt)
    while len(row) < len(prompt) + 3:
        E = table[row].astype(float) + shifts[: len(row)]
        parts = []
        for head in attention.heads:  # type: ignore[union-attr]
            logits = E @ numbers(head.key) @ numbers(head.query).T @ E[-1]
            w = np.exp(logits - logits.max())
            parts.append(w @ E @ numbers(head.value) / w.sum())
        x = E[-1] + np.concatenate(parts) @ numbers(attention.output)  # type: ignore[union-attr]
        x = np.maximum(x @ numbers(hidden.weights) + numbers(hidden.bias)[0], 0)  # type: ignore[union-attr]
        out = x @ numbers(last.weights) + numbers(last.bias)[0]  # type: ignore[union-attr]
        row.append(int(out.argmax()))
    return row[len(prompt) :]


@pytest.mark.slow
def test_all_inputs_by_situations_and_one_by_one() -> None:
    network = build(None, None, 2, 4)
    for word in product(*DOMAIN.letters):
        row = DOMAIN.sequence(word)
        assert simulated(network, list(row[:6])) == list(row[6:])
    local, whole = claims(adder(2, 4))
    assert whole.level.value == "enclosed" and "the 256 prompts" in whole.statement
    assert local.statement.startswith(f"In each of {16 + 16**2 + 2 * 16} situations")
    assert whole.rests_on == ("situations", "step.carries")
    every, _ = claims(generating(DOMAIN, None))
    assert every.level.value == "enclosed" and every.statement.startswith(
        "In each of 768 situations"
    )
    for claim in (local, every):
        low, high = map(float, claim.numbers["least"]["lead"])
        assert 0.999 < low <= 1 <= high < 1.001


def test_a_wrong_weight_is_found_with_an_input_that_shows_it() -> None:
    def planted(data: Any, request: Any, digits: int, base: int) -> Network:
        attention, hidden, last = build(data, request, digits, base).blocks
        bias = hidden.bias  # type: ignore[union-attr]
        bias[0, 2] -= 2  # a carry over a 3 is lost
        return Network((attention, FeedForward(hidden.weights, bias, activation="relu"), last))  # type: ignore[union-attr]

    for width in (2, None):
        local, whole = claims(generating(DOMAIN, width, planted))
        assert local.level.value == whole.level.value == "refuted"
        witness = local.witness or {}
        made = simulated(planted(None, None, 2, 4), witness["prompt"])
        place = witness["place"]
        assert made[:place] == witness["answer"][:place] and made[place] != witness["answer"][place]


def test_a_wrong_answer_in_the_domain_is_found() -> None:
    step = dict(DOMAIN.step)
    step[1, (3, 3)] = (1, 2)  # 3 + 3 + 1 is 13 in base 4
    local, whole = claims(generating(replace(DOMAIN, step=step), 2))
    assert local.level.value == whole.level.value == "refuted"


def test_situations_that_fix_too_little_are_open() -> None:
    local, whole = claims(generating(DOMAIN, 1))
    assert local.level.value == whole.level.value == "undecided"
    assert "balls are too wide to decide" in str(local.witness)


def test_arb_decides_blocks_that_float64_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = lambda vectors, last, right: np.full(len(right), -np.inf)  # noqa: E731
    monkeypatch.setattr(situations, "leads", nothing)
    local, whole = claims(adder(2, 4))
    assert whole.level.value == "enclosed" and float(local.numbers["least"]["lead"][0]) > 0.999
    local, whole = claims(generating(DOMAIN, 1))
    assert whole.level.value == "undecided"


def test_data_that_do_not_fit_are_refused() -> None:
    plain = Dataset.of([[0, 1, 0, 0]], [[0, 1, 0, 0]], [[1, 0, 0, 0]])
    with pytest.raises(InputError, match="data: must be token sequences"):
        claims(adder(2, 4), plain)
    with pytest.raises(InputError, match="embedding: must be of 5 symbols or more"):
        claims(generating(additions(2, 4, plus=4), 2))
    with pytest.raises(InputError, match="positions: must be given for the 12 places"):
        claims(generating(additions(3, 4), 2))
    with pytest.raises(InputError, match="claims: must be led by one about the exam"):
        replace(adder(2, 4), claims=(Generates(DOMAIN),))
    with pytest.raises(InputError, match="claims: rests_on: must be names of steps, not other"):
        replace(adder(2, 4), claims=(Nearest(), Generates(DOMAIN, 2, ["other"])))
    with pytest.raises(InputError, match="width: must be a whole number above 0"):
        Generates(DOMAIN, 0)


SUMS = TRUE["generates"]  # a file for sums of one-digit numbers in base 4
PLANTED: dict[str, tuple[str, Any, set[str]]] = {
    "a carry that is lost": ("network.1.bias.2", "-33/4", {"wrong"}),
    "a digit that is not the sum's": ("domain.step.6.3", 0, {"wrong"}),
    "a state that is not the sum's": ("domain.step.15.2", 0, {"wrong"}),
    "a first state without steps": ("domain.start", 1, {"unusable"}),
    "a margin too large": ("nearest.margin", "11/10", {"wrong"}),
    "letters that are not fixed": ("domain.width", 1, {"over limit"}),
    "halves of a place that is not there": ("domain.halves.0", [5], {"unusable"}),
    "halves for too few steps": ("domain.halves", [[]], {"unusable"}),
    "no letters": ("domain.width", 0, {"unusable"}),
    "a place twice": ("domain.places.0", [0, 0], {"unusable"}),
    "a letter twice": ("domain.letters.0.1", [0, 0], {"unusable"}),
    "a symbol without an output": ("domain.letters.0.1", [0, 4], {"unusable"}),
    "a step that is missing": ("domain.step.7", [0, [0, 0], 0, 0], {"unusable"}),
    "a table for too few places": ("data.positions", SUMS["data"]["positions"][:5], {"unusable"}),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_planted_defects_of_a_certificate_are_refused(name: str, tmp_path: Path) -> None:
    path, value, statuses = PLANTED[name]
    for file, expected in ((SUMS, {"holds"}), (changed(SUMS, path, value), statuses)):
        place = written(file, tmp_path)
        assert {check(place).status, fast_check.check_file(place).status} == expected


@pytest.mark.parametrize("count", [2, pytest.param(60, marks=pytest.mark.slow)])
def test_a_certificate_holds_only_if_every_answer_is_right(count: int, tmp_path: Path) -> None:
    """After a change to one weight, the verdict agrees with running the network on all prompts."""
    draw, seen = random.Random(5), Counter[str]()
    true = dict(prove(DATA, Prove(register(adder(2, 4)).name)).certificate or {})
    words = [list(DOMAIN.sequence(word)) for word in product(*DOMAIN.letters)]
    for k in range(count):
        place = draw.choice(["1.weights.2.0", "1.weights.0.3", "2.weights.3.1", "0.output.1.0"])
        file = changed(true, f"network.{place}", str(draw.randint(-4, 4))) if k else true
        status, network = check(written(file, tmp_path)).status, of_json(file["network"])
        right = all(simulated(network, row[:6]) == row[6:] for row in words)
        assert status == "over limit" or (status == "holds") == right
        seen[status] += 1
    assert seen["holds"] and seen["wrong"]


@pytest.mark.slow
def test_hulls_that_are_halved_decide_more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The softmax is so flat that hulls are too wide until they are halved."""
    blunt = adder(2, 4, scale=3)
    _, whole = claims(blunt)
    network = build(None, None, 2, 4, 3)
    words = [list(DOMAIN.sequence(word)) for word in product(*DOMAIN.letters)]
    assert all(simulated(network, row[:6]) == row[6:] for row in words)
    assert whole.level.value == "enclosed"
    certificate: Any = prove(DATA, Prove(blunt.name)).certificate
    halves = certificate["domain"]["halves"]
    for given, status in ((halves, "holds"), ([x[:1] for x in halves], "over limit")):
        file = written(changed(certificate, "domain.halves", given), tmp_path)
        assert check(file).status == status
    assert fast_check.check_file(file).status == "holds"  # --fast halves hulls like the writer
    monkeypatch.setattr(situations, "_ROUNDS", 0)
    assert claims(blunt)[1].level.value == "undecided"


def copying(second: int = 3) -> tuple[Transducer, Dataset, Network]:
    """A layer that copies two symbols out of three, vectors of lengths 1, `second` and 9. It begins
    with an RMSNorm, which nearly makes the lengths equal."""
    letters = [(x,) for x in range(3)]
    domain = Transducer([letters] * 2, [(0,), (1,)], 0, {(0, x): (0, x[0]) for x in letters})
    table = [[*(k * (x == j) for j in range(3)), k] for x, k in enumerate((1, second, 9))]
    length, symbols = (
        fmpq_mat([[0], [0], [0], [1]]),
        fmpq_mat([*np.eye(3, dtype=int).tolist(), [0] * 3]),
    )
    places = fmpq_mat([[40 * (i == j + 1) for j in range(3)] for i in range(3)])
    layer = Group((
        Normalization(fmpq_mat([[1] * 4]), fmpq_mat(1, 4), fmpq(1, 100), of="all"),
        GeneralAttention((Head(length, length, symbols),), symbols.transpose() * 100, unit="1",
                         tables=(places,)),
    ), residual=True)  # fmt: skip
    data = domain.dataset([[(0,), (1,)], [(2,), (2,)]], embedding=table)
    return domain, data, Network((layer, FeedForward(symbols, fmpq_mat(1, 3))))


def test_normalization_is_computed_for_each_symbol(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hull of the normalized symbols is small; the normalized hull of the symbols is not."""
    domain, data, network = copying()
    goals = (Nearest(), Generates(domain, 1))
    public = Construction("copying", lambda data, request: network, claims=goals)
    certificate: Any = prove(data, Prove(register(public).name)).certificate
    assert certificate["claim"] == "generates" and not any(certificate["domain"]["halves"])
    for change, status in (
        (("nearest.margin", certificate["nearest"]["margin"]), "holds"),
        (("network.0.blocks.0.gain.1", "1/50"), "wrong"),
        (("data.embedding.1.1", "1/1000"), "wrong"),
        (("data.embedding.1.3", "60"), "wrong"),
        (("network.0.blocks.1.tables.0.2", ["0", "0", "0"]), "wrong"),
    ):
        place = written(changed(certificate, *change), tmp_path)
        assert {check(place).status, fast_check.check_file(place).status} == {status}
    monkeypatch.setattr(situations, "_alone", lambda blocks: ([], blocks))
    wide: Any = prove(data, Prove(public.name)).certificate
    assert any(wide.get("domain", {"halves": [[0]]})["halves"])


def test_a_cluster_finds_the_same_and_its_records_are_assumed(tmp_path: Path) -> None:
    data, name = pairs([(2, 3), (1, 1)], 1, 4), register(adder(1, 4)).name
    alone = prove(data, Prove(name))
    with two_workers(tmp_path) as address:
        spread = prove(data, Prove(name, dask=address))
    assert spread.certificate == alone.certificate
    assert spread.trace[ClaimId("situations")].numbers == alone.trace[ClaimId("situations")].numbers
    assert alone.trace.standing(ClaimId("claimed.generates")).value == "enclosed"
    assert spread.trace.standing(ClaimId("claimed.generates")).value == "assumed"
    with pytest.raises(InputError, match="dask: must be left out for the construction relu"):
        prove(data, Prove("relu", dask="tcp://127.0.0.1:1"))


@pytest.mark.parametrize(
    "lie", [{"least": None}, {"wrong": 99}, {"open": [0.5]}, {"least": [0, -1.0]}, {"wrong": 0}]
)
def test_records_that_are_false_are_refused(lie: Any) -> None:
    cases = situations.Cases.of(DOMAIN, 2, build(None, None, 2, 4), DATA)
    shard = cases.shards[0]
    record = situations.judged(shard, cases)
    assert cases.fits(shard, record)
    if lie != {"wrong": 0}:
        assert not cases.fits(shard, record | lie)
    else:  # the file has the right form
        with pytest.raises(InputError, match="dask: must be a cluster whose records are correct"):
            generates._decided(cases, {shard: record | lie})


@pytest.mark.slow
def test_all_pairs_of_ten_digits() -> None:
    data = load(EXAMPLES / "adder.json")
    local, whole = claims(ADDER, data)
    assert whole.level.value == "enclosed" and f"the {10**20:,} prompts" in whole.statement
    assert local.statement.startswith("In each of 170,300 situations")
    trace = prove(data, Prove(register(adder(scale=25)).name)).trace
    assert trace[ClaimId("layer.memorizes")].level.value == "enclosed"
    assert trace[ClaimId("claimed.generates")].level.value == "refuted"


@pytest.mark.slow
def test_published_networks_on_all_inputs() -> None:
    script = runpy.run_path(str(ROOT / "benchmarks" / "networks_public.py"))
    verdicts = {row[0]: row[4:7] for row in script["rows"](script["CASES"])}
    level, _, after = verdicts.pop("adder of 36 parameters (ALiBi), a + 0")
    assert (level, after) == ("refuted", "after +4999999999+0000000000=0")
    assert all(level in ("proved", "enclosed") for level, *_ in verdicts.values())

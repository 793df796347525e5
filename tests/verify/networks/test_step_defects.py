"""Each claim about a finished network fires on a defect planted in its weights."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
from flint import fmpq, fmpq_mat

from attncert import Dataset, Prove, Request, prove
from attncert.constructions.layer import Head
from attncert.constructions.network.blocks import Attention, FeedForward
from attncert.constructions.network.network import Network
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.outputs import memorized as claims
from attncert.verify.outputs.within import certified
from attncert.verify.statements import goals, registry
from attncert.verify.statements.statements import step_claims
from attncert.verify.statements.states import Views

DATA = Dataset.of([[0, 0]], [[0, 0], [1, 0], [3, 1], [2, 5], [7, 7], [4, -1]], [1, 2, 2, 1, 5, 5])
CONTEXTS = Dataset.of([[[1], [2]], [[2], [3]], [[0], [3]], [[1], [1]]], [[1]] * 4, [1, 2, 3, -1])
LINES = ("relu", "two-layers", "bits")

Spoil = Callable[[Any], Any]  # a block, spoilt


def entry(name: str, i: int, j: int, change: Callable[[fmpq], Any]) -> Spoil:
    """One entry of a matrix changed."""

    def spoilt(block: Any) -> Any:
        rows = getattr(block, name).tolist()
        rows[i][j] = fmpq(change(rows[i][j]))
        return replace(block, **{name: fmpq_mat(rows)})

    return spoilt


def swapped(i: int, j: int, ahead: bool = True) -> Spoil:
    """Exchange two units: their weights and biases (ahead), or their rows in the readout."""

    def spoilt(block: FeedForward) -> FeedForward:
        if not ahead:
            rows = block.weights.tolist()
            rows[i], rows[j] = rows[j], rows[i]
            return replace(block, weights=fmpq_mat(rows))
        columns = block.weights.transpose().tolist()
        biases = block.bias.entries()
        for units in (columns, biases):
            units[i], units[j] = units[j], units[i]
        weights = fmpq_mat(columns).transpose()
        return replace(block, weights=weights, bias=fmpq_mat([biases]))

    return spoilt


def zero(block: FeedForward) -> FeedForward:
    return replace(block, weights=block.weights * fmpq(0))


def lifted(block: FeedForward) -> FeedForward:
    return replace(block, bias=block.bias + fmpq_mat(1, block.units, [50] * block.units))


def blind(block: Attention) -> Attention:
    (head,) = block.heads
    return replace(block, heads=(Head(head.key, head.query, head.value * fmpq(0)),))


def spoilt(built: Any, place: int, spoil: Spoil) -> Any:
    blocks = list(built.network.blocks)
    blocks[place] = spoil(blocks[place])
    return replace(built, network=Network(tuple(blocks)))


def refuted(name: str, data: Dataset, built: Any) -> dict[str, Claim]:
    steps: Any = registry.method(name).steps
    views = Views(data, built, built.network)
    claims = step_claims(steps, views, lambda part: nullcontext(), "")
    return {claim.id: claim for claim in claims if claim.level is Level.REFUTED}


# The construction, the block's number, the defect, and the steps that detect it.
DEFECTS = {
    "one position for all": [(x, 0, zero, "line") for x in LINES],
    "a knot beyond the next input": [("relu", 1, entry("bias", 0, 2, lambda b: b - 9), "hinges")],
    "a unit that is never off": [("relu", 1, entry("bias", 0, 3, lambda b: b + 99), "hinges")],
    "two units swapped": [("relu", 1, swapped(1, 4), "hinges")],
    "both units of a pair on": [("two-layers", 2, lifted, "halves")],
    "a threshold beyond its plane": [
        ("threshold-pairs", 0, entry("bias", 0, 0, lambda b: b - 2), "planes")
    ],
    "a plane turned": [("threshold-pairs", 0, entry("weights", 0, 0, lambda w: w - 99), "planes")],
    "thresholds of two planes swapped": [("threshold-pairs", 0, swapped(1, 3), "planes")],
    "a plane of all inputs": [("threshold-pairs", 0, zero, "planes")],
    "a bend moved": [("derivative-pairs", 0, entry("bias", 0, 0, lambda b: b + 1), "planes")],
    "a slope of another plane": [("derivative-pairs", 1, swapped(0, 1, ahead=False), "planes")],
    "a unit left out": [("derivative-pairs", 1, entry("weights", 2, 0, lambda w: 0), "planes")],
    "a tape with digit 2": [("bits", 3, entry("bias", 0, -1, lambda b: b * 2), "tapes")],
    "a tape that is not a whole number": [
        ("bits", 3, entry("bias", 0, -1, lambda b: b + fmpq(1, 2)), "tapes")
    ],
    "a tape below 0": [("bits", 3, entry("bias", 0, -1, lambda b: -b), "tapes")],
    "a step too late": [("bits", 1, entry("bias", 0, 1, lambda b: b + 99), "tapes")],
}  # fmt: skip


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_planted_defect_is_seen_by_its_step(defect: str) -> None:
    for name, place, spoil, step in DEFECTS[defect]:
        built = registry.method(name).build(DATA, Request())  # type: ignore[union-attr]
        assert refuted(name, DATA, built) == {}
        faults = refuted(name, DATA, spoilt(built, place, spoil))
        assert f"step.{step}" in faults, (name, place)
        witness = faults[f"step.{step}"].witness
        assert witness and set(witness["examples"]) <= set(range(DATA.T))


@pytest.mark.parametrize(
    ("place", "spoil", "step"),
    [
        (1, blind, "attention"),
        (2, zero, "line"),
        (3, swapped(0, 2), "hinges"),
        (3, entry("bias", 0, 1, lambda b: b - 99), "hinges"),
    ],
)
def test_a_defect_behind_attention_is_seen(place: int, spoil: Spoil, step: str) -> None:
    built = registry.method("attention-relu").build(CONTEXTS, Request())  # type: ignore[union-attr]
    assert refuted("attention-relu", CONTEXTS, built) == {}
    assert f"step.{step}" in refuted("attention-relu", CONTEXTS, spoilt(built, place, spoil))


@pytest.mark.parametrize("method", registry.network_methods(), ids=lambda method: method.name)
def test_a_wrong_output_is_seen_by_both_evaluations(method: Any) -> None:
    def checks(network: Network) -> list[Claim]:
        provenance = {"construction": method.name, "produced_by": {}}
        return [
            goals.Exact().concluded(Views(DATA, network, network)).claims[-1],
            *certified(DATA, network, exact=True, bounds={}, **provenance)[0],
        ]

    network = method.build(DATA, Request()).network
    assert [x.level for x in checks(network)] == [Level.PROVED] * 2
    *front, last = network.blocks
    off = Network((*front, entry("bias", 0, 0, lambda b: b + fmpq(1, 10**9))(last)))
    by_flint, by_checker = checks(off)
    assert by_flint.level is by_checker.level is Level.REFUTED
    assert by_flint.witness and by_flint.witness["reason"].startswith("not on 0, 1, 2, 3, 4, 5;")
    assert by_checker.witness == {"reason": "the output of example 0 is not its label"}


def test_where_the_two_evaluations_differ_it_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Claim.checked(ids.MEMORIZATION, "The outputs are the labels.", True)
    monkeypatch.setattr(goals, "limited", lambda *_: goals.Concluded([right]))
    method = registry.method("relu")
    built = spoilt(method.build(DATA, Request()), -1, zero)  # type: ignore[union-attr, call-arg, arg-type]
    registry.register(replace(method, name="off", steps={}, build=lambda *_: built))  # type: ignore[call-arg]
    proof = prove(DATA, Prove("off"))
    assert proof.standing is Level.UNDECIDED and proof.certificate is None
    assert proof.trace["network.recomputed"].level is Level.REFUTED


def test_equal_inputs_are_seen_whatever_their_order() -> None:
    pair = Dataset.of([[[1], [2]], [[2], [1]], [[1], [2]]], [[3], [3], [3]], [1, 2, 4])
    assert claims.distinct_inputs(pair).witness == {"examples": [0, 2]}
    shared = Dataset.of([[0]], [[1], [2], [1]], [1, 1, 2])
    assert claims.distinct_inputs(shared).witness == {"examples": [0, 2]}
    assert claims.distinct_inputs(DATA).level is Level.PROVED


def test_the_price_counts_what_is_written() -> None:
    weights = fmpq_mat([[fmpq(3, 4), 0], [0, -5]])
    network = Network((FeedForward(weights, fmpq_mat([[0, 1]]), activation="relu"),))
    data = Dataset.of([[0, 0]], [[1, 0], [0, 1], [0, 2]], [[1, 2], [3, 4], [1, 2]])
    assert claims.price(data, network).numbers == {
        "numbers stored": 6, "parameters": 3, "hidden units": 2, "blocks": 1,
        "bits of the longest": 5, "bits in all": 9, "bits that the labels hold": 3.0,
    }  # fmt: skip

"""Networks that memorize: a second evaluator finds them exact on any data, each step of each proof
holds for the finished weights, and every planted defect is detected."""

from __future__ import annotations

import copy
from fractions import Fraction
from itertools import pairwise
from math import isqrt
from typing import Any

import pytest
from support import memory_cases, networks
from support.memory_cases import blocks, dataset, wrong

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails, InputError
from attncert.constructions.network import (
    attention_relu,
    bits,
    derivative_pairs,
    relu,
    retrieval,
    threshold_pairs,
    two_layers,
)

OF_INPUTS = {
    "relu": relu,
    "threshold-pairs": threshold_pairs,
    "derivative-pairs": derivative_pairs,
    "two-layers": two_layers,
    "bits": bits,
}
BUILDERS = OF_INPUTS | {"attention-relu": attention_relu}
FEW, MANY = range(60), range(1000, 1400)
SEEDS = [pytest.param(FEW, id="few"), pytest.param(MANY, id="many", marks=pytest.mark.slow)]


def fractions(entries: Any) -> list[Fraction]:
    return [Fraction(int(x.p), int(x.q)) for x in entries]


def vectors(record: Any) -> list[list[Fraction]]:
    return [fractions(row) for row in record.inputs.vectors.tolist()]


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("name", BUILDERS)
def test_every_output_is_its_label_or_two_examples_say_why_not(name: str, seeds: range) -> None:
    refused = 0
    for seed in seeds:
        data = dataset(seed)
        try:
            network = BUILDERS[name].build(data, seed=seed).network
        except HypothesisFails as error:
            refused += 1
            assert error.hypothesis == "distinct-inputs" and error.decided
            s, t = error.witness["examples"]
            a, b = (memory_cases.inputs(data, name == "attention-relu")[x] for x in (s, t))
            assert a == b or (data.ragged and a[0] == b[0] and name in OF_INPUTS), seed
            assert data.labels.strings()[s] != data.labels.strings()[t]
            continue
        assert wrong(blocks(network), data) == [], (name, seed)
    assert 0 < refused < len(seeds) / 2


@pytest.mark.parametrize("name", BUILDERS)
def test_equal_queries_in_other_contexts(name: str) -> None:
    data = Dataset.of([[[1], [2]], [[2], [3]], [[0], [3]]], [[1]] * 3, [1, 2, 3])
    record = BUILDERS[name].build(data)
    assert wrong(blocks(record.network), data) == []
    if name in OF_INPUTS:
        assert record.inputs.of == record.network.blocks[0].of == "row"


@pytest.mark.parametrize("name", OF_INPUTS)
def test_the_query_is_the_input_where_it_suffices(name: str) -> None:
    """Equal queries with equal labels count once, even if their contexts differ in length."""
    data = Dataset.of([[[1]], [[2], [1]], [[0]]], [[1], [1], [3]], [1, 1, 3])
    inputs = BUILDERS[name].build(data).inputs
    assert (inputs.of, inputs.examples) == ("query", (0, 2))


@pytest.mark.parametrize("name", BUILDERS)
def test_a_defect_is_seen(name: str) -> None:
    """A wrong weight in the readout is detected unless its unit is 0 on all examples. A wrong bias
    is always detected in the readout, and for some units in every earlier block."""
    data = Dataset.of([[[1], [2]], [[2], [3]], [[0], [3]], [[1], [1]]], [[1]] * 4, [1, 2, 3, -1])
    network = blocks(BUILDERS[name].build(data).network)
    units = networks.outputs(network[:-1], data.canonical())
    active = [any(column) for column in zip(*units, strict=True)]
    assert wrong(network, data) == [] and any(active)
    rows = len(network[-1]["weights"])
    assert [spoilt(network, data, -1, "weights", j, 0) for j in range(rows)] == active
    assert spoilt(network, data, -1, "bias", 0)
    for place, block in enumerate(network):
        if block["kind"] == "feed-forward":
            biases = range(len(block["bias"]))
            assert any(spoilt(network, data, place, "bias", j) for j in biases), place


def spoilt(network: list[Any], data: Dataset, place: int, key: str, j: int, *k: int) -> bool:
    """Whether adding five to this entry is detected: `bits` tolerates positions that are off by
    one."""
    other = copy.deepcopy(network)
    row, last = (other[place][key][j], *k) if k else (other[place][key], j)
    row[last] += 5
    return wrong(other, data) != []


# The steps of the proofs.


def test_one_relu_for_each_input_with_knots_at_the_data() -> None:
    record = relu.build(Dataset.of([[0]], [[3], [5], [9], [3]], [1, 2, 5, 1]))
    s = fractions(record.line.positions)
    bias = fractions(record.network.blocks[1].bias.entries())
    assert bias == [1 - s[0], *(-x for x in s[:-1])] and record.network.units == 3


def test_an_input_that_has_a_plane_is_foreign_to_the_next_one() -> None:
    """The first two inputs share a line; the line through the next two contains the very first."""
    points = [[0, 0], [1, 0], [1, 1], [2, 2], [0, 5], [3, 7], [7, 3], [9, 1], [-4, 6]]
    data = Dataset.of([[0, 0]], points, [1] * 4 + [0] * 5)
    record = threshold_pairs.build(data)
    assert wrong(blocks(record.network), data) == []
    assert [plane.members for plane in record.planes] == [(0, 1), (2,), (3,)]


@pytest.mark.parametrize("build", [threshold_pairs.build, derivative_pairs.build])
def test_inputs_that_a_prime_confuses(build: Any) -> None:
    """Two inputs are equal modulo the prime, or an input is on the line through two others over
    ℚ."""
    points = [[0, 0], [2147483579, 0], [1, 0], [2, 3], [5, -1]]
    data = Dataset.of([[0, 0]], points, [1, 0, 1, 0, 0])
    record = build(data)
    assert wrong(blocks(record.network), data) == []
    assert record.planes[0].members == (0,)


def test_general_position_has_the_fewest_groups() -> None:
    points = [[t, t**2, t**3] for t in range(-4, 5)]
    data = Dataset.of([[0, 0, 0]], points, [0, 1, 0, 1, 0, 1, 0, 0, 1])
    for build, groups, units in ((threshold_pairs.build, 2, 4), (derivative_pairs.build, 3, 12)):
        record = build(data)
        assert (len(record.planes), record.fewest) == (groups, groups)
        assert record.network.units == units


def test_collinear_inputs_have_a_plane_each_where_labels_differ() -> None:
    data = Dataset.of([[0, 0]], [[t, 2 * t] for t in range(6)], [t % 3 for t in range(6)])
    assert len(derivative_pairs.build(data).planes) == 6
    assert len(threshold_pairs.build(data).planes) == 4


def test_two_layers_have_few_units() -> None:
    for T, m in ((1, 1), (9, 1), (100, 1), (48, 3)):
        data = Dataset.of([[0]], [[t * t] for t in range(T)], [[t * j % 7 - 3 for j in range(m)]
                          for t in range(1, T + 1)])  # fmt: skip
        record = two_layers.build(data)
        assert wrong(blocks(record.network), data) == []
        length = max(1, isqrt(T // m))
        groups = -(-T // length)
        first, second = (block.units for block in record.network.blocks[1:3])
        assert first <= 2 * groups - 1 and second == 2 * length * m
        assert record.network.units <= 4 * (T * m) ** 0.5 + 2 * m + 1


@pytest.mark.slow
def test_bits_come_off_the_tape() -> None:
    data = Dataset.of([[0]], [[t] for t in range(400)], [t * t % 7 for t in range(400)])
    record = bits.build(data)
    assert (len(record.groups), record.label_bits) == (135, 3)
    states = [state.queries.tolist() for state in record.network.states(data)]
    stored = sorted(int(s.floor()) for s, _ in states[4])
    assert all(b - a >= 3 for a, b in pairwise(stored))
    assert stored[-1].bit_length() == record.position_bits
    tapes = 2 * (record.position_bits + record.label_bits) * record.groups[1]
    assert all(x >= 0 for state in states[1:] for row in state for x in row)
    later = [x for b in record.network.blocks[5:-1] for m in b.matrices for x in m.entries()]
    assert max(int(x.p).bit_length() + int(x.q).bit_length() for x in later) < 9
    assert record.network.longest <= tapes + 6
    assert [row for row in states[-1]] == data.label_matrix.tolist()


@pytest.mark.slow
def test_bits_overtake_the_hidden_layer() -> None:
    data = Dataset.of([[0]], [[t] for t in range(3000)], [t * t % 3 for t in range(3000)])
    long, flat = bits.build(data).network, relu.build(data).network
    assert long.parameters < flat.parameters / 2 and long.bits < 4 * flat.bits


def test_attention_reads_the_context() -> None:
    """Token means agree, but frequencies do not; neither queries nor contexts alone distinguish the
    examples."""
    contexts = [[[-1], [1]], [[0], [0]], [[-2], [2]], [[0], [0]]]
    data = Dataset.of(contexts, [[1], [1], [1], [2]], [1, 2, "1/3", 4])
    record = attention_relu.build(data)
    assert wrong(blocks(record.network), data) == []
    (head,) = record.network.blocks[1].heads
    (u,) = map(int, head.value.entries())
    assert head.key.entries() == [u]  # the factor is 1
    *_, states = [x.queries.tolist() for x in record.network.states(data)][:3]
    for (e, one, z), context, query in zip(states, contexts, [1, 1, 1, 2], strict=True):
        weights = [Fraction(2) ** (u * x) for (x,) in context]
        mean = sum(w * u * x for w, (x,) in zip(weights, context, strict=True)) / sum(weights)
        assert (e, one, Fraction(int(z.p), int(z.q))) == (query, 1, mean)


def test_long_numbers_in_contexts_leave_the_search_undecided() -> None:
    data = Dataset.of([[[-(2**60)], [2**60]], [[0], [0]]], [[1], [1]], [1, 2])
    with pytest.raises(HypothesisFails, match="logits up to 4096") as error:
        attention_relu.build(data)
    assert not error.value.decided


# Retrieval.


def test_what_retrieval_may_be_and_may_not_be() -> None:
    zero = retrieval.build(Dataset.of([[0]], [[-1], [0], [1]]))
    assert zero.gaps[1] == 0 and zero.network.enclosures(zero.data)[1, 0].contains(0)
    alone = retrieval.build(Dataset.of([[0]], [[3], [3]]))
    assert alone.gaps == (None,) and alone.network.outputs(alone.data).entries() == [3]
    assert alone.bounds()[0].is_zero()
    for beta in (0, -1, "x", None, [1]):
        with pytest.raises(InputError, match="beta"):
            retrieval.build(Dataset.of([[0]], [[3]]), beta=beta)

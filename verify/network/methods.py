"""The constructions of networks: one record each."""

from __future__ import annotations

from collections.abc import Iterator

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network import (
    attention_relu,
    bits,
    derivative_pairs,
    relu,
    retrieval,
    threshold_pairs,
    two_layers,
)
from attncert.constructions.network.attention_relu import AttentionNetwork
from attncert.constructions.network.bits import BitsNetwork
from attncert.constructions.network.derivative_pairs import DerivativePairs
from attncert.constructions.network.inputs import LineNetwork
from attncert.constructions.network.planes import PlaneNetwork
from attncert.constructions.network.two_layers import TwoLayers
from attncert.verify.claims.evidence import Claim
from attncert.verify.methods.names import RETRIEVAL
from attncert.verify.network import growth, steps
from attncert.verify.network.method import NetworkMethod, Part, query_and_frequencies

_PROJECTION = Part(1, "It projects each input to its position on a line.")
_HINGES = Part(1, "One ReLU for each input, with its knot at the input before it.")
_READOUT = Part(1, "It reads the labels off.")


def _relu_steps(data: Dataset, built: LineNetwork) -> Iterator[Claim]:
    rows = steps.rows_behind(data, built.network)
    yield steps.line(rows[1], built.inputs)
    yield steps.hinges(rows[1], rows[2], built.inputs)


def _two_layers_steps(data: Dataset, built: TwoLayers) -> Iterator[Claim]:
    rows = steps.rows_behind(data, built.network)
    yield steps.line(rows[1], built.inputs)
    yield steps.halves(rows[3])


def _threshold_steps(data: Dataset, built: PlaneNetwork) -> Iterator[Claim]:
    if built.planes:
        yield steps.thresholds(steps.rows_behind(data, built.network)[1], built, data)


def _derivative_steps(data: Dataset, built: DerivativePairs) -> Iterator[Claim]:
    yield steps.derivatives(steps.rows_behind(data, built.network)[1], built, data)


def _bits_steps(data: Dataset, built: BitsNetwork) -> Iterator[Claim]:
    rows = steps.rows_behind(data, built.network)
    yield steps.line(rows[1], built.inputs)
    yield steps.tapes(rows[4], built)


def _attention_steps(data: Dataset, built: AttentionNetwork) -> Iterator[Claim]:
    rows = steps.rows_behind(data, built.network)
    yield steps.told_apart(rows[2], data)
    yield steps.line(rows[3], built.reading.inputs)
    yield steps.hinges(rows[3], rows[4], built.reading.inputs)


def _threshold_parts(built: PlaneNetwork) -> list[Part]:
    pairs = Part(1, "Two thresholds for each plane: their difference is 1 at its inputs alone.")
    return [pairs, _READOUT] if built.planes else [_READOUT]


def _bits_parts(built: BitsNetwork) -> list[Part]:
    return [
        _PROJECTION,
        Part(3, "Steps over the groups: they put the tape of its own group behind each position."),
        Part(
            built.network.depth - 5,
            "They take one bit after the other off the tape, and let the label through whose "
            "position is that of the input.",
        ),
        _READOUT,
    ]


METHODS = (
    NetworkMethod(
        name="relu",
        title="one hidden layer of ReLUs",
        theorem="after Zhang, Bengio, Hardt, Recht and Vinyals (2017), Theorem 1",
        source="constructions/network/relu.py",
        build=lambda data, seed: relu.build(data, seed=seed),
        growth=growth.relu,
        steps=_relu_steps,
        parts=lambda built: [_PROJECTION, _HINGES, _READOUT],
    ),
    NetworkMethod(
        name="threshold-pairs",
        title="thresholds in pairs",
        theorem="after Baum (1988), here for any labels",
        source="constructions/network/threshold_pairs.py",
        build=lambda data, seed: threshold_pairs.build(data, seed=seed),
        growth=growth.threshold_pairs,
        steps=_threshold_steps,
        parts=_threshold_parts,
    ),
    NetworkMethod(
        name="derivative-pairs",
        title="derivative pairs",
        theorem="after Bubeck, Eldan, Lee and Mikulincer (2020)",
        source="constructions/network/derivative_pairs.py",
        build=lambda data, seed: derivative_pairs.build(data, seed=seed),
        growth=growth.derivative_pairs,
        steps=_derivative_steps,
        parts=lambda built: [
            Part(
                1,
                "ReLUs for each plane: their differences are an affine map at its inputs, and 0 "
                "at all others.",
            ),
            _READOUT,
        ],
    ),
    NetworkMethod(
        name="two-layers",
        title="two hidden layers of ReLUs",
        theorem="after Yun, Sra and Jadbabaie (2019), Theorem 3.1",
        source="constructions/network/two_layers.py",
        build=lambda data, seed: two_layers.build(data, seed=seed),
        growth=growth.two_layers,
        steps=_two_layers_steps,
        parts=lambda built: [
            _PROJECTION,
            Part(1, "ReLUs that bend in the gaps between groups of inputs."),
            Part(1, "The terms of all groups at once, each as the difference of two ReLUs."),
            _READOUT,
        ],
    ),
    NetworkMethod(
        name="bits",
        title="a deep network with long numbers",
        theorem="in the spirit of Park, Lee, Yun and Shin (2021) and Vardi, Yehudai and Shamir "
        "(2022)",
        source="constructions/network/bits.py",
        build=lambda data, seed: bits.build(data, seed=seed),
        growth=growth.bits,
        steps=_bits_steps,
        parts=_bits_parts,
    ),
    NetworkMethod(
        name="attention-relu",
        title="attention, then ReLUs",
        theorem="after Kajitsuka and Sato (2024)",
        source="constructions/network/attention_relu.py",
        build=lambda data, seed: attention_relu.build(data, seed=seed),
        growth=growth.attention_relu,
        steps=_attention_steps,
        parts=lambda built: [
            Part(1, "It appends 1 and 0 to the query."),
            Part(1, "One head of width one: it puts a mean of the context in the place of the 0."),
            _PROJECTION,
            _HINGES,
            _READOUT,
        ],
        sees=query_and_frequencies,
    ),
    NetworkMethod(
        name=RETRIEVAL,
        title="retrieval of patterns",
        theorem="after Ramsauer et al. (2021), modern Hopfield networks",
        source="constructions/network/retrieval.py",
        build=lambda data, seed: retrieval.build(data),
        steps=lambda data, built: (),
        parts=lambda built: [
            Part(
                1,
                "A mean of the patterns, which weighs each by its product with the query. They are "
                "its context, and no parameters.",
            )
        ],
        retrieves=True,
    ),
)

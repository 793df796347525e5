"""Steps of the proofs of networks, checked on the finished weights: on the queries between blocks.

The derivations stand above the builders, in constructions/network. Each step is given the data,
what was built, and the queries before the first block and after each; one that fails is refuted,
with the examples that show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import fmpq, fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.bits import BitsNetwork
from attncert.constructions.network.inputs import LineNetwork
from attncert.constructions.network.planes import PlaneNetwork
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import OVER_Q, Claim
from attncert.verify.claims.words import counted
from attncert.verify.network.method import Rows


def line(data: Dataset, built: LineNetwork, rows: Sequence[Rows]) -> Claim:
    inputs = built.inputs.examples
    positions = {tuple(rows[built.front + 1][t]) for t in inputs}
    return _step(
        "line",
        f"The projection puts {counted(len(inputs), 'different input', 'the')} at as many "
        "positions on a line.",
        [] if len(positions) == len(inputs) else inputs,
        {"inputs": len(inputs)},
    )


def hinges(data: Dataset, built: LineNetwork, rows: Sequence[Rows]) -> Claim:
    positions, after = rows[built.front + 1 : built.front + 3]
    order = sorted(built.inputs.examples, key=lambda t: positions[t][0])
    wrong = [
        t
        for place, t in enumerate(order, 1)
        if [x > 0 for x in after[t]] != [j < place for j in range(len(after[t]))]
    ]
    return _step(
        "hinges",
        "In the order of positions, input number j has exactly the first j hidden units above 0: "
        "their values are a triangular matrix, from which any labels are read off.",
        wrong,
        {"hidden units": len(after[0])},
    )


def halves(data: Dataset, built: LineNetwork, rows: Sequence[Rows]) -> Claim:
    """The second layer has two units for each term."""
    wrong = [
        t
        for t, row in enumerate(rows[3])
        if any(x and y for x, y in zip(row[::2], row[1::2], strict=True))
    ]
    return _step(
        "halves",
        "Of each pair of units of the second layer at most one is above 0 at each input: the "
        "difference of a pair is the term before the ReLUs.",
        wrong,
        {"pairs": len(rows[3][0]) // 2},
    )


def planes(data: Dataset, built: PlaneNetwork, rows: Sequence[Rows]) -> Claim | None:
    """Equally many units for each plane. Nothing, where one label has no planes."""
    if not built.planes:
        return None
    readout: Any = built.network.blocks[-1]
    everywhere = fmpq_mat(data.T, 1, [1] * data.T) * readout.bias
    share, labels = len(rows[1][0]) // len(built.planes), data.label_matrix - everywhere
    outputs, targets, wrong = readout.weights.tolist(), labels.tolist(), list[int]()
    unserved = {t for t, target in enumerate(targets) if any(target)}
    for g in range(len(built.planes)):
        own = slice(g * share, (g + 1) * share)
        part = fmpq_mat([row[own] for row in rows[1]]) * fmpq_mat(outputs[own])
        for t, output in enumerate(part.tolist()):
            if output == targets[t]:
                unserved.discard(t)
            elif any(output):
                wrong.append(t)
    return _step(
        "planes",
        "The units of each plane add up to the label at its members, less what the readout adds "
        "everywhere, and to 0 at all other inputs.",
        [*wrong, *unserved],
        _planes(built),
    )


def tapes(data: Dataset, built: BitsNetwork, rows: Sequence[Rows]) -> Claim:
    """The fourth block makes position and tape."""
    groups, length = len(built.groups) - 1, built.groups[1]
    digits = built.position_bits + built.line.outputs * built.label_bits
    wrong = []
    for place, t in enumerate(built.line.order):
        example = built.inputs.examples[t]
        position, tape = rows[4][example]
        start = place % length * digits
        stored = _in_base_4(tape, length * digits)[start : start + built.position_bits]
        if stored != f"{int(position.floor()):0{built.position_bits}b}":
            wrong.append(example)
    return _step(
        "tapes",
        "After the steps each input has its position and the tape of its group, a number whose "
        "digits in base 4 are bits, and the position is on the tape; there "
        f"{'is' if groups == 1 else 'are'} {counted(groups, 'group')}.",
        wrong,
        {
            "groups": groups,
            "bits of a position": built.position_bits,
            "bits of a label": built.label_bits,
        },
    )


def told_apart(data: Dataset, built: LineNetwork, rows: Sequence[Rows]) -> Claim:
    """The attention makes (e, 1, z)."""
    first: dict[tuple[fmpq, ...], int] = {}
    labels = data.labels.strings()
    wrong = [
        t for t, row in enumerate(rows[2]) if labels[first.setdefault(tuple(row), t)] != labels[t]
    ]
    return _step(
        "attention",
        "After the attention examples with different labels have different queries: what it "
        "appends tells contexts apart.",
        wrong,
        {"different queries": len(first)},
    )


def _planes(built: PlaneNetwork) -> dict[str, int]:
    return {
        "planes": len(built.planes),
        "planes in general position": built.fewest,
        "inputs on the fullest": max((len(x.members) for x in built.planes), default=0),
    }


def _in_base_4(number: fmpq, length: int) -> str:
    """Its digits, if these are so many bits; else ""."""
    if number.q != 1 or not 0 <= number < 4**length:
        return ""
    pairs = f"{int(number.p):0{2 * length}b}"
    return "" if "1" in pairs[::2] else pairs[1::2]


def _step(name: str, statement: str, wrong: Sequence[int], numbers: dict[str, int]) -> Claim:
    return Claim.checked(
        ids.of_network(name),
        statement,
        not wrong,
        {"examples": sorted(set(wrong))[:12]},
        numbers=numbers,
        arithmetic=OVER_Q,
    )

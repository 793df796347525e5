"""Few parameters and long numbers, whose digits hold the labels (ours; in the spirit of Vardi,
Yehudai, Shamir 2022 and Park, Lee, Yun, Shin 2021; the code in base 4 is that of Siegelmann and
Sontag 1995).

*Stored numbers.* The positions s on a line, the first at 0, are scaled by a power of two so that
their gaps are 3 or more; ⌊s⌋ has B bits. Labels minus their minima, times their common denominator,
are m whole numbers of β bits. The line is cut into G groups of at most L positions. A group's tape
is the string of these N = L(B + mβ) bits, one input after another and padded with zeros, read in
base 4: b_1 4^(N-1) + b_2 4^(N-2) + ... + b_N.

*The tape of an input's group.* relu(1 - relu(k + 1 - s)) with k = ⌊s_last⌋ + 1 is 0 up to the last
position of a group and 1 from the next group on, for s_last ≤ k and k + 1 < s_last + 3. So the
first tape plus the sum of these steps times the tapes' differences is the tape of its group.

*One bit.* Multiplied by 6/4^N, the tape is t = 6(b_1/4 + b_2/16 + ...). The bits after the first
add at most 6(1/16 + 1/64 + ...) = 1/2: t ≤ 1/2 if b_1 = 0, else t ≥ 3/2. So b_1 and the rest are

    b_1 = relu(t - 1/2) - relu(t - 3/2)   and   4t - 6 b_1.

Every weight after the first, 6/4^N, is short. (In base 2, each bit would be compared with a number
as long as the tape: that takes N²/2 bits for each of the three comparisons.)

*The position on the tape.* Let x be a position read off the tape. |s - x| < 1 if x belongs to the
input, otherwise |s - x| > 2: positions are at least 3 apart, and rounding down moves them by less
than 1. So

    far = relu(s - x - 1) + relu(x - s - 1)

is 0 or more than 1, and relu(y - 2^β·far) is the label y < 2^β of the input itself, and 0 for all
other inputs (padding has label 0). Their sum over the tape is the label.

The G steps have about 5G parameters, and each bit of L inputs needs about 15 more. If L is near
√(K/3(B + mβ)), both the parameters and the depth are O(√(K(B + mβ))). There are 2K(B + mβ) bits on
the tapes, B for each step, and a few for each other parameter. B is at least log₂ K, and near 2
log₂ K for a random direction of the line.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import Any

from flint import fmpq, fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.blocks import Block, FeedForward
from attncert.constructions.network.inputs import Inputs, Line, LineNetwork, differences
from attncert.constructions.network.network import Network

Form = dict[str, Any]  # coefficients of previous units by name; "1" is the constant


@dataclass(frozen=True, kw_only=True)
class BitsNetwork(LineNetwork):
    """The network, the places on the line where its groups begin or end, and B and β."""

    groups: tuple[int, ...]
    position_bits: int
    label_bits: int


def build(data: Dataset | Inputs, seed: int = 0) -> BitsNetwork:
    """A deep, narrow ReLU network. Arithmetic: exact. Raises HypothesisFails unless labels are a
    function of inputs.

    >>> data = Dataset.of([[0]], [[1], [4], [2], [7]], ["1/2", 3, -5, 0])
    >>> build(data).network.outputs(data).entries()
    [1/2, 3, -5, 0]
    """
    line = Line.of(data, seed)
    low, scale = line.positions[0], _scale(line)
    stored = tuple(int(((s - low) * scale).floor()) for s in line.positions)
    minima, unit, labels = _whole_labels(line)
    position_bits = max(1, stored[-1].bit_length())
    label_bits = max(1, *(y.bit_length() for row in labels for y in row))
    widths = {"x": position_bits} | {f"y{j}": label_bits for j in range(line.outputs)}
    digits = sum(widths.values())
    length = max(1, isqrt(len(stored) // (3 * digits)))
    groups = (*range(0, len(stored), length), len(stored))
    strings = [
        "".join(f"{x:0{width}b}" for x, width in zip((s, *row), widths.values(), strict=True))
        for s, row in zip(stored, labels, strict=True)
    ]
    tapes = [
        int("".join(strings[start:stop]).ljust(length * digits, "0"), 4)
        for start, stop in pairwise(groups)
    ]
    project = FeedForward(line.a * scale, fmpq_mat(1, 1, [-low * scale]), line.inputs.of)
    layers = _Layers([project], ["s"])
    _own_tape(layers, [stored[stop - 1] + 1 for stop in groups[1:-1]], tapes)
    sums = _sum_of_labels(layers, length, widths, fmpq(6, 4 ** (length * digits)))
    outputs = {y: {name: unit * c for name, c in form.items()} for y, form in sums.items()}
    for form, least in zip(outputs.values(), minima, strict=True):
        form["1"] = least
    layers.add(outputs, "identity")
    return BitsNetwork(
        network=Network(tuple(layers.blocks)),
        line=line,
        groups=groups,
        position_bits=position_bits,
        label_bits=label_bits,
    )


class _Layers:
    """A list of blocks under construction, with the names of the units of the last block."""

    def __init__(self, blocks: list[Block], names: list[str]) -> None:
        self.blocks, self.names = blocks, names

    def add(self, units: dict[str, Form], activation: str = "relu") -> None:
        """Append a block of these units. Each reads the previous units that its form names."""
        forms = units.values()
        weights = [[form.get(name, 0) for form in forms] for name in self.names]
        bias = [[form.get("1", 0) for form in forms]]
        block = FeedForward(fmpq_mat(weights), fmpq_mat(bias), activation=activation)
        self.blocks.append(block)
        self.names = list(units)


def _own_tape(layers: _Layers, knots: list[int], tapes: list[int]) -> None:
    """Add blocks that compute "s" and the integer "tape" from the unit "s"."""
    steps = {f"step{g}": knot for g, knot in enumerate(knots)}
    layers.add({"s": {"s": 1}} | {g: {"1": k + 1, "s": -1} for g, k in steps.items()})
    layers.add({"s": {"s": 1}} | {g: {"1": 1, g: -1} for g in steps})
    changes = [b - a for a, b in pairwise(tapes)]
    layers.add({"s": {"s": 1}, "tape": {"1": tapes[0]} | dict(zip(steps, changes, strict=True))})


def _sum_of_labels(
    layers: _Layers, length: int, widths: dict[str, int], shift: fmpq
) -> dict[str, Form]:
    """The label of each input, as forms of the last block's units."""
    position, labels = next(iter(widths)), list(widths)[1:]
    bound = 2 ** widths[labels[0]]
    forms: dict[str, Form] = {"s": {"s": 1}, "tape": {"tape": shift}}
    for _ in range(length):
        for register, width in widths.items():
            for _ in range(width):
                forms = _bit(layers, forms, register)
        x = forms.pop(position)
        ahead = {"1": -1, "s": 1} | {name: -c for name, c in x.items()}
        behind = {"1": -1, "s": -1} | x
        layers.add(forms | {"ahead": ahead, "behind": behind})
        forms = {name: {name: 1} for name in forms}
        far = {"ahead": -bound, "behind": -bound}
        layers.add(forms | {y: {y: 1} | far for y in labels})
        sums = {f"sum of {y}": {f"sum of {y}": 1, y: 1} for y in labels}
        forms = {"s": {"s": 1}, "tape": {"tape": 1}} | sums
    return sums


def _bit(layers: _Layers, forms: dict[str, Form], register: str) -> dict[str, Form]:
    """Move the next bit from the tape to the register. Returns the forms after one block."""
    tape = forms["tape"]
    high = tape | {"1": fmpq(-1, 2)}
    low = tape | {"1": fmpq(-3, 2)}
    layers.add(forms | {"high": high, "low": low})
    later = {name: {name: 1} for name in forms}
    later["tape"] = {"tape": 4, "high": -6, "low": 6}
    later[register] = {register: 2, "high": 1, "low": -1}
    return later


def _scale(line: Line) -> fmpq:
    """The least power of two that makes all gaps 3 or more; 1 if there are none."""
    gap = min(differences(line.positions), default=fmpq(3))
    power = fmpq(2) ** (int(gap.q).bit_length() - int(gap.p).bit_length())
    while gap * power < 3:
        power *= 2
    return power


def _whole_labels(line: Line) -> tuple[list[fmpq], fmpq, list[list[int]]]:
    """Minima, unit and integers such that labels are minima + unit · integers."""
    minima = [min(column) for column in zip(*line.labels, strict=True)]
    above = fmpq_mat([[y - low for y, low in zip(row, minima, strict=True)] for row in line.labels])
    numerators, denominator = above.numer_denom()
    return minima, fmpq(1, denominator), [list(map(int, row)) for row in numerators.tolist()]

"""The hypothesis of the constructions that memorize with a network, and the steps of their proofs.

The hypothesis is that inputs which a network cannot tell apart have the same label. The steps are
checked on the queries between the finished blocks. The derivations are given with the builders in
constructions/network.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from typing import Any

from flint import fmpq, fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.network.inputs import firsts
from attncert.constructions.numerals import short
from attncert.verify.outputs.enclosure import decimal
from attncert.verify.statements.statements import Hypothesis, Step
from attncert.verify.statements.states import View

Relations = Iterator[Any]

# Hypotheses.


def _one_label(sees: Callable[[Dataset, int], Hashable], what: str) -> Hypothesis:
    """sees: returns the part of example t that a network of the construction can see. what: this
    part in words."""

    def relations(data: Dataset) -> Relations:
        labels = data.label_matrix.tolist()
        for t, first in enumerate(firsts([sees(data, t) for t in range(data.T)])):
            yield labels[t], "==", labels[first], first, t

    return Hypothesis(
        f"Examples with the same {what} have the same label.",
        relations,
        where=("example", "and example", "entry"),
        source="docs/networks.md",
    )


def _query_and_tokens(data: Dataset, t: int) -> Hashable:
    """The query and its tokens in order, or only the query if the contexts differ in length, since
    a network that reads all tokens as one row needs contexts of equal length."""
    tokens = [] if data.shared or data.ragged else data.rows(t).strings()
    return repr((data.queries[t].strings(), tokens))


def _query_and_frequencies(data: Dataset, t: int) -> Hashable:
    """The query, and each distinct token with its share of the context."""
    tokens = Counter(map(tuple, data.rows(0 if data.shared else t).strings()))
    shares = sorted((x, Fraction(count, tokens.total())) for x, count in tokens.items())
    return repr((data.queries[t].strings(), shares))


READ_IN_A_ROW = _one_label(_query_and_tokens, "query, and the same tokens in the same order,")
READ_BY_ATTENTION = _one_label(
    _query_and_frequencies, "query, and the same tokens in the same proportions,"
)


# Steps.


def _on_a_line(at: View) -> Relations:
    positions = at.query[at.built.front + 1]
    first: dict[tuple[Any, ...], int] = {}
    for t in at.built.inputs.examples:
        yield first.setdefault(tuple(positions[t]), t), "==", t, t
    yield {"inputs": len(at.built.inputs.examples)}


def _first_units(at: View) -> Relations:
    front = at.built.front
    positions, after = at.query[front + 1], at.query[front + 2]
    order = sorted(at.built.inputs.examples, key=lambda t: positions[t][0])
    for place, t in enumerate(order, 1):
        yield [x > 0 for x in after[t]], "==", [j < place for j in range(len(after[t]))], t
    yield {"hidden units": len(after[0])}


def _one_of_each_pair(at: View) -> Relations:
    rows = at.query[3]
    for t, row in enumerate(rows):
        pairs = zip(row[::2], row[1::2], strict=True)
        yield [x * y for x, y in pairs], "==", 0, t
    yield {"pairs": len(rows[0]) // 2}


def _labels_of_planes(at: View) -> Relations:
    """The output of the units of a plane is 0 or the label, and each label is the output of a
    plane. All planes have the same number of units."""
    planes, rows = at.built.planes, at.query[1]
    readout: Any = at.network.blocks[-1]
    everywhere = fmpq_mat(at.data.T, 1, [1] * at.data.T) * readout.bias
    targets = (at.data.label_matrix - everywhere).tolist()
    share, outputs = len(rows[0]) // max(1, len(planes)), readout.weights.tolist()
    served = [not any(target) for target in targets]
    for g in range(len(planes)):
        own = slice(g * share, (g + 1) * share)
        part = fmpq_mat([row[own] for row in rows]) * fmpq_mat(outputs[own])
        for t, output in enumerate(part.tolist()):
            served[t] |= output == targets[t]
            if any(output):
                yield output, "==", targets[t], t
    yield served, "==", True
    yield {
        "planes": len(planes),
        "planes in general position": at.built.fewest,
        "inputs on the fullest": max((len(x.members) for x in planes), default=0),
    }


def _own_tape(at: View) -> Relations:
    """The fourth block outputs the position and the tape that contains it."""
    built, rows = at.built, at.query[4]
    groups, length = len(built.groups) - 1, built.groups[1]
    digits = built.position_bits + built.line.outputs * built.label_bits
    for place, t in enumerate(built.line.order):
        example = built.inputs.examples[t]
        position, tape = rows[example]
        start = place % length * digits
        stored = _in_base_4(tape, length * digits)[start : start + built.position_bits]
        yield int(stored or "-1", 2 if stored else 10), "==", position.floor(), example
    yield {
        "groups": groups,
        "bits of a position": built.position_bits,
        "bits of a label": built.label_bits,
    }


def _separated_by_attention(at: View) -> Relations:
    """The attention outputs (e, 1, z); examples with different labels have different queries."""
    labels, rows = at.labels, [tuple(row) for row in at.query[2]]
    for t, first in enumerate(firsts(rows)):
        yield labels[t], "==", labels[first], t
    yield {"different queries": len(set(rows))}


def _behind_by_its_gap(at: View) -> Relations:
    """The ratio p_j / p_i is e to the power of the difference of the logits, which are exact."""
    block: Any = at.network.blocks[0]
    d, (head,), gaps = at.data.d, block.heads, at.built.gaps
    yield head.value * block.output, "==", fmpq_mat(d, d, [i % (d + 1) == 0 for i in range(d * d)])
    for i, (logits, gap) in enumerate(zip(at.logits(), gaps, strict=True)):
        own = logits.pop(i)
        if gap is not None:
            yield [x + at.built.beta * gap for x in logits], "<=", own, i
    yield {
        "separated": sum(gap is None or gap > 0 for gap in gaps),
        "gaps": [None if gap is None else short(gap) for gap in gaps],
        "bounds": [decimal(x.upper(), up=True) for x in at.built.bounds()],
    }


def _in_base_4(number: fmpq, length: int) -> str:
    """The digits in base 4 if there are at most `length` and all are 0 or 1; otherwise ""."""
    if number.q != 1 or not 0 <= number < 4**length:
        return ""
    pairs = f"{int(number.p):0{2 * length}b}"
    return "" if "1" in pairs[::2] else pairs[1::2]


_AT_AN_EXAMPLE = ("example", "entry")

LINE = Step(
    "The projection puts different inputs at different positions on a line.",
    _on_a_line,
    rests_on=("distinct-inputs",),
    where=("example",),
)
HINGES = Step(
    "In the order of positions, input number j has exactly the first j hidden units above 0: their "
    "values are a triangular matrix, from which any labels are read off.",
    _first_units,
    rests_on=("line",),
    where=_AT_AN_EXAMPLE,
)
HALVES = Step(
    "At most one unit of each pair of units of the second layer is above 0 at each input: the "
    "difference of a pair is the term before the ReLUs.",
    _one_of_each_pair,
    rests_on=("line",),
    where=_AT_AN_EXAMPLE,
)
PLANES = Step(
    "The units of each plane add up to the label at its members, minus the bias of the readout, "
    "and to 0 at all other inputs.",
    _labels_of_planes,
    rests_on=("distinct-inputs",),
    where=_AT_AN_EXAMPLE,
)
TAPES = Step(
    "After the steps each input has its position and the tape of its group, a number whose digits "
    "in base 4 are bits, and the position is on the tape.",
    _own_tape,
    rests_on=("line",),
    where=("example",),
)
ATTENTION = Step(
    "After the attention, examples with different labels have different queries: the number that "
    "it appends tells contexts apart.",
    _separated_by_attention,
    rests_on=("distinct-inputs",),
    where=_AT_AN_EXAMPLE,
)
BOUND = Step(
    r"Values and output are the identity, and the logit of every other pattern is at least "
    r"$\beta\Delta_i$ below that of pattern $i$, so its error is at most "
    r"$(N-1)e^{-\beta\Delta_i}\max_j\|x_j-x_i\|_\infty$.",
    _behind_by_its_gap,
    where=("pattern",),
    source="docs/networks.md, retrieval",
)

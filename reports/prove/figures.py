"""The figures of a proof: the graph of its claims, and the heat map of saturation.

The background is white, so that a figure reads the same on light and dark pages; its colours
can be told apart with any form of colour vision (cividis).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attncert.reports.prove.graph import graph
from attncert.reports.prove.heat_map import heat_map
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.proof import HeadSummary, Proof


def graph_of(proof: Answer) -> dict[str, bytes]:
    """The graph of what each claim rests on, under the name of its figure."""
    return {"graph": graph(proof.trace, proof.conclusion)}


def draw(proof: Proof) -> dict[str, bytes]:
    """Figures by name; the heat map only if heads were built."""
    drawn = graph_of(proof)
    return drawn | {"saturation": saturation(proof.heads)} if proof.heads else drawn


def saturation(heads: Sequence[HeadSummary]) -> bytes:
    """Heads × examples, group after group: how far each head is from attending to one row.

    Left of each outlined group are the examples of earlier groups, which the construction
    saturates; right of it are those of later groups, which do not constrain the head.
    """
    order = [t for head in heads for t in head.group]
    ends = np.cumsum([len(head.group) for head in heads]).tolist()
    rest = sorted(set(range(len(heads[0].log2_off_peak))) - set(order))  # no group: at the end
    bits = -np.array([head.log2_off_peak for head in heads], dtype=float)[:, order + rest]
    groups = [(h, ends[h] - len(head.group), ends[h]) for h, head in enumerate(heads)]
    return heat_map(bits, "examples, in the order of the groups", groups)

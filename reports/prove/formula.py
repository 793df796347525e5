r"""The formulas of a network, block by block, in LaTeX with the sizes of its matrices.

$x_k$ is the query after block k, a row, and $X_k$ the matrix of the tokens, as rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any

from flint import fmpq_mat

from attncert.constructions.network.blocks import Attention, Block, FeedForward, Normalization
from attncert.constructions.network.composed import Gated, Group
from attncert.constructions.network.positional import GeneralAttention, Positions

_ACTIVATIONS = {"identity": "{}", "relu": r"\max(0,\;{})", "threshold": r"\mathbb{{1}}[{}\ge 0]",
                "silu": r"\mathrm{{SiLU}}({})", "gelu": r"\mathrm{{GELU}}({})",
                "gelu-tanh": r"\mathrm{{GELU}}_{{\tanh}}({})"}  # fmt: skip


def formulas(blocks: Iterable[tuple[Block, str]]) -> Iterator[tuple[str, str, str]]:
    r"""The number, formula and purpose of each block; consecutive blocks that differ only in their
    numbers share a row.

    >>> from attncert import FeedForward
    >>> block = FeedForward(fmpq_mat(2, 3), fmpq_mat(1, 3), activation="relu")
    >>> list(formulas([(block, "It bends.")]))
    [('1', '$x_{1} = \\max(0,\\;x_{0}W_{1} + b_{1})$, where $W_{1}$ is $2\\times3$', 'It bends.')]
    """
    numbered = enumerate(blocks, 1)
    alike = groupby(numbered, lambda x: (_formula(x[1][0], "k", "k-1"), x[1][1]))
    for (general, purpose), run in alike:
        (first, (block, _)), *others = run
        last = others[-1][0] if others else first
        own = general if others else _formula(block, str(first), str(first - 1))
        yield f"{first}–{last}" if others else str(first), own, purpose


def _formula(block: Block, k: str, before: str) -> str:
    value, where = _FORMULAS[type(block)](block, k, before)
    residual = f"x_{{{before}}} + " if block.residual else ""
    tokens = f", and each row of $X_{{{k}}}$ likewise" if block.of == "all" else ""
    return f"$x_{{{k}}} = {residual}{value}${tokens}, where {where}"


def _feed_forward(block: FeedForward, k: str, before: str) -> tuple[str, str]:
    row = rf"(x_{{{before}}},\,X_{{{before}}})" if block.of == "row" else f"x_{{{before}}}"
    value = _ACTIVATIONS[block.activation].format(f"{row}W_{{{k}}} + b_{{{k}}}")
    return value, f"$W_{{{k}}}$ is {_size([block.weights])}"


def _gated(block: Gated, k: str, before: str) -> tuple[str, str]:
    gate = _ACTIVATIONS[block.activation].format(f"x_{{{before}}}G_{{{k}}} + c_{{{k}}}")
    value = rf"{gate}\circ(x_{{{before}}}W_{{{k}}} + b_{{{k}}})"
    return value, f"$G_{{{k}}}$ and $W_{{{k}}}$ are {_size([block.gate, block.weights])}"


def _group(block: Group, k: str, before: str) -> tuple[str, str]:
    """The blocks of a group are numbered k.1, k.2, ...; block k.1 reads what the group reads."""
    names = [before, *(f"{k}.{number}" for number in range(1, len(block.blocks) + 1))]
    inner = (
        _formula(x, *pair) for x, *pair in zip(block.blocks, names[1:], names[:-1], strict=True)
    )
    return f"x_{{{names[-1]}}}", "; ".join(inner)


def _normalization(block: Normalization, k: str, before: str) -> tuple[str, str]:
    name, row = "LayerNorm" if block.centred else "RMSNorm", f"x_{{{before}}}"
    value = rf"\mathrm{{{name}}}({row})\circ g_{{{k}}} + b_{{{k}}}"
    return value, f"$g_{{{k}}}$ is {_size([block.gain])}"


def _attention(block: Attention, k: str, before: str) -> tuple[str, str]:
    h, X = f"{{{k},h}}", f"X_{{{before}}}"
    logits = rf"x_{{{before}}}Q_{h}K_{h}^\top {X}^\top"
    logits = rf"\ln 2\cdot {logits}" if block.unit == "ln 2" else logits
    weights = f"({logits})" if block.rule == "linear" else rf"\mathrm{{{block.rule}}}({logits})"
    value = rf"\big({weights}\,{X}V_{h}\big)_{{h=1}}^{{{len(block.heads)}}}\,O_{{{k}}}"
    named = {"Q": "query", "K": "key", "V": "value"}
    sizes = [f"${x}_{h}$ {_size(getattr(y, of) for y in block.heads)}" for x, of in named.items()]
    mask = "; a mask hides some tokens" if block.mask else ""
    sizes.append(f"$O_{{{k}}}$ {_size([block.output])}")
    return value, f"the heads are concatenated, {', '.join(sizes)}{mask}"


def _general(block: GeneralAttention, k: str, before: str) -> tuple[str, str]:
    value, where = _attention(block, k, before)
    parts = {
        "RMSNorm of queries and keys": block.norm,
        "rotation of both by position": block.rotary,
        rf"division by $\sqrt{{{block.root}}}$": block.root > 1 or None,
        f"soft cap {block.cap}": block.cap,
        "slopes": block.slopes,
        "tables": block.tables,
        "sinks": block.sinks,
    }
    named = ", ".join(name for name, part in parts.items() if part is not None)
    return value, f"{where}; the logits with, in this order: {named or 'no more parts'}"


def _positions(block: Positions, k: str, before: str) -> tuple[str, str]:
    return f"P_{{{k}}}(i)", f"$i$ is the position, $P_{{{k}}}$ the {_size([block.table])} table"


_FORMULAS: dict[type[Block], Callable[[Any, str, str], tuple[str, str]]] = {
    Attention: _attention, FeedForward: _feed_forward, Normalization: _normalization,
    Gated: _gated, Group: _group, GeneralAttention: _general, Positions: _positions,
}  # fmt: skip


def _size(matrices: Iterable[fmpq_mat]) -> str:
    return " or ".join(dict.fromkeys(rf"${m.nrows()}\times{m.ncols()}$" for m in matrices))

"""The report's figures one by one, as Matplotlib figures: `proof.plot` in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from matplotlib.figure import Figure

from attncert.constructions.errors import InputError
from attncert.reports.prove import figures, saturation
from attncert.reports.prove.graph import graph
from attncert.reports.words.drawing import style
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.proof import HeadSummary, Proof
from attncert.verify.claims.trace import ProofTrace


@dataclass(frozen=True)
class Plots:
    """Each method returns a Matplotlib figure, in the report's style and not the user's; a notebook
    shows it. InputError where no head has what is drawn.

    >>> from attncert import Dataset, Prove, prove
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    >>> prove(data, Prove(heads=2)).plot.saturation().axes[0].get_ylabel()
    'head'
    """

    proof: Proof

    def saturation(self) -> Figure:
        """Heads × examples: the share of attention outside the largest weight."""
        return self._of_heads(figures.saturation)

    def saturation_against_c(self) -> Figure:
        """Bits of saturation as the multiplier c grows, a curve for each head that steers."""
        return self._of_heads(saturation.figure)

    def own_weights(self) -> Figure:
        """Attention weights of each head on the examples that it places."""
        return self._of_heads(figures.own_weights)

    def largest_weights(self) -> Figure:
        """The largest attention weight of each head on earlier, own and later examples."""
        return self._of_heads(figures.largest_weights)

    def heads(self) -> Figure:
        """Bits of the numbers and condition of Z, head by head."""
        return self._of_heads(figures.bits_and_condition)

    def _of_heads(self, draw: Callable[[tuple[HeadSummary, ...]], Figure | None]) -> Figure:
        with style():
            figure = draw(self.proof.heads) if self.proof.heads else None
        if figure is None:
            raise InputError("proof", "one with such heads as this figure shows", "one without")
        return figure


def plots(answer: Answer) -> Plots:
    """Raises InputError."""
    if not isinstance(answer, Proof):
        must = "one of attncert.prove; the figures of other answers are files of their reports"
        raise InputError("answer", must, f"one of attncert {answer.question.command}")
    return Plots(answer)


def drawn(trace: ProofTrace) -> str:
    """The graph of any trace as SVG, as in the report of a proof, without its links."""
    return graph(trace, page=None).decode()

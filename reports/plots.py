"""The report's figures one by one, for `answer.plot` in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attncert.reports.answers import parts_of
from attncert.reports.prove.graph import graph
from attncert.reports.words.drawing import Drawing, Picture
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.trace import ProofTrace


class Plots:
    """A method for each figure of the report, and `graph` for what each claim rests on. A
    notebook shows the figures. Any other name raises AttributeError, which lists the names.

    >>> from attncert import Dataset, Prove, prove
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    >>> prove(data, Prove(heads=2)).plot
    Plots(graph, saturation)
    >>> "1 - pₘₐₓ" in prove(data, Prove(heads=2)).plot.saturation()._repr_svg_()
    True
    """

    def __init__(self, figures: Mapping[str, Picture]) -> None:
        self._figures = {name.replace("-", "_"): figures[name] for name in sorted(figures)}

    def __getattr__(self, name: str) -> Callable[[], Picture]:
        if name.startswith("_") or name not in self._figures:
            raise AttributeError(f"no plot {name}; the plots are {', '.join(dir(self))}")
        return lambda: self._figures[name]

    def __dir__(self) -> list[str]:
        return list(self._figures)

    def __repr__(self) -> str:
        return f"Plots({', '.join(dir(self))})"


def plots(answer: Answer) -> Plots:
    drawing = Drawing(graph(answer.trace, answer.conclusion, page=None))
    return Plots({**parts_of(answer).figures(), "graph": drawing})


def drawn(trace: ProofTrace) -> str:
    """The graph of any trace as SVG, as in the report of a proof, without its links."""
    return graph(trace, page=None).decode()

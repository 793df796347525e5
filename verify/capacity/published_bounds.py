"""Published bounds on memorization by attention, each with its assumptions and its setting.

They are shown beside what is certified, never mixed with it: a bound of another setting (other
layers, other data, parameters counted up to constants) is not comparable by its number and says
so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from attncert.verify.capacity.sweeps import Setting

__all__ = ["BOUNDS", "Kind", "PublishedBound"]


class Kind(Enum):
    """What a bound says about the number of examples."""

    AT_LEAST = "at least"  # so many are memorized
    AT_MOST = "at most"  # no weights memorize more, universally
    ORDER = "up to constants"  # an order of magnitude, in parameters


@dataclass(frozen=True)
class PublishedBound:
    """One row of the table.

    key:      for code. name: authors and year, or "ours".
    formula:  LaTeX. examples: its value in a setting; None where it gives no number there.
    assumes:  everything that it needs. source: where it stands, and how we know it.
    same_setting: one attention layer as here, labels exact, and data as here.
    """

    key: str
    name: str
    kind: Kind
    formula: str
    assumes: str
    source: str
    same_setting: bool
    examples: Callable[[Setting], int | None]

    def in_setting(self, setting: Setting) -> int | None:
        """The number of examples that the formula gives, where it gives one.

        >>> setting = Setting(heads=6, context=8, head_width=4, width=16, shared=True)
        >>> {b.key: b.in_setting(setting) for b in BOUNDS if b.kind is not Kind.ORDER}
        {'paper': 19, 'width-one': 43, 'shared': 43, 'columns': 96, 'dana2025': 40}
        """
        return self.examples(setting)


BOUNDS = (
    PublishedBound(
        "paper",
        "Mahdavi, Liao, Thrampoulidis 2024",
        Kind.AT_LEAST,
        "H(\\min(n,d_h)-1)+1",
        "A1: every $\\min(n,T)$ queries are independent; A2: contexts of rank $n$; $n\\le d$; "
        "$d_v\\ge m$",
        "ICLR 2024, Theorem 1; rebuilt and certified here",
        True,
        lambda s: s.paper,
    ),
    PublishedBound(
        "width-one",
        "ours",
        Kind.AT_LEAST,
        "H(n-1)+1",
        "A1 and A2 as in the paper; any $d_h\\ge1$; $d_v\\ge m$",
        "docs/width-one.md; built and certified here",
        True,
        lambda s: s.width_one,
    ),
    PublishedBound(
        "shared",
        "ours (cited as Proposition 2 of the paper)",
        Kind.AT_MOST,
        "H(n-1)+1",
        "one context shared by all examples; any $d_h$; universal memorization (given labels can "
        "exceed it)",
        "docs/tightness.md, section 2; the citation: Dana, Pydi, Chevaleyre 2025, arXiv 2411.10115",
        True,
        lambda s: s.width_one if s.shared else None,
    ),
    PublishedBound(
        "columns",
        "trivial",
        Kind.AT_MOST,
        "Hd",
        "none: $Z$ has $Hd$ columns; universal memorization",
        "docs/mathematics.md, section 1",
        True,
        lambda s: s.heads * s.width,
    ),
    PublishedBound(
        "dana2025",
        "Dana, Pydi, Chevaleyre 2025",
        Kind.AT_LEAST,
        "Hd_h+d",
        "another setting: associations of a token sequence with the next token, skip connection, "
        "embeddings designed for the task, approximation to any accuracy; any context length",
        "AISTATS 2025, arXiv 2411.10115; quoted from the abstract and from summaries, not rebuilt",
        False,
        lambda s: s.heads * s.head_width + s.width,
    ),
    PublishedBound(
        "kim2023",
        "Kim, Kim, Mozafari 2023",
        Kind.ORDER,
        "\\tilde O(d+n+\\sqrt{nN})\\text{ parameters for }N\\text{ sequences}",
        "another setting: deep transformers with feed-forward layers, separated tokens, a label "
        "for every token",
        "ICLR 2023; quoted from the abstract, not rebuilt",
        False,
        lambda s: None,
    ),
    PublishedBound(
        "kajitsuka2025",
        "Kajitsuka, Sato 2025",
        Kind.ORDER,
        "\\tilde O(\\sqrt N)\\text{ parameters for }N\\text{ sequences; }"
        "\\tilde O(\\sqrt{nN})\\text{ with a label per token}",
        "another setting: attention with deep feed-forward layers, separated tokens; the lower "
        "bounds hold up to logarithms (sequence to sequence: for hardmax)",
        "ICLR 2025, arXiv 2409.17677; quoted from the abstract, not rebuilt",
        False,
        lambda s: None,
    ),
)

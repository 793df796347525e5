"""The tables of the report on the assumptions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attncert.reports.words.numbers import percent, real
from attncert.verify.assume.assume import Assumed, counts
from attncert.verify.assume.paper_test import Float32Test
from attncert.verify.assume.spectra import Spectrum
from attncert.verify.claims.words import counted

Row = tuple[str, ...]
TEST_COLUMNS = ("sets", "float32 rank full (numerical)", "independent, exactly", "level")
ROUNDING_COLUMNS = (
    "sets", "looked at", "standing", "$\\sigma_{\\min}$", "rounding, at most",
    "$\\sigma_{\\min}/\\sigma_{\\max}$", "ε-rank", "float32 rank",
)  # fmt: skip
LAYER_COLUMNS = ("construction", "first group", "by its theorem", "queries placed", "proved for")
_NONE = "–"


def tests(answer: Assumed) -> list[Row]:
    """The paper's test and the exact one, on the same vectors."""
    inputs, rows = answer.data, list[Row]()
    if answer.k is None:
        rows.append((f"{inputs.tokens} queries (A1)", _NONE, f"none: n exceeds d = {inputs.d}",
                     "proved"))  # fmt: skip
    sizes = {answer.most: "general position"} | {answer.k: "A1"}
    for k in sorted(k for k in sizes if k is not None):
        name = f"{counted(k, 'query')} ({sizes[k]})"
        rows.append((name, _full(_of(answer, k)), *_exact(answer, k)))
    if answer.contexts:
        contexts = answer.contexts
        single = sum(1 for s in contexts if s.float32 == s.size)
        good = sum(1 for s in contexts if s.rank == s.size)
        rows.append(
            (f"contexts of {inputs.lengths} tokens (A2)", f"{single:,} of {len(contexts):,}",
             f"{good:,} of {len(contexts):,}", "proved, each")
        )  # fmt: skip
    return rows


def _of(answer: Assumed, k: int) -> Float32Test | None:
    return next((test for test in answer.tests if test.k == k), None)


def _full(test: Float32Test | None) -> str:
    if test is None:
        return _NONE
    low, high = min(test.ranks), max(test.ranks)
    ranks = f"ranks {low:,} to {high:,}" if low < high else f"rank {low:,}"
    return f"{test.full:,} of {test.subsets:,} ({ranks})"


def _exact(answer: Assumed, k: int) -> tuple[str, str]:
    if k > answer.rank:
        return f"none: all queries have rank {answer.rank:,}", "proved"
    sampled = answer.sampled
    if sampled is None or sampled.k != k:
        sampled = answer.sweep
    if sampled is not None:
        bound = percent(sampled.failing_at_most(k))
        share = f"{sampled.independent(k):,} of {sampled.drawn:,}"
        return f"{share}; at most {bound} of all are dependent (95 %)", "sampled"
    return _NONE, "undecided"


def rounding(answer: Assumed) -> list[Row]:
    """Each kind of set against the rounding of the stored numbers, and against small noise."""
    rows = [_spectra_row(f"contexts of {answer.data.lengths} tokens", answer.contexts)]
    rows += [_spectra_row(f"{k:,} queries", spectra) for k, spectra in answer.subsets.items()]
    return [row for row in rows if row]


def _spectra_row(name: str, spectra: Sequence[Spectrum]) -> Row:
    if not spectra:
        return ()
    sizes = _whole_span([s.size for s in spectra])
    least = [s.singular[-1] if s.size == len(s.singular) else 0.0 for s in spectra]
    ratio = [x / (s.singular[0] or 1.0) for x, s in zip(least, spectra, strict=True)]
    standing = "; ".join(f"{many:,} {words}" for words, many in counts(tuple(spectra)).items())
    return (
        name,
        f"{len(spectra):,}",
        standing,
        _span(least),
        real(max(s.rounding for s in spectra)),
        _span(ratio),
        f"{_whole_span([s.epsilon_rank() for s in spectra])} of {sizes}",
        f"{_whole_span([s.float32 for s in spectra])} of {sizes}",
    )


def _span(values: Sequence[float]) -> str:
    low, middle = real(min(values)), real(float(np.median(values)))
    return low if low == middle else f"{low} (median {middle})"


def _whole_span(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def layer(answer: Assumed) -> list[Row]:
    """What universal memorization each construction reaches with this layer's heads."""
    return [
        (
            "heads of width one (ours)" if p.name == "width one" else p.name,
            f"{p.first:,}",
            counted(p.capacity, "example"),
            f"{p.examples:,} of {answer.data.N:,}",
            counted(p.memorized, "example") if p.memorized else "none",
        )
        for p in answer.placed
    ]

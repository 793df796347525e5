"""What the numbers on a layer's inputs say beside A1 and A2: of float32, and of given labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attncert.verify.assume.inputs import LayerInputs
from attncert.verify.assume.paper_test import Float32Test
from attncert.verify.assume.spectra import AgainstRounding, Spectrum
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.kruskal.shards.sampled import Samples

_PAGE = "docs/models-and-layers.md"


def float32_claim(
    tests: Sequence[Float32Test], sweep: Samples | None, spectra: Sequence[Spectrum], k: int
) -> Iterator[Claim]:
    """What float32 says of sets of min(N, d) queries beside what is so: numerical, and about the
    sets that were drawn. tests: of several sizes; spectra: of sets of k."""
    test = next((test for test in tests if test.k == k), None)
    if test is None or sweep is None or not sweep.every:
        return
    exact, least = sweep.independent(k), min(s.singular[-1] for s in spectra)
    rounding = max(s.rounding for s in spectra)
    yield Claim(
        ids.FLOAT32,
        f"In float32 {test.full:,} of {test.subsets:,} random sets of {k:,} queries have full "
        f"rank; exactly, {exact:,} of {sweep.drawn:,} other random sets of these queries are "
        f"independent: {_reading(test, sweep.drawn - exact, spectra)}.",
        Level.NUMERICAL,
        numbers={"least singular value": least, "rounding at most": rounding},
        arithmetic="float32 and float64; the sets counted exactly",
        source=_PAGE,
    )


def _reading(test: Float32Test, dependent: int, spectra: Sequence[Spectrum]) -> str:
    robust = all(s.standing in (AgainstRounding.ROBUST, AgainstRounding.NEARLY) for s in spectra)
    if dependent:
        return "some sets of the stored vectors themselves are dependent"
    if test.full == test.subsets:
        return "both agree"
    if robust:
        return (
            "the failure is one of the float32 tolerance and not of the vectors, and in the sets "
            "whose singular values were computed the numbers before rounding were independent too"
        )
    return (
        "the stored vectors do not fail, but rounding alone may have made them independent; "
        "numbers of wider arithmetic may decide it (attncert embed --dtype float64)"
    )


def label_claims(inputs: LayerInputs, law: Mapping[int, int], kappa: int) -> Iterator[Claim]:
    """What heads output of labels that are given, one number each. law: by head widths, labels
    beyond which almost none are met; kappa: the Kruskal rank is at least this."""
    heads = inputs.heads or 0
    if law:
        most = " or ".join(f"{n:,} by heads of width {width}" for width, n in law.items())
        yield Claim(
            ids.LABELS_MOST,
            f"Almost no labelling of more examples than these is output by any weights of "
            f"{counted(heads, 'head')}: {most}.",
            Level.ARGUED,
            numbers={f"width {width}": n for width, n in law.items()},
            source="ours; docs/given-labels.md, Theorem 7, at its largest over all contexts",
        )
    if heads > 1 and kappa > 1:
        distinct = "queries are distinct and their " if inputs.repeats else ""
        yield Claim(
            ids.LABELS_EVERY,
            f"Every labelling of {counted(heads // 2 * kappa, 'example')} is output by some "
            f"weights of {counted(heads, 'head')}, if their {distinct}contexts have two distinct "
            "rows each.",
            Level.ARGUED,
            numbers={"Kruskal rank at least": kappa},
            source="ours; docs/given-labels.md, Theorem 4",
        )

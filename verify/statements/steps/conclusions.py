"""Claims about the whole layer: whether the theorem applies, the rank, and the answer.

The claim that the layer outputs the labels rests on its weights and the data alone. The claim that
*Theorem 1* applies rests on all its hypotheses, including A1.
"""

from __future__ import annotations

from collections.abc import Sequence

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.exact.primes import PRIMES_FLOAT64
from attncert.constructions.layer import Layer
from attncert.constructions.progress import Progress, silent
from attncert.verify.assumptions.hypotheses import EXACT
from attncert.verify.certificates.coq.theorems import in_coq
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.features import features
from attncert.verify.rank.engines.devices import DeviceChoice
from attncert.verify.rank.whole_layer.layer import layer_rank
from attncert.verify.sharding.engine import Cluster

# If Z has at least this many entries, blocks of rows in float64 are faster than FLINT,
# although loading compiled code takes 0.3 s (benchmarks/rank.py).
BLOCKS_FROM = 150_000

_EVERY_LABELLING = (
    "With these key and query weights every labelling of the examples is memorized by some values "
    "and output."
)
_ANSWER = "docs/mathematics.md, sections 1 and 3"


def theorem_applies(theorem: str, premises: Sequence[Claim], source: str) -> Claim:
    """Whether the theorem, as stated, applies to these data. No other claim rests on this."""
    false = [c.id for c in premises if c.level in (Level.REFUTED, Level.NOT_APPLICABLE)]
    return Claim.checked(
        ids.THEOREM,
        f"The hypotheses of {theorem} hold for these data, so it applies as stated.",
        not false,
        {"hypotheses that do not hold": false},
        failed=Level.NOT_APPLICABLE,
        rests_on=tuple(c.id for c in premises),
        source=source,
    )


def parameters(count: int) -> Claim:
    """Step 11 of the proof: the number of parameters."""
    return Claim(
        ids.PARAMETERS,
        f"The layer has $H(2d\\,d_h+d\\,d_v+d_v m)={count}$ parameters.",
        Level.PROVED,
        numbers={"parameters": count},
        arithmetic="counting",
        source="docs/mathematics.md, section 1",
    )


def full_rank(
    data: Dataset,
    layer: Layer,
    device: DeviceChoice = "auto",
    cluster: Cluster | None = None,
    progress: Progress = silent,
) -> Claim:
    """The claim rank Z = T for the finished layer; a full rank mod p is a full rank over ℚ.
    Undecided if the rank is smaller modulo every prime tried, or a logit is not an integer. A
    repeated head is used once, since equal columns add nothing. cluster: eliminates a large Z; the
    claim then rests on `spread.rank_records`."""
    blocks = in_blocks(data, layer, device)
    if blocks:
        rank, prime = _rank_in_blocks(data, layer.distinct, device, cluster, progress)
        how = ", in float64 with exact sums"
    else:
        rank, prime = features.rank_of(data, layer.distinct)
        how = ""
    return Claim(
        ids.RANK,
        "The features $Z$ of the finished layer, at its finite weights, have rank "
        f"$T={data.T}$ over $\\mathbb{{Q}}$.",
        Level.PROVED if rank == data.T else Level.UNDECIDED,
        numbers={"rank": rank, "T": data.T, "prime": prime, "columns": len(layer.heads) * data.d},
        arithmetic=f"features and rank mod {prime}{how}; the rank over ℚ is at least that",
        rests_on=(ids.RANK_RECORDS,) if blocks and cluster is not None else (),
        source="docs/mathematics.md, section 3",
    )


def in_blocks(data: Dataset, layer: Layer, device: DeviceChoice = "auto") -> bool:
    """Whether `layer_rank` computes the rank, which it does if Z is large or a GPU was requested.
    This does not depend on the machine, so equal inputs give equal outputs."""
    return device == "cuda" or data.T * len(layer.distinct.heads) * data.d >= BLOCKS_FROM


def _rank_in_blocks(
    data: Dataset, layer: Layer, device: DeviceChoice, cluster: Cluster | None, progress: Progress
) -> tuple[int, int]:
    try:
        certified = layer_rank(data, layer, device=device, cluster=cluster, progress=progress)
    except features.NotIntegral:
        return 0, PRIMES_FLOAT64[0]  # the features are not known over ℚ
    return certified.rank, certified.prime


def reduction() -> Claim:
    return Claim(
        ids.REDUCTION,
        "If $\\operatorname{rank}Z=T$ and $d_v\\ge m$, every labelling is interpolated by some "
        "values and output: $ZV=Y$ is solvable for every $Y$.",
        Level.KERNEL,
        arithmetic=in_coq("reduction.reduction"),
        source="docs/mathematics.md, section 1",
    )


def universal(*, narrow: bool = False) -> Claim:
    """The claim that every labelling is memorized. narrow: whether d_v < m, so that only some
    columns of Z are used."""
    return Claim(
        ids.UNIVERSAL,
        _EVERY_LABELLING,
        Level.PROVED,
        rests_on=(ids.RANK, *((ids.COLUMNS,) if narrow else ()), ids.REDUCTION),
        source="docs/mathematics.md, section 1",
    )


def interpolates(
    data: Dataset,
    routes: Sequence[Claim],
    uncertified: str = "",
    above: str = "",
    *,
    narrow: bool = False,
) -> list[Claim]:
    """The answer if an exact readout was computed. It rests on the exact routes that ran; if one of
    them *refutes* the equality, the answer is refuted. above: the limits that the check exceeds.
    """
    against = [c for c in routes if c.level is Level.REFUTED]
    names = ", ".join(c.id.removeprefix("interpolation.") for c in routes)
    exact = [c.id for c in routes if c.level is Level.PROVED]
    agreement = Claim.checked(
        ids.AGREEMENT,
        f"None of the {len(routes)} routes that ran ({names}) contradicts the equality.",
        not against,
        {c.id: dict(c.witness or {}) for c in against},
        numbers={"routes": len(routes)},
        arithmetic="comparison of the routes",
        rests_on=tuple(c.id for c in routes if c.level.holds),
        source="ours",
    )
    level = Level.PROVED if exact else Level.UNDECIDED
    answer = Claim(
        ids.MEMORIZATION,
        _outputs(data) + _uncertified(uncertified) + (above and f" Certified: {above}."),
        Level.REFUTED if against else level,
        numbers={"examples": data.T},
        rests_on=() if against else tuple(exact),
        witness={"see": ids.AGREEMENT} if against else None,
        source=_ANSWER,
    )
    return [agreement, universal(narrow=narrow), answer]


def rank_only(data: Dataset, bits: int, why: str, uncertified: str) -> list[Claim]:
    """The answer if no exact readout was computed: universal memorization follows from the rank."""
    return [
        _no_readout(bits, why),
        universal(),
        Claim(
            ids.MEMORIZATION,
            "The features have full rank $T$ over $\\mathbb{Q}$: $ZV=Y$ has a solution for every "
            "$Y$. By claim reduction (kernel) every labelling of these examples is then memorized."
            + _uncertified(uncertified),
            Level.PROVED,
            numbers={"examples": data.T},
            rests_on=(ids.RANK, ids.REDUCTION),
            source=_ANSWER,
        ),
    ]


def too_long(data: Dataset, bits: int, narrow: bool = False) -> list[Claim]:
    """The answer if an exact readout was requested and its numbers do not fit in memory."""
    wide = f"--value-width {data.m} " if narrow else ""
    return [
        _no_readout(bits, too_long_to_compute(bits)),
        universal(narrow=narrow),
        Claim(
            ids.MEMORIZATION,
            _outputs(data),
            Level.UNDECIDED,
            witness={
                "reason": f"the numbers of the readout would have {_size(bits)} bits each, too "
                f"long to compute; {wide}--claim full-rank asks only for the rank"
            },
            source=_ANSWER,
        ),
    ]


def too_long_to_compute(bits: int) -> str:
    """Why no exact readout with numbers of this length is computed."""
    return f"its numbers would have {_size(bits)} bits each, too long to compute"


def _uncertified(reason: str) -> str:
    return f" There is no certificate: {reason}." if reason else ""


def _no_readout(bits: int, why: str) -> Claim:
    return Claim(
        ids.READOUT,
        f"No exact readout was computed: {why}.",
        Level.UNDECIDED,
        numbers={"predicted bits": _size(bits)},
        source="docs/mathematics.md, section 1",
    )


def _size(bits: int) -> str:
    return f"{bits:,}" if bits < 10**9 else f"about 2^{bits.bit_length()}"


def _outputs(data: Dataset) -> str:
    return (
        "The layer outputs exactly the label, $A(E^{(t)},e^{(t)})=y^{(t)}$, on "
        f"{counted(data.T, 'example', 'all')}."
    )


def no_grouping(failure: HypothesisFails) -> Claim:
    """The claim, refuted or undecided, that some grouping meets the partition condition."""
    return Claim(
        ids.SOME_PARTITION,
        "Some grouping of the examples into this many groups meets the partition condition.",
        Level.REFUTED if failure.decided else Level.UNDECIDED,
        numbers={"asked": "some order of the examples", "found": f"none: {failure.reason}"},
        witness=failure.witness or None,
        arithmetic=EXACT,
        source="ours; constructions/search/grouping.py",
    )

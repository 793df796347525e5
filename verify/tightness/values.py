"""Universal memorization and the width of values: what d_v < m forbids, and no longer shows.

rank Z = T is the same as universal memorization where d_v ≥ m. With narrower values rank Z = T is
no longer enough, and two counts forbid it, whatever the keys and queries:

*Rank.* Outputs on T examples have rank at most H·d_v (limits.py), and some labels have rank
min(T, m). So universal memorization asks for H·d_v ≥ min(T, m).

*Counting* (ours). The outputs depend on the weights through M_h = W_K W_Qᵀ, d×d of rank at most k,
and N_h = W_V W_O, d×m of rank at most l, with k = min(d_h, d) and l = min(d_v, d, m). Matrices a×b
of rank r form a smooth manifold of dimension r(a + b - r), so all (M_h, N_h) form finitely many
manifolds, of dimension at most

    P = H (k(2d - k) + l(d + m - l))          (the redundant numbers in W_K, W_Q, W_V, W_O left out)

and the labels reached are their image in R^{Tm} under a smooth map. If P < Tm that image has
measure zero (Sard): *almost no labelling* is memorized, even by weights that depend on it. About
some labels, then, and not about the given ones.
"""

from __future__ import annotations

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import parameter_count
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import About, Claim, Level
from attncert.verify.claims.words import counted

_SOURCE = "ours; verify/tightness/values.py"


def too_narrow(data: Dataset, heads: int, value_width: int) -> list[Claim]:
    """That these heads, of any width, do not serve all labels with values so narrow; [] where
    neither count says so. Exact counting."""
    if value_width >= data.m:
        return []
    count = too_few_parameters(data, heads, data.d, value_width)
    rank, most = min(data.T, data.m), heads * value_width
    if rank > most:
        numbers = {"rank of some labels": rank, "H d_v": most}
        reason = f"some labels have rank {rank}, and the outputs have rank at most H d_v = {most}"
    elif count.level is Level.REFUTED:
        numbers = dict(count.numbers)
        free, fitted = counted(numbers["P"], "free parameter"), counted(numbers["T m"], "number")
        reason = f"{free} for {fitted} to fit"
    else:
        return []
    verdict = Claim(
        ids.VALUES_UNIVERSAL,
        f"Universal memorization: some keys and queries of {counted(heads, 'head')} serve every "
        f"labelling of {counted(data.T, 'example', 'the')} with values of width {value_width}.",
        Level.REFUTED,
        numbers=numbers,
        witness=numbers | {"reason": reason},
        arithmetic="counting",
        source=_SOURCE,
        about=About.UNIVERSAL,
    )
    return [verdict]


def too_few_parameters(data: Dataset, heads: int, head_width: int, value_width: int) -> Claim:
    """P ≥ Tm, the module's count; refuted: almost no labelling of T×m numbers is memorized.

    Exact counting; the consequence is argued above.
    """
    d, m = data.d, data.m
    k, rank = min(head_width, d), min(value_width, d, m)
    free = heads * (k * (2 * d - k) + rank * (d + m - rank))
    numbers = {
        "P": free,
        "T m": data.T * m,
        "all parameters": parameter_count(d, m, heads, head_width, value_width),
    }
    return Claim.checked(
        ids.IMPOSSIBLE_COUNT,
        "There are at least as many free parameters as numbers to fit: $P\\ge Tm$ (else almost no "
        "labelling is memorized, even by weights that depend on it).",
        free >= data.T * m,
        numbers,
        numbers=numbers,
        arithmetic="counting",
        source=_SOURCE,
        about=About.EVERY_LABELLING,
    )

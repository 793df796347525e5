"""1 - p < 2^-B with the true exponential: mpmath, at a precision that resolves the largest gap.

Logits are real numbers, E_i K (ln 2 Q)ᵀ e, with an error of at most 10 uΛ at p bits, u = 2^(1-p)
and Λ ≥ |logits| (verify/interpolation/multiprecision.py); so the exponentials of their differences
are off by a factor 1 ± 24 uΛ, and 1 - p = Σ_{i≠L} exp(ℓ_i - ℓ_L)/Σ_i exp(ℓ_i - ℓ_L) by at most
1 ± 64 uΛ. Where rows are G bits behind, 1 - p is about 2^-G: at p = G + log2 Λ + 64 bits the weight
p itself is told from 1, and 1 - p has 64 correct bits.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from mpmath import MPContext

from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Layer
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.interpolation.multiprecision import GUARD, context, logit_bits, real_logits
from attncert.verify.saturation import SOURCE, SaturatedPair, in_words, pairs

MOST_BITS = 2**18  # of the working precision
_SECOND = 1e-9  # of the gaps, which are only measured


def multiprecision(data: Dataset, built: BuiltLayer, bits: int) -> Claim:
    """The claim "saturation.multiprecision": *numerical* (1 - p is below 2^-B by more than the
    error, for every pair); *refuted* where it is above by more; else *undecided*."""
    layer = Layer(built.layer.heads[: len(built.heads)])
    size = logit_bits(data, layer)
    by_example: dict[int, list[SaturatedPair]] = defaultdict(list)
    for pair in pairs(built):
        by_example[pair.example].append(pair)
    precision = min(MOST_BITS, _gap(data, layer, size + GUARD) + size + GUARD)
    mp = context(precision)
    limit, error = mp.ldexp(1, -bits), mp.ldexp(1, size + 7 - precision)
    worst, least, witness, level = None, None, dict[str, Any](), Level.NUMERICAL
    for t, tables in enumerate(real_logits(mp, data, layer)):
        for pair in by_example[t]:
            rest = _rest(mp, tables[pair.head], pair.row)
            worst = rest if worst is None or rest > worst else worst
            least = rest if least is None or rest < least else least
            if rest * (1 + error) < limit or not rest:
                continue
            over = rest * (1 - error) >= limit
            witness = {"head": pair.head + 1, "example": t, "1-p": mp.nstr(rest, 6)}
            level = Level.REFUTED if over else Level.UNDECIDED
            break
        if witness:
            break
    numbers: dict[str, Any] = {
        "precision_bits": precision,
        "pairs": sum(map(len, by_example.values())),
    }
    if worst:
        sizes = [int(mp.mag(least)) if least else None, int(mp.mag(worst))]
        numbers["log2(1-p), least and largest"] = sizes
    return Claim(
        ids.SATURATION_MULTIPRECISION,
        f"$1-p<2^{{-{bits}}}$ for {in_words(built)}, with the true exponential.",
        level,
        numbers,
        witness or None,
        f"floating point, {precision} bits (mpmath)",
        source=SOURCE,
    )


def _gap(data: Dataset, layer: Layer, precision: int) -> int:
    """About the largest lead of one row over all others, in bits."""
    mp, most = context(precision), 0
    for tables in real_logits(mp, data, layer):
        for logits in tables:
            first, *rest = sorted(logits, reverse=True)
            if rest:
                most = max(most, int((first - rest[0]) / mp.ln2 + _SECOND))
    return most


def _rest(mp: MPContext, logits: list[Any], row: int) -> Any:
    """1 - p of this row."""
    powers = [mp.exp(x - logits[row]) for x in logits]
    return mp.fsum(powers[:row] + powers[row + 1 :]) / mp.fsum(powers)

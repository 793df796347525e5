"""The limit of a head's attention as c grows: SymPy, with c a symbol.

Derivation (ours). Only the term c·u vᵀ of a head contains c. Let R be the rest of the layer's M.
Then example s has the logits log(2)·(c·a_i + b_i), where a = (v·e_s) E⁽ˢ⁾u and b = E⁽ˢ⁾R e_s, and
the weights

    w_i(c) = exp(log(2)·(c·(a_i - a_L) + b_i - b_L)) / Σ_j exp(log(2)·(c·(a_j - a_L) + b_j - b_L)).

In x = 2^-c, that is c = -log(x)/log(2), SymPy takes each exponential to a monomial q_i x^g_i with
q_i > 0 and q_L x^g_L = 1: the weight is a rational function of x, and c → ∞ is x → 0. If all
g_i > 0, i ≠ L, then w_i → 0 and w_L → 1, the indicator of row L. Let g be the least of these g_i;

    (1 - w_L(c))·2^(g c)  →  Σ {q_i : g_i = g} > 0,

so g is the exact rate, the bits of saturation that each further unit of c adds. If some g_i ≤ 0,
then w_i does not tend to 0.
"""

from __future__ import annotations

from typing import Any

import sympy
from flint import fmpq, fmpq_mat

from attncert.constructions.construction import BuiltLayer, SteeringHead
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Head
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.saturation import SOURCE, moving_heads

MOST_TERMS = 1500  # exponentials that are expanded: some 5 milliseconds each

_C, _X = sympy.Symbol("c", positive=True), sympy.Symbol("x", positive=True)
_ARITHMETIC = "exact, SymPy: log(2) and exp in a symbol c, then monomials in 2^-c"


def symbolic(data: Dataset, built: BuiltLayer, most: int = MOST_TERMS) -> Claim:
    """The claim "saturation.symbolic": *proved*, or *refuted* with the first example whose weights
    tend elsewhere.

    Heads are expanded in order, up to `most` exponentials (the first in any case). The heads of a
    construction have the same shape; the claim says which were expanded.
    """
    expanded, examples, terms, rates = list[int](), 0, 0, list[int]()
    for h, record in moving_heads(built):
        terms += len(record.earlier) * (data.n - 1)
        if expanded and terms > most:
            break
        limits = [
            _limit(data, built.layer.heads[h], record, s, row)
            for s, row in zip(record.earlier, record.targets, strict=True)
        ]
        wrong = [s for s, rate in zip(record.earlier, limits, strict=True) if not rate]
        if wrong:
            where = {"head": h + 1, "example": wrong[0]}
            return Claim(ids.SATURATION_SYMBOLIC, _statement([h]), Level.REFUTED, witness=where,
                         arithmetic=_ARITHMETIC, source=SOURCE)  # fmt: skip
        expanded.append(h)
        examples += len(limits)
        rates.append(min((rate for rate in limits if rate is not None), default=0))
    numbers: dict[str, Any] = {
        "examples expanded": examples,
        "heads expanded": ", ".join(str(h + 1) for h in expanded) or "none",
        "bits for each unit of c": ", ".join(map(str, rates)) if data.n > 1 else "one row only",
    }
    return Claim(ids.SATURATION_SYMBOLIC, _statement(expanded), Level.PROVED, numbers,
                 arithmetic=_ARITHMETIC, source=SOURCE)  # fmt: skip


def _statement(heads: list[int]) -> str:
    which = f" in {counted(len(heads), 'head')} that were expanded" if heads else ""
    return (
        "As $c\\to\\infty$ the weights of every earlier $s$ tend to the indicator of the row "
        f"$L_s${which}, and $(1-p)\\,2^{{gc}}$ to a positive number, $g$ the rate."
    )


def _limit(data: Dataset, head: Head, record: SteeringHead, s: int, target: int) -> int | None:
    """The rate g if the weights of s tend to the indicator of `target`; 0 if they do not; None if
    there is only one row, whose weight is 1."""
    assert record.selector is not None
    query = fmpq_mat(data.d, 1, data.query_matrix.tolist()[s])
    moving = record.separator * (record.selector.transpose() * query)[0, 0]
    whole = head.key * (head.query.transpose() * query)
    grows = (data.context(s) * moving).entries()
    stays = (data.context(s) * (whole - moving * fmpq(record.c))).entries()
    at_c = [_rational(a) * _C + _rational(b) for a, b in zip(grows, stays, strict=True)]
    logits = [sympy.log(2) * (x - at_c[target]) for x in at_c]
    in_x = {_C: -sympy.log(_X) / sympy.log(2)}
    monomials = [sympy.exp(sympy.expand(x.subs(in_x))).as_coeff_exponent(_X) for x in logits]
    if not all(q.is_Rational and q > 0 and g.is_Integer for q, g in monomials):
        return 0
    others = [int(g) for i, (_, g) in enumerate(monomials) if i != target]
    if not others:
        return None
    return max(0, min(others))


def _rational(x: fmpq) -> sympy.Rational:
    return sympy.Rational(int(x.p), int(x.q))

"""A layer from a file, as a section of the audit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from fractions import Fraction

from attncert.constructions.arrays import BoolArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.numerals import numeral, short
from attncert.constructions.weights.load import load_weights
from attncert.constructions.weights.weights import Weights
from attncert.verify.audit.layer.attention import Attention, read_mask
from attncert.verify.audit.layer.error import LayerAudit, audit_layer, bounds, interval
from attncert.verify.audit.records import AuditSection, Finding, Scope, Table
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level, counted
from attncert.verify.near.nearby import MOST_UNKNOWNS, nearby, nearby_claim

_NUMBER = re.compile(
    r"[0-9]{1,30}(\.[0-9]{1,30})?(e-?[0-9]{1,3})?|[0-9]{1,30}/[1-9][0-9]{0,29}", re.ASCII
)
_SHOWN = 60  # examples in a table; the JSON holds all


@dataclass(frozen=True)
class Question:
    """weights: from a file or a module. unit, scale, mask: conventions (`Attention`); None: as the
    weights say. tolerance: the largest error that counts; None: below `default_tolerance`."""

    weights: Weights
    unit: str | None = None
    scale: str | None = None
    mask: BoolArray | None = None
    tolerance: Fraction | None = None

    def attention(self, data: Dataset) -> Attention:
        """The layer on the data. Raises InputError."""
        weights = self.weights
        unit, scale = self.unit or weights.unit, self.scale or weights.scale
        return Attention(weights.on(data), weights.layer, unit, scale, self.mask)


@dataclass(frozen=True)
class Source:
    """Where weights are, and in which format: the options of `attncert audit` that say so."""

    path: str
    format: str = "auto"
    prefix: str | None = None
    heads: int | None = None


def question(
    data: Dataset | None,
    source: Source,
    scale: str | None = None,
    mask: str = "none",
    unit: str | None = None,
    tolerance: str | None = None,
) -> Question:
    """What the options of `attncert audit --layer` ask. Raises InputError."""
    if data is None:
        raise InputError("--layer", "given with a data set", "without one")
    weights = load_weights(source.path, source.format, source.prefix, source.heads)
    limit = None if tolerance is None else _tolerance(tolerance)
    return Question(weights, unit, scale, read_mask(mask, data), limit)


def section(scope: Scope) -> AuditSection:
    """Error and rank are findings; the comparison with Theorem 1 is reported. Raises InputError."""
    asked, data = scope.layer, scope.data
    if not isinstance(asked, Question) or data is None:
        raise InputError("--layer", "given with a data set", "without one")
    stored = asked.weights
    attention = asked.attention(data)
    if stored.groups is not None:
        fits = sum(map(len, stored.groups)) == data.T and len(stored.groups) <= len(
            stored.layer.heads
        )
        if not fits:
            must = (
                f"of the {data.T} examples, one group for each of {len(stored.layer.heads)} heads"
            )
            got = f"{len(stored.groups)} groups of {sum(map(len, stored.groups))} examples"
            raise InputError("groups", must, got)
    found = audit_layer(
        attention, tolerance=asked.tolerance, groups=stored.groups, progress=scope.progress
    )
    near = _near(attention)
    return AuditSection(
        "layer",
        f"Third-party weights: {stored.name}",
        text=(_text(found, asked), _asked(found), *_said(near)),
        tables=(_heads(found, asked), _examples(found), _theorem(found, asked)),
        findings=(_finding(found[ids.LAYER_MEMORIZES]), _finding(found[ids.LAYER_RANK])),
        numbers={
            "dtype": stored.dtype,
            "logit unit": attention.unit,
            "scale": attention.scale,
            "masked": asked.mask is not None,
            "tolerance": numeral(found.tolerance),
            "errors must be": "below the tolerance" if found.strict else "at most the tolerance",
            "error": found[ids.LAYER_ERROR].numbers["error"],
            "errors": found.errors,
            "singular value": [found.sigma.lower, found.sigma.upper],
            "heads": [
                {
                    "rank of M": head.rank,
                    "carries": head.group,
                    "peaks": head.peaks,
                    "saturated": head.saturated,
                    "second singular value off group": head.off_group,
                }
                for head in found.heads
            ],
        },
        claims=(*found.claims, *near),
        answer=_answer(found),
    )


def _near(attention: Attention) -> tuple[Claim, ...]:
    """Whether weights that are exact exist nearby: for plain layers of base e and moderate size."""
    plain = (attention.unit, attention.scale) == ("e", "none") and attention.mask is None
    if not plain or attention.data.T * attention.data.m > MOST_UNKNOWNS:
        return ()
    found = nearby(attention.data, attention.layer)
    return () if found is None else (nearby_claim(found),)


def _said(near: tuple[Claim, ...]) -> tuple[str, ...]:
    """For these labels, whatever the rank of $Z$ says about all."""
    return tuple(
        f"{claim.statement} ({claim.level.value}; in the maximum norm, for these labels alone)"
        for claim in near
    )


def _answer(found: LayerAudit) -> str:
    """Error, tolerance and rank: what was asked, for the terminal."""
    error, memorizes, rank = (
        found[name] for name in (ids.LAYER_ERROR, ids.LAYER_MEMORIZES, ids.LAYER_RANK)
    )
    T = found.attention.data.T
    within, beyond = ("below", "not below") if found.strict else ("within", "above")
    words = {Level.REFUTED: beyond, Level.UNDECIDED: f"undecided whether {within}"}
    within = words.get(memorizes.level, within)
    why = " (half the least gap between labels)" if found.strict else ""
    if rank.level.holds:
        full = f"rank $Z = T = {T}$ {rank.level.value}"
    elif rank.level is Level.REFUTED:
        full = f"rank $Z < T = {T}$ proved"
    else:
        full = f"rank $Z = T = {T}$ undecided"
    size = interval(*error.numbers["error"])
    size += " (every output equals its label)" if size == "0" else ""
    return f"Largest error {size}, {within} tolerance {short(found.tolerance)}{why}; {full}."


def _asked(found: LayerAudit) -> str:
    """What the tolerance is, and what an error within or below it does not say."""
    origin = "as given (--tolerance). An error within it is not equality"
    if found.strict:
        origin = (
            "half the least gap between two different labels (--tolerance sets another): an output "
            "with an error below it is nearer to its own label than to any other. That is not "
            "equality"
        )
    return (
        f"Tolerance: {short(found.tolerance)}, {origin}: --tolerance 0 asks for "
        "equality. Rank $Z=T$ means that some other readout of the same keys and queries outputs "
        "every labelling exactly, these labels included."
    )


def _tolerance(text: str) -> Fraction:
    """A decimal number or "p/q", exactly, at least 0."""
    if not _NUMBER.fullmatch(text):
        raise InputError("--tolerance", 'a number, at least 0, such as 0.01, 1e-6 or "1/2"', text)
    return Fraction(text)


def _text(found: LayerAudit, question: Question) -> str:
    attention = found.attention
    layer, data = attention.layer, attention.data
    error = found[ids.LAYER_ERROR]
    return (
        f"{counted(len(layer.heads), 'head')} of width {layer.head_width}, values of width "
        f"{layer.value_width}, stored as {question.weights.dtype} and taken exactly; logits in "
        f"units of {'ln 2' if attention.unit == 'ln2' else '1'}, scale {attention.scale}, "
        f"{'no mask' if question.mask is None else 'masked'}. On "
        f"{counted(data.T, 'example')} the largest error is "
        f"{interval(*error.numbers['error'])} ({error.level.value}); {_sigma(found)}."
    )


def _sigma(found: LayerAudit) -> str:
    low, high = bounds(found.sigma)
    if found[ids.LAYER_RANK].level is Level.REFUTED:
        size = "0, because its rank is below $T$"
    elif found.sigma.lower > 0:
        size = interval(low, high)
    else:
        size = f"at most {high}"
    return f"the smallest singular value of $Z$ is {size}"


def _heads(found: LayerAudit, question: Question) -> Table:
    rows = []
    for h, head in enumerate(found.heads, start=1):
        rows.append((
            str(h), str(head.rank), _list(head.group), str(len(head.saturated)),
            f"{len(set(head.earlier) & set(head.led))} of {len(head.earlier)}" if h > 1 else "-",
            f"{head.followed} of {len(head.earlier)}" if h > 1 else "-",
            "-" if head.off_group is None else f"{head.off_group:.2g}",
        ))  # fmt: skip
    return Table(
        "The heads",
        (
            "head", "rank of $M_h$", "carries examples", "saturated",
            "earlier ones lead by a bit", "at an extreme of $Eu$", "$\\sigma_2/\\sigma_1$",
        ),
        tuple(rows),
        f"{_carried(question)} "
        "saturated: examples with all but $2^{-10}$ of the attention on one row; earlier: carried "
        "by the heads above; $u$ and $\\sigma_2/\\sigma_1$: of $M_h$ away from the queries of its "
        "own group (numerical; 0 for $c\\,uv^\\top$, the paper's selector and separator)",
    )  # fmt: skip


def _carried(question: Question) -> str:
    if question.weights.groups is not None:
        return "carries: as the file's groups say;"
    return (
        "carries: inferred by rank, since the file names no groups: an example goes to the first "
        "head that makes its row of $Z$ independent of those before it, whichever head it was "
        "meant for, so the first heads often carry more than their share;"
    )


def _digits(bound: str) -> str:
    """A lower bound of a weight, cut after four digits: 1 is 1, and nothing below it is.

    >>> _digits("0.999999"), _digits("1"), _digits("0.25"), _digits("1e-301029")
    ('0.9999', '1', '0.25', '0')
    """
    return f"{Decimal(bound).quantize(Decimal('0.0001'), ROUND_DOWN).normalize():f}"


def _examples(found: LayerAudit) -> Table:
    data, rows = found.attention.data, []
    home = {t: h for h, head in enumerate(found.heads, start=1) for t in head.group}
    for t in range(min(data.T, _SHOWN)):
        low, high = found.errors[t]
        peaks = ", ".join(_digits(head.peaks[t][1]) for head in found.heads)
        error = low if low == high else f"{low} to {high}"
        rows.append((str(t), error, str(home.get(t, "none")), peaks))
    more = f"; {data.T - _SHOWN} more in the JSON" if data.T > _SHOWN else ""
    return Table(
        "The examples",
        ("example", "error", "carried by head", "largest weight, head by head"),
        tuple(rows),
        "error: one number is exact, two are bounds; weights are cut after four digits, not "
        f"rounded; both bounds are in the JSON{more}",
    )


def _theorem(found: LayerAudit, question: Question) -> Table:
    told = [claim for claim in found.claims if claim.id.startswith("theorem1.")]
    return Table(
        "How the layer compares with Theorem 1",
        ("claim", "found", "how"),
        tuple((claim.statement, _described(claim.level), claim.arithmetic) for claim in told),
        "A no is not a finding against the layer: it may memorize in another way than the proof of "
        "Theorem 1. It means that the layer is of another kind"
        + (
            "."
            if question.weights.groups is not None
            else ", or that the groups, which were counted by rank, are not those it was built "
            'with; if you know these, put them into the file as "groups".'
        ),
    )


def _described(level: Level) -> str:
    if level is Level.REFUTED:
        return "no"
    return f"yes ({level.value})" if level.holds else level.value


def _finding(claim: Claim) -> Finding:
    return Finding.of(claim, f"{claim.statement} ({claim.level.value})")


def _list(group: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, group[:12])) or "none"
    return shown + (f", ... ({len(group)})" if len(group) > 12 else "")

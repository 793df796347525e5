"""A layer from a file, as a section of the audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb, fmpq

from attncert.constructions.arrays import BoolArray
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.numerals import numeral, short
from attncert.constructions.weights.load import load_weights
from attncert.constructions.weights.recording import Recording
from attncert.constructions.weights.stored import StoredLayer
from attncert.verify.audit.layer.attention import Attention
from attncert.verify.audit.layer.error import LayerAudit, audit_layer, bounds, interval
from attncert.verify.audit.layer.mask import Recorded, read_mask
from attncert.verify.audit.layer.near import exact_near
from attncert.verify.audit.layer.numbers import exact_number
from attncert.verify.audit.layer.property import Property, judge, load_property, verdict
from attncert.verify.audit.layer.reading import read_claim
from attncert.verify.audit.layer.tables import (
    ablation_table,
    examples_table,
    heads_table,
    heat_map,
    listed,
    theorem_table,
)
from attncert.verify.audit.records import (
    Audit,
    AuditSection,
    Finding,
    Scope,
    Standing,
    Table,
    audit,
)
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level, counted, widened

_BRIEF = 12  # characters of a tolerance that is written in full in the answer


@dataclass(frozen=True)
class Question:
    """weights: from a file or a module. unit, scale, mask: conventions (`Attention`); None: as the
    weights say. tolerance: the largest error that counts; None: below `default_tolerance`.
    asked: what is judged in place of error and rank. recorded: what the layer itself put out, which
    the weights must reproduce."""

    weights: StoredLayer
    unit: str | None = None
    scale: str | None = None
    mask: BoolArray | None = None
    tolerance: Fraction | None = None
    asked: Property | None = None
    recorded: Recorded | None = None

    @property
    def limit(self) -> Fraction | None:
        """The tolerance; without one, the error that the property allows, if it names one."""
        asked = None if self.asked is None else self.asked.error
        return asked if self.tolerance is None else self.tolerance

    def first(self, examples: int | None) -> Question:
        """The same of the first so many examples; None: of all."""
        mask = None if self.mask is None else self.mask[:examples]
        recorded = None if self.recorded is None else self.recorded.first(examples)
        return replace(self, mask=mask, recorded=recorded)

    def attention(self, data: Dataset) -> Attention:
        """The layer on the data. Raises InputError."""
        weights = self.weights
        unit, scale = self.unit or weights.unit, self.scale or weights.scale
        mask = None if self.mask is None else self.mask[:, : data.n]
        return Attention(weights.on(data), weights.layer, unit, scale, mask, weights.biased)


@dataclass(frozen=True)
class Source:
    """Where weights are, in which format, and the property asked of them: files and what options of
    `attncert audit` say of these."""

    path: str
    format: str = "auto"
    prefix: str | None = None
    heads: int | None = None
    property: str | None = None


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
    limit = None if tolerance is None else exact_number("--tolerance", tolerance)
    judged = None if source.property is None else load_property(source.property)
    seen, recorded = read_mask(mask, data)
    return Question(weights, unit, scale, seen, limit, judged, recorded)


def audit_weights(
    data: Dataset | Recording,
    weights: StoredLayer,
    *,
    mask: BoolArray | None = None,
    tolerance: str | Fraction | None = None,
    scale: str | None = None,
    property: str | None = None,
) -> Audit:
    """`attncert audit DATA --layer FILE` as a function. data: of a recording, with its mask and the
    outputs that the weights must reproduce. mask: (T, n), True where a row is seen. tolerance: the
    largest error, e.g. "0.1". scale: None: the format's. property: a TOML file. Raises InputError.

    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 0], [0, 1]], ["1/2", "1/2"])
    >>> from attncert.constructions.weights.own import of_arrays
    >>> zero, one = [[0], [0]], [[1], [1]]
    >>> made = {"query": zero, "key": zero, "value": one, "output": [["1/2"]]}
    >>> audit_weights(data, of_arrays(made), tolerance="0.1").sections[0].answer.split(".")[0]
    '2 of 2 within 1/10'
    """
    limit = exact_number("tolerance", tolerance) if isinstance(tolerance, str) else tolerance
    judged, recorded = None if property is None else load_property(property), None
    if isinstance(data, Recording):
        recorded, mask = Recorded(data.outputs, data.unit), data.mask if mask is None else mask
        data = data.data
    question = Question(weights, None, scale, mask, limit, judged, recorded)
    return audit(Scope(data, question), (section,))


def section(scope: Scope) -> AuditSection:
    """Error and rank are findings; the comparison with Theorem 1 is reported. Raises InputError."""
    asked, data = scope.layer, scope.data
    if not isinstance(asked, Question) or data is None:
        raise InputError("--layer", "given with a data set", "without one")
    stored = asked.weights
    attention = asked.attention(data)
    _require_groups(stored, data)
    reading = read_claim(stored, attention, asked.recorded)
    if reading is not None and not reading.level.holds:
        return _misread(stored, reading)
    found = audit_layer(
        attention, tolerance=asked.limit, groups=stored.groups, progress=scope.progress
    )
    equal = found[ids.LAYER_ERROR].numbers["error"][1] == "0"
    near = None if equal else exact_near(attention)  # these are exact themselves
    exact = () if near is None else (near.claim,)
    judged = () if asked.asked is None else judge(asked.asked, attention)
    grouped = stored.groups is not None
    return AuditSection(
        "layer",
        f"Third-party weights: {stored.name}",
        text=(
            _text(found, asked),
            *_format(stored),
            *((reading.statement,) if reading else ()),
            _asked(found, asked),
            *_rescaled(found),
            *_near(exact),
        ),
        tables=(
            *_property(judged),
            ablation_table(found),
            heads_table(found, grouped),
            examples_table(found),
            theorem_table(found, grouped),
        ),
        maps=(heat_map(found),),
        findings=tuple(
            _finding(claim, reading)
            for claim in judged or (found[ids.LAYER_MEMORIZES], found[ids.LAYER_RANK])
        ),
        numbers=_numbers(found, asked),
        claims=_resting((*judged, *found.claims, *exact), reading),
        answer=_answer(found, reading),
        verdict=verdict(judged) if judged else "",
    )


def _resting(claims: Sequence[Claim], reading: Claim | None) -> tuple[Claim, ...]:
    """On how the layer was read, which stands before them."""
    if reading is None:
        return tuple(claims)
    on = (reading.id,)
    return (reading, *(replace(claim, rests_on=(*claim.rests_on, *on)) for claim in claims))


def _misread(stored: StoredLayer, reading: Claim) -> AuditSection:
    """No verdict about labels: these are not the weights of what was recorded, or not all of it."""
    return AuditSection(
        "layer",
        f"Third-party weights: {stored.name}",
        text=_format(stored),
        findings=(Finding(reading.statement, Standing.UNDECIDED, reading.witness, yours=True),),
        claims=(reading,),
        answer=f"{reading.statement} Nothing is said about labels.",
    )


def _require_groups(stored: StoredLayer, data: Dataset) -> None:
    """Raises InputError where the groups of the file are not of these examples."""
    groups, heads = stored.groups, len(stored.layer.heads)
    if groups is None:
        return
    members = sum(map(len, groups))
    if members != data.T or len(groups) > heads:
        must = f"of the {data.T} examples, one group for each of {heads} heads"
        raise InputError("groups", must, f"{len(groups)} groups of {members} examples")


def _numbers(found: LayerAudit, asked: Question) -> dict[str, object]:
    """What audit.json says beside the claims."""
    stored, attention = asked.weights, found.attention
    return {
        "dtype": stored.dtype,
        "format": stored.format,
        "prefix": stored.prefix,
        "biases": stored.biased,
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
                "error without it": found.ablation.without[h],
                "gives most to": found.ablation.most_for(h),
            }
            for h, head in enumerate(found.heads)
        ],
        "beyond the tolerance": found[ids.LAYER_MEMORIZES].numbers["beyond"],
        "undecided": found[ids.LAYER_MEMORIZES].numbers["open"],
    }


def _near(exact: tuple[Claim, ...]) -> tuple[str, ...]:
    """For these labels, whatever the rank of $Z$ says about all."""
    labels = "in the maximum norm, for these labels alone"
    return tuple(
        f"{claim.statement} ({claim.level.value}; {labels})"
        if claim.level.holds
        else f"Whether exact weights are near these is {claim.level.value} ({labels})."
        for claim in exact
    )


def _answer(found: LayerAudit, reading: Claim | None) -> str:
    """How many examples are within the tolerance and which not, error and rank: what was asked, for
    the terminal; and what is assumed."""
    error, memorizes, rank = (
        found[name] for name in (ids.LAYER_ERROR, ids.LAYER_MEMORIZES, ids.LAYER_RANK)
    )
    T = found.attention.data.T
    beyond, undecided = memorizes.numbers["beyond"], memorizes.numbers["open"]
    within = "below" if found.strict else "within"
    why = " (half the least gap between labels)" if found.strict else ""
    said = f"{T - len(beyond) - len(undecided)} of {T} {within} {_brief(found.tolerance)}{why}"
    for word, some in (("failing", beyond), ("undecided", undecided)):
        said += f"; {word}: {listed(tuple(some))}" if some else ""
    if rank.level.holds:
        full = f"rank $Z = T = {T}$ {rank.level.value}"
    elif rank.level is Level.REFUTED:
        full = f"rank $Z < T = {T}$ proved"
    else:
        full = f"rank $Z = T = {T}$ undecided"
    size = interval(*error.numbers["error"])
    size += " (every output equals its label)" if size == "0" else ""
    assumed = (reading.statement,) if reading and reading.level is Level.ASSUMED else ()
    return " ".join((f"{said}. Largest error {size}; {full}.", *_rescaled(found), *assumed))


def _brief(limit: Fraction) -> str:
    """For one line: half a gap between floats has dozens of digits, which the report holds."""
    text = short(limit)
    if len(text) <= _BRIEF:
        return text
    return f"about {arb(fmpq(limit.numerator, limit.denominator)).str(3, radius=False)}"


def _rescaled(found: LayerAudit) -> tuple[str, ...]:
    """Where only another scale passes."""
    if found.rescaled is None:
        return ()
    used = found.attention.scale
    return (
        f"Only with --scale {found.rescaled} are all errors small enough, not with {used}, used "
        "here.",
    )


def _format(weights: StoredLayer) -> tuple[str, ...]:
    """What is to be known of a format that is not ours."""
    said = []
    if weights.format != "attncert":
        where = f" below {weights.prefix}" if weights.prefix else ""
        said.append(f"Read as {weights.format}{where}.")
    if weights.biased:
        said.append(
            "Biases: a 1 is appended to every token and query, and the biases of query and value "
            "are the last rows of their weights; the output's is taken off the labels. All errors "
            "stay what they are. The key's bias cancels in softmax. Rank and comparison with "
            "Theorem 1 are about tokens and queries with the 1."
        )
    return tuple(said)


def _property(judged: Sequence[Claim]) -> tuple[Table, ...]:
    """What the property file asked."""
    words = {Level.REFUTED: "falsified", Level.UNDECIDED: "undecided"}
    rows = tuple(
        (
            claim.id.removeprefix("property."), claim.statement,
            words.get(claim.level, f"verified ({claim.level.value})"),
            ", ".join(f"{key} {_cell(x)}" for key, x in (claim.witness or {}).items()) or "-",
        )
        for claim in judged
    )  # fmt: skip
    if not rows:
        return ()
    return (Table("The property", ("key", "claim", "found", "witness"), rows),)


def _cell(value: object) -> str:
    """A witness's value; an interval, as its two ends."""
    ends = [str(x) for x in value] if isinstance(value, (list, tuple)) else []
    return interval(*ends) if len(ends) == 2 else str(value)


def _asked(found: LayerAudit, question: Question) -> str:
    """What the tolerance is, and what an error within or below it does not say."""
    given = "--tolerance" if question.tolerance is not None else "the property's error"
    origin = f"as given ({given}). An error within it is not equality"
    if found.strict:
        origin = (
            "half the least gap between two different labels (--tolerance sets another): an output "
            "with an error below it is nearer to its own label than to any other. That is not "
            "equality"
        )
    attention = found.attention
    wide = widened(attention.data.m, attention.layer.value_width)
    return (
        f"Tolerance: {short(found.tolerance)}, {origin}: --tolerance 0 asks for "
        "equality. Rank $Z=T$ means that some other readout of the same keys and queries"
        f"{wide} outputs every labelling exactly, these labels included."
    )


def _text(found: LayerAudit, question: Question) -> str:
    attention = found.attention
    layer, data = attention.layer, attention.data
    error = found[ids.LAYER_ERROR]
    return (
        f"{counted(len(layer.heads), 'head')} of width {layer.head_width}, values of width "
        f"{layer.value_width}, stored as {question.weights.dtype} and taken exactly; logits in "
        f"units of {'ln 2' if attention.unit == 'ln2' else '1'}, scale {attention.scale}, "
        f"{_seen(question)}. On "
        f"{counted(data.T, 'example')} the largest error is "
        f"{interval(*error.numbers['error'])} ({error.level.value}); {_sigma(found)}."
    )


def _seen(question: Question) -> str:
    if question.mask is None:
        return "no mask"
    return f"masked: {int(question.mask.sum())} of {question.mask.size} rows are seen"


def _sigma(found: LayerAudit) -> str:
    low, high = bounds(found.sigma)
    if found[ids.LAYER_RANK].level is Level.REFUTED:
        size = "0, because its rank is below $T$"
    elif found.sigma.lower > 0:
        size = interval(low, high)
    else:
        size = f"at most {high}"
    return f"the smallest singular value of $Z$ is {size}"


def _finding(claim: Claim, reading: Claim | None) -> Finding:
    how = claim.level.value
    if reading and reading.level is Level.ASSUMED:
        how += ", resting on what is assumed"
    return Finding.of(claim, f"{claim.statement} ({how})")

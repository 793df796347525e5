"""The stages of `prove`, in order. Each function `check_…` returns the claims that it can make,
with their times."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import AS_GIVEN
from attncert.constructions.layer import Layer, parameter_count
from attncert.constructions.readout.solve import (
    predicted_bits,
    readout,
    right_inverse,
    with_readout,
)
from attncert.verify.certificates.certificate import (
    LIMIT_MIB,
    LIMIT_SECONDS,
    Certificate,
    TooLarge,
    certificate,
    cost_of_checking,
    data_file,
    produced_by,
)
from attncert.verify.certificates.installed import versions
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, timed
from attncert.verify.claims.proof import Kind, Proof
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.outputs.multiprecision import multiprecision
from attncert.verify.outputs.rational import rational
from attncert.verify.prove.run import Run
from attncert.verify.prove.summaries import summaries
from attncert.verify.provenance.conclusion import in_words_of
from attncert.verify.rank.engines.devices import choose_device
from attncert.verify.saturation.saturated import saturated
from attncert.verify.statements.judged import Judged
from attncert.verify.statements.steps import conclusions, narrow

# Limits on the work of the exact readout, bits²·T. Within them, solving takes less time than
# checking the solution over ℚ and writing it (benchmarks/digits.py). A certificate takes 32 MB at
# 10^13 (385 digits); at 5·10^14 (769) the checker cannot read it, and the answer is the rank.
SOLVE_WORK = 10**13
ASKED_WORK = 10**15  # if interpolation was requested
READOUT_BITS = 2**33  # limit on bits·T, the size of the system, even on request: 1 GiB
INVERSE_WORK = 2 * 10**12  # for all T right-hand sides at once (symbolic labels)
MULTIPRECISION_WORK = 10**5  # T·H·n exponentials in ball arithmetic


@dataclass(frozen=True)
class Outcome:
    """The finished layer (with its readout, if one was computed), the claims about it, and a
    certificate if the checker can read it."""

    kind: Kind
    layer: Layer
    claims: list[Claim]
    certificate: Certificate | None = None


def require_values(run: Run, statements: Judged) -> BuiltLayer:
    """The weights that were built. Raises HypothesisFails if no weights were built, or if the
    values are too narrow."""
    if statements.placed is None:
        assert statements.failure is not None
        raise statements.failure
    narrow.require_wide_enough(run.data, statements.placed, run.value_width, run.question.claim)
    return statements.placed


def check_premises(run: Run, built: BuiltLayer, earlier: list[Claim]) -> list[Claim]:
    """Whether the theorem applies as stated, and how many parameters the layer has."""
    data, method, heads = run.data, run.construction, len(built.layer.heads)
    claims = []
    if method.theorem:
        named = {ids.TOKEN_COUNTS, ids.VALUE_WIDTH, *map(ids.hypothesis, method.hypotheses)}
        if ids.A1 in named:  # the theorem assumes A1; the proof uses the partition condition
            named.discard(ids.PARTITION)
        premises = [claim for claim in earlier if claim.id in named]
        claims.append(conclusions.theorem_applies(method.theorem, premises, method.source))
    count = parameter_count(data.d, data.m, heads, built.layer.head_width, run.value_width)
    return [*claims, conclusions.parameters(count)]


def check_saturation(run: Run, built: BuiltLayer) -> list[Claim]:
    """Saturation at the least c, if the question asks for it."""
    target = run.request.saturation
    if target is None:
        return []
    run.progress("saturation", 0, 1)
    return [timed(partial(saturated, run.data, built, target))]


def check_rank(run: Run, built: BuiltLayer) -> list[Claim]:
    """The claim rank Z = T at finite weights, and the reduction that makes it sufficient."""
    run.progress("rank", 0, run.data.T)
    progress = partial(run.progress, "rank")
    where = run.question.device, run.cluster
    full = timed(partial(conclusions.full_rank, run.data, built.layer, *where, progress))
    if not run.narrow:
        return [full, conclusions.reduction()]
    columns = timed(partial(narrow.columns, run.data, built, run.value_width))
    return [full, columns, narrow.reduction()]


def _rank_reason(run: Run, built: BuiltLayer, bits: int) -> str:
    """Why the answer is a rank and no readout is computed; "" if a readout is computed. bits: the
    length of the readout's numbers."""
    data, work = run.data, bits * bits * run.data.T
    if run.question.claim == "full-rank":
        return "as asked"
    unasked = ASKED_WORK if run.question.round else SOLVE_WORK
    if run.narrow or run.question.claim == "interpolation" or work <= unasked:
        return ""
    why = conclusions.too_long_to_compute(bits)
    whole = max(data.contexts.denominator, data.queries.denominator) == 1
    advice = "" if whole or data.origin is not AS_GIVEN else "; --round with a step shortens them"
    if not _fits(bits, data.T):
        return why + advice
    why += " unless --claim interpolation is given"
    above = _above_limits(*cost_of_checking(data, built.layer, bits))
    return (f"{why}, but {above}" if above else why) + advice


def _fits(bits: int, T: int) -> bool:
    """Whether a readout of T numbers of this length is within every limit."""
    return bits * bits * T <= ASKED_WORK and bits * T <= READOUT_BITS


def _above_limits(check_seconds: float, mib: float) -> str:
    """The cost of checking a certificate, with the options that raise the default limits, if it
    exceeds them; else ""."""
    if check_seconds <= LIMIT_SECONDS and mib <= LIMIT_MIB:
        return ""
    return (
        f"its check takes about {_brief(check_seconds)} s and {_brief(mib)} MiB, above the limits "
        f"({LIMIT_SECONDS:,g} s, {LIMIT_MIB:,g} MiB) that attncert check --limit-seconds and "
        "--limit-mib raise"
    )


def _brief(x: float) -> str:
    return f"{float(f'{x:.2g}'):,g}"


def outcome(run: Run, built: BuiltLayer, prime: int) -> Outcome:
    """The outcome of steps 9 and 10, or of the rank check. prime: the rank modulo it is T."""
    data, bits = run.data, predicted_bits(built, run.data)
    if why := _rank_reason(run, built, bits):
        return _by_rank(run, built, bits, prime, why)
    if not _fits(bits, data.T):
        return Outcome("interpolation", built.layer, conclusions.too_long(data, bits, run.narrow))
    run.progress("readout", 0, 1)
    progress = partial(run.progress, "readout")
    solution = readout(built, data, data.label_matrix, progress)
    layer = with_readout(built, data, solution, run.value_width)
    file, uncertified = _certified(run, built, layer)
    above = _above_limits(*cost_of_checking(data, layer)) if file else ""
    if run.question.claim == "auto" and not run.narrow and (uncertified or above):
        why = above or f"it has no certificate: {uncertified}"
        return _by_rank(run, built, bits, prime, why)
    routes = check_interpolation(run, built, layer, bits)
    concluded = conclusions.interpolates(data, routes, uncertified, above, narrow=run.narrow)
    return Outcome("interpolation", layer, [*routes, *concluded], file)


def _by_rank(run: Run, built: BuiltLayer, bits: int, prime: int, why: str) -> Outcome:
    """The outcome if the answer is the rank. why: the reason that no readout was computed."""
    file, uncertified = _certified(run, built, built.layer, prime)
    claims = conclusions.rank_only(run.data, bits, why, uncertified)
    return Outcome("full-rank", built.layer, claims, file)


def _certified(
    run: Run, built: BuiltLayer, layer: Layer, prime: int | None = None
) -> tuple[Certificate | None, str]:
    """A certificate of this layer (of its rank, if `prime` is given), or None and why the checker
    could not read it."""
    try:
        file = data_file(run.data, run.question.data_file)
        return certificate(
            run.data,
            layer,
            built.groups,
            construction=run.construction.name,
            produced_by=produced_by(run.question.line(), run.question.seed),
            value_width=run.value_width,
            prime=prime,
            saturation=run.request.saturation,
            file=file,
        ), ""
    except TooLarge as reason:
        return None, str(reason)


def check_interpolation(run: Run, built: BuiltLayer, layer: Layer, bits: int) -> list[Claim]:
    """Claims that outputs and labels are equal, one from each method that is fast enough."""
    data = run.data
    run.progress("interpolation", 0, 3)
    routes = [timed(partial(rational, data, layer))]
    if (bits * data.T) ** 2 <= INVERSE_WORK:
        from attncert.verify.outputs import symbolic  # imports SymPy

        inverse = right_inverse(built, data)
        if symbolic.work(data, layer, inverse) <= symbolic.WORK_LIMIT:
            run.progress("interpolation", 1, 3)
            routes.append(timed(partial(symbolic.symbolic, data, layer, inverse)))
    run.progress("interpolation", 2, 3)
    if data.T * len(layer.heads) * data.longest <= MULTIPRECISION_WORK:
        routes.append(timed(partial(multiprecision, data, layer)))
    return routes


def proof_of(run: Run, built: BuiltLayer, outcome: Outcome, claims: list[Claim]) -> Proof:
    """The proof: the trace, the numbers of each head, and the certificate if the answer holds."""
    data = run.data
    run.progress("figures", 0, 1)
    question = run.question
    blocks = conclusions.in_blocks(data, built.layer, question.device)
    device = choose_device(question.device) if blocks else None
    trace = ProofTrace(in_words_of(data, claims))
    file = outcome.certificate if trace.standing(ids.MEMORIZATION).holds else None
    return Proof(
        question=question,
        data=data,
        construction=run.construction,
        setup=replace(run.setup(built, device), claim=outcome.kind),
        trace=trace,
        conclusion=ids.MEMORIZATION,
        layer=outcome.layer,
        groups=built.groups,
        heads=summaries(data, built),
        certificate=file,
        versions=versions(device.versions if device else None),
    )

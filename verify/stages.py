"""The stages of `prove`, in order; each returns the claims that it can make, timed."""

from __future__ import annotations

import platform
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from attncert.constructions.construction import Construction
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.rounding import Rounding, rounded
from attncert.constructions.errors import HypothesisFails, InputError
from attncert.constructions.layer import Layer, parameter_count
from attncert.constructions.progress import Progress, StageProgress, silent
from attncert.constructions.readout.float_weights import float64_weights
from attncert.constructions.readout.solve import (
    predicted_bits,
    readout,
    right_inverse,
    with_readout,
)
from attncert.constructions.search.grouping import consecutive
from attncert.verify import grids, refusal
from attncert.verify.certificate import (
    LIMIT_MIB,
    LIMIT_SECONDS,
    TooLarge,
    certificate,
    cost_of_checking,
    further_keys,
)
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.proof import Kind, Proof, Setup
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.interpolation.enclosure import enclose_error
from attncert.verify.interpolation.multiprecision import affordable_bits, multiprecision
from attncert.verify.interpolation.rational import rational
from attncert.verify.interpolation.readout import readout_solves
from attncert.verify.interpolation.symbolic import feasible, symbolic
from attncert.verify.methods import registry
from attncert.verify.methods.method import Method
from attncert.verify.rank.engines.devices import Device, choose_device
from attncert.verify.rank.whole_layer.sizes import require_room
from attncert.verify.saturation import asked as asked_for
from attncert.verify.settings import Settings
from attncert.verify.steps import conclusions, shared
from attncert.verify.steps import hypotheses as asked
from attncert.verify.summaries import summaries
from attncert.verify.tightness.impossibility import certificate_of
from attncert.verify.tightness.limits import limits
from attncert.verify.tightness.rows import broken_relation

# Work of the exact readout, bits²·T. Solving takes the lesser part of the time up to these limits
# (benchmarks/digits.py); checking the solution over ℚ and writing T numbers of `bits` bits take the
# rest. A certificate has 32 MB at 10^13 (385 digits), and at 5·10^14 (769) it is more than the
# checker reads: then, and wherever a cap of the checker is met, the rank is the answer.
SOLVE_WORK = 10**13
ASKED_WORK = 10**15  # the limit where interpolation was asked for by name
READOUT_BITS = 2**33  # of the whole system (T rows of `bits`): 1 GiB, also where asked for
INVERSE_WORK = 2 * 10**12  # the same for all T right-hand sides at once (symbolic labels)
MULTIPRECISION_BITS = 40_000  # longer ones add digits to the agreement, not confidence
ENCLOSURE_WORK = 10**5  # T·H·n exponentials in ball arithmetic
RANKS_EACH_HEAD = 200  # examples up to which the rank is repeated after every head

Certificate = Mapping[str, Any] | None


@dataclass(frozen=True)
class Run:
    """The question, the data and the construction."""

    data: Dataset
    settings: Settings
    method: Method
    progress: StageProgress = silent
    call: str = ""  # in Python, where no command line repeats this run
    rounding: Rounding | None = None  # by which `data` came from what was given

    @property
    def head_width(self) -> int:
        return self.method.head_width(self.data, self.settings.head_width)

    @property
    def value_width(self) -> int:
        return self.settings.values(self.data)

    @property
    def r(self) -> int:
        return self.method.r(self.data, self.head_width)

    @property
    def command(self) -> str:
        """What repeats this run."""
        return self.call or self.settings.command(self.data.T)

    def at(self, stage: str) -> Progress:
        return partial(self.progress, stage)

    @contextmanager
    def theirs(self, part: str) -> Iterator[None]:
        """Where third-party code runs, or what it said is joined: an error other than the two
        that mean something is an InputError that names the construction, the part and the line."""
        try:
            yield
        except (InputError, HypothesisFails):
            raise
        except (Exception, SystemExit) as error:
            if not registry.foreign(self.method):
                raise
            whose = f"{part} of construction {self.method.name}"
            raise InputError(whose, "without errors", _told(error)) from error


@dataclass(frozen=True)
class Answer:
    """What the finished layer is claimed to do, the layer with whatever readout it has, and the
    certificate of it, where there is one that the checker reads."""

    kind: Kind
    layer: Layer
    claims: list[Claim]
    certificate: Certificate = None


def on_grid(run: Run) -> Run:
    """With the data rounded, where that is asked for. Raises InputError where `auto` finds none."""
    settings = run.settings
    if settings.round_to is None:
        return run
    if settings.grid is not None:
        data, done = rounded(run.data, settings.grid)
        return replace(run, data=data, rounding=done)
    run.progress("the grid", 0, 1)
    found = grids.finest(run.data, _builder(run))
    if found is None:
        raise InputError("--round", "a grid: none was found on which these data", "auto")
    return replace(run, data=found[0], rounding=found[1])


def _builder(run: Run) -> Callable[[Dataset], Construction]:
    """The construction as asked for, for other data than the run's."""

    def build(data: Dataset) -> Construction:
        with run.theirs("build"):
            return run.method.build(data, run.settings, silent)

    return build


def rounding(run: Run) -> list[Claim]:
    """What was done to the data before anything else."""
    if run.rounding is None:
        return []
    return [shared.timed(partial(grids.rounding_claim, run.rounding, run.data))]


def _of_rounded(run: Run, claims: list[Claim]) -> list[Claim]:
    """The answer says that it is about rounded data, and rests on that."""
    if run.rounding is None:
        return claims
    words, rests = grids.in_words(run.rounding), (ids.ROUNDING,)
    return [
        replace(
            claim,
            statement=claim.statement + words,
            rests_on=claim.rests_on + (rests if claim.level.holds else ()),
        )
        if claim.id == ids.MEMORIZATION
        else claim
        for claim in claims
    ]


def afford(run: Run) -> None:
    """Refuse before any work what the memory budget of the rank cannot hold in the end."""
    if run.data.T * run.data.T >= conclusions.BLOCKS_FROM:
        require_room(run.data.T, run.settings.memory_bytes)


def hypotheses(run: Run) -> list[Claim]:
    """Those that the theorem asks for, on the data at hand; and d_v ≥ m, which step 1 asks for."""
    data, named = run.data, run.method.outline.hypotheses
    run.progress("hypotheses", 0, 1)
    source = "paper, Theorem 1" if "value-width" in named else "docs/mathematics.md, section 1"
    every = partial(
        asked.kruskal_at_least,
        data,
        seed=run.settings.seed,
        work=run.settings.a1_work,
        progress=run.progress,
    )
    checks = {
        "context-size": partial(asked.sizes, data),
        "value-width": partial(asked.value_width, data, run.value_width, source),
        "A2": partial(asked.independent_contexts, data),
        "A1": partial(every, data.n, ids.A1),
    }
    wanted = [checks[name] for name in checks if name in (*named, "value-width")]
    if "A1" in named and run.r < data.n:
        wanted.append(partial(every, run.r, ids.A1_AT_R))
    claims = [shared.timed(check) for check in wanted]
    with run.theirs("hypotheses"):
        return [*claims, *run.method.hypotheses(data, run.settings)]


def build(run: Run) -> Construction:
    """The weights. Raises HypothesisFails where the construction does not apply."""
    if run.value_width < run.data.m:
        reason = f"values of width {run.value_width} are narrower than labels of {run.data.m}"
        raise HypothesisFails("value-width", reason, {})
    with run.theirs("build"):
        built = run.method.build(run.data, run.settings, run.at("building heads"))
        if not isinstance(built, Construction):
            raise TypeError(f"a {type(built).__name__} and no Construction is returned")
    return built


def premises(run: Run, built: Construction, known: list[Claim]) -> list[Claim]:
    """Capacity, groups and the partition condition; does the theorem apply; parameters."""
    data, method, heads = run.data, run.method, len(built.layer.heads)
    claims = _capacity(run, heads)
    if method.outline.partition:
        groups = built.partition or built.groups
        claims.append(shared.timed(partial(asked.partition, data, groups)))
    claims.append(shared.timed(partial(shared.placement, data, built, method.source)))
    named = {ids.hypothesis(name) for name in method.outline.hypotheses}
    asked_for = [claim for claim in [*known, *claims] if claim.id in named]
    if method.theorem:
        claims.append(conclusions.theorem_applies(method.theorem, asked_for, method.source))
    count = parameter_count(data.d, data.m, heads, built.head_width, run.value_width)
    return [*claims, conclusions.parameters(count)]


def steps(run: Run, built: Construction) -> list[Claim]:
    """The steps of the proof, head by head."""
    claims = []
    with_ranks = run.data.T <= RANKS_EACH_HEAD
    with run.theirs("steps"):
        for claim in run.method.head_claims(run.data, built, with_ranks=with_ranks):
            claims.append(claim)
            if of := ids.head_and_step(claim.id):
                run.progress("checking heads", of[0], len(built.heads))
    return claims


def follows(run: Run, built: Construction) -> list[Claim]:
    """What the proof says of the finished weights beside the answer."""
    with run.theirs("consequences"):
        return [*run.method.follows(run.data, built)]


def saturation(run: Run, built: Construction) -> list[Claim]:
    """Where it was asked for: by three routes, and at the least c."""
    wanted = run.settings.saturation
    if wanted is None:
        return []
    run.progress("saturation", 0, 1)
    routes = [shared.timed(check) for check in asked_for.checks(run.data, built, wanted)]
    return [*routes, asked_for.conclusion(built, wanted, routes)]


def rank(run: Run, built: Construction) -> list[Claim]:
    """rank Z = T at finite weights, and the reduction that makes it enough."""
    run.progress("rank", 0, run.data.T)
    settings = run.settings
    check = partial(
        conclusions.full_rank,
        run.data,
        built.layer,
        settings.device,
        settings.memory_bytes,
        run.at("rank"),
    )
    return [shared.timed(check), conclusions.reduction()]


def answer(run: Run, built: Construction, prime: int) -> Answer:
    """Steps 9 and 10, where the numbers are short enough; else the rank is the answer.

    prime: modulo which the rank is T.
    """
    data, wanted = run.data, run.settings.claim
    bits = predicted_bits(built, data)
    work = bits * bits * data.T
    if wanted == "full-rank":
        return _by_rank(run, built, prime, bits, "as asked")
    if wanted == "auto" and work > (ASKED_WORK if run.rounding else SOLVE_WORK):
        return _by_rank(run, built, prime, bits, conclusions.too_long_to_compute(bits))
    if bits * data.T > READOUT_BITS or work > ASKED_WORK:
        return Answer("interpolation", built.layer, conclusions.too_long(data, bits))
    run.progress("readout", 0, 1)
    solution = readout(built, data, data.label_matrix, run.at("readout"))
    layer = with_readout(built, data, solution, run.value_width)
    file, uncertified = _certified(run, built, layer)
    seconds, mib = cost_of_checking(data, layer) if file else (0.0, 0.0)
    if seconds > LIMIT_SECONDS or mib > LIMIT_MIB:
        size = f"about {seconds:.2g} s and {mib:.2g} MiB"
        file, uncertified = None, f"checking it would take {size}, more than the checker allows"
    if uncertified and wanted == "auto":
        return _by_rank(run, built, prime, bits, f"it has no certificate: {uncertified}")
    solves = shared.timed(partial(readout_solves, data, layer))
    routes = interpolation(run, built, layer, work)
    concluded = conclusions.interpolates(data, routes, uncertified)
    return Answer("interpolation", layer, [solves, *routes, *concluded], file)


def _by_rank(run: Run, built: Construction, prime: int, bits: int, why: str) -> Answer:
    """The rank is the answer. why: no readout was computed."""
    file, uncertified = _certified(run, built, built.layer, prime)
    claims = conclusions.rank_only(run.data, bits, why, uncertified)
    claims[0] = replace(claims[0], numbers={**claims[0].numbers, **_on_a_grid(run, bits)})
    return Answer("full-rank", built.layer, [*claims, enclosure(run, built)], file)


def _on_a_grid(run: Run, bits: int) -> dict[str, Any]:
    """Of data with fractions, too long for an exact readout: the grid on which there is one, what
    asks for it, and about how long that takes."""
    data = run.data
    whole = data.contexts.denominator == data.queries.denominator == 1
    affordable = bits * bits * data.T <= SOLVE_WORK
    if whole or affordable or run.rounding or run.call or data.T > grids.MOST_EXAMPLES:
        return {}
    run.progress("the grid", 0, 1)
    found = grids.finest(data, _builder(run), SOLVE_WORK)
    if found is None:
        return {}
    _, done, work = found
    settings = replace(run.settings, round_to=str(done.grid), claim="auto")
    return {
        "to interpolate rounded data": settings.command(data.T),
        "largest change": grids.at_most(done.largest_change),
        "seconds, estimated": grids.seconds(work),
    }


def _certified(
    run: Run, built: Construction, layer: Layer, prime: int | None = None
) -> tuple[Certificate, str]:
    """The certificate of this layer (prime: of its rank); or None, and why the checker would not
    read it."""
    try:
        return certificate(
            run.data,
            layer,
            built.groups,
            construction=run.method.certificate_name,
            produced_by=_produced_by(run),
            value_width=run.value_width,
            prime=prime,
            more=further_keys(run.settings.saturation, run.rounding),
        ), ""
    except TooLarge as reason:
        return None, str(reason)


def interpolation(run: Run, built: Construction, layer: Layer, work: int) -> list[Claim]:
    """The layer's outputs are the labels: by every route that its numbers allow."""
    data = run.data
    run.progress("interpolation", 0, 3)
    routes = [shared.timed(partial(rational, data, layer))]
    if work * data.T <= INVERSE_WORK:
        inverse = right_inverse(built, data)
        if feasible(data, layer, inverse):
            run.progress("interpolation", 1, 3)
            routes.append(shared.timed(partial(symbolic, data, layer, inverse)))
    run.progress("interpolation", 2, 3)
    precision = min(MULTIPRECISION_BITS, affordable_bits(data, layer))
    if precision > 0:
        check = partial(multiprecision, data, layer, max_bits=precision)
        routes.append(shared.timed(check))
    return routes


def enclosure(run: Run, built: Construction) -> Claim:
    """Float64 weights for the given labels, their error enclosed. The rank stands without."""
    data, heads = run.data, len(built.layer.heads)
    if data.T * heads * data.n > ENCLOSURE_WORK:
        return conclusions.no_enclosure(f"more than {ENCLOSURE_WORK:,} softmax weights")
    run.progress("enclosure", 0, 1)
    settings = replace(run.settings, heads=heads, saturate=None, saturate_own=False)
    try:
        weights = float64_weights(data, lambda coarse: run.method.build(coarse, settings, silent))
    except HypothesisFails as failure:
        return conclusions.no_enclosure(str(failure))
    return shared.timed(partial(enclose_error, data, weights))


def finished(run: Run, built: Construction, answer: Answer, claims: list[Claim]) -> Proof:
    """The trace, the heads in numbers, and the certificate of what holds."""
    data = run.data
    run.progress("figures", 0, 1)
    device = _device(run, built)
    setup = replace(_setup(run, built, device), claim=answer.kind)
    with run.theirs("trace"):
        trace = ProofTrace(_of_rounded(run, claims))
    return Proof(
        data=data,
        settings=setup,
        trace=trace,
        conclusion=ids.MEMORIZATION,
        layer=answer.layer,
        groups=built.groups,
        heads=summaries(data, built),
        certificate=answer.certificate if trace.standing(ids.MEMORIZATION).holds else None,
        versions=versions(device),
    )


def refused(run: Run, known: list[Claim], failure: HypothesisFails) -> Proof:
    """Nothing could be built: say which hypothesis fails, with a witness found here again."""
    data, r = run.data, run.r
    bound = run.method.bound
    heads = run.settings.heads or (bound and bound.fewest(data.T, r)) or 1
    claims = [*known, *_capacity(run, heads)]
    if failure.hypothesis == "some-partition":
        given = consecutive(range(data.T), r, max(r - 1, 1))
        claims.append(shared.timed(partial(asked.partition, data, given)))
        claims.append(conclusions.no_grouping(failure))
    named = ids.hypothesis(failure.hypothesis)  # none where the builder gave up
    failing = [claim.id for claim in claims if claim.id == named]
    wanted = run.settings.heads
    if run.method.outline.partition:
        run.progress("what can be placed", 0, 1)
        claims += refusal.placed(data, r, wanted or data.T, run.settings.seed)
    run.progress("limits for all weights", 0, 1)
    known_limits = limits(data, wanted, run.value_width)
    claims += known_limits
    claims += refusal.answer(
        failure,
        failing,
        known_limits,
        heads=wanted,
        value_width=run.value_width,
        examples=data.T,
        given=run.settings.claim == "interpolation",
    )
    setup = _setup(run, None, None)
    with run.theirs("trace"):
        trace = ProofTrace(_of_rounded(run, claims))
    proof = Proof(data, setup, trace, ids.MEMORIZATION, versions=versions())
    if not any(c.id == ids.ROWS_LABELS and c.level is Level.REFUTED for c in known_limits):
        return proof
    broken = broken_relation(data)
    assert broken is not None, "the same relations as in rows.labels"
    if not broken.checkable:
        return proof
    try:
        return replace(
            proof,
            certificate=certificate_of(
                data, broken, _produced_by(run), further_keys(None, run.rounding)
            ),
        )
    except TooLarge:
        return proof  # the witness shows it


def _capacity(run: Run, heads: int) -> list[Claim]:
    """T is at most what the theorem places, where it says how many."""
    bound, source = run.method.bound, run.method.source
    if bound is None:
        return []
    return [shared.timed(partial(asked.capacity, run.data.T, heads, run.r, bound, source))]


def _told(error: BaseException) -> str:
    """The error, and the last line of third-party code on the way to it."""
    ours = str(Path(__file__).parents[1])
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith(ours)]
    place = f" ({Path(theirs[-1].filename).name}, line {theirs[-1].lineno})" if theirs else ""
    return f"{type(error).__name__}: {error}{place}"


def _device(run: Run, built: Construction) -> Device | None:
    """Where the rank was computed, if in blocks."""
    blocks = conclusions.in_blocks(run.data, built.layer, run.settings.device)
    return choose_device(run.settings.device) if blocks else None


def _setup(run: Run, built: Construction | None, device: Device | None) -> Setup:
    """What the report says was asked and built."""
    data, settings, method = run.data, run.settings, run.method
    heads = len(built.layer.heads) if built else settings.heads
    width = built.head_width if built else run.head_width
    count = parameter_count(data.d, data.m, heads, width, run.value_width) if heads else None
    voice, bound = method.voice, method.bound
    with run.theirs("remarks"):
        remarks = method.remarks(data, built) if built else {}
    return Setup(
        construction=method.name,
        claim=settings.claim,
        heads=heads,
        head_width=width,
        value_width=run.value_width,
        r=run.r,
        seed=settings.seed,
        command=run.command,
        outline=method.outline,
        voice=replace(
            voice,
            title=voice.title or method.name,
            theorem=voice.theorem or method.theorem,
            source=voice.source or method.source,
        ),
        saturation=settings.saturation if built else None,
        rounding=run.rounding,
        asked_as="" if run.call else settings.construction,
        certificate_name=method.certificate_name,
        capacity=method.places(heads, run.r),
        parameters=count,
        usable_width=bound.r.replace(",", ", ") if bound and "d_h" in bound.r else "",
        device=device.kind if device else "cpu",
        rank_memory=f"{settings.memory:g} GiB" if device else None,
        regrouped=bool(built and built.regrouped),
        remarks=remarks,
    )


def _produced_by(run: Run) -> dict[str, Any]:
    """What a certificate says of its origin: no paths, no times."""
    return {
        "version": metadata.version("attncert"),
        "command": run.command,
        "seed": run.settings.seed,
    }


def versions(device: Device | None = None) -> Mapping[str, str]:
    """Of Python and of the libraries that computed; for timings.json, apart from the results."""
    packages = ("attncert", "python-flint", "sympy", "mpmath", "numpy", "scipy", "networkx")
    found = {"python": platform.python_version()} | {p: metadata.version(p) for p in packages}
    return found | ({"device": device.name} | dict(device.versions) if device else {})

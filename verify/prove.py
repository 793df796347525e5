"""The whole pipeline on one page: data -> construction -> claims -> trace, figures, certificate."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import metadata
from typing import Any

from threadpoolctl import threadpool_limits

from attncert.constructions.construction import Construction, capacity, fewest_heads
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import HypothesisFails
from attncert.constructions.layer import Layer, parameter_count
from attncert.constructions.readout.float_weights import float64_weights
from attncert.constructions.readout.solve import (
    predicted_bits,
    readout,
    right_inverse,
    with_readout,
)
from attncert.constructions.search.grouping import consecutive
from attncert.verify import refusal
from attncert.verify.certificate import MAX_HELD_BITS, TooLarge, certificate
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.proof import Proof
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.interpolation.enclosure import enclose_error
from attncert.verify.interpolation.multiprecision import affordable_bits, multiprecision
from attncert.verify.interpolation.rational import rational
from attncert.verify.interpolation.readout import readout_solves
from attncert.verify.interpolation.symbolic import feasible, symbolic
from attncert.verify.methods import Method, method
from attncert.verify.rank.engines.devices import Device, choose_device
from attncert.verify.rank.whole_layer.sizes import require_room
from attncert.verify.settings import CLAIMS, CONSTRUCTIONS, Settings
from attncert.verify.steps import conclusions, shared
from attncert.verify.steps import hypotheses as assumptions
from attncert.verify.summaries import summaries
from attncert.verify.tightness.impossibility import certificate_of
from attncert.verify.tightness.limits import limits
from attncert.verify.tightness.rows import broken_relation

__all__ = ["CLAIMS", "CONSTRUCTIONS", "Settings", "prove", "versions"]

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
LARGE = 2**22  # T·H·d entries of Z from which matrix products are worth more than one thread
RANKS_EACH_HEAD = 200  # examples up to which the rank is repeated after every head

Progress = Callable[[str, int, int], None]
Certificate = Mapping[str, Any] | None


def prove(
    data: Dataset,
    settings: Settings | None = None,
    progress: Progress = lambda stage, done, of: None,
) -> Proof:
    """Build the weights, check every step, and say what is known.

    Never raises for a false hypothesis or a false claim: those come back as claims with their
    witnesses. Raises InputError for arguments that make no sense.
    """
    settings = settings or Settings()
    heads = settings.heads or fewest_heads(data.T, data.n, data.n) or 1
    if data.T * heads * data.d >= LARGE:
        return _prove(data, settings, progress)
    with threadpool_limits(1, "blas"):  # threads that wait for each other at every small product
        return _prove(data, settings, progress)


def _prove(data: Dataset, settings: Settings, progress: Progress) -> Proof:
    run = _Run(data, settings, progress)
    run.afford()
    run.hypotheses()
    try:
        construction = run.build()
    except HypothesisFails as failure:
        return run.refusal(failure)
    run.steps(construction)
    return run.proof(construction, *run.answer(construction))


@dataclass
class _Run:
    """The claims so far, and what they are about."""

    data: Dataset
    settings: Settings
    progress: Progress
    claims: list[Claim] = field(default_factory=list)
    device: Device | None = None  # where the rank is computed, if in blocks

    @property
    def method(self) -> Method:
        return method(self.settings)

    @property
    def head_width(self) -> int:
        return self.settings.width(self.data)

    @property
    def value_width(self) -> int:
        return self.settings.values(self.data)

    @property
    def r(self) -> int:
        return self.method.r(self.data, self.settings)

    def check(self, function: Callable[..., Claim], *arguments: Any) -> Claim:
        """Run a check, time it, and put its claim on record."""
        self.claims.append(shared.timed(partial(function, *arguments)))
        return self.claims[-1]

    def afford(self) -> None:
        """Refuse before any work what the memory budget of the rank cannot hold in the end."""
        if self.data.T * self.data.T >= conclusions.BLOCKS_FROM:
            require_room(self.data.T, self.settings.memory_bytes)

    def hypotheses(self) -> None:
        data, seed = self.data, self.settings.seed
        self.progress("hypotheses", 0, 1)
        self.check(assumptions.sizes, data)
        self.check(assumptions.value_width, data, self.value_width)
        self.check(assumptions.independent_contexts, data)
        self.check(assumptions.kruskal_at_least, data, data.n, "hypothesis.A1", seed)
        if self.r < data.n:
            self.check(assumptions.kruskal_at_least, data, self.r, "hypothesis.A1-at-r", seed)

    def build(self) -> Construction:
        if self.value_width < self.data.m:
            reason = f"values of width {self.value_width} are narrower than labels of {self.data.m}"
            raise HypothesisFails("value-width", reason, {})
        return self.method.build(
            self.data,
            self.settings,
            lambda done, of: self.progress("building heads", done, of),
        )

    def refusal(self, failure: HypothesisFails) -> Proof:
        """Nothing could be built: say which hypothesis fails, with a witness found here again."""
        data, r = self.data, self.r
        heads = self.settings.heads or fewest_heads(data.T, r, r) or 1
        self.check(assumptions.capacity, data.T, heads, r, self.method.bound, self.method.source)
        if failure.hypothesis == "some-partition":
            given = consecutive(range(data.T), r, max(r - 1, 1))
            self.check(assumptions.partition, data, given)
            self.claims.append(conclusions.no_grouping(failure))
        named = f"hypothesis.{failure.hypothesis}"  # none where the builder gave up
        failing = [claim.id for claim in self.claims if claim.id == named]
        asked = self.settings.heads
        if self.method.partition:
            self.progress("what can be placed", 0, 1)
            self.claims += refusal.placed(data, r, asked or data.T, self.settings.seed)
        self.progress("what no weights escape", 0, 1)
        known = limits(data, asked, self.value_width)
        self.claims += known
        self.claims += refusal.answer(
            failure,
            failing,
            known,
            heads=asked,
            value_width=self.value_width,
            examples=data.T,
            given=self.settings.claim == "interpolation",
        )
        settings = self.public_settings(None)
        trace, ran = ProofTrace(self.claims), versions(self.device)
        proof = Proof(data, settings, trace, "memorization", versions=ran)
        if not any(c.id == "rows.labels" and c.level is Level.REFUTED for c in known):
            return proof
        broken = broken_relation(data)
        assert broken is not None, "the same relations as in rows.labels"
        if not broken.checkable:
            return proof
        try:
            return replace(proof, certificate=certificate_of(data, broken, self.produced_by))
        except TooLarge:
            return proof  # the witness shows it

    @property
    def produced_by(self) -> dict[str, Any]:
        """What a certificate says of its origin: no paths, no times."""
        return {
            "version": metadata.version("attncert"),
            "command": self.settings.command(self.data.T),
            "seed": self.settings.seed,
        }

    def certified(
        self, built: Construction, layer: Layer, prime: int | None = None
    ) -> tuple[Certificate, str]:
        """The certificate of this layer (prime: of its rank); or None, and why the checker would
        not read it."""
        try:
            return certificate(
                self.data,
                layer,
                built.groups,
                construction=built.name,
                produced_by=self.produced_by,
                value_width=self.value_width,
                prime=prime,
            ), ""
        except TooLarge as reason:
            return None, str(reason)

    def steps(self, built: Construction) -> None:
        """Everything up to and including the rank at finite c."""
        data, heads = self.data, len(built.layer.heads)
        bound, source = self.method.bound, self.method.source
        self.check(assumptions.capacity, data.T, heads, self.r, bound, source)
        if self.method.partition:
            self.check(assumptions.partition, data, built.partition or built.groups)
        self.check(shared.placement, data, built, source)
        named = ("A1", "A2", "context-size", "value-width", "capacity")
        premises = [c for c in self.claims if c.id in {f"hypothesis.{name}" for name in named}]
        self.claims.append(conclusions.theorem_applies(self.method.theorem, premises, source))
        count = parameter_count(data.d, data.m, heads, self.head_width, self.value_width)
        self.claims.append(conclusions.parameters(count))
        with_ranks = data.T <= RANKS_EACH_HEAD
        for claim in self.method.head_claims(data, built, with_ranks=with_ranks):
            self.claims.append(claim)
            self.progress("checking heads", int(claim.id.split(".")[1]), len(built.heads))
        self.progress("rank", 0, data.T)
        ranked = partial(self.progress, "rank")
        device, memory = self.settings.device, self.settings.memory_bytes
        if conclusions.in_blocks(data, built.layer, device):
            self.device = choose_device(device)
        self.check(conclusions.full_rank, data, built.layer, device, memory, ranked)
        self.claims.append(conclusions.reduction())
        self.claims += self.method.follows(data, built)

    def answer(self, built: Construction) -> tuple[Layer, str, Certificate]:
        """Steps 9 and 10, where the numbers can be written down; else the rank is the answer.

        The layer, the claim, and its certificate if the checker can read it.
        """
        data, wanted = self.data, self.settings.claim
        bits = predicted_bits(built, data)
        work = bits * bits * data.T
        if wanted == "full-rank":
            return self.by_rank(built, bits, "as asked")
        if wanted == "auto" and work > SOLVE_WORK:
            return self.by_rank(built, bits, conclusions.too_long_to_compute(bits))
        if bits * data.T > READOUT_BITS or work > ASKED_WORK:
            self.claims += conclusions.too_long(data, bits)
            return built.layer, "interpolation", None
        self.progress("readout", 0, 1)
        solution = readout(
            built, data, data.label_matrix, lambda done, of: self.progress("readout", done, of)
        )
        layer = with_readout(built, data, solution, self.value_width)
        file, uncertified = self.certified(built, layer)
        held = (2 * bits + data.labels.bits()) * data.d * len(layer.heads)  # features, readout
        if held > MAX_HELD_BITS:
            gib = f"about {held / 2**33:.2g} GiB"
            file, uncertified = None, f"the checker would hold {gib}, more than it allows itself"
        if uncertified and wanted == "auto":
            return self.by_rank(built, bits, f"it has no certificate: {uncertified}")
        self.check(readout_solves, data, layer)
        self.progress("interpolation", 0, 3)
        routes = [self.check(rational, data, layer)]
        if work * data.T <= INVERSE_WORK:
            inverse = right_inverse(built, data)
            if feasible(data, layer, inverse):
                self.progress("interpolation", 1, 3)
                routes.append(self.check(symbolic, data, layer, inverse))
        self.progress("interpolation", 2, 3)
        precision = min(MULTIPRECISION_BITS, affordable_bits(data, layer))
        if precision > 0:
            bounded = partial(multiprecision, max_bits=precision)
            routes.append(self.check(bounded, data, layer))
        self.claims += conclusions.interpolates(data, routes, uncertified)
        return layer, "interpolation", file

    def by_rank(self, built: Construction, bits: int, why: str) -> tuple[Layer, str, Certificate]:
        """The rank is the answer. why: no readout is written down."""
        prime = next(c.numbers["prime"] for c in self.claims if c.id == "rank")
        file, uncertified = self.certified(built, built.layer, prime)
        self.claims += conclusions.rank_only(self.data, bits, why, uncertified)
        self.enclosure(built)
        return built.layer, "full-rank", file

    def enclosure(self, built: Construction) -> None:
        """Float64 weights for the given labels, their error enclosed. The rank stands without."""
        data, heads = self.data, len(built.layer.heads)
        if data.T * heads * data.n > ENCLOSURE_WORK:
            reason = f"more than {ENCLOSURE_WORK:,} softmax weights"
            self.claims.append(conclusions.no_enclosure(reason))
            return
        self.progress("enclosure", 0, 1)
        try:
            weights = float64_weights(data, self.coarse_build(heads))
        except HypothesisFails as failure:
            self.claims.append(conclusions.no_enclosure(str(failure)))
            return
        self.check(enclose_error, data, weights)

    def coarse_build(self, heads: int) -> Callable[[Dataset], Construction]:
        """The same construction with as many heads, for a coarse copy of the data."""
        settings = replace(self.settings, heads=heads)
        return lambda data: self.method.build(data, settings, lambda done, of: None)

    def proof(self, built: Construction, layer: Layer, claim: str, file: Certificate) -> Proof:
        data, settings = self.data, self.public_settings(built) | {"claim": claim}
        self.progress("figures", 0, 1)
        trace = ProofTrace(self.claims)
        return Proof(
            data,
            settings,
            trace,
            "memorization",
            layer,
            built.groups,
            summaries(data, built),
            file if trace.standing("memorization").holds else None,
            versions(self.device),
        )

    def public_settings(self, built: Construction | None) -> dict[str, Any]:
        """What the report says was asked and built."""
        data, settings = self.data, self.settings
        heads = len(built.layer.heads) if built else settings.heads
        sizes: dict[str, Any] = {"capacity": None, "parameters": None}
        if heads:
            sizes["capacity"] = capacity(heads, self.r, self.r)
            sizes["parameters"] = parameter_count(
                data.d, data.m, heads, self.head_width, self.value_width
            )
        return sizes | {
            "construction": settings.construction,
            "heads": heads,
            "head_width": self.head_width,
            "value_width": self.value_width,
            "claim": settings.claim,
            "device": self.device.kind if self.device else "cpu",
            "seed": settings.seed,
            "command": settings.command(data.T),
            "regrouped": bool(built and built.regrouped),
            **({"rank_memory": f"{settings.memory:g} GiB"} if self.device else {}),
            **(self.method.remarks(self.data, built) if built else {}),
        }


def versions(device: Device | None = None) -> Mapping[str, str]:
    """Of Python and of the libraries that computed; for timings.json, apart from the results.

    device: where the rank was computed, if in blocks.
    """
    packages = ("attncert", "python-flint", "sympy", "mpmath", "numpy", "scipy", "networkx")
    found = {"python": platform.python_version()} | {p: metadata.version(p) for p in packages}
    return found | ({"device": device.name} | dict(device.versions) if device else {})

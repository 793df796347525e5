"""The whole pipeline on one page: data -> construction -> claims -> trace, figures, certificate."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import metadata
from typing import Any

import numpy as np

from constructions import mahdavi2024
from constructions.dataset import Dataset
from constructions.errors import HypothesisFails, InputError
from constructions.layer import Layer, parameter_count
from constructions.mahdavi2024 import Construction
from constructions.readout import pivot_system, predicted_bits, right_inverse, solve, with_readout
from verify import assumptions, features, paper_steps
from verify.apriori import Conditioning
from verify.certificate import certificate
from verify.evidence import Claim, Level
from verify.interpolation.multiprecision import affordable_bits, multiprecision
from verify.interpolation.rational import rational
from verify.interpolation.symbolic import feasible, symbolic
from verify.readout import readout_solves
from verify.proof import HeadSummary, Proof
from verify.trace import ProofTrace

CLAIMS = ("auto", "interpolation", "full-rank")
# Work of the exact readout, bits²·T per right-hand side (FLINT's p-adic lifting): 7·10^11 a second
# where it was measured, so the limits are about half a minute.
SOLVE_WORK = 2 * 10**13
RANKS_EACH_HEAD = 200  # examples up to which the rank is repeated after every head

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Settings:
    """What is asked of `prove`. None: the default that the data call for.

    construction: "paper". heads: H. head_width: d_h (default n). value_width: d_v (default m).
    claim: "interpolation" (exact output weights), "full-rank" (every labelling has some) or "auto".
    interior: let a group's example attend uniformly where that costs little conditioning.
    """

    construction: str = "paper"
    heads: int | None = None
    head_width: int | None = None
    value_width: int | None = None
    claim: str = "auto"
    interior: bool = True
    device: str = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        for argument in ("heads", "head_width", "value_width"):
            value = getattr(self, argument)
            if value is not None and not 1 <= value <= 10**6:
                raise InputError(argument, "a positive integer of at most 10^6", value)
        if self.claim not in CLAIMS:
            raise InputError("claim", " or ".join(CLAIMS), self.claim)
        if self.construction != "paper":
            raise InputError("construction", "paper", self.construction)

    def command(self, examples: int) -> str:
        """The command line that repeats this run, without paths."""
        words = ["attncert prove DATA", f"--construction {self.construction}"]
        words += [f"--examples {examples}"]
        for option in ("heads", "head_width", "value_width"):
            if getattr(self, option) is not None:
                words.append(f"--{option.replace('_', '-')} {getattr(self, option)}")
        words += [f"--claim {self.claim}"] if self.claim != "auto" else []
        words += [] if self.interior else ["--vertices"]
        return " ".join([*words, f"--seed {self.seed}"])


def prove(
    data: Dataset,
    settings: Settings | None = None,
    progress: Progress = lambda stage, done, of: None,
) -> Proof:
    """Build the weights, check every step, and say what is known.

    Never raises for a false hypothesis or a false claim: those come back as refuted claims with
    their witnesses. Raises InputError for arguments that make no sense.
    """
    return _Run(data, settings or Settings(), progress).proof()


@dataclass
class _Run:
    data: Dataset
    settings: Settings
    progress: Progress
    claims: list[Claim] = field(default_factory=list)

    def proof(self) -> Proof:
        data, settings = self.data, self.settings
        width = data.n if settings.head_width is None else settings.head_width
        value_width = data.m if settings.value_width is None else settings.value_width
        r = min(data.n, width)
        self.check(assumptions.sizes, data)
        self.check(assumptions.value_width, data, value_width)
        self.check(assumptions.independent_contexts, data)
        self.progress("hypotheses", 0, 1)
        self.check(assumptions.kruskal_at_least, data, data.n, "hypothesis.A1", settings.seed)
        if r < data.n:
            self.check(assumptions.kruskal_at_least, data, r, "hypothesis.A1-r", settings.seed)
        try:
            start = time.perf_counter()
            construction = mahdavi2024.build(
                data,
                head_width=width,
                heads=settings.heads,
                interior=settings.interior,
                seed=settings.seed,
                progress=lambda done, of: self.progress("building heads", done, of),
            )
            built_in = time.perf_counter() - start
            if value_width < data.m:
                raise HypothesisFails("d_v >= m", "values narrower than labels", {})
        except HypothesisFails as failure:
            return self.refusal(failure, r)
        return _Confirmation(self, construction, r, value_width, built_in).proof()

    def check(self, function: Callable[..., Claim], *arguments: Any) -> Claim:
        """Run a check, time it, and put its claim on record."""
        start = time.perf_counter()
        claim = function(*arguments)
        self.claims.append(claim.timed(time.perf_counter() - start))
        return self.claims[-1]

    def known(self, *ids: str) -> tuple[str, ...]:
        present = {claim.id for claim in self.claims}
        return tuple(i for i in ids if i in present)

    def refusal(self, failure: HypothesisFails, r: int) -> Proof:
        """Nothing could be built: say which hypothesis fails, with the witness found again here."""
        data, settings = self.data, self.settings
        heads = settings.heads or mahdavi2024.fewest_heads(data.T, data.n, r) or 1
        self.check(assumptions.capacity, data.T, heads, r, "\\min(n,d_h)")
        if failure.hypothesis == "grouping":
            given = mahdavi2024.consecutive(range(data.T), r, max(r - 1, 1))
            self.check(assumptions.partition, data, given)
            self.claims.append(
                Claim(
                    "hypothesis.some-partition",
                    f"Some grouping meets the partition condition: {failure.reason}.",
                    Level.REFUTED if failure.decided else Level.UNDECIDED,
                    witness=failure.witness or None,
                    arithmetic=assumptions.EXACT,
                    source="ours; constructions/grouping.py",
                )
            )
        self.claims.append(
            Claim(
                "memorization",
                "The construction of Theorem 1 applies to this data and memorizes it: "
                f"{failure.reason}.",
                Level.NOT_APPLICABLE if failure.decided else Level.UNDECIDED,
                source="paper, Theorem 1",
            )
        )
        return Proof(
            data,
            self.public_settings(None, r),
            ProofTrace(self.claims),
            "memorization",
            versions=versions(),
        )

    def public_settings(self, construction: Construction | None, r: int) -> dict[str, Any]:
        data, settings = self.data, self.settings
        width = settings.head_width or data.n
        heads = len(construction.layer.heads) if construction else settings.heads
        value_width = settings.value_width or data.m
        return {
            "construction": settings.construction,
            "heads": heads,
            "head_width": width,
            "value_width": value_width,
            "r": r,
            "capacity": mahdavi2024.capacity(heads, data.n, width) if heads else None,
            "parameters": parameter_count(data.d, data.m, heads, width, value_width)
            if heads
            else None,
            "claim": settings.claim,
            "device": "cpu",
            "seed": settings.seed,
            "command": settings.command(data.T),
            "regrouped": bool(construction and construction.regrouped),
        }


@dataclass
class _Confirmation:
    """Everything after the weights were built."""

    run: _Run
    construction: Construction
    r: int
    value_width: int
    built_in: float

    def proof(self) -> Proof:
        run, data, built = self.run, self.run.data, self.construction
        heads = len(built.layer.heads)
        run.check(assumptions.capacity, data.T, heads, self.r, "\\min(n,d_h)")
        run.check(assumptions.partition, data, built.groups)
        self.theorem(heads)
        with_ranks = data.T <= RANKS_EACH_HEAD
        for claim in paper_steps.head_claims(data, built, with_ranks=with_ranks):
            run.claims.append(claim)
            done = int(claim.id.split(".")[1])
            run.progress("checking heads", done, len(built.heads))
        run.progress("rank", 0, 1)
        prime = self.rank()
        layer, claim = self.readout(prime)
        bits = predicted_bits(built, data)
        settings = run.public_settings(built, self.r) | {
            "claim": claim,
            "predicted bits": bits if bits < 2**53 else f"2^{bits.bit_length()}",
        }
        run.progress("figures", 0, 1)
        summaries = self.summaries()
        proof = Proof(
            data,
            settings,
            ProofTrace(run.claims),
            "memorization",
            layer,
            built.groups,
            summaries,
            versions=versions(),
        )
        if not proof.standing.holds:
            return proof
        produced_by = {
            "version": metadata.version("attncert"),
            "command": settings["command"],
            "seed": settings["seed"],
        }
        return replace(
            proof,
            certificate=certificate(
                data,
                layer,
                built.groups,
                construction=built.name,
                produced_by=produced_by,
                value_width=self.value_width,
                prime=prime if claim == "full-rank" else None,
            ),
        )

    def theorem(self, heads: int) -> None:
        """Does the paper's theorem, as stated, apply? Nothing below rests on this."""
        data = self.run.data
        count = parameter_count(
            data.d, data.m, heads, self.construction.head_width, self.value_width
        )
        self.run.claims += [
            Claim(
                "theorem",
                "The hypotheses of Theorem 1 hold for this data, so the theorem applies as stated.",
                Level.PROVED,
                rests_on=self.run.known(
                    "hypothesis.A1",
                    "hypothesis.A2",
                    "hypothesis.n<=d",
                    "hypothesis.d_v>=m",
                    "hypothesis.capacity",
                ),
                source="paper, Theorem 1",
            ),
            Claim(
                "parameters",
                f"The layer has $H(2d\\,d_h+d\\,d_v+d_v m)={count:,}$ parameters.",
                Level.PROVED,
                numbers={"parameters": count},
                arithmetic="counting",
                source="paper, Theorem 1, step 11",
            ),
        ]

    def rank(self) -> int:
        """Rank of all features at the chosen c: a full rank mod p is a full rank over ℚ."""
        data, start = self.run.data, time.perf_counter()
        for prime in features.PRIMES:
            try:
                matrix = features.feature_matrix_mod(data, self.construction.layer, prime)
            except ZeroDivisionError:
                continue  # p divides a denominator: no statement mod this prime
            rank = features.rank_mod(matrix, prime)
            if rank == data.T:
                break
        full = rank == data.T
        self.run.claims.append(
            Claim(
                "rank",
                "The features $Z$ of the finished layer, at its finite $c$, have rank "
                f"$T={data.T}$ over $\\mathbb{{Q}}$.",
                Level.PROVED if full else Level.UNDECIDED,
                numbers={"rank": rank, "T": data.T, "prime": prime, "columns": matrix.shape[1]},
                arithmetic=f"features and rank mod {prime}; the rank over ℚ is at least that",
                source="mathematics, section 3",
                seconds=time.perf_counter() - start,
            )
        )
        self.run.claims.append(
            Claim(
                "reduction",
                "If $\\operatorname{rank}Z=T$ and $d_v\\ge m$, every labelling is interpolated by "
                "some values and output: $ZV=Y$ is solvable for every $Y$.",
                Level.ARGUED,
                source="paper, proof of Theorem 1, step 1; docs/mathematics.md",
            )
        )
        return prime

    def readout(self, prime: int) -> tuple[Layer, str]:
        """Steps 9 and 10: exact readout and interpolation, where the numbers can be written down."""
        run, data, built = self.run, self.run.data, self.construction
        bits = predicted_bits(built, data)
        wanted = run.settings.claim
        if wanted == "full-rank" or (wanted == "auto" and bits * bits * data.T > SOLVE_WORK):
            self.universal_only(bits, wanted)
            return built.layer, "full-rank"
        run.progress("readout", 0, 1)
        system = pivot_system(built, data)
        layer = with_readout(built, data, solve(system, data.label_matrix), self.value_width)
        run.check(readout_solves, data, layer)
        run.progress("interpolation", 0, 3)
        run.check(rational, data, layer)
        routes = ["interpolation.rational"]
        if bits * bits * data.T * data.T <= SOLVE_WORK:
            inverse = right_inverse(built, data, system)
            if feasible(data, layer, inverse):
                run.progress("interpolation", 1, 3)
                run.check(symbolic, data, layer, inverse)
                routes.append("interpolation.symbolic")
        run.progress("interpolation", 2, 3)
        if affordable_bits(data, layer) > 4 * bits:
            run.check(multiprecision, data, layer)
        self.conclude(routes)
        return layer, "interpolation"

    def conclude(self, routes: list[str]) -> None:
        """The answer rests on the weights and the data alone, not on the theorem's hypotheses."""
        run = self.run
        ran = [c for c in run.claims if c.id.startswith("interpolation.")]
        agree = not any(c.level is Level.REFUTED for c in ran)
        names = ", ".join(c.id.removeprefix("interpolation.") for c in ran)
        run.claims += [
            Claim(
                "interpolation.agreement",
                f"The {len(ran)} routes that ran ({names}) found nothing against the equality.",
                Level.PROVED if agree else Level.REFUTED,
                numbers={"routes": len(ran)},
                witness=None
                if agree
                else {c.id: dict(c.witness or {}) for c in ran if c.level is Level.REFUTED},
                arithmetic="comparison",
                source="ours",
            ),
            Claim(
                "universal",
                "With these key and query weights every labelling of the examples is memorized by "
                "some values and output.",
                Level.PROVED,
                rests_on=("rank", "reduction"),
                source="paper, Theorem 1",
            ),
            Claim(
                "memorization",
                "The layer outputs exactly the label, $A(E^{(t)},e^{(t)})=y^{(t)}$, on all "
                f"{run.data.T} examples.",
                Level.PROVED if agree else Level.REFUTED,
                numbers={"examples": run.data.T},
                rests_on=(*routes, "interpolation.agreement") if agree else (),
                witness=None if agree else {"see": "interpolation.agreement"},
                source="paper, Theorem 1, step 10",
            ),
        ]

    def universal_only(self, bits: int, wanted: str) -> None:
        size = str(bits) if bits < 2**53 else f"about 2^{bits.bit_length()}"
        why = (
            "as asked"
            if wanted == "full-rank"
            else f"its numbers would have {size} bits each, more than is worth writing down"
        )
        self.run.claims += [
            Claim(
                "interpolation.rational",
                f"No exact readout was written down: {why}.",
                Level.UNDECIDED,
                numbers={"predicted bits": bits if bits < 2**53 else size},
                source="step 9",
            ),
            Claim(
                "universal",
                "With these key and query weights every labelling of the examples is memorized by "
                "some values and output.",
                Level.PROVED,
                rests_on=("rank", "reduction"),
                source="paper, Theorem 1",
            ),
            Claim(
                "memorization",
                "The features have full rank $T$ over $\\mathbb{Q}$, which is universal "
                "memorization: $ZV=Y$ has a solution for every $Y$.",
                Level.PROVED,
                numbers={"examples": self.run.data.T},
                rests_on=("rank",),
                source="paper, Theorem 1, steps 1 and 8",
            ),
        ]

    def summaries(self) -> tuple[HeadSummary, ...]:
        data, conditioning, out = self.run.data, Conditioning(self.run.data), []
        for record, weights in zip(
            self.construction.heads, self.construction.layer.heads, strict=False
        ):
            table = features.logits(weights, data)
            lead = None
            if record.selector is not None:
                lead = paper_steps.lead(data, record)
            numbers = conditioning.add(record, table, lead)
            own = features.softmax_float(table[list(record.group)])
            span = max(int(np.ptp(row)) for row in table)
            out.append(
                HeadSummary(
                    group=record.group,
                    c=record.c,
                    bits=record.gap_bits,
                    apriori_c=numbers.apriori_c,
                    apriori_bits=numbers.apriori_bits,
                    z_bits=span,
                    condition=numbers.condition,
                    log2_off_peak=tuple(features.log2_off_peak(table).tolist()),
                    own_weights=tuple(tuple(row) for row in own.tolist()),
                )
            )
        return tuple(out)


def versions() -> Mapping[str, str]:
    """Of Python and of the libraries that computed; for timings.json, apart from the results."""
    packages = ("attncert", "python-flint", "sympy", "mpmath", "numpy", "scipy", "networkx")
    return {"python": platform.python_version()} | {p: metadata.version(p) for p in packages}

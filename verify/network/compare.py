"""`attncert compare` as a function: every construction on the same data, and what each costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError, OutOfTime
from attncert.constructions.given.law import law
from attncert.constructions.layer import Layer, parameter_count
from attncert.constructions.network.network import Network
from attncert.constructions.progress import StageProgress, silent, timed
from attncert.verify.answers import answers
from attncert.verify.claims import ids
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.proof import Proof
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.claims.words import counted
from attncert.verify.installed import versions
from attncert.verify.methods import registry
from attncert.verify.methods.construction import Construction
from attncert.verify.methods.goals import Exact
from attncert.verify.methods.names import RETRIEVAL
from attncert.verify.network import claims, growth
from attncert.verify.origins.conclusion import about_data
from attncert.verify.origins.rounded import on_grid
from attncert.verify.prove import prove
from attncert.verify.questions.compare import Compare
from attncert.verify.questions.prove import Prove


@dataclass(frozen=True)
class Entry:
    """What a construction makes of the first so many examples.

    claim: the conclusion, with its standing. hypotheses: the claims about them, too. proof: that
    its proof stands; None without steps and promises, and if a hypothesis kept it from being built.
    steered: whether heads make earlier examples attend to one token each. costs: as of any network;
    empty where nothing was built. Where the readout of a layer was too long to be written, only the
    full rank of its features is known: `costs` then has no bits, and its parameters are at most so
    many.
    """

    method: Construction
    examples: int
    claim: Claim
    hypotheses: tuple[Claim, ...] = ()
    proof: Claim | None = None
    steered: bool = False
    costs: Mapping[str, int] = field(default_factory=dict)

    @property
    def standing(self) -> Level:
        return self.claim.level

    @property
    def reason(self) -> str:
        """Why it does not hold."""
        return str((self.claim.witness or {}).get("reason", ""))

    @property
    def near(self) -> bool:
        """Whether it is a retrieval, which is about the queries, and near them at best."""
        return self.method.name == RETRIEVAL

    @property
    def equality(self) -> bool:
        """Whether the conclusion is that outputs equal labels, and not that they are near them."""
        return isinstance(self.method.claims[0], Exact)

    @property
    def exact(self) -> bool:
        """That the labels are output: proved, and nothing less."""
        return self.equality and self.standing.holds and not self.standing < Level.PROVED

    @property
    def written(self) -> bool:
        """Whether all numbers are: the bits are known."""
        return "bits in all" in self.costs


@dataclass(frozen=True)
class Floor:
    """What no construction of so many examples can do without.

    heads: of width one, the fewest that the dimension count N does not exclude for almost all
    labels (constructions/given/law.py), None where no number is enough; parameters: all of theirs.
    bits: T log2 V, which almost all labellings need in any encoding.
    """

    examples: int
    heads: int | None
    parameters: int | None
    bits: float

    @classmethod
    def of(cls, data: Dataset) -> Floor:
        heads = law(data).fewest_heads(1, data.m)
        count = heads and parameter_count(data.d, data.m, heads, 1, data.m)
        return cls(data.T, heads, count, claims.information(data))


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(Answer):
    """table: each construction at each size, sizes increasing. floors: one for each size."""

    question: Compare
    data: Dataset
    table: tuple[Entry, ...]
    floors: tuple[Floor, ...]

    @property
    def rows(self) -> tuple[Entry, ...]:
        """Of all examples."""
        return tuple(entry for entry in self.table if entry.examples == self.data.T)

    def cheaper_from(self, entry: Entry, than: Entry | None = None) -> int | None:
        """About the T from which on it takes fewer parameters than the other, or than attention
        alone, by the formulas of verify/network/growth.py; None: from no T, or there is none."""
        first, second = (
            entry.method.growth,
            growth.attention if than is None else than.method.growth,
        )
        if first is None or second is None:
            return None
        return growth.cheaper_from(first, second, growth.DataShape.of(self.data))


@answers(Compare, data=Dataset)
def compare(
    data: Dataset, question: Compare | None = None, progress: StageProgress = silent
) -> Comparison:
    """Memorize the data by every registered construction, and by that of the question, and count.

    The conclusion names those whose weights are proved to output the labels, or whose features are
    proved to have full rank: exact. If a construction fails, its entry says why. That of the
    question is a claim of its own, as `prove` judges it. Raises InputError for data without labels,
    for sizes above T, and for an error in the construction of the question. Source: ours,
    docs/networks.md, under Price.

    >>> from attncert import Compare, Dataset, compare
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    >>> answer = compare(data, Compare(sizes=[2]))
    >>> [(x.examples, x.costs["parameters"]) for x in answer.table if x.method.name == "relu"]
    [(2, 7), (3, 10)]
    """
    question = question or Compare()
    data = question.of(data).expanded()
    _ = data.labels  # raises InputError where there are none
    if question.round:
        data, _ = on_grid(data, Fraction(question.round))
    seconds: dict[str, float] = {}
    table, floors = list[Entry](), list[Floor]()
    own = registry.method(question.construction) if question.construction else None
    methods = [registry.method(name) for name in registry.names()]
    for T in question.all_sizes(data.T):
        some = data if data.T == T else data.take(T)
        for number, method in enumerate(methods):
            progress(counted(T, "example"), number, len(methods))
            with timed(seconds, f"{method.name}, {counted(T, 'example')}"):
                table.append(_entry(some, method, question, asked=method is own))
        floors.append(Floor.of(some))
    rows = table[-len(methods) :]
    return Comparison(
        question=question,
        data=data,
        trace=ProofTrace([*data.origin.claims(data), *_claims(data, rows, own)]),
        conclusion=ids.COMPARISON,
        uncertified="attncert prove writes that of each construction",
        seconds=seconds,
        versions=versions(),
        table=tuple(table),
        floors=tuple(floors),
    )


def _entry(data: Dataset, method: Construction, question: Compare, asked: bool = False) -> Entry:
    """asked: the question names it, and an error in it is raised."""
    own = ids.ClaimId(f"compare.{method.name}")
    prove_it = Prove(construction=method.name, seed=question.seed, time_limit=question.time_limit)
    try:
        proof = prove(data, prove_it)
    except (InputError, OutOfTime) as failure:
        if asked and isinstance(failure, InputError):
            raise
        reason, words = {"reason": str(failure)}, "The construction memorizes these examples."
        return Entry(method, data.T, Claim(own, words, Level.UNDECIDED, witness=reason))
    standing, costs = proof.trace.standing, _costs(proof, data)
    written = "bits in all" in costs
    unwritten = (
        f"The features have rank {data.T:,}: with them some values and output, not written, give "
        "exactly the labels."
    )
    most = "" if written else " at most"
    claim = replace(
        proof.claim,
        id=own,
        statement=unwritten if proof.holds and not written else proof.statement,
        source=method.source,
        level=proof.standing,
        numbers={f"{key}{most * (key == 'parameters')}": x for key, x in costs.items()},
        witness=None if proof.holds else {"reason": _reason(proof)},
        rests_on=(),
    )
    hypotheses = (
        replace(x, level=standing(x.id), rests_on=())
        for x in proof.trace
        if ids.hypothesis_name(x.id)
    )
    steps = [ids.head_and_step(x.id) for x in proof.trace]
    steered = any(step and step[1] == ids.SATURATION for step in steps)
    verdict = proof.proof_claim and replace(
        proof.proof_claim,
        id=ids.ClaimId(f"{own}.proof"),
        level=proof.proof_standing,
        rests_on=(),
    )
    return Entry(method, data.T, claim, tuple(hypotheses), verdict, steered, costs)


def _costs(proof: Proof, data: Dataset) -> dict[str, int]:
    if proof.setup is None:
        return claims.costs(proof.network) if proof.network else {}
    if proof.layer is None or proof.layer.output is None:
        return _without_readout(proof.layer, data)
    return claims.costs(Network.of_layer(proof.layer))


def _reason(proof: Answer) -> str:
    """Its own, or the first hypothesis that fails."""
    failing = [c.statement for c in proof.trace.failures() if ids.hypothesis_name(c.id)]
    return proof.reason or next(iter(failing), proof.statement)


def _without_readout(layer: Layer | None, data: Dataset) -> dict[str, int]:
    """With rank T the labels are read off T independent features: T·m values, and m output weights
    for each head."""
    if layer is None:
        return {}
    entries = [x for head in layer.heads for w in (head.key, head.query) for x in w.entries()]
    readout = (data.T + len(layer.heads)) * data.m
    return {"parameters": sum(x != 0 for x in entries) + readout, "hidden units": 0, "blocks": 1}


def _claims(data: Dataset, rows: list[Entry], own: Construction | None) -> Iterator[Claim]:
    """Each construction's, the hypotheses that fail, and the conclusion."""
    for row in rows:
        for claim in row.hypotheses:
            if not claim.level.holds and claim.id != ids.hypothesis("distinct-inputs"):
                yield replace(claim, id=ids.ClaimId(f"{row.claim.id}.{claim.id}"))
        yield row.claim
        if row.method is own:
            both = [row.claim, row.proof] if row.proof else [row.claim]
            words = " ".join(claim.statement for claim in both)
            yield from both[1:]
            yield Claim.together(ids.claimed(row.method.name), words, both)
    exact = [row for row in rows if row.exact]
    names = ", ".join(row.method.name for row in exact)
    conflict = claims.distinct_inputs(data)
    yield conflict
    every = counted(data.T, "example", "these")
    if exact:
        share = f"{len(exact)} of {counted(len(rows), 'construction')}"
        verb = "memorizes" if len(exact) == 1 else "memorize"
        level, witness, on = Level.PROVED, None, tuple(row.claim.id for row in exact)
        statement = f"{share} {verb} {every} exactly: {names}."
    else:
        statement, on = f"A construction memorizes {every} exactly.", ()
        level = Level.UNDECIDED if conflict.level.holds else Level.REFUTED
        reason = "each fails, for the reason that stands with it"
        if not conflict.level.holds:
            reason = "no function has these labels: two equal examples have different ones"
        witness = {"reason": reason, **(conflict.witness or {})}
    yield about_data(data, ids.COMPARISON, statement, level, rests_on=on, witness=witness)

"""`attncert compare` as a function: every construction on the same data, with its costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.layer import Layer
from attncert.constructions.network.network import Network
from attncert.constructions.progress import StageProgress, silent, timed
from attncert.verify.certificates.installed import versions
from attncert.verify.checking.answers import answers
from attncert.verify.claims import ids
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.proof import Proof
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.claims.words import counted
from attncert.verify.outputs import memorized as claims
from attncert.verify.prove.prove import prove
from attncert.verify.questions.compare import Compare
from attncert.verify.questions.prove import Prove
from attncert.verify.statements import registry
from attncert.verify.statements.construction import Construction
from attncert.verify.statements.goals import Exact


@dataclass(frozen=True)
class Entry:
    """The result of one construction on the data.

    claim: the conclusion. hypotheses: the claims about its hypotheses. proof: whether its proof
    holds; None if it has neither steps nor promises, or if a false hypothesis prevented the
    construction. costs: the costs of the network; empty if nothing was built. If the readout of a
    layer was too long to be written, only the full rank of its features is known: `costs` then
    omits the bits, and its number of parameters is an upper bound.
    """

    method: Construction
    claim: Claim
    hypotheses: tuple[Claim, ...] = ()
    proof: Claim | None = None
    costs: Mapping[str, int] = field(default_factory=dict)

    @property
    def standing(self) -> Level:
        return self.claim.level

    @property
    def reason(self) -> str:
        return str((self.claim.witness or {}).get("reason", ""))

    @property
    def equality(self) -> bool:
        """Whether the conclusion is that the outputs equal the labels, not only come near them."""
        return isinstance(self.method.claims[0], Exact)

    @property
    def exact(self) -> bool:
        """Whether it is proved that the outputs equal the labels."""
        return self.equality and self.standing.holds and not self.standing < Level.PROVED

    @property
    def written(self) -> bool:
        return "bits in all" in self.costs


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(Answer):
    """The answer to `compare`. table: one entry for each construction. bits: T log2 V for V
    different labels, which almost all labellings need in any encoding."""

    question: Compare
    data: Dataset
    table: tuple[Entry, ...]
    bits: float


@answers(Compare, data=Dataset)
def compare(
    data: Dataset, question: Compare | None = None, progress: StageProgress = silent
) -> Comparison:
    """Memorize the data with every registered construction and the question's own; count the costs.

    The conclusion names the constructions whose weights are proved to output the labels exactly, or
    whose features are proved to have full rank. If a construction fails, its entry says why. The
    construction of the question also has its own claim, as in `prove`. Raises InputError for data
    without labels, and for an error in the construction of the question. Source: ours,
    docs/networks.md, under Price.

    >>> from attncert import Dataset, compare
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    >>> [x.costs["parameters"] for x in compare(data).table if x.method.name == "relu"]
    [10]
    """
    question = question or Compare()
    data = question.of(data).expanded()
    _ = data.labels  # raises InputError if there are no labels
    seconds: dict[str, float] = {}
    table = list[Entry]()
    own = registry.method(question.construction) if question.construction else None
    methods = [registry.method(name) for name in registry.names()]
    for number, method in enumerate(methods):
        progress("compare", number, len(methods))
        with timed(seconds, method.name):
            table.append(_entry(data, method, question, named=method is own))
    return Comparison(
        question=question,
        data=data,
        trace=ProofTrace([*data.origin.claims(data), *_claims(data, table, own)]),
        conclusion=ids.COMPARISON,
        uncertified="attncert prove writes a certificate for each construction",
        seconds=seconds,
        versions=versions(),
        table=tuple(table),
        bits=claims.information(data),
    )


def _entry(data: Dataset, method: Construction, question: Compare, named: bool = False) -> Entry:
    """The entry of a construction. named: whether the question names it; if so, errors are
    raised."""
    own = ids.ClaimId(f"compare.{method.name}")
    try:
        proof = prove(data, Prove(construction=method.name, seed=question.seed))
    except InputError as failure:
        if named:
            raise
        reason, words = {"reason": str(failure)}, "The construction memorizes these examples."
        return Entry(method, Claim(own, words, Level.UNDECIDED, witness=reason))
    standing, costs = proof.trace.standing, _costs(proof, data)
    written = "bits in all" in costs
    unwritten = (
        f"The features have rank {data.T:,}: with suitable value and output matrices, which are "
        "not written, the layer outputs exactly the labels."
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
    verdict = proof.proof_claim and replace(
        proof.proof_claim,
        id=ids.ClaimId(f"{own}.proof"),
        level=standing(proof.proof_claim.id),
        rests_on=(),
    )
    return Entry(method, claim, tuple(hypotheses), verdict, costs)


def _costs(proof: Proof, data: Dataset) -> dict[str, int]:
    if proof.setup is None:
        return claims.costs(proof.network) if proof.network else {}
    if proof.layer is None or proof.layer.output is None:
        return _without_readout(proof.layer, data)
    return claims.costs(Network.of_layer(proof.layer))


def _reason(proof: Answer) -> str:
    """The reason that the proof gives, or the first hypothesis that fails."""
    failing = [c.statement for c in proof.trace.failures() if ids.hypothesis_name(c.id)]
    return proof.reason or next(iter(failing), proof.statement)


def _without_readout(layer: Layer | None, data: Dataset) -> dict[str, int]:
    """The number of parameters if the rank is T: T independent features give the labels with T·m
    values, and m output weights for each head."""
    if layer is None:
        return {}
    entries = [x for head in layer.heads for w in (head.key, head.query) for x in w.entries()]
    readout = (data.T + len(layer.heads)) * data.m
    return {"parameters": sum(x != 0 for x in entries) + readout, "hidden units": 0, "blocks": 1}


def _claims(data: Dataset, table: list[Entry], own: Construction | None) -> Iterator[Claim]:
    """The claims of all constructions, their hypotheses that fail, and the conclusion."""
    for entry in table:
        for claim in entry.hypotheses:
            if not claim.level.holds and claim.id != ids.hypothesis("distinct-inputs"):
                yield replace(claim, id=ids.ClaimId(f"{entry.claim.id}.{claim.id}"))
        yield entry.claim
        if entry.method is own:
            both = [entry.claim, entry.proof] if entry.proof else [entry.claim]
            words = " ".join(claim.statement for claim in both)
            yield from both[1:]
            yield Claim.together(ids.claimed(entry.method.name), words, both)
    distinct = claims.distinct_inputs(data)
    yield distinct
    yield _conclusion(data, table, distinct)


def _conclusion(data: Dataset, table: list[Entry], distinct: Claim) -> Claim:
    exact = [entry for entry in table if entry.exact]
    every = counted(data.T, "example", "these")
    if exact:
        names = ", ".join(entry.method.name for entry in exact)
        share = f"{len(exact)} of {counted(len(table), 'construction')}"
        verb = "memorizes" if len(exact) == 1 else "memorize"
        statement = f"{share} {verb} {every} exactly: {names}."
        on = tuple(entry.claim.id for entry in exact)
        return Claim(ids.COMPARISON, statement, Level.PROVED, rests_on=on)
    level = Level.UNDECIDED if distinct.level.holds else Level.REFUTED
    reason = "each construction fails, for the reason given with it"
    if not distinct.level.holds:
        reason = "no function has these labels: two equal examples have different labels"
    witness = {"reason": reason, **(distinct.witness or {})}
    statement = f"A construction memorizes {every} exactly."
    return Claim(ids.COMPARISON, statement, level, witness=witness)

"""Running a case for real, and comparing what was found with what must happen.

Nothing is taken from exit statuses: the standing of the conclusion, the exact set of claims that do
not hold, and what their witnesses contain are compared.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attncert.constructions import paper
from attncert.constructions.construction import SteeringHead
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.loading import load
from attncert.constructions.errors import InputError
from attncert.verify.audit.edge_cases.records import PROVED_BY, EdgeCase, Expect, FileCase
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.ids import ClaimId
from attncert.verify.claims.trace import ProofTrace
from attncert.verify.features import rank_of
from attncert.verify.prove import prove
from attncert.verify.settings import Settings
from attncert.verify.tightness.given_labels import fit_given_labels
from attncert.verify.tightness.impossibility import impossibility
from attncert.verify.tightness.labels import label_rank
from attncert.verify.tightness.relations.probes import adversarial_layers
from attncert.verify.tightness.relations.rows import row_bound
from attncert.verify.tightness.universal import universal


@dataclass(frozen=True)
class Outcome:
    """One case: `found` in words, one for each run; `differences`: what is not as expected.

    answers: standing of each run's conclusion, in the order of `case.expect`; () for files.
    """

    case: EdgeCase | FileCase
    found: tuple[str, ...]
    differences: tuple[str, ...]
    answers: tuple[Level, ...] = ()

    @property
    def as_expected(self) -> bool:
        return not self.differences


def check(case: EdgeCase | FileCase) -> Outcome:
    """Run the case and compare. Exact and deterministic."""
    if isinstance(case, FileCase):
        return _check_file(case)
    data = case.data()
    found, differences, answers = [], [], []
    for expect in case.expect:
        answer, claims = run(expect, data)
        answers.append(answer)
        found.append(f"{_asked(expect)}: {answer.value}")
        differences += [f"{_asked(expect)}: {d}" for d in _compare(expect, answer, claims)]
    return Outcome(case, tuple(found), tuple(differences), tuple(answers))


def run(expect: Expect, data: Dataset) -> tuple[Level, dict[ClaimId, Claim]]:
    """The standing of the run's conclusion, and all its claims by id."""
    return _RUNS[expect.run](data, dict(expect.options))


def _prove(
    construction: str,
) -> Callable[[Dataset, dict[str, Any]], tuple[Level, dict[ClaimId, Claim]]]:
    def ask(data: Dataset, options: dict[str, Any]) -> tuple[Level, dict[ClaimId, Claim]]:
        proof = prove(data, Settings(construction=construction, **options))
        return proof.standing, {claim.id: claim for claim in proof.trace}

    return ask


def _one(claim: Claim) -> tuple[Level, dict[ClaimId, Claim]]:
    return claim.level, {claim.id: claim}


def _labels(data: Dataset, options: dict[str, Any]) -> tuple[Level, dict[ClaimId, Claim]]:
    trace = ProofTrace(row_bound(data, **options))
    claims = {claim.id: claim for claim in trace if claim.id != ids.ROWS_UNIVERSAL}
    return claims[ids.ROWS_LABELS].level, claims


def _impossibility(data: Dataset, options: dict[str, Any]) -> tuple[Level, dict[ClaimId, Claim]]:
    claims = {claim.id: claim for claim in impossibility(data, **options)}
    return claims[ids.IMPOSSIBLE_UNIVERSAL].level, claims


def _given(data: Dataset, options: dict[str, Any]) -> tuple[Level, dict[ClaimId, Claim]]:
    claims = {claim.id: claim for claim in fit_given_labels(data, **options).claims}
    answer = claims[ids.GIVEN_OUTPUT].level
    return answer, {k: c for k, c in claims.items() if k != ids.GIVEN_UNIVERSAL}


def _uniform(data: Dataset, options: dict[str, Any]) -> tuple[Level, dict[ClaimId, Claim]]:
    zero = next(layer for name, layer in adversarial_layers(data, 1, 0) if name == "zero heads")
    rank, prime = rank_of(data, zero)
    statement = "The rank of the features with all weights zero."
    return _one(Claim(ids.UNIFORM, statement, Level.PROVED, {"rank": rank, "prime": prime}))


def _later_ties(data: Dataset, options: dict[str, Any]) -> tuple[Level, dict[ClaimId, Claim]]:
    """(head, example) for which E⁽ᵗ⁾u has no unique maximum or minimum, t placed later."""
    built, pairs, placed = paper.build(data, **options), [], set[int]()
    for number, head in enumerate(built.heads, start=1):
        placed |= set(head.group)
        if not isinstance(head, SteeringHead) or head.separator is None:
            continue
        for t in sorted(set(range(data.T)) - placed):
            values = sorted((data.context(t) * head.separator).entries())
            if len(values) > 1 and (values[-1] == values[-2] or values[0] == values[1]):
                pairs.append((number, t))
    statement = "Heads and later examples whose logits tie."
    return _one(Claim(ids.LATER_TIES, statement, Level.PROVED, {"pairs": pairs}))


_RUNS: dict[str, Callable[[Dataset, dict[str, Any]], tuple[Level, dict[ClaimId, Claim]]]] = {
    **{name: _prove(name) for name in PROVED_BY},
    "universal": lambda data, options: _one(universal(data, **options)),
    "impossibility": _impossibility,
    "labels": _labels,
    "label rank": lambda data, options: _one(label_rank(data, **options)),
    "given labels": _given,
    "uniform": _uniform,
    "later ties": _later_ties,
}


def _asked(expect: Expect) -> str:
    options = ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in sorted(expect.options.items()))
    return expect.run + (f" ({options})" if options else "")


def _compare(expect: Expect, answer: Level, claims: Mapping[ClaimId, Claim]) -> list[str]:
    out = []
    if answer is not expect.answer:
        out.append(f"expected {expect.answer.value}, found {answer.value}")
    against = {k: c for k, c in claims.items() if not c.level.holds and k != ids.MEMORIZATION}
    failing = {k for k, c in against.items() if c.about is None}
    if expect.run in PROVED_BY:
        limits = {k: c.level for k, c in against.items() if c.about is not None}
        asked = sorted({*limits, *expect.limits})
        for claim_id in (k for k in asked if limits.get(k) is not expect.limits.get(k)):
            level = limits.get(claim_id)
            out.append(
                f"{claim_id}: found {level.value if level else 'that it holds or is not asked'}"
            )
    for claim_id in sorted(failing - set(expect.fails)):
        out.append(f"{claim_id} should hold: {claims[claim_id].witness}")
    for claim_id in sorted(set(expect.fails) - failing):
        out.append(f"{claim_id} should not hold")
    for claim_id, wanted in {**expect.fails, **expect.shows}.items():
        claim = claims.get(claim_id)
        if claim is None:
            out.append(f"there is no claim {claim_id}")
            continue
        holds = {**claim.numbers, **(claim.witness or {})}
        for key, value in wanted.items():
            if not _same(holds.get(key), value):
                out.append(f"{claim_id}: expected {key} {value}, found {holds.get(key)}")
    return out


def _same(found: Any, wanted: Any) -> bool:
    """Equal, relations up to their sign."""
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(
            _same(found.get(key), value) for key, value in wanted.items()
        )
    if isinstance(wanted, list) and wanted and all(isinstance(x, str) for x in wanted):
        return found is not None and [str(x) for x in found] in (
            wanted,
            list(map(_negated, wanted)),
        )
    if isinstance(wanted, list):
        return found is not None and list(found) == wanted
    return bool(found == wanted)


def _negated(number: str) -> str:
    if number == "0":
        return number
    return number[1:] if number.startswith("-") else f"-{number}"


def _check_file(case: FileCase) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / case.file
        path.write_bytes(case.content())
        try:
            load(path)
        except InputError as error:
            line = str(error).replace(str(path), "FILE")
        else:
            line = ""
    if case.line is None:
        differences = [f"refused: {line}"] if line else []
    else:
        wrong = not line.startswith(case.line) or "\n" in line
        differences = [f"expected {case.line!r}, found {line or 'accepted'!r}"] if wrong else []
    return Outcome(case, (line or "accepted",), tuple(differences))

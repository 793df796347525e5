"""The tables of an audit: the user's data, and edge cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attncert.reports.words.table import Table
from attncert.verify.audit.edge_cases import CaseVerdict
from attncert.verify.audit.strength import Use
from attncert.verify.audit.user_data import Examination
from attncert.verify.claims import ids
from attncert.verify.methods.method import Method

_USED = ("hypothesis", "step", "what is counted", "the theorem allows", "used at most")
_BY_RANK = "not counted: heads certified by rank alone"


def data_tables(examined: Examination) -> Iterator[Table]:
    """Every hypothesis and the conclusion, as each construction asks for them; what each used."""
    rows = []
    for name, proof in examined.proofs.items():
        for claim in proof.trace:
            if ids.hypothesis_name(claim.id) or claim.id in (ids.THEOREM, proof.conclusion):
                numbers = (str(claim.numbers.get(k, "")) for k in ("asked", "found"))
                level = proof.trace.standing(claim.id).value
                rows.append((name, claim.statement, *numbers, level))
    columns = ("construction", "claim", "asked", "found", "standing")
    yield Table("Hypotheses", columns, tuple(rows))
    for name, strength in examined.strengths.items():
        note = (
            "Short heads (shortest vectors, not the steps of the proof) are certified by rank "
            "alone, not counted."
        )
        counts = _used(strength.uses, _BY_RANK if strength.short else "0")
        yield Table(f"Strength used: {name}", _USED, counts, note)


def _used(uses: Iterable[Use], none: str = "0") -> tuple[tuple[str, ...], ...]:
    return tuple(
        (u.hypothesis, u.step, u.what, str(u.allowed), str(u.used) if u.used else none)
        for u in uses
    )


def cases_table(cases: Sequence[CaseVerdict], methods: Sequence[Method]) -> Table:
    """Each case against each construction."""
    words = {(x.case, x.construction): x.words for x in cases}
    rows = tuple(
        (case, *(words[case, method.name] for method in methods))
        for case in dict.fromkeys(x.case for x in cases)
    )
    return Table("Edge cases", ("case", *(m.voice.title for m in methods)), rows)

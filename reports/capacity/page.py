"""The report of `attncert capacity DATA`: the law, the rank, and what each implies, apart."""

from __future__ import annotations

from attncert.constructions.brief import command_line
from attncert.reports.report import CAPACITY, Report
from attncert.reports.words.claims import lines
from attncert.reports.words.jsonable import jsonable, readable_json
from attncert.reports.words.levels import legend
from attncert.reports.words.numbers import count
from attncert.reports.words.templating import page
from attncert.verify.capacity.records import DataCapacity, capacity_dict
from attncert.verify.claims.evidence import sized

__all__ = ["one_line", "render", "report"]

FORMAT = "attncert-capacity-of-data/1"


def one_line(made: DataCapacity) -> str:
    """For a terminal: the largest rank of the Jacobian, from both sides."""
    rank, least, wanted = made.rank.rank, made.uppers[0].bound, made.rank.rows
    who = sized(made.heads, made.settings.head_width, made.value_width)
    if made.decided:
        return (
            f"Capacity of these examples, {who}: {rank} of {count(wanted, 'label')} (the rank is "
            f"certified, and no weights exceed it; N = {made.law})."
        )
    return (
        f"Capacity of these examples, {who}: undecided: between {rank} (certified) and {least} "
        f"(no weights exceed it), of {count(wanted, 'label')}."
    )


def command(made: DataCapacity) -> str:
    """What does it again; paths are left out."""
    return command_line("attncert capacity DATA", examples=made.data.T, **vars(made.settings))


def report(made: DataCapacity) -> Report:
    """Status 0: the largest rank is known from both sides; 3: undecided."""
    summary = jsonable(capacity_dict(made))
    return Report(CAPACITY, render(made), summary, (one_line(made),), made.exit_status)


def render(made: DataCapacity) -> dict[str, bytes]:
    """report.md and capacity.json; pure, and without times."""
    wanted, least = made.rank.rows, made.uppers[0]
    context = {
        "line": one_line(made),
        "made": made,
        "command": command(made),
        "lines": lines(made.claims),
        "simple": min(wanted, made.law),
        "finding": made.rank.rank < min(wanted, made.law),
        "least": least,
        "levels": legend(claim.level for claim in made.claims),
    }
    return {
        "report.md": page("capacity.md.j2", context),
        "capacity.json": readable_json({"format": FORMAT, **jsonable(capacity_dict(made))}),
    }

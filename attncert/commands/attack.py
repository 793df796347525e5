"""attncert attack: a search for data on which a construction fails."""

from __future__ import annotations

from typing import Annotated

import typer

from attncert.terminal.options import answered
from attncert.terminal.output import answer_alone, print_json, say
from attncert.verify.questions.prove import Prove


def attack(
    construction: Annotated[
        str, typer.Option(help="paper | width-one | affine | MODULE:NAME")
    ] = "width-one",
    cases: Annotated[int, typer.Option(help="how many data sets to draw")] = 2000,
    seed: Annotated[int, typer.Option(help="random seed of the cases")] = 0,
    start: Annotated[int, typer.Option(help="first case, to resume a run")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="counts as JSON on stdout")] = False,
) -> int:
    """Search small degenerate data for a case where a construction fails."""
    from attncert.terminal.progress import Stages
    from attncert.verify.audit.attack.search import attack

    with Stages() as progress:

        def seen(done: int, of: int) -> None:
            progress("cases", done, of)

        with answered(Prove), answer_alone():
            report = attack(construction, cases=cases, seed=seed, start=start, progress=seen)
    if as_json:
        print_json(report.as_dict())
    else:
        say(*str(report).splitlines())
        for failure in report.failures:
            say(str(failure))
    return report.exit_status

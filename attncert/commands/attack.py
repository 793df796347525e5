"""attncert attack: a search for data on which a construction, or a statement, fails."""

from __future__ import annotations

from typing import Annotated

import typer

from attncert.terminal.output import answer_alone, print_json, say


def attack(
    construction: Annotated[
        str | None,
        typer.Option(help="paper | width-one | affine | MODULE:NAME; default: width-one"),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            help="about given labels: law | queries | coordinates | pairs | groups | conjecture | "
            "capacity | every-labelling | pairs-built | near"
        ),
    ] = None,
    cases: Annotated[int, typer.Option(help="how many data sets to draw")] = 2000,
    seed: Annotated[int, typer.Option(help="random seed of the cases")] = 0,
    start: Annotated[int, typer.Option(help="first case, to resume a run")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="counts as JSON on stdout")] = False,
) -> int:
    """Search small degenerate data for a case where a construction, or a statement, fails."""
    from attncert.constructions.errors import InputError
    from attncert.terminal.progress import Stages
    from attncert.verify.audit.attack.given.search import attack_statement
    from attncert.verify.audit.attack.search import attack

    if target is not None and construction is not None:
        raise InputError("--target", "given without --construction", target)
    with Stages() as progress:

        def seen(done: int, of: int) -> None:
            progress("cases", done, of)

        if target is not None:
            found = attack_statement(target, cases=cases, seed=seed, start=start, progress=seen)
            print_json(found.as_dict()) if as_json else say(str(found))
            if found.failures and not as_json:
                say(*(f"case {number}: {part}" for number, part in found.failures))
            return 1 if found.failures else 0
        name = "width-one" if construction is None else construction
        with answer_alone():
            report = attack(name, cases=cases, seed=seed, start=start, progress=seen)
    if as_json:
        print_json(report.as_dict())
    else:
        say(*str(report).splitlines())
        for failure in report.failures:
            say(str(failure))
    return report.exit_status

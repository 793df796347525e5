"""attncert prove: data in; report and certificate out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from attncert.commands.output import print_json, say


def prove(
    data: Annotated[str, typer.Argument(help="a .json or .npz data set, - (stdin), or: digits")],
    construction: Annotated[
        str, typer.Option(help="paper | width-one | generic | MODULE:NAME")
    ] = "paper",
    heads: Annotated[int | None, typer.Option(help="H; default: the fewest of the theorem")] = None,
    head_width: Annotated[int | None, typer.Option(help="d_h; default: n, or 1")] = None,
    value_width: Annotated[int | None, typer.Option(help="d_v; default: m")] = None,
    examples: Annotated[int | None, typer.Option(help="use the first T; default: all")] = None,
    out: Annotated[str | None, typer.Option(help="folder for the report")] = None,
    claim: Annotated[str, typer.Option(help="auto | interpolation | full-rank")] = "auto",
    vertices: Annotated[
        bool, typer.Option("--vertices", help="no barycentre targets: longer numbers")
    ] = False,
    a1_work: Annotated[
        float, typer.Option("--a1-work", help="nominal seconds to decide A1 in; 0: sample it")
    ] = 30.0,
    device: Annotated[str, typer.Option(help="auto | cpu | cuda")] = "auto",
    memory: Annotated[float, typer.Option(help="GiB that the rank check may hold")] = 4.0,
    seed: Annotated[int, typer.Option(help="of the searches")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="summary as JSON on stdout")] = False,
) -> int:
    """Build weights that memorize DATA, prove every step, write a report and a certificate."""
    from attncert.constructions.data.loading import load
    from attncert.progress import Stages
    from attncert.reports import check_folder, one_line_verdict, summary_dict, write_report
    from attncert.verify.prove import prove
    from attncert.verify.settings import Settings

    settings = Settings(
        construction=construction,
        heads=heads,
        head_width=head_width,
        value_width=value_width,
        claim=cast(Any, claim),
        interior=not vertices,
        a1_work=a1_work,
        device=device,
        memory=memory,
        seed=seed,
    )
    examples_of = load(data, unlabelled=claim == "full-rank")
    chosen = examples_of if examples is None else examples_of.take(examples)
    folder = Path(out) if out is not None else Path("attncert-report") / examples_of.name
    check_folder(folder)
    with Stages() as progress:
        proof = prove(chosen, settings, progress)
    write_report(proof, folder)
    if as_json:
        print_json(summary_dict(proof) | {"folder": str(folder)})
    else:
        say(one_line_verdict(proof))
        say(f"Report: {folder / 'report.md'}")
    return proof.exit_status

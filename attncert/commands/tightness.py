"""attncert tightness: limits that hold for all weights on these data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attncert.commands.output import print_json, say
from attncert.constructions.errors import require_seed


def tightness(
    data: Annotated[str, typer.Argument(help="a .json or .npz data set, or: digits")],
    heads: Annotated[int | None, typer.Option(help="heads H; default: the fewest promised")] = None,
    value_width: Annotated[int | None, typer.Option(help="d_v; default: m")] = None,
    examples: Annotated[
        int | None, typer.Option(help="use the first T examples; default: all")
    ] = None,
    out: Annotated[str | None, typer.Option(help="folder for the report")] = None,
    seed: Annotated[int, typer.Option(help="random seed of the weights tried")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="claims as JSON on stdout")] = False,
) -> int:
    """Say what no weights can do on DATA, and which bounds some weights reach."""
    from attncert.constructions.data.loading import load
    from attncert.progress import Stages
    from attncert.reports import check_folder
    from attncert.reports.proof.records import jsonable
    from attncert.reports.tightness import one_line, write_tightness
    from attncert.verify.claims.evidence import Level
    from attncert.verify.tightness.studies import study

    require_seed(seed)
    loaded = load(data)
    chosen = loaded if examples is None else loaded.take(examples)
    folder = Path(out) if out is not None else Path("attncert-report") / f"{loaded.name}-tightness"
    check_folder(folder)
    with Stages() as progress:
        progress("limits for all weights", 0, 1)
        found = study(chosen, heads, value_width, seed)
    write_tightness(found, folder)
    if as_json:
        claims = [claim.as_dict() for claim in found.claims]
        summary = {"universal": found.universal.value, "claims": claims, "folder": str(folder)}
        print_json(jsonable(summary))
    else:
        say(one_line(found))
        say(f"Report: {folder / 'report.md'}")
    return {Level.PROVED: 0, Level.REFUTED: 1}.get(found.universal, 3)

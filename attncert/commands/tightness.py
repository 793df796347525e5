"""attncert tightness: limits that hold for all weights on these data."""

from __future__ import annotations

from typing import Annotated

import typer

from attncert.constructions.errors import require_seed
from attncert.terminal.output import deliver, report_folder


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
    from attncert.reports.tightness.page import report
    from attncert.verify.tightness.studies import study

    require_seed(seed)
    loaded = load(data, unlabelled=True)
    chosen = loaded if examples is None else loaded.take(examples)
    return deliver(
        lambda progress: report(study(chosen, heads, value_width, seed, progress)),
        report_folder(out, f"{loaded.name}-tightness"),
        as_json,
    )

"""attncert fit: weights for these labels, and whether real weights nearby output them exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attncert.commands.output import print_json, say


def fit(
    data: Annotated[str, typer.Argument(help="a .json or .npz data set, or: digits")],
    heads: Annotated[
        int | None, typer.Option(help="H; default: the fewest that can do, then more")
    ] = None,
    head_width: Annotated[int, typer.Option(help="d_h")] = 1,
    value_width: Annotated[int | None, typer.Option(help="d_v; default: m")] = None,
    examples: Annotated[int | None, typer.Option(help="use the first T; default: all")] = None,
    force: Annotated[bool, typer.Option("--force", help="try although too few parameters")] = False,
    out: Annotated[str | None, typer.Option(help="folder for the report")] = None,
    seed: Annotated[int, typer.Option(help="of the starts")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="summary as JSON on stdout")] = False,
) -> int:
    """Fit weights to the labels of DATA and enclose real weights that output them exactly."""
    from attncert.constructions.data.loading import load
    from attncert.progress import Stages
    from attncert.reports.fit import one_line, write_fit
    from attncert.reports.folder import check_folder
    from attncert.verify.near.fitted import FitSettings, fit_data, fit_dict

    settings = FitSettings(heads, head_width, value_width, seed, force)
    loaded = load(data)
    chosen = loaded if examples is None else loaded.take(examples)
    folder = Path(out) if out is not None else Path("attncert-report") / f"{loaded.name}-fit"
    check_folder(folder)
    with Stages() as progress:
        fitted = fit_data(chosen, settings, progress)
    write_fit(fitted, folder)
    if as_json:
        print_json(fit_dict(fitted) | {"folder": str(folder)})
    else:
        say(one_line(fitted))
        say(f"Report: {folder / 'report.md'}")
    return fitted.exit_status

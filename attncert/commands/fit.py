"""attncert fit: weights for these labels, and whether real weights nearby output them exactly."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from attncert.terminal.output import deliver, report_folder


def fit(
    data: Annotated[str, typer.Argument(help="a .json or .npz data set, or: digits")],
    heads: Annotated[
        int | None, typer.Option(help="heads H; default: the fewest that may suffice, then more")
    ] = None,
    head_width: Annotated[int, typer.Option(help="d_h")] = 1,
    value_width: Annotated[int | None, typer.Option(help="d_v; default: m")] = None,
    examples: Annotated[
        int | None, typer.Option(help="use the first T examples; default: all")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="try although too few parameters")] = False,
    optimizer: Annotated[
        str, typer.Option(help="lm, or adam: train with torch first, then lm from there")
    ] = "lm",
    steps: Annotated[int | None, typer.Option(help="steps of adam; default: 50000")] = None,
    device: Annotated[str, typer.Option(help="for lm: auto | cpu | cuda")] = "auto",
    out: Annotated[str | None, typer.Option(help="folder for the report")] = None,
    seed: Annotated[int, typer.Option(help="random seed of the starts")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="summary as JSON on stdout")] = False,
) -> int:
    """Fit weights to the labels of DATA and enclose real weights that output them exactly."""
    from attncert.constructions.data.loading import load
    from attncert.reports.fit.page import report
    from attncert.verify.near.fitted import FitSettings, fit_data

    settings = FitSettings(
        heads,
        head_width,
        value_width,
        seed,
        force,
        optimizer=optimizer,
        steps=steps,
        device=cast(Any, device),
    )
    loaded = load(data)
    chosen = loaded if examples is None else loaded.take(examples)
    return deliver(
        lambda progress: report(fit_data(chosen, settings, progress)),
        report_folder(out, f"{loaded.name}-fit"),
        as_json,
    )

"""attncert every-labelling: one certificate that some weights serve each labelling of some data."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from attncert.terminal.output import deliver, report_folder


def every_labelling(
    data: Annotated[str, typer.Argument(help="a .json or .npz data set, or: digits")],
    heads: Annotated[int | None, typer.Option(help="heads H; default: the fewest found")] = None,
    head_width: Annotated[int, typer.Option(help="d_h")] = 1,
    value_width: Annotated[int | None, typer.Option(help="d_v; default: m")] = None,
    examples: Annotated[
        int | None, typer.Option(help="use the first T examples; default: all")
    ] = None,
    construction: Annotated[str, typer.Option(help="auto | groups | pairs")] = "auto",
    out: Annotated[str | None, typer.Option(help="folder for the report")] = None,
    seed: Annotated[int, typer.Option(help="random seed of the weights")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="summary as JSON on stdout")] = False,
) -> int:
    """Prove that for each labelling of DATA there are weights that output it exactly."""
    from attncert.constructions.data.loading import load
    from attncert.reports.labelling.page import report
    from attncert.verify.labelling.labelled import LabellingSettings, label_all

    settings = LabellingSettings(heads, head_width, value_width, cast(Any, construction), seed)
    loaded = load(data, unlabelled=True)
    chosen = loaded if examples is None else loaded.take(examples)
    return deliver(
        lambda progress: report(label_all(chosen, settings, progress)),
        report_folder(out, f"{loaded.name}-every-labelling"),
        as_json,
    )

"""attncert capacity: how many labels a data set can carry."""

from __future__ import annotations

from typing import Annotated

import typer

from attncert.terminal.output import deliver, report_folder


def capacity(
    data: Annotated[str, typer.Argument(help="a .json or .npz data set, or: digits")],
    heads: Annotated[
        int | None, typer.Option(help="heads H; default: the fewest that may suffice")
    ] = None,
    head_width: Annotated[int, typer.Option(help="d_h")] = 1,
    value_width: Annotated[int | None, typer.Option(help="d_v; default: m")] = None,
    examples: Annotated[
        int | None, typer.Option(help="use the first T examples; default: all")
    ] = None,
    out: Annotated[str | None, typer.Option(help="folder for the report")] = None,
    seed: Annotated[int, typer.Option(help="random seed of the weights")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="summary as JSON on stdout")] = False,
) -> int:
    """Say how many labels H heads can carry on DATA.

    The rank of the outputs' Jacobian by all weights, from both sides, and what follows for
    universal memorization, every labelling, and these labels.
    """
    from attncert.constructions.data.loading import load
    from attncert.reports.capacity.page import report
    from attncert.verify.capacity.capacity import DataCapacitySettings, data_capacity

    settings = DataCapacitySettings(heads, head_width, value_width, seed)
    loaded = load(data, unlabelled=True)
    chosen = loaded if examples is None else loaded.take(examples)
    return deliver(
        lambda progress: report(data_capacity(chosen, settings, progress)),
        report_folder(out, f"{loaded.name}-capacity"),
        as_json,
    )

"""attncert fit: weights for these labels, and whether real weights nearby output them exactly."""

from __future__ import annotations

from typing import Annotated

import typer

from attncert.commands.output import deliver, report_folder


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
    every_labelling: Annotated[
        bool, typer.Option("--every-labelling", help="one certificate for all labels of DATA")
    ] = False,
    construction: Annotated[
        str, typer.Option(help="with --every-labelling: auto | groups | pairs")
    ] = "auto",
    out: Annotated[str | None, typer.Option(help="folder for the report")] = None,
    seed: Annotated[int, typer.Option(help="random seed of the starts")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="summary as JSON on stdout")] = False,
) -> int:
    """Fit weights to the labels of DATA and enclose real weights that output them exactly.

    With --every-labelling: prove that for each labelling of DATA there are such weights.
    """
    from attncert.constructions.data.loading import load
    from attncert.constructions.errors import InputError
    from attncert.reports.fit.page import report
    from attncert.verify.near.fitted import FitSettings, fit_data

    if construction != "auto" and not every_labelling:
        raise InputError("--construction", "given with --every-labelling only", construction)
    if every_labelling:
        from attncert.reports.labelling import page
        from attncert.verify.labelling.labelled import LabellingSettings, label_all

        every = LabellingSettings(heads, head_width, value_width, construction, seed)
        loaded = load(data, unlabelled=True)
        some = loaded if examples is None else loaded.take(examples)
        return deliver(
            lambda progress: page.report(label_all(some, every, progress)),
            report_folder(out, f"{loaded.name}-every-labelling"),
            as_json,
        )
    settings = FitSettings(heads, head_width, value_width, seed, force)
    loaded = load(data)
    chosen = loaded if examples is None else loaded.take(examples)
    return deliver(
        lambda progress: report(fit_data(chosen, settings, progress)),
        report_folder(out, f"{loaded.name}-fit"),
        as_json,
    )

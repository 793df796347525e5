"""attncert capacity: what a data set can carry; without one, sweeps of the certified capacity."""

from __future__ import annotations

from typing import Annotated

import typer

from attncert.constructions.errors import InputError, require_seed
from attncert.terminal.output import deliver, report_folder


def capacity(
    data: Annotated[
        str | None, typer.Argument(help="a .json or .npz data set, or: digits; default: sweeps")
    ] = None,
    heads: Annotated[
        int | None, typer.Option(help="with DATA: heads H; default: the fewest that may suffice")
    ] = None,
    head_width: Annotated[int | None, typer.Option(help="with DATA: d_h; default: 1")] = None,
    value_width: Annotated[int | None, typer.Option(help="with DATA: d_v; default: m")] = None,
    examples: Annotated[
        int | None, typer.Option(help="with DATA: use the first T examples; default: all")
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="folder for the report; default: attncert-report/capacity")
    ] = None,
    constants: Annotated[
        bool, typer.Option("--constants", help="also effective constants")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="a small run, in seconds")] = False,
    seed: Annotated[int, typer.Option(help="random seed of data sets and weights")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="summary as JSON on stdout")] = False,
) -> int:
    """Say how many labels DATA can carry; without DATA, certify the largest T over sweeps.

    With DATA: the rank of the outputs' Jacobian by all weights, from both sides, and what follows
    for universal memorization, every labelling, and these labels.
    """
    require_seed(seed)
    own = {
        "--heads": heads,
        "--head-width": head_width,
        "--value-width": value_width,
        "--examples": examples,
    }
    if data is not None:
        if constants or quick:
            raise InputError("--constants, --quick", "given without DATA", data)
        from attncert.constructions.data.loading import load
        from attncert.reports.capacity import of_data
        from attncert.verify.capacity.of_data import DataCapacitySettings, data_capacity

        width = 1 if head_width is None else head_width
        settings = DataCapacitySettings(heads, width, value_width, seed)
        loaded = load(data, unlabelled=True)
        chosen = loaded if examples is None else loaded.take(examples)
        return deliver(
            lambda progress: of_data.report(data_capacity(chosen, settings, progress)),
            report_folder(out, f"{loaded.name}-capacity"),
            as_json,
        )
    for option, value in own.items():
        if value is not None:
            raise InputError(option, "given with DATA", f"{value} without it")
    from dataclasses import replace

    from attncert.reports.capacity.page import report
    from attncert.verify.capacity.constants import ConstantsSettings, growth
    from attncert.verify.capacity.sweeps import SweepSettings, sweep

    sweeps = SweepSettings.quick(seed) if quick else SweepSettings()
    sweeps = replace(sweeps, base=replace(sweeps.base, seed=seed))
    sizes = ConstantsSettings.quick(seed) if quick else ConstantsSettings(seed=seed)
    return deliver(
        lambda progress: report(
            sweep(sweeps, progress), growth(sizes, progress) if constants else None
        ),
        report_folder(out, "capacity"),
        as_json,
    )

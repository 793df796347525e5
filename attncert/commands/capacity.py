"""attncert capacity: sweeps of the certified capacity."""

from __future__ import annotations

from typing import Annotated

import typer

from attncert.commands.output import deliver, report_folder
from attncert.constructions.errors import require_seed


def capacity(
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
    """Certify the largest T with full rank over sweeps of H, n and d_h; write a report."""
    from dataclasses import replace

    from attncert.reports.capacity.page import report
    from attncert.verify.capacity.constants import ConstantsSettings, growth
    from attncert.verify.capacity.sweeps import SweepSettings, sweep

    require_seed(seed)
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

"""attncert capacity: sweeps of the certified capacity."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attncert.commands.output import print_json, say
from attncert.constructions.errors import require_seed


def capacity(
    out: Annotated[str, typer.Option(help="folder for the report")] = "attncert-report/capacity",
    constants: Annotated[
        bool, typer.Option("--constants", help="also effective constants")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="a small run, in seconds")] = False,
    seed: Annotated[int, typer.Option(help="random seed of data sets and weights")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="summary as JSON on stdout")] = False,
) -> int:
    """Certify the largest T with full rank over sweeps of H, n and d_h; write a report."""
    from dataclasses import replace

    from attncert.progress import Stages
    from attncert.reports.capacity.page import one_line, write_capacity
    from attncert.verify.capacity.constants import ConstantsSettings
    from attncert.verify.capacity.sweeps import SweepSettings

    require_seed(seed)
    sweeps = SweepSettings.quick(seed) if quick else SweepSettings()
    sweeps = replace(sweeps, base=replace(sweeps.base, seed=seed))
    sizes = ConstantsSettings.quick(seed) if quick else ConstantsSettings(seed=seed)
    with Stages() as progress:
        found = write_capacity(sweeps, out, progress, constants=sizes if constants else None)
    if as_json:
        points = [point.as_dict() for point in found.capacity.points.values()]
        print_json({"holds": found.holds, "points": points, "folder": out})
    else:
        say(one_line(found.capacity))
        say(f"Report: {Path(out) / 'report.md'}")
    return 0 if found.holds else 1

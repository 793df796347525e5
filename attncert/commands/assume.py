"""attncert assume: do the paper's assumptions hold for these vectors, and what follows?"""

from __future__ import annotations

from typing import Annotated

import typer

from attncert.terminal.durations import seconds
from attncert.terminal.output import deliver, report_folder


def assume(
    data: Annotated[
        str, typer.Argument(help="folder of attncert embed, .npz or .json of data, or: digits")
    ],
    subsets: Annotated[int, typer.Option(help="random subsets of n queries, exactly")] = 5000,
    permutations: Annotated[int, typer.Option(help="random permutations, every k exactly")] = 100,
    float32: Annotated[int, typer.Option(help="random subsets of the paper's own test")] = 5000,
    work: Annotated[str, typer.Option(help="counted work of the search for circuits")] = "1",
    heads: Annotated[int | None, typer.Option(help="H; default: as the manifest says")] = None,
    head_width: Annotated[int | None, typer.Option(help="d_h; default: the manifest's")] = None,
    tokens: Annotated[
        int | None, typer.Option(help="n, where DATA is vectors without contexts")
    ] = None,
    out: Annotated[str | None, typer.Option(help="folder for the report")] = None,
    seed: Annotated[int, typer.Option(help="random seed of subsets and bases")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="result as JSON on stdout")] = False,
) -> int:
    """Judge A1, A2 and general position for DATA; write a report."""
    from attncert.reports.assume.page import report
    from attncert.verify.assume.assume import AssumeSettings
    from attncert.verify.assume.assume import assume as judge
    from attncert.verify.assume.given import load_given

    sizes = {"heads": heads, "head_width": head_width, "tokens": tokens}
    settings = AssumeSettings(
        subsets, permutations, seconds(work, "--work"), float32, seed, **sizes
    )
    given = load_given(data, **sizes)
    folder = report_folder(out, f"{given.queries.name}-assume")
    return deliver(lambda progress: report(judge(given, settings, progress)), folder, as_json)

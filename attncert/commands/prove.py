"""attncert prove: data in; report and certificate out."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from attncert.terminal.durations import seconds
from attncert.terminal.output import answer_alone, deliver, report_folder


def prove(
    data: Annotated[str, typer.Argument(help="a .json or .npz data set, - (stdin), or: digits")],
    construction: Annotated[
        str, typer.Option(help="paper | width-one | affine | generic | MODULE:NAME")
    ] = "paper",
    heads: Annotated[
        int | None, typer.Option(help="heads H; default: the fewest the theorem needs")
    ] = None,
    head_width: Annotated[
        int | None, typer.Option(help="d_h; default: n for paper, else 1")
    ] = None,
    value_width: Annotated[int | None, typer.Option(help="d_v; default: m")] = None,
    examples: Annotated[
        int | None, typer.Option(help="use the first T examples; default: all")
    ] = None,
    out: Annotated[str | None, typer.Option(help="folder for the report")] = None,
    claim: Annotated[str, typer.Option(help="auto | interpolation | full-rank")] = "auto",
    vertices: Annotated[
        bool, typer.Option("--vertices", help="steer all examples: longer numbers")
    ] = False,
    saturate: Annotated[
        int | None,
        typer.Option(help="BITS: earlier examples attend to one row each, 1-p below 2^-BITS"),
    ] = None,
    saturate_own: Annotated[
        bool, typer.Option("--saturate-own", help="paper: a head's own examples too")
    ] = False,
    round_to: Annotated[
        str | None,
        typer.Option("--round", help="round the data to multiples of GRID, such as 1/64, or: auto"),
    ] = None,
    mix: Annotated[
        bool, typer.Option("--mix", help="two layers: a first one adds to each token the mean")
    ] = False,
    a1_work: Annotated[
        float, typer.Option("--a1-work", help="nominal seconds to decide A1 in; 0: sample it")
    ] = 30.0,
    device: Annotated[str, typer.Option(help="auto | cpu | cuda")] = "auto",
    memory: Annotated[float, typer.Option(help="GiB the rank check may use")] = 4.0,
    time_limit: Annotated[
        str | None, typer.Option(help="such as 60s or 1h: without a proof by then, undecided")
    ] = None,
    data_file: Annotated[
        bool, typer.Option("--data-file", help="the data in a file beside the certificate")
    ] = False,
    seed: Annotated[int, typer.Option(help="random seed of the searches")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="summary as JSON on stdout")] = False,
) -> int:
    """Build weights that memorize DATA, prove every step, write a report and a certificate."""
    from attncert.constructions.data.loading import load
    from attncert.reports.proof.page import report
    from attncert.verify.prove import prove
    from attncert.verify.settings import Settings

    with answer_alone():  # a construction of one's own is imported
        settings = Settings(
            construction=construction,
            heads=heads,
            head_width=head_width,
            value_width=value_width,
            claim=cast(Any, claim),
            interior=not vertices,
            saturate=saturate,
            saturate_own=saturate_own,
            round_to=round_to,
            mix=mix,
            a1_work=a1_work,
            device=cast(Any, device),
            memory=memory,
            data_file=data_file,
            time_limit=None if time_limit is None else seconds(time_limit, "--time-limit"),
            seed=seed,
        )
    examples_of = load(data, unlabelled=claim == "full-rank")
    chosen = examples_of if examples is None else examples_of.take(examples)
    return deliver(
        lambda progress: report(prove(chosen, settings, progress)),
        report_folder(out, examples_of.name),
        as_json,
    )

"""attncert kruskal: how many vectors, any of them, are independent?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from attncert.constructions.errors import InputError
from attncert.terminal.durations import seconds
from attncert.terminal.output import Interrupted, deliver, report_folder

if TYPE_CHECKING:
    from attncert.reports.report import Report
    from attncert.verify.kruskal.bounds import Interval
    from attncert.verify.scale.log import Log

_DEFAULT_BUDGET = "60s"


def kruskal(
    data: Annotated[str, typer.Argument(help=".json, .npz, .npy, .csv of vectors, -, or: digits")],
    k: Annotated[int | None, typer.Option(help="only ask: is every set of k independent?")] = None,
    examples: Annotated[
        int | None, typer.Option(help="use the first N vectors; default: all")
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help="time limit: 90, 60s, 5m; default: 60s")
    ] = None,
    work: Annotated[
        str | None, typer.Option(help="limit on counted work instead: reproducible")
    ] = None,
    subsets: Annotated[
        int | None,
        typer.Option(
            help="random subsets (without --k: permutations); default: 1000, 0 once settled"
        ),
    ] = None,
    bases: Annotated[int, typer.Option(help="further random bases, as shards")] = 0,
    device: Annotated[str, typer.Option(help="for the subsets: auto | cpu | cuda")] = "auto",
    jobs: Annotated[int, typer.Option(help="processes for the shards")] = 1,
    log: Annotated[
        str | None, typer.Option(help="SQLite file that keeps finished shards; goes on from it")
    ] = None,
    dask: Annotated[str | None, typer.Option(help="address of a Dask scheduler")] = None,
    out: Annotated[str | None, typer.Option(help="folder for the report")] = None,
    seed: Annotated[int, typer.Option(help="random seed of subsets and bases")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="result as JSON on stdout")] = False,
) -> int:
    """Bound the Kruskal rank of DATA from both sides; write a report and a witness."""
    from attncert.reports.kruskal.page import report
    from attncert.reports.kruskal.sentences import outlook
    from attncert.terminal.progress import Stages
    from attncert.verify.kruskal.examine import examine
    from attncert.verify.kruskal.sampling.jobs import Question
    from attncert.verify.kruskal.vectors import load_vectors
    from attncert.verify.scale.engine import dask as connected
    from attncert.verify.scale.engine import threads_of
    from attncert.verify.scale.log import Log

    if budget is not None and work is not None:
        raise InputError("--work", "left out where --budget is given", work)
    question = Question(
        k=k,
        budget=None
        if work is not None
        else seconds(_DEFAULT_BUDGET if budget is None else budget, "--budget"),
        work=None if work is None else seconds(work, "--work"),
        subsets=subsets,
        bases=bases,
        seed=seed,
        device=cast(Any, device),
        jobs=jobs,
    )
    vectors = load_vectors(data).first(examples)
    question.require(vectors)
    folder = report_folder(out, f"{vectors.name}-kruskal")

    def answer(progress: Stages) -> Report:
        proved: list[str] = []

        def watch(interval: Interval) -> None:
            proved.append(_closing(interval))
            progress.say(proved[-1])

        _require_apart(log, folder)
        with ExitStack() as stack:
            file = None if log is None else stack.enter_context(Log(log))
            cluster = None if dask is None else stack.enter_context(connected(dask))
            stack.enter_context(_interrupted(proved, file))
            progress.say(outlook(vectors, question, threads_of(cluster)))
            return report(
                examine(
                    vectors, question, log=file, cluster=cluster, progress=progress, watch=watch
                )
            )

    return deliver(answer, folder, as_json)


@contextmanager
def _interrupted(proved: list[str], log: Log | None) -> Iterator[None]:
    """Ctrl-C says what was proved, and what is kept."""
    try:
        yield
    except KeyboardInterrupt:
        lines = [] if log is None else [f"{log.count} finished shards are kept in {log.path}"]
        lines += [f"proved so far: {line}" for line in proved[-1:]]
        if not lines:
            raise
        raise Interrupted("; ".join(["no report was written", *lines])) from None


def _require_apart(log: str | None, folder: str | Path) -> None:
    """A folder that holds the log could not be replaced by the report's, in the end."""
    target = os.path.realpath(folder)
    if log is not None and "\0" not in log and Path(os.path.realpath(log)).is_relative_to(target):
        raise InputError("--log", "a file outside the folder of the report (--out)", log)


def _closing(interval: Interval) -> str:
    low, high = interval.lower, interval.upper
    latest = interval.trail[-1]
    return f"{low.value} <= Kruskal rank <= {high.value}   ({latest.method})"

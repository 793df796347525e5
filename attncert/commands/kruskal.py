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
from attncert.terminal.output import Interrupted, deliver, print_json, report_folder, say

if TYPE_CHECKING:
    from attncert.reports.report import Report
    from attncert.verify.kruskal.bounds import Interval

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
    all_sets: Annotated[
        bool, typer.Option("--all-sets", help="all sets of --k as shards, however long it takes")
    ] = False,
    device: Annotated[str, typer.Option(help="for the subsets: auto | cpu | cuda")] = "auto",
    jobs: Annotated[int, typer.Option(help="processes for the shards")] = 1,
    shard: Annotated[str | None, typer.Option(help="i/k: run only part i of the shards")] = None,
    log: Annotated[str | None, typer.Option(help="keep finished shards here, and resume")] = None,
    dask: Annotated[str | None, typer.Option(help="address of a Dask scheduler")] = None,
    out: Annotated[str | None, typer.Option(help="folder for the report")] = None,
    seed: Annotated[int, typer.Option(help="random seed of subsets and bases")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="result as JSON on stdout")] = False,
) -> int:
    """Bound the Kruskal rank of DATA from both sides; write a report and a witness."""
    from attncert.reports.kruskal.page import report
    from attncert.reports.kruskal.sentences import outlook
    from attncert.terminal.progress import Stages
    from attncert.verify.kruskal.bounds import Contradiction
    from attncert.verify.kruskal.examine import examine
    from attncert.verify.kruskal.records import rules
    from attncert.verify.kruskal.sampling.jobs import Question, identity, run_part
    from attncert.verify.kruskal.vectors import load_vectors
    from attncert.verify.scale.engine import dask as connected
    from attncert.verify.scale.log import ShardLog
    from attncert.verify.scale.shards import Part

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
        all_sets=all_sets,
        seed=seed,
        device=cast(Any, device),
        jobs=jobs,
    )
    part = None if shard is None else Part.parse(shard)
    if part is not None and log is None:
        raise InputError("--shard", "given with --log FILE, which keeps what it finds", "alone")
    vectors = load_vectors(data).first(examples)
    question.require(vectors)
    folder = report_folder(out, f"{vectors.name}-kruskal")

    told: list[str] = []

    @contextmanager
    def tools() -> Iterator[tuple[ShardLog | None, Any]]:
        """The log of shards and the cluster, where asked for; on Ctrl-C it says what was kept."""
        with ExitStack() as stack:
            kept = None
            if log is not None:
                run = identity(vectors, question)
                kept = stack.enter_context(ShardLog(log, run, rules(vectors)))
            try:
                yield kept, None if dask is None else stack.enter_context(connected(dask))
            except Contradiction:  # a witness holds, exactly; what a shard says may not
                if log is None:
                    raise
                got = f"one that contradicts a witness: {log}"
                raise InputError("--log", "a log whose results are true", got) from None
            except KeyboardInterrupt:
                lines = (
                    []
                    if kept is None
                    else [f"{len(kept.finished)} finished shards are kept in {log}"]
                )
                lines += [f"proved so far: {told[-1]}"] if told else []
                if not lines:
                    raise
                raise Interrupted("; ".join(["no report was written", *lines])) from None

    def made(progress: Stages) -> Report:
        def tell(interval: Interval) -> None:
            told.append(_closing(interval))
            progress.say(told[-1])

        _require_apart(log, folder)
        progress.say(outlook(vectors, question))
        with tools() as (kept, cluster):
            found = examine(
                vectors,
                question,
                log=kept,
                cluster=cluster,
                progress=progress,
                watch=tell,
            )
        return report(found)

    if part is None:
        return deliver(made, folder, as_json)
    with Stages() as progress, tools() as (kept, cluster):
        progress.say(outlook(vectors, question))
        assert kept is not None
        done = run_part(vectors, question, part, kept, cluster=cluster, progress=progress)
    _print_part(part.number, part.of, done, str(log), as_json)
    return 0


def _require_apart(log: str | None, folder: str | Path) -> None:
    """A folder that holds the log could not be replaced by the report's, in the end."""
    target = os.path.realpath(folder)
    if log is not None and "\0" not in log and Path(os.path.realpath(log)).is_relative_to(target):
        raise InputError("--log", "a file outside the folder of the report (--out)", log)


def _closing(interval: Interval) -> str:
    low, high = interval.lower, interval.upper
    latest = interval.trail[-1]
    return f"{low.value} <= Kruskal rank <= {high.value}   ({latest.method})"


def _print_part(number: int, of: int, done: int, log: str, as_json: bool) -> None:
    if as_json:
        print_json({"part": number, "of": of, "shards": done, "log": log})
    else:
        say(f"Part {number} of {of}: {done} shards in {log}; unite with attncert merge.")

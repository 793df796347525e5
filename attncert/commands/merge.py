"""attncert merge: logs of one run, written by parts, united."""

from __future__ import annotations

from typing import Annotated

import typer

from attncert.terminal.output import print_json, say


def merge(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="logs of shards")],
    data: Annotated[str | None, typer.Option(help="the vectors, to verify what is shown")] = None,
    out: Annotated[
        str | None, typer.Option(help="file for the united log, for kruskal --log")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="result as JSON on stdout")] = False,
) -> int:
    """Unite the logs that `attncert kruskal --shard i/k --log FILE` wrote; say what they show."""
    from attncert.reports.kruskal.sentences import shard_lines
    from attncert.reports.words.numbers import count
    from attncert.verify.kruskal.records import rules
    from attncert.verify.kruskal.sampling.jobs import missing_of, shown_by
    from attncert.verify.kruskal.vectors import load_vectors
    from attncert.verify.scale.log import write_log
    from attncert.verify.scale.merge import unite

    united = unite(files, rules(None if data is None else load_vectors(data)))
    shown = shown_by(united, verified=data is not None)
    if out is not None:
        write_log(out, united.identity, united.finished)
    missing = missing_of(united)
    if as_json:
        left = [shard.as_list() for shard in missing]
        print_json(
            shown.as_dict() | {"shards": {"finished": len(united.finished), "missing": left}}
        )
    else:
        for line in shard_lines(
            shown.sampled, shown.searched, shown.all_sets, verified=not shown.unverified
        ):
            say(line)
        if shown.unverified:
            what = count(shown.unverified, "shard")
            say(f"Left out: dependent sets of {what}; --data DATA verifies and shows them.")
        if missing:
            total = len(missing) + len(united.finished)
            places = ", ".join(f"{s.kind} {s.start} to {s.stop - 1}" for s in missing[:8])
            more = ", ..." if len(missing) > 8 else ""
            say(f"Missing: {len(missing)} of {total} shards ({places}{more}).")
    return 3 if missing else 0

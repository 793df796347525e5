"""attncert merge: logs of one run, written by parts, united."""

from __future__ import annotations

from typing import Annotated

import typer

from attncert.commands.output import print_json, say


def merge(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="logs of shards")],
    out: Annotated[str | None, typer.Option(help="the united log, for kruskal --log")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="result as JSON on stdout")] = False,
) -> int:
    """Unite the logs that `attncert kruskal --shard i/k --log FILE` wrote; say what they show."""
    from attncert.reports.kruskal.sentences import shard_lines
    from attncert.verify.kruskal.sampling.jobs import shown_by
    from attncert.verify.scale.log import write_log
    from attncert.verify.scale.merge import unite

    united = unite(files)
    if out is not None:
        write_log(out, united.identity, united.finished)
    sampled, searched = shown_by(united)
    missing = united.missing
    if as_json:
        left = [shard.as_list() for shard in missing]
        shards = {"finished": len(united.finished), "missing": left}
        print_json(
            {
                "sampled": None if sampled is None else sampled.as_dict(),
                "bases": None if searched is None else searched.as_dict(),
                "shards": shards,
            }
        )
    else:
        for line in shard_lines(sampled, searched):
            say(line)
        if missing:
            total = len(missing) + len(united.finished)
            places = ", ".join(f"{s.kind} {s.start} to {s.stop - 1}" for s in missing[:8])
            more = ", ..." if len(missing) > 8 else ""
            say(f"Missing: {len(missing)} of {total} shards ({places}{more}).")
    return 3 if missing else 0

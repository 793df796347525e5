"""attncert merge: logs of one run, written by parts, united."""

from __future__ import annotations

from typing import Annotated

import typer

from attncert.commands.output import print_json


def merge(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="logs of shards")],
    out: Annotated[str | None, typer.Option(help="the united log, for kruskal --log")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="result as JSON on stdout")] = False,
) -> int:
    """Unite the logs that `attncert kruskal --shard i/k --log FILE` wrote; say what they show."""
    from reports.kruskal import sampled_line
    from verify.kruskal.sampling import summary
    from verify.scale.log import write_log
    from verify.scale.merge import unite

    united = unite(files)
    if out is not None:
        write_log(out, united.identity, united.finished)
    sampled = summary(united.identity["settings"], united.plan, united.finished)
    missing = united.missing
    if as_json:
        left = [shard.as_list() for shard in missing]
        shards = {"finished": len(united.finished), "missing": left}
        print_json({"sampled": sampled.as_dict(), "shards": shards})
    else:
        typer.echo(sampled_line(sampled))
        if missing:
            total = len(missing) + len(united.finished)
            places = ", ".join(f"{s.start} to {s.stop - 1}" for s in missing[:8])
            more = ", ..." if len(missing) > 8 else ""
            typer.echo(f"Missing: {len(missing)} of {total} shards (subsets {places}{more}).")
    return 3 if missing else 0

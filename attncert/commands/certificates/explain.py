"""attncert explain: what a certificate says, in words."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from attncert.terminal.output import print_json, say
from attncert.terminal.progress import Stages
from attncert.terminal.stdin import as_file


def explain(
    certificate: Annotated[str, typer.Argument(help="an attncert certificate, or -")],
    compare: Annotated[
        str | None, typer.Option(help="another certificate, or -: say what differs")
    ] = None,
    no_check: Annotated[bool, typer.Option("--no-check", help="check only the digests")] = False,
    limit_seconds: Annotated[float, typer.Option(help="limit on the estimated time")] = 600.0,
    as_json: Annotated[bool, typer.Option("--json", help="the same as JSON on stdout")] = False,
) -> int:
    """Say what a certificate claims, how it is proved and whether that holds, in plain words."""
    from attncert.reports.certificate.compare import compare as differences
    from attncert.reports.certificate.compare import compared_text, same_data
    from attncert.reports.certificate.explain import explain, text

    with as_file(certificate) as path, Stages() as progress:
        progress("checking", 0, 0)
        first = explain(path, check=not no_check, limit_seconds=limit_seconds)
    if compare is None:
        print_json(first.as_dict()) if as_json else say(*text(first))
        return first.exit_status
    with as_file(compare) as path, Stages() as progress:
        progress("checking the other", 0, 0)
        second = explain(path, check=not no_check, limit_seconds=limit_seconds)
    found = differences(first.certificate, second.certificate)
    if as_json:
        content = {
            "first": first.as_dict(),
            "second": second.as_dict(),
            "same_data": same_data(first, second),
        }
        print_json(content | {"compared": [asdict(difference) for difference in found]})
    else:
        say(*compared_text(first, second, found))
    return max(first.exit_status, second.exit_status)

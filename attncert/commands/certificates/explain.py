"""attncert explain: describes a certificate in words."""

from __future__ import annotations

from typing import Annotated

import typer

from attncert.commands.certificates.folders import as_file, certificate_in
from attncert.terminal.output import print_json, say
from attncert.terminal.progress import Stages


def explain(
    file: Annotated[str, typer.Argument(help="a certificate, the folder of a report, or -")],
    limit_seconds: Annotated[float, typer.Option(help="limit on the estimated time")] = 600.0,
    as_json: Annotated[bool, typer.Option("--json", help="the same as JSON on stdout")] = False,
) -> int:
    """Say what a certificate claims, how it is proved and whether that holds, in plain words."""
    from attncert.reports.certificate.explain import explain, text

    file = certificate_in(file)
    with as_file(file) as path, Stages() as progress:
        progress("checking", 0, 0)
        certificate = explain(path, name=file, limit_seconds=limit_seconds)
    print_json(certificate.as_dict()) if as_json else say(*text(certificate))
    return certificate.exit_status

"""attncert explain: describes a certificate or a data set in words."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attncert.commands.certificates.folders import as_file, certificate_in
from attncert.terminal.output import print_json, say
from attncert.terminal.progress import Stages

if TYPE_CHECKING:
    from attncert.constructions.data.dataset import Dataset


def explain(
    file: Annotated[
        str, typer.Argument(help="a certificate, the folder of a report, a data set, - or: digits")
    ],
    no_check: Annotated[bool, typer.Option("--no-check", help="check only the digests")] = False,
    limit_seconds: Annotated[float, typer.Option(help="limit on the estimated time")] = 600.0,
    as_json: Annotated[bool, typer.Option("--json", help="the same as JSON on stdout")] = False,
) -> int:
    """Say what a certificate claims, how it is proved and whether that holds, in plain words.

    For a data set, print its sizes and the SHA-256 by which reports and certificates name it.
    """
    from attncert.constructions.data.loading import bundled
    from attncert.reports.certificate.explain import data_text, explain, text
    from attncert.reports.words.jsonable import about

    if not bundled(file):
        file = certificate_in(file)
    with as_file(file) as path, Stages() as progress:
        progress("checking", 0, 0)
        if (data := _data(path)) is None:
            certificate = explain(path, name=file, check=not no_check, limit_seconds=limit_seconds)
            print_json(certificate.as_dict()) if as_json else say(*text(certificate))
            return certificate.exit_status
    print_json(about(data)) if as_json else say(*data_text(data))
    return 0


def _data(path: str) -> Dataset | None:
    """The data set in this file; None for any other file, which should be a certificate."""
    from attncert.constructions.data.loading import (
        MAX_JSON_BYTES,
        bundled,
        json_value,
        load,
        parse_json,
        read_npz,
    )
    from attncert.constructions.errors import InputError

    if bundled(path):
        return load(path)
    name = Path(path).stem
    with suppress(OSError), open(path, "rb") as file:
        if file.read(2) == b"PK":
            return read_npz(file, name, path)
        file.seek(0)
        content = file.read(MAX_JSON_BYTES + 1)
        keys = None
        with suppress(InputError):
            keys = json_value(content, path)
        if isinstance(keys, dict) and {"contexts", "sequences"} & keys.keys():
            return parse_json(content, name, path)
    return None

"""attncert hash: the number by which two data sets are compared."""

from __future__ import annotations

from typing import Annotated

import typer

from attncert.terminal.output import print_json, say


def hash_data(
    data: Annotated[
        str, typer.Argument(help="a .json or .npz data set, a certificate, - or: digits")
    ],
    examples: Annotated[int | None, typer.Option(help="the first T; default: all")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="the same as JSON on stdout")] = False,
) -> int:
    """Print the SHA-256 of DATA as reports state it, and certificates that hold their data."""
    from attncert.constructions.data.loading import load

    found = load(data, unlabelled=True)
    chosen = found if examples is None else found.take(examples)
    if as_json:
        print_json({"data": chosen.name, "examples": chosen.T, "input_sha256": chosen.sha256})
    else:
        say(f"{chosen.sha256}  {chosen.name}")
    return 0

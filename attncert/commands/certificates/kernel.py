"""attncert kernel: builds the verified checker on this machine."""

from __future__ import annotations

import typer

from attncert.terminal.output import say
from attncert.terminal.progress import Stages

kernel = typer.Typer(rich_markup_mode=None, help="The theorems in Coq and the verified checker.")


@kernel.callback()
def _commands() -> None:
    """The theorems in Coq and the verified checker."""


@kernel.command("build")
def build() -> int:
    """Compile the theorems and the verified checker (needs Coq, OCaml, 1.1 GB and some minutes)."""
    from attncert.verify.certificates.coq.executable import build as made

    say("Compiling the theorems and the verified checker takes minutes.", error=True)
    with Stages() as progress:
        program = made(progress)
    say(f"Built: {program}")
    return 0

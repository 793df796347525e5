"""attncert embed: what a layer of a real model sees, as a folder that `attncert assume` reads."""

from __future__ import annotations

from pathlib import Path

from attncert.terminal.options import Sources, command_of
from attncert.terminal.output import Interrupted, answer_alone, print_json, say
from attncert.verify.questions.embed import Embed

__all__ = ["embed"]


def _run(sources: Sources, options: Embed, out: str | None, as_json: bool) -> int:
    from attncert.terminal.progress import Stages
    from attncert.verify.models.embed import RUN, embed

    folder = Path(str(out))
    try:
        with answer_alone(), Stages() as progress:
            summary = embed(
                str(sources["model"]), str(sources["inputs"]), folder, options, progress
            )
    except KeyboardInterrupt:
        if not (folder / RUN).exists():
            raise
        raise Interrupted(f"finished shards are kept in {out}; the same command goes on") from None
    if as_json:
        print_json(summary)
    else:
        say(
            "{inputs} queries of width {width} and {kept} contexts of {tokens} tokens: "
            "{folder}".format(**summary)
        )
    return 0


embed = command_of(Embed, _run)

"""attncert embed: saves the inputs of a real model's layer in a folder for `attncert assume`."""

from __future__ import annotations

from pathlib import Path

from attncert.terminal.options import Sources, command_of
from attncert.terminal.output import answer_alone, print_json, say
from attncert.verify.questions.embed import Embed


def _run(sources: Sources, options: Embed, out: str | None, as_json: bool) -> int:
    from attncert.terminal.progress import Stages
    from attncert.verify.third_party.models.embed import embed

    model, inputs = str(sources["model"]), str(sources["inputs"])
    with answer_alone(), Stages() as progress:
        summary = embed(model, inputs, Path(str(out)), options, progress)
    if as_json:
        print_json(summary)
    else:
        say(
            "{inputs} queries of width {width} and {kept} contexts of {tokens} tokens: "
            "{folder}".format(**summary)
        )
    return 0


embed = command_of(Embed, _run)

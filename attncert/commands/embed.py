"""attncert embed: what a layer of a real model sees, as a folder that `attncert assume` reads."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from attncert.terminal.output import Interrupted, answer_alone, print_json, say


def embed(
    model: Annotated[str, typer.Argument(help="name on the Hugging Face hub, or a local folder")],
    inputs: Annotated[str, typer.Argument(help="folder of images, text file, or .npy")],
    out: Annotated[str, typer.Option(help="folder for the embeddings")],
    layer: Annotated[int, typer.Option(help="states after so many layers; 0: raw")] = 1,
    query: Annotated[
        str | None, typer.Option(help="first | last | a position; default: last of a GPT, else CLS")
    ] = None,
    random: Annotated[bool, typer.Option("--random", help="random weights")] = False,
    contexts: Annotated[str, typer.Option(help="so many contexts are kept; or: all")] = "200",
    count: Annotated[
        int | None, typer.Option(help="so many inputs; passages overlap where they must")
    ] = None,
    length: Annotated[int | None, typer.Option(help="tokens of a passage; default: all")] = None,
    tokenizer: Annotated[
        str | None, typer.Option(help="tokenizer.json or a folder with it; default: the model's")
    ] = None,
    batch: Annotated[int, typer.Option(help="inputs at a time")] = 8,
    dtype: Annotated[
        str, typer.Option(help="the model's arithmetic: float32 | float64")
    ] = "float32",
    memory: Annotated[int, typer.Option(help="MiB that the weights may take")] = 4096,
    seed: Annotated[int, typer.Option(help="random seed of the weights")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="result as JSON on stdout")] = False,
) -> int:
    """Write the queries of all INPUTS, and contexts of some, at one layer of MODEL."""
    from attncert.constructions.errors import InputError
    from attncert.constructions.models.embed import RUN
    from attncert.constructions.models.embed import embed as write
    from attncert.constructions.models.network import EmbedSettings
    from attncert.terminal.progress import Stages

    if contexts != "all" and not re.fullmatch("[0-9]{1,9}", contexts):
        raise InputError("--contexts", "a whole number, or all", contexts)
    settings = EmbedSettings(
        layer=layer,
        query=query or "",
        random=random,
        seed=seed,
        contexts=None if contexts == "all" else int(contexts),
        count=count,
        length=length,
        tokenizer=tokenizer or "",
        batch=batch,
        memory=memory * 2**20,
        dtype=dtype,
    )
    try:
        with answer_alone(), Stages() as progress:
            summary = write(model, inputs, Path(out), settings, progress)
    except KeyboardInterrupt:
        if not Path(out, RUN).exists():
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

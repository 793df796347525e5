"""attncert audit: the toolkit, and a user's data and layer, looked at from every side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from attncert.constructions.errors import InputError, require_seed
from attncert.terminal.options import answered
from attncert.terminal.output import deliver, report_folder
from attncert.verify.questions.prove import Prove

if TYPE_CHECKING:
    from attncert.reports.report import Report
    from attncert.terminal.progress import Stages


def audit(
    data: Annotated[str | None, typer.Argument(help="a data set, audited as well")] = None,
    construction: Annotated[
        str | None,
        typer.Option(help="the one to audit, MODULE:NAME too; default: paper and width-one"),
    ] = None,
    layer: Annotated[
        str | None,
        typer.Option(help="weights on DATA: .npz, .safetensors, .pt, JSON, a model's folder, or -"),
    ] = None,
    format: Annotated[
        str, typer.Option(help="auto | attncert | paper | transformer-lens | torch-mha | hf")
    ] = "auto",
    prefix: Annotated[
        str | None, typer.Option(help="of the layer's arrays, in a file of several layers")
    ] = None,
    heads: Annotated[
        int | None, typer.Option(help="number of heads, where the file does not say")
    ] = None,
    examples: Annotated[
        int | None, typer.Option(help="use the first T examples of DATA; default: all")
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(help="of the logits: none | sqrt-d | sqrt-model; default: what is read"),
    ] = None,
    mask: Annotated[
        str, typer.Option(help="none | causal | FILE, shape (T, n): 1 or true where a row is seen")
    ] = "none",
    logit_unit: Annotated[
        str | None, typer.Option(help="e | ln2; default: what the file says, else e")
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(help="largest error; default: below half the least gap between labels"),
    ] = None,
    property: Annotated[
        str | None, typer.Option(help="TOML file: what the layer must do; decides the exit status")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="fewer cases, in seconds")] = False,
    out: Annotated[
        str | None, typer.Option(help="folder for the report; default: attncert-report/audit")
    ] = None,
    seed: Annotated[int, typer.Option(help="random seed of the searches")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="findings as JSON on stdout")] = False,
) -> int:
    """Run edge cases and weakened hypotheses; audit DATA, if given."""
    from attncert.constructions.data.loading import load
    from attncert.verify.audit.layer.section import Source, question
    from attncert.verify.audit.records import Scope
    from attncert.verify.audit.records import audit as run
    from attncert.verify.audit.sections import sections

    require_seed(seed)
    if examples is not None and data is None:
        raise InputError("--examples", "given with a data set", "without one")
    for option, value in (("prefix", prefix), ("heads", heads), ("property", property)):
        if layer is None and value is not None:
            raise InputError(f"--{option}", "given with --layer", "without it")
    if layer is not None and construction is not None:
        raise InputError("--construction", "given without --layer", construction)
    loaded = None if data is None else load(data)
    chosen = loaded if loaded is None or examples is None else loaded.take(examples)

    def made(progress: Stages) -> Report:
        weights = None
        if layer is not None:
            weights = question(  # a file's mask is for all examples that the data have
                chosen if mask == "causal" else loaded,
                Source(layer, format, prefix, heads, property),
                scale,
                mask,
                logit_unit,
                tolerance,
            ).first(examples)
        from attncert.reports.audit.page import report  # draws: a second to import, not to refuse

        scope = Scope(chosen, weights, quick, seed, progress, construction)
        return report(run(scope, sections(scope)))

    with answered(Prove):
        return deliver(made, report_folder(out, "audit"), as_json)

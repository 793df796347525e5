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
    examples: Annotated[
        int | None, typer.Option(help="use the first T examples of DATA; default: all")
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
    from attncert.verify.audit.records import Scope
    from attncert.verify.audit.records import audit as run
    from attncert.verify.audit.sections import sections

    require_seed(seed)
    if examples is not None and data is None:
        raise InputError("--examples", "given with a data set", "without one")
    loaded = None if data is None else load(data)
    chosen = loaded if loaded is None or examples is None else loaded.take(examples)

    def made(progress: Stages) -> Report:
        from attncert.reports.audit.page import report  # draws: a second to import, not to refuse

        scope = Scope(chosen, quick, seed, progress, construction)
        return report(run(scope, sections(scope)))

    with answered(Prove):
        return deliver(made, report_folder(out, "audit"), as_json)

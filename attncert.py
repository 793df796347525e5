"""The command line: parses, calls constructions, verify and reports, and sets the exit status.

Exit status: 0 every claim asked for holds; 1 a claim is refuted, or a certificate is wrong;
2 unusable input or arguments (one line); 3 undecided, or the theorem does not apply;
130 interrupted.

As a library, the same things in a few lines:

>>> from attncert import Dataset, Settings, prove
>>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
>>> proof = prove(data, Settings(heads=2))
>>> proof.standing.value, proof.trace["memorization"].numbers["examples"]
('proved', 3)
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from constructions.errors import InputError

if TYPE_CHECKING:
    from constructions.dataset import Dataset
    from constructions.loading import load
    from verify.checker import Verdict
    from verify.proof import Proof
    from verify.prove import prove
    from verify.settings import Settings

__all__ = ["Dataset", "InputError", "Proof", "Settings", "check", "load", "main", "prove"]

# Loaded when first used: `attncert check` and `--help` need none of the heavy libraries, and a
# Ctrl-C while they load is an interrupt like any other.
_LAZY = {
    "Dataset": "constructions.dataset",
    "Proof": "verify.proof",
    "Settings": "verify.settings",
    "load": "constructions.loading",
    "prove": "verify.prove",
}

_INTERRUPTED = 130

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Exact attention weights from memorization proofs, every step verified.",
)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'attncert' has no attribute {name!r}")


def check(path: str | os.PathLike[str]) -> Verdict:
    """Re-derive everything a certificate claims, from the file alone."""
    from verify.checker import check_file

    return check_file(str(path))


@app.callback()
def _commands() -> None:
    """Exact attention weights from memorization proofs, every step verified."""


@app.command("prove")
def prove_command(
    data: Annotated[str, typer.Argument(help="a .json or .npz data set, or: digits")],
    construction: Annotated[str, typer.Option(help="paper | rank-one")] = "paper",
    heads: Annotated[int | None, typer.Option(help="H; default: the fewest that suffice")] = None,
    head_width: Annotated[int | None, typer.Option(help="d_h; default: n")] = None,
    value_width: Annotated[int | None, typer.Option(help="d_v; default: m")] = None,
    examples: Annotated[int | None, typer.Option(help="use the first T; default: all")] = None,
    out: Annotated[str | None, typer.Option(help="folder for the report")] = None,
    claim: Annotated[str, typer.Option(help="auto | interpolation | full-rank")] = "auto",
    vertices: Annotated[
        bool, typer.Option("--vertices", help="no barycentre targets: longer numbers")
    ] = False,
    device: Annotated[str, typer.Option(help="auto | cpu | cuda")] = "auto",
    seed: Annotated[int, typer.Option(help="of the searches")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="summary as JSON on stdout")] = False,
) -> int:
    """Build weights that memorize DATA, prove every step, write a report and a certificate."""
    from constructions.loading import load
    from reports import check_folder, one_line_verdict, summary_dict, write_report
    from reports.progress import Stages
    from verify.prove import prove
    from verify.settings import Settings

    settings = Settings(
        construction=construction,
        heads=heads,
        head_width=head_width,
        value_width=value_width,
        claim=claim,
        interior=not vertices,
        device=device,
        seed=seed,
    )
    examples_of = load(data)
    chosen = examples_of if examples is None else examples_of.take(examples)
    folder = Path(out) if out is not None else Path("attncert-report") / examples_of.name
    check_folder(folder)
    with Stages() as progress:
        proof = prove(chosen, settings, progress)
    write_report(proof, folder)
    if as_json:
        _print_json(summary_dict(proof) | {"folder": str(folder)})
    else:
        typer.echo(one_line_verdict(proof))
        typer.echo(f"Report: {folder / 'report.md'}")
    return proof.exit_status


@app.command("check")
def check_command(
    certificate: Annotated[str, typer.Argument(help="an attncert/1 certificate")],
    fast: Annotated[bool, typer.Option("--fast", help="NumPy re-check of large ranks")] = False,
    limit_seconds: Annotated[float, typer.Option(help="of estimated work, per stage")] = 600.0,
    as_json: Annotated[bool, typer.Option("--json", help="verdict as JSON on stdout")] = False,
) -> int:
    """Re-derive everything a certificate claims, from the file alone."""
    from verify import checker

    if not Path(certificate).is_file():
        raise InputError("certificate", "a file", certificate)
    if fast:
        from verify import fast_check

        verdict = fast_check.check_file(certificate, limit_seconds)
    else:
        verdict = checker.check_file(certificate, limit_seconds)
    if verdict.status == "unusable":
        typer.echo(f"attncert: {certificate}: {verdict.message}", err=True)
        return 2
    if as_json:
        _print_json(asdict(verdict))
    else:
        typer.echo(f"{verdict.status}: {verdict.message}")
    return checker.EXIT[verdict.status]


@app.command("capacity")
def capacity_command(
    out: Annotated[str, typer.Option(help="folder for the report")] = "attncert-report/capacity",
    constants: Annotated[bool, typer.Option("--constants", help="effective constants too")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="a few seconds' worth")] = False,
    seed: Annotated[int, typer.Option(help="of the data sets and weights")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="summary as JSON on stdout")] = False,
) -> int:
    """Certify the largest T with full rank over sweeps of H, n and d_h; write a report."""
    from dataclasses import replace

    from reports.capacity import one_line, write_capacity
    from reports.progress import Stages
    from verify.capacity import SweepSettings
    from verify.constants import ConstantsSettings

    if not 0 <= seed < 2**63:
        raise InputError("--seed", "a whole number from 0 to 2^63 - 1", seed)
    sweeps = SweepSettings.quick(seed) if quick else SweepSettings()
    sweeps = replace(sweeps, base=replace(sweeps.base, seed=seed))
    sizes = ConstantsSettings.quick(seed) if quick else ConstantsSettings(seed=seed)
    with Stages() as progress:
        found = write_capacity(sweeps, out, progress, constants=sizes if constants else None)
    if as_json:
        points = [point.as_dict() for point in found.capacity.points.values()]
        _print_json({"holds": found.holds, "points": points, "folder": out})
    else:
        typer.echo(one_line(found.capacity))
        typer.echo(f"Report: {Path(out) / 'report.md'}")
    return 0 if found.holds else 1


@app.command("attack")
def attack_command(
    construction: Annotated[str, typer.Option(help="paper | rank-one")] = "rank-one",
    cases: Annotated[int, typer.Option(help="how many data sets to draw")] = 2000,
    seed: Annotated[int, typer.Option(help="of the cases; each can be drawn alone")] = 0,
    start: Annotated[int, typer.Option(help="first case: resume where a run stopped")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="counts as JSON on stdout")] = False,
) -> int:
    """Search small degenerate data for one on which a construction fails."""
    from reports.progress import Stages
    from verify.attack import attack

    with Stages() as progress:
        report = attack(
            construction,
            cases=cases,
            seed=seed,
            start=start,
            progress=lambda done, of: progress("cases", done, of),
        )
    if as_json:
        _print_json(report.as_dict())
    else:
        typer.echo(
            f"{len(report.failures)} failures in cases {report.start} to {report.stop - 1}: "
            f"{report.built.total()} built under A1, {report.partition.total()} under the "
            f"partition condition alone, {report.outside.total()} where neither holds"
        )
        for failure in report.failures:
            typer.echo(str(failure))
    return 1 if report.failures else 0


def _print_json(content: dict[str, Any]) -> None:
    typer.echo(json.dumps(content, sort_keys=True, indent=1))


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status instead of raising."""
    words = sys.argv[1:] if arguments is None else arguments
    command = typer.main.get_command(app)
    try:
        result = command.main(words, prog_name="attncert", standalone_mode=False)
        if result == _INTERRUPTED:  # Typer turns Ctrl-C into this status, without a word
            raise KeyboardInterrupt
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except InputError as error:
        message = str(error)
    except typer.TyperException as error:
        message = _usage(error)
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("interrupted: nothing was written", err=True)
        return _INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # nowhere to write the answer to
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        message = f"standard output: {error.strerror}"
    typer.echo(f"attncert: {' '.join(message.split())}", err=True)
    return 2


def _usage(error: typer.TyperException) -> str:
    """A usage error in the same words as any other: the argument, what it must be, what it is."""
    return f"{error.format_message()} (see attncert --help)"


if __name__ == "__main__":
    sys.exit(main())

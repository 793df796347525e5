"""attncert check: checks a certificate from the file alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attncert.commands.certificates.folders import as_file, certificate_in
from attncert.constructions.errors import InputError
from attncert.terminal.output import print_json, say
from attncert.terminal.progress import Stages

if TYPE_CHECKING:
    from attncert.verify.checker import Verdict


def check(
    certificate: Annotated[str, typer.Argument(help="a certificate, the folder of a report, or -")],
    fast: Annotated[
        bool, typer.Option("--fast", help="for files too large for pure Python")
    ] = False,
    limit_seconds: Annotated[float, typer.Option(help="limit on the time in seconds")] = 600.0,
    limit_mib: Annotated[
        float | None,
        typer.Option(help="limit on the memory for numbers; default: 2048, with --fast 8192"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="verdict as JSON on stdout")] = False,
    verified: Annotated[
        bool, typer.Option("--verified", help="use the verified checker (attncert kernel build)")
    ] = False,
    kernel: Annotated[
        bool, typer.Option("--kernel", help="let Coq check it as a theorem (attncert kernel build)")
    ] = False,
) -> int:
    """Re-derive everything a certificate claims, from the file alone."""
    from attncert.verify.checker import EXIT

    if fast + verified + kernel > 1:
        raise InputError("--fast, --verified and --kernel", "given one at a time", "together")
    for option, limit in (("--limit-seconds", limit_seconds), ("--limit-mib", limit_mib or 0)):
        if not limit >= 0:  # true for NaN, too
            raise InputError(option, "0 or a positive number", f"{limit:g}")
    certificate = certificate_in(certificate)
    by, most = _checker(fast, verified, kernel)
    limits = {"limit_seconds": limit_seconds, "limit_mib": most if limit_mib is None else limit_mib}
    with as_file(certificate) as path, Stages() as progress:
        progress("checking", 0, 0)
        verdict = by(path, **limits)
    if verdict.status == "over limit" and not fast:
        verdict = _with_hint(verdict)
    if verdict.status == "unusable":
        kind = re.match(r"(?:fast check: )?([A-Z][A-Za-z]*(?:Error|Exception))\b", verdict.message)
        if kind is not None:  # a Python exception, not a rule of the format
            raise InputError(
                certificate, "an attncert certificate", f"one on which the checker raises {kind[1]}"
            )
        say(f"attncert: {certificate}: {verdict.message}", error=True)
        return 2
    if as_json:
        print_json(verdict._asdict())
    else:
        say(f"{verdict.status}: {verdict.message}")
    return EXIT[verdict.status]


def _with_hint(verdict: Verdict) -> Verdict:
    from attncert.verify.checking.fast.check import FAST_CLAIMS

    if verdict.claim not in FAST_CLAIMS or "--fast" in verdict.message:
        return verdict
    return verdict._replace(message=f"{verdict.message} (see attncert check --fast)")


def _checker(fast: bool, verified: bool, kernel: bool) -> tuple[Callable[..., Verdict], float]:
    """The checker, and its default limit on memory in MiB."""
    if fast:
        from attncert.verify.checking.fast import check as fast_check

        return fast_check.check_file, fast_check.LIMIT_MIB
    from attncert.verify.checker import LIMIT_MIB, check_file

    if verified:
        from attncert.verify.certificates.coq import executable

        return executable.check_file, LIMIT_MIB
    return _in_kernel if kernel else check_file, LIMIT_MIB


def _in_kernel(path: str, **limits: float) -> Verdict:
    """The verdict of the checker; if that is "holds", the verdict of Coq, with its axioms."""
    from attncert.verify.certificates.coq.instance import check, instance

    verdict, theorem = instance(path, **limits)
    if theorem is None:
        return verdict
    target = Path("attncert-report", "kernel", "instance.v")
    say(f"The certificate as a theorem: {target}", error=True)
    checked = check(theorem, target)
    words = [name for name in checked.assumptions if re.match(r"(Prim|U)[Ii]nt63\.", name)]
    rests = ", ".join(name for name in checked.assumptions if name not in words) or "no axiom"
    rests += f", and {len(words)} operations on 63-bit words with their laws" if words else ""
    message = (
        f"checked by Coq's kernel in {checked.seconds:.0f} s and {checked.mib:.0f} MiB: "
        f"{verdict.message}; theorem Certificate.holds of {target} rests on: {rests}"
    )
    return verdict._replace(message=message)

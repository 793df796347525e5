"""What the checkers say of a certificate of a layer, before the verdict: `prove` does not say
"Proved" of what its own checker calls wrong.

The plain checker judges an interpolation that takes it at most PLAIN_SECONDS by
`cost_of_checking`, an upper bound: 49 digits take it 5 % of the time of the paper's proof, 193 by
heads of width one about a third. Of a rank its cost is about T²·H·d products modulo the prime: up
to PLAIN_WORK it judges, up to FAST_WORK the fast check does. Beyond, neither does, since it would
take more than a tenth of what the proof takes. The choice depends on sizes alone, never on a clock.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from attncert.verify import checker
from attncert.verify.certificate import Certificate, DataFile, canonical_bytes
from attncert.verify.fast import check as fast

PLAIN_SECONDS = 10.0
PLAIN_WORK, FAST_WORK = 10**6, 10**8


def contradiction(certificate: Certificate, seconds: float) -> str:
    """Why a checker does not accept the file, half a sentence; "" where it holds, or where nothing
    judged it: it is too large, or beyond a limit of the checker.

    certificate: of "interpolation" or "full-rank". seconds: of `cost_of_checking`. The file is
    written to a folder of its own and read from there, as by `attncert check`. Arithmetic: that of
    the checker, exact integers.
    """
    name = judge_of(certificate, seconds)
    if not name:
        return ""
    with TemporaryDirectory() as folder:
        path, beside = Path(folder, "certificate.json"), certificate.get("data_file")
        path.write_bytes(canonical_bytes(certificate))
        if isinstance(beside, DataFile):
            Path(folder, beside["name"]).write_bytes(beside.content)
        verdict = (fast if name == "fast check" else checker).check_file(str(path))
    if verdict.status in ("holds", "over limit"):
        return ""
    return f"the {name} says of its certificate: {verdict.status}, {verdict.message}"


def judge_of(certificate: Certificate, seconds: float) -> str:
    """ "plain checker", "fast check", or "" where the file is too large for both."""
    dims = certificate["dims"]
    if certificate["claim"] == "interpolation":
        return "plain checker" if seconds <= PLAIN_SECONDS else ""
    work = dims["examples"] ** 2 * dims["heads"] * dims["width"]
    if work <= PLAIN_WORK:
        return "plain checker"
    return "fast check" if work <= FAST_WORK else ""

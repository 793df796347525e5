"""The check of each certificate before an answer is returned: no command returns a file that its
own checker rejects.

The decorator `answers` passes each answer to `judged`. The plain checker judges interpolations for
which `cost_of_checking`, an upper estimate, is at most PLAIN_SECONDS. For ranks and nearby weights,
`_work` counts the products in the elimination: up to PLAIN_WORK, the plain checker judges them; up
to FAST_WORK, the fast check. Relations are always judged. Networks of up to `RECOMPUTED` products
were judged when their file was written (verify/outputs/within.py). Larger files are not judged,
since this would take more than a tenth of the command's running time. The choice depends only on
sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from attncert.verify import checker
from attncert.verify.certificates.certificate import DataFile, canonical_bytes, cost_of_checking
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.proof import Proof

PLAIN_SECONDS = 10.0
PLAIN_WORK, FAST_WORK = 10**6, 10**8
_RELATIONS = "dependent-set", "impossible"

_Answer = TypeVar("_Answer", bound=Answer)


def judged(answer: _Answer) -> _Answer:
    """The answer, made undecided and stripped of certificates if a checker rejects one of them."""
    for file in answer.files:
        if reason := contradiction(file, judge_of(file, answer)):
            return answer.contradicted(reason)
    return answer


def contradiction(file: Mapping[str, Any], judge: str) -> str:
    """A clause that says why this judge rejects the file; "" if it does not, if no judge is named,
    or if the file exceeds a limit of the checker.

    The file is written to a folder and read as in `attncert check`. Arithmetic: as in the checker.
    """
    if not judge:
        return ""
    with TemporaryDirectory() as folder:
        path, beside = Path(folder, "certificate.json"), file.get("data_file")
        path.write_bytes(canonical_bytes(file))
        if isinstance(beside, DataFile):
            Path(folder, beside["name"]).write_bytes(beside.content)
        verdict = _checks(judge)(str(path), PLAIN_SECONDS)
    if verdict.status in ("holds", "over limit"):
        return ""
    return f"the {judge} says about its certificate: {verdict.status}, {verdict.message}"


def _checks(judge: str) -> Callable[[str, float], checker.Verdict]:
    if judge == "plain checker":
        return checker.check_file
    from attncert.verify.checking.fast.check import check_file  # imports the check of networks

    return check_file


def judge_of(file: Mapping[str, Any], answer: Answer) -> str:
    """ "plain checker", "fast check", or "" if the file is too large for both, or was judged
    before."""
    if file["claim"] in _RELATIONS:
        return "plain checker"
    if file["claim"] == "interpolation":
        assert isinstance(answer, Proof) and answer.layer is not None
        seconds, _ = cost_of_checking(answer.data, answer.layer)
        return "plain checker" if seconds <= PLAIN_SECONDS else ""
    work = _work(file)
    if work is None or work > FAST_WORK:
        return ""
    return "plain checker" if work <= PLAIN_WORK else "fast check"


def _work(file: Mapping[str, Any]) -> int | None:
    """The approximate number of products in the elimination; None for networks."""
    claim, dims = file["claim"], file["dims"]
    labels = dims["examples"] * dims["labels"]
    if claim == "full-rank":
        return int(dims["examples"] ** 2 * dims["heads"] * dims["width"])
    if claim == "every-labelling":
        widths = 2 * dims["head_width"] + dims["value_width"]
        weights = dims["width"] * widths + dims["value_width"] * dims["labels"]
        return int(labels**2 * dims["heads"] * weights)
    if claim == "network-rank":
        return int(file["rank"]["value"] ** 3)
    return int(labels**3) if claim == "interpolation-near" else None

"""The executable extracted from the verified checker: its location, its build and its use."""

from __future__ import annotations

import hashlib
import math
import os
import shutil
import subprocess
from pathlib import Path

from attncert.constructions.errors import InputError
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.checker import LIMIT_MIB, LIMIT_SECONDS, Limits, Rejected, Verdict
from attncert.verify.checker.claims import parse

SOURCES = Path(__file__).resolve().parents[2] / "kernel"
PACKAGES = (  # in Debian 12 and Ubuntu
    "coq libcoq-mathcomp-algebra libcoq-mathcomp-analysis libcoq-bignums ocaml-findlib "
    "libzarith-ocaml-dev make"
)
_NEEDED = ("make", "coqc", "ocamlfind", "ocamlopt")
_ENDS = {0: "holds", 1: "wrong", 2: "unusable", 3: "over limit"}
_LONGEST = 999_999_999  # the largest limit (in seconds or MiB) that the executable accepts


def sources() -> list[Path]:
    """The files of verify/kernel that a build needs, but not those that it creates."""
    listed = (SOURCES / "_CoqProject").read_text().split()
    named = [SOURCES / name for name in listed if name.endswith(".v")]
    plain = ["Makefile", "_CoqProject", "headlines.txt", "axioms.txt", "axioms.sh", "no_gaps.sh"]
    plain.append("SHA256SUMS")
    ml = sorted((SOURCES / "checker").glob("*.ml"))
    return [*(SOURCES / name for name in plain), SOURCES / "checker" / "Extract.v", *ml, *named]


def home() -> Path:
    """The build folder: verify/kernel if it is writable, otherwise a copy in the user's cache, one
    for each version of the sources."""
    if os.access(SOURCES, os.W_OK):
        return SOURCES
    version = hashlib.sha256(b"".join(path.read_bytes() for path in sources())).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "attncert" / f"kernel-{version}"


def executable() -> Path:
    """The path of the executable. Raises InputError if it is not built."""
    program = home() / "build" / "attncert-kernel"
    if not program.is_file():
        raise InputError("--verified", "used after attncert kernel build", "before it")
    return program


def build(progress: StageProgress = silent) -> Path:
    """Compile the theorems and the checker, and return the executable. This takes minutes and
    1.1 GB. progress: receives the number of files compiled.

    Raises InputError if a tool is missing or make fails.
    """
    absent = [tool for tool in _NEEDED if shutil.which(tool) is None]
    if absent:
        must = f"run where Coq and OCaml are installed (Debian, Ubuntu: apt-get install {PACKAGES})"
        raise InputError("kernel build", must, f"without {', '.join(absent)}")
    folder = home()
    if folder != SOURCES:
        for source in sources():
            target = folder / source.relative_to(SOURCES)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    status, lines = _made(folder, progress)
    if status:
        raise InputError("kernel build", "a build that make finishes", "; ".join(lines[-3:]))
    return executable()


def _made(folder: Path, progress: StageProgress) -> tuple[int, list[str]]:
    """The exit status and the output of make. A line "COQC file" marks the start of a file."""
    files = sum(path.suffix == ".v" for path in sources())
    lines: list[str] = []
    progress("theorems", 0, files)
    words = ["make", "-C", str(folder)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as run:
        try:
            for line in filter(str.strip, run.stdout or ()):
                lines.append(line.strip())
                progress("theorems", sum(x.startswith("COQC ") for x in lines), files)
        except BaseException:
            run.kill()
            raise
    return run.returncode, lines


def check_file(
    path: str, limit_seconds: float = LIMIT_SECONDS, limit_mib: float = LIMIT_MIB
) -> Verdict:
    """The verdict of the verified checker. The limits apply to the time and memory actually used.

    Raises InputError if the checker is not built. If the executable ends with an unknown status,
    the verdict is "over limit", which leaves the claim open.
    """
    claim, dims, outside = _heading(path, limit_seconds, limit_mib)
    program = executable()
    limits = [_whole(limit_seconds), _whole(limit_mib)]
    if not all(limits):
        return Verdict("over limit", None, "verified: a limit is below 1", {})
    run = subprocess.run(
        [str(program), os.path.abspath(path), *map(str, limits)],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    status, _, message = run.stdout.strip().partition(": ")
    if _ENDS.get(run.returncode) != status:
        message = f"the executable ended with status {run.returncode}"
        return Verdict("over limit", None, f"verified: {message}", {})
    if status in ("unusable", "over limit"):
        claim, dims = None, {}
        if outside and status == "over limit":
            message = "this checker cannot read a certificate with a data_file"
    return Verdict(status, claim, f"verified: {message}", dims)


def _heading(
    path: str, limit_seconds: float, limit_mib: float
) -> tuple[str | None, dict[str, int], bool]:
    """The claim and sizes in a file, for the verdict, and whether its data are in another file."""
    try:
        certificate = parse(path, Limits(limit_seconds, limit_mib))
    except (Rejected, OSError, ValueError, MemoryError, RecursionError):
        return None, {}, False
    return certificate["claim"], certificate["dims"], certificate["data_file"] is not None


def _whole(limit: float) -> int:
    """
    >>> _whole(600.0), _whole(0.5), _whole(-1.0), _whole(math.nan), _whole(math.inf)
    (600, 0, 0, 0, 999999999)
    """
    return math.floor(min(limit, _LONGEST)) if limit >= 1 else 0

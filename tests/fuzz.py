"""Coverage-guided fuzzing of the parsers of files (atheris): python tests/fuzz.py, or `make fuzz`.

    --runs N        inputs for each target (default: 20,000; those of an earlier corpus count too)
    --seconds S     time for each target, at most (default: 60)
    --corpus DIR    where inputs that reached something new are kept, for the next run
    --only NAME     one target of tests/support/fuzz_targets.py

Prints what became of the inputs and, by replaying the corpus under coverage.py, which share of the
parsers' branches it reached. Exit status 1 if a target was made to misbehave: the input is in the
corpus folder, named crash-*.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

NAMES = ("json", "npz", "npz-arrays", "layer", "mask", "state", "property", "vectors",
         "certificate", "fast-check", "mutants", "near", "near-mutants", "labelling",
         "labelling-mutants", "first-layer", "first-layer-mutants", "name",
         "file-name")  # fmt: skip
PARSERS = ("constructions/data/loading.py", "constructions/data/archives.py",
           "constructions/data/conversion.py",
           "constructions/weights/own.py", "constructions/weights/load.py",
           "constructions/weights/projections.py", "verify/audit/layer/property.py",
           "verify/checker.py", "verify/fast/full_rank.py",
           "verify/checker_data.py", "verify/checker_near.py", "verify/checker_rank.py",
           "verify/checker_labelling.py", "verify/checker_mixing.py", "verify/fast/near.py",
           "verify/fast/labelling.py")  # fmt: skip
ROOMS = ("constructions", "verify")
INSTRUMENTED = [*(f"attncert.{room}" for room in ROOMS), "json", "zipfile"]
LONGEST = 8192  # bytes of an input
NOTE = 100  # inputs after which the counts are written
_NUMBA = re.compile(r"^(?:from|import) numba\b", re.MULTILINE)
ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, usage=argparse.SUPPRESS)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--corpus", type=Path, default=None)
    parser.add_argument("--only", choices=NAMES, default=None)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--replay", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = options.corpus or Path(tempfile.mkdtemp(prefix="attncert-corpus-"))
    if options.replay:
        return replay(folder)
    if options.child:
        fuzz(options.only, folder, options.runs, options.seconds, options.seed)
    failed = 0
    for name in [options.only] if options.only else NAMES:
        again = ["--child", "--only", name, "--corpus", str(folder), "--seed", str(options.seed)]
        again += ["--runs", str(options.runs), "--seconds", str(options.seconds)]
        failed |= _python("tests/fuzz.py", *again).returncode
        print(f"{name}: {_counts(folder, name).read_text()}", flush=True)
    if options.only is None:
        coverage(folder)
    return 1 if failed else 0


def fuzz(name: str, folder: Path, runs: int, seconds: int, seed: int) -> None:
    """Fuzz one target; never returns (libFuzzer ends the process)."""
    import atheris

    with atheris.instrument_imports(include=INSTRUMENTED, exclude=_compiled()):
        from support import fuzz_measure, fuzz_targets

    target = fuzz_targets.TARGETS[name]
    corpus = folder / name
    corpus.mkdir(parents=True, exist_ok=True)
    for i, content in enumerate(target.seeds()):
        (corpus / f"seed-{i}").write_bytes(content)
        target.run(content)
    fuzz_measure.begin()
    tokens = folder / f"{name}.dict"
    tokens.write_text("".join(f'"{_escaped(token)}"\n' for token in target.tokens))
    words: Counter[str] = Counter(findings=0)
    start = time.perf_counter()

    def note() -> None:
        seconds, memory = round(time.perf_counter() - start), fuzz_measure.largest() >> 20
        done = {"inputs": words.total(), "seconds": seconds, "largest MiB": memory}
        _counts(folder, name).write_text(json.dumps(done | dict(sorted(words.items()))))

    def one(content: bytes) -> None:
        try:
            words[target.run(content)] += 1
        except BaseException:
            words["findings"] += 1
            note()
            raise
        if words.total() % NOTE == 0:  # libFuzzer ends the process: nothing runs after it
            note()

    note()
    flags = [f"-runs={runs}", f"-max_total_time={seconds}", f"-seed={seed}", f"-max_len={LONGEST}"]
    flags += [f"-dict={tokens}"] if target.tokens else []
    flags += [f"-artifact_prefix={folder}/", "-timeout=60", "-verbosity=0"]
    atheris.Setup(["fuzz", *flags, str(corpus)], one)
    atheris.Fuzz()


def _compiled() -> list[str]:
    """Modules that numba compiles, which it cannot where they are instrumented."""
    paths = (path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    compiled = [path.relative_to(ROOT) for path in paths if _NUMBA.search(path.read_text())]
    return [".".join(("attncert", *path.with_suffix("").parts)) for path in compiled]


def replay(folder: Path) -> int:
    """Run every input of the corpus once, for coverage."""
    from support.fuzz_targets import TARGETS

    for name, target in TARGETS.items():
        for path in sorted((folder / name).iterdir()):
            target.run(path.read_bytes())
    return 0


def coverage(folder: Path) -> None:
    """Branch coverage of the parsers by the corpus, printed."""
    data = f"--data-file={folder / 'coverage'}"
    include = f"--include={','.join(PARSERS)}"
    run = ["-m", "coverage", "run", "--branch", data, include]
    _python(*run, "tests/fuzz.py", "--replay", "--corpus", str(folder)).check_returncode()
    _python("-m", "coverage", "report", data, "-m").check_returncode()


def _python(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "PYTHONHASHSEED": "0"}
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, check=False)


def _counts(folder: Path, name: str) -> Path:
    return folder / f"{name}.json"


def _escaped(token: str) -> str:
    return "".join(
        chr(x) if 32 <= x < 127 and x not in b'"\\' else f"\\x{x:02x}"
        for x in token.encode().decode("unicode_escape").encode("latin-1", "replace")
    )


if __name__ == "__main__":
    raise SystemExit(main())

"""Coverage-guided fuzzing of what reads files (atheris): python tests/fuzz.py, or `make fuzz`.

    --runs N        inputs for each target (default: 20,000; those of an earlier corpus count too)
    --seconds S     time for each target, at most (default: 60)
    --corpus DIR    where inputs that reached something new are kept, for the next run
    --only NAME     one target

An input may be read or refused in one line. A `Finding` is anything else: another exception, a
refusal that is no single clear line, more time than `HANG`, more memory than `SPARE` and `MULTIPLE`
times its size, a certificate accepted that the independent judge does not find true. Exit status 1
if there was one: the input is in the corpus folder, named crash-*.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("constructions", "verify")
NAMES = ("json", "npz", "layer", "state", "vectors", "certificate", "fast-check")
LONGEST = 8192  # bytes of an input
HANG = 20.0  # seconds: far more than any limit on work (who waits, libFuzzer ends after 60)
SPARE, MULTIPLE = 2**26, 1000  # 64 MiB, and 1,000 bytes for each byte of the input
WORK_LIMIT = 2.0  # seconds that the checkers are allowed
_STATUS, _PEAK = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class Finding(Exception):
    """What no input may cause."""


class Target(NamedTuple):
    """run: bytes to one word for what became of them. seeds: valid files."""

    run: Callable[[bytes], str]
    seeds: list[bytes]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, usage=argparse.SUPPRESS)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--corpus", type=Path, default=None)
    parser.add_argument("--only", choices=NAMES, default=None)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = options.corpus or Path(tempfile.mkdtemp(prefix="attncert-corpus-"))
    limits = ["--runs", str(options.runs), "--seconds", str(options.seconds)]
    if options.child:
        fuzz(options.only, folder, options.runs, options.seconds)
    failed = False
    for name in [options.only] if options.only else NAMES:
        child = ["--child", "--only", name, "--corpus", str(folder), *limits]
        failed |= bool(subprocess.run([sys.executable, __file__, *child], cwd=ROOT).returncode)
        print(f"{name}: {(folder / f'{name}.json').read_text()}", flush=True)
    return int(failed)


def fuzz(name: str, folder: Path, runs: int, seconds: int) -> None:
    """Fuzz one target; never returns (libFuzzer ends the process)."""
    import atheris

    rooms = [f"attncert.{room}" for room in ROOMS]
    with atheris.instrument_imports(include=[*rooms, "json", "zipfile"], exclude=_compiled()):
        target = targets(folder)[name]
    corpus = folder / name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(target.seeds):
        (corpus / f"seed-{number}").write_bytes(content)
        target.run(content)  # what a first call imports and compiles is not the input's
    words: Counter[str] = Counter(findings=0)
    largest, start = 0, time.perf_counter()

    def note() -> None:
        spent = {"inputs": words.total(), "seconds": round(time.perf_counter() - start)}
        counts = spent | {"largest MiB": largest >> 20} | dict(sorted(words.items()))
        (folder / f"{name}.json").write_text(json.dumps(counts))

    def one(content: bytes) -> None:
        nonlocal largest
        try:
            word, memory = bounded(target.run, content)
        except BaseException:
            words["findings"] += 1
            note()
            raise
        words[word] += 1
        largest = max(largest, memory)
        if words.total() % 100 == 0:  # libFuzzer ends the process: nothing runs after it
            note()

    note()
    flags = [f"-runs={runs}", f"-max_total_time={seconds}", "-seed=1", f"-max_len={LONGEST}"]
    flags += [f"-artifact_prefix={folder}/", "-timeout=60", "-verbosity=0"]
    atheris.Setup(["fuzz", *flags, str(corpus)], one)
    atheris.Fuzz()


def _compiled() -> list[str]:
    """Modules that numba compiles, which it cannot where they are instrumented."""
    numba = re.compile(r"^(?:from|import) numba\b", re.MULTILINE)
    paths = (path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    compiled = [path.relative_to(ROOT) for path in paths if numba.search(path.read_text())]
    return [".".join(("attncert", *path.with_suffix("").parts)) for path in compiled]


# What no input may do.


def bounded(run: Callable[[bytes], str], content: bytes) -> tuple[str, int]:
    """What `run` says, and the bytes it took: the peak of the resident set, less what was resident
    before (Linux; elsewhere 0)."""
    before = _resident("VmRSS", begin=True)
    start = time.process_time()
    try:
        word = run(content)
    except Finding:
        raise
    except BaseException as error:
        raise Finding(f"raised {type(error).__name__}: {error!s:.300}") from error
    if (spent := time.process_time() - start) > HANG:
        raise Finding(f"took {spent:.0f} s")
    memory = _resident("VmHWM") - before
    if memory > SPARE + MULTIPLE * len(content):
        raise Finding(f"took {memory >> 20} MiB for {len(content)} bytes")
    return word, memory


def _resident(name: str, begin: bool = False) -> int:
    if not _PEAK.exists():
        return 0
    if begin:
        _PEAK.write_text("5")  # the peak begins anew: proc(5)
    lines = _STATUS.read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


def targets(folder: Path) -> dict[str, Target]:
    """By name. Imported here, where the fuzzer looks on."""
    import numpy as np
    from safetensors.numpy import save
    from support.certificate_judge import judgement
    from support.data_files import VALID, archive, json_text, zipped
    from support.near_cases import case as near_case
    from support.near_judge import near_judgement
    from support.small_certificates import CASES, digested, sealed
    from support.third_party import third_party

    from attncert.constructions.data.loading import load
    from attncert.constructions.errors import InputError
    from attncert.constructions.weights.load import load_weights
    from attncert.verify import checker
    from attncert.verify.fast import check as fast
    from attncert.verify.kruskal.vectors import load_vectors

    def reader(read: Callable[[Path], Any]) -> Callable[[bytes], str]:
        """The content, in a file of the format that its first bytes say."""

        def run(content: bytes) -> str:
            ending = "json" if content[:1] in (b"{", b"[", b" ", b"") else "safetensors"
            path = folder / f"input.{'npz' if content.startswith(b'PK') else ending}"
            path.write_bytes(content)
            try:
                read(path)
            except InputError as error:
                line = str(error)
                if not (line.isprintable() and ": must be " in line and ", not " in line):
                    raise Finding(f"not one clear line: {line!r}") from error
                return "refused"
            return "read"

        return run

    def certificate(check: Callable[..., Any]) -> Callable[[bytes], str]:
        """The file as it is and with both digests computed afresh: else nearly every mutation
        would end at the digest."""

        def run(content: bytes) -> str:
            try:
                fresh = json.dumps(sealed(json.loads(content))).encode()
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                return judged(content)
            return (judged(content), judged(fresh))[1]

        def judged(content: bytes) -> str:
            path = folder / "certificate.json"
            path.write_bytes(content)
            verdict = check(str(path), WORK_LIMIT)
            if verdict.status not in checker.EXIT or not verdict.message.isprintable():
                raise Finding(f"not one clear line: {verdict.status} {verdict.message!r}")
            if verdict.status == "holds":
                file = json.loads(content)
                near = file["claim"] == "interpolation-near"
                truth = near_judgement(file) if near else judgement(file)
                if truth is False or digested(sealed(file)) != file:
                    raise Finding("accepted, but not true")
            return str(verdict.status)

        return run

    def written(save_to: Callable[[io.BytesIO], object]) -> bytes:
        file = io.BytesIO()
        save_to(file)
        return file.getvalue()

    small = {key: np.array(values, dtype=np.float16) / 3 for key, values in VALID.items()}
    weights = {name: np.ones((1, 2, 1), dtype=np.float32) for name in ("W_K", "W_Q", "W_V")}
    weights["W_O"] = np.ones((1, 1), dtype=np.float32)
    rng = np.random.default_rng(0)
    states = [third_party(style, rng, d=2, heads=1).state for style in ("mha", "gpt2", "bert")]
    vectors = {"vectors": [[1, "1/2"], [0.5, 3]], "name": "two"}
    files = [json.dumps(make()).encode() for make in CASES.values()]
    files += [json.dumps(near_case(name)).encode() for name in ("distinct", "shared")]
    big = {"contexts": [[10**40]], "queries": [["1e-300"], [5e-324]], "labels": [0, "-1/3"]}
    return {
        "json": Target(reader(load), [json_text(), json.dumps(big).encode(), b"[]"]),
        "npz": Target(
            reader(load), [archive().getvalue(), zipped().getvalue(), archive(**small).getvalue()]
        ),
        "layer": Target(
            reader(load_weights),
            [written(lambda file: np.savez(file, **weights)), save(weights), files[0]],
        ),
        "state": Target(
            reader(lambda path: load_weights(path, heads=1)),
            [save({k: np.ascontiguousarray(x) for k, x in state.items()}) for state in states],
        ),
        "vectors": Target(
            reader(load_vectors), [json.dumps(vectors).encode(), archive().getvalue(), json_text()]
        ),
        "certificate": Target(certificate(checker.check_file), files),
        "fast-check": Target(certificate(fast.check_file), files),
    }


if __name__ == "__main__":
    raise SystemExit(main())

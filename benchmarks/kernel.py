"""Measures the cost of checking certificates as theorems in Coq. The gallery has two, on digits.

    python benchmarks/kernel.py FILE ... [--out benchmarks/results/kernel.json]
    python docs/make_gallery.py digits-kernel    writes the page, from that file

It measures processor time and peak memory of the programs that `attncert check --verified` and
`--kernel` start; they need `attncert kernel build`. The page shows the commands that write the
files.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import tempfile
from pathlib import Path
from typing import Any

from cases import command, in_own_process, write

from attncert.verify.certificates.coq import executable, instance

OUT = "benchmarks/results/kernel.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help="certificates that hold")
    parser.add_argument("--limit", type=int, default=1800, help="seconds for one file")
    parser.add_argument("--out", default=OUT)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps(_run(Path(json.loads(arguments.case)["file"]))))
        return
    from machine import machine

    rows = [in_own_process(__file__, {"file": x}, arguments.limit) for x in arguments.files]
    kept = [{name: row[name] for name in row.keys() - {"file", "total_s"}} for row in rows]
    write({"command": command(__file__), "machine": machine(), "rows": kept}, arguments.out)


def _run(path: Path) -> dict[str, Any]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    verified = executable.check_file(str(path))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    verdict, theorem = instance.instance(str(path))
    if verified.status != "holds" or theorem is None:
        raise SystemExit(f"{path}: {verified}, {verdict}")
    with tempfile.TemporaryDirectory() as folder:
        found = instance.check(theorem, Path(folder, "instance.v"))
    text = path.read_text()
    told = json.loads(text)
    return {
        "format": told["format"],
        "digest": told["digest"],
        "made by": told["produced_by"]["command"],
        "examples": told["dims"]["examples"],
        "digits of the longest number": max(map(len, re.findall("[0-9]+", text))),
        "certificate MB": round(len(text) / 1e6, 2),
        "theorem MB": round(len(theorem) / 1e6, 2),
        "verified s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        "verified MiB": round(after.ru_maxrss / 1024),
        "kernel s": round(found.seconds),
        "kernel MiB": round(found.mib),
        "said": verdict.message,
        "assumptions": list(found.assumptions),
    }


if __name__ == "__main__":
    main()

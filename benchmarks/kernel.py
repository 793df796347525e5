"""Certificates of digits as theorems that Coq checks: the paper's construction, 25 and 49 digits.

    python benchmarks/kernel.py [--out benchmarks/results/kernel.json]
    python docs/make_gallery.py digits-kernel    writes the page, from that file

Processor time and largest memory of what `attncert check --kernel` and `attncert check --verified`
start; they need `attncert kernel build`. With 25 digits the file is that of `make report`, which
claims saturation, too.
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

from attncert.constructions.data.digits import digits
from attncert.reports.proof.page import certificate_bytes
from attncert.verify.coq import executable, instance
from attncert.verify.prove import Settings, prove

OUT = "benchmarks/results/kernel.json"
CASES: list[dict[str, Any]] = [
    {"examples": 25, "heads": 8, "saturate": 20},
    {"examples": 49, "heads": 16, "saturate": None},
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=1800, help="seconds for one case")
    parser.add_argument("--out", default=OUT)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps(_run(json.loads(arguments.case))))
        return
    from machine import machine

    rows = [in_own_process(__file__, case, arguments.limit) for case in CASES]
    write({"command": command(__file__), "machine": machine(), "rows": rows}, arguments.out)


def _run(case: dict[str, Any]) -> dict[str, Any]:
    proof = prove(
        digits().take(case["examples"]),
        Settings(heads=case["heads"], head_width=4, saturate=case["saturate"]),
    )
    content = certificate_bytes(proof)
    assert content is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "certificate.json")
        path.write_bytes(content)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        verified = executable.check_file(str(path))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        verdict, theorem = instance.instance(str(path))
        if verified.status != "holds" or theorem is None:
            raise SystemExit(f"{case}: {verified}, {verdict}")
        found = instance.check(theorem.text, Path(folder, "instance.v"))
    told = json.loads(content)
    digits_of = max(map(len, re.findall(r"[0-9]+", content.decode())))
    return {
        "format": told["format"],
        "digest": told["digest"],
        "longest number": f"{digits_of} digits",
        "certificate MB": round(len(content) / 1e6, 2),
        "verified s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        "verified MiB": round(after.ru_maxrss / 1024),
        "kernel s": round(found.seconds),
        "kernel MiB": round(found.mib),
        "theorem MB": round(len(theorem.text) / 1e6, 2),
        "said": verdict.message,
        "assumptions": list(found.assumptions),
    }


if __name__ == "__main__":
    main()

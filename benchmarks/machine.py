"""The machine on which a benchmark ran, for every result file."""

from __future__ import annotations

import os
import platform
import re
import resource
from importlib import metadata
from pathlib import Path
from typing import Any


def machine(*packages: str) -> dict[str, Any]:
    """Processor (x86: with family and model), cores, Python and the versions of these packages."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in packages},
    }


def peak_mebibytes() -> int:
    """The largest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        first = cpuinfo.read_text().split("\n\n")[0]
        facts = dict(re.findall(r"^(.*?)\s*: (.*)$", first, re.M))
        if "model name" in facts:
            further = ("family", facts.get("cpu family")), ("model", facts.get("model"))
            return ", ".join([facts["model name"], *(f"{k} {x}" for k, x in further if x)])
    return platform.processor() or platform.machine()

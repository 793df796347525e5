"""The theorems proved in Coq: their names, their files, and the hashes of the files.

`make kernel` compares the hashes with the files it compiles, so a report can cite them without Coq.
"""

from __future__ import annotations

from functools import cache

from attncert.verify.certificates.coq.executable import SOURCES


@cache
def manifest() -> dict[str, str]:
    """The SHA-256 of each file of the theory and the checker, by its path under verify/kernel."""
    lines = (SOURCES / "SHA256SUMS").read_text().splitlines()
    return {name: digest for digest, name in (line.split("  ") for line in lines)}


def in_coq(*theorems: str) -> str:
    """The evidence for a claim of level *kernel*: theorems, given by their names in headlines.txt.

    >>> in_coq("reduction.reduction")[:77]
    "Coq's kernel: theorem reduction of verify/kernel/theory/reduction.v, SHA-256 "
    """
    return "Coq's kernel: " + "; ".join(map(_citation, theorems))


@cache
def _citation(theorem: str) -> str:
    if theorem not in _headlines():
        raise ValueError(f"{theorem} is not a headline of verify/kernel")
    module, name = theorem.split(".")
    path = next(x for x in manifest() if x.endswith(f"/{module}.v"))
    return f"theorem {name} of verify/kernel/{path}, SHA-256 {manifest()[path]}"


@cache
def _headlines() -> list[str]:
    return (SOURCES / "headlines.txt").read_text().split()

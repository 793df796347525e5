"""From a finished run to a folder: every file of a report, then all of them in place at once."""

from __future__ import annotations

import os
from pathlib import Path

from attncert.reports.folder import write_folder
from attncert.reports.proof.figures import draw
from attncert.reports.proof.page import references, report
from attncert.reports.proof.records import (
    certificate_bytes,
    readable_json,
    timings_dict,
    trace_dict,
)
from attncert.reports.proof.tables import tables
from attncert.verify.claims.proof import Proof


def render(proof: Proof) -> dict[str, bytes]:
    """File contents by name. Pure: equal proofs give equal bytes, `timings.json` apart (it alone
    holds times and versions). `certificate.json` only where there is something to certify."""
    files = {
        "report.md": report(proof).encode(),
        "trace.json": readable_json(trace_dict(proof)),
        "timings.json": readable_json(timings_dict(proof)),
        "tables.tex": tables(proof).encode(),
        "references.bib": references(proof).encode(),
    }
    files |= {f"figures/{name}.svg": svg for name, svg in draw(proof).items()}
    certificate = certificate_bytes(proof)
    return files if certificate is None else files | {"certificate.json": certificate}


def write_report(proof: Proof, folder: str | os.PathLike[str]) -> list[Path]:
    """Render and write to `folder`; returns the paths. Raises InputError as `write_folder` does."""
    return write_folder(folder, render(proof))

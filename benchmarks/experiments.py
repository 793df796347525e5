"""Repeats the paper's experiments on given labels, with certificates: T against H, n and d_h.

Data: contexts (one for each example, or one for all) and queries uniform on [0, 1] in steps of
1/64, labels uniform on [0, 1] in steps of 1/1024, or one of 100 classes as a number, or as one of m
unit vectors ("one-hot"). For each point, T runs through shares of the dimension count N: first the
share that the most similar point reached and its neighbours, then a bisection. T counts as found
if Levenberg-Marquardt from one of two random starts (eight for one head; one if N is above 1,000)
reaches the labels up to rounding. The T of a row is the largest one found that can be certified;
its certificate is written, and checked from the file by the fast checker (up to 2,000 unknowns and
8 million items; above that the same theorem is applied in memory, and the row says so). Only
certified examples count as memorized; "not found" is not "impossible". There are 16 shares, up to
N; if N is above 1,000, there are 11, up to 95 %; for one shared context there is one every 2 %, up
to N.

python benchmarks/experiments.py [--resume FILE] [--budget SECONDS] [--series NAME] [--steps N]
    [--found FOLDER]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import tempfile
import time
from bisect import bisect_right
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from cases import write
from experiments_beside import equal_examples
from experiments_points import LARGE, MOST_SECONDS, Point, data_of, estimate, key, points
from heads import heads
from machine import machine, peak_mebibytes

from attncert.constructions.given.law import spans
from attncert.constructions.given.least_squares import MAX_STEPS, Descent
from attncert.constructions.given.shared import search
from attncert.verify.certificates.certificate import TooLarge, canonical_bytes
from attncert.verify.checking.fast import check as fast
from attncert.verify.fit.fitted import tries
from attncert.verify.newton.certify import MOST_UNKNOWNS, Near, certify, near_certificate
from attncert.verify.rank.residues import to_host

OUT = Path(__file__).parent / "results" / "experiments.json"
SIZES = "n", "d", "heads", "head_width", "m"


def row_of(point: Point, share: float, found: Found | None = None) -> dict[str, Any]:
    """Search, certify and check; if the largest T found has no certificate, search below it.

    share: the share of N at which the search begins; a poor choice only costs time.
    found: what was found earlier on a GPU.
    """
    found = found or Found(point)
    row: dict[str, Any] = asdict(point) | {"bounds": point.bounds(), "T": None}
    row |= {"tried": found.tried, "certificates": [], "outcome": "not found"}
    high = len(found.candidates)
    while (high := found.largest(share, high)) >= 0:
        T = found.candidates[high]
        best = found.weights[T]
        if best is not None and certified(point, T, best, row):
            break
    return row


class Found:
    """The result of the search at a point: for each T tried, the weights or None."""

    def __init__(self, point: Point, xp: Any = np) -> None:
        self.point, self.xp, self.candidates = point, xp, point.candidates()
        self.weights: dict[int, Descent | None] = {}
        self.tried: list[dict[str, Any]] = []

    @property
    def share(self) -> float:
        """The share of N that the weights found so far reach."""
        largest = max(T for T, weights in self.weights.items() if weights is not None)
        return largest * self.point.m / self.point.law

    def largest(self, share: float, high: int) -> int:
        """The largest candidate below `high` with weights, by bisection: its index, or -1."""
        low, asked = -1, share * self.point.law / self.point.m + 0.5
        begin = max(bisect_right(self.candidates, asked) - 1, 0)
        while high - low > 1:
            near = [i for i in (begin, begin + 1, begin - 1) if low < i < high]
            T = self.candidates[middle := near[0] if near else (low + high) // 2]
            if T not in self.weights:
                self.weights[T] = weights_for(self.point, T, self.tried, self.xp)
            low, high = (low, middle) if self.weights[T] is None else (middle, high)
        return low


def keep(found: Found, folder: Path) -> None:
    """Write the weights, and what was tried to find them, to a file in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    told = json.dumps({"point": asdict(found.point), "tried": found.tried})
    weights = {
        str(T): np.zeros(0) if descent is None else descent.weights
        for T, descent in found.weights.items()
    }
    point = found.point
    name = f"{point.contexts}-{point.labels}-{point.n}-{point.d}-{point.heads}.npz"
    np.savez(folder / name, told=told, **weights)


def kept(folder: Path) -> dict[Point, Found]:
    """What `keep` wrote into the folder, by point."""
    points = {}
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as file:
            told = json.loads(str(file["told"]))
            found = Found(Point(**told["point"]))
            found.tried = told["tried"]
            errors = {row["T"]: row["error"] for row in found.tried}
            for name in file.files:
                if name != "told" and len(file[name]):
                    descent = Descent(found.point.shape(), file[name], errors[int(name)], ())
                    found.weights[int(name)] = descent
                elif name != "told":
                    found.weights[int(name)] = None
        points[found.point] = found
    return points


def share_near(point: Point, rows: list[dict[str, Any]]) -> float:
    """The share of N that the most similar point with these contexts reached; 1 if there is
    none."""

    def distance(row: dict[str, Any]) -> float:
        return sum(abs(math.log2(row[name] / getattr(point, name))) for name in SIZES)

    done = [row for row in rows if row.get("T") and row["contexts"] == point.contexts]
    row = min(done, key=distance, default=None)
    return 1.0 if row is None else row["T"] * row["m"] / row["bounds"]["N"]


def certified(point: Point, T: int, best: Descent, row: dict[str, Any]) -> bool:
    """Whether these weights have a valid certificate; the details are added to the row."""
    start, data = time.process_time(), data_of(point, T)
    near = certify(data, np.asarray(best.weights), point.shape())
    shown = checked(near) if near.holds else {"status": "none", "why": near.why}
    taken = round(time.process_time() - start, 2)
    row["certificates"].append({"T": T, **shown, "processor_seconds": taken})
    if shown["status"] != "holds":
        return False
    seen = heads(
        data.contexts.floats(), data.queries.floats(), np.asarray(best.weights), best.shape
    )
    law = spans(data).bound(point.heads, point.head_width, point.value_width)
    row |= {
        "outcome": "certified",
        "T": T,
        "N_of_these_data": law,
        "radius": float(near.radius),
        "kappa": near.contraction.kappa,
        "condition": near.condition,
        "saturated": [round(x, 4) for x in seen.saturated],
        "carried": list(seen.carried),
        "share_of_the_carrier": round(float(np.median(seen.share)), 4),
    }
    return True


def weights_for(point: Point, T: int, tried: list[dict[str, Any]], xp: Any = np) -> Descent | None:
    data = data_of(point, T)
    arrays = data.contexts.floats(), data.queries.floats(), data.labels.floats()
    most = MAX_STEPS if point.shared else MAX_STEPS // 2
    for seed in range(1 if point.law > LARGE else tries(point.heads)):
        start, begun = time.process_time(), time.perf_counter()
        with np.errstate(all="ignore"):
            result = search(*arrays, point.shape(), seed, max_steps=most, xp=xp)
        tried.append(
            {
                "T": T,
                "seed": seed,
                "found": result.converged,
                "steps": len(result.steps) - 1,
                "error": float(f"{result.error:.2g}"),
                "processor_seconds": round(time.process_time() - start, 3),
                "seconds": round(time.perf_counter() - begun, 3),
            }
        )
        if result.converged:
            return replace(result, weights=to_host(result.weights))
    return None


def checked(near: Near) -> dict[str, Any]:
    """The verdict of the fast checker on the file, and the SHA-256 of the file."""
    unknowns = len(near.unknowns)
    if unknowns > MOST_UNKNOWNS:
        return {"status": "holds", "checked": "in memory", "unknowns": unknowns}
    try:
        content = canonical_bytes(near_certificate(near, construction="fit", produced_by={}))
    except TooLarge:  # the data have too many numbers for the checkers
        return {"status": "holds", "checked": "in memory", "unknowns": unknowns}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        path.write_bytes(content)
        verdict = fast.check_file(str(path))
    return {
        "checked": "file",
        "unknowns": unknowns,
        "status": verdict.status,
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
    }


def pending(rows: list[dict[str, Any]], series: str | None) -> list[Point]:
    """The points not run yet, fastest first."""
    done = {key(row) for row in rows if row["outcome"] != "not run"}
    return [
        point
        for point in points()
        if point not in done and point.seconds() <= MOST_SECONDS and series in (None, point.series)
    ]


def not_run(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for every point without one, with its estimated cost."""
    known = {key(row) for row in rows}
    return [
        asdict(point) | {"bounds": point.bounds(), "outcome": "not run", **estimate(point)}
        for point in points()
        if point not in known
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resume", default=str(OUT), help="file that keeps the rows, one by one")
    parser.add_argument("--budget", type=float, default=float("inf"), help="limit in seconds")
    parser.add_argument("--series", help="only this series, or beside (heads at equal T)")
    parser.add_argument("--found", type=Path, help="only points with weights kept in this folder")
    parser.add_argument("--note", help="a note on the machine's other work")
    options = parser.parse_args()
    path, begin = Path(options.resume), time.monotonic()
    result: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"rows": []}
    result["machine"] = machine("numpy", "scipy", "python-flint")
    result["note"] = options.note or result.get("note", "")

    def keep(name: str, row: dict[str, Any], replaced: Any = lambda row: False) -> None:
        kept = [old for old in result.get(name, []) if not replaced(old)]
        result[name] = sorted([*kept, row], key=order)
        write(result, str(path))

    done = [row for row in result["rows"] if row["outcome"] != "not run"]
    result["rows"] = sorted(done + not_run(done), key=order)
    write(result, str(path))
    if options.series == "beside" or (options.series is None and "equal" not in result):
        result["equal"] = list(equal_examples())
        write(result, str(path))
    there = kept(options.found) if options.found else {}
    for point in there or pending(result["rows"], options.series):
        if time.monotonic() - begin > options.budget:
            break
        print(point, flush=True)
        found = there.get(point)
        share = found.share if found else share_near(point, result["rows"])
        row = row_of(point, share, found) | {"peak_MiB": peak_mebibytes()}
        row |= {"found_on": "a GPU"} if found else {}
        keep("rows", row, lambda old, point=point: key(old) == point)


def order(row: dict[str, Any]) -> str:
    """Rows in an order that does not depend on when they were made."""
    names = ("series", "contexts", "labels", "n", "d", "heads", "head_width", "value_width", "m")
    numbers = [row.get(name, "") for name in (*names, "share")]
    return " ".join(f"{x:06}" if isinstance(x, int) else x for x in numbers)


if __name__ == "__main__":
    main()

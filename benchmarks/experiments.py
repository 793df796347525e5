"""The paper's experiments with given labels, again, with certificates: T against H, n and d_h.

Data: contexts (one for each example, or one for all) and queries uniform on [0, 1] in steps of
1/64, labels uniform on [0, 1] in steps of 1/1024, or one of 100 classes as a number, or as one of m
unit vectors ("one-hot"). For each point T runs through shares of the dimension count N, by
bisection: a T counts as found where Levenberg-Marquardt from one of two small random starts (one,
where N is above 1,000) reaches rounding. The largest T found is certified, and its certificate
written and checked from the file by the fast checker (up to 2,000 unknowns; above that the same
theorem is applied in memory, and the row says so). Nothing but a certificate counts as memorized;
"not found" is no impossibility.

python benchmarks/experiments.py [--resume FILE] [--budget SECONDS] [--series NAME] [--page]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from cases import write
from machine import machine, peak_mebibytes

from attncert.constructions.construction import capacity
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.given.attention import Shape
from attncert.constructions.given.law import Spans, spans
from attncert.constructions.given.least_squares import Fit, fit
from attncert.verify.certificate import canonical_bytes
from attncert.verify.near import fast
from attncert.verify.near.certificate import MOST_UNKNOWNS, Near, certify, near_certificate
from attncert.verify.near.fitted import TRIES
from attncert.verify.near.heads import heads

OUT = Path(__file__).parent / "results" / "experiments.json"
SHARES = (10, 20, 30, 40, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 98, 100)  # of N, in percent
LARGE, COARSE = 1000, (40, 50, 60, 70, 80, 90, 95)  # N above which there are fewer, one start each
MAX_STEPS = 100
STEPS = 150  # of all searches of one point together, about: for estimates
MOST_SECONDS = 3600.0  # of processor time for one point, by the estimate; beyond it is not run
FLOPS = 12e9  # a second, of one processor of the machine on which the rows were made


@dataclass(frozen=True)
class Point:
    """One setting; contexts: "random" (one for each example) or "fixed" (one for all).

    labels: "real", "classes" (a number from 0 to 99) or "one-hot" (m classes).
    """

    series: str
    contexts: str
    labels: str
    n: int
    d: int
    heads: int
    head_width: int = 1
    value_width: int = 1
    m: int = 1

    @property
    def shared(self) -> bool:
        return self.contexts == "fixed"

    @property
    def spans(self) -> Spans:
        """Of almost all data of the kind, n ≤ d; compared with those of the data drawn."""
        if self.shared:
            return Spans(self.n - 1, 1, self.d, self.m)
        return Spans(self.d, 0, self.d, self.m)

    @property
    def law(self) -> int:
        """N, which bounds T·m for almost all labels."""
        return self.spans.bound(self.heads, self.head_width, self.value_width)

    def shape(self) -> Shape:
        return Shape(self.d, self.m, self.heads, self.head_width, self.value_width)

    def bounds(self) -> dict[str, int | None]:
        """Beside N: every labelling by pairs (Theorem 13 of docs/given-labels.md, m = 1), universal
        from below and above (docs/tightness.md), and the paper's."""
        s, H, every = self.spans, self.heads, None
        if self.m == 1:
            rho = min(self.head_width, s.differences)
            pairs = H // 2 * (rho * (s.differences + self.d - rho) + s.differences)
            every = pairs + H % 2 * s.differences + s.common
        return {
            "N": self.law,
            "every_labelling": every,
            "universal_promised": capacity(H, self.n, self.n),
            "universal_at_most": capacity(H, self.n, self.n) if self.shared else H * self.d,
            "paper": capacity(H, self.n, self.head_width),
        }

    def candidates(self) -> list[int]:
        """The T that may be tried, ascending."""
        shares = COARSE if self.law > LARGE else SHARES
        return sorted({max(1, self.law * share // (100 * self.m)) for share in shares})

    def seconds(self) -> float:
        """Estimated processor time: STEPS steps of the search in all, and the enclosures."""
        N, P = self.law, self.shape().parameters
        one_step = (N * N * P + 2 / 3 * N**3) / FLOPS
        return STEPS * one_step + 1e-6 * N * self.heads * self.n * self.d

    def mebibytes(self) -> int:
        """Estimated: three arrays as large as the Jacobian, four as large as its square block."""
        N, P = self.law, self.shape().parameters
        return int(8 * (3 * N * P + 4 * N * N + 2 * N * self.n * self.d) / 2**20)


def points() -> list[Point]:
    """Every point, those that take least time first (large ones with classes after all others).

    n = 32 at H = 10 stands in the series "heads".
    """
    found = []
    for contexts in ("random", "fixed"):
        for labels in ("real", "classes"):
            kind = contexts, labels
            found += [Point("heads", *kind, 32, 64, H) for H in (1, 2, 5, 10, 20, 30, 60)]
            found += [Point("context", *kind, n, 64, 10) for n in (2, 4, 8, 16, 48, 60)]
            found += [Point("head width", *kind, 8, 16, 4, w) for w in (1, 2, 4, 6, 7, 8, 12, 16)]
            found += [Point("head width, small", *kind, 4, 8, 4, w) for w in range(1, 9)]
        found += [Point("one-hot", contexts, "one-hot", 8, 16, H, 1, 10, 10) for H in (1, 2, 4)]
        found += [Point("one-hot", contexts, "one-hot", 8, 16, 1, 1, 16, 100)]
    return sorted(found, key=lambda p: (p.law > LARGE and p.labels == "classes", p.seconds()))


def data_of(point: Point, T: int) -> Dataset:
    """The first T examples; a longer draw has the same ones in front."""
    draws = [np.random.default_rng([k, 2024]) for k in range(3)]
    contexts = draws[0].integers(0, 65, (1 if point.shared else T, point.n, point.d)) / 64
    queries = draws[1].integers(0, 65, (T, point.d)) / 64
    if point.labels == "real":
        labels = draws[2].integers(0, 1025, (T, 1)) / 1024
    else:
        classes = draws[2].integers(0, 100 if point.m == 1 else point.m, T)
        labels = classes[:, None].astype(float) if point.m == 1 else np.eye(point.m)[classes]
    return Dataset.of(contexts, queries, labels)


def row_of(point: Point) -> dict[str, Any]:
    """Search, certificate, check; where the largest T found has no certificate, below it again."""
    row: dict[str, Any] = asdict(point) | {"bounds": point.bounds(), "T": None, "tried": []}
    if point.seconds() > MOST_SECONDS:
        return row | {"outcome": "not run", **estimate(point)}
    row |= {"certificates": [], "outcome": "not found"}
    candidates, found = point.candidates(), dict[int, Fit | None]()
    high = len(candidates)
    while high > 0:
        low = -1
        while high - low > 1:
            T = candidates[middle := (low + high) // 2 if low + high > 0 else 0]
            if T not in found:
                found[T] = search(point, T, row["tried"])
            low, high = (low, middle) if found[T] is None else (middle, high)
        if low < 0:
            break
        best = found[candidates[low]]
        if best is not None and certified(point, candidates[low], best, row):
            break
        high = low
    return row


def certified(point: Point, T: int, best: Fit, row: dict[str, Any]) -> bool:
    """Whether these weights have a certificate that checks; what there is to say goes into row."""
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
        "kappa": near.found.kappa,
        "condition": near.condition,
        "saturated": [round(x, 4) for x in seen.saturated],
        "carried": list(seen.carried),
        "share_of_the_carrier": round(float(np.median(seen.share)), 4),
    }
    return True


def search(point: Point, T: int, tried: list[dict[str, Any]]) -> Fit | None:
    data = data_of(point, T)
    arrays = data.contexts.floats(), data.queries.floats(), data.labels.floats()
    for seed in range(1 if point.law > LARGE else TRIES):
        start = time.process_time()
        with np.errstate(all="ignore"):
            result = fit(*arrays, point.shape(), seed, max_steps=MAX_STEPS)
        tried.append(
            {
                "T": T,
                "seed": seed,
                "found": result.found,
                "steps": len(result.steps) - 1,
                "error": float(f"{result.error:.2g}"),
                "processor_seconds": round(time.process_time() - start, 3),
            }
        )
        if result.found:
            return result
    return None


def checked(near: Near) -> dict[str, Any]:
    """The verdict of the fast checker on the file, and the SHA-256 of the file."""
    unknowns = len(near.unknowns)
    if unknowns > MOST_UNKNOWNS:
        return {"status": "holds", "checked": "in memory", "unknowns": unknowns}
    content = canonical_bytes(near_certificate(near, construction="fit", produced_by={}))
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


def estimate(point: Point) -> dict[str, Any]:
    return {"estimated_hours": round(point.seconds() / 3600, 1), "estimated_MiB": point.mebibytes()}


def key(row: dict[str, Any]) -> Point:
    return Point(**{name: row[name] for name in Point.__dataclass_fields__})


def pending(rows: list[dict[str, Any]], series: str | None) -> Iterator[Point]:
    """Points without a row, or whose row says not run although it may be."""
    done = {
        key(row) for row in rows if row["outcome"] != "not run" or key(row).seconds() > MOST_SECONDS
    }
    for point in points():
        if point not in done and series in (None, point.series):
            yield point


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resume", default=str(OUT), help="rows are kept here, one by one")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds, then stop")
    parser.add_argument("--series", help="only these points")
    options = parser.parse_args()
    path, begin = Path(options.resume), time.monotonic()
    result: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"rows": []}
    result["machine"] = machine("numpy", "scipy", "python-flint")
    for point in list(pending(result["rows"], options.series)):
        if time.monotonic() - begin > options.budget:
            break
        print(point, flush=True)
        row = row_of(point) | {"peak_MiB": peak_mebibytes()}
        result["rows"] = [r for r in result["rows"] if key(r) != point] + [row]
        result["rows"].sort(key=lambda r: json.dumps(asdict(key(r))))
        write(result, str(path))


if __name__ == "__main__":
    main()

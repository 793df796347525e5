"""A certificate for every labelling of each data set, with the largest T that sets of heads reach.

    python benchmarks/every_labelling.py [--quick] [--limit S] [--out RESULTS.json]
    python benchmarks/every_labelling.py --table    shows the results as a table

Random integers, distinct contexts, n = 32, d = 64, and H = 12 heads of width one in sets of k that
share key and query: T is the count in Theorem 14 of docs/given-labels.md, and eight more examples
do not raise the rank. Further cases have wider tokens, or use all digits. "rank" is the time for
the Jacobian and its elimination; "fast" and "plain" are the times of the two checkers on the file
("plain" is stopped after a minute).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from cases import asked, command, in_own_process, table, write

OUT = "benchmarks/results/every_labelling.json"
SMALL = {"n": 32, "d": 64, "H": 12}
QUICK: list[dict[str, Any]] = [{"data": "random", "n": 4, "d": 8, "H": 4, "k": 2}]
CASES: list[dict[str, Any]] = [
    *({"data": "random", **SMALL, "k": k} for k in (2, 3, 4, 6, 12)),
    {"data": "random", "n": 8, "d": 192, "H": 12, "k": 12},
    {"data": "random", "n": 4, "d": 384, "H": 12, "k": 12},
    {"data": "random", "n": 197, "d": 768, "H": 12, "k": 12},  # ViT-B; 2.7 GB of contexts
    {"data": "digits"},
]
MORE = 8  # the examples beyond T, which must not raise the rank
MOST_TWICE = 10_000  # with a larger T, MORE is not tried, and no file is written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=1800, help="seconds for one case")
    parser.add_argument("--only", type=int, help="the only case to run, from 0; default: all")
    parser.add_argument("--quick", action="store_true", help="one small case only")
    arguments = asked(parser, OUT, _run, markdown)
    from machine import machine

    result: dict[str, Any] = {
        "command": command(__file__),
        "machine": machine("python-flint", "numba", "numpy"),
        "rows": [],
    }
    if arguments.only is not None:
        result = json.loads(Path(arguments.out).read_text())
        case = CASES[arguments.only]
        kept = [row for row in result["rows"] if case.items() - row.items()]
        found = in_own_process(__file__, case, arguments.limit)
        result["rows"] = [*kept[: arguments.only], found, *kept[arguments.only :]]
        write(result, arguments.out)
        return
    for case in QUICK if arguments.quick else CASES:
        result["rows"].append(in_own_process(__file__, case, arguments.limit))
        write(result, arguments.out)  # after every case, so that nothing is lost
    print(markdown(result))


def _run(case: dict[str, Any]) -> dict[str, Any]:
    from machine import peak_mebibytes

    row = _random(case) if case["data"] == "random" else _digits()
    return row | {"peak_MiB": peak_mebibytes()}


def _random(case: dict[str, Any]) -> dict[str, Any]:
    import numpy as np

    from attncert.constructions.data.dataset import Dataset
    from attncert.constructions.given.law import spans
    from attncert.constructions.given.zeros import draw_groups, most_examples
    from attncert.verify.limits.labelling.labelled import useful_columns
    from attncert.verify.rank.whole_layer.jacobian_rows import jacobian_rank

    n, d, H, k = (case[name] for name in ("n", "d", "H", "k"))
    rng, sizes = np.random.default_rng(0), (k,) * (H // k)

    def data(T: int) -> Any:
        contexts = rng.integers(-4, 5, (T, n, d), dtype=np.int8)
        queries = rng.integers(-4, 5, (T, d), dtype=np.int8)
        return Dataset.of(contexts, queries, np.zeros(T, dtype=np.int8))

    law = spans(data(4 * d))
    T = most_examples(sizes, 1, law)
    examples = data(T + MORE if T <= MOST_TWICE else T)
    enough = examples if T > MOST_TWICE else examples.take(T)
    zero = draw_groups(enough, sizes)
    columns = useful_columns(enough, zero)
    start = time.perf_counter()
    found = jacobian_rank(enough, zero.layer, columns=columns)
    took = time.perf_counter() - start
    row: dict[str, Any] = {
        "T": T,
        "N": law.bound(H, 1, 1),
        "heads": H,
        "rank": found.rank,
        "prime": found.prime,
        "rank_s": round(took, 2),
    }
    if T > MOST_TWICE:
        return row
    row["rank at T + 8"] = jacobian_rank(examples, zero.layer, columns=columns, enough=T).rank
    return row | (_checked(enough, zero, found.prime) if found.full else {})


def _digits() -> dict[str, Any]:
    from attncert.constructions.data.digits import digits
    from attncert.constructions.given.law import spans
    from attncert.verify.limits.labelling.labelled import label_all

    data = digits()
    start = time.perf_counter()
    found = label_all(data)
    took = time.perf_counter() - start
    if found.zero is None:
        return {"T": data.T, "outcome": found.why}
    rank = found.trials[-1].rank
    row = {
        "T": data.T,
        "heads": found.zero.heads,
        "N": spans(data).bound(found.zero.heads, 1, 1),
        "rank": rank.rank,
        "prime": rank.prime,
        "tried": len(found.trials),
        "rank_s": round(took, 2),
    }
    return row | _checked(data, found.zero, rank.prime)


def _checked(data: Any, zero: Any, prime: int) -> dict[str, Any]:
    """The size of the file, and the verdicts of both checkers."""
    from attncert.verify import checker
    from attncert.verify.certificates.certificate import TooLarge, canonical_bytes
    from attncert.verify.checking.fast import check as fast
    from attncert.verify.limits.labelling.labelled import labelling_certificate

    try:
        file = labelling_certificate(data, zero, prime, {})
    except TooLarge as reason:
        return {"file": str(reason)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        path.write_bytes(canonical_bytes(file))
        row: dict[str, Any] = {"MiB": round(path.stat().st_size / 2**20, 1)}
        start = time.perf_counter()
        row["fast"] = fast.check_file(str(path)).status
        row["fast_s"] = round(time.perf_counter() - start, 2)
        start = time.perf_counter()
        plain = checker.check_file(str(path), 60.0)
        row |= {"plain": plain.status, "plain_s": round(time.perf_counter() - start, 2)}
        if plain.status == "over limit":
            row["plain_s"] = plain.message.partition(" (")[0]
    return row


def markdown(result: dict[str, Any]) -> str:
    """One row for each case; of the small cases, only those with the smallest and largest sets."""
    lines = []
    for row in result["rows"]:
        if SMALL.items() <= row.items() and row["k"] not in (2, 12):
            continue
        if row["data"] == "random":
            what = f"random, n = {row['n']}, d = {row['d']}, sets of {row['k']}"
        else:
            what = "digits"
        if "outcome" in row:
            lines.append([what, *["-"] * 3, row["outcome"], *["-"] * 2])
            continue
        rank = f"{row['rank']:,}"
        if "rank at T + 8" in row:
            rank += f" (T + 8: {row['rank at T + 8']:,})"
        fast = f"{row['fast']}, {row['fast_s']} s" if "fast" in row else "no file"
        lines.append([what, row["heads"], f"{row['T']:,}", f"{row['N']:,}", rank,
                      f"{row['rank_s']} s", fast])  # fmt: skip
    return table(["data", "H", "T", "N", "rank of the Jacobian", "time", "fast check"], lines)


if __name__ == "__main__":
    sys.exit(main())

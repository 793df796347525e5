"""Check two layers: python checker_mixing.py first-layer.json certificate.json [--json]

first-layer.json (`attncert-first-layer/1`, docs/certificate.md) holds data, and a first layer with
a skip connection: one head whose keys and queries are 0, so that the query and each of the n rows
attend to all rows alike, and whose values copy. So every vector x of an example becomes x plus the
mean of its rows. Checked exactly: this makes the data of the certificate. checker.py, beside this
file, judges the certificate, which is about a second layer: what holds of it, the two do together.

Standard library only; nothing in the files is believed.
"""

import os
import sys
from functools import partial
from typing import Any

if __package__:
    import attncert.verify.checker as checker
else:
    sys.dont_write_bytecode = True  # a report's folder stays what it was
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import checker  # type: ignore

need, typed, integers = checker.need, checker.typed, checker.integers
FORMAT = "attncert-first-layer/1"
KEYS = "format data layer second input_sha256 digest"


def mixes(first: Any, cert: Any, work: Any) -> str:
    """What the first layer makes of its data is the data of the certificate; else Rejected."""
    typed(first, dict, "the first layer", KEYS)
    need(first["format"] == FORMAT, f"the format is not {FORMAT}")
    need(cert["data"] is not None, "the certificate must hold its data itself")
    examples = type(cert["data"]) is dict and "contexts" in cert["data"]
    need(examples, "the certificate must hold data of examples")
    checker.same_digests(first)
    need(first["second"] == cert["digest"], "second is the digest of another certificate", "wrong")
    T, n, d = (cert["dims"][name] for name in ("examples", "context", "width"))
    uniform(first["layer"], d, work)
    before = typed(first["data"], dict, "data", "contexts queries labels")
    need(before["labels"] == cert["data"]["labels"], "the labels differ", "wrong")
    old, new = (
        {
            name: integers(work, data[name], name, *shape)
            for name, shape in (("contexts", (T, n, d)), ("queries", (T, d)))
        }
        for data in (before, cert["data"])
    )
    (rows, u, b_u), (queries, q, b_q) = old["contexts"], old["queries"]
    (contexts, w, b_w), (moved, w_q, b_m) = new["contexts"], new["queries"]
    need(len(rows) == len(contexts), "the contexts are not as many", "wrong")
    b_v = b_u + 2 * n.bit_length()  # of sums, and of n u, below which they stand
    work.dots(len(rows) * d, n, b_u, 1)
    work.hold(len(rows) * d, b_v)
    work.dots(2 * len(rows) * n * d, 1, b_v, b_w)
    work.dots(T * (2 * d + 1), 1, b_v, b_q)
    work.dots(2 * T * d, 1, b_v + b_q, b_m)
    work.pass_by((2 * d, b_v + b_q), (2, b_v + max(b_w, b_q + b_m)))
    sums = [[sum(column) for column in zip(*E, strict=True)] for E in rows]
    for t, E in enumerate(rows):
        for x, y in zip(E, contexts[t], strict=True):
            made = [n * a + s for a, s in zip(x, sums[t], strict=True)]
            good = same(made, n * u, y, w)
            need(good, f"the first layer makes another context of example {t}", "wrong")
    for t, (x, y) in enumerate(zip(queries, moved, strict=True)):
        added = sums[t if len(sums) > 1 else 0]
        made = [n * u * a + q * s for a, s in zip(x, added, strict=True)]
        good = same(made, n * u * q, y, w_q)
        need(good, f"the first layer makes another query of example {t}", "wrong")
    return f"; by checker_mixing.py, of what the first layer makes of {T} examples"


def same(x: Any, v: int, y: Any, w: int) -> bool:
    """x/v = y/w, entry by entry."""
    return all(w * a == v * b for a, b in zip(x, y, strict=True))


def uniform(layer: Any, d: int, work: Any) -> None:
    """The weights: key and query (d×1) are 0, value and output (d×d) the identity."""
    typed(layer, dict, "layer", "heads output")
    heads = typed(layer["heads"], list, "layer.heads", "key query value")
    need(len(heads) == 1, "the first layer must have one head")
    for name in ("key", "query"):
        weights, _, _ = integers(work, heads[0][name], name, d, 1)
        need(not any(map(any, weights)), f"{name}: not all rows get the same weight", "wrong")
    for name, part in (("value", heads[0]["value"]), ("output", layer["output"])):
        weights, unit, _ = integers(work, part, name, d, d)
        copies = all(row == [unit * (i == j) for j in range(d)] for i, row in enumerate(weights))
        need(copies, f"{name} does not copy", "wrong")


def check_files(
    first: str, path: str, limit_seconds: float = checker.LIMIT_SECONDS,
    limit_mib: float = checker.LIMIT_MIB, by: Any = checker.check_file,
) -> Any:  # fmt: skip
    """The verdict of `by` on the certificate at `path`, where that holds: on both layers."""
    verdict = by(path, limit_seconds=limit_seconds, limit_mib=limit_mib)
    if verdict.status != "holds":
        return verdict
    try:
        work = checker.Work(limit_seconds, limit_mib)
        before, cert = (checker.values(checker.contents(name), work) for name in (first, path))
        more = mixes(before, cert, work)
        return verdict._replace(message=verdict.message + more)
    except checker.Rejected as rejected:
        status, message = rejected.args
    except Exception as error:
        status, message = "unusable", f"{type(error).__name__}: {str(error)!a:.200}"
    return verdict._replace(status=status, message=f"first layer: {message}")


def main(argv: list[str]) -> int:
    if len(argv) < 2:
        print("usage: python checker_mixing.py first-layer.json certificate.json [--json]")
        return checker.EXIT["unusable"]
    return int(checker.main(argv[1:], partial(check_files, argv[0])))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""Two layers: python checker certificate.json --first first-layer.json

first-layer.json (`attncert-first-layer/1`, docs/certificate.md) holds data, and a first layer with
a skip connection: one head whose keys and queries are 0, so that the query and each row attend to
all rows alike, and whose values copy. So every vector x of an example becomes x plus the mean of
its rows. Checked exactly: this makes the data of the certificate. The certificate is about a second
layer: what holds for it, the two layers do together.
"""

if __name__ == "__main__":
    print("unusable: run the folder: python checker certificate.json --first first-layer.json")
    raise SystemExit(2)

from typing import Any

from .claims import Verdict, as_second, check_file
from .layer import contexts_of
from .limits import LIMIT_MIB, LIMIT_SECONDS, Limits, Rejected, need
from .reading import contents, numbers, same_digests, typed, values

FORMAT = "attncert-first-layer/1"
KEYS = "format data layer second input_sha256 digest"


def mixes(first: Any, cert: Any, limits: Limits) -> str:
    """What the first layer makes of its data is the data of the certificate; else Rejected."""
    typed(first, dict, "the first layer", KEYS)
    need(first["format"] == FORMAT, f"the format is not {FORMAT}")
    need(cert["data"] is not None, "the certificate must hold its data itself")
    examples = type(cert["data"]) is dict and "contexts" in cert["data"]
    need(examples, "the certificate must hold data of examples")
    same_digests(first)
    need(first["second"] == cert["digest"], "second is the digest of another certificate", "wrong")
    dims = {name: cert["dims"][name] for name in ("examples", "context", "width")}
    cert = cert | {"dims": dims}
    T, n, d = dims.values()
    uniform(limits, first["layer"], d)
    before = typed(first["data"], dict, "data", "contexts queries labels")
    need(before["labels"] == cert["data"]["labels"], "the labels differ", "wrong")
    (rows, u, b_u), (contexts, w, b_w) = (
        contexts_of(limits, cert, data) for data in (before, cert["data"])
    )
    (queries, q, b_q), (moved, w_q, b_m) = (
        numbers(limits, data["queries"], "queries", T, d) for data in (before, cert["data"])
    )
    need(len(rows) == len(contexts), "the contexts are not as many", "wrong")
    limits.allow(b_u + b_q + max(b_w, b_m) + 2 * n.bit_length())
    sums = [[sum(column) for column in zip(*E, strict=True)] for E in rows]
    for t, E in enumerate(rows):
        limits.on_time()
        for x, y in zip(E, contexts[t], strict=True):
            mixed = [len(E) * a + s for a, s in zip(x, sums[t], strict=True)]
            good = same(mixed, len(E) * u, y, w)
            need(good, f"the first layer makes another context of example {t}", "wrong")
    for t, (x, y) in enumerate(zip(queries, moved, strict=True)):
        limits.on_time()
        k = t if len(rows) > 1 else 0
        n = len(rows[k])
        mixed = [n * u * a + q * s for a, s in zip(x, sums[k], strict=True)]
        good = same(mixed, n * u * q, y, w_q)
        need(good, f"the first layer makes another query of example {t}", "wrong")
    return f"; by first_layer.py, of what the first layer makes of {T} examples"


def same(x: Any, v: int, y: Any, w: int) -> bool:
    """x/v = y/w, entry by entry."""
    return all(w * a == v * b for a, b in zip(x, y, strict=True))


def uniform(limits: Limits, layer: Any, d: int) -> None:
    """The weights: key and query (d×1) are 0, value and output (d×d) the identity."""
    typed(layer, dict, "layer", "heads output")
    heads = typed(layer["heads"], list, "layer.heads", "key query value")
    need(len(heads) == 1, "the first layer must have one head")
    for name in ("key", "query"):
        weights = numbers(limits, heads[0][name], name, d, 1)
        need(not any(map(any, weights.rows)), f"{name}: not all rows get the same weight", "wrong")
    for name, part in (("value", heads[0]["value"]), ("output", layer["output"])):
        weights = numbers(limits, part, name, d, d)
        rows = enumerate(weights.rows)
        copies = all(row == [weights.unit * (i == j) for j in range(d)] for i, row in rows)
        need(copies, f"{name} does not copy", "wrong")


def check_files(
    first: str, path: str, limit_seconds: float = LIMIT_SECONDS, limit_mib: float = LIMIT_MIB,
    by: Any = check_file,
) -> Verdict:  # fmt: skip
    """The verdict of `by` on the certificate at `path`, where that holds: on both layers."""
    verdict: Verdict = by(path, limit_seconds=limit_seconds, limit_mib=limit_mib)
    if verdict.status != "holds":
        return verdict
    try:
        limits = Limits(limit_seconds, limit_mib)
        before, cert = (values(contents(name), limits) for name in (first, path))
        more = mixes(before, as_second(cert), limits)
        return verdict._replace(message=verdict.message + more)
    except Rejected as rejected:
        status, message = rejected.args
    except (MemoryError, OverflowError) as error:
        status, message = "over limit", type(error).__name__
    except Exception as error:
        status, message = "unusable", f"{type(error).__name__}: {str(error)!a:.200}"
    return verdict._replace(status=status, message=f"first layer: {message}")

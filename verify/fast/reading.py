"""Tables of the checker as the data and the layer that NumPy and FLINT compute with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.exact_array import ExactArray, narrow
from attncert.constructions.layer import Head, Layer
from attncert.verify.checker import Limits
from attncert.verify.checker.layer import merged
from attncert.verify.checker.reading import Table, dims


def dataset(
    cert: dict[str, Any], limits: Limits, contexts: Table, queries: Table, labels: Table
) -> Dataset:
    """Contexts of different lengths are filled up, as `Dataset` has them."""
    T, d, m = dims(cert, "examples width labels")
    tables, often = zip(*map(merged, contexts.rows), strict=True)
    count, n = len(tables), max(map(len, tables))
    limits.hold(40.0 * count * n * d)
    full = contexts._replace(rows=[E + E[:1] * (n - len(E)) for E in tables])
    parts = exact(full, count, n, d), exact(queries, T, d), exact(labels, T, m)
    repeats = np.array([[*times, *[0] * (n - len(times))] for times in often])
    return Dataset(*parts, repeats=repeats)


def layer(cert: dict[str, Any], tables: Sequence[Table]) -> Layer:
    """tables: of keys, queries, values and the output."""
    d, m, H, d_h, d_v = dims(cert, "width labels heads head_width value_width")
    widths = zip(tables, (d_h, d_h, d_v), strict=False)
    parts = [exact(table, H, d, width) for table, width in widths]
    heads = (Head(*(part[h].matrix() for part in parts)) for h in range(H))
    return Layer(tuple(heads), exact(tables[3], H * d_v, m).matrix())


def exact(table: Table, *shape: int) -> ExactArray:
    nested = table.rows
    for _ in shape[1:]:
        nested = [x for row in nested for x in row]
    return ExactArray(narrow(nested, shape), table.unit)

"""The input of `attncert assume`: a folder of embeddings, a file of data, or only vectors."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from attncert.constructions.data.archives import read_arrays
from attncert.constructions.data.digits import digits
from attncert.constructions.data.loading import bundled, parse_json, read_source
from attncert.constructions.errors import InputError, odd_key
from attncert.verify.kruskal.vectors import Vectors, load_vectors
from attncert.verify.rank.residues import as_table
from attncert.verify.third_party.assume.embeddings import MANIFEST, load_embeddings
from attncert.verify.third_party.assume.inputs import LayerInputs

_FILE = f"a folder with {MANIFEST}, an .npz or JSON file of queries and contexts, or digits"


def load_inputs(source: str, tokens: int | None = None) -> LayerInputs:
    """Read a folder of embeddings, a file of `queries` (N, d) and `contexts` (N, n, d), or bundled
    data. If `tokens` (n) is given, the file contains only vectors, as for `attncert kruskal`.
    Raises InputError."""
    path = Path(source)
    if tokens is not None:
        return LayerInputs.of(load_vectors(source), tokens)
    if bundled(source):
        return LayerInputs.of(digits())
    if path.name == MANIFEST or (source and path.is_dir()):
        return load_embeddings(source)
    readers = {"npz": _from_npz, "json": _from_json}
    return read_source(source, readers, _FILE)


def _from_json(file: BinaryIO, name: str, source: str) -> LayerInputs:
    return LayerInputs.of(parse_json(file, name, source))


def _from_npz(file: BinaryIO, name: str, source: str) -> LayerInputs:
    """The inputs in an .npz. Floats keep their format, since their rounding matters."""

    def choose(keys: list[str]) -> tuple[str, ...]:
        if any(keys.count(key) != 1 for key in ("queries", "contexts")):
            must = "made of queries and contexts (--tokens N for vectors alone)"
            ours = [key for key in keys if key in ("queries", "contexts")]
            raise InputError(source, must, odd_key(ours, ("queries", "contexts")))
        return ("queries", "contexts")

    def check(shapes: list[tuple[int, ...]]) -> None:
        queries, contexts = shapes
        if len(queries) != 2 or 0 in queries:
            raise InputError("queries", "of shape (N, d), no size 0", queries)
        count, width = queries
        if len(contexts) != 3 or contexts[0] != count or contexts[2] != width or 0 in contexts:
            raise InputError("contexts", f"of shape ({count}, n, {width})", contexts)

    arrays = read_arrays(file, source, choose, check)
    contexts = arrays["contexts"]
    return LayerInputs(
        Vectors.of(arrays["queries"], name),
        contexts.shape[1],
        None,
        None,
        tuple(range(len(contexts))),
        lambda: ((t, as_table(context, "contexts")) for t, context in enumerate(contexts)),
        {},
    )

"""What `attncert assume` is given: queries of all inputs, contexts of some, sizes of a layer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from attncert.constructions.arrays import AnyArray
from attncert.constructions.brief import in_brief
from attncert.constructions.data.archives import read_arrays
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.digits import digits
from attncert.constructions.data.loading import bundled, parse_json, read_source
from attncert.constructions.errors import InputError, require_sizes, whole
from attncert.constructions.models.embeddings import MANIFEST, load_embeddings
from attncert.verify.kruskal.vectors import Vectors, load_vectors
from attncert.verify.rank.residues import as_table

Contexts = Iterator[tuple[int, AnyArray]]
_MOST_WIDTH = 2**31
_FILE = f"a folder with {MANIFEST}, an .npz or JSON file of queries and contexts, or digits"


@dataclass(frozen=True)
class Given:
    """queries: one for each of the N inputs. tokens: n; of the longest context where they differ,
    and then `shortest` of the shortest. heads, head_width: of the layer, None where
    nothing states them. kept: inputs whose contexts are there; contexts() yields them, (n, d) each,
    of one that all inputs have (`shared`) that one. provenance: what the source says of itself."""

    queries: Vectors
    tokens: int
    heads: int | None
    head_width: int | None
    kept: tuple[int, ...]
    contexts: Callable[[], Contexts]
    provenance: Mapping[str, str]
    shared: bool = False
    shortest: int | None = None

    def __repr__(self) -> str:
        tokens = self.lengths if self.shortest else self.tokens
        return in_brief(self, self.queries, tokens=tokens, contexts=len(self.kept))

    @property
    def lengths(self) -> str:
        """Tokens of a context in words: "3", or "1 to 3"."""
        return (f"{self.shortest:,} to " if self.shortest else "") + f"{self.tokens:,}"

    @property
    def N(self) -> int:
        return self.queries.N

    @property
    def d(self) -> int:
        return self.queries.d

    @cached_property
    def repeats(self) -> tuple[tuple[int, ...], ...]:
        """The inputs with equal queries: classes of two or more, increasing."""
        classes = defaultdict[bytes, list[int]](list)
        for i, query in enumerate(self.queries.array):
            classes[_bytes(query)].append(i)
        return tuple(tuple(same) for same in classes.values() if len(same) > 1)

    @cached_property
    def distinct(self) -> Vectors:
        """The queries without those that equal an earlier one."""
        again = {i for same in self.repeats for i in same[1:]}
        if not again:
            return self.queries
        return self.queries.take([i for i in range(self.N) if i not in again])

    def equal_inputs(self) -> int:
        """How many of the inputs whose contexts are given equal an earlier one of them: in query
        and, up to the order of tokens, in context."""
        if self.shared:
            return self.N - self.distinct.N
        number = {i: k for k, same in enumerate(self.repeats) for i in same}
        if not number:
            return 0
        inputs = [
            (number[i], sha256(b"".join(sorted(map(_bytes, context)))).digest())
            for i, context in self.contexts()
            if i in number
        ]
        return len(inputs) - len(set(inputs))


def _bytes(row: AnyArray) -> bytes:
    """Equal for equal rows of a table, and only for these."""
    if row.dtype == object:
        return repr(row.tolist()).encode()
    return bytes((row + row.dtype.type(0)).tobytes())  # -0.0 + 0.0 = 0.0


def load_given(
    source: str,
    *,
    tokens: int | None = None,
    heads: int | None = None,
    head_width: int | None = None,
) -> Given:
    """A folder of embeddings, or a file of `queries` (N, d) and `contexts` (N, n, d), or bundled
    data. With `tokens`, n: a file of vectors alone, as `attncert kruskal` reads it. heads and
    head_width take the place of what the manifest states. Raises InputError."""
    found = _load(source, tokens)
    stated = replace(
        found,
        heads=found.heads if heads is None else heads,
        head_width=found.head_width if head_width is None else head_width,
    )
    require_sizes(_Sizes(stated.heads, stated.head_width))
    return stated


@dataclass(frozen=True)
class _Sizes:
    heads: int | None
    head_width: int | None
    value_width: int | None = None


def _load(source: str, tokens: int | None) -> Given:
    path = Path(source)
    if tokens is not None:
        if not whole(tokens) or not 1 <= tokens < _MOST_WIDTH:
            raise InputError("--tokens", "a positive whole number", tokens)
        return Given(load_vectors(source), tokens, None, None, (), lambda: iter(()), {})
    if bundled(source):
        return _of_dataset(digits())
    if path.name == MANIFEST or (source and path.is_dir()):
        found = load_embeddings(source)
        queries = Vectors.of(found.queries, found.name)
        return Given(
            queries, found.tokens, found.heads, found.head_width, found.kept, found.contexts,
            found.provenance,
        )  # fmt: skip
    readers = {"npz": _from_npz, "json": _from_json}
    return read_source(source, readers, _FILE)


def _from_json(file: BinaryIO, name: str, source: str) -> Given:
    return _of_dataset(parse_json(file, name, source, unlabelled=True))


def _of_dataset(data: Dataset) -> Given:
    def contexts() -> Contexts:
        for t in range(len(data.contexts)):
            yield t, as_table(data.rows(t))

    queries, kept = Vectors.queries_of(data), tuple(range(data.T))
    shortest = None if data.counts is None else min(data.counts)
    return Given(queries, data.n, None, None, kept, contexts, {}, data.shared, shortest)


def _from_npz(file: BinaryIO, name: str, source: str) -> Given:
    """Floats stay as they are stored: their rounding matters."""

    def choose(keys: list[str]) -> tuple[str, ...]:
        if any(keys.count(key) != 1 for key in ("queries", "contexts")):
            got = ", ".join(repr(key[:40]) for key in sorted(keys)[:8]) or "nothing"
            must = "made of queries and contexts (--tokens N for vectors alone)"
            raise InputError(source, must, f"of {got}")
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
    return Given(
        Vectors.of(arrays["queries"], name),
        contexts.shape[1],
        None,
        None,
        tuple(range(len(contexts))),
        partial(_in_turn, contexts),
        {},
    )


def _in_turn(contexts: AnyArray) -> Contexts:
    for t, context in enumerate(contexts):
        yield t, as_table(context, "contexts")

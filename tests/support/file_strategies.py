"""Hypothesis strategies for the contents of files: valid, nearly valid, and garbage.

`certificates` and `data_files` are valid; `mutated` changes the structure of any JSON value in up
to three places, so that it is nearly valid (`mutants` are made from small certificates); `garbage`
is any JSON.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st
from support.data_files import as_json
from support.small_certificates import (
    CASES,
    Certificate,
    dependent_set_certificate,
    layer_certificate,
)
from support.strategies import raw_data

UNICODE = st.characters(exclude_categories=["Cs"])
"""All characters of UTF-8, as in `st.text()`, which first tries a million characters one by one."""

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10),
    st.sampled_from([10**30, -(10**9), 2.5, float("inf")]),
    st.sampled_from(["", "0", "1", "-1/2", "1e9", "1" * 400, "ln 2", "full-rank", "interpolation"]),
    st.sampled_from([[], {}, [[]], [["1"]], [[["1"]]], [0], {"key": [["1"]]}]),
)

garbage: st.SearchStrategy[Any] = st.recursive(
    JUNK | st.text(UNICODE, max_size=5) | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(UNICODE, max_size=8), inner)
    ),
    max_leaves=12,
)

_SMALL = [make() for make in CASES.values()]


def data_files() -> st.SearchStrategy[dict[str, Any]]:
    """Valid data sets as `json.dumps` writes them."""
    return raw_data().map(as_json)


@st.composite
def certificates(draw: st.DrawFn) -> Certificate:
    """True certificates for every claim, of random small shapes."""
    claim = draw(st.sampled_from(["interpolation", "full-rank", "dependent-set"]))
    seed = draw(st.integers(0, 10**6))
    if claim == "dependent-set":
        return dependent_set_certificate(seed, draw(st.booleans()))
    m = draw(st.integers(1, 2))
    n = draw(st.integers(1, 3))
    T = draw(st.integers(1, 4 if n > 1 else 2))  # with one token, the rank is at most d
    return layer_certificate(
        claim,
        T=T,
        n=n,
        d=draw(st.integers(max(n, 2), 4)),
        m=m,
        H=draw(st.integers(T, T + 1)),  # enough room for T independent rows, shared or not
        d_h=draw(st.integers(1, 2)),
        d_v=m + draw(st.integers(0, 1)),
        shared=n > 1 and draw(st.booleans()),
        rational=draw(st.booleans()),
        seed=seed,
        spread=3,
    )


def mutants() -> st.SearchStrategy[Any]:
    """Small true certificates, mutated; the digests are not changed."""
    return st.sampled_from(_SMALL).flatmap(mutated)


@st.composite
def mutated(draw: st.DrawFn, original: Any) -> Any:
    """A JSON object with one to three places deleted, swapped, repeated, wrapped or made junk."""
    value = copy.deepcopy(original)
    for _ in range(draw(st.integers(1, 3))):
        inner = draw(st.sampled_from(list(containers(value))))
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        if not keys:
            continue
        key, other = draw(st.sampled_from(keys)), draw(st.sampled_from(keys))
        match draw(st.sampled_from(["delete", "swap", "repeat", "junk", "wrap", "insert", "copy"])):
            case "delete":
                del inner[key]
            case "swap":
                inner[key], inner[other] = inner[other], inner[key]
            case "repeat":
                inner[key] = copy.deepcopy(inner[other])
            case "junk":
                inner[key] = copy.deepcopy(draw(JUNK))
            case "wrap":
                inner[key] = [inner[key]]
            case "insert" if isinstance(inner, list):
                inner.insert(key, copy.deepcopy(draw(JUNK)))
            case "copy" if isinstance(inner, list):
                inner.append(copy.deepcopy(inner[key]))
            case _ if isinstance(inner, dict):
                inner[draw(st.sampled_from(["extra", "value", "rank"]))] = copy.deepcopy(draw(JUNK))
    return value


def containers(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from containers(item)

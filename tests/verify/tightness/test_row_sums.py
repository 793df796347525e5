"""Relations between rows of Z that come from equal sums of rows: found, true, and all there are."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.oracles import SAFE_PRIME, features_mod, rank_mod
from support.tightness_cases import found

from attncert.constructions.data.dataset import Dataset
from attncert.verify import checker
from attncert.verify.claims.evidence import Level
from attncert.verify.prove import prove
from attncert.verify.questions.prove import Prove
from attncert.verify.rank.rational import Relation
from attncert.verify.tightness.certificate import certificate_of
from attncert.verify.tightness.relations import sums
from attncert.verify.tightness.relations.probes import random_layer
from attncert.verify.tightness.relations.rows import (
    broken_relation,
    complete,
    row_bound,
    row_relations,
)

UNIT = [[int(i == j) for j in range(4)] for i in range(4)]


def box(*edges: Sequence[int]) -> list[list[int]]:
    """All sums of some of the edges: their parallelogram, for two."""
    return [
        [sum(c) for c in zip(*(e for e, used in zip(edges, chosen, strict=True) if used),
                             [0] * len(edges[0]), strict=True)]
        for chosen in itertools.product((0, 1), repeat=len(edges))
    ]  # fmt: skip


def parallelograms(labels: Sequence[int], query: Sequence[int] = (1, 2, 3, 5)) -> Dataset:
    """ab, cd, ac, bd: z_ab + z_cd = z_ac + z_bd for one query."""
    pairs = ((0, 1), (2, 3), (0, 2), (1, 3))
    return Dataset.of([box(UNIT[i], UNIT[j]) for i, j in pairs], [list(query)] * 4, labels)


def reached(data: Dataset) -> int:
    """The rank of Z at random weights of width one, T heads, modulo a 62-bit prime."""
    layer = random_layer(data, data.T, 1, 10**6, np.random.default_rng(1))
    return rank_mod(features_mod(data, layer), SAFE_PRIME)


def test_parallelograms_tie_their_outputs() -> None:
    data = parallelograms([1, 0, 0, 0])
    claims = found(row_bound(data))
    assert row_relations(data) == (Relation((0, 1, 2, 3), (1, 1, -1, -1)),)
    assert claims["rows.labels"].level is Level.REFUTED
    assert (claims["rows.labels"].witness or {})["combination of the labels"] == ["1"]
    assert claims["rows.universal"].level is Level.REFUTED
    assert claims["rows.relations"].numbers["all of them"] is True and complete(data)
    kept = found(row_bound(parallelograms([1, 2, 3, 0])))
    assert kept["rows.labels"].level is Level.PROVED
    assert kept["rows.universal"].level is Level.REFUTED
    assert reached(data) == 3


def test_the_checker_cannot_check_it_and_no_certificate_says_so(tmp_path: Path) -> None:
    data = parallelograms([1, 0, 0, 0])
    broken = broken_relation(data)
    assert broken is not None and not broken.checkable
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(certificate_of(data, broken, {})))
    assert checker.check_file(str(path)).status == "wrong", "as a test of what checkable says"
    proof = prove(data, Prove())
    assert (proof.standing, proof.certificate) == (Level.REFUTED, None)


def test_a_relation_that_the_checker_can_check_is_preferred() -> None:
    """Two relations: equal inputs, and the parallelograms. The labels break both."""
    four = parallelograms([1, 0, 0, 0])
    contexts, queries = four.contexts.fractions(), four.queries.fractions()
    data = Dataset.of([*contexts, contexts[0][::-1]], [*queries, queries[0]], [1, 0, 0, 0, 5])
    broken = broken_relation(data)
    assert broken is not None and broken.checkable
    assert broken.relation == Relation((0, 4), (1, -1))
    assert prove(data, Prove()).certificate is not None


def test_weighted_sums_of_different_sizes() -> None:
    """{0, a}+{0, 2a} = {0, a, 2a, 3a}: one context against two, so the counts differ by n."""
    line = [[[k, 0] for k in rows] for rows in ((0, 1, 2, 3), (0, 0, 1, 1), (0, 0, 2, 2))]
    data = Dataset.of(line, [[3, 1]] * 3, [0, 0, 1])
    assert row_relations(data) == (Relation((0, 1, 2), (1, -1, -1)),)
    assert broken_relation(data) is not None
    scaled = Dataset.of([line[0], line[1], line[1]], [[3, 1], [3, 1], [6, 2]], [0, 0, 1])
    assert row_relations(scaled) == (Relation((0, 1, 2), (1, -1, -2)),), "the query is doubled"
    moved = Dataset.of([line[0], line[1], [[x + 1, 0] for x, _ in line[2]]], [[3, 1]] * 3, [0] * 3)
    assert row_relations(moved) == () and complete(moved), "the means are not tied"


@st.composite
def one_line(draw: st.DrawFn) -> Dataset:
    """Boxes of few edges, doubled segments and any rows; queries on one or two lines."""
    edges = st.sampled_from([[1, 0], [0, 1], [1, 1], [2, 0], [-1, 0]])
    pair = st.tuples(edges, edges)
    kinds: list[Callable[..., list[list[int]]]] = [
        lambda a, b: box(a, b),
        lambda a, b: box(a, a),
        lambda a, b: [[0, 0], [0, 0], a, a],
        lambda a, b: [a, b, [1, -1], [0, 0]],
    ]
    T = draw(st.integers(1, 6))
    contexts = [draw(st.sampled_from(kinds))(*draw(pair)) for _ in range(T)]
    queries = [draw(st.sampled_from([[1, 0], [1, 0], [2, 0], [-1, 0], [1, 1]])) for _ in range(T)]
    return Dataset.of(contexts, queries, [0] * T)


@settings(max_examples=40, deadline=None)
@given(one_line())
def test_they_hold_and_there_are_no_others(data: Dataset) -> None:
    relations = row_relations(data)
    table = features_mod(data, random_layer(data, 2, 2, 9, np.random.default_rng(0)))
    for relation in relations:
        columns = zip(*(table[t] for t in relation.indices), strict=True)
        for column in columns:
            pairs = zip(relation.coefficients, column, strict=True)
            assert sum(c * x for c, x in pairs) % SAFE_PRIME == 0
    assert complete(data)
    assert reached(data) == data.T - len(relations)


@pytest.mark.parametrize("cap", ["MOST_POWERS", "MOST_DEGREE", "MOST_TERMS"])
def test_where_it_is_too_much_the_claim_says_found_here(
    cap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sums, cap, 2)
    sums.ties.cache_clear()
    data = parallelograms([1, 0, 0, 0])
    claims = found(row_bound(data))
    sums.ties.cache_clear()
    assert claims["rows.labels"].level is Level.PROVED
    assert "every relation found here between rows" in claims["rows.labels"].statement
    assert claims["rows.relations"].statement.endswith("(others are not excluded).")
    assert claims["rows.universal"].level is Level.UNDECIDED

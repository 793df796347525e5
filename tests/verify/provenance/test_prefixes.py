"""Token sequences in prove, fit and capacity, compared with the same examples written out."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import fmpq_mat, fmpz_mat
from hypothesis import given, settings
from hypothesis import strategies as st
from support.given_oracle import draw_head, feature_rank, jacobian_rank
from support.shell import Shell

from attncert import (
    Capacity,
    Dataset,
    Fit,
    InputError,
    Prove,
    capacity,
    check,
    fit,
    of_sequences,
    prove,
    write_report,
)
from attncert.constructions.data.dataset import AS_GIVEN
from attncert.constructions.data.order import Order
from attncert.constructions.given.attention import Shape, jacobian, outputs
from attncert.constructions.layer import Head, Layer
from attncert.verify.checker import check_file
from attncert.verify.checking.fast.check import check_file as check_fast
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Level
from attncert.verify.features import features
from attncert.verify.provenance.sequences import Prefixes, by_class
from attncert.verify.rank.whole_layer import jacobian_rows

SYMBOLS = "abc^"


@st.composite
def sequence_sets(draw: st.DrawFn) -> Dataset:
    """One to three short texts over three symbols, with or without a first symbol and positions."""
    texts = draw(st.lists(st.text("abc", min_size=2, max_size=6), min_size=1, max_size=3))
    seed = draw(st.integers(0, 99))
    placed = draw(st.sampled_from([None, {"bound": 3, "seed": seed}]))
    first = draw(st.sampled_from([None, "^"]))
    rng = random.Random(seed)
    rows = {x: [rng.randint(-3, 3) for _ in range(3)] for x in SYMBOLS}
    return of_sequences(texts, rows, positions=placed, first=first)


def plain(data: Dataset) -> Dataset:
    """The examples of the canonical form with one row per token, written out by independent
    code."""
    form = data.canonical()
    table = [[Fraction(x) for x in row] for row in form["embedding"]]
    shifts = form["positions"] or [["0"] * data.d] * 99
    contexts = [
        [
            [x + Fraction(y) for x, y in zip(table[k], shift, strict=True)]
            for k, shift in zip(form["sequences"][s][: place + 1], shifts, strict=False)
        ]
        for s, place in form["examples"]
    ]
    queries = [context[-1] for context in contexts]
    return Dataset.of(contexts, queries, [[Fraction(x) for x in y] for y in form["labels"]])


def examples(data: Dataset) -> list[tuple[Any, Any]]:
    contexts = [data.rows(t).numerators.tolist() for t in range(data.T)]
    return list(zip(contexts, data.queries.numerators.tolist(), strict=True))


@settings(deadline=None, max_examples=40)
@given(sequence_sets(), st.integers(0, 99))
def test_counts_do_what_tokens_do(data: Dataset, seed: int) -> None:
    """Features and Jacobians agree, modulo primes and in floats, and ranks equal the oracle's."""
    rng, written_out = random.Random(seed), plain(data)
    heads = [draw_head(rng, 3, 1, 1, 1, size=5) for _ in range(2)]
    matrices = [[fmpq_mat(fmpz_mat(x)) for x in (h.keys, h.queries, h.values)] for h in heads]
    last = fmpq_mat(fmpz_mat([row for h in heads for row in h.outputs]))
    layer = Layer(tuple(Head(*three) for three in matrices), last)
    own, other = (features.rank_of(x, layer)[0] for x in (data, written_out))
    assert own == other == feature_rank(examples(written_out), heads)
    ranks = [jacobian_rows.jacobian_rank(x, layer).rank for x in (data, written_out)]
    assert ranks == [jacobian_rank(examples(written_out), heads)] * 2
    tables = [[features.logits(head, x) for head in layer.heads] for x in (data, written_out)]
    p = features.usable_primes(data)[0]
    both = zip((data, written_out), tables, strict=True)
    assert np.array_equal(*(features.features_mod(x, table, p) for x, table in both))
    shape = Shape(3, 1, 2, 1, 1)
    weights = np.random.default_rng(seed).standard_normal(shape.parameters) / 3
    for function in (outputs, lambda *x: jacobian(*x[:4], None, x[4])[1]):
        made = [
            function(
                x.contexts.floats(), x.queries.floats(), weights, shape,
                None if x.times is None else x.times.astype(float),
            )
            for x in (data, written_out)
        ]  # fmt: skip
        assert np.allclose(*made, atol=1e-9)


@settings(deadline=None, max_examples=25)
@given(sequence_sets())
def test_classes_are_proportional_multisets(data: Dataset) -> None:
    """The classes agree with a comparison of all pairs."""
    kept, written_out = by_class(data), plain(data)
    shares = []
    for t in range(data.T):
        rows = [tuple(row) for row in written_out.rows(t).fractions()]
        share = {row: Fraction(k, len(rows)) for row, k in Counter(rows).items()}
        example = share, written_out.queries[t].fractions(), written_out.labels[t].fractions()
        if example not in shares:
            shares.append(example)
    assert len(shares) == kept.T
    assert kept.origin.claims(kept)[0].level is Level.PROVED


@pytest.mark.slow
@settings(deadline=None, max_examples=6)
@given(sequence_sets())
def test_sequences_and_their_prefixes_have_one_verdict(data: Dataset) -> None:
    """The merged examples are written out as plain data."""
    kept = by_class(data)
    other = plain(kept)
    for question in (Prove("generic", heads=3), Prove("generic", heads=3, claim="full-rank")):
        own, second = prove(data, question), prove(other, question)
        assert own.standing is second.standing and own.conclusion == second.conclusion
    asked = Capacity(heads=2)
    tables = [
        [(x.about, x.least, x.most, x.needed) for x in capacity(each, asked).notions]
        for each in (data, other)
    ]
    assert tables[0] == tables[1]
    refuted = [fit(each, Fit(heads=3)).standing is Level.REFUTED for each in (data, other)]
    assert refuted[0] == refuted[1]


TEXT = of_sequences(
    ["abcacbbabca"], {"width": 4, "seed": 2}, first="^", labels=[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5]
)


@pytest.mark.parametrize(
    "answer",
    [
        lambda: prove(TEXT, Prove("generic")),
        lambda: prove(TEXT, Prove("generic", claim="full-rank")),
        lambda: prove(TEXT, Prove("generic", claim="full-rank", data_file=True)),
        lambda: prove(TEXT, Prove("attention-relu")),
        lambda: prove(TEXT, Prove("generic", before="mean", claim="full-rank")),
        lambda: fit(TEXT, Fit(heads=3)),
        lambda: capacity(TEXT, Capacity(heads=4)),
    ],
    ids=["interpolation", "full-rank", "data file", "network", "before", "fit", "capacity"],
)
def test_reports_and_certificates_hold_the_sequences(answer: Any, tmp_path: Path) -> None:
    write_report(answer(), tmp_path / "o")
    verdict = check(tmp_path / "o" / "certificate.json")
    assert verdict.status == "holds", verdict.message
    files = [tmp_path / "o" / name for name in ("certificate-data.json", "certificate.json")]
    data = json.loads(next(x for x in files if x.is_file()).read_text())
    data = data.get("data", data)
    assert data["sequences"] == TEXT.canonical()["sequences"]
    assert "contexts" not in data
    fast = check_fast(str(files[1]))
    assert fast.status == "holds" or "leave out --fast" in fast.message
    copy = subprocess.run(
        [sys.executable, "checker", "certificate.json"],
        cwd=tmp_path / "o", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert copy.returncode == 0 and copy.stdout.startswith("holds")


def test_equal_classes_are_merged() -> None:
    """ "ab", "abab" and "ababab" with the same label are one example."""
    data = of_sequences(["abababc"], {"a": [1, 0], "b": [0, 1], "c": [1, 1]}, labels=[1, 2, 3] * 2)
    again = of_sequences(["abababc"], {"a": [1, 0], "b": [0, 1], "c": [1, 1]}, labels=[1] * 6)
    assert (by_class(data).T, by_class(again).T) == (6, 4)
    proof = prove(again, Prove("generic"))
    assert proof.standing is Level.PROVED and ids.PREFIXES in proof.claim.rests_on
    assert proof.trace[ids.PREFIXES].numbers["merged"] == 2
    assert "2 more places" in proof.claim.statement


@pytest.mark.parametrize("first", [None, "^"])
def test_contradictions_are_refuted_with_a_certificate(first: Any, tmp_path: Path) -> None:
    """ "ab" and "abab" with different labels; a first symbol tells them apart."""
    rows = {"a": [1, 0, 2], "b": [-1, 1, 1], "^": [2, 1, 0]}
    places = [[0, 1 + bool(first)], [0, 3 + bool(first)]]
    data = of_sequences(["abab"], rows, first=first, examples=places, labels=[1, 2])
    for answer in (fit(data, Fit(heads=2)), prove(data, Prove("generic")), prove(data)):
        holds = first is not None and answer.question != Prove()
        if holds:
            assert answer.standing.holds
            continue
        assert answer.standing is not Level.PROVED
        if first is None:
            assert answer.standing is Level.REFUTED and answer.certificate["claim"] == "impossible"
            path = tmp_path / "c.json"
            path.write_text(json.dumps(answer.certificate))
            assert check_file(str(path)).status == "holds"


@pytest.mark.parametrize("lengths", [(0, 1, 2), (0, 2), (2,), (1, 1)])
def test_data_that_are_no_longer_sequences_are_written_out(lengths: Any, tmp_path: Path) -> None:
    """Each token gets its own row, with counts if lengths differ."""
    data = of_sequences(["aaba"] * 2, {"a": [1, 0], "b": [0, 1]}, labels=list(range(6)))
    some = data.take([t + 3 * (k > 0 and t == lengths[0]) for k, t in enumerate(lengths)])
    other = some.of_origin(AS_GIVEN)
    tokens = [some.tokens(t) for t in range(some.T)]
    assert other.token_counts == (tokens if len(set(tokens)) > 1 else None)
    assert some.token_counts is None and list(map(len, other.canonical()["contexts"])) == tokens
    proof = prove(other, Prove("generic"))
    assert proof.certificate is not None
    (tmp_path / "c.json").write_text(json.dumps(proof.certificate))
    assert check_file(str(tmp_path / "c.json")).status == "holds"


def planted(**changes: Any) -> Level:
    kept = by_class(of_sequences(["abab", "ba"], {"a": [1, 0], "b": [0, 1]}, labels=[1] * 4))
    data = replace(kept, **changes.pop("data", {}))
    origin = replace(kept.origin, **changes)
    assert isinstance(origin, Prefixes)
    return origin.claims(data.of_origin(origin))[0].level


def test_the_claim_sees_planted_defects() -> None:
    kept = by_class(of_sequences(["abab", "ba"], {"a": [1, 0], "b": [0, 1]}, labels=[1] * 4))
    assert kept.order is not None and planted() is Level.PROVED
    rows = [kept.order[t].tolist() for t in range(kept.T)]
    assert [0, 1, 0] in rows
    swapped = kept.queries[np.array([1, 0, 2])] if kept.T == 3 else None
    for other in ([0, 1, 0, 0], [0, 0, 1]):  # a different number of tokens, or a different order
        order = Order.of([other if row == [0, 1, 0] else row for row in rows])
        assert planted(data={"order": order}) is Level.REFUTED
    assert planted(sequences=((0, 0, 1, 1), (1, 0))) is Level.REFUTED
    assert planted(first=(0, 0, 2, 0)) is Level.REFUTED
    assert swapped is None or planted(data={"queries": swapped}) is Level.REFUTED


def test_rounding_is_refused_in_one_line() -> None:
    with pytest.raises(InputError, match=r"^round: must be left out for token sequences"):
        prove(TEXT, Prove("generic", round="1/2"))


def test_the_command_line(tmp_path: Path, shell: Shell) -> None:
    """A user's file is proved, and its certificate is read back as data."""
    file, generic = tmp_path / "t.json", ("--construction", "generic", "--out")
    file.write_text(
        '{"sequences": ["to be or not to be"], "embedding": {"width": 8}, "first": "^"}'
    )
    said = shell.runs("prove", file, *generic, tmp_path / "o").out
    assert "18 examples" in said and "1 token sequence over 8 symbols" in said
    shell.runs("prove", tmp_path / "o" / "certificate.json", *generic, tmp_path / "p")
    both = [json.loads((tmp_path / x / "certificate.json").read_text()) for x in "op"]
    assert both[0]["digest"] == both[1]["digest"]
    file.write_text('{"sequences": ["abc"], "embedding": {"a": [1]}}')
    line = "attncert: sequences[0][1]: must be a symbol of the embedding, not 'b'\n"
    assert shell.refuses("fit", file) == line

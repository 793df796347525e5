"""Every claim about contexts, for contexts of different lengths without padding."""

from __future__ import annotations

import copy
import math
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support import labelling_cases, near_cases
from support.given_oracle import draw_matrix, jacobian_rank, zero_groups
from support.small_certificates import (
    CASES,
    Certificate,
    E,
    changed,
    impossible_certificate,
    sealed,
    text,
    written,
)

from attncert import Dataset
from attncert.verify import checker
from attncert.verify.checking.fast import check as fast

COUNTS = (3, 1, 2, 3, 2, 1)


def near() -> Certificate:
    draw = random.Random(3)
    contexts = [draw_matrix(draw, count, 3, 5) for count in COUNTS]
    queries, labels = draw_matrix(draw, 6, 3, 5), draw_matrix(draw, 6, 1, 5)
    made = near_cases.certificate(Dataset.of(contexts, queries, labels), 2, 1, 1)
    return with_counts(made, contexts)


def every_labelling() -> Certificate:
    draw = random.Random(5)
    while True:
        examples = [(draw_matrix(draw, count, 3, 5), e) for count, e in
                    zip(COUNTS, draw_matrix(draw, 6, 3, 5), strict=True)]  # fmt: skip
        heads = zero_groups(draw, (2,), 3, 1)
        if jacobian_rank(examples, heads) == 6:
            made = labelling_cases.certificate_of(examples, heads)
            made["rank"]["prime"] = "11863067"  # small enough for the fast check
            return with_counts(made, [context for context, _ in examples])


def with_counts(made: Certificate, contexts: Any) -> Certificate:
    made["data"]["contexts"] = text(contexts)
    made["dims"]["context"] = max(map(len, contexts))
    return sealed(made | {"tokens": [len(context) for context in contexts]})


TRUE = {
    "interpolation": CASES["interpolation, lengths"](),
    "full-rank": CASES["full-rank, lengths"](),
    "impossible": CASES["impossible, tokens repeated"](),
    "interpolation-near": near(),
    "every-labelling": every_labelling(),
}


def repeated(certificate: Certificate) -> Certificate:
    """Tokens repeated until the contexts are equally long, which no head notices."""
    made, common = copy.deepcopy(certificate), math.lcm(*certificate["tokens"])
    contexts = made["data"]["contexts"]
    made["data"]["contexts"] = [[x for x in E for _ in range(common // len(E))] for E in contexts]
    made["dims"]["context"] = common
    return sealed(made | {"tokens": None})


def verdicts(certificate: Certificate, folder: Path) -> set[str]:
    path = written(certificate, folder)
    checks = [checker.check_file]
    checks += [fast.check_file] if certificate["claim"] in fast.FAST_CLAIMS else []
    return {check(path).status for check in checks}


@pytest.mark.parametrize("claim", TRUE)
def test_it_holds_and_so_does_the_repeated_form(claim: str, tmp_path: Path) -> None:
    assert verdicts(TRUE[claim], tmp_path) == {"holds"}
    assert verdicts(repeated(TRUE[claim]), tmp_path) == {"holds"}


@pytest.mark.parametrize("claim", TRUE)
def test_counts_and_contexts_must_agree(claim: str, tmp_path: Path) -> None:
    tokens = TRUE[claim]["tokens"]
    for other in (tokens[::-1][1:] + tokens[:1], tokens[:-1], [*tokens, 1], None, [max(tokens)]):
        assert verdicts(changed(TRUE[claim], "tokens", other), tmp_path) == {"unusable"}


@pytest.mark.parametrize("claim", ["interpolation", "impossible", "interpolation-near"])
def test_a_token_less_or_twice_is_another_context(claim: str, tmp_path: Path) -> None:
    """The first token of the first example is left out, or repeated."""
    for edit in (lambda E: E[1:], lambda E: [E[0], *E]):
        made = copy.deepcopy(TRUE[claim])
        contexts = made["data"]["contexts"]
        contexts[0] = edit(contexts[0])
        made["tokens"] = list(map(len, contexts))
        made["dims"]["context"] = max(made["tokens"])
        assert verdicts(sealed(made), tmp_path) == {"wrong"}


def test_saturation_takes_an_examples_own_tokens(tmp_path: Path) -> None:
    """A single token gets all attention, at any number of bits; one of two gets 2/3 at logit 1."""
    made = copy.deepcopy(TRUE["full-rank"])
    heads = [{"key": [["1"]], "query": [[x]], "value": None} for x in ("1", "3")]
    made["network"][0]["heads"] = heads
    made["dims"] = dict.fromkeys(made["dims"], 1) | {"examples": 2, "context": 2, "heads": 2}
    numbers = {"contexts": [[["1"]], [["0"], ["1"]]], "queries": [["1"]] * 2}
    made |= {"tokens": [1, 2], "data": numbers | {"labels": [["0"]] * 2}}
    made["rank"]["value"] = 2
    for groups, bits, own, status in (
        ([[0, 1]], 1, True, "holds"),
        ([[0, 1]], 2, True, "wrong"),
        ([[0], [1]], 1000, False, "holds"),
        ([[1], [0]], 1000, False, "wrong"),
    ):
        steered = made | {"groups": groups, "saturation": {"bits": bits, "own": own}}
        assert verdicts(sealed(steered), tmp_path) == {status}


SHARES = {  # contexts with equal means; whether the first two are equal to every head
    "twice": ([E, E * 2], True),
    "thrice and twice": ([E * 3, E * 2], True),
    "in another order": ([E, [E[2], E[0], E[1]] * 2], True),
    "with the mean beside": ([E, [*E, [Fraction(sum(x), 3) for x in zip(*E, strict=True)]]], False),
    "of which one counts twice": ([[[0], [0], [3]], [[0], [0], [0], [0], [3], [3]]], True),
    "of other shares": ([[[0], [0], [3]], [[0], [2]]], False),
}


@pytest.mark.parametrize("name", SHARES)
def test_tied_is_what_has_equal_shares(name: str, tmp_path: Path) -> None:
    contexts, tied = SHARES[name]
    other = [[x + 1 for x in row] for row in contexts[0][:1]]
    d = len(other[0])
    queries = [[2, 1, 3][:d]] * 3
    made = impossible_certificate([*contexts, other], queries, [[1], [2], [0]], [1, -1, 0])
    assert verdicts(made, tmp_path) == {"holds" if tied else "wrong"}

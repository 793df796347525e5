"""Compares domains of inputs with complete lists of their inputs."""

from __future__ import annotations

from itertools import product

import pytest

from attncert import InputError, Transducer, additions


def number(digits: tuple[int, ...], base: int) -> int:
    return sum(x * base**i for i, x in enumerate(digits))


@pytest.mark.parametrize(("digits", "base"), [(1, 10), (2, 4), (3, 2)])
def test_additions_are_all_pairs_with_their_sums(digits: int, base: int) -> None:
    domain, found, k = additions(digits, base), set(), digits + 1
    for word in product(*domain.letters):
        row = domain.sequence(word)
        a, b, s = (number(row[i : i + k], base) for i in (0, k, 2 * k))
        assert a + b == s and row[digits] == row[k + digits] == 0
        found.add((a, b))
    assert found == set(product(range(base**digits), repeat=2)) and domain.inputs == len(found)


@pytest.mark.parametrize(("digits", "base", "name"), [(0, 10, "digits"), (1, 1, "base")])
def test_additions_need_a_digit_and_a_base(digits: int, base: int, name: str) -> None:
    with pytest.raises(InputError, match=f"{name}: must be a whole number"):
        additions(digits, base)


@pytest.mark.parametrize("width", [2, 3, None])
def test_every_input_is_in_a_situation_of_each_place(width: int | None) -> None:
    domain = additions(3, 2, plus=2, equals=3)
    assert domain.symbols[3] == (2,) and domain.symbols[-1] == domain.symbols[0] == (0, 1)
    for place in range(4):
        situations = list(domain.situations(place, width))
        for word in product(*domain.letters):
            row = domain.sequence(word)
            here = [x for x in situations if all(row[p] == v for p, v in x.known.items())]
            assert row[domain.prompt + place] in {x.right for x in here}
            assert width == 2 or len(here) == 1
        for x in situations:
            for row in map(domain.sequence, x.words):
                assert all(row[p] == v for p, v in x.known.items())
                assert row[domain.prompt + place] == x.right
    assert sum(1 for _ in domain.situations(2, 2)) == 2 * 4 * 4
    (one,) = [x for x in domain.situations(0, 1) if x.known == {0: 1, 4: 1}]  # 1 + 1
    assert one.right == 0


def test_examples_are_all_places_of_the_answers() -> None:
    domain = additions(1, 3, plus=3, equals=4)
    words = [((2, 2), (3, 4)), ((0, 1), (3, 4))]  # 2 + 2 = 11, 0 + 1 = 1
    embedding = [[int(i == j) for j in range(5)] for i in range(5)]
    data = domain.dataset(words, "sums", embedding=embedding)
    assert data.T == 4 and data.context(1).tolist() == [embedding[x] for x in (2, 3, 2, 4, 1)]
    assert [row.index(1) for row in data.labels.numerators.tolist()] == [1, 1, 1, 0]


def test_a_missing_step_is_named_with_an_input_that_reaches_it() -> None:
    whole = additions(2)
    step = {key: value for key, value in whole.step.items() if key != (1, (9, 9))}
    with pytest.raises(InputError, match=r"state 1, reached after \[\(1, 9\)\], not \(9, 9\)"):
        Transducer(whole.letters, whole.places, 0, step)
    unreached = whole.step | {(2, (0, 0)): (0, 0)}
    assert Transducer(whole.letters, whole.places, 0, unreached).inputs == 10**4


@pytest.mark.parametrize(
    ("letters", "places", "words"),
    [
        ([[(0,)]], [(1,)], "places: must be all places of the prompt"),
        ([[(0,)]], [(0,), (1,)], "places: must be all places of the prompt"),
        (
            [[(0, 1)]],
            [(0,)],
            "letters: must be one or more, each once, with a symbol for each place",
        ),
        ([[]], [(0,)], "letters: must be one or more"),
        ([[(0,), (0,)]], [(0,)], "letters: must be one or more, each once"),
        ([[(-1,)]], [(0,)], "symbols: must be counted from 0, not -1"),
    ],
)
def test_malformed_domains_are_refused(letters: object, places: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Transducer(letters, places, 0, {(0, (0,)): (0, 0), (0, (-1,)): (0, 0)})  # type: ignore[arg-type]

"""The proof as a graph: standings follow the definition, and the order is topological."""

from __future__ import annotations

import itertools
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.trace import ProofTrace

P, N, A = Level.PROVED, Level.NUMERICAL, Level.ASSUMED
STRONGEST_FIRST = [
    "kernel", "proved", "enclosed", "argued", "sampled", "numerical", "assumed", "refuted",
    "undecided", "vacuous", "not applicable",
]  # fmt: skip
FAILS = {Level.REFUTED, Level.UNDECIDED, Level.VACUOUS, Level.NOT_APPLICABLE}


def claim(name: str, level: Level = P, *rests_on: str, seconds: float = 0.0) -> Claim:
    return Claim(name, f"statement of {name}", level, rests_on=rests_on, seconds=seconds)


@st.composite
def graphs(draw: st.DrawFn) -> list[Claim]:
    """Claims c0, c1, ...; each rests on some of those before it."""
    claims: list[Claim] = []
    for k in range(draw(st.integers(1, 9))):
        level = draw(st.sampled_from(list(Level)))
        before = [c.id for c in claims]
        premises = draw(st.lists(st.sampled_from(before), unique=True)) if before else []
        claims.append(claim(f"c{k}", level, *premises))
    return claims


def standing(claims: dict[str, Claim], name: str) -> Level:
    """The level by the definition, a recursion over all ancestors."""
    own = claims[name].level
    premises = [standing(claims, p) for p in claims[name].rests_on]
    if own in FAILS:
        return own
    if any(p in FAILS for p in premises):
        return Level.UNDECIDED
    return max([own, *premises], key=lambda level: STRONGEST_FIRST.index(level.value))


def test_levels_are_ordered_as_the_reports_say() -> None:
    assert [level.value for level in Level] == STRONGEST_FIRST
    for strong, weak in itertools.combinations(Level, 2):
        assert weak < strong and not strong < weak
    assert not any(level < level for level in Level)
    assert {level for level in Level if not level.holds} == FAILS


@settings(max_examples=150, deadline=None)
@given(graphs(), st.randoms(use_true_random=False))
def test_standing_is_that_of_the_weakest_ancestor(claims: list[Claim], random: object) -> None:
    given_order = list(claims)
    random.shuffle(given_order)  # type: ignore[attr-defined]
    trace = ProofTrace(given_order)
    by_id = {c.id: c for c in claims}
    for c in claims:
        assert trace.standing(c.id) is standing(by_id, c.id)


@settings(max_examples=80, deadline=None)
@given(graphs(), st.randoms(use_true_random=False))
def test_order_is_topological_and_stable(claims: list[Claim], random: object) -> None:
    given_order = list(claims)
    random.shuffle(given_order)  # type: ignore[attr-defined]
    trace = ProofTrace(given_order)
    ids = [c.id for c in trace]
    assert sorted(ids) == sorted(c.id for c in claims) and len(trace) == len(claims)
    place = {name: k for k, name in enumerate(ids)}
    assert all(place[p] < place[c.id] for c in claims for p in c.rests_on)
    assert ids == [c.id for c in ProofTrace(given_order)]


def test_failures_of_one_claim_are_those_it_rests_on() -> None:
    trace = ProofTrace([claim("a", Level.REFUTED), claim("b", Level.UNDECIDED), claim("c", P, "b")])
    assert [c.id for c in trace.failures()] == ["a", "b"]
    assert [c.id for c in trace.failures("c")] == ["b"]


def test_the_dictionary_has_standings_and_no_times() -> None:
    trace = ProofTrace([claim("a", A, seconds=3.5), claim("b", P, "a", seconds=0.25)])
    text = json.dumps(trace.as_dict())
    assert "3.5" not in text and "seconds" not in text
    assert [c["standing"] for c in trace.as_dict()["claims"]] == ["assumed", "assumed"]
    assert trace.seconds() == {"a": 3.5, "b": 0.25}


def test_times_do_not_make_claims_different() -> None:
    assert claim("a", seconds=1.0) == claim("a", seconds=2.0) == claim("a").timed(5.0)
    assert claim("a").timed(5.0).seconds == 5.0
    assert claim("a") != claim("a", N)

"""Every check of the paper's steps fires on a defect of its own step, and says where it is.

A correct construction is spoilt in one place and the whole list of claims is made again. The table
`DEFECTS` says which claims must then fail: those of the step that was spoilt and of what repeats
its numbers, and no other. Where a defect could hide (a wrong vector and weights made from it), both
variants are there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from flint import fmpq, fmpq_mat, fmpz_mat
from oracles import rank
from small_layers import changed, features, fractions, with_head, with_label

from constructions import generators
from constructions.construction import Construction
from constructions.dataset import Dataset
from constructions.layer import Head, Layer
from constructions.mahdavi2024 import PaperHead, build
from constructions.readout import pivot_system, solve, with_readout
from verify import conclusions, paper_steps
from verify import features as verify_features
from verify.apriori import Conditioning
from verify.evidence import Claim, Level
from verify.paper_steps import head_claims, placement
from verify.readout import readout_solves

HEAD = 1  # the head (from 0) that is spoilt: it has two examples, and three before it
STEPS = ["duals", "steering", "selector", "separator", "weights", "integral", "saturation",
         "independence", "rank"]  # fmt: skip


@cache
def example(name: str) -> tuple[Dataset, Construction]:
    match name:
        case "interior":
            data = generators.family(7, 3, 4, queries="moment-curve", seed=1)
            return data, build(data)
        case "vertices":
            data = generators.family(7, 3, 4, queries="moment-curve", seed=1)
            return data, build(data, interior=False)
        case "shared":
            data = generators.family(7, 3, 4, queries="moment-curve", shared=True, seed=1)
            return data, build(data)
        case "wide":  # d_h = 5 > r = 3: room for a key column too many
            data = generators.family(7, 3, 4, queries="moment-curve", seed=1)
            return data, build(data, head_width=5, interior=False)
        case "rational":
            data = generators.family(5, 3, 3, queries="moment-curve", seed=4)
            contexts = [[[x / 7 for x in row] for row in E] for E in data.contexts.fractions()]
            queries = [[x / 6 for x in row] for row in data.queries.fractions()]
            data = Dataset.of(contexts, queries, data.labels)
            return data, build(data)
        case "one token":
            data = Dataset.of([[2, -1]], [[3, 1]], [5])
            return data, build(data)
        case _:
            data = generators.family(4, 2, 3, queries="moment-curve", seed=2)
            return data, build(data, heads=6)


EXAMPLES = ["interior", "vertices", "shared", "wide", "rational", "one token", "idle heads"]


def claims(data: Dataset, built: Construction) -> dict[str, Claim]:
    found = [placement(data, built), *head_claims(data, built)]
    assert len({claim.id for claim in found}) == len(found)
    return {claim.id: claim for claim in found}


def failing(found: dict[str, Claim]) -> set[str]:
    return {name for name, claim in found.items() if not claim.level.holds}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_correct_construction_passes_every_check(name: str) -> None:
    data, built = example(name)
    found = claims(data, built)
    assert {claim.level for claim in found.values()} == {Level.PROVED}
    assert all(claim.witness is None for claim in found.values())
    first = ["duals", "steering", "weights", "integral", "rank"]
    wanted = {f"head.1.{step}" for step in first} | {"groups"}
    wanted |= {f"head.{h}.{step}" for h in range(2, len(built.heads) + 1) for step in STEPS}
    assert set(found) == wanted
    json.dumps([claim.as_dict() for claim in found.values()], allow_nan=False)


def test_ranks_can_be_left_out() -> None:
    data, built = example("interior")
    found = {claim.id for claim in head_claims(data, built, with_ranks=False)}
    assert "head.2.saturation" in found
    assert not any(name.endswith((".rank", ".independence")) for name in found)


# Spoiling. `record` changes what the builder said; `rebuilt` makes the weights from it as well.


def record(built: Construction, h: int = HEAD, **parts: Any) -> Construction:
    heads = list(built.heads)
    heads[h] = replace(heads[h], **parts)
    return replace(built, heads=tuple(heads))


def rebuilt(built: Construction, h: int = HEAD, **parts: Any) -> Construction:
    """The record changed, and key and query computed from it: an error made before step 5."""
    built = record(built, h, **parts)
    head, d = built.heads[h], built.layer.heads[h].key.nrows()
    keys, queries = list(head.steering), list(head.duals)
    if head.separator is not None:
        keys.insert(0, head.separator * fmpq(head.c))
        queries.insert(0, head.selector)
    pad = [fmpq_mat(d, 1)] * (built.head_width - len(keys))
    return replace(built, layer=with_head(
        built.layer, h, key=columns([*keys, *pad]), query=columns([*queries, *pad])
    ))  # fmt: skip


def columns(vectors: list[fmpq_mat]) -> fmpq_mat:
    rows = [vector.entries() for vector in vectors]
    return fmpq_mat(len(rows), len(rows[0]), [x for row in rows for x in row]).transpose()


def weights(built: Construction, h: int = HEAD, **parts: fmpq_mat) -> Construction:
    return replace(built, layer=with_head(built.layer, h, **parts))


def bumped(vector: fmpq_mat | None, by: int = 1) -> fmpq_mat:
    assert vector is not None
    return changed(vector, 0, 0, by)


def orthogonal_to(*rows: list[Fraction]) -> fmpq_mat:
    """A nonzero integer column with product 0 with each of these."""
    scaled = [[x * _common(row) for x in row] for row in rows]
    basis, nullity = fmpz_mat([[int(x) for x in row] for row in scaled]).nullspace()
    assert nullity
    return fmpq_mat([[basis[i, 0]] for i in range(len(rows[0]))])


def _common(row: list[Fraction]) -> int:
    out = 1
    for x in row:
        out *= x.denominator
    return out


def query(data: Dataset, t: int) -> list[Fraction]:
    row: list[Fraction] = data.queries.fractions()[t]
    return row


def context(data: Dataset, t: int) -> list[list[Fraction]]:
    rows: list[list[Fraction]] = data.contexts.fractions()[0 if data.shared else t]
    return rows


def difference(data: Dataset, t: int, i: int, j: int) -> list[Fraction]:
    rows = context(data, t)
    return [x - y for x, y in zip(rows[i], rows[j], strict=True)]


def blind(data: Dataset, built: Construction) -> fmpq_mat:
    """Orthogonal to the group, as a selector is, and to one earlier query too."""
    head = built.heads[HEAD]
    return orthogonal_to(*(query(data, t) for t in (*head.group, head.earlier[0])))


def tied(data: Dataset, built: Construction, top: bool) -> fmpq_mat:
    """A separator for which an earlier example has two equal largest (or smallest) entries."""
    s = built.heads[HEAD].earlier[-1]
    for i, j in pairwise([0, 1, 2, 0]):
        u = orthogonal_to(difference(data, s, i, j))
        values = [sum(x * y for x, y in zip(row, (r[0] for r in fractions(u)), strict=True))
                  for row in context(data, s)]  # fmt: skip
        extreme = max(values) if top else min(values)
        if values.count(extreme) == 2:
            return u
        if values.count(min(values) if top else max(values)) == 2:
            return -u
    raise AssertionError("no tie")


def half(built: Construction) -> Construction:
    head = built.layer.heads[HEAD]
    return weights(built, key=head.key / 2)


def one_less(built: Construction) -> Construction:
    """c - 1 everywhere, the least gap recomputed: only what c is for can notice."""
    head = built.heads[HEAD]
    assert head.c is not None and head.c > 1
    spoilt = rebuilt(built, c=head.c - 1)
    table = verify_features.logits(spoilt.layer.heads[HEAD], example("vertices")[0])
    gaps = [
        int(table[s, target]) - int(x)
        for s, target in zip(head.earlier, head.targets, strict=True)
        for i, x in enumerate(table[s])
        if i != target
    ]
    return record(spoilt, gap_bits=min(gaps))


def another_group(built: Construction) -> Construction:
    head = built.heads[HEAD]
    return record(built, group=(head.group[0], head.group[1] + 1))


def other_targets(built: Construction) -> tuple[int, ...]:
    first, *rest = built.heads[HEAD].targets
    return ((first + 1) % 3, *rest)


def with_first(vectors: tuple[fmpq_mat, ...], vector: fmpq_mat) -> tuple[fmpq_mat, ...]:
    return (vector, *vectors[1:])


def extra_column(built: Construction) -> Construction:
    """A fourth independent key column in a layer of d_h = 5: M of rank 4 > r = 3."""
    head = built.layer.heads[HEAD]
    key, ask = fmpq_mat(head.key), fmpq_mat(head.query)
    for i in range(key.nrows()):
        key[i, 3], ask[i, 3] = fmpq(i * i + 1), fmpq(i + 2)
    return weights(built, key=key, query=ask)


def scaled_head(built: Construction) -> Construction:
    """Key times 2, query by 2: the same M. No defect."""
    head = built.layer.heads[HEAD]
    return weights(built, key=head.key * 2, query=head.query / 2)


Spoil = Callable[[Dataset, Construction], Construction]


@dataclass(frozen=True)
class Defect:
    spoil: Spoil
    fails: set[str]  # steps of head 2, or whole ids
    maybe: frozenset[str] = frozenset()  # may fail too, by luck of the numbers
    on: str = "interior"


def head(built: Construction) -> PaperHead:
    found: PaperHead = built.heads[HEAD]
    return found


RANKS = frozenset({"independence", "rank", "head.3.independence", "head.3.rank"})

DEFECTS: dict[str, Defect] = {
    "dual off by one, in the record": Defect(
        lambda d, b: record(b, duals=with_first(head(b).duals, bumped(head(b).duals[0]))),
        {"duals", "weights"},
        on="vertices",
    ),
    "dual off by one, and used": Defect(
        lambda d, b: rebuilt(b, duals=with_first(head(b).duals, bumped(head(b).duals[0], 6))),
        {"duals", "weights"},
        frozenset({"integral", "saturation"}) | RANKS,
        on="vertices",
    ),
    "duals swapped": Defect(
        lambda d, b: record(b, duals=head(b).duals[::-1]), {"duals", "weights"}, on="vertices"
    ),
    "steering off by one, in the record": Defect(
        lambda d, b: record(b, steering=with_first(head(b).steering, bumped(head(b).steering[0]))),
        {"steering", "weights"},
        on="vertices",
    ),
    "steering off by one, and used": Defect(
        lambda d, b: rebuilt(b, steering=with_first(head(b).steering, bumped(head(b).steering[0]))),
        {"steering", "weights"},
        frozenset({"integral", "saturation"}) | RANKS,
        on="vertices",
    ),
    "logits on record are others": Defect(
        lambda d, b: record(b, logits=((9, 0, 0), *head(b).logits[1:])),
        {"steering", "weights"},
    ),
    "selector not orthogonal to the group": Defect(
        lambda d, b: rebuilt(b, selector=bumped(head(b).selector, 2)),
        {"selector", "weights", "saturation"},
        RANKS | {"integral"},
    ),
    "selector blind to an earlier query": Defect(
        lambda d, b: rebuilt(b, selector=blind(d, b)),
        {"selector", "saturation"},
        RANKS | {"integral"},
    ),
    "selector blind, in the record only": Defect(
        lambda d, b: record(b, selector=blind(d, b)), {"selector", "saturation", "weights"}
    ),
    "tie at the top": Defect(
        lambda d, b: rebuilt(b, separator=tied(d, b, top=True)),
        {"separator", "saturation"},
        RANKS | {"integral"},
    ),
    "tie at the bottom": Defect(
        lambda d, b: rebuilt(b, separator=tied(d, b, top=False)),
        {"separator", "saturation"},
        RANKS | {"integral"},
    ),
    "separator of the record rescaled": Defect(
        lambda d, b: record(b, separator=head(b).separator / 3), {"weights"}
    ),
    "c one too small, in the record": Defect(
        lambda d, b: record(b, c=head(b).c - 1), {"weights"}, on="vertices"
    ),
    "c one too small everywhere": Defect(
        lambda d, b: one_less(b), {"saturation"}, RANKS, on="vertices"
    ),
    "gap overstated": Defect(
        lambda d, b: record(b, gap_bits=head(b).gap_bits + 1), {"saturation"}
    ),
    "gap understated": Defect(
        lambda d, b: record(b, gap_bits=head(b).gap_bits - 1), {"saturation"}, on="shared"
    ),
    "gap left out": Defect(lambda d, b: record(b, gap_bits=None), {"saturation"}),
    "wrong target row": Defect(
        lambda d, b: record(b, targets=other_targets(b)),
        {"saturation"},
        frozenset({"independence"}),
    ),
    "another group on record": Defect(
        lambda d, b: another_group(b),
        {"groups", "steering", "weights", "selector"},
        frozenset({"duals", "independence", "rank"}),
        on="vertices",
    ),
    "an earlier example forgotten": Defect(
        lambda d, b: record(b, earlier=head(b).earlier[1:], targets=head(b).targets[1:]),
        {"groups"},
        frozenset({"saturation"}),
    ),
    "all earlier examples forgotten": Defect(
        lambda d, b: record(b, earlier=(), targets=()), {"groups"}
    ),
    "groups larger than r allows": Defect(
        lambda d, b: replace(b, r=2), {"groups", "head.1.weights"}
    ),
    "an example in no group": Defect(
        lambda d, b: replace(b, groups=(*b.groups[:2], b.groups[2][:1])), {"groups"}
    ),
    "an example in two groups": Defect(
        lambda d, b: replace(b, groups=(*b.groups[:2], (0, *b.groups[2][1:]))), {"groups"}
    ),
    "a head without a record": Defect(
        lambda d, b: replace(b, heads=b.heads[:2]), {"groups"}
    ),
    "rank of M above r": Defect(
        lambda d, b: extra_column(b), {"weights"}, frozenset({"saturation"}) | RANKS, on="wide"
    ),
    "key entry off by one": Defect(
        lambda d, b: weights(b, key=changed(b.layer.heads[HEAD].key, 0, 0, 1)),
        {"weights"},
        frozenset({"saturation", "integral"}) | RANKS,
    ),
    "logits not whole": Defect(
        lambda d, b: half(b), {"weights", "integral"}, frozenset({"saturation"}), on="shared"
    ),
    "the same M in other factors": Defect(lambda d, b: scaled_head(b), set()),
}  # fmt: skip


def full(steps: set[str] | frozenset[str]) -> set[str]:
    return {s if "." in s or s == "groups" else f"head.{HEAD + 1}.{s}" for s in steps}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_caught_where_it_was_made(name: str) -> None:
    defect = DEFECTS[name]
    data, built = example(defect.on)
    found = claims(data, defect.spoil(data, built))
    caught = failing(found)
    assert full(defect.fails) <= caught <= full(defect.fails | defect.maybe)
    for claim_id in caught:
        claim = found[claim_id]
        undecided = claim_id.endswith((".rank", ".independence"))
        assert claim.level is (Level.UNDECIDED if undecided else Level.REFUTED)
        assert claim.witness
        json.dumps(claim.as_dict(), allow_nan=False)


def witness_of(name: str, step: str) -> dict[str, Any]:
    defect = DEFECTS[name]
    data, built = example(defect.on)
    found = claims(data, defect.spoil(data, built))[f"head.{HEAD + 1}.{step}"]
    assert found.witness is not None
    return dict(found.witness)


def test_witnesses_name_the_place() -> None:
    """The examples and products of a few defects, worked out again in Fractions."""
    built = example("interior")[1]
    group, earlier = head(built).group, head(built).earlier
    blinded = witness_of("selector blind to an earlier query", "selector")
    assert blinded == {"example": earlier[0], "product": "0"}
    assert witness_of("tie at the top", "separator") == {"example": earlier[-1]}
    assert witness_of("logits on record are others", "steering") == {"example": group[0]}
    found = witness_of("gap overstated", "saturation")
    assert found["claimed"] == found["least gap"] + 1 and found["examples with another row"] == []
    assert witness_of("wrong target row", "saturation")["examples with another row"] == [earlier[0]]
    swapped = witness_of("duals swapped", "duals")
    assert swapped["product"] == "0" and len(set(swapped["examples"])) == 1
    fraction = Fraction(witness_of("logits not whole", "integral")["logit"])
    assert fraction.denominator == 2
    assert witness_of("rank of M above r", "weights")["rank"] == 4


def test_rank_above_r_alone_is_caught() -> None:
    """The weights follow the formula, but d_h promises a smaller rank."""
    data, built = example("vertices")
    claim = paper_steps.head_weights(data, head(built), built.layer.heads[HEAD], 2, HEAD + 1)
    assert claim.level is Level.REFUTED
    assert claim.witness is not None and claim.witness["equal"] is True
    assert claim.witness["examples with other logits"] == []


def test_a_repeated_example_spoils_the_ranks() -> None:
    """Example 6 made a copy of example 0: its head cannot make their rows independent."""
    data, built = example("shared")
    queries = data.queries.fractions()
    queries[6] = queries[0]
    doubled = Dataset.of(data.contexts, queries, data.labels)
    assert rank(features(doubled, built.layer)) < 7
    found = claims(doubled, built)
    assert {"head.3.rank", "head.3.duals", "head.3.selector"} <= failing(found)
    assert found["head.3.rank"].level is Level.UNDECIDED
    assert found["head.3.rank"].numbers["rank"] == 6
    whole = conclusions.full_rank(doubled, built.layer)
    assert whole.level is Level.UNDECIDED and whole.numbers["rank"] == 6
    assert conclusions.full_rank(data, built.layer).level is Level.PROVED


def test_two_examples_sent_to_one_new_direction() -> None:
    """Step 7's trap: each vertex alone leaves the span of the earlier rows, both together do not.
    Every other step is as it should be."""
    data = generators.step_seven_trap()
    built = build(data, heads=2, head_width=3)
    assert not failing(claims(data, built))
    to_e4 = (0, 60, 0)
    w = fmpq_mat([[0], [0], [0], [60], [0]])
    spoilt = rebuilt(built, steering=(w, w), logits=(to_e4, to_e4))
    assert failing(claims(data, spoilt)) == {"head.2.independence", "head.2.rank"}
    assert conclusions.full_rank(data, spoilt.layer).level is Level.UNDECIDED


# Progressive ranks and primes.


def test_primes_that_divide_a_denominator_are_passed_over() -> None:
    """Contexts over 2147483579: no features exist mod that prime, and nothing is claimed mod it."""
    first, second = verify_features.PRIMES[:2]
    data, built = example("shared")
    contexts = [[x / first for x in row] for row in data.contexts.fractions()[0]]
    small = Dataset.of(contexts, data.queries, data.labels)
    built = build(small)
    assert verify_features.usable_primes(small)[0] == second
    found = claims(small, built)
    assert not failing(found)
    assert str(second) in found["head.1.rank"].arithmetic
    assert conclusions.full_rank(small, built.layer).numbers["prime"] == second


def test_no_usable_prime_is_undecided_not_a_crash() -> None:
    data, _ = example("shared")
    below = 1
    for p in verify_features.PRIMES:
        below *= p
    contexts = [[x / below for x in row] for row in data.contexts.fractions()[0]]
    small = Dataset.of(contexts, data.queries, data.labels)
    built = build(small)
    assert not failing(claims(small, built))
    assert conclusions.full_rank(small, built.layer).level is Level.UNDECIDED


def test_a_softmax_sum_that_vanishes_is_undecided_not_a_crash() -> None:
    """2^((p-1)/2) + 1 = 0 mod p: with such logits there are no features mod p."""
    p = verify_features.PRIMES[0]
    data = Dataset.of([[1, 0], [0, 1]], [[1, 0], [0, 1]], [0, 1])
    built = build(data)
    key = fmpq_mat([[(p - 1) // 2, 0], [0, 0]])
    spoilt = weights(built, 0, key=key, query=fmpq_mat([[1, 1], [0, 0]]))
    found = claims(data, spoilt)
    assert found["head.1.rank"].level is Level.UNDECIDED
    assert conclusions.full_rank(data, spoilt.layer).numbers["prime"] != p


def test_logits_that_are_not_whole_leave_the_rank_undecided() -> None:
    data, built = example("shared")
    claim = conclusions.full_rank(data, half(built).layer)
    assert claim.level is Level.UNDECIDED


@pytest.mark.parametrize("name", EXAMPLES)
def test_features_mod_p_are_the_exact_ones(name: str) -> None:
    data, built = example(name)
    p = verify_features.PRIMES[1]
    found = verify_features.feature_matrix_mod(data, built.layer, p).tolist()
    exact = features(data, built.layer)
    assert found == [[x.numerator * pow(x.denominator, -1, p) % p for x in row] for row in exact]


# Step 9.


@cache
def read_out(name: str) -> tuple[Dataset, Layer]:
    data, built = example(name)
    return data, with_readout(built, data, solve(pivot_system(built, data), data.label_matrix))


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_correct_readout_passes(name: str) -> None:
    data, layer = read_out(name)
    claim = readout_solves(data, layer)
    assert claim.level is Level.PROVED and claim.witness is None
    used = sum(any(row) for head in layer.heads for row in fractions(head.value))
    assert claim.numbers["columns used"] == used <= data.T


def spoilt_readouts() -> dict[str, tuple[Dataset, Layer]]:
    data, layer = read_out("vertices")
    value, output = layer.heads[1].value, layer.output
    assert value is not None and output is not None
    place = next((i, 0) for i, row in enumerate(fractions(value)) if any(row))
    size = value[place].q
    idle = next(i for i, row in enumerate(fractions(value)) if not any(row))
    return {
        "one bit of a value": (
            data,
            with_head(layer, 1, value=changed(value, *place, fmpq(1, size))),
        ),
        "a value of an idle column": (data, with_head(layer, 1, value=changed(value, idle, 0, 1))),
        "an output entry": (data, replace(layer, output=changed(output, 1, 0, fmpq(1, 10**9)))),
        "a label": (with_label(data, 3, 0, Fraction(1, 10**30)), layer),
        "keys of another head": (data, with_head(layer, 1, key=layer.heads[2].key)),
        "values swapped": (data, with_head(layer, 1, value=layer.heads[2].value)),
    }


@pytest.mark.parametrize("name", spoilt_readouts())
def test_a_spoilt_readout_is_refuted(name: str) -> None:
    claim = readout_solves(*spoilt_readouts()[name])
    assert claim.level is Level.REFUTED
    assert claim.witness is not None and claim.witness["examples"]
    if name == "a label":
        assert claim.witness["examples"] == [3]


# Numbers beside the steps.


def sigma(data: Dataset, built: Construction, number: int) -> tuple[np.ndarray, list[int]]:
    """The limit matrix of this head, exactly, then as floats; and its rows."""
    rows = [*built.heads[number].earlier, *built.heads[number].group]
    z = features(data, replace(built.layer, heads=built.layer.heads[: number + 1]))
    limit = [list(z[t]) for t in rows]
    for k, target in enumerate(built.heads[number].targets):
        limit[k][-data.d :] = context(data, rows[k])[target]
    return np.array(limit, dtype=float), rows


@pytest.mark.parametrize("name", ["interior", "vertices", "shared", "rational"])
def test_the_a_priori_bound(name: str) -> None:
    """B is the least with (n-1) 2^-B sqrt(Σ diam²) < σ; c the least that gives every gap B bits."""
    data, built = example(name)
    conditioning = Conditioning(data)
    for number, (found, layer_head) in enumerate(zip(built.heads, built.layer.heads, strict=True)):
        table = verify_features.logits(layer_head, data)
        lead = None if found.selector is None else paper_steps.lead(data, found)
        numbers = conditioning.add(found, table, lead)
        assert numbers.condition is not None and numbers.condition >= 1
        if lead is None:
            assert numbers.apriori_bits is numbers.apriori_c is None
            continue
        limit, _ = sigma(data, built, number)
        smallest = np.linalg.svd(limit, compute_uv=False)[-1]
        diameters = []
        for s in found.earlier:
            points = np.array(context(data, s), dtype=float)
            diameters.append(max(np.linalg.norm(x - y) for x in points for y in points))
        moved = (data.n - 1) * float(np.linalg.norm(diameters))
        bits, c = numbers.apriori_bits, numbers.apriori_c
        assert bits is not None and c is not None
        assert moved * 2.0**-bits < smallest * (1 + 1e-9)
        assert bits == 1 or moved * 2.0 ** -(bits - 1) >= smallest * (1 - 1e-9)
        gaps = {}
        for at in (c, c - 1):
            shifted = table[list(found.earlier)] + (at - found.c) * lead
            gaps[at] = min(
                row[target] - row[i]
                for row, target in zip(shifted, found.targets, strict=True)
                for i in range(data.n)
                if i != target
            )
        assert gaps[c] >= bits and (c == 1 or gaps[c - 1] < bits)
        assert c >= found.c


@pytest.mark.parametrize("scale", [Fraction(1, 2**1060), Fraction(1, 2**600), 2**530, 2**1300])
def test_the_a_priori_bound_does_not_depend_on_the_scale(scale: int | Fraction) -> None:
    data, built = example("shared")
    contexts = [[x * scale for x in row] for row in data.contexts.fractions()[0]]
    scaled = Dataset.of(contexts, data.queries, data.labels)
    again = build(scaled)
    bits = []
    for E, b in ((data, built), (scaled, again)):
        conditioning = Conditioning(E)
        bits.append([])
        for found, layer_head in zip(b.heads, b.layer.heads, strict=True):
            table = verify_features.logits(layer_head, E)
            lead = None if found.selector is None else paper_steps.lead(E, found)
            bits[-1].append(conditioning.add(found, table, lead).apriori_bits)
    assert bits[0] == bits[1] and bits[0][1] is not None


def test_off_peak_weights_in_bits() -> None:
    """log2(1 - p_max) for weights 1/4; 2^-k over 1 + 2^-k; equal; and far beyond all floats."""
    table = np.array([[0, 0, 0, 0], [0, -50, -(10**6), -(10**6)], [3**800, 0, 0, 0]], dtype=object)
    found = verify_features.log2_off_peak(table)
    assert found[0] == pytest.approx(np.log2(0.75))
    assert found[1] == pytest.approx(-50)
    assert found[2] == -1e300 or found[2] == pytest.approx(-float(3**640) * 3.0**160)
    assert verify_features.log2_off_peak(np.array([[7]], dtype=object)).tolist() == [-np.inf]


def test_a_head_is_a_head() -> None:
    """The helper that spoils weights leaves everything else alone."""
    data, built = example("interior")
    same = rebuilt(built)
    assert same.layer.heads[HEAD].key == built.layer.heads[HEAD].key
    assert isinstance(same.layer.heads[HEAD], Head) and not failing(claims(data, same))

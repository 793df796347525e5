"""Correct constructions of the paper, and ways of spoiling one of their heads in one place.

`record` changes what the builder said, `rebuilt` makes the weights from that as well, `weights`
changes the layer alone.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

from flint import fmpq, fmpq_mat, fmpz_mat
from small_layers import changed, fractions, with_head

from constructions import generators
from constructions.construction import Construction
from constructions.dataset import Dataset
from constructions.mahdavi2024 import PaperHead, build
from verify import features as verify_features
from verify.evidence import Claim
from verify.paper_steps import head_claims, placement

HEAD = 1  # the head (from 0) that is spoilt: it has two examples, and three before it


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


def head(built: Construction) -> PaperHead:
    found: PaperHead = built.heads[HEAD]
    return found


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

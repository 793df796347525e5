"""The claims of all heads in their order: which checks come before the logits, and which after."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from attncert.constructions.construction import Construction, PlacedHead, SteeringHead
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Head
from attncert.verify import features
from attncert.verify.claims.evidence import Claim, timed
from attncert.verify.steps import shared
from attncert.verify.tables import Table

Check = Callable[[], Claim]


def head_by_head(
    data: Dataset,
    construction: Construction,
    before: Callable[..., Iterable[Check]],
    after: Callable[..., Iterable[Check]],
    wording: Callable[[Any, Check], Claim] | None = None,
    *,
    with_ranks: bool = True,
) -> Iterator[Claim]:
    """All claims of all heads in order, each timed; they end where logits are not integral.

    before(record, weights, number): the checks that need no logits. after(record, table,
    so_far, number): those that do; so_far: the features mod p of the heads up to here, None without
    ranks, which repeat an elimination (T^3) after every head; the rank of the whole layer is a
    claim of its own. wording(record, check): the claim of a check, in the construction's words.
    """
    primes = features.usable_primes(data)
    so_far = features.Progressive(data, primes[0]) if with_ranks and primes else None
    for number, (record, weights) in enumerate(
        zip(construction.heads, construction.layer.heads, strict=False), start=1
    ):
        checks, integer = [*before(record, weights, number)], True
        try:
            table = features.logit_table(weights, data)
        except features.NotIntegral as error:
            checks.append(partial(shared.not_integral, error, number))
            integer = False
        else:
            checks.append(partial(shared.integral, table, number))
            checks += after(record, table, so_far, number)
        for check in checks:
            yield timed(check) if wording is None else wording(record, check)
        if not integer:
            return


def each_head(
    *checks: Callable[[Dataset, Any, Head, int], Claim], source: str
) -> Callable[..., Iterator[Claim]]:
    """`Method.steps` of heads that steer no example: one function for each step.

    checks: (data, record, head, number) -> the claim "head.<number>.<step>" about this head, from
    its weights and the builder's record, in this order. The claims that every head needs follow
    them: integral logits, the logits on record, and the rank after it. source: of these.

    >>> from attncert import Dataset, Layer, Level
    >>> from attncert.constructions.from_layer import from_layer
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 0], [0, 1]], [3, 4])
    >>> built = from_layer(Layer.of_weights([([[1], [0]], [[1], [2]])]), data, "mine")
    >>> def small(data, record, head, number):
    ...     return Claim(f"head.{number}.small", "No weight is above 2", Level.PROVED)
    >>> [claim.id for claim in each_head(small, source="notes.md")(data, built)]
    ['head.1.small', 'head.1.integral', 'head.1.logits', 'head.1.rank']
    """

    def head_claims(
        data: Dataset, construction: Construction, *, with_ranks: bool = True
    ) -> Iterator[Claim]:
        def before(record: PlacedHead, weights: Head, number: int) -> Iterator[Check]:
            yield from (partial(check, data, record, weights, number) for check in checks)

        def after(
            record: PlacedHead, table: Table, so_far: features.Progressive | None, number: int
        ) -> Iterator[Check]:
            yield partial(shared.group_logits, data, record, table, number, source)
            if so_far is not None:
                yield partial(shared.finite_rank, record, table, so_far, number, source=source)

        return head_by_head(data, construction, before, after, with_ranks=with_ranks)

    return head_claims


def steering(
    before: Callable[..., Iterator[Check]],
    saturation: Callable[[Dataset, Any, Table, int], Claim],
    wording: Callable[[Any, Check], Claim] | None = None,
) -> Callable[..., Iterator[Claim]]:
    """`Method.steps` of a proof whose heads steer: after the logits saturation, limit and rank.

    before(data, construction, record, weights, number), wording: as for `head_by_head`.
    """

    def head_claims(
        data: Dataset, construction: Construction, *, with_ranks: bool = True
    ) -> Iterator[Claim]:
        def after(
            record: SteeringHead, table: Table, so_far: features.Progressive | None, number: int
        ) -> Iterator[Check]:
            if record.selector is not None:
                yield partial(saturation, data, record, table, number)
                if so_far is not None:
                    yield partial(shared.limit_independence, record, table, so_far, number)
            if so_far is not None:
                yield partial(shared.finite_rank, record, table, so_far, number)

        checks = partial(before, data, construction)
        return head_by_head(data, construction, checks, after, wording, with_ranks=with_ranks)

    return head_claims

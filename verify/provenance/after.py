"""Data that a first network computed from the given data.

A statement about a layer on these data is one about the first network followed by the layer. The
claim "before" says that the data are the outputs of the blocks. It uses the checker's evaluation,
which shares no code with constructions/network.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from attncert.constructions.data.dataset import Dataset, Origin
from attncert.constructions.errors import InputError
from attncert.constructions.exact.hashing import Hashed
from attncert.constructions.network.arithmetic import Inexact
from attncert.constructions.network.file import as_json, loaded
from attncert.constructions.network.mixing import mean
from attncert.constructions.network.network import Network
from attncert.verify.checker import Limits
from attncert.verify.checker.blocks import block
from attncert.verify.checker.exact import Exact
from attncert.verify.checker.network import states
from attncert.verify.checker.reading import Table
from attncert.verify.claims import ids
from attncert.verify.claims.evidence import Claim, timed


def behind(data: Dataset, blocks: str | None) -> Dataset:
    """The data after the blocks that the option --before names ("mean" or the path of a file), or
    the data themselves if it is None. Raises InputError, for example if the blocks are not rational
    on the data."""
    if not blocks:
        return data
    try:
        made = after(data.expanded(), mean(data.d) if blocks == "mean" else loaded(blocks))
        return made if data.order is None else made.merged()
    except Inexact as reason:
        raise InputError("before", "blocks with exact outputs on these data", str(reason)) from None


def after(data: Dataset, front: Network) -> Dataset:
    """The data that a layer after `front` sees, with their origin. Raises Inexact or InputError."""
    return front.apply(data).of_origin(AfterBlocks(data, front))


@dataclass(frozen=True)
class AfterBlocks(Origin):
    """The origin of data computed by blocks. original: the given data. front: the blocks."""

    original: Dataset
    front: Network

    premises = (ids.BEFORE,)

    @property
    def paragraph(self) -> str:
        return f"{self._blocks} computed them from the given data."

    def held(self, certificate: Mapping[str, Any]) -> str:
        if certificate["input_sha256"] == self.original.sha256:
            return "The certificate holds the given data and all blocks."
        return (
            "The certificate holds the computed data, and neither the given data nor any fixed "
            f"block: only the claim `{ids.BEFORE}` of this report says where its data come from."
        )

    @property
    def blocks(self) -> list[dict[str, Any]]:
        return as_json(self.front)

    def stored(self, data: Dataset) -> Dataset:
        return self.original

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"sha256_before_the_front": self.original.sha256}

    def claims(self, data: Dataset) -> list[Claim]:
        return [timed(partial(self._claim, data))]

    def words(self, data: Dataset) -> str:
        return f" {self._blocks} computed the data from the given data."

    @property
    def _blocks(self) -> str:
        return "One fixed block" if self.front.depth == 1 else f"{self.front.depth} fixed blocks"

    def _claim(self, data: Dataset) -> Claim:
        """The claim that tokens and queries agree with the checker's evaluation."""
        before, limits = self.original, Limits(math.inf, math.inf)
        blocks = [block(limits, x) for x in self.blocks]
        tables = [before.rows(t).numerators.tolist() for t in range(len(before.contexts))]
        contexts = Table(tables, before.contexts.denominator, 0)
        queries = Table(before.queries.numerators.tolist(), before.queries.denominator, 0)
        wrong = "" if before.shared == data.shared else "the number of contexts changed"
        reached = states(Exact(limits), blocks, contexts, queries, limits)
        for t, (tokens, query) in enumerate(reached):
            k = 0 if data.shared else t
            if not wrong and [_fractions(x) for x in tokens] != data.rows(k).fractions():
                wrong = f"the context of example {t}"
            if not wrong and _fractions(query) != data.queries[t].fractions():
                wrong = f"the query of example {t}"
        labels = [None if of.stated is None else of.stated.strings() for of in (before, data)]
        if labels[0] != labels[1]:
            wrong = wrong or "the labels were changed"
        different = [len({Hashed(x) for x in of.queries.stored.tolist()}) for of in (before, data)]
        return Claim.checked(
            ids.BEFORE,
            "The fixed blocks compute the contexts and queries from the given ones.",
            not wrong,
            {"reason": wrong},
            numbers={
                "blocks": self.front.depth,
                "different queries before": different[0],
                "different queries after": different[1],
            },
            arithmetic="exact, by the checker's evaluation of networks",
            source="paper, Proposition 4 for the mean; docs/certificate.md, blocks",
        )


def _fractions(vector: tuple[list[int], int]) -> list[Fraction]:
    entries, unit = vector
    return [Fraction(x, unit) for x in entries]

"""One run of `prove`: the question, the data and the construction, and what files say of it."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from attncert.constructions.construction import Construction
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.data.rounding import Rounding
from attncert.constructions.errors import InputError, whole
from attncert.constructions.foreign import printable
from attncert.constructions.layer import parameter_count
from attncert.constructions.progress import Progress, StageProgress, silent
from attncert.verify.certificate import further_keys, produced_by
from attncert.verify.claims.evidence import Claim
from attncert.verify.claims.proof import Setup
from attncert.verify.installed import version
from attncert.verify.methods import registry
from attncert.verify.methods.method import Method
from attncert.verify.rank.engines.devices import Device
from attncert.verify.settings import Settings
from attncert.verify.steps import hypotheses, shared


def _require_data(data: object) -> None:
    if not isinstance(data, Dataset):
        raise InputError("data", "a Dataset, as attncert.load returns", repr(data))


@dataclass(frozen=True)
class Run:
    """The question, the data and the construction."""

    data: Dataset
    settings: Settings
    method: Method
    progress: StageProgress = silent
    call: str = ""  # in Python, where no command line repeats this run
    rounding: Rounding | None = None  # by which `data` came from what was given
    before: Dataset | None = None  # what was given, where a first layer made `data` of it

    def __post_init__(self) -> None:
        _require_data(self.data)

    @property
    def head_width(self) -> int:
        with self.theirs("width"):
            found = self.method.head_width(self.data, self.settings.head_width)
            if not whole(found) or found < 1:
                raise ValueError(f"d_h is {printable(found, 40)}")
            return found

    @property
    def value_width(self) -> int:
        return self.settings.values(self.data)

    @property
    def narrow(self) -> bool:
        """d_v < m: what holds then rests on the columns that the values pick."""
        return self.value_width < self.data.m

    @property
    def r(self) -> int:
        with self.theirs("bound"):
            return self.method.r(self.data, self.head_width)

    @property
    def command(self) -> str:
        """What repeats this run."""
        return self.call or self.settings.command(self.data.T)

    def at(self, stage: str) -> Progress:
        return partial(self.progress, stage)

    def theirs(self, part: str) -> AbstractContextManager[None]:
        """`registry.theirs` of this run's construction."""
        return registry.theirs(self.method, part)

    def capacity(self, heads: int) -> list[Claim]:
        """T is at most what the theorem places, where it says how many."""
        bound, source = self.method.bound, self.method.source
        if bound is None:
            return []
        check = partial(hypotheses.capacity, self.data.T, heads, self.r, bound, source)
        with self.theirs("bound"):
            return [shared.timed(check)]

    @property
    def produced_by(self) -> dict[str, Any]:
        """What a certificate says of its origin."""
        return produced_by(self.command, self.settings.seed)

    @property
    def further_keys(self) -> dict[str, Any]:
        """Of `attncert/2`: what a certificate of this run states beside its claim."""
        return further_keys(self.settings.saturation, self.rounding)

    def setup(self, built: Construction | None = None, device: Device | None = None) -> Setup:
        """What the report says was asked and built."""
        data, settings, method = self.data, self.settings, self.method
        heads = len(built.layer.heads) if built else settings.heads
        width = built.head_width if built else self.head_width
        count = parameter_count(data.d, data.m, heads, width, self.value_width) if heads else None
        voice, bound = method.voice, method.bound
        with self.theirs("bound"):
            capacity = method.places(heads, self.r)
        with self.theirs("remarks"):
            remarks = dict(method.remarks(data, built)) if built else {}
            if not all(isinstance(x, str) for pair in remarks.items() for x in pair):
                raise TypeError("remarks are texts by name")
        return Setup(
            construction=method.name,
            claim=settings.claim,
            heads=heads,
            head_width=width,
            value_width=self.value_width,
            r=self.r,
            seed=settings.seed,
            command=self.command,
            outline=method.outline,
            voice=replace(
                voice,
                title=voice.title or method.name,
                theorem=voice.theorem or method.theorem,
                source=voice.source or method.source,
            ),
            saturation=settings.saturation if built else None,
            rounding=self.rounding,
            before=self.before,
            asked_as="" if self.call else settings.construction,
            certificate_name=method.certificate_name,
            capacity=capacity,
            parameters=count,
            usable_width=bound.r.replace(",", ", ") if bound and "d_h" in bound.r else "",
            device=device.kind if device else "cpu",
            rank_memory=f"{settings.memory:g} GiB" if device else None,
            regrouped=bool(built and built.regrouped),
            remarks=remarks,
        )


def versions(device: Device | None = None) -> Mapping[str, str]:
    """Of Python and of the libraries that computed; for timings.json, apart from the results."""
    packages = ("attncert", "python-flint", "sympy", "mpmath", "numpy", "scipy", "networkx")
    found = {"python": platform.python_version()} | {p: version(p) for p in packages}
    return found | ({"device": device.name} | dict(device.versions) if device else {})

"""One run of `prove`: the question, the data and the construction, and what files say of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from attncert.constructions.construction import Construction
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.layer import parameter_count
from attncert.constructions.progress import Progress, StageProgress, silent
from attncert.constructions.search.saturation import Saturation
from attncert.verify.certificate import produced_by
from attncert.verify.claims.evidence import Claim, timed
from attncert.verify.claims.proof import Setup
from attncert.verify.methods import registry
from attncert.verify.methods.method import Method
from attncert.verify.methods.request import Request
from attncert.verify.questions.prove import Prove
from attncert.verify.rank.engines.devices import Device
from attncert.verify.steps import hypotheses


@dataclass(frozen=True)
class Run:
    """The question, the data and the construction.

    request: what the construction is asked to build. call: in Python, where no command line repeats
    this run.
    """

    data: Dataset
    question: Prove
    method: Method
    request: Request
    progress: StageProgress = silent
    call: str = ""

    @classmethod
    def of(
        cls,
        data: Dataset,
        question: Prove,
        method: Method,
        progress: StageProgress = silent,
        call: str = "",
    ) -> Run:
        """The run that answers `question` about these data by this construction.

        Raises InputError for labels that are missing, and for what the construction cannot be
        asked.
        """
        if question.claim != "full-rank":
            _ = data.labels  # raises InputError where there are none
        if not (call or ":" in question.construction):
            question = replace(question, construction=method.name)  # not its name in certificates
        return cls(data, question, method, _request(data, question, method), progress, call)

    @property
    def value_width(self) -> int:
        return self.request.value_width

    @property
    def narrow(self) -> bool:
        """d_v < m: what holds then rests on the columns that the values pick."""
        return self.value_width < self.data.m

    @property
    def r(self) -> int:
        return self.method.r(self.data, self.request.head_width)

    def at(self, stage: str) -> Progress:
        return partial(self.progress, stage)

    def capacity_claims(self, heads: int) -> list[Claim]:
        """T is at most what the theorem places, where it says how many."""
        bound, source = self.method.bound, self.method.source
        if bound is None:
            return []
        check = partial(hypotheses.capacity, self.data.T, heads, self.r, bound, source)
        return [timed(check)]

    @property
    def produced_by(self) -> dict[str, Any]:
        """What a certificate says of its origin."""
        return produced_by(self.call or self.question.line(), self.question.seed)

    def setup(self, built: Construction | None = None, device: Device | None = None) -> Setup:
        """What the report says was built."""
        data, method = self.data, self.method
        heads = len(built.layer.heads) if built else self.request.heads
        width = built.head_width if built else self.request.head_width
        count = parameter_count(data.d, data.m, heads, width, self.value_width) if heads else None
        voice, bound = method.voice, method.bound
        return Setup(
            construction=method.name,
            claim=self.question.claim,
            heads=heads,
            head_width=width,
            value_width=self.value_width,
            r=self.r,
            outline=method.outline,
            voice=replace(
                voice,
                title=method.title,
                theorem=voice.theorem or method.theorem,
                source=voice.source or method.source,
            ),
            certificate_name=method.certificate_name,
            capacity=method.places(heads, self.r),
            parameters=count,
            usable_width=bound.r.replace(",", ", ") if bound and "d_h" in bound.r else "",
            device=device.kind if device else "cpu",
            rank_memory=f"{self.question.memory:g} GiB" if device else None,
            regrouped=bool(built and built.regrouped),
            remarks=method.remarks(data, built) if built else {},
        )


def _request(data: Dataset, question: Prove, method: Method) -> Request:
    """What the construction can be asked is known from its record alone. Raises InputError."""
    only, width, bits = method.only_width, question.head_width, question.saturate
    if only is not None and width not in (None, only):
        raise InputError("head_width", f"{only} with construction {method.name}", width)
    if bits is not None and not method.saturates:
        names = " or ".join(other.name for other in registry.methods() if other.saturates)
        instead = f"with construction {method.name}, whose heads steer no example"
        raise InputError("saturate", f"given with construction {names}", instead)
    if question.saturate_own and method.saturates != "own":
        instead = f"with construction {method.name}"
        raise InputError("saturate_own", "given with construction paper", instead)
    return Request(
        heads=question.heads,
        head_width=method.head_width(data, width),
        value_width=question.value_width or data.m,
        vertices=question.vertices,
        saturation=None if bits is None else Saturation(bits, question.saturate_own),
        seed=question.seed,
    )

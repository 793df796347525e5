"""One run of `prove`: a question, data and a construction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from attncert.constructions.construction import BuiltLayer
from attncert.constructions.data.dataset import Dataset
from attncert.constructions.errors import InputError
from attncert.constructions.layer import parameter_count, require_size
from attncert.constructions.progress import StageProgress, silent
from attncert.verify.claims.proof import Setup
from attncert.verify.provenance.rounded import on_grid
from attncert.verify.questions.prove import Prove
from attncert.verify.rank.engines.devices import Device
from attncert.verify.statements.construction import Construction, LayerTheorem, Request, Task
from attncert.verify.statements.registry import errors_of

_OPTIONS = "heads", "head_width", "saturate", "beta", "round", "before"


@dataclass(frozen=True, kw_only=True)
class Run(Task):
    """The task of a question."""

    question: Prove

    @classmethod
    def of(
        cls,
        data: Dataset,
        question: Prove,
        construction: Construction,
        progress: StageProgress = silent,
    ) -> Run:
        """The run that answers `question` about these data with this construction. Raises
        InputError for missing labels, and for options that the construction does not take.
        """
        _require_options(question, construction, data)
        if not question.unlabelled:
            _ = data.labels  # raises InputError if there are no labels
        if ":" not in question.construction:
            question = replace(question, construction=construction.name)
        theorem = construction.layer or LayerTheorem()
        request = Request(
            heads=question.heads,
            head_width=question.head_width or theorem.width(data.n),
            value_width=question.value_width or data.m,
            saturation=question.saturate,
            beta=Fraction(question.beta) if question.beta else None,
            seed=question.seed,
            progress=partial(progress, "building heads"),
        )
        if request.heads:
            require_size(data.d, data.m, request.heads, request.head_width, request.value_width)
        with errors_of(construction, "subject", data):
            data = construction.subject(data, request)
        if question.round is not None:
            data = on_grid(data, Fraction(question.round))
        return cls(
            data=data,
            construction=construction,
            request=request,
            progress=progress,
            question=question,
        )

    @property
    def value_width(self) -> int:
        return self.request.value_width

    @property
    def narrow(self) -> bool:
        """Whether d_v < m. The answer then rests on the columns that the values pick."""
        return self.value_width < self.data.m

    def setup(self, built: BuiltLayer | None = None, device: Device | None = None) -> Setup:
        data, construction, theorem = self.data, self.construction, self.theorem
        heads = len(built.layer.heads) if built else self.request.heads
        width = built.layer.head_width if built else self.request.head_width
        count = parameter_count(data.d, data.m, heads, width, self.value_width) if heads else None
        return Setup(
            construction=construction.name,
            claim=self.question.claim,
            heads=heads,
            head_width=width,
            value_width=self.value_width,
            r=self.r,
            capacity=theorem.places(heads, self.r),
            parameters=count,
            device=device.kind if device else "cpu",
            regrouped=bool(built and built.regrouped),
        )


def _require_options(question: Prove, construction: Construction, data: Dataset) -> None:
    """Raises InputError for options that the construction does not take. A fixed head width may be
    given as an option."""
    of_domain = any(getattr(x, "of_domain", False) for x in construction.claims)
    if question.dask and not of_domain and construction.layer is None:
        must = f"left out for the construction {construction.name} (no layer, no domain)"
        raise InputError("dask", must, question.dask)
    theorem = construction.layer
    usual = {} if theorem is None else {"head_width": theorem.width(data.n)}
    for option in _OPTIONS:
        setting = getattr(question, option)
        if setting and option not in construction.options and setting != usual.get(option):
            raise InputError(option, f"left out for the construction {construction.name}", setting)

"""Errors in the three routes of the final check.

Here the final check is what is tested: its routes are broken, one by one or two together. A route
that finds every layer right must be contradicted by those that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from types import ModuleType
from typing import Any
from unittest.mock import patch

import mpmath
from flint import fmpq_mat

from attncert.constructions.data.dataset import Dataset
from attncert.constructions.layer import Head
from attncert.constructions.readout.solve import right_inverse
from attncert.verify.audit.defects.defect import Defect, Family, Fired, failing
from attncert.verify.audit.defects.layers import Finished, finished
from attncert.verify.audit.defects.runs import width_one
from attncert.verify.audit.defects.spoil import with_label
from attncert.verify.claims import ids
from attncert.verify.interpolation import multiprecision, rational, symbolic

Broken = tuple[ModuleType, str, Callable[..., Any]]  # a function of a module, and what replaces it
MODULES = {"rational": rational, "symbolic": symbolic, "multiprecision": multiprecision}


@dataclass(frozen=True)
class Routed:
    """A finished layer, and what is broken while its routes run."""

    run: Finished
    broken: tuple[Broken, ...] = ()


def fired(routed: Routed) -> Fired:
    """Routes that do not confirm the equality."""
    data, layer = routed.run.data, routed.run.layer
    with ExitStack() as stack:
        for module, name, function in routed.broken:
            stack.enter_context(patch.object(module, name, function))
        claims = [
            rational.rational(data, layer),
            symbolic.symbolic(data, layer, _right_inverse()),
            multiprecision.multiprecision(data, layer),
        ]
    return failing(claims)


def correct() -> Routed:
    return Routed(finished("width one"))


@cache
def _right_inverse() -> fmpq_mat:
    run = width_one("short heads")
    return right_inverse(run.construction, run.data)


def blind(*names: str) -> Routed:
    """A wrong label, and these routes find every layer right."""
    run = finished("width one")
    wrong = replace(run, data=with_label(run.data, 3, 0, Fraction(1, 10**9)))
    return Routed(wrong, tuple(_yes(MODULES[name], name, run) for name in names))


def _yes(module: ModuleType, name: str, right: Finished) -> Broken:
    """The route, looking at the correct layer whatever it is shown."""
    route = getattr(module, name)
    return module, name, lambda data, layer, *rest: route(right.data, right.layer, *rest)


def base_four() -> Routed:
    """The symbolic route with twice each logit."""
    softmax = symbolic._softmax
    return _breaking(symbolic, "_softmax", lambda logits: softmax([2 * k for k in logits]))


def base_e() -> Routed:
    """The multiprecision route without the factor ln 2."""

    def context(precision: int) -> Any:
        made = mpmath.MPContext()
        made.prec, made.ln2 = precision, made.mpf(1)
        return made

    return _breaking(multiprecision, "context", context)


def too_few_digits() -> Routed:
    """Half the bits that the tolerance was derived for."""
    context = multiprecision.context
    return _breaking(multiprecision, "context", lambda bits: context(bits // 2))


def first_logit_off() -> Routed:
    logits = rational._logits

    def wrong(head: Head, data: Dataset) -> Any:
        table, exception = logits(head, data)
        return [[table[0][0] + 1, *table[0][1:]], *table[1:]], exception

    return _breaking(rational, "_logits", wrong)


def first_output_off() -> Routed:
    evaluate = multiprecision._evaluate

    def wrong(*arguments: Any) -> Iterator[Any]:
        rows = evaluate(*arguments)
        outputs, rests = next(rows)
        yield [outputs[0] + 1, *outputs[1:]], rests
        yield from rows

    return _breaking(multiprecision, "_evaluate", wrong)


def _breaking(module: ModuleType, name: str, function: Callable[..., Any]) -> Routed:
    return replace(correct(), broken=((module, name, function),))


_R, _S, _M = ids.RATIONAL, ids.SYMBOLIC, ids.MULTIPRECISION

ROUTES = Family(
    name="routes",
    title="The three routes of the final check",
    checks=(_R, _S, _M),
    fired=fired,
    correct={"width one": correct},
    defects=(
        Defect("a wrong label, and only the rational route sees", _R,
               partial(blind, "symbolic", "multiprecision")),
        Defect("a wrong label, and only the symbolic route sees", _S,
               partial(blind, "rational", "multiprecision")),
        Defect("a wrong label, and only the multiprecision route sees", _M,
               partial(blind, "rational", "symbolic")),
        Defect("rational route: one logit off by one", _R, first_logit_off),
        Defect("symbolic route: softmax with base 4", _S, base_four),
        Defect("multiprecision route: softmax with base e", _M, base_e),
        Defect("multiprecision route: too few digits", _M, too_few_digits),
        Defect("multiprecision route: one output off by one", _M, first_output_off),
    ),
)  # fmt: skip

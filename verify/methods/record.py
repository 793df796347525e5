"""What a construction's record must be: checked when it is made, each fault in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import networkx as nx

from attncert.constructions.errors import InputError
from attncert.verify.methods.statements import Hypothesis, Step

_NAME = re.compile("[a-z][a-z0-9]*(-[a-z0-9]+)*")
_STATEMENT = re.compile("[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*")


def require_record(construction: Any) -> None:
    """Raises InputError at the first fault."""
    for field, must, got in _faults(construction):
        raise InputError(f"construction: {field}", must, got)


def _faults(construction: Any) -> Iterator[tuple[str, str, object]]:
    """Field, what it must be, and what it is."""
    for field in ("name", "title", "theorem", "source"):
        text = getattr(construction, field)
        if not isinstance(text, str):
            yield field, "a text", type(text).__name__
    if not _NAME.fullmatch(construction.name):
        yield "name", "in lower case, like my-heads", construction.name
    for field in ("build", "subject", "adapt"):
        if not callable(getattr(construction, field)):
            yield field, "a function", type(getattr(construction, field)).__name__
    for field, kind in (("hypotheses", Hypothesis), ("steps", Step)):
        yield from _statements(field, getattr(construction, field), kind)
    if not isinstance(construction.promises, Mapping):
        yield "promises", "functions by name", type(construction.promises).__name__
    if not construction.claims or not all(hasattr(x, "concluded") for x in construction.claims):
        yield "claims", "one or more, such as Exact()", construction.claims
    elif len({type(claim) for claim in construction.claims}) < len(construction.claims):
        yield "claims", "of different kinds", construction.claims
    yield from _premises(construction.hypotheses, construction.steps)


def _statements(field: str, named: Any, kind: Any) -> Iterator[tuple[str, str, object]]:
    if not isinstance(named, Mapping):
        yield field, f"{kind.__name__} records by name", type(named).__name__
        return
    for name, statement in named.items():
        if not (isinstance(name, str) and _STATEMENT.fullmatch(name)):
            yield field, "named by words joined by hyphens", name
        if not isinstance(statement, kind):
            yield f"{field}: {name}", f"a {kind.__name__}", type(statement).__name__
        elif not (isinstance(statement.sentence, str) and callable(statement.relations)):
            yield f"{field}: {name}", "a sentence and a function", statement.sentence
        elif getattr(statement, "each", "") not in ("", "head", "group", "block"):
            yield f"{field}: {name}: each", "head, group or block", statement.each


def _premises(
    hypotheses: Mapping[str, Hypothesis], steps: Mapping[str, Step]
) -> Iterator[tuple[str, str, object]]:
    """Premises that are neither, a name that is both, and steps that rest on themselves."""
    if both := sorted(set(hypotheses) & set(steps)):
        yield "steps", "named unlike every hypothesis", both[0]
    for name, step in steps.items():
        for premise in step.rests_on:
            if premise not in hypotheses and premise not in steps:
                yield f"steps: {name}: rests_on", "names of hypotheses and steps", premise
    graph = nx.DiGraph((premise, name) for name, step in steps.items() for premise in step.rests_on)
    if not nx.is_directed_acyclic_graph(graph):
        circle = " -> ".join(a for a, _ in nx.find_cycle(graph))
        yield "steps", "such that none rests on itself", circle

"""Imports go one way: constructions, verify, reports, the command line; there is no circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx
import pytest
from support.paths import ROOT

STOREYS = ("constructions", "verify", "reports")


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All inside it; the expressions, of which most nodes are, hold none."""
    for inner in ast.iter_child_nodes(node):
        if not isinstance(inner, ast.expr):
            yield inner
            yield from statements(inner)


@cache
def imported(text: str) -> set[str]:
    """The parts of `attncert` that a module names in imports, late ones and those for types too."""
    found: set[str] = set()
    for node in statements(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name.removeprefix("attncert.") for name in found if name.startswith("attncert")}


def upward(storey: str, names: set[str]) -> set[str]:
    above = {
        *STOREYS[STOREYS.index(storey) + 1 :],
        "cli",
        "app",
        "commands",
        "progress",
        "attncert",
    }
    return {name for name in names if name.split(".")[0] in above}


def modules(storey: str) -> list[Path]:
    return sorted((ROOT / storey).rglob("*.py"))


@pytest.mark.parametrize("storey", STOREYS)
def test_no_module_imports_from_above(storey: str) -> None:
    found = {path: upward(storey, imported(path.read_text())) for path in modules(storey)}
    assert {path: names for path, names in found.items() if names} == {}


def test_modules_have_no_circle() -> None:
    files = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for storey in STOREYS
        for path in modules(storey)
    }
    arrows = {
        (name, other)
        for name, path in files.items()
        for other in imported(path.read_text()) & files.keys()
        if not (files[other].name == "__init__.py" and name.startswith(f"{other}."))
    }
    graph = nx.DiGraph(arrows)
    assert graph.number_of_edges() > 500
    assert [c for c in nx.strongly_connected_components(graph) if len(c) > 1] == []


def test_it_fires() -> None:
    late = "def f():\n    from attncert.reports import folder\n"
    assert upward("verify", imported(late)) == {"reports", "reports.folder"}
    assert upward("reports", imported(late)) == set()
    assert upward("constructions", imported("import attncert.verify.prove as p")) == {
        "verify.prove"
    }

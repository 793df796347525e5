"""Imports go one way: from constructions to verify, reports and the command line."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx
import pytest
from support.paths import ROOT

PACKAGES = ("constructions", "verify", "reports")


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements inside a node. Most nodes are expressions, which contain no statements."""
    for inner in ast.iter_child_nodes(node):
        if not isinstance(inner, ast.expr):
            yield inner
            yield from statements(inner)


@cache
def imported(text: str) -> set[str]:
    """The parts of `attncert` that a module imports, including late imports and those for types."""
    found: set[str] = set()
    for node in statements(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name.removeprefix("attncert.") for name in found if name.startswith("attncert")}


def upward(package: str, names: set[str]) -> set[str]:
    above = {
        *PACKAGES[PACKAGES.index(package) + 1 :],
        "cli",
        "app",
        "commands",
        "progress",
        "attncert",
    }
    return {name for name in names if name.split(".")[0] in above}


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_imports_from_above(package: str) -> None:
    found = {path: upward(package, imported(path.read_text())) for path in modules(package)}
    assert {path: names for path, names in found.items() if names} == {}


def arrows() -> set[tuple[str, str]]:
    """Pairs of modules such that the first imports the second."""
    files = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for part in PACKAGES
        for path in modules(part)
    }
    return {
        (name, other)
        for name, path in files.items()
        for other in imported(path.read_text()) & files.keys()
        if not (files[other].name == "__init__.py" and name.startswith(f"{other}."))
    }


def circles(pairs: set[tuple[str, str]]) -> list[set[str]]:
    graph = nx.DiGraph(pair for pair in pairs if pair[0] != pair[1])
    return [circle for circle in nx.strongly_connected_components(graph) if len(circle) > 1]


def test_modules_have_no_circle() -> None:
    assert len(arrows()) > 500
    assert circles(arrows()) == []


@pytest.mark.parametrize(
    ("top", "more_than"), [("constructions", 15), ("verify", 15), ("reports", 6)]
)
def test_packages_have_no_circle(top: str, more_than: int) -> None:
    pairs = {(one, other) for one, other in arrows() if one.startswith(f"{top}.")}
    inner = {(one, other) for one, other in pairs if other.startswith(f"{top}.")}
    packages = {(one.split(".")[1], other.split(".")[1]) for one, other in inner}
    known = {pair for pair in packages if pair[0] != pair[1]}
    assert len({name for pair in known for name in pair}) > more_than
    assert circles(known) == []

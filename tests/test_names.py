"""Names and folders: values are nouns, a class has its own name, folders are small."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from support.paths import ROOT

STOREYS = ("constructions", "verify", "reports", "attncert")
BANNED = frozenset([
    "found", "made", "told", "asked", "shown", "seen", "given", "kept", "wanted", "said", "taken",
    "done", "got", "result", "item", "res",
])  # fmt: skip
# A head has value and output weights, a product a left side: these three are words of the field
# where weights are built and confirmed, and banned where answers are written and printed.
OF_THE_FIELD = frozenset(["output", "value", "left"])
WRITTEN = ("reports", "attncert")
MOST_BANNED = 8
MOST_MODULES = 16
DEEPEST = 3
DOUBLED = {"Attention", "Inputs", "Network", "Part"}  # to be told apart


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for storey in STOREYS:
        for path in sorted((ROOT / storey).rglob("*.py")):
            if not any(part.is_symlink() for part in path.parents):
                yield path.relative_to(ROOT), ast.parse(path.read_text("utf-8"))


def names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Variables that are set, parameters, functions and classes; not the fields of a record, which
    may be those of a file."""
    fields = {
        id(statement.target)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and id(node) not in fields
        ):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node.lineno


def banned(path: Path, tree: ast.AST) -> list[str]:
    words = BANNED | OF_THE_FIELD if path.parts[0] in WRITTEN else BANNED
    return [f"{path}:{line} {name}" for name, line in names(tree) if name in words]


def test_values_are_nouns() -> None:
    places = [place for path, tree in modules() for place in banned(path, tree)]
    assert len(places) <= MOST_BANNED, "\n".join(places)


def test_a_banned_name_is_seen() -> None:
    planted = ast.parse("def f(asked):\n    found = value = asked\n    return found, value\n")
    assert banned(Path("verify/x.py"), planted) == ["verify/x.py:1 asked", "verify/x.py:2 found"]
    assert len(banned(Path("reports/x.py"), planted)) == 3


def test_a_class_has_a_name_of_its_own() -> None:
    places = defaultdict(list)
    for path, tree in modules():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path))
    assert {name for name, paths in places.items() if len(paths) > 1} <= DOUBLED


def test_folders_are_small() -> None:
    folders = defaultdict(list)
    for path, _ in modules():
        folders[path.parent] += [path.name] if path.name != "__init__.py" else []
    assert {
        str(folder): len(names) for folder, names in folders.items() if len(names) > MOST_MODULES
    } == {}
    assert [str(folder) for folder in folders if len(folder.parts) > DEEPEST] == []

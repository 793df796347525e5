"""Write the list of files in docs/architecture.md again: `python docs/make_house.py`.

The list is the first line of every module, room by room, so that it cannot say anything else than
the modules do.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
STOREYS = ("constructions", "verify", "reports", "attncert")
BEGIN = "<!-- every file, from its own first line: python docs/make_house.py -->\n"
END = "<!-- end of the list -->\n"


def page() -> str:
    """architecture.md with the list as it must be now."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "".join(_rooms()) + END + after


def _rooms() -> Iterator[str]:
    for storey in STOREYS:
        for room in sorted({path.parent for path in modules(storey)}):
            files = [path for path in modules(storey) if path.parent == room]
            yield f"\n**`{room.relative_to(ROOT)}/`** {first_line(room / '__init__.py')}\n\n"
            yield from (
                f"- `{path.name}` {first_line(path)}\n"
                for path in files
                if path.name != "__init__.py"
            )
    yield "\n"


@cache
def modules(storey: str) -> list[Path]:
    """All modules of a storey, in order; what it only links to belongs to the storey itself."""
    return sorted(path for path in (ROOT / storey).rglob("*.py") if not _linked(path))


@cache
def first_line(path: Path) -> str:
    """The first line of a module's docstring, '' without one."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return text.partition("\n\n")[0].replace("\n", " ")


def _linked(path: Path) -> bool:
    return any((ROOT / parent).is_symlink() for parent in path.relative_to(ROOT).parents)


if __name__ == "__main__":
    PAGE.write_text(page())

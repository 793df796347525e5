"""The site in build/site: the repository's pages, a reference for the interface, and the checker
for a browser. `make docs` runs this; package.json lists what it takes from npm."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build"
PAGES, NPM, SITE = BUILD / "pages", BUILD / "npm", BUILD / "site"
COPIED = ("CONTRIBUTING.md", "CHANGELOG.md", "constructions/data/README.md", "examples", "docs")
LEFT_OUT = shutil.ignore_patterns("site", "*.py", "__pycache__")
PYODIDE = (
    "pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"
)  # fmt: skip
# The section of the reference for the public names of each package.
PACKAGES = {
    "questions": "Questions",
    "verify": "Answers and claims",
    "constructions": "Data, layers and constructions",
    "reports": "Reports and the command line",
}
ALONE = "    options: {members: false}\n"


def main() -> None:
    shutil.rmtree(PAGES, ignore_errors=True)
    stage_pages()
    fetch()
    stage_checker()
    (PAGES / "reference.md").write_text(reference(), "utf-8")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    command += ["--config-file", str(HERE / "mkdocs.yml")]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    if subprocess.run(command, cwd=ROOT, env=quiet).returncode:
        raise SystemExit(1)
    print(f"The site: python -m http.server --directory {SITE.relative_to(ROOT)}")


def stage_pages() -> None:
    """Every page at its own path, so that links between pages stay as they are."""
    PAGES.mkdir(parents=True)
    for name in COPIED:
        source, copy = ROOT / name, PAGES / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=LEFT_OUT)
        else:
            shutil.copyfile(source, copy)
    title, rest = (ROOT / "README.md").read_text("utf-8").split("\n", 1)
    doors = (HERE / "doors.html").read_text("utf-8")
    (PAGES / "README.md").write_text(f"{title}\n\n{doors}\n{rest}", "utf-8")
    shutil.copytree(HERE / "assets", PAGES / "assets")


def fetch() -> None:
    """Install what package.json pins, unless it is installed."""
    wanted, there = HERE / "package.json", NPM / "node_modules" / "fetched.json"
    if not there.exists() or there.read_bytes() != wanted.read_bytes():
        shutil.rmtree(NPM, ignore_errors=True)
        NPM.mkdir(parents=True)
        shutil.copy(wanted, NPM)
        quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(["npm", "install", "--ignore-scripts", *quiet], cwd=NPM, check=True)
        shutil.copyfile(wanted, there)
    modules = NPM / "node_modules"
    shutil.copy(modules / "@mermaid-js/tiny/dist/mermaid.tiny.js", PAGES / "assets")


def stage_checker() -> None:
    """The page, its worker, Python for a browser, and the checker's own files in an archive."""
    folder = PAGES / "check"
    shutil.copyfile(HERE / "check.md", PAGES / "check.md")
    shutil.copytree(HERE / "check", folder)
    (folder / "pyodide").mkdir()
    for name in PYODIDE:
        shutil.copy(NPM / "node_modules" / "pyodide" / name, folder / "pyodide")
    with zipfile.ZipFile(folder / "checker.zip", "w") as archive:
        for path in sorted((ROOT / "verify" / "checker").glob("*.py")):
            archive.write(path, f"checker/{path.name}")


def reference() -> str:
    """A page with every name in `attncert/__init__.pyi`, each described by its docstring."""
    names: dict[str, list[str]] = {package: [] for package in PACKAGES}
    for line in ast.parse((ROOT / "attncert" / "__init__.pyi").read_text("utf-8")).body:
        if isinstance(line, ast.ImportFrom):
            parts = (line.module or line.names[0].name).split(".")
            package = next((x for x in PACKAGES if x in parts), "reports")
            names[package] += [str(alias.asname) for alias in line.names]
    parts = ["# Reference\n\nThe names in `import attncert`. [Options](docs/commands.md).\n"]
    for package, heading in PACKAGES.items():
        parts.append(f"## {heading}\n")
        parts += [f"::: attncert.{name}\n{ALONE * (name in PACKAGES)}" for name in names[package]]
    return "\n".join(parts)


if __name__ == "__main__":
    main()

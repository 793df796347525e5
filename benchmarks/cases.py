"""Runs each benchmark case in its own process, to measure its peak memory and limit its time."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def asked(
    parser: argparse.ArgumentParser,
    out: str,
    run: Callable[[dict[str, Any]], dict[str, Any]],
    markdown: Callable[[dict[str, Any]], str],
) -> argparse.Namespace:
    """The parsed arguments. The process ends here if it only runs one case or shows the table."""
    parser.add_argument("--table", action="store_true", help="show the results as a table")
    parser.add_argument("--out", default=out)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps(run(json.loads(arguments.case))))
        raise SystemExit
    if arguments.table:
        name = Path(sys.argv[0]).name
        show(name, markdown(json.loads(Path(arguments.out).read_text())))
        raise SystemExit
    return arguments


def in_own_process(script: str, case: dict[str, Any], limit_s: float) -> dict[str, Any]:
    """The case, then the JSON that `script --case CASE` prints, or "not within N s".

    `total_s` is the time of the whole process, imports included.
    """
    started = time.perf_counter()
    command = [sys.executable, script, "--case", json.dumps(case)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=limit_s)
    except subprocess.TimeoutExpired:
        row = case | {"outcome": f"not within {limit_s:g} s"}
    else:
        if done.returncode:
            raise SystemExit(f"{script}: the case {case} failed")
        row = case | json.loads(done.stdout)
        row["total_s"] = round(time.perf_counter() - started, 2)
    print(row, file=sys.stderr, flush=True)
    return row


def command(script: str) -> str:
    """The command as typed, without paths."""
    words = [word for word in sys.argv[1:] if "/" not in word and word != "--out"]
    return " ".join(["python", f"benchmarks/{Path(script).name}", *words])


def write(result: dict[str, Any], out: str) -> None:
    """Write sorted JSON to a temporary file, and move it into place."""
    path = Path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n")
    temporary.replace(path)
    print(f"written: {path}", file=sys.stderr)


def table(headings: list[str], rows: list[list[Any]]) -> str:
    """A table in Markdown, with columns aligned to the right."""
    lines = [headings, ["---:"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(str(x) for x in line) + " |" for line in lines)


def show(name: str, text: str) -> None:
    """Print a table, and put it between the markers for `name` in a page that has them."""
    print(text)
    root = Path(__file__).resolve().parent.parent
    begin, end = f"<!-- {name} -->\n", "<!-- end -->"
    pages = (root / "docs" / "performance.md", root / "benchmarks" / "README.md")
    for path in pages:
        before, found, rest = path.read_text().partition(begin)
        if found:
            path.write_text(f"{before}{begin}{text}\n{end}{rest.partition(end)[2]}")

"""python checker certificate.json [--json]"""

import argparse
import importlib.util
import json
import os
import sys
from contextlib import suppress
from typing import Any


def package() -> Any:
    """Import this folder as a package, wherever it is."""
    if __package__:
        return importlib.import_module(__package__)
    sys.dont_write_bytecode = True  # leave a report folder unchanged
    with suppress(OSError):  # Python cached this file before running it
        cached = importlib.util.cache_from_source(__file__)
        os.remove(cached)
        os.rmdir(os.path.dirname(cached))
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [x for x in sys.path if os.path.abspath(x) != folder]
    start = os.path.join(folder, "__init__.py")
    spec: Any = importlib.util.spec_from_file_location("checker", start)
    sys.modules["checker"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["checker"])
    return sys.modules["checker"]


def main(argv: list[str] | None = None) -> int:
    checker = package()
    parser = argparse.ArgumentParser(prog="checker", usage=argparse.SUPPRESS)
    parser.add_argument("file")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--limit-seconds", type=float, default=checker.LIMIT_SECONDS)
    parser.add_argument("--limit-mib", type=float, default=checker.LIMIT_MIB)
    options = parser.parse_args(argv)
    limits = options.limit_seconds, options.limit_mib
    verdict = checker.check_file(options.file, *limits)
    line = json.dumps(verdict._asdict()) if options.json else f"{verdict.status}: {verdict.message}"
    try:
        print(line, flush=True)
    except OSError:  # the disk is full or the pipe closed, so the answer was not written
        return int(checker.EXIT["unusable"])
    return int(checker.EXIT[verdict.status])


if __name__ == "__main__":
    raise SystemExit(main())

"""A certificate in words, for someone who has never seen the project.

What the file claims and about what, how that is proved, what it leaves open, and whether it was
checked just now. Every statement is taken from the contents of the file (explain.j2); its own
description, `construction` and `produced_by`, is only quoted.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import jinja2

from attncert.constructions.errors import InputError
from attncert.constructions.foreign import printable
from attncert.reports.words.templating import page
from attncert.verify import checker
from attncert.verify.checker.claims import data_keys, parse, with_layer
from attncert.verify.checker.origin import data_file
from attncert.verify.claims.words import counted, listed

_NO_WORDS = "This cannot be explained: a part of the file is not what the format requires."
_WIDTH = 88
_MALFORMED = (
    LookupError, TypeError, ValueError, AttributeError, ArithmeticError, jinja2.TemplateError,
    checker.Rejected,
)  # fmt: skip
_HEADINGS = ("What it claims", "What it is about", "Why that can be proved", "What it does not say")
_TERMS = 6  # the number of terms of a relation that are written out
_LENGTH = 24  # the longest number that is written out


@dataclass(frozen=True, repr=False)
class Explanation:
    """Headings with one paragraph each, the checker's status, and its message."""

    file: str
    claim: str
    status: str
    message: str
    parts: tuple[tuple[str, str], ...]
    certificate: Mapping[str, Any]

    @property
    def exit_status(self) -> int:
        return checker.EXIT[self.status]

    def as_dict(self) -> dict[str, Any]:
        keys = ("claim", "construction", "dims", "input_sha256", "produced_by")
        return {
            "file": self.file,
            "status": self.status,
            "message": self.message,
            "explanation": {heading.lower(): body for heading, body in self.parts},
        } | {key: self.certificate[key] for key in keys}


def explain(path: str, *, name: str = "", limit_seconds: float = 600.0) -> Explanation:
    """The certificate at `path`, with the status of the checker. name: the file's name in messages.
    Raises InputError if the file is not a certificate."""
    name = name or path
    try:
        limits = checker.Limits(math.inf, checker.LIMIT_MIB)
        content = parse(path, limits)
        whole, other = _with_data(content, path, limits)
    except checker.Rejected as rejected:
        status, message = rejected.args
        if status == "over limit":
            must = "an attncert certificate short enough to be read"
            raise InputError(name, must, message) from None
        raise _unusable(name, message) from None
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise InputError(name, "an attncert certificate", f"unreadable ({reason})") from None
    if other is None:
        verdict = checker.check_file(path, limit_seconds)
        other = verdict.status, verdict.message
    status, message = other
    if status == "unusable":
        raise _unusable(name, message)
    try:
        whole = with_layer(whole)
        said = [*_said(whole)]
    except _MALFORMED:
        said = [(heading, _NO_WORDS) for heading in _HEADINGS]
    parts = (
        *said,
        ("Where it comes from", _origin(content)),
        ("Checked now", _checked(content, status, message)),
    )
    return Explanation(path, content["claim"], status, message, parts, whole)


def _unusable(name: str, message: str) -> InputError:
    """The error for a file that breaks a rule of its format."""
    return InputError(name, "as its format requires", message, printable(message, 120))


def _with_data(
    content: dict[str, Any], path: str, limits: checker.Limits
) -> tuple[dict[str, Any], tuple[str, str] | None]:
    """The certificate with its data, read from the file beside it if it names one, and "wrong"
    with a message if that file does not match. Raises Rejected."""
    if not content["data_file"]:
        return content, None
    try:
        data = data_file(content, path, limits, None, partial(data_keys, content))
    except checker.Rejected as rejected:
        if rejected.args[0] != "wrong":
            raise
        return content, rejected.args
    return content | {"data": data}, None


def _said(cert: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The headings and paragraphs of the template."""
    files = sorted(Path(checker.__file__).parent.glob("*.py"))
    terms, domain = _terms(cert), cert.get("domain") or {"letters": []}
    context = {
        "cert": cert,
        "lines": sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files),
        "blocks": _blocks(cert.get("network") or []),
        "terms": [index for index, _ in terms],
        "sum": partial(_sum, terms),
        "prompts": f"{math.prod(map(len, domain['letters'])):,}",
    }
    printed = partial(printable, limit=200)
    text = page("explain.j2", context, printed=printed, short=short, listed=listed).decode()
    for part in text.removeprefix("# ").split("\n# "):
        heading, _, body = part.partition("\n")
        yield heading, " ".join(body.split())


def text(explanation: Explanation) -> list[str]:
    """Lines for a terminal: headings and wrapped paragraphs, with blank lines between."""
    lines: list[str] = []
    for heading, body in explanation.parts:
        lines += ["", heading] if lines else [heading]
        lines += textwrap.wrap(body, _WIDTH, initial_indent="  ", subsequent_indent="  ")
    return lines


def _origin(cert: Mapping[str, Any]) -> str:
    origins = ", ".join(f"{key} {text}" for key, text in _origins(cert).items()) or "nothing"
    construction = printable(cert["construction"], 200)
    data = cert["data_file"]["name"] if cert.get("data_file") else "the data"
    return (
        f"The file describes itself as: construction {construction!r}; {origins}. None of this was "
        f"checked. SHA-256 of {data}: {cert['input_sha256']}."
    )


def _origins(cert: Mapping[str, Any]) -> dict[str, str]:
    producer = cert["produced_by"]
    fields = producer if isinstance(producer, dict) else {"by": producer}
    return {printable(key, 200): printable(text, 200) for key, text in fields.items()}


def _checked(cert: Mapping[str, Any], status: str, message: str) -> str:
    claim, files = cert["claim"], "file and the data beside it" if cert.get("data_file") else "file"
    near = "Yes, but the file does NOT prove the claim (which may still hold): "
    words = {
        "holds": f"Yes, from the {files} alone, and the claim holds: ",
        "wrong": near if claim == "interpolation-near" else "Yes, and the claim is WRONG: ",
        "over limit": "No, a limit was reached, so the claim is open: ",
    }
    return f"{words[status]}{message}."


def _terms(cert: Mapping[str, Any]) -> list[tuple[int, str]]:
    """The terms of a relation: the number of each vector or example, and its coefficient."""
    relation = cert.get("relation") or []
    if isinstance(relation, dict):
        return list(zip(relation["indices"], relation["coefficients"], strict=True))
    return [(t, c) for t, c in enumerate(relation) if c.partition("/")[0].strip("-0")]


def _blocks(network: list[Any]) -> str:
    kinds = [printable(block["kind"], 200) for block in network]
    runs = [f"{len(list(same))} {kind}" for kind, same in groupby(kinds)]
    return f"The network has {counted(len(kinds), 'block')}: {', then '.join(runs)}."


def _sum(terms: list[tuple[int, str]], symbol: str) -> str:
    """2·x(3) - x(5) ... with the first few terms."""
    text = ""
    for k, (index, coefficient) in enumerate(terms[:_TERMS]):
        negative = coefficient.startswith("-")
        size = coefficient.removeprefix("-")
        factor = "" if size == "1" else f"{short(size)}·"
        sign = ("-" if negative else "") if k == 0 else (" - " if negative else " + ")
        text += f"{sign}{factor}{symbol}({index})"
    more = len(terms) - _TERMS
    return f"{text} + ... ({counted(more, 'more term')})" if more > 0 else text


def short(x: str) -> str:
    return x if len(x) <= _LENGTH else f"{x[: _LENGTH - 9]}... ({len(x)} characters)"

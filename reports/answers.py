"""Turns an answer into its report: the parts that all reports share."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from attncert.constructions.foreign import escaped, printable
from attncert.reports.folder import write
from attncert.reports.report import PageParts, Report, Table, author_file, figure_file
from attncert.reports.words.claims import lines, readable
from attncert.reports.words.jsonable import jsonable, readable_json
from attncert.reports.words.levels import WORDING, legend
from attncert.reports.words.templating import page
from attncert.reports.words.text import markdown, plain, sentence
from attncert.verify.certificates.certificate import canonical_bytes
from attncert.verify.claims.answer import Answer
from attncert.verify.claims.evidence import Claim, Level
from attncert.verify.claims.words import counted
from attncert.verify.statements.registry import source_of

FORMAT = "attncert-answer/1"
# Modules of reports/pages; every other command uses the page of a proof.
_PAGES = ("assume", "attack", "audit", "capacity", "compare", "depth", "fit", "kruskal", "layer")
_FAILS = {
    Level.REFUTED: "is not valid for these data",
    Level.NOT_APPLICABLE: "does not apply to these data",
    Level.UNDECIDED: "is not decided",
}


def write_report(answer: Answer, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the report of any answer to `folder`; returns the paths. Raises InputError.

    Source: docs/architecture.md, whose section Evidence explains the levels.

    >>> from tempfile import TemporaryDirectory
    >>> from attncert import Dataset, Fit, fit
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    >>> with TemporaryDirectory() as folder:
    ...     paths = write_report(fit(data, Fit(heads=2)), folder)
    >>> "certificate.json" in [path.name for path in paths]
    True
    """
    return write(report(answer), folder)


def report(answer: Answer) -> Report:
    """The report of an answer. Pure: the same answer gives the same bytes, except in
    timings.json."""
    parts, summary, author = parts_of(answer), envelope(answer), _author(answer)
    hashed = author and (author[0], hashlib.sha256(author[1]).hexdigest())
    context = _context(answer) | {"author": hashed}
    exhibits = jsonable(dict(parts.exhibits))
    files = {
        "report.md": page(parts.template, context | dict(parts.context)),
        "answer.json": readable_json(summary | {"exhibits": exhibits}),
        "timings.json": readable_json(_timings(answer)),
        **{figure_file(name): svg for name, svg in parts.figures().items()},
        **parts.files(),
    }
    if author is not None:
        files[author[0]] = author[1]
    if answer.certificate is not None:
        files["certificate.json"] = canonical_bytes(answer.certificate)
    return Report(files, summary, _sentences(answer, parts), answer.exit_status)


def _author(answer: Answer) -> tuple[str, bytes] | None:
    """The source file of a third-party construction, so that a reader of the report can run it."""
    path = source_of(str(getattr(answer.question, "construction", "")))
    if path is None:
        return None
    return author_file(path.name), path.read_bytes()


def sentences_of(answer: Answer) -> str:
    return "\n".join(map(escaped, _sentences(answer, parts_of(answer))))


def _sentences(answer: Answer, parts: PageParts) -> tuple[str, ...]:
    return (verdict(answer), *proof_lines(answer), *further_lines(answer), *parts.more)


def parts_of(answer: Answer) -> PageParts:
    """The content of this answer's page. Each page is imported when it is written."""
    page = answer.report_page or answer.question.command
    module = f"pages.{page}" if page in _PAGES else "prove.page"
    parts: PageParts = import_module(f"attncert.reports.{module}").page_parts(answer)
    return parts


def verdict(answer: Answer) -> str:
    """The level and the statement in one line for a terminal, with the reason if the statement does
    not hold, and otherwise with further failures."""
    start, said = _said(answer)
    return " ".join([*start, *map(plain, said)])


def _said(answer: Answer) -> tuple[list[str], list[str]]:
    """The opener, if one is needed, and the sentences of the verdict."""
    statement = sentence(answer.statement)
    if answer.holds and (failing := next(_failing(answer), None)):
        return [], [f"{statement.removesuffix('.')} ({answer.standing.value}), but {failing}."]
    return [opener(answer)], [statement, *_why(answer, plain(statement))]


def opener(answer: Answer) -> str:
    """The words before the statement, with any assumptions that it rests on."""
    trace, below = answer.trace, answer.trace.ancestors(answer.conclusion)
    assumed = {c.id for c in trace if c.id in below and c.level is Level.ASSUMED}
    roots = [name for name in assumed if not trace.ancestors(name) & assumed]
    if answer.standing is Level.ASSUMED and roots:
        return f"Assuming {', '.join(sorted(roots))}:"
    return WORDING[answer.standing].opener


def _failing(answer: Answer) -> Iterator[str]:
    """The proof and the further claims that do not hold."""
    standing = answer.proof_standing
    if standing is not None and not standing.holds:
        yield f"the proof {_FAILS[standing]}"
    for claim in answer.further:
        level = answer.trace.standing(claim.id)
        if not level.holds:
            yield f"{claim.id} is {level.value}"


def _why(answer: Answer, line: str) -> list[str]:
    if answer.holds:
        return []
    below = answer.trace.ancestors(answer.conclusion)
    failing = [c for c in answer.trace.pivotal(answer.conclusion) if c.id in below]
    witness = (failing or [answer.claim])[0].witness or {}
    reasons = readable(witness) if {"reason", "coefficients"} & set(witness) else []
    sentences = [plain(sentence(text)) for text in reasons]
    return [x for x in sentences if x.rstrip(".").lower() not in line.lower()][:1]


def proof_lines(answer: Answer) -> tuple[str, ...]:
    """A line for a terminal: that the given proof is valid, or which statement fails first."""
    claim, standing = answer.proof_claim, answer.proof_standing
    if claim is None or standing is None:
        return ()
    failing = [answer.trace[name] for name in (claim.witness or {}).get("statements", ())]
    if not failing:
        return (_stands(answer, claim, standing),)
    first, more = failing[0], len(failing) - 1
    others = f", and {counted(more, 'other statement')} as well" if more else ""
    shown = [first.statement, *readable(first.witness or {})]
    words = " ".join(plain(sentence(text)) for text in shown)
    if claim.level is Level.REFUTED:
        return (f"The proof fails at {first.id}{others}. Refuted: {words}",)
    why = "vacuous (it yields no relation)" if first.level is Level.VACUOUS else first.level.value
    return (f"The proof needs {first.id}, which is {why}{others}: {words}",)


def further_lines(answer: Answer) -> tuple[str, ...]:
    """The further claims about the outputs, each on a line, with a witness if it does not hold."""
    lines = []
    for claim in answer.further:
        level = answer.trace.standing(claim.id)
        shown = [claim.statement, *([] if level.holds else readable(claim.witness or {}))]
        words = " ".join(plain(sentence(text)) for text in shown)
        lines.append(f"{claim.id}. {level.value.capitalize()}: {words}")
    return tuple(lines)


def _stands(answer: Answer, claim: Claim, standing: Level) -> str:
    """The statement that the proof is valid, with the weakest claim if it is not fully proved."""
    line = plain(sentence(claim.statement))
    weak = [name for name in claim.rests_on if answer.trace.standing(name) is standing]
    if not standing < Level.PROVED or not weak:
        return line
    return f"{line.removesuffix('.')}; it rests on {weak[0]}, which is {standing.value}."


def envelope(answer: Answer) -> dict[str, Any]:
    """The answer as data, JSON-able, without times and exhibits."""
    record = {
        "format": FORMAT,
        "command": answer.command,
        "standing": answer.standing.value,
        "conclusion": answer.conclusion,
        "statement": answer.statement,
        "verdict": verdict(answer),
        "proof": _proof(answer),
        "settings": answer.question.settings(),
        "claims": answer.trace.as_dict()["claims"],
        "certificate": None if answer.certificate is None else "certificate.json",
    }
    return jsonable(record)


def _proof(answer: Answer) -> dict[str, Any] | None:
    claim, standing = answer.proof_claim, answer.proof_standing
    if claim is None or standing is None:
        return None
    failing = list((claim.witness or {}).get("statements", ()))
    return {"standing": standing.value, "statement": claim.statement, "failing": failing}


def in_notebook(answer: Answer) -> str:
    """The Markdown for Jupyter: the text for a terminal, and the table.

    >>> from attncert import Dataset, Prove, prove
    >>> data = Dataset.of([[1, 0], [0, 1]], [[1, 2], [3, 1], [1, 1]], [5, "1/3", 7])
    >>> in_notebook(prove(data, Prove(heads=2)))[:54]
    '> **Proved.** The layer outputs exactly the label, $A('
    """
    parts, (start, said) = parts_of(answer), _said(answer)
    first = [*(f"**{words}**" for words in start), *map(_dollars, said)]
    beside = (*proof_lines(answer), *further_lines(answer), *parts.more)
    lines = [" ".join(first), *map(_dollars, beside)]
    quoted = "\n>\n".join(f"> {line}" for line in lines)
    return quoted if parts.table is None else f"{quoted}\n\n{_rows(parts.table)}"


def _rows(table: Table) -> str:
    head, *body = (f"| {' | '.join(map(_dollars, row))} |" for row in (table.columns, *table.rows))
    return "\n".join([head, f"|{' --- |' * len(table.columns)}", *body])


def _dollars(text: str) -> str:
    """Markdown with mathematics between dollars, as Jupyter reads it."""
    return markdown(text).replace("$`", "$").replace("`$", "$")


def _timings(answer: Answer) -> dict[str, Any]:
    seconds = {str(k): s for k, s in answer.trace.seconds().items()} | dict(answer.seconds)
    record = {
        "seconds": seconds,
        "seconds_in_all": round(math.fsum(seconds.values()), 6),
        "versions": dict(answer.versions),
    }
    return jsonable(record)


def _context(answer: Answer) -> dict[str, Any]:
    trace = answer.trace
    return {
        "answer": answer,
        "data": answer.data,
        "name": answer.data.name,
        "verdict": verdict(answer),
        "opener": opener(answer),
        "proof_lines": (*proof_lines(answer), *further_lines(answer)),
        "proof_fails": answer.proof_standing is not None and not answer.proof_standing.holds,
        "level": answer.standing.value.capitalize(),
        "meaning": WORDING[answer.standing].meaning,
        "lines": lines(trace),
        "levels": legend(x for c in trace for x in (c.level, trace.standing(c.id))),
        "command": printable(answer.command),
    }

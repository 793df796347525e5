"""With one example that has one token of width one, no page and no checker writes "1 examples"."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import attncert
from attncert.reports.answers import report, write_report
from attncert.reports.certificate.explain import explain
from attncert.verify.checking.fast.check import check_file as fast
from attncert.verify.claims.answer import Answer
from attncert.verify.questions.question import Question

ONE = attncert.Dataset.of([[[1]]], [[1]], [1])
NOUNS = (
    "example", "query", "context", "token", "vector", "head", "label", "dimension", "row", "column",
    "unknown", "subset", "equation", "weight", "step", "group", "permutation", "number", "start",
)  # fmt: skip
PLURALS = "|".join(f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s" for noun in NOUNS)
MANY = rf"(?<!\d of )\b1 (?!of|to|and|is)(\w+ )?({PLURALS})\b"
VERBS = rf"(?<!of )(?<!of the )(?<!of this )\b(1|one) ({'|'.join(NOUNS)}) (are|have|need)\b"
WRONG = re.compile(f"{MANY}|{VERBS}")
ASKED = (
    *(attncert.Prove(construction=x) for x in ("paper", "width-one", "affine", "generic", "relu")),
    attncert.Prove(claim="full-rank"),
    attncert.Fit(),
    attncert.Capacity(heads=1),
    attncert.Kruskal(k=1, subsets=1),
    attncert.Kruskal(subsets=1),
    attncert.Assume(heads=1, subsets=1),
    attncert.Compare(),
)


@pytest.mark.parametrize("question", ASKED, ids=repr)
def test_one_is_singular(question: Question, tmp_path: Path) -> None:
    answer: Answer = getattr(attncert, question.command)(ONE, question)
    said = [report(answer).files["report.md"].decode(), str(answer)]
    if answer.certificate is not None:
        write_report(answer, tmp_path / "out")
        path = str(tmp_path / "out/certificate.json")
        said += [attncert.check(path).message, fast(path).message, str(explain(path).parts)]
    text = re.sub(r"\s+", " ", " ".join(said))
    assert [match.group() for match in WRONG.finditer(text)] == []

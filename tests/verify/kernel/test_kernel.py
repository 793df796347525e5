"""The extracted checker gives the verdicts of the checker in Python, or `over limit`; the search
for gaps finds planted gaps.

If it is built, test_verdicts_agree.py also runs it on every file that the tests use.
"""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest
from support.requires import KERNEL, needed, verified_status
from support.small_certificates import CASES, sealed, written

from attncert.verify.certificates.coq.executable import check_file as verified
from attncert.verify.checker import check_file
from attncert.verify.checking.fast import check as fast


@pytest.fixture
def executable() -> None:
    needed()


def agreed(path: str) -> str:
    """The common verdict; "over limit" from the executable does not count."""
    expected = check_file(path)
    if expected.claim == "full-rank":
        assert fast.check_file(path).status == expected.status
    assert verified_status(path) in (expected.status, "over limit")
    return expected.status


@pytest.mark.usefixtures("executable")
@pytest.mark.parametrize(
    "text",
    ["", "{", "[" * 100_000, "[1, 2", '"\\u12"', "1e5", "{}x", "\x00", "[" + "1," * 200_000,
     '{"a":' * 70 + "1" + "}" * 70, "9" * 5000, '{"format": "attncert/3"}', '"' + "x" * 10**6],
)  # fmt: skip
def test_what_is_no_certificate_is_unusable(text: str, tmp_path: Path) -> None:
    path = written(text, tmp_path)
    assert check_file(path).status == "unusable"
    assert verified_status(path) in ("unusable", "over limit")


@pytest.mark.usefixtures("executable")
def test_another_format_is_refused_in_the_words_of_all_checkers(tmp_path: Path) -> None:
    path = written(sealed(CASES["full-rank"]() | {"format": "attncert/2"}), tmp_path)
    words = "format must be attncert/3"
    assert verified(path).message == f"verified: {words}"
    assert (check_file(path).message, fast.check_file(path).message) == (
        words,
        f"fast check: {words}",
    )


@pytest.mark.usefixtures("executable")
@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/", "no such file"])
def test_what_is_no_file_is_unusable(path: str) -> None:
    assert verified_status(path) == "unusable"


@pytest.mark.usefixtures("executable")
def test_long_lists_are_over_limit_in_bounded_time(tmp_path: Path) -> None:
    """Recursion over a long list would overflow the stack: lists are refused by length."""
    for items in (["1"] * 10**6, [str(k) for k in range(2 * 10**5)]):
        certificate = sealed(CASES["full-rank"]() | {"produced_by": items})
        started = time.process_time()
        assert verified_status(written(certificate, tmp_path)) == "over limit"
        assert time.process_time() - started < 30


@pytest.mark.usefixtures("executable")
def test_keys_and_texts_that_are_escaped(tmp_path: Path) -> None:
    """Escapes count as the characters that they stand for, so a repeated key is found."""
    certificate = sealed(CASES["full-rank"]() | {"produced_by": {"\u00e9\U0001f600\x7f\n": "\\"}})
    text = json.dumps(certificate)
    twice = text.replace('"claim":', '"claim": "x", "\\u0063laim":', 1)
    assert agreed(written(twice, tmp_path)) == "unusable"
    for other in (
        text,
        json.dumps(certificate, ensure_ascii=False, indent=3),
        text.replace('"claim"', '"\\u0063laim"'),
        text.replace('"full-rank"', '"full\\u002drank"'),
        text.replace('"\\ud83d', '"\\ud83d\\ud83d'),
        text.replace("\\u00e9", "\\u00E9"),
    ):
        assert agreed(written(other, tmp_path)) == "holds"


GAPS = ["Admitted.", "Axiom x : False.", "  admit.", "Parameter x : False.", "Admit Obligations."]
OUTSIDE = [
    "Variable x : False.",
    "Hypotheses x y : False.",
    "Context (x : False).",
    "Context `{x}.",
]
CLEAN = "Section S.\n{} End S.\nLemma x : True.\nProof. exact I. Qed.\n"


@pytest.mark.parametrize(
    "gap", [*GAPS, *OUTSIDE, "Unset Guard Checking.", "Qed. Parameter x : False."]
)
def test_a_planted_gap_is_found(gap: str, tmp_path: Path) -> None:
    planted = tmp_path / "planted.v"
    planted.write_text(CLEAN.format("") + f"{gap}\n")
    search = ["sh", str(KERNEL / "no_gaps.sh")]
    found = subprocess.run([*search, planted], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert gap.strip() in found.stdout
    planted.write_text(CLEAN.format(" ".join(OUTSIDE)))
    assert subprocess.run([*search, planted], check=False).returncode == 0

"""docs/kernel.md says of the Coq files what is in them."""

from __future__ import annotations

import re

from support.kernel import KERNEL
from support.paths import ROOT

from attncert.verify.coq.executable import PACKAGES

PAGE = (ROOT / "docs" / "kernel.md").read_text()
HEADLINES = (KERNEL / "headlines.txt").read_text().split()


def test_the_table_has_every_theorem_of_the_theory() -> None:
    """A row: theorems, their file; "`name`, `…_real`" stands for two names."""
    named = set()
    for theorems, file in re.findall(r"^\| (`.*?`) \| `(\w+)\.v` \|", PAGE, re.MULTILINE):
        first, *others = re.findall(r"`(.+?)`", theorems)
        named |= {f"{file}.{first}", *(f"{file}.{x.replace('…', first)}" for x in others)}
    theory = {x for x in HEADLINES if (KERNEL / "theory" / f"{x.split('.')[0]}.v").exists()}
    assert named == theory


def test_the_headlines_are_theorems_with_their_axioms_listed() -> None:
    listed = re.findall(r"^\S+$", (KERNEL / "axioms.txt").read_text(), re.MULTILINE)
    assert listed == HEADLINES
    for headline in HEADLINES:
        module, name = headline.split(".")
        (path,) = KERNEL.glob(f"*/{module}.v")
        assert re.search(rf"^(Theorem|Corollary|Lemma) {name}\b", path.read_text(), re.MULTILINE)


def test_what_apt_installs_is_named_alike() -> None:
    packages = PACKAGES.split()
    for path in (ROOT / "docs" / "kernel.md", KERNEL / "Makefile"):
        text = " ".join(path.read_text().replace("\\\n#", " ").split())
        assert " ".join(packages[:-1]) in text, path
    ci = (ROOT / ".ci" / "run").read_text()
    assert f"need coq coqc {' '.join(packages[:-1])}\n" in ci

"""docs/gallery/ is what the toolkit writes now; `python docs/make_gallery.py` regenerates it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from support.paths import ROOT, module
from support.small_certificates import sealed

from attncert.constructions.data.digits import digits
from attncert.reports.answers import report
from attncert.verify.checking.fast.check import check_file
from attncert.verify.prove.prove import prove
from attncert.verify.questions.prove import Prove

SCRIPT = ROOT / "docs" / "make_gallery.py"
gallery = module(SCRIPT)


def committed(page: str) -> dict[str, bytes]:
    folder = gallery.GALLERY / page
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


SHORT = ["not-all-placed", "above-the-bound", "digits-kernel", "bytes-to-theorem"]


@pytest.mark.parametrize("page", SHORT)
def test_a_short_page_is_the_committed_one(page: str) -> None:
    assert gallery.differences(page, gallery.PAGES[page][1]()) == []


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in gallery.PAGES if page not in SHORT])
def test_the_page_is_the_committed_one(page: str) -> None:
    """After a deliberate change, run `python docs/make_gallery.py` and read the diff."""
    assert gallery.differences(page, gallery.PAGES[page][1]()) == []


@pytest.mark.slow
def test_the_certificate_of_all_digits_is_checked_and_not_a_changed_one(tmp_path: Path) -> None:
    """The NumPy checker, which shares no code with the maker of the file, judges both files."""
    proof = prove(digits(), Prove("width-one"))
    file = tmp_path / "all.json"
    file.write_bytes(report(proof).files["certificate.json"])
    assert check_file(str(file)).status == "holds"
    assert (
        hashlib.sha256(file.read_bytes()).hexdigest()
        in committed("digits-all")["report.md"].decode()
    )
    data = json.loads(file.read_bytes())
    for head in data["network"][0]["heads"][:40]:
        head["query"] = [["0"] for _ in head["query"]]
    changed = tmp_path / "certificate.json"
    changed.write_text(json.dumps(sealed(data)))
    assert check_file(str(changed)).status == "wrong"


def test_the_index_and_the_folders_are_those_of_the_pages() -> None:
    assert (gallery.GALLERY / "README.md").read_bytes() == gallery.index()
    folders = {path.name for path in gallery.GALLERY.iterdir() if path.is_dir()}
    assert folders == set(gallery.PAGES)


@pytest.mark.parametrize("page", gallery.PAGES)
def test_a_page_is_whole_and_its_links_lead_somewhere(page: str) -> None:
    files = committed(page)
    report = files["report.md"].decode()
    linked = [part.split(")")[0] for part in report.split("](")[1:]]
    local = {link for link in linked if not link.startswith(("#", "http"))}
    assert local and local <= set(files)
    assert "timings.json" not in files

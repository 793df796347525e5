"""The site of `make docs` in a real browser, with every other host blocked."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from support.paths import ROOT
from support.requires import DESKTOP, PHONE, WIDER, require
from support.small_certificates import CASES, changed, written

import attncert

pytestmark = pytest.mark.slow
SITE = ROOT / "build" / "site"
TRUE = CASES["interpolation"]()
FILES = {
    "holds": (TRUE, "the outputs equal the labels of all 4 examples, exactly"),
    "wrong": (
        changed(TRUE, "data.labels.0.0", "12345"),
        "the output of example 0 is not its label",
    ),
    "unusable": ("{}", "format must be attncert/3"),
    "over limit": (changed(TRUE, "network.0.heads.0.key.0.0", f"1{0:0>18}"), "a number of over"),
}
PAGES = ("index", "check", "reference", "docs/tightness", "docs/architecture", "docs/commands")
PAGES += ("docs/gallery/digits-paper/report",)
SECONDS = 120_000  # milliseconds that Python in the page may take


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None: ...


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The site, built without a warning, and served."""
    tools = importlib.util.find_spec("material") and importlib.util.find_spec("mkdocstrings")
    there = bool(tools and shutil.which("npm"))
    require("site", there, "npm, or the extra 'docs', is missing")
    command = [sys.executable, str(ROOT / "docs" / "site" / "make.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@contextmanager
def opened(browser: Any, url: str, size: dict[str, int] = DESKTOP) -> Iterator[Any]:
    """The page in a new window; it may send nothing, contact no other host, and log no errors."""
    context = browser.new_context(viewport=size)
    window, complaints, elsewhere = context.new_page(), [], []
    home = url.split("/")[2]

    def pass_or_block(route: Any) -> None:
        own = route.request.url.split("/")[2] == home and route.request.method == "GET"
        if not own:
            elsewhere.append(route.request.url)
        route.continue_() if own else route.abort()

    context.route("http*://**", pass_or_block)
    window.on("console", lambda message: complaints.append(message.text))
    window.on("pageerror", lambda error: complaints.append(str(error)))
    window.goto(url)
    yield window
    assert (complaints, elsewhere) == ([], [])
    context.close()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_fits_a_phone(browser: Any, site: str, page: str) -> None:
    with opened(browser, f"{site}/{page}.html", PHONE) as window:
        assert window.evaluate(WIDER) == 0
        size = "e => parseFloat(getComputedStyle(e).fontSize)"
        assert window.locator("article p").first.evaluate(size) >= 15


def test_mathematics_and_diagrams_are_there(browser: Any, site: str) -> None:
    with opened(browser, f"{site}/docs/tightness.html") as window:
        assert window.locator("article math").count() > 300
        assert window.locator("article .formula math[display=block]").count() >= 8
        prose = window.locator("article p").all_inner_texts()
        assert not [text for text in prose if re.search(r"\$|\\[a-z]{2}", text)]
    with opened(browser, f"{site}/docs/architecture.html") as window:
        window.locator(".diagram svg").wait_for()
        assert "Dataset" in window.locator(".diagram").inner_text()


def test_every_public_name_is_in_the_reference(browser: Any, site: str) -> None:
    with opened(browser, f"{site}/reference.html") as window:
        ids = window.evaluate("() => [...document.querySelectorAll('[id]')].map((e) => e.id)")
        assert {f"attncert.{name}" for name in attncert.__all__} <= set(ids)
        assert window.locator("article .highlight .gp").count() > 40
        assert "option(" not in window.locator("article").inner_text()
        assert window.locator("article a[href='docs/networks.html']").count() >= 4


def verdict(window: Any) -> dict[str, str]:
    window.wait_for_function(
        "() => document.querySelector('#verdict dt') || "
        "/^(No verdict|Drop one|Cancelled)/.test(document.querySelector('#status').textContent)",
        timeout=SECONDS,
    )
    names, texts = (window.locator(f"#verdict {x}").all_inner_texts() for x in ("dt", "dd"))
    return dict(zip(names, texts, strict=True)) | {"status": window.locator("#status").inner_text()}


@pytest.mark.parametrize("status", FILES)
def test_the_checker_in_the_page(browser: Any, site: str, status: str, tmp_path: Path) -> None:
    content, message = FILES[status]
    path = written(content, tmp_path)
    expected = attncert.check(path)
    assert expected.status == status and message in expected.message
    with opened(browser, f"{site}/check.html") as window:
        window.locator("#file").set_input_files(path)
        answer = verdict(window)
    assert answer["status"] == f"{status}: {expected.message}"
    assert answer["verdict"] == status and answer["why"] == expected.message
    sizes = ", ".join(f"{name} {size}" for name, size in expected.numbers.items())
    assert answer["dimensions"] == (sizes or "none that could be read")
    known = isinstance(content, dict)
    assert answer["digest"] == (content["digest"] if known else "not confirmed")
    assert re.fullmatch(r"\d+\.\d\d s", answer["time"])


def test_a_folder_is_checked_and_cancelled(browser: Any, site: str) -> None:
    folder = ROOT / "docs" / "gallery" / "a1-false"
    with opened(browser, f"{site}/check.html") as window:
        window.locator("#folder").set_input_files(folder)
        assert verdict(window)["verdict"] == "holds"
        window.locator("#folder").set_input_files(folder)
        window.locator("#cancel").click()
        answer = verdict(window)
        assert answer == {"status": "Cancelled: no verdict."}
        assert window.locator("#cancel").is_disabled()


def test_a_folder_is_dropped(browser: Any, site: str) -> None:
    folder = ROOT / "docs" / "gallery" / "a1-false"
    with opened(browser, f"{site}/check.html") as window:
        box = window.locator(".drop").bounding_box()
        place = {"x": box["x"] + 9, "y": box["y"] + 9}
        data = {"items": [], "files": [str(folder)], "dragOperationsMask": 1}
        session = window.context.new_cdp_session(window)
        for kind in ("dragEnter", "dragOver", "drop"):
            event = {"type": kind, **place, "data": data}
            session.send("Input.dispatchDragEvent", event)
        assert verdict(window)["verdict"] == "holds"


def test_what_is_no_certificate_is_not_checked(browser: Any, site: str) -> None:
    with opened(browser, f"{site}/check.html") as window:
        window.locator("#file").set_input_files(ROOT / "README.md")
        assert verdict(window)["status"].startswith("Drop one certificate")

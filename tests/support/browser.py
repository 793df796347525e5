"""Chromium, driven by Playwright: pages opened as files, and all that they ask for noted."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.requires import require

PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser; the test is skipped, or fails, where there is none."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = importlib.util.find_spec("playwright") is not None
    missing = "playwright is missing (pip: the extra 'browser')" if path else "chromium is missing"
    require("chromium", bool(path) and driver, missing)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def opened(browser: Any, page: Path, size: dict[str, int], **options: Any) -> Iterator[Any]:
    """The page in a fresh window; at the end it must have asked for nothing and said nothing."""
    context = browser.new_context(viewport=size, **options)
    window, said, asked = context.new_page(), [], []
    window.on("console", lambda message: said.append(message.text))
    window.on("pageerror", lambda error: said.append(str(error)))
    window.on("request", lambda request: asked.append(request.url))
    window.goto(page.as_uri())
    yield window
    assert not said, "\n".join(said)
    loaded = {url for url in asked if not url.startswith("data:image/svg+xml;base64,")}
    assert {url.split("#")[0] for url in loaded} == {page.as_uri()}, loaded
    context.close()

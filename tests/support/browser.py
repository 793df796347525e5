"""Chromium, by Playwright."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from support.requires import require

PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@contextmanager
def chromium() -> Iterator[Any]:
    """The test is skipped, or fails, where there is none."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = importlib.util.find_spec("playwright") is not None
    missing = "playwright is missing (pip: the extra 'browser')" if path else "chromium is missing"
    require("chromium", bool(path) and driver, missing)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()

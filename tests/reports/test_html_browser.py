"""report.html in a real browser, on a phone, a desktop and paper, light and dark, with the
keyboard. It loads nothing, and the console is empty."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.proof_fixtures import KINDS
from support.requires import DESKTOP, PHONE, WIDER

from attncert import capacity, compare, kruskal
from attncert.constructions.data.digits import digits
from attncert.reports.answers import write_report

pytestmark = pytest.mark.slow
SIZES = {"phone": PHONE, "desktop": DESKTOP}
RANK = KINDS["small"]().trace.order.index("rank") + 1
SHOWN = ("small", "nine-heads", "refused-context", "hostile")
ASKED = {"capacity": capacity, "compare": compare, "kruskal": kruskal}
READ = {"phone": "pre", "desktop": ".table, .graph, .formula, pre"}  # not scrolled


@contextmanager
def opened(browser: Any, page: Path, size: dict[str, int], **options: Any) -> Iterator[Any]:
    """The page in a fresh window; at the end it must have made no request and logged nothing."""
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


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("pages")
    for kind in SHOWN:
        write_report(KINDS[kind](), root / kind)
    for kind, ask in ASKED.items():
        write_report(ask(digits().take(13)), root / kind)
    return {kind: root / kind / "report.html" for kind in (*SHOWN, *ASKED)}


LUMINANCE = """() => getComputedStyle(document.body).backgroundColor.match(/\\d+/g)
  .slice(0, 3).map(Number).reduce((a, b) => a + b) / 3"""
# Whatever sticks out on the right must be inside an element that scrolls.
STICKS_OUT = """() => [...document.querySelectorAll('main *')].filter((e) =>
  e.getBoundingClientRect().right > innerWidth + 1
  && !e.closest('.table, .graph, .formula, pre')).map((e) => e.outerHTML.slice(0, 99))"""
CUT = """(parts) => [...document.querySelectorAll(parts)].filter((e) =>
  e.scrollWidth > e.clientWidth + 1).map((e) => e.outerHTML.slice(0, 99))"""


@pytest.mark.parametrize("kind", [*SHOWN, *ASKED])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_the_page_fits_and_can_be_read(
    browser: Any, folders: dict[str, Path], kind: str, scheme: str, size: str
) -> None:
    """Nothing scrolls sideways: not the page nor, on a desktop, any table, graph or formula."""
    with opened(browser, folders[kind], SIZES[size], color_scheme=scheme) as window:
        assert window.evaluate(WIDER) == 0
        assert window.evaluate(STICKS_OUT) == window.evaluate(CUT, READ[size]) == []
        assert (window.evaluate(LUMINANCE) > 200) == (scheme == "light")


def test_nothing_foreign_runs(browser: Any, folders: dict[str, Path]) -> None:
    """Text meant to break out is shown as text; even a planted script would not run."""
    with opened(browser, folders["hostile"], DESKTOP) as window:
        assert window.locator("script").count() == 0
        assert '<script>alert("1")</script>' in window.locator("main").inner_text()
    page = folders["hostile"].with_name("planted.html")
    text = folders["hostile"].read_text("utf-8")
    page.write_text(text.replace("<main>", "<main><script>document.title = 'ran'</script>", 1))
    refused = pytest.raises(AssertionError, match="Content Security Policy")
    with refused, opened(browser, page, DESKTOP) as window:
        assert window.title() != "ran"


def test_a_box_leads_to_its_step(browser: Any, folders: dict[str, Path]) -> None:
    with opened(browser, folders["small"], DESKTOP) as window:
        assert window.locator("math").count() > 50
        box = window.get_by_role("link", name=f"rank: proved, step {RANK}")
        box.focus()
        window.keyboard.press("Enter")
        assert window.url.endswith(f"#step-{RANK}")
        top = window.locator(f"#step-{RANK}").evaluate("e => e.getBoundingClientRect().top")
        assert 0 <= top < DESKTOP["height"]

"""report.html in a real browser: phone and desktop, light and dark, keyboard,
paper; nothing loaded, nothing said on the console."""

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
STEP = {claim: k for k, claim in enumerate(KINDS["small"]().trace.order, start=1)}
EXACT = STEP["interpolation.rational"]
SHOWN = ("small", "nine-heads", "refused-context", "hostile")
ASKED = {"capacity": capacity, "compare": compare, "kruskal": kruskal}
READ = {"phone": ".table, pre", "desktop": ".table, .graph, .formula, pre"}  # without scrolling


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
# Whatever sticks out on the right must be inside something that scrolls by itself.
STICKS_OUT = """() => [...document.querySelectorAll('main *')].filter((e) =>
  e.getBoundingClientRect().right > innerWidth + 1
  && !e.closest('.table, .graph, .formula, pre')).map((e) => e.outerHTML.slice(0, 99))"""
CUT = """(parts) => [...document.querySelectorAll(parts)].filter((e) =>
  e.scrollWidth > e.clientWidth + 1).map((e) => e.outerHTML.slice(0, 99))"""
CONTRAST = """() => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((x) => {
      const s = x / 255;
      return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = (e) => {
    for (; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (!/, 0\\)$/.test(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const texts = [...document.querySelectorAll('main p, main li, main td, main th, main a, nav a')]
    .filter((e) => !e.closest('svg') && e.textContent.trim());
  return Math.min(...texts.map((e) => {
    const [a, b] = [light(getComputedStyle(e).color), light(paper(e))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  }));
}"""


@pytest.mark.parametrize("kind", [*SHOWN, *ASKED])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_the_page_fits_and_can_be_read(
    browser: Any, folders: dict[str, Path], kind: str, scheme: str, size: str
) -> None:
    """The page does not scroll sideways, and no table in it; nor, on a desktop, graph and formulas.
    Text has a contrast of 4.5 at least."""
    with opened(browser, folders[kind], SIZES[size], color_scheme=scheme) as window:
        assert window.evaluate(WIDER) == 0
        assert window.evaluate(STICKS_OUT) == window.evaluate(CUT, READ[size]) == []
        assert (window.evaluate(LUMINANCE) > 200) == (scheme == "light")
        assert window.evaluate(CONTRAST) >= 4.5


def test_a_page_without_scripts_is_whole(browser: Any, folders: dict[str, Path]) -> None:
    """Mathematics, tables, graph and links need none; boxes then lead to their steps at once."""
    with opened(browser, folders["small"], DESKTOP, java_script_enabled=False) as window:
        assert window.locator("math").count() > 50
        window.get_by_role("link", name=f"rank: proved, step {STEP['rank']}").click()
        assert window.url.endswith(f"#step-{STEP['rank']}")


def test_nothing_foreign_runs(browser: Any, folders: dict[str, Path]) -> None:
    """Text meant to break out is there to read; and were it a script, it would not run."""
    with opened(browser, folders["hostile"], DESKTOP) as window:
        assert window.locator("script").count() == 1
        assert '<script>alert("1")</script>' in window.locator("main").inner_text()
    page = folders["hostile"].with_name("planted.html")
    text = folders["hostile"].read_text("utf-8")
    page.write_text(text.replace("<main>", "<main><script>document.title = 'ran'</script>", 1))
    refused = pytest.raises(AssertionError, match="Content Security Policy")
    with refused, opened(browser, page, DESKTOP) as window:
        assert window.title() != "ran"


def test_a_box_shows_its_ancestors_and_then_leads_to_its_step(
    browser: Any, folders: dict[str, Path]
) -> None:
    with opened(browser, folders["small"], DESKTOP) as window:
        told = window.get_by_role("status")
        assert "Choose a box" in told.inner_text()
        box = window.get_by_role("link", name=f"interpolation: rational: proved, step {EXACT}")
        answer = f"memorization: proved, step {STEP['memorization']}, the answer"
        window.get_by_role("link", name=answer).click()
        assert "#" not in window.url
        said = told.inner_text()
        assert said.startswith("memorization comes from ") and "interpolation: rational" in said
        assert "theorem" in said and "Go to its step." in said
        assert box.evaluate("b => b.classList.contains('on')")
        window.keyboard.press("Escape")
        assert window.locator(".picked").count() == 0
        box.focus()
        window.keyboard.press("Enter")
        assert "comes from" in told.inner_text() and "#" not in window.url
        assert "theorem" not in told.inner_text()
        dim = window.locator(".picked .box:not(.on)").all()
        assert any("theorem" in (b.get_attribute("aria-label") or "") for b in dim)
        window.keyboard.press("Enter")
        assert window.url.endswith(f"#step-{EXACT}")
        top = window.locator(f"#step-{EXACT}").evaluate("e => e.getBoundingClientRect().top")
        assert 0 <= top < DESKTOP["height"]


def test_everything_is_reached_by_keyboard(browser: Any, folders: dict[str, Path]) -> None:
    """Tab alone reaches every link, button, fold and scrolling part, and shows where it is."""
    with opened(browser, folders["small"], PHONE) as window:
        wanted = window.evaluate(
            "() => document.querySelectorAll('a[href], button, summary, [tabindex=\"0\"]').length"
        )
        hidden = window.evaluate(
            "() => document.querySelectorAll('details:not([open]) :is(a[href], button, "
            '[tabindex="0"])\').length'
        )
        seen = set()
        for _ in range(wanted + 5):
            window.keyboard.press("Tab")
            place = window.evaluate(
                "() => { const e = document.activeElement; if (e === document.body) return null;"
                " const s = getComputedStyle(e), r = e.matches('.box') && e.querySelector('rect');"
                " const shown = r ? getComputedStyle(r).strokeWidth === '4px'"
                " : s.outlineStyle !== 'none';"
                " return [[...document.querySelectorAll('*')].indexOf(e), shown]; }"
            )
            if place is None:
                break
            assert place[1], window.evaluate("document.activeElement.outerHTML.slice(0, 200)")
            seen.add(place[0])
        assert len(seen) == wanted - hidden

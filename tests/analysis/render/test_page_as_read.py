"""The example's page as a reader has it in a browser: its length, folds, terms and print."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Page

from study.cli.root import cli
from tests.annotate_ui.browser.axe_audit import grave_violations
from tests.annotate_ui.browser.chromium import chromium

pytestmark = pytest.mark.browser

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as launched:
        yield launched


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "report"
    result = CliRunner().invoke(cli, ["demo", "--no-verify", "--out", str(folder)])
    assert result.exit_code == 0, result.output
    return folder / "report.html"


@pytest.fixture
def page(browser: Browser, report: Path) -> Iterator[Page]:
    # Without scripts of its own the page needs no policy; the auditor is a script.
    with browser.new_context(viewport=WIDE, bypass_csp=True) as context:  # type: ignore[arg-type]
        opened = context.new_page()
        opened.goto(report.as_uri())
        yield opened


def test_the_page_is_short_and_light(page: Page, report: Path) -> None:
    assert report.stat().st_size < 1_000_000
    assert page.evaluate("document.documentElement.scrollHeight") <= 6 * WIDE["height"]
    first = page.evaluate(
        """[...document.querySelectorAll(".answers")]
        .filter(e => !e.closest("details")).map(e => e.getBoundingClientRect().bottom)"""
    )
    assert max(first) <= WIDE["height"], "agreement and answers are on the first screen"


def test_the_page_has_few_words_and_figures(page: Page, report: Path) -> None:
    words = page.evaluate(
        """() => {
            const body = document.body.cloneNode(true);
            body.querySelectorAll("svg").forEach(svg => svg.remove());
            return body.textContent.split(/\\s+/).filter(Boolean).length;
        }"""
    )
    assert words <= 8_000
    text = report.with_name("report.json").read_text(encoding="utf-8")
    assert len(text.encode()) < 1_800_000
    assert len(json.loads(text)["estimates"]) <= 2_800


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_auditor_of_accessibility_has_no_objection(
    page: Page, size: dict[str, int], scheme: str
) -> None:
    page.set_viewport_size(size)  # type: ignore[arg-type]
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    assert grave_violations(page) == ""
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert grave_violations(page) == ""
    assert page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )


def test_a_link_opens_what_is_folded(page: Page) -> None:
    figure = page.locator("#figure-bland-altman")
    assert not figure.is_visible()
    page.evaluate("location.hash = '#figure-bland-altman'")
    figure.wait_for(state="visible")


def test_a_term_shows_its_meaning(page: Page) -> None:
    page.locator("[popovertarget='term-bias']:visible").first.click()
    shown = page.locator("#term-bias")
    assert shown.is_visible()
    assert "too lenient" in shown.inner_text()


def test_six_pages_are_printed_and_more_with_full(report: Path, page: Page, tmp_path: Path) -> None:
    assert _pages(page, tmp_path / "short.pdf") <= 6
    page.evaluate("document.querySelectorAll('details').forEach(d => d.setAttribute('open', ''))")
    assert _pages(page, tmp_path / "full.pdf") > 6


def _pages(page: Page, pdf: Path) -> int:
    page.pdf(path=pdf, format="A4")
    output = subprocess.run(["pdfinfo", pdf], capture_output=True, text=True, check=True).stdout
    match = re.search(r"^Pages:\s+(\d+)", output, re.M)
    assert match
    return int(match[1])

"""The owner's pages in a browser: audited in light and dark, wide and on a phone, and used."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from sqlalchemy import insert

from annotate_ui.tasks.settlement import settle
from annotate_ui.web.owner.password import set_password
from study import Study
from study.schema import now
from study.schema.tables import interim_analyses
from tests.annotate_ui.browser.axe_audit import grave_violations
from tests.annotate_ui.browser.conftest import Serve
from tests.annotate_ui.browser.marked_campaign import fill
from tests.annotate_ui.browser.pages import Served
from tests.annotate_ui.web.owner.test_pages import looked, shown
from tests.study.assignment.test_adjudication import rated

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
PASSWORD = "three plain random words"
HOSTILE = '"><script>document.title = "broken"</script>'
PAGES = {
    "overview": "",
    "raters": "/raters",
    "activity": "/activity",
    "items": "/items",
    "people": "/people",
    "comments": "/comments",
    "item": "/items/1",
    "enough": "/enough",
    "judge": "/judge",
    "adjudication": "/adjudication",
    "export": "/export",
}


def campaign(study: Study) -> None:
    """Two raters who agree and one with a hostile code who does not, and a rule to stop by."""
    with (study.folder / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write("\n[stopping]\nhalf_width = 5\n")
    fill(study, queries=12, systems=2)
    steps = [float(4 * n) for n in range(24)]
    keys = ("QR", "AC")
    rated(study, {"anna": steps, "ben": [n + 3 for n in steps], HOSTILE: steps[::-1][:20]}, keys)
    states = [{"stop": False, "constructs": [_narrowed(30 * n, 24.0 / n)]} for n in (1, 2, 3)]
    with study.write() as connection:
        for state in states:
            connection.execute(
                insert(interim_analyses).values(
                    kind="stopping",
                    requested_in="page",
                    ratings=48,
                    result={"stopping": state},
                    created_at=now(),
                )
            )
    set_password(study, PASSWORD)


def _narrowed(queries: int, width: float) -> dict[str, Any]:
    ends = {"low": 50 - width, "high": 50 + width, "half_width": width, "target": 5.0}
    ruling = {"stop": False, "more_queries": 40, "reason": "still too wide"}
    return {"construct": "QR", "value": 50.0, **ends, **ruling, "queries": queries}


@pytest.fixture
def page(browser: Browser, request: pytest.FixtureRequest) -> Any:
    """Return a tab of the owner's, of the size and in the colors that a test asks for."""
    size, scheme = getattr(request, "param", (WIDE, "light"))
    looks: dict[str, Any] = {"viewport": size, "color_scheme": scheme}
    context = browser.new_context(locale="en-GB", **looks)
    context.set_default_timeout(30_000)
    yield context.new_page()
    context.close()


def sign_in(page: Page, served: Served) -> None:
    page.goto(f"{served.address}/owner")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/owner")


def heard(page: Page) -> list[str]:
    """Return where errors of the page are gathered."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "console",
        lambda message: errors.append(message.text) if message.type == "error" else None,
    )
    return errors


@pytest.mark.parametrize(
    "page",
    [(WIDE, "light"), (PHONE, "dark")],
    ids=["wide-light", "phone-dark"],
    indirect=True,
)
def test_no_page_has_a_serious_violation(study: Study, serve: Serve, page: Page) -> None:
    served = serve(study, filled=campaign)
    errors, faults_of = heard(page), dict[str, str]()
    size = page.viewport_size
    assert size is not None
    scheme = "dark" if size == PHONE else "light"

    def audit(name: str) -> None:
        faults_of[name] = grave_violations(page)
        # Nothing but tables, which scroll for themselves, is wider than the window.
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= size["width"], name
        folder = os.environ.get("CCRS_TEST_PICTURES")
        if folder:
            page.wait_for_load_state("load")
            picture = Path(folder) / f"owner-{name}-{size['width']}-{scheme}.png"
            page.screenshot(path=picture, full_page=True)

    page.goto(f"{served.address}/owner")
    audit("sign-in")
    page.get_by_label("Password").fill("not the password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    audit("sign-in-failed")
    sign_in(page, served)
    for name, address in PAGES.items():
        page.goto(f"{served.address}/owner{address}")
        audit(name)
    if size == WIDE:
        links = page.get_by_role("navigation", name="Pages").get_by_role("link")
        lines = links.evaluate_all("all => [...new Set(all.map(one => one.offsetTop))]")
        assert len(lines) == 1, "the pages are listed on one line"
    page.goto(f"{served.address}/owner/raters")
    page.get_by_role("link", name=HOSTILE).click()
    page.get_by_text("Remove from the campaign").click()
    audit("rater")
    page.get_by_role("button", name="Create another link").click()
    expect(page.get_by_text("Links are shown only once")).to_be_visible()
    audit("links")
    page.goto(f"{served.address}/owner/items/1")
    page.get_by_role("textbox", name="QR").fill("40")
    page.get_by_role("button", name="Settle").click()
    expect(page.get_by_role("row", name=re.compile("40 .owner"))).to_be_visible()
    audit("settled")
    page.goto(f"{served.address}/owner/adjudication")
    page.get_by_label("Adjudicator").fill("dora")
    page.get_by_role("button", name="Show the plan").click()
    store = page.get_by_role("button", name="Store this")
    expect(store).to_be_visible()
    audit("plan")
    store.click()
    expect(page.get_by_role("cell", name="widest range")).to_be_visible()
    page.goto(f"{served.address}/owner/enough")
    for folded in page.locator("details").all():
        folded.locator("summary").click()
    audit("enough-open")
    if scheme == "light":
        page.get_by_role("button", name="Compute agreement now").click()
        expect(page.locator("[data-running]")).to_be_visible()
        audit("computing")
    else:
        looked(study, "agreement", figures=[shown("krippendorff_alpha"), shown("icc")])
        page.reload()
    # The script brings the figures in when they are there.
    expect(page.get_by_role("region", name="Agreement by construct")).to_be_visible(timeout=120_000)
    page.get_by_text("Chart, and each rater compared with the others").click()
    expect(page.get_by_role("img", name="Krippendorff's alpha")).to_be_visible()
    audit("agreement-computed")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are signed out.", exact=True)).to_be_visible()
    assert {name: faults for name, faults in faults_of.items() if faults} == {}
    # A refused password is an answer that browsers report.
    assert [error for error in errors if "403" not in error] == []
    assert "broken" not in page.title()


def test_an_open_page_refreshes_itself_unless_a_form_is_being_filled(
    study: Study, serve: Serve, page: Page
) -> None:
    served = serve(study, filled=campaign)
    errors = heard(page)
    page.clock.install()
    sign_in(page, served)
    page.goto(f"{served.address}/owner/items/1")
    passage = page.locator("details").first
    passage.locator("summary").click()
    page.get_by_role("heading", name="Settle").scroll_into_view_if_needed()
    place = page.evaluate("scrollY")
    field = page.get_by_role("textbox", name="QR")

    def settled(value: float) -> Locator:
        settle(study, 1, "owner", {"QR": value})
        page.clock.run_for(61_000)
        return page.get_by_role("cell", name=re.compile(f"^{value:g} .owner"))

    expect(settled(41)).to_be_visible()
    assert passage.get_attribute("open") is not None
    assert page.evaluate("scrollY") == pytest.approx(place, abs=2)
    field.fill("7")
    field.blur()
    with page.expect_event("console"):
        filling = settled(42)
        page.evaluate("console.info('now')")
    expect(filling).to_be_hidden()
    assert field.input_value() == "7"
    field.fill("")
    field.blur()
    expect(settled(43)).to_be_visible()
    page.get_by_label("Refresh this page").uncheck()
    set_password(study, "four plain random words")
    page.clock.run_for(61_000)
    expect(field).to_be_visible()
    page.get_by_label("Refresh this page").check()
    # The session has ended: nothing of the study stays open.
    page.clock.run_for(61_000)
    expect(page.get_by_text("The session has ended.")).to_be_visible()
    assert errors == []


def test_a_link_is_copied_and_a_campaign_paused(study: Study, serve: Serve, page: Page) -> None:
    served = serve(study, filled=campaign)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    sign_in(page, served)
    page.goto(f"{served.address}/owner/raters")
    page.get_by_role("link", name="anna", exact=True).click()
    page.get_by_role("button", name="Create another link").click()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert re.fullmatch(rf"{served.address}/join#[\w-]{{43}}", copied)
    page.goto(f"{served.address}/owner")
    page.get_by_label("Message to raters").fill("Back on Monday.")
    page.get_by_role("button", name="Pause the campaign").click()
    expect(page.get_by_text("Back on Monday.")).to_be_visible()
    with page.expect_download() as download:
        page.goto(f"{served.address}/owner/export")
        page.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "export.zip"

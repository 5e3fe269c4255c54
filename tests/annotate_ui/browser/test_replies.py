"""The owner answers a rater's comment, and the rater reads it, in two browsers."""

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from annotate_ui.web.owner.password import set_password
from study import Study
from tests.annotate_ui.browser.axe_audit import grave_violations
from tests.annotate_ui.browser.conftest import Arrive, Serve
from tests.annotate_ui.browser.marked_campaign import fill
from tests.annotate_ui.browser.pages import active, enter, field, moving_on
from tests.annotate_ui.browser.test_owner_pages import PASSWORD, PHONE, WIDE, sign_in

SAID = "The passage is about another town. <b>Odd</b>"
WORDS = "Rate what is shown, even so.\n<script>document.title = 'broken'</script>"
LONG = "a" * 300


def filled(study: Study) -> None:
    """A query with two responses, and a password for the owner's pages."""
    fill(study, queries=1, systems=2)
    set_password(study, PASSWORD)


@pytest.mark.parametrize(
    ("size", "scheme"), [(WIDE, "light"), (PHONE, "dark")], ids=["wide-light", "phone-dark"]
)
def test_a_rater_reads_what_the_owner_answers(
    study: Study, serve: Serve, arrive: Arrive, browser: Browser, size: Any, scheme: str
) -> None:
    served = serve(study, "anna", filled=filled)
    looks: dict[str, Any] = {"viewport": size, "color_scheme": scheme}
    anna = arrive(served, "anna", **looks)
    faults_of = dict[str, str]()

    def audit(page: Page, name: str) -> None:
        faults_of[name] = grave_violations(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], name
        if folder := os.environ.get("CCRS_TEST_PICTURES"):
            picture = Path(folder) / f"replies-{name}-{size['width']}-{scheme}.png"
            page.screenshot(path=picture, full_page=True)

    page = anna.begin()
    key = active(page)
    # The phone folds what the wide page shows.
    if not page.locator(f"#comment-{key}").is_visible():
        page.get_by_role("button", name="Comment").click()
    page.locator(f"#comment-{key}").fill(f"{SAID} {LONG}")
    field(page, key).click()
    # The next response is shown as soon as the value is stored.
    with moving_on(page):
        enter(page, 40)

    context = browser.new_context(locale="en-GB", **looks)
    owner = context.new_page()
    sign_in(owner, served)
    owner.goto(f"{served.address}/owner/comments")
    owner.get_by_text("Answer", exact=True).click()
    audit(owner, "form")
    owner.get_by_label("Answer to anna").fill(f"{WORDS} {LONG}")
    owner.get_by_role("button", name="Send").click()
    expect(owner.get_by_text("Your answer, not read yet")).to_be_visible()
    audit(owner, "sent")

    page.goto(f"{served.address}/rate")
    news = page.get_by_role("region", name="New answers to your comments")
    expect(news).to_contain_text(SAID)
    expect(news).to_contain_text("Rate what is shown, even so.")
    audit(page, "new")
    news.get_by_role("link").click()
    page.wait_for_url("**/rate/*/1")
    page.go_back()
    news.get_by_role("button", name="I have read this").click()
    expect(news).to_have_count(0)
    page.get_by_text("Answers to your comments").click()
    expect(page.get_by_text("Rate what is shown, even so.")).to_be_visible()
    audit(page, "read")
    owner.reload()
    expect(owner.get_by_text("Your answer, read")).to_be_visible()
    context.close()
    assert {name: faults for name, faults in faults_of.items() if faults} == {}
    assert anna.errors == []
    assert "broken" not in page.title()

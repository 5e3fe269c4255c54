"""Joining by a shared link on a phone, from the recruiter's address to the code at the end."""

import os
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from annotate_ui.participants.enrolment import make_link
from study import Study
from tests.annotate_ui.browser.axe_audit import grave_violations
from tests.annotate_ui.browser.conftest import Arrive, Serve
from tests.annotate_ui.browser.marked_campaign import fill, give
from tests.annotate_ui.browser.pages import rate_step

PHONE = {"width": 390, "height": 844}
SETTINGS = """
consent = "consent.md"
instructions = "instructions.md"
completion_code = "C1-DONE"
completion_url = "https://recruiter.example/complete?cc={code}"
"""
CONSENT = """# What it is about

You read answers of machines, and **nothing else** of you is kept. [More](https://example.org/).

| what | how long |
|---|---|
| a value of yours | as long as the study, averylongwordthatwouldpushthepagewideifitwerenotbroken |

<script>document.title = "hacked"</script>

![a picture](https://evil.example/pixel.png)
"""


def enrolling(study: Study, links: list[str]) -> None:
    """Fill a campaign that asks for consent, with open slots and a link for two people."""
    fill(study, queries=1, systems=2)
    for _ in range(2):
        give(study, None)
    with (study.folder / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write(SETTINGS)
    (study.folder / "consent.md").write_text(CONSENT, encoding="utf-8")
    (study.folder / "instructions.md").write_text("# How\n\n1. Read.\n2. Rate.\n", encoding="utf-8")
    links.append(make_link(study, "spring", 2)[1])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_stranger_joins_rates_and_gets_the_code(
    study: Study, serve: Serve, arrive: Arrive, scheme: str
) -> None:
    links: list[str] = []
    served = serve(study, "anna", filled=partial(enrolling, links=links))
    options = {"viewport": PHONE, "has_touch": True, "is_mobile": True, "color_scheme": scheme}
    stranger = arrive(served, "anna", **options)
    page, faults_of = stranger.page, {}
    asked: list[str] = []
    page.on("request", lambda request: asked.append(urlsplit(request.url).netloc))

    def audit(name: str) -> None:
        faults_of[name] = grave_violations(page) + too_wide(page)
        photograph(page, f"enrol-{name}-{scheme}")

    page.goto(f"{links[0]}?PROLIFIC_PID=5f3c")
    audit("offer")
    page.get_by_role("button", name="Begin").click()
    personal_link = page.get_by_label("Your personal link").input_value()
    assert personal_link.startswith(f"{served.address}/join#")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("status")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == personal_link
    audit("personal-link")
    page.reload()
    expect(page.get_by_text("Your personal link was shown once")).to_be_visible()
    audit("reloaded")
    page.get_by_role("button", name="Go on").click()
    page.wait_for_url("**/consent")
    expect(page.get_by_role("heading", name="What it is about")).to_be_visible()
    expect(page.get_by_role("link", name="More")).to_have_attribute("target", "_blank")
    assert "hacked" not in page.title()
    assert page.locator("img").count() == 0
    audit("consent")
    page.get_by_role("button", name="I do not agree").click()
    page.wait_for_url("**/consent/declined")
    audit("declined")
    page.get_by_role("link", name="Read it again").click()
    page.get_by_role("button", name="I agree to take part").click()
    page.wait_for_url("**/instructions")
    audit("instructions")
    page.get_by_role("button", name="I have read this").click()
    page.wait_for_url("**/rate")
    audit("desk")
    stranger.go_on()
    for first, second in ((10, None), (20, None), (30, 40), (50, 60), (70, 80), (15, 25)):
        rate_step(page, *(value for value in (first, second) if value is not None))
    page.wait_for_url("**/rate/end")
    expect(page.get_by_text("C1-DONE")).to_be_visible()
    expect(page.get_by_role("link", name="Return to where you came from")).to_have_attribute(
        "href", "https://recruiter.example/complete?cc=C1-DONE"
    )
    audit("end")
    # On another device: the id alone opens nothing, the personal link goes on.
    other = arrive(served, "anna", **options)
    other.page.goto(f"{links[0]}?PROLIFIC_PID=5f3c")
    other.page.get_by_role("button", name="Begin").click()
    expect(other.page.get_by_role("heading")).to_contain_text("with this ID has already joined")
    faults_of["joined"] = grave_violations(other.page)
    other.page.goto(personal_link)
    other.page.get_by_role("button", name="Begin").click()
    other.page.wait_for_url("**/rate")
    page.goto(f"{served.address}/withdraw")
    audit("withdraw")
    page.get_by_label("Yes, I want to leave the study").check()
    page.get_by_role("button", name="Leave the study").click()
    page.wait_for_url("**/withdrawn")
    audit("withdrawn")
    assert page.evaluate("localStorage.length") == 0
    assert {name: faults for name, faults in faults_of.items() if faults} == {}
    assert stranger.violations == []
    assert set(asked) == {urlsplit(served.address).netloc}, "no other server was asked"


def too_wide(page: Page) -> str:
    """Return a complaint if the page is to be scrolled sideways."""
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    return f"{wide} px too wide" if wide > 0 else ""


def photograph(page: Page, name: str) -> None:
    """Keep a picture if CCRS_TEST_PICTURES names a folder."""
    folder = os.environ.get("CCRS_TEST_PICTURES")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)

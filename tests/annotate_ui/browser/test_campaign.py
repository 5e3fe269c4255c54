"""A campaign of the demo study, played through by three raters and its owner in a real browser.

From the design to the report: every part of it meets the others here.
"""

import json
import re
from collections import Counter
from pathlib import Path
from zipfile import ZipFile

import pandas as pd
import pytest
from playwright.sync_api import Browser, expect

from study import Study
from tests.annotate_ui.browser.campaign_actors import (
    PHONE,
    STEP,
    WIDE,
    Judging,
    Owner,
    Player,
    by_keyboard,
    by_slider,
    by_touch,
    photograph,
)
from tests.annotate_ui.browser.conftest import Arrive
from tests.annotate_ui.browser.pages import (
    Served,
    active,
    enter,
    field,
    moving_on,
    saved,
    state,
    tab_to,
    wait_all_saved,
)
from tests.annotate_ui.browser.played_campaign import CODE, ccrs, played
from tests.annotate_ui.browser.stored_state import ratings
from tests.ccrs_command import in_process

PAUSED = "The pool of questions is being checked. Back at noon."


@pytest.mark.usefixtures("without_drawing")
def test_a_campaign_is_played_through(browser: Browser, arrive: Arrive, tmp_path: Path) -> None:
    with played(tmp_path) as served:
        study = served.study
        anna = Player(arrive(served, "anna", viewport=WIDE), Judging(study, 1), by_keyboard)
        dark = {"viewport": WIDE, "color_scheme": "dark"}
        ben = Player(arrive(served, "ben", **dark), Judging(study, 2, careless=True), by_slider)
        phone = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
        cara = Player(arrive(served, "rater-1", **phone), Judging(study, 3), by_touch)
        context = browser.new_context(locale="en-GB", viewport=WIDE, accept_downloads=True)
        context.set_default_timeout(30_000)
        owner = Owner(context.new_page(), served.address)

        anna_comes_in_and_is_trained(anna)
        anna_rates_what_everybody_rates(anna)
        anna_loses_the_connection(anna, served)
        own_link = cara_joins_by_the_shared_link(cara)
        ben_rates_with_the_mouse(ben, served)
        owner.signs_in()
        the_owner_pauses(owner, anna)
        for player in (anna, ben):
            assert player.judging.hurry(player.rater.code, 90) == "more"
        the_owner_looks(owner, study)
        cara_goes_on_elsewhere(cara, own_link, arrive, served)
        for player in (anna, ben):
            works_until_a_break(player)
        ben.page.wait_for_timeout(60_000 * study.config.rating.break_minutes)
        for player in (anna, ben, cara):
            finishes(player)
        enough_is_rated(owner)
        a_missed_check_is_shown(owner)
        the_owner_has_it_adjudicated(owner)
        cara_adjudicates(cara)
        the_owner_makes_and_ends_a_link(owner, arrive, served)
        the_owner_exports(owner, study, tmp_path)
        for player in (anna, ben, cara):
            assert player.rater.violations == []
        context.close()
        the_report_holds_every_value(study, tmp_path)
        assert served.server.complaints == ""


def anna_comes_in_and_is_trained(anna: Player) -> None:
    """Fail the training once, read why, and pass with other responses."""
    page = anna.page
    page.goto(anna.rater.link)
    photograph(page, "invitation")
    page.get_by_role("button", name="Begin").click()
    anna.agrees_and_reads("anna")
    photograph(page, "overview")
    anna.starts()
    photograph(page, "training-step")
    first = anna.attempts_training(50)
    assert any("your value is outside this range" in text for text in first)
    assert "Another attempt with new responses follows." in first[1]
    photograph(page, "training-failed")
    anna.reads_on()
    second = anna.attempts_training()
    assert "You have passed the training." in second[1]
    photograph(page, "training-passed")
    anna.reads_on()
    practiced = Counter(row.response for row in anna.rater.ratings("QR"))
    assert len(practiced) == 4, "a further attempt is about other responses"


def anna_rates_what_everybody_rates(anna: Player) -> None:
    """Rate the calibration, stage by stage, by keyboard; look at the list of keys."""
    page = anna.page
    assert anna.purpose() == "calibration"
    photograph(page, "first-stage")
    page.get_by_role("link", name="Overview").focus()
    page.keyboard.type("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    photograph(page, "keys")
    page.keyboard.press("Escape")
    seen: dict[int, set[str]] = {}
    for _ in range(12):
        stage = anna.here()[1]
        if stage not in seen and stage > 1:
            photograph(page, f"stage-{stage}")
        shown = page.locator("#material .field").evaluate_all("all => all.map((one) => one.id)")
        seen[stage] = set(shown)
        anna.rate()
    assert seen == {
        1: {"field-question", "field-response"},
        2: {"field-question", "field-response", "field-passages"},
        3: {"field-question", "field-response", "field-passages", "field-reference"},
    }
    assert anna.purpose() in {"main", "check"}


def anna_loses_the_connection(anna: Player, served: Served) -> None:
    """Enter a value without a connection; it is sent once, when it is back."""
    page, before = anna.page, len(served.wire.keys)
    page.context.set_offline(True)
    served.wire.cut()
    key = active(page)
    tab_to(page, f"value-{key}")
    enter(page, 64)
    expect(page.locator("#saved")).to_have_text("1 value waits for the connection", timeout=30_000)
    photograph(page, "no-connection")
    with moving_on(page, within=60):
        served.wire.mend()
        page.context.set_offline(False)
    sent = served.wire.keys[before:]
    assert len(sent) == len(set(sent)) == 1
    assert (anna.rater.ratings()[-1].value, anna.rater.ratings()[-1].revision) == (64, 1)
    anna.rate()


def cara_joins_by_the_shared_link(cara: Player) -> str:
    """Enrol on a phone, be trained, and rate some; return the personal link."""
    page = cara.page
    page.goto(f"{cara.rater.link}?PROLIFIC_PID=5f3c")
    photograph(page, "enrolment")
    page.get_by_role("button", name="Begin").tap()
    link = page.get_by_label("Your personal link").input_value()
    photograph(page, "personal-link")
    page.get_by_role("button", name="Go on").tap()
    cara.agrees_and_reads("cara")
    cara.starts()
    assert "You have passed the training." in cara.attempts_training()[1]
    cara.reads_on()
    assert cara.rates_all("calibration") == 12
    for _ in range(3):
        cara.rate()
    return link


def ben_rates_with_the_mouse(ben: Player, served: Served) -> None:
    """Be trained and rate in the dark: undo, find, skip, cannot judge; the server dies."""
    page = ben.page
    page.goto(ben.rater.link)
    page.get_by_role("button", name="Begin").click()
    ben.agrees_and_reads("ben")
    ben.starts()
    assert "You have passed the training." in ben.attempts_training()[1]
    ben.reads_on()
    # A value, another one, and back.
    slider = page.locator("#slider-QR")
    slider.click(position={"x": 30, "y": 5})
    saved(page, "QR")
    first = field(page, "QR").input_value()
    slider.click(position={"x": 120, "y": 5})
    expect(field(page, "QR")).not_to_have_value(first)
    wait_all_saved(page)
    page.locator("#undo").click()
    expect(field(page, "QR")).to_have_value(first)
    wait_all_saved(page)
    with moving_on(page):
        page.locator("#next").click()
    assert [row.revision for row in ben.rater.ratings("QR")[-3:]] == [1, 2, 3]
    page.get_by_role("button", name="Cannot judge").click()
    photograph(page, "cannot-judge")
    with moving_on(page):
        page.locator("#next").click()
    page.get_by_role("button", name="Skip this response").click()
    page.keyboard.type("The answer breaks off")
    photograph(page, "skipping")
    page.get_by_role("button", name="Skip", exact=True).click()
    expect(state(page, "QR")).to_have_text("skipped")
    with moving_on(page):
        page.locator("#next").click()
    ben.rate()
    # The second stage, with passages.
    assert ben.here()[1] == 2
    page.locator("#find-words").fill("the")
    expect(page.locator("#find-count")).to_contain_text("match")
    page.locator("#find-words").press("Enter")
    expect(page.locator("#find-count")).to_contain_text("1 of ")
    photograph(page, "found")
    page.locator("#find-words").press("Escape")
    served.server.kill()
    page.locator("#slider-CC").click(position={"x": 60, "y": 5})
    expect(page.locator("#saved")).to_have_text("1 value waits for the connection", timeout=30_000)
    # Refused for now, and remembered: the page goes on once all is saved.
    page.locator("#next").press("Enter")
    with moving_on(page, within=60):
        served.server.start()
    ben.rates_all("calibration")
    page.get_by_role("link", name="History").click()
    expect(page.get_by_text("changed 2 times")).to_be_visible()
    photograph(page, "history")
    page.get_by_role("link", name="Back to the overview").click()
    ben.starts()
    for _ in range(3):
        ben.rate()


def the_owner_pauses(owner: Owner, anna: Player) -> None:
    """Pause the campaign: anna may save what is open and sees why no more pages open; resume."""
    page = owner.page
    expect(page.get_by_role("heading", name="Action needed")).to_be_visible()
    photograph(page, "owner-overview")
    page.get_by_label("Message to raters").fill(PAUSED)
    page.get_by_role("button", name="Pause the campaign").click()
    expect(page.get_by_role("heading", name="The campaign is paused")).to_be_visible()
    photograph(page, "owner-paused")
    before = len(anna.rater.ratings())
    anna.rate()
    expect(anna.page.get_by_role("status").first).to_contain_text(PAUSED)
    photograph(anna.page, "paused")
    assert len(anna.rater.ratings()) == before + 1
    page.get_by_role("button", name="Resume the campaign").click()
    expect(page.get_by_label("Message to raters")).to_be_visible()
    anna.starts()
    anna.rate()


def the_owner_looks(owner: Owner, study: Study) -> None:
    """Look at progress, agreement and the rule while people rate; each look is recorded."""
    assert "rater-1" in ccrs("watch", str(study.folder))
    page = owner.computes("Apply the rule now")
    expect(page.get_by_text("Not enough is rated yet.")).to_be_visible()
    photograph(page, "owner-not-enough")
    page = owner.opens("Raters")
    expect(page.get_by_role("row", name=re.compile("anna"))).to_contain_text("main part")
    photograph(page, "owner-raters")
    page = owner.opens("Responses")
    # Those that two have rated come first.
    expect(page.get_by_role("row").nth(1)).to_contain_text(re.compile(r"2/[23]"))
    photograph(page, "owner-responses")
    page.get_by_role("row").nth(1).get_by_role("link").click()
    photograph(page, "owner-response")


def cara_goes_on_elsewhere(cara: Player, link: str, arrive: Arrive, served: Served) -> None:
    """Open the personal link on a larger screen: the work goes on at the very step."""
    left = cara.page.url.rpartition(":")[2].partition("/")[2]
    desktop = arrive(served, "rater-1", viewport=WIDE)
    desktop.page.goto(link)
    desktop.page.get_by_role("button", name="Begin").click()
    desktop.page.wait_for_url("**/rate")
    cara.rater, cara.way = desktop, by_keyboard
    cara.starts()
    assert cara.page.url.endswith(left)
    cara.rate()


def works_until_a_break(player: Player) -> None:
    """Rate in a hurry until the session is over, and see the message."""
    page, code = player.page, player.rater.code
    page.goto(f"{player.rater.served.address}/rate")
    assert player.judging.hurry(code) == "break"
    player.starts()
    expect(page.get_by_role("status").first).to_contain_text("Time for a break")
    photograph(page, f"{code}-break")


def finishes(player: Player) -> None:
    """Rate the rest in a hurry, repeats included, up to the last page with its code."""
    page, code = player.page, player.rater.code
    page.goto(f"{player.rater.served.address}/rate")
    comes = player.judging.hurry(code)
    for _ in range(3):
        if comes in {"later", "break"}:
            # A session is over, or a repeat of what was rated in it comes in the next one.
            page.wait_for_timeout(60_000 * player.judging.study.config.rating.break_minutes)
            comes = player.judging.hurry(code)
    assert comes == "end"
    player.starts()
    page.wait_for_url("**/rate/end")
    expect(page.get_by_text(CODE)).to_be_visible()
    page.get_by_label("No", exact=True).check()
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("status")).to_contain_text("stored")
    photograph(page, f"{code}-end")


def enough_is_rated(owner: Owner) -> None:
    """Find the rule met, and look at agreement, which is not for stopping."""
    page = owner.computes("Apply the rule now")
    expect(page.get_by_text("Enough is rated according to the rule.")).to_be_visible()
    photograph(page, "owner-enough")
    page = owner.computes("Compute agreement now")
    expect(page.get_by_text("Not for stopping.")).to_be_visible()
    page.get_by_text("Chart, and each rater compared with the others").click()
    expect(page.get_by_role("img", name="Krippendorff's alpha")).to_be_visible()
    page.get_by_text("interim analyses so far").click()
    expect(page.get_by_role("cell", name="the stopping rule")).to_have_count(2)
    photograph(page, "owner-agreement")
    page.get_by_role("link", name="Go to that page").click()
    photograph(page, "owner-judge")


def a_missed_check_is_shown(owner: Owner) -> None:
    """See that ben rated damaged copies above their originals, and that no rater is excluded."""
    page = owner.opens("Overview")
    expect(page.locator(".items")).to_contain_text("ben")
    photograph(page, "owner-action-items")
    page = owner.opens("Raters")
    expect(page.get_by_role("row", name=re.compile("ben"))).to_contain_text("checks missed")
    expect(page.get_by_role("row", name=re.compile("anna"))).not_to_contain_text("checks missed")
    page.get_by_role("link", name="ben", exact=True).click()
    photograph(page, "owner-rater")


def the_owner_has_it_adjudicated(owner: Owner) -> None:
    """Give what anna and ben differ on most, and a random sample, to a rater who saw neither."""
    page = owner.opens("Adjudication")
    page.get_by_label("Adjudicator").fill("rater-1")
    page.get_by_label("Responses with the widest range").fill("2")
    page.get_by_label("Responses at random from the others").fill("1")
    page.get_by_role("button", name="Show the plan").click()
    photograph(page, "owner-plan")
    page.get_by_role("button", name="Store this").click()
    expect(page.get_by_role("cell", name="widest range")).to_be_visible()
    photograph(page, "owner-adjudication")


def cara_adjudicates(cara: Player) -> None:
    """Rate blind, then see the others' values, and add an informed value to the blind one."""
    page = cara.page
    page.goto(f"{cara.rater.served.address}/rate")
    cara.starts()
    reviewed = changed = 0
    while not page.url.endswith("/rate/end"):
        if STEP.search(page.url):
            assert cara.purpose() == "adjudication"
            expect(page.locator("body")).not_to_contain_text("Rater 1")
            cara.rate()
            continue
        expect(
            page.get_by_role("heading", name="Ratings of this response by others")
        ).to_be_visible()
        reviewed += 1
        if not changed:
            photograph(page, "adjudicating")
            page.get_by_role("link", name="Change").first.click()
            page.locator("input.value:visible").fill("71")
            page.keyboard.press("Tab")
            wait_all_saved(page)
            with moving_on(page):
                page.locator("#next").click()
            changed = sum(row.after_reveal for row in cara.rater.ratings())
            assert changed == 1
            while STEP.search(page.url):
                with moving_on(page):
                    page.locator("#next").click()
            continue
        cara.reads_on()
    assert reviewed == 4, "three, and the first one again after the change"


def the_owner_makes_and_ends_a_link(owner: Owner, arrive: Arrive, served: Served) -> None:
    """Make a rater with a link, see it work, end it, and see it refused."""
    page = owner.opens("Raters")
    page.get_by_label("Number of raters", exact=True).fill("1")
    page.get_by_role("button", name="Create raters and links").click()
    link = page.locator("#link-1").input_value()
    photograph(page, "owner-links")
    served.links["rater-2"] = link
    guest = arrive(served, "rater-2", viewport=PHONE)
    guest.page.goto(link)
    guest.page.get_by_role("button", name="Begin").click()
    guest.page.wait_for_url("**/consent")
    guest.page.get_by_role("button", name="I do not agree").click()
    guest.page.wait_for_url("**/consent/declined")
    photograph(guest.page, "declined")
    page.get_by_role("link", name="All raters").click()
    page.get_by_role("link", name="rater-2").click()
    page.get_by_role("button", name="Revoke the link and end its sessions").click()
    expect(page.get_by_text("The link was revoked.")).to_be_visible()
    guest.page.goto(f"{served.address}/rate")
    photograph(guest.page, "signed-out")
    guest.page.goto(link)
    guest.page.get_by_role("button", name="Begin").click()
    guest.page.wait_for_url("**/join/refused")
    photograph(guest.page, "link-refused")


def the_owner_exports(owner: Owner, study: Study, folder: Path) -> None:
    """Download the tables; they hold what the study's own table holds."""
    page = owner.opens("Export")
    photograph(page, "owner-export")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    path = folder / "export.zip"
    download.value.save_as(path)
    with ZipFile(path) as tables:
        name = next(entry for entry in tables.namelist() if entry.endswith("scores.csv"))
        with tables.open(name) as file:
            exported = pd.read_csv(file)
    assert len(exported) == len(study.score_table())
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are signed out.", exact=True)).to_be_visible()


def the_report_holds_every_value(study: Study, folder: Path) -> None:
    """Find each rater's mean of exactly their first values, and that the owner had looked."""
    out = folder / "report"
    done = in_process("report", study.folder, "--out", out, "--no-verify")
    assert done.returncode == 0, done.stderr
    reported = {
        (row["constructs"][0], row["scorers"][0]): row
        for row in json.loads((out / "report.json").read_text(encoding="utf-8"))["estimates"]
        if row["statistic"] == "mean" and row["scope"] == "pooled" and len(row["scorers"]) == 1
    }
    counted = what_counts(study)
    assert set(counted["scorer"]) == {"anna", "ben", "rater-1", "rater-1 (adjudicated)"}
    for (construct, scorer), values in counted.groupby(["construct", "scorer"])["value"]:
        row = reported[construct, scorer]
        assert (row["value"], row["n_responses"]) == (pytest.approx(values.mean()), len(values))
    assert "the design was sequential" in (out / "report.html").read_text(encoding="utf-8")


def what_counts(study: Study) -> pd.DataFrame:
    """Return the raters' first values from the database itself."""
    newest = {}
    for row in ratings(study):
        if not row.after_reveal:
            newest[row.rater, row.response, row.construct, row.purpose, row.repeat] = row.value
    frame = pd.DataFrame(
        [(*key, value) for key, value in newest.items()],
        columns=["scorer", "response", "construct", "purpose", "repeat", "value"],
    ).dropna(subset="value")
    adjudicated = frame["purpose"] == "adjudication"
    frame.loc[adjudicated, "scorer"] += " (adjudicated)"
    return frame[adjudicated | ((frame["purpose"] == "main") & (frame["repeat"] == 0))]

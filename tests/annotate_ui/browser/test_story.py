"""A rater's whole way, on both databases: whatever goes down in between, nothing is lost."""

import json
import re
import subprocess
from itertools import product
from pathlib import Path
from statistics import fmean

import pytest
from playwright.sync_api import Page, expect

from study import Study
from tests.annotate_ui.browser.conftest import Arrive, Serve
from tests.annotate_ui.browser.marked_campaign import passage, question, reference, response
from tests.annotate_ui.browser.pages import (
    Rater,
    Served,
    active,
    enter,
    field,
    focused,
    kill_tabs,
    moving_on,
    rate_step,
    saved,
    state,
    tab_to,
)
from tests.annotate_ui.browser.server import CCRS
from tests.annotate_ui.browser.stored_state import Rated, rater_id, ratings
from tests.annotate_ui.rated_campaign import finish_step
from tests.ccrs_command import in_process

_WORD = re.compile(rb"(?:question|response|passage|reference)word[0-9x]+")
_PASSAGES = 3


@pytest.mark.usefixtures("without_drawing")
def test_nothing_is_lost_from_the_link_to_the_report(
    any_study: Study, serve: Serve, arrive: Arrive, tmp_path: Path
) -> None:
    served = serve(any_study, "anna", "ben")
    study, wire = served.study, served.wire
    anna = arrive(served, "anna")

    page = comes_in(anna)
    assert ratings(study) == []
    assert focused(page) == "value-QR"
    seen = {question(0), response(0, 0)}
    assert words(served) == seen, "the first stage: one response, no passages, no reference"
    rate_step(page, 81)
    seen |= {response(0, 1)}
    assert words(served) == seen
    rate_step(page, 82)

    seen |= passages(0, 0)
    assert words(served) == seen, "the passages of the response whose turn it is"
    page = tab_crashes_in_the_middle_of_a_value(anna)
    assert words(served) == seen, "coming back shows no more than before"
    with moving_on(page):
        # Tab selects what a field holds; the 8 of before is typed on.
        page.keyboard.press("End")
        enter(page, 5)
    assert [r[3:6] for r in ratings(study)[-2:]] == [("CC", 1, 40), ("ID", 1, 85)]

    seen |= passages(0, 1)
    assert words(served) == seen
    connection_is_cut_while_values_are_entered(page, served)
    seen |= {reference(0)}
    assert words(served) == seen, "the reference, and nothing of the next query"
    with moving_on(page, within=60):
        server_is_killed_and_comes_back(page, served)
    rate_step(page, 93, 94)

    for query in (1, 2):
        assert question(query).encode() in wire.received
        assert reference(query).encode() not in wire.received
        for values in ([10], [20], [30, 31], [40, 41], [50, 51], [60, 61]):
            rate_step(page, *values)
    assert page.url.endswith("/rate/end")
    expect(page.locator("main")).to_contain_text(re.compile("30 .* 3 questions"))
    page.get_by_label("No", exact=True).check()
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("status")).to_contain_text("stored")

    mine = ratings(study)
    assert len(mine) == 31
    assert [row[3:6] for row in mine if row.revision > 1] == [("CC", 2, 55)]
    assert not any(row.after_reveal for row in mine)
    assert b"secretsystem" not in wire.received
    assert anna.violations == []
    is_in_status_and_report(study, mine, tmp_path)


def comes_in(anna: Rater) -> Page:
    """Open the link and begin; the token is in no address afterwards, and in none before."""
    wire, token = anna.served.wire, anna.link.partition("#")[2]
    anna.page.goto(anna.link)
    assert token.encode() not in wire.sent, "a link's opening tells the server nothing"
    page = anna.page
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/rate")
    anna.go_on()
    assert wire.sent.count(token.encode()) == 1
    history = page.context.new_cdp_session(page).send("Page.getNavigationHistory")
    addresses = [entry["url"] for entry in history["entries"]]
    assert len(addresses) >= 3
    assert not any(token in address for address in addresses), addresses
    return page


def tab_crashes_in_the_middle_of_a_value(anna: Rater) -> Page:
    """Commit one value, type a digit of the next, and lose the tab; return the tab of after."""
    page, study = anna.page, anna.served.study
    tab_to(page, "value-CC")
    enter(page, 40)
    assert active(page) == "ID"
    saved(page, "CC")
    page.keyboard.type("8")
    kill_tabs(page)
    anna.page = page = anna.new_tab(f"{anna.served.address}/")
    anna.go_on()
    assert active(page) == "ID", "the work goes on where it stopped"
    expect(state(page, "CC")).to_have_text("saved")
    expect(field(page, "CC")).to_be_hidden()
    expect(field(page, "ID")).to_have_value("8")
    expect(state(page, "ID")).to_have_text("draft")
    assert [row.construct for row in ratings(study)] == ["QR", "QR", "CC"], "a draft never counts"
    tab_to(page, "value-ID")
    return page


def connection_is_cut_while_values_are_entered(page: Page, served: Served) -> None:
    """Enter values without a connection; they go out once, in their order, when it is back."""
    before = len(served.wire.keys)
    page.context.set_offline(True)
    served.wire.cut()
    tab_to(page, "value-CC")
    enter(page, 50)
    enter(page, 60)
    page.keyboard.press("Shift+Tab")
    page.locator("#construct-CC .open").click()
    field(page, "CC").fill("55")
    page.keyboard.press("Enter")
    expect(page.locator("#saved")).to_have_text("2 values wait for the connection", timeout=30_000)
    expect(state(page, "CC")).to_have_text("not sent yet")
    assert len(ratings(served.study)) == 4
    here = page.url
    page.locator("#next").press("Enter")
    page.wait_for_timeout(300)
    assert page.url == here, "nobody goes on while something waits"
    expect(page.locator("#next-reason")).to_have_text("Opens when all is saved")
    # The rater waits on Next: they are taken there once all is saved.
    with moving_on(page, within=60):
        served.wire.mend()
        page.context.set_offline(False)
    sent = served.wire.keys[before:]
    assert len(sent) == len(set(sent)) == 3, "each once"
    assert [row[3:6] for row in ratings(served.study)[4:]] == [
        ("CC", 1, 50),
        ("ID", 1, 60),
        ("CC", 2, 55),
    ]


def server_is_killed_and_comes_back(page: Page, served: Served) -> None:
    """Enter values while the server is dead; they are saved when it is there again."""
    tab_to(page, "value-AC")
    enter(page, 91)
    saved(page, "AC")
    served.server.kill()
    enter(page, 92)
    expect(page.locator("#saved")).to_have_text("1 value waits for the connection", timeout=30_000)
    served.server.start()


def is_in_status_and_report(study: Study, mine: list[Rated], folder: Path) -> None:
    """Find each value of the rater where their owner looks: without another step in between."""
    ben = rater_id(study, "ben")
    for number in range(18):
        finish_step(study, ben, 30.0 + number)
    counted = json.loads(ccrs("status", str(study.folder), "--json"))
    by_rater = {(row["construct"], row["scorer"]): row["values"] for row in counted["scorers"]}
    assert by_rater == dict.fromkeys(product(("QR", "CC", "ID", "AC", "IR"), ("anna", "ben")), 6)
    out = folder / "report"
    done = in_process("report", study.folder, "--out", out, "--no-verify")
    assert done.returncode == 0, done.stderr
    estimates = json.loads((out / "report.json").read_text(encoding="utf-8"))["estimates"]
    reported = {
        row["constructs"][0]: (row["value"], row["n_responses"])
        for row in estimates
        if row["statistic"] == "mean" and row["scorers"] == ["anna"] and row["scope"] == "pooled"
    }
    newest = {(row.response, row.construct): row.value or 0.0 for row in mine}
    for construct in ("QR", "CC", "ID", "AC", "IR"):
        values = [value for (_, key), value in newest.items() if key == construct]
        assert reported[construct] == (pytest.approx(fmean(values)), 6)


def ccrs(*words_: str) -> str:
    """Run a command as its owner would, and return what it prints."""
    done = subprocess.run([CCRS, *words_], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def words(served: Served) -> set[str]:
    """Return the words of the campaign's texts that the browser was sent so far."""
    return {word.decode() for word in _WORD.findall(served.wire.received)}


def passages(query: int, system: int) -> set[str]:
    """Return the words of a response's passages."""
    return {passage(query, system, position) for position in range(_PASSAGES)}

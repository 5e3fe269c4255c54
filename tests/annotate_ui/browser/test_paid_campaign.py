"""A campaign of 40 responses with six raters, up to the list of whom to pay, in a real browser.

One turns careless, one claims more time than passes, one leaves and comes back by the personal
link, one tries to join twice. They join and end in the browser; the careless one and the one who
claims time rate there throughout. The two honest ones, and the others in between, save over HTTP
with the page's own form, so that the test takes a minute.
"""

import asyncio
import csv
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Any

from playwright.sync_api import Browser, Page, Route, expect

from study import Study
from tests.annotate_ui.browser.campaign_actors import (
    STEP,
    WIDE,
    Owner,
    by_keyboard,
    photograph,
    turn,
)
from tests.annotate_ui.browser.conftest import Arrive
from tests.annotate_ui.browser.pages import Rater, Served, keys
from tests.annotate_ui.browser.played_campaign import PASSWORD, ccrs
from tests.annotate_ui.browser.relay import Wire
from tests.annotate_ui.browser.server import Server, free_port
from tests.annotate_ui.http_rater import HttpRater

QUERIES, SYSTEMS, KEYS = 10, 4, ("CC", "ID")
RESPONSES = QUERIES * SYSTEMS
HONEST_UNTIL = 13
"""Responses that the careless rater reads: a third."""
CLAIMED = 900.0
CODE = "PAID-40"
IDS = {f"rater-{number}": f"5f3c{number:020x}" for number in range(1, 7)}
CARELESS, HASTY, RETURNING, TWICE, *HONEST = IDS
# The id of the fourth in capitals, with full-width digits and an invisible sign.
OTHERWISE = IDS[TWICE].upper().replace("5", "\uff15").replace("3", "3\u200b")
SETTINGS = f"""name = "Town services"

[design]
per_item = 6

[rating]
base_url = "ADDRESS"
completion_code = "{CODE}"
"""
Ledger = dict[tuple[str, str, str], float]
"""What was pressed, by rater, response and construct."""


def test_a_campaign_is_played_to_the_list_of_whom_to_pay(
    browser: Browser, arrive: Arrive, tmp_path: Path
) -> None:
    with campaign(tmp_path) as served, ThreadPoolExecutor(1) as apart:
        began = time.monotonic()
        raters = {code: joins(served, code, arrive) for code in IDS}
        personal = {code: keeps_the_link(rater) for code, rater in raters.items()}
        honest = apart.submit(save_over_http, served, personal, HONEST)
        ledger: Ledger = {}
        turns_careless(raters[CARELESS], ledger)
        claims_time(raters[HASTY], ledger)
        comes_back(raters[RETURNING], personal[RETURNING], ledger)
        joins_again(served, raters[TWICE], arrive, ledger)
        over_http = [honest, apart.submit(save_over_http, served, personal, (RETURNING, TWICE))]
        for saved in over_http:
            ledger |= wait_for(raters[TWICE].page, saved)
        assert len(ledger) == len(IDS) * RESPONSES * len(KEYS)
        for rater in raters.values():
            sees_the_code(rater)
        hours = (time.monotonic() - began) / 3600

        ccrs("export", str(served.study.folder), "--out", str(tmp_path / "export"))
        people, ratings = (table(tmp_path / "export" / name) for name in ("people", "ratings"))
        everybody_is_paid_for_time_that_passed(people, hours)
        the_careless_rater_alone_repeats_values(people)
        assert stored(ratings) == ledger
        context = browser.new_context(locale="en-GB", viewport=WIDE)
        the_owner_reads_the_same(Owner(context.new_page(), served.address), people)
        context.close()
        assert [rater.violations for rater in raters.values()] == [[]] * len(raters)
        assert served.server.complaints == ""


@contextmanager
def campaign(folder: Path) -> Iterator[Served]:
    """Serve 40 responses that six people rate who join by a link with an id as on Prolific."""
    port, place = free_port(), folder / "study"
    with ExitStack() as ends:
        wire = Wire(port)
        ends.callback(wire.close)
        settings = folder / "settings.toml"
        address = f"http://127.0.0.1:{wire.port}"
        settings.write_text(SETTINGS.replace("ADDRESS", address), encoding="utf-8")
        ccrs("init", str(place), "--settings", str(settings))
        responses = folder / "responses.jsonl"
        responses.write_text("\n".join(map(json.dumps, rows())), encoding="utf-8")
        ccrs("import", str(place), str(responses))
        constructs = ("--constructs", ",".join(KEYS))
        ccrs("assign", str(place), "--open", *constructs, "--yes")
        ccrs("owner-password", str(place), "--stdin", entered=f"{PASSWORD}\n")
        output = ccrs("enrol", str(place), "spring", "--quota", "8", "--require-id", "prolific")
        link = re.search(r"(http://127\S+)", output)
        assert link is not None, output
        study = Study.open(place)
        ends.callback(study.close)
        server = Server(place, folder / "state", port)
        ends.callback(server.stop)
        server.start()
        yield Served(study, server, wire, dict.fromkeys(IDS, link[1]))


def rows() -> Iterator[dict[str, object]]:
    """Yield the responses of four systems to ten queries."""
    for query in range(QUERIES):
        for system in range(SYSTEMS):
            yield {
                "query_id": f"q{query}",
                "query": f"When does office {query} open?",
                "system": f"system-{system}",
                "response": f"Office {query} opens at {6 + system}.",
                "passages": [f"Office {query} opens at 8 on weekdays."],
                "references": ["At 8."],
            }


def joins(served: Served, code: str, arrive: Arrive) -> Rater:
    """Come from the recruiter, whose address names the person."""
    rater = arrive(served, code, viewport=WIDE)
    rater.page.goto(f"{rater.link}?PROLIFIC_PID={IDS[code]}")
    rater.page.get_by_role("button", name="Begin").click()
    return rater


def keeps_the_link(rater: Rater) -> str:
    """Return the personal link, which is shown once."""
    link = rater.page.get_by_label("Your personal link").input_value()
    rater.page.get_by_role("button", name="Go on").click()
    rater.page.wait_for_url(re.compile(r"/rate\??$"))
    return link


def rates(rater: Rater, ledger: Ledger, most: int, value: float | None = None) -> None:
    """Rate so many responses by keyboard: with one value, or with another one each time."""
    page = rater.page
    for _ in range(most):
        match = STEP.search(page.url)
        assert match is not None, page.url
        response = turn(rater.served.study, match[1]).response
        # On each construct another value than before: 74 more, of 101.
        entered = {
            key: float((37 * len(ledger) + 11 * n) % 101) if value is None else value
            for n, key in enumerate(keys(page))
        }
        by_keyboard(page, entered)
        ledger |= {(rater.code, response, key): one for key, one in entered.items()}


def turns_careless(rater: Rater, ledger: Ledger) -> None:
    """Read a third, then give 70 on everything."""
    rater.go_on()
    rates(rater, ledger, HONEST_UNTIL)
    rates(rater, ledger, RESPONSES - HONEST_UNTIL, 70.0)


def claims_time(rater: Rater, ledger: Ledger) -> None:
    """Have the browser claim a quarter of an hour with each value, in the page's own request."""
    claimed = list[float]()

    def alter(route: Route) -> None:
        sent: dict[str, Any] = route.request.post_data_json or {}
        assert sent["active_seconds"] < CLAIMED
        claimed.append(CLAIMED)
        route.continue_(post_data=json.dumps({**sent, "active_seconds": CLAIMED}))

    rater.context.route(re.compile(r"/save$"), alter)
    rater.go_on()
    rates(rater, ledger, RESPONSES)
    assert len(claimed) == RESPONSES * len(KEYS)


def comes_back(rater: Rater, link: str, ledger: Ledger) -> None:
    """Rate some, sign out, and come back by the personal link to where the work stopped."""
    rater.go_on()
    rates(rater, ledger, 3)
    stopped = rater.page.url
    rater.page.get_by_role("link", name="Overview").click()
    rater.page.get_by_role("button", name="Sign out").click()
    expect(rater.page.get_by_role("heading", level=1)).to_have_text("You are signed out")
    rater.page.goto(link)
    rater.page.get_by_role("button", name="Begin").click()
    rater.page.wait_for_url("**/rate")
    expect(rater.page.get_by_role("heading", level=1)).to_have_text("Welcome back")
    rater.go_on()
    assert rater.page.url == stopped
    rates(rater, ledger, 2)


def joins_again(served: Served, rater: Rater, arrive: Arrive, ledger: Ledger) -> None:
    """Rate some, and try to join again in another browser, with the id written otherwise."""
    rater.go_on()
    rates(rater, ledger, 2)
    other = arrive(served, rater.code, viewport=WIDE)
    other.page.goto(f"{rater.link}?PROLIFIC_PID={OTHERWISE}")
    other.page.get_by_role("button", name="Begin").click()
    expect(other.page.get_by_role("heading", level=1)).to_contain_text("has already joined")
    photograph(other.page, "joined-twice")


def save_over_http(served: Served, links: Mapping[str, str], codes: Sequence[str]) -> Ledger:
    """Rate all that these raters have left over HTTP; return what was confirmed."""
    until = time.monotonic() + 80
    raters = [
        HttpRater(served.address, links[code], Random(number), until)
        for number, code in enumerate(codes)
    ]

    async def work() -> None:
        await asyncio.gather(*(rater.work(0.1, until) for rater in raters))

    asyncio.run(work())
    assert all(rater.done for rater in raters)
    return {
        (code, turn(served.study, one.place).response, one.construct): one.value
        for code, rater in zip(codes, raters, strict=True)
        for one in rater.confirmed
    }


def wait_for(page: Page, saved: "Future[Ledger]") -> Ledger:
    """Return what was saved, while the browser goes on."""
    while not saved.done():
        page.wait_for_timeout(100)
    return saved.result()


def sees_the_code(rater: Rater) -> None:
    """Find the code for the recruiter on the last page."""
    rater.page.goto(f"{rater.served.address}/rate")
    rater.page.locator("#go-on").click()
    rater.page.wait_for_url("**/rate/end")
    expect(rater.page.get_by_text(CODE)).to_be_visible()


def table(path: Path) -> list[dict[str, str]]:
    """Return the rows of an exported table."""
    with path.with_suffix(".csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def everybody_is_paid_for_time_that_passed(people: list[dict[str, str]], hours: float) -> None:
    """Find six people, once each, who are done and have the code, and no time that did not pass."""
    assert {person["rater"]: person["recruiter_id"] for person in people} == IDS
    for person in people:
        assert (person["link"], person["completed"], person["code"]) == ("spring", "yes", CODE)
        assert person["responses_done"] == person["responses"] == str(RESPONSES)
        assert 0 < float(person["hours"]) <= hours < RESPONSES * len(KEYS) * CLAIMED / 3600


def the_careless_rater_alone_repeats_values(people: list[dict[str, str]]) -> None:
    """Find the signal of straight-lining with one rater, where all have work enough for it."""
    named = {person["rater"] for person in people if "straight_lining" in person["signals"]}
    assert named == {CARELESS}


def stored(ratings: list[dict[str, str]]) -> Ledger:
    """Return the exported values by rater, response and construct."""
    assert all(row["not_counted"] == "" for row in ratings)
    return {
        (row["rater"], row["response_id"], row["construct"]): float(row["value"]) for row in ratings
    }


def the_owner_reads_the_same(owner: Owner, people: list[dict[str, str]]) -> None:
    """Find ids, codes and hours on the page of people, and the careless rater's signal."""
    owner.signs_in()
    page = owner.opens("People")
    for person in people:
        row = page.get_by_role("row").filter(has_text=person["recruiter_id"])
        expect(row).to_have_count(1)
        for shown in (person["rater"], CODE, "completed", f"{float(person['hours']):.1f}"):
            expect(row).to_contain_text(shown)
    photograph(page, "paid-people")
    page = owner.opens("Raters")
    page.get_by_role("link", name=CARELESS, exact=True).click()
    expect(page.locator("main")).to_contain_text("long runs of one value")
    expect(page.locator("main")).to_contain_text("in a row with the same values")
    photograph(page, "careless-rater")

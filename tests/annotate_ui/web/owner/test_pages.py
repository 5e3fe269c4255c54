"""What the owner's pages show and do, with people whose names and words are hostile."""

import re
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest
from flask import Flask
from sqlalchemy import insert, select

from annotate_ui.monitoring.careless_responding import RaterSignals
from annotate_ui.monitoring.signals import Signal
from annotate_ui.participants.enrolment_links import list_links as enrolment_links
from annotate_ui.participants.invitation import list_links
from annotate_ui.participants.withdrawal import readmit
from annotate_ui.participation import paused
from annotate_ui.web.app import create_app
from annotate_ui.web.owner.password import set_password
from study import Study
from study.schema import now
from study.schema.tables import assignments, interim_analyses, rater_answers, raters
from tests.annotate_ui.designed_campaign import configure, go_through, teach
from tests.annotate_ui.rated_campaign import fill, give
from tests.annotate_ui.web.conftest import Browser
from tests.annotate_ui.web.owner.conftest import PASSWORD
from tests.study.rating_fixtures import add_ratings

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}${7*7}",
    "\u202egnp.exe\u202c",
    "<svg/onload=alert(1)>",
)
PAGES = (
    "",
    "/raters",
    "/people",
    "/comments",
    "/items",
    "/enough",
    "/judge",
    "/adjudication",
    "/export",
)


def ids(study: Study) -> dict[str, str]:
    with study.read() as connection:
        return {row.code: row.public_id for row in connection.execute(select(raters))}


def shown(figure: str, construct: str = "QR", **params: str) -> dict[str, Any]:
    return {
        "statistic": figure,
        "constructs": [construct],
        "scorers": ["<b>anna</b>"],
        "scope": "pooled",
        "value": 0.5,
        "ci_low": 0.25,
        "ci_high": 0.75,
        "reason": None,
        "n_responses": 40,
        "n_raters": 2,
        "n_queries": 20,
        "params": params,
    }


def looked(study: Study, kind: str, **result: Any) -> None:
    with study.write() as connection:
        connection.execute(
            insert(interim_analyses).values(
                kind=kind, requested_in="page", ratings=7, result=result, created_at=now()
            )
        )


def test_hostile_names_and_words_are_shown_as_text(
    owner: Browser, protected: Study, come: Callable[[str], Browser]
) -> None:
    for code in HOSTILE:
        give(protected, code)
    anna = come("anna")
    anna.go_on()
    for number, words in enumerate(HOSTILE):
        anna.save("QR", float(number), base=number, comment=words)
    owner.submit("/owner/pause", message=HOSTILE[0])
    pages = [owner.get(f"/owner{page}") for page in PAGES]
    pages += [owner.get(f"/owner/raters/{ids(protected)[code]}") for code in HOSTILE]
    pages.append(owner.get(f"/owner/items/{_rated(protected)}"))
    text = ""
    for page in pages:
        assert page.status_code == 200, page.request.path
        text += page.text
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text
        assert "<svg/onload" not in page.text
    assert "&lt;script&gt;alert(1)" in text
    assert "49" not in re.findall(r"<bdi>(\d+)</bdi>", text)
    plan = owner.submit("/owner/adjudication", rater=HOSTILE[1], sample="1", widest="0")
    assert "onerror=alert(1)&gt;" in plan.text or plan.status_code == 409
    assert "<img src=x" not in plan.text


def _rated(study: Study) -> int:
    with study.read() as connection:
        return int(
            connection.execute(
                select(assignments.c.response_id)
                .join(raters, assignments.c.rater_id == raters.c.id)
                .where(raters.c.code == "anna")
                .order_by(assignments.c.position)
                .limit(1)
            ).scalar_one()
        )


def test_ratings_first_entered_after_the_reveal_are_named_where_values_are_counted(
    owner: Browser, protected: Study
) -> None:
    give(protected, "late")
    for page in ("/owner", f"/owner/raters/{ids(protected)['late']}"):
        assert "kept but not counted" not in owner.get(page).text
    with protected.write() as connection:
        mine = connection.execute(
            select(assignments.c.id)
            .join(raters, assignments.c.rater_id == raters.c.id)
            .where(raters.c.code == "late")
            .limit(1)
        ).scalar_one()
        rating = {"construct_key": "QR", "value": 5.0, "after_reveal": True, "config_hash": "x"}
        connection.execute(insert(rater_answers).values(**rating, assignment_id=mine))
    # The pages of a small campaign are computed anew once the owner has changed something.
    owner.submit("/owner/pause", message="")
    assert "entered after the reveal, kept but not counted: 1." in owner.get("/owner").text
    page = owner.get(f"/owner/raters/{ids(protected)['late']}").text
    assert "1, kept but not counted" in page


def test_a_campaign_is_paused_and_taken_up_again(owner: Browser, protected: Study) -> None:
    page = owner.submit("/owner/pause", message="Back on Monday.")
    assert "The campaign is paused" in page.text
    with protected.read() as connection:
        assert paused(connection) == "Back on Monday."
    page = owner.submit("/owner/resume")
    assert "Pause the campaign" in page.text
    with protected.read() as connection:
        assert paused(connection) is None
    long = owner.submit("/owner/pause", message="x" * 501)
    assert long.status_code == 409
    assert "the maximum is 500" in long.text
    assert "NUL character" in owner.submit("/owner/pause", message="a\x00b").text


def test_links_are_made_shown_once_and_ended(app: Flask, owner: Browser, protected: Study) -> None:
    here = f"/owner/raters/{ids(protected)['anna']}"
    assert "There is no link." in owner.get(here).text
    made = owner.submit(f"{here}/link").text
    (link,) = re.findall(r'value="(http[^"]+/join#[\w-]+)"', made)
    assert link not in owner.get(here).text
    anna = Browser(app.test_client())
    assert anna.begin(link).status_code == 200
    another = re.findall(r'value="(http[^"]+/join#[\w-]+)"', owner.submit(f"{here}/link").text)
    assert another != [link]
    assert anna.get("/rate").status_code == 401
    assert "The link was revoked." in owner.submit(f"{here}/revoke").text
    assert anna.begin(another[0]).status_code == 403
    new = owner.submit("/owner/raters", count="2").text
    assert len(re.findall(r'value="http[^"]+/join#', new)) == 2
    assert {link.rater for link in list_links(protected)} == {"anna", "ben", "rater-1", "rater-2"}
    for count in ("0", "101", "x", ""):
        assert owner.submit("/owner/raters", count=count).status_code == 400


def test_enrolment_links_are_created_and_closed(
    owner: Browser, protected: Study, come: Callable[[str], Browser]
) -> None:
    page = owner.submit("/owner/enrolment", name=HOSTILE[0], quota="2", queries="5", languages="de")
    assert len(re.findall(r'value="http[^"]+/enrol/[\w-]+"', page.text)) == 1
    assert HOSTILE[0] not in page.text
    (link,) = enrolment_links(protected)
    assert (link.name, link.quota, link.queries_each) == (HOSTILE[0], 2, 5)
    assert (link.languages, link.ends, link.open) == (("de",), None, True)
    again = owner.submit("/owner/enrolment", name=HOSTILE[0], quota="2").text
    assert "This could not be done" in again
    for wrong in ({"quota": "0"}, {"quota": "100001"}, {"quota": "2", "queries": "0"}):
        refused = owner.submit("/owner/enrolment", name="next", **wrong)
        assert "This could not be done" in refused.text, wrong
    for text in ("x", ""):
        assert owner.submit("/owner/enrolment", name="next", quota=text).status_code == 400
    closing = {"name": HOSTILE[0]}
    assert owner.client.post("/owner/enrolment/close", data=closing).status_code == 400, "no token"
    come("anna").submit("/owner/enrolment/close", **closing)
    assert enrolment_links(protected) == [link], "a rater changes nothing"
    assert "Close &lt;script&gt;" in owner.get("/owner/raters").text
    assert "<td>closed</td>" in owner.submit("/owner/enrolment/close", **closing).text
    (link,) = enrolment_links(protected)
    assert link.closed
    assert "<script>alert" not in owner.get("/owner/raters").text


def test_a_rater_is_removed_and_let_in_again(
    owner: Browser, protected: Study, come: Callable[[str], Browser]
) -> None:
    anna = come("anna")
    here = f"/owner/raters/{ids(protected)['anna']}"
    assert "This rater was removed. Finished work was kept" in owner.submit(f"{here}/remove").text
    assert anna.get("/rate").status_code == 401
    assert "has left" in owner.get("/owner/raters").text
    assert "Remove the rater" in owner.submit(f"{here}/readmit").text


def test_a_rater_let_through_after_a_failed_training_is_not_shown_as_passed(study: Study) -> None:
    fill(study, queries=1, systems=1)
    configure(study, design={"training": 2})
    anna = give(study, "anna", keys=["QR"])
    assert anna is not None
    teach(study, 3)
    assert go_through(study, anna, 10)[-1].kind == "training_failed"
    readmit(study, "anna")
    set_password(study, PASSWORD)
    owner = Browser(create_app(study, b"k" * 32).test_client())
    owner.get("/owner/sign-in")
    owner.submit("/owner/sign-in", password=PASSWORD)
    page = owner.get(f"/owner/raters/{ids(study)['anna']}").text
    assert "not passed, admitted by you, 0% of the values in range" in page


@pytest.mark.parametrize("page", ["raters", "items"])
def test_unknown_items_and_raters_have_no_page(owner: Browser, page: str) -> None:
    for name in ("0" * 32, "0", "999", "99999999999999999999", "x", "-1", "%00"):
        assert owner.get(f"/owner/{page}/{name}").status_code == 404
    assert owner.get("/owner/chart/x-light.svg").status_code == 404
    assert owner.get("/owner/chart/agreement-blue.svg").status_code == 404
    assert owner.get("/owner/chart/stopping-light.svg?construct=nothing").status_code == 404


def test_adjudication_is_planned_shown_and_stored(
    owner: Browser, protected: Study, come: Callable[[str], Browser]
) -> None:
    nothing = owner.submit("/owner/adjudication", rater="dora", sample="1", widest="1")
    assert nothing.status_code == 409
    assert "has no response with people&#39;s values" in nothing.text
    for code, value in (("anna", 10.0), ("ben", 60.0)):
        rater = come(code)
        for _ in range(2):
            rater.go_on()
            rater.save("QR", value)
    plan = owner.submit("/owner/adjudication", rater="dora", sample="1", widest="1")
    assert "1 of the other 1, probability 1" in plan.text
    assert "dora" not in ids(protected)
    wanted = {"rater": "dora", "sample": "1", "widest": "1"}
    stored = owner.submit("/owner/adjudication/store", **wanted)
    assert "<bdi>dora</bdi>" in stored.text
    assert "dora" in ids(protected)
    assert "50%" in owner.get("/owner/items").text
    for wrong in ({"sample": "x"}, {"widest": "-1"}, {"sample": "9999999"}):
        assert owner.submit("/owner/adjudication", **{**wanted, **wrong}).status_code == 400
    with protected.read() as connection:
        chosen = select(assignments.c.id).where(assignments.c.purpose == "adjudication")
        first, _ = connection.scalars(chosen).all()
    add_ratings(protected, first, "QR", [30.0, "withdrawn"])
    page = owner.get("/owner/adjudication").text
    begun = re.findall(r'dora</bdi>.*<td class="number">(\d+)</td></tr>', page)
    assert begun == ["0", "0"]
    # What an adjudicator who left had not begun is not assigned to anybody.
    owner.submit(f"/owner/raters/{ids(protected)['dora']}/remove")
    assert "<bdi>dora</bdi>" not in owner.get("/owner/adjudication").text


def test_the_export_is_one_file(owner: Browser) -> None:
    for form in ("csv", "parquet"):
        answer = owner.client.post("/owner/export", data={"csrf_token": owner.csrf, "format": form})
        assert answer.headers["Content-Disposition"] == "attachment; filename=export.zip"
        with ZipFile(BytesIO(answer.data)) as packed:
            names = set(packed.namelist())
        answer.close()
        assert {f"responses.{form}", "codebook.md"} <= names
    assert owner.submit("/owner/export", format="exe").status_code == 400


def test_figures_are_those_of_the_newest_look(owner: Browser, protected: Study) -> None:
    assert "Nothing has been computed yet." in owner.get("/owner/enough").text
    figures = [shown("krippendorff_alpha"), shown("icc"), shown("rater_against_others")]
    looked(protected, "agreement", figures=figures)
    page = owner.get("/owner/enough").text
    assert "Not for stopping." in page
    assert "0.50" in page
    assert "[0.25, 0.75]" in page
    assert "&lt;b&gt;anna" in page
    for theme in ("light", "dark"):
        drawn = owner.get(f"/owner/chart/agreement-{theme}.svg")
        assert drawn.mimetype == "image/svg+xml"
        assert "<script" not in drawn.text
        assert "style" not in drawn.text
    assert "agreement among people" in owner.get("/owner/enough").text
    # One whose figures were erased is listed, and the last one with figures shown.
    looked(protected, "agreement", judge=None, erased=True)
    assert "[0.25, 0.75]" in owner.get("/owner/enough").text
    assert owner.get("/owner/enough").text.count("agreement among people") == 2


def test_one_page_says_whether_it_is_enough(owner: Browser, protected: Study) -> None:
    for gone in ("/agreement", "/stopping", "/interim-analyses"):
        assert owner.get(f"/owner{gone}").status_code == 404
    looked(protected, "agreement", figures=[shown("krippendorff_alpha")])
    page = owner.get("/owner/enough").text
    assert re.findall("<h1>(.*)</h1>", page) == ["Is it enough?"]
    assert "1 interim analysis so far" in page
    _, navigation, _ = re.split("</?nav", page)
    assert navigation.count("<a ") == 9


def test_a_page_with_two_computations_says_once_that_one_runs(
    owner: Browser, protected: Study, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule_of_five(protected, app)
    for kind in ("agreement", "stopping", "judge"):
        monkeypatch.setattr("annotate_ui.monitoring.background_job.running", lambda _, k=kind: k)
        page = owner.get("/owner/enough").text
        assert page.count(f'data-running="{kind}"') == 1
        assert "/owner/compute/" not in page


def test_a_raters_flagged_signals_come_first_and_the_others_are_folded(
    owner: Browser, protected: Study, come: Callable[[str], Browser], app: Flask
) -> None:
    anna = come("anna")
    anna.go_on()
    anna.save("QR", 10.0)
    app.extensions.pop("owner_snapshot", None)  # it may be half a minute old
    address = f"/owner/raters/{ids(protected)['anna']}"
    folded = owner.get(address).text.partition("<h2>Signals</h2>")[2]
    assert folded.index("No action is needed") < folded.index("Signals without a flag: 0 fine")
    snapshot = app.extensions["owner_snapshot"]
    signals = (
        Signal("many_missing", "QR", "fine", 0.0, 0.0, 30, "none is missing"),
        Signal("too_fast", None, "flagged", 1.0, 9.0, 30, "<i>1 second</i> a response"),
    )
    flagged = {"anna": RaterSignals("anna", signals)}
    app.extensions["owner_snapshot"] = replace(snapshot, signals=flagged)
    shown_first, _, folded = (
        owner.get(address).text.partition("<h2>Signals</h2>")[2].partition("<details>")
    )
    assert "very fast" in shown_first
    assert "&lt;i&gt;1 second" in shown_first
    assert "No action" not in shown_first
    assert "none is missing" not in shown_first
    assert "Signals without a flag: 1 fine, 0 with too few cases" in folded
    assert "none is missing" in folded


def test_the_judge_is_shown_only_on_request(
    owner: Browser, protected: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotate_ui.web.owner.interim_pages.machine_names", lambda _: {"judge-a"})
    looked(
        protected,
        "judge",
        judge="judge-a",
        figures=[shown("pearson"), shown("human_ceiling_difference", measure="kendall_tau_b")],
    )
    assert "0.50" not in owner.get("/owner/judge").text
    assert "Avoid opening this" in owner.get("/owner/judge").text
    page = owner.get("/owner/judge?shown=1").text
    assert "0.50" in page
    assert "difference of the two, tau-b" in page
    for page in PAGES:
        if page != "/judge":
            assert "[0.25, 0.75]" not in owner.get(f"/owner{page}").text


def test_a_computation_is_started_and_waited_for(
    owner: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[str, str | None]] = []
    monkeypatch.setattr(
        "annotate_ui.monitoring.background_job.start",
        lambda _, kind, judge=None: started.append((kind, judge)),
    )
    monkeypatch.setattr("annotate_ui.web.owner.interim_pages.machine_names", lambda _: {"judge-a"})
    owner.submit("/owner/compute/agreement")
    assert owner.submit("/owner/compute/judge", judge="--help").status_code == 400
    owner.submit("/owner/compute/judge", judge="judge-a")
    owner.submit("/owner/compute/stopping")
    assert started == [("agreement", None), ("judge", "judge-a"), ("stopping", None)]
    assert owner.submit("/owner/compute/everything").status_code == 404
    monkeypatch.setattr("annotate_ui.monitoring.background_job.running", lambda _: "agreement")
    assert 'data-running="agreement"' in owner.get("/owner/enough").text
    assert owner.get("/owner/running").get_json() == {"running": "agreement"}


def rule_of_five(study: Study, app: Flask) -> None:
    """Declare a rule for the study that is served."""
    rule = study.config.stopping.model_copy(update={"half_width": 5.0})
    served = app.config["STUDY"]
    config = served.config.model_copy(update={"stopping": rule})
    changed = replace(served, config=config)
    # One engine, so that one pool of connections is closed at the end.
    changed.__dict__["engine"] = served.engine
    app.config["STUDY"] = changed


def test_the_rule_and_its_narrowing_are_shown(owner: Browser, protected: Study, app: Flask) -> None:
    assert "declares no stopping rule" in owner.get("/owner/enough").text
    rule_of_five(protected, app)
    assert "Nothing has been computed yet." in owner.get("/owner/enough").text
    for queries, width in ((0, 50.0), (30, 9.0), (60, 6.0)):
        construct = {
            "construct": "QR",
            "value": 50.0 if queries else None,
            "low": 50.0 - width,
            "high": 50.0 + width,
            "half_width": width,
            "target": 5.0,
            "stop": False,
            "more_queries": 25,
            "queries": queries,
            "reason": "too wide",
        }
        looked(protected, "stopping", stopping={"stop": False, "constructs": [construct]})
    page = owner.get("/owner/enough").text
    assert "Not enough is rated yet. About 25 more questions are expected." in page
    assert "[44.0, 56.0]" in page
    drawn = ElementTree.fromstring(owner.get("/owner/chart/stopping-light.svg?construct=QR").text)
    (means,) = [group for group in drawn.iter(f"{SVG}g") if group.get("id") == "means"]
    # Before there is a value there is no mean to show.
    assert len(list(means.iter(f"{SVG}use"))) == 2

"""Texts rendered or as written on pages beside the rating page, and what is stored of it."""

from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest

from annotate_ui.participants.invitation import invite
from annotate_ui.web.app import create_app
from annotate_ui.web.owner.password import set_password
from annotate_ui.web.rate_limits import limiter
from study import Study
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, ResponseRow
from tests.annotate_ui.compared_campaign import open_one, pair_up
from tests.annotate_ui.designed_campaign import configure, teach
from tests.annotate_ui.rated_campaign import give
from tests.annotate_ui.web.conftest import Browser
from tests.annotate_ui.web.test_comparison_page import body
from tests.annotate_ui.web.test_flow_pages import rate_all

Visit = Callable[[Study], Browser]


@pytest.fixture
def visit() -> Iterator[Visit]:
    """Return a function that lets anna into a study whose texts are rendered."""

    def coming(study: Study) -> Browser:
        configure(study, rating={"text_format": "rendered"})
        (made,) = invite(study, ["anna"])
        browser = Browser(create_app(study, b"k" * 32).test_client())
        browser.begin(made.link)
        return browser

    yield coming
    limiter.reset()


def fill(study: Study, queries: int, systems: int) -> None:
    text = "**bold** <script>x</script>"
    rows = [
        ResponseRow(query_id=f"q{q}", query="?", system=f"s{s}", response=f"{text} {q} {s}")
        for q in range(queries)
        for s in range(systems)
    ]
    located = [LocatedRow(number, row) for number, row in enumerate(rows, 1)]
    import_rows(study, located, source="x", sha256=uuid4().hex, importer="responses")


def both_forms(page: str) -> bool:
    assert "<script>x" not in page
    return "<strong>bold</strong>" in page and "**bold** &lt;script&gt;" in page


def test_a_comparison_shows_rendered_texts_and_stores_what_was_shown(
    any_study: Study, visit: Visit
) -> None:
    fill(any_study, queries=2, systems=2)
    anna = pair_up(any_study, "anna", keys=("QR",))
    browser = visit(any_study)
    first = open_one(any_study, anna)
    page = browser.get(f"/compare/{first}").text
    assert both_forms(page)
    assert 'id="text-format"' in page
    for shown in ("fancy", 1):
        refused = browser.send(f"/compare/{first}/save", body(text_format=shown))
        assert refused.status_code in {400, 422}
    browser.send(f"/compare/{first}/save", body(text_format="both"))
    second = open_one(any_study, anna)
    browser.get(f"/compare/{second}")
    browser.send(f"/compare/{second}/save", body(-1.0))
    assert list(any_study.preference_table()["text_format"]) == ["both", None]


def test_feedback_shows_the_other_form_on_request(study: Study, visit: Visit) -> None:
    fill(study, queries=1, systems=1)
    give(study, "anna", keys=["QR"])
    teach(study, 1, keys=["QR"])
    configure(study, design={"training": 1})
    browser = visit(study)
    browser.go_on()
    rate_all(browser, 70)
    page = browser.go_on().text
    assert 'data-format="monospace" hidden' in page
    page = browser.get(f"{browser.at}?texts=monospace").text
    assert 'data-format="rendered" hidden' in page
    assert 'href="?texts=rendered"' in page
    assert 'data-format="monospace" hidden' in browser.get(f"{browser.at}?texts=plain").text


def test_the_owner_sees_a_response_in_either_form(study: Study, visit: Visit) -> None:
    fill(study, queries=1, systems=1)
    give(study, "anna", keys=["QR"])
    set_password(study, "three plain random words")
    browser = visit(study)
    browser.get("/owner/sign-in")
    browser.submit("/owner/sign-in", password="three plain random words")
    page = browser.get("/owner/items/1").text
    assert both_forms(page)
    assert 'data-format="monospace" hidden' in page
    assert 'data-format="rendered" hidden' in browser.get("/owner/items/1?texts=monospace").text

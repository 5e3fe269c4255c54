"""Texts that would like to be code: they are shown as text, and run nothing."""

from uuid import uuid4

from playwright.sync_api import Page, expect

from study import Study
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, PassageRow, ResponseRow
from tests.annotate_ui.browser.conftest import Arrive, Serve
from tests.annotate_ui.browser.pages import field, moving_on, rate_step, saved
from tests.annotate_ui.browser.stored_state import ratings

PAYLOADS = (
    "<script>window.ran = 1</script>",
    "</script><script>window.ran = 2</script>",
    '<img src="x" onerror="window.ran = 3">',
    "<svg onload='window.ran = 4'><animate onbegin='window.ran = 5' attributeName='x'/></svg>",
    "<iframe srcdoc='<script>parent.ran = 6</script>'></iframe>",
    '"><b onmouseover="window.ran = 7">bold</b>',
    "' autofocus onfocus='window.ran = 8",
    "</textarea><script>window.ran = 9</script>",
    "<a href='javascript:window.ran = 10'>press</a><form action='/leave' method='post'><button>",
    "<style>* { display: none }</style><meta http-equiv='refresh' content='0;url=/left'>",
    "{{ 7 * 7 }} {% raw %} ${7 * 7} #{7 * 7} <%= 7 * 7 %>",
    "&lt;script&gt;window.ran = 11&lt;/script&gt; &amp; &#60;",
    "\u202etxet eht snrut taht edirrevo na\u202c \u2066isolate\u2069",
    "]]><!--<script>window.ran = 12</script>-->",
)
ALL = " ".join(PAYLOADS)


def fill_with_payloads(study: Study) -> None:
    """Put them into every text that a rater is shown, and into names that no rater should see."""
    row = ResponseRow(
        query_id="q",
        query=f"question: {ALL}",
        system="<script>window.ran = 13</script>",
        response=f"response: {ALL}",
        passages=(PassageRow(text=f"passage: {ALL}"), PassageRow(text=PAYLOADS[2])),
        references=(f"reference: {ALL}", PAYLOADS[0]),
    )
    import_rows(
        study, [LocatedRow(1, row)], source="test", sha256=uuid4().hex, importer="responses"
    )


def test_payloads_are_shown_as_text_and_run_nothing(
    study: Study, serve: Serve, arrive: Arrive
) -> None:
    served = serve(study, "anna", filled=fill_with_payloads)
    anna = arrive(served, "anna")
    dialogs: list[str] = []
    anna.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page = anna.begin()
    shows(page, "question", "response")
    comment = ALL.replace("\u202e", "")  # one that a keyboard can type
    for key in ("QR",):
        page.locator(f"#comment-{key}").fill(comment)
        field(page, key).fill("10")
        page.keyboard.press("Tab")
        saved(page, key)
    page.reload()
    expect(page.locator("#comment-QR")).to_have_value(comment)
    assert [row.comment for row in ratings(served.study)] == [comment]
    with moving_on(page):
        page.locator("#next").click()
    page.get_by_role("button", name="Open all passages").click()
    shows(page, "question", "response", "passages")
    page.get_by_role("button", name="Skip this response").click()
    page.keyboard.type(PAYLOADS[2])
    page.get_by_role("button", name="Skip", exact=True).click()
    expect(page.locator("#construct-CC .state")).to_have_text("skipped")
    page.locator("#construct-CC .open").click()
    expect(page.locator("#hint-CC")).to_contain_text(PAYLOADS[2])
    with moving_on(page):
        page.locator("#next").click()
    shows(page, "question", "response", "passages", "reference")
    rate_step(page, 1, 2)
    page.get_by_label("No", exact=True).check()
    page.get_by_label("Anything else").fill(comment)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_label("Anything else")).to_have_value(comment)
    nothing_ran(page)
    assert dialogs == []
    assert anna.errors == [], "no violation of the policy, no error of a script"


def shows(page: Page, *fields: str) -> None:
    """Check that each field's text is what was imported, sign by sign, and nothing ran."""
    for name in fields:
        text = page.locator(f"#field-{name} .text").first
        assert text.text_content() == f"{name.removesuffix('s')}: {ALL}"
        assert text.get_attribute("dir") == "auto"
        assert text.get_attribute("lang") == "en"
    page.mouse.move(300, 300)
    nothing_ran(page)


def nothing_ran(page: Page) -> None:
    """Check that no payload became an element or ran."""
    assert page.evaluate("window.ran") is None
    assert page.locator("#material :is(script, img, svg, iframe, form, b, style)").count() == 0


def test_no_violation_over_a_whole_rating(study: Study, serve: Serve, arrive: Arrive) -> None:
    served = serve(study, "anna", filled=fill_with_payloads)
    anna = arrive(served, "anna")
    page = anna.begin()
    rate_step(page, 1)
    page.get_by_role("button", name="Open all passages").click()
    page.locator("#slider-CC").click()
    saved(page, "CC")
    page.get_by_role("link", name="Overview").click()
    anna.go_on()
    rate_step(page, 3)
    rate_step(page, 4, 5)
    page.goto(f"{served.address}/rate")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/left")
    assert anna.errors == []
    # The policy itself would have stopped a script, had one got in.
    markup = "document.body.innerHTML = '<img src=x onerror=\"window.ran = 14\">'"
    refused = f"() => {{ try {{ {markup} }} catch (error) {{ return error.name }} }}"
    assert page.evaluate(refused) == "TypeError"
    assert anna.violations == []
    page.evaluate("document.body.append(Object.assign(new Image(), {src: 'https://example.org/'}))")
    page.wait_for_timeout(200)
    assert anna.violations
    assert page.evaluate("window.ran") is None

"""Texts in monospace and rendered: what a rater sees, may switch, and what is stored of it."""

import os
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from study import Study
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, PassageRow, ResponseRow
from tests.annotate_ui.browser.axe_audit import grave_violations
from tests.annotate_ui.browser.conftest import Arrive, Serve
from tests.annotate_ui.browser.pages import field, moving_on, saved
from tests.annotate_ui.browser.test_hostile_texts import ALL, nothing_ran

RESPONSE = """# Opening hours

The pool **opens** at 8, see [the page](https://example.org/hours):

| day | from | to |
|-----|-----:|---:|
| Mon | 8 | 20 |

1. Take $p_1 * q_2 * r_3$.
2. Run

```python
if hours < 8:
    print("closed")
```
"""
WIDE = "|" + "a|" * 200 + "\n|" + "-|" * 200 + "\n|" + "1|" * 200
LOOKS: list[Any] = [
    ({"width": 1280, "height": 900}, "light"),
    ({"width": 390, "height": 844}, "dark"),
]


def fill(study: Study) -> None:
    row = ResponseRow(
        query_id="q",
        query="When is the pool open?",
        system="A",
        response=RESPONSE,
        passages=(
            PassageRow(text="The `pool` opens at *eight* hours."),
            PassageRow(text=WIDE),
            PassageRow(text=ALL),
            PassageRow(text="| a |\n|---|\n" + "| <script>window.ran = 1</script> |\n" * 25_000),
        ),
        references=("- From 8\n- to 20",),
    )
    import_rows(study, [LocatedRow(1, row)], source="x", sha256=uuid4().hex, importer="responses")


@pytest.mark.parametrize(("size", "scheme"), LOOKS, ids=["wide-light", "phone-dark"])
def test_rendered_texts_are_switched_searched_and_recorded(
    study: Study, serve: Serve, arrive: Arrive, size: Any, scheme: Any
) -> None:
    served = serve(study, "anna", filled=fill, rating='text_format = "rendered"')
    anna = arrive(served, "anna", viewport=size, color_scheme=scheme)
    page = anna.begin()
    response = page.locator("#field-response")
    expect(response.get_by_role("cell", name="20")).to_be_visible()
    expect(response.locator("code").first).to_have_text("$p_1 * q_2 * r_3$")
    # Of a link there is its text as it was written.
    expect(response).to_contain_text("[the page](https://example.org/hours)")
    assert page.locator("#material :is(a[href^=http], img, script)").count() == 0
    field(page, "QR").fill("80")
    page.keyboard.press("Tab")
    saved(page, "QR")
    with moving_on(page):
        page.locator("#next").click()
    page.get_by_role("button", name="Open all passages").click()
    nothing_ran(page)
    find = page.get_by_label("Find in passages")
    find.fill("eight")
    expect(page.locator("em mark")).to_have_text("eight")
    page.get_by_role("button", name="Show texts as written").click()
    # It is found in what is shown now, and the texts are whole again.
    expect(page.locator(".monospace mark")).to_have_text("eight")
    find.fill("")
    expect(page.locator("mark")).to_have_count(0)
    assert response.locator(".text:visible").text_content() == RESPONSE
    assert page.locator(".passage .monospace").nth(2).text_content() == ALL
    page.get_by_role("button", name="Show texts rendered").click()
    expect(page.locator("em", has_text="eight")).to_be_visible()
    assert grave_violations(page) == ""
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    if folder := os.environ.get("CCRS_TEST_PICTURES"):
        page.screenshot(path=Path(folder) / f"text-format-{size['width']}-{scheme}.png")
    key = page.locator(".construct.active").get_attribute("data-key") or ""
    field(page, key).fill("70")
    page.keyboard.press("Tab")
    saved(page, key)
    nothing_ran(page)
    assert anna.errors == []
    table = served.study.score_table()
    formats = dict(zip(table["construct"], table["text_format"], strict=True))
    assert formats == {"QR": "rendered", key: "both"}

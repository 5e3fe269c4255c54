"""What a save costs: seconds are measured by `tests.benchmarks.rating_load`, causes here."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Subquery

from tests.annotate_ui.web.conftest import Browser


def test_saving_and_the_next_page_build_no_subquery(
    come: Callable[[str], Browser], monkeypatch: pytest.MonkeyPatch
) -> None:
    # To build one takes ten times as long as to run it: a save took 42 ms in place of 9.
    browser = come("anna")
    browser.go_on()
    browser.save("QR", 1.0)
    built = []
    construct = Subquery._construct

    def counting(*arguments: Any, **options: Any) -> Any:
        built.append(str(arguments[0]))
        return construct(*arguments, **options)

    monkeypatch.setattr(Subquery, "_construct", counting)
    assert browser.save("QR", 2.0, base=1).status_code == 200
    browser.go_on()
    browser.get(browser.at)
    assert built == []

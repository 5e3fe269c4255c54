"""The slots of templates: how their values are written, and that every template can be filled."""

import string
from typing import Any, cast

import pytest

from analysis.core.estimates import Estimate
from analysis.render import sentence_templates
from analysis.render.sentences import FORMS, TEMPLATES, Fact, fact, in_words

TAU = Estimate(
    "kendall_tau_b", constructs=("QR",), scorers=("judge",), scope="pooled", target="these_raters",
    value=0.5, ci_low=0.25, ci_high=0.75, n_responses=1200, n_queries=1,
)  # fmt: skip


def written(slot: str, value: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """The text of a template with this slot alone."""
    monkeypatch.setitem(cast(dict[str, str], TEMPLATES), "alone", f"{{value{slot}}}")
    return in_words(fact("alone", value=value))


@pytest.mark.parametrize(
    ("slot", "value", "text"),
    [
        ("", "a name", "a name"),
        ("", None, ""),
        (":r", TAU, ".50"),
        (":r", -0.04, "-.04"),
        (":r+", TAU, ".50 [.25, .75]"),
        (":%", 0.254, "25%"),
        (":%+", TAU, "50% [25%, 75%]"),
        (":basis", TAU, "1,200 responses to 1 query"),
        (":+", "for these raters", " for these raters"),
        (":+", "", ""),
        (":listed", ["a", "b", "c"], "a, b and c"),
        (":queries", 1, "1 query"),
        (":queries", 4719, "4,719 queries"),
        (":pairs", 2, "2 pairs"),
        (":rated responses", 1, "1 rated response"),
        (":is/are", 1, "is"),
        (":is/are", ["a", "b"], "are"),
        (":,", 1200, "1,200"),
        (":g", 0.70, "0.7"),
        ("", fact("no_bias"), "it has no bias on these responses"),
    ],
)
def test_a_slot_says_how_its_value_is_written(
    slot: str, value: Any, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert written(slot, value, monkeypatch) == text


def test_nothing_found_is_an_empty_text() -> None:
    assert in_words(None) == ""


def test_a_slot_without_a_value_is_an_error() -> None:
    with pytest.raises(KeyError, match="reason"):
        in_words(Fact("bias_withheld", {}))


def test_no_two_templates_have_one_name() -> None:
    tables = (
        sentence_templates.ANSWERS, sentence_templates.FIRST_LINES, sentence_templates.VERDICTS,
        sentence_templates.NOTES, sentence_templates.LIMITS,
    )  # fmt: skip
    assert sum(map(len, tables)) == len(TEMPLATES)


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_every_form_of_a_slot_is_known(template: str) -> None:
    for _, _, form, _ in string.Formatter().parse(template):
        plural = form is not None and form.replace(" ", "").isalpha() and form[1:].endswith("s")
        known = form in {None, "", ",", "g", ".0%", "+.0%", *FORMS} or "/" in str(form)
        assert plural or known, form

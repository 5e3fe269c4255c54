"""Whatever the table lacks: a report is written, and it says what could not be computed and why."""

import json
import math
import re
from html import unescape
from pathlib import Path

import pytest

from analysis import analyse, write_report
from tests.analysis.degenerate import CASES
from tests.analysis.pipeline.pages import VALIDATOR

pytestmark = pytest.mark.usefixtures("without_drawing")


SLOW = {"200 systems", "half missing", "constructs that one side scored", "unconnected raters"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in CASES],
)
def test_a_report_is_written_and_gaps_have_reasons(name: str, tmp_path: Path) -> None:
    case = CASES[name]()
    scores, preferences = case.tables()
    analysis = analyse(scores, preferences, case.options)
    assert len(analysis.estimates)
    for estimate in analysis.estimates:
        label = (estimate.statistic, estimate.scorers, estimate.scope, dict(estimate.params))
        assert math.isfinite(estimate.value) or (math.isnan(estimate.value) and estimate.reason), (
            label
        )
        # An interval has both ends or none; where a value has none, a reason may say why.
        assert math.isnan(estimate.ci_low) == math.isnan(estimate.ci_high), label
        assert not math.isinf(estimate.ci_low), label
        assert not math.isinf(estimate.ci_high), label
        if not math.isnan(estimate.ci_low):
            assert estimate.ci_low <= estimate.ci_high, label
            assert estimate.ci_level is not None, label
            assert estimate.method is not None, label

    page = write_report(analysis, tmp_path / "report")
    written = json.loads((page.parent / "report.json").read_text(encoding="utf-8"))
    VALIDATOR.validate(written)
    text = visible(page.read_text(encoding="utf-8"))
    assert case.says in text
    assert not re.search(r"(?<![\w.-])(nan|NaN|inf|None)(?![\w.-])", text)


def visible(page: str) -> str:
    """Text of a page without its tags, styles and data."""
    bare = re.sub(r"<style.*?</style>|<script.*?</script>", " ", page, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]*>", " ", bare))

"""Statistics are declared once: the manual's list, report.json's ids and its order follow."""

import ast
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis import Options, PreferenceTable, Scale, analyse
from analysis.core.analysis import Analysis
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.statistic import Statistic, within_ranges
from analysis.pipeline import sections
from analysis.pipeline.report_files import as_document, report_schema
from analysis.render.output_files import as_json
from analysis.render.table import Table, TableBuilder
from study._manual.made_pages import report_ids
from tests.analysis.pipeline.test_pipeline import preference_frame
from tests.analysis.scores import simulated, table
from tests.conftest import examples

pytestmark = pytest.mark.usefixtures("without_drawing")

ANALYSIS = Path(__file__).resolve().parents[3] / "analysis"
QUICK = Options(resamples=100, bias_margin=5, non_inferiority_margin=0.1, overall="QR")


@pytest.fixture(scope="module")
def analysed() -> Analysis:
    scale = Scale(-2, 2)
    return analyse(
        table(simulated(queries=12)),
        PreferenceTable.from_frame(preference_frame(), scale),
        QUICK,
        given=(),
    )


def test_ids_are_declared_once() -> None:
    counts = Counter(statistic.id for statistic in sections.statistics())
    assert [name for name, count in counts.items() if count > 1] == []


def test_every_record_keeps_to_its_declaration(analysed: Analysis) -> None:
    declared = {statistic.id: statistic for statistic in sections.statistics()}
    assert len(analysed.estimates) > 300
    for record in analysed.estimates:
        statistic = declared[record.statistic]
        scope = "system:NAME" if record.scope.startswith("system:") else record.scope
        assert scope in statistic.scopes, record
        assert record.target is None or record.target in statistic.targets, record
        for value in (record.value, record.ci_low, record.ci_high):
            assert math.isnan(value) or statistic.contains(value), record


@settings(max_examples=examples(40))
@given(
    ends=st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)),
    statistic=st.sampled_from(sections.statistics()),
)
def test_no_interval_is_outside_the_range_of_its_statistic(
    ends: tuple[float, float], statistic: Statistic
) -> None:
    """Whatever ends are computed: an interval in the range and in order, or none and a reason."""
    estimate = Estimate(statistic.id, value=0.0, ci_low=ends[0], ci_high=ends[1], ci_level=0.95)
    (shown,) = within_ranges([statistic], [estimate])
    if shown.has_interval:
        assert shown.ci_low <= shown.ci_high
        assert statistic.contains(shown.ci_low)
        assert statistic.contains(shown.ci_high)
    else:
        assert shown.reason


def test_ids_that_the_report_looks_up_are_declared() -> None:
    known = {statistic.id for statistic in sections.statistics()}
    looked_up = {
        (name, f"{path.name}:{line}")
        for path in sorted(ANALYSIS.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name, line in _looked_up(node)
    }
    assert len(looked_up) > 150
    assert {(name, where) for name, where in looked_up if name not in known} == set()


def _looked_up(node: ast.AST) -> Iterator[tuple[str, int]]:
    """The id in `select("id")`, `first("id")` or `headings["id"]`, with its line."""
    if isinstance(node, ast.Call) and node.args:
        called, names, key = node.func, {"select", "first"}, node.args[0]
    elif isinstance(node, ast.Subscript):
        called, names, key = node.value, {"headings"}, node.slice
    else:
        return
    if isinstance(called, ast.Attribute | ast.Name) and isinstance(key, ast.Constant):
        name = called.attr if isinstance(called, ast.Attribute) else called.id
        if name in names and isinstance(key.value, str):
            yield key.value, node.lineno


def test_a_changed_heading_changes_the_columns_of_the_tables(analysed: Analysis) -> None:
    others = {statistic.id: f"<{statistic.id}>" for statistic in sections.statistics()}
    renamed = replace(analysed, headings=others)
    texts = [
        " ".join(
            (shown.caption, *shown.columns, *(cell.text for row in shown.rows for cell in row))
        )
        for part in sections.chapters(renamed)
        for shown in part.tables
    ]
    computed = {record.statistic for record in analysed.estimates if record.defined}
    assert len(computed) > 50
    in_no_table = {name for name in computed if not any(f"<{name}>" in text for text in texts)}
    assert in_no_table == {
        # In figures.
        "spearman_brown",
        "reliability_bin",
        "error_by_level",
        # Below another figure in its cell.
        "calibration_error_squared_upper",
        # In a table of pairs that are decided differently, of which there is none here.
        "decision",
        # In notes of the verdict.
        "difference_without_query",
        # In the figures that decide what a judge can be used for.
        "average_rater_difference",
        "choice_regret",
        "pairwise_accuracy_difference",
        # In estimates.csv.
        "pearson_by_scale_use",
        "recalibrated_mae_difference",
        # In columns with the headings of the figures of all responses.
        "slice_tau_b",
        "slice_bias",
    }


def test_no_table_writes_a_declared_heading_by_itself() -> None:
    headings = {statistic.heading for statistic in sections.statistics()}
    written = [
        (node.value, f"{path.name}:{node.lineno}")
        for path in sorted((ANALYSIS / "topics").rglob("*.py"))
        for node in _outside_declarations(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in headings
    ]
    assert written == []


def _outside_declarations(node: ast.AST) -> Iterator[ast.AST]:
    declares = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    if declares and node.func.id in {"Statistic", "_statistic"}:
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _outside_declarations(child)


def test_the_manual_lists_the_declarations_in_the_order_of_the_report() -> None:
    listed = re.findall(r"^\| `(\w+)` \| \S", report_ids(), re.M)
    assert listed == [one.id for section in sections.SECTIONS for one in section.statistics]


def test_a_report_has_declared_ids_only(analysed: Analysis) -> None:
    written = as_json(as_document(analysed))
    jsonschema.Draft202012Validator(report_schema()).validate(written)
    written["estimates"][0]["statistic"] = "pearsons_r"
    with pytest.raises(jsonschema.ValidationError, match="pearsons_r"):
        jsonschema.Draft202012Validator(report_schema()).validate(written)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"id": "Median"}, "lower case"),
        ({"better": "best"}, "better"),
        ({"scopes": ("overall",)}, "overall"),
        ({"targets": ("raters",)}, "raters"),
    ],
)
def test_a_wrong_declaration_is_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        replace(MEDIAN_DIFFERENCE, **wrong)


def test_the_range_is_kept_but_for_float_noise() -> None:
    assert MEDIAN_DIFFERENCE.contains(0.0)
    assert MEDIAN_DIFFERENCE.contains(-1e-12)
    assert not MEDIAN_DIFFERENCE.contains(-0.1)


# The walk of CONTRIBUTING.md: a new statistic, its function and declaration, and its table.


def median_differences(context: Context) -> Iterator[Estimate]:
    for scored in context.scored():
        difference = np.abs(scored.values - scored.data.reference)
        yield Estimate(
            "median_difference",
            value=float(np.nanmedian(difference)),
            n_responses=int(np.isfinite(difference).sum()),
            **scored.record(),
        )


MEDIAN_DIFFERENCE = Statistic(
    "median_difference",
    "Median",
    "median of the absolute differences, in points",
    median_differences,
    range=(0, None),
    better="lower",
    targets=("these_raters",),
)


def medians(analysis: Analysis) -> Iterator[Table]:
    built = TableBuilder()
    for record in analysis.estimates.select("median_difference"):
        built.add(*record.constructs, record.scorers[0], built.number(record, ".1f"))
    yield built.table(
        "medians",
        "Medians",
        "",
        ("Construct", "Scorer", analysis.headings["median_difference"]),
        heads=2,
    )


def test_a_new_statistic_is_in_the_report_its_schema_and_the_manual(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, *others = sections.SECTIONS
    with_median = replace(
        first,
        statistics=(*first.statistics, MEDIAN_DIFFERENCE),
        tables=(*first.tables, medians),
    )
    monkeypatch.setattr(sections, "SECTIONS", (with_median, *others))
    analysis = analyse(table(simulated(queries=12)), options=Options(resamples=100))
    (median,) = analysis.estimates.select("median_difference", construct="QR", scorer="judge")
    frame = simulated(queries=12)
    of = frame[frame["construct"] == "QR"].pivot_table(
        index="response_id", columns="scorer", values="value"
    )
    people = of.drop(columns="judge").mean(axis=1)
    assert median.value == pytest.approx((of["judge"] - people).abs().median())
    document = as_document(analysis)
    (medians_shown,) = (shown for shown in document.tables if shown.key == "medians")
    assert medians_shown.columns == ("Construct", "Scorer", "Median")
    jsonschema.Draft202012Validator(report_schema()).validate(as_json(document))
    assert "| `median_difference` | Median | median of the absolute" in report_ids()

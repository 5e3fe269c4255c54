"""What the report shows of constructs among each other, and of the paper's tables."""

from pathlib import Path

import pandas as pd
import pytest

from analysis import Options, analyse, write_report
from analysis.core.analysis import Analysis
from analysis.render.section import chapter
from analysis.render.table import Table
from analysis.topics.distribution import section as on_scores
from analysis.topics.validity import section as on_validity
from tests.analysis.scores import simulated, table

KEYS = ("CC", "QR", "ID")


def _frame() -> pd.DataFrame:
    frame = simulated(queries=20, systems=2, constructs=KEYS)
    return frame.assign(system=frame["system"].map({"s0": "A", "s1": "B"}))


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyse(table(_frame()), options=Options(resamples=200))


@pytest.fixture(scope="module")
def beside() -> Analysis:
    options = Options(resamples=200, published=True, second_metrics=("ID",))
    return analyse(table(_frame()), options=options)


def tables(analysis: Analysis) -> dict[str, Table]:
    result = [chapter(module.SECTION, analysis) for module in (on_validity, on_scores)]
    return {entry.key: entry for part in result if part is not None for entry in part.tables}


def test_validity_is_said_in_plain_words(analysis: Analysis) -> None:
    judge, people, across = on_validity.SECTION.reading(analysis)
    assert judge.startswith("judge: of its constructs ")
    assert "within a rater and" in people
    assert people.startswith("People: over all pairs of constructs halo")
    assert "Largest of 3 pairs: " in people
    assert "People and judge: a construct correlates" in across
    # Correlations of noise around 0 have no geometric mean where one is negative.
    assert "No two constructs have an HTMT above .90 (2 of 3 undefined)." in across


def test_people_are_shown_on_each_pair_of_different_constructs(analysis: Analysis) -> None:
    # A construct with itself is a reliability, which is shown elsewhere.
    rows = tables(analysis)["human-constructs"].rows
    assert [row[0].text for row in rows] == ["CC and QR", "CC and ID", "QR and ID"]


def test_every_figure_has_its_numbers_in_words(analysis: Analysis) -> None:
    part = chapter(on_validity.SECTION, analysis)
    assert part is not None
    assert [figure.key for figure in part.figures] == [
        "construct-correlations",
        "construct-correlations-by-system",
        "multitrait",
    ]
    entry = analysis.estimates.first("mtmm_correlation")
    assert entry is not None
    for figure in part.figures:
        for drawing in figure.drawings:
            assert "CC" in drawing.svg
            assert "#01020" not in drawing.svg
        assert len(figure.data)


def test_the_papers_layout_has_systems_in_rows(analysis: Analysis) -> None:
    means = tables(analysis)["paper-means-1"]
    assert means.columns == ("System", *KEYS)
    assert [row[0].text for row in means.rows] == ["A", "B"]
    mean = analysis.estimates.first("mean", construct="CC", scorer="judge", scope="system:A")
    assert mean is not None
    assert means.rows[0][1].text == f"{mean.value:.2f}"
    assert {"paper-bounds-1", "paper-ties-1", "paper-center-1", "paper-spread-1"} <= set(
        tables(analysis)
    )


def test_published_figures_stand_beside_where_they_are_wanted(
    analysis: Analysis, beside: Analysis
) -> None:
    means = tables(beside)["paper-means-1"]
    assert means.columns == ("System", "CC", "CC, paper", "QR", "QR, paper", "ID", "ID, paper")
    assert means.rows[0][2].text == "87.95"
    ours, plain = (tables(of)["construct-correlations-1"] for of in (beside, analysis))
    assert [row[2].text for row in ours.rows[:2]] == ["here", "paper"]
    assert [cell.text for cell in ours.rows[1][4:]] == [".21", ".20"]
    assert plain.columns == ("Measure", "Constructs", "Average correlation", "A", "B")


def test_points_on_another_scale_do_not_stand_beside_the_papers() -> None:
    from analysis import Scale

    frame = _frame()
    small = table(frame.assign(value=frame["value"] / 100), Scale(0, 1))
    shown = tables(analyse(small, options=Options(resamples=200, published=True)))
    assert shown["paper-means-1"].columns == ("System", *KEYS)
    assert "CC, paper" in shown["paper-ties-1"].columns


def test_a_second_set_has_its_table_and_figure(beside: Analysis) -> None:
    second = tables(beside)["metric-sets"]
    assert [(row[0].text, row[1].text) for row in second.rows] == [
        ("CC, judge", "ID, judge"),
        ("QR, judge", "ID, judge"),
    ]
    part = chapter(on_validity.SECTION, beside)
    assert part is not None
    assert "metric-sets" in [figure.key for figure in part.figures]


@pytest.mark.usefixtures("without_drawing")
def test_the_report_is_written_with_all_of_it(beside: Analysis, tmp_path: Path) -> None:
    write_report(beside, tmp_path / "report")
    assert (tmp_path / "report" / "tables" / "figure-multitrait.csv").exists()
    assert (tmp_path / "report" / "tables" / "figure-bounds-by-system.csv").exists()

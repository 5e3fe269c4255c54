"""Reports of tables that lack something: judges, raters, spread, scores or values."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from analysis import Options, PreferenceTable, Scale, ScoreTable, analyse, write_report
from analysis.core.analysis import Analysis
from analysis.pipeline.report_files import as_document
from tests.analysis.pipeline.pages import VALIDATOR, read
from tests.analysis.scores import POINTS, rows, simulated, table

QUICK = Options(resamples=200)


def adjudicated() -> Analysis:
    frame = simulated()
    final = frame[frame["scorer"] == "rater-1"].assign(
        scorer="final", scorer_kind="adjudicated", value=80.0
    )
    options = Options(resamples=100, reference="adjudicated")
    return analyse(table(pd.concat([frame, final])), options=options)


@pytest.mark.usefixtures("without_drawing")
def test_an_adjudicated_reference_is_named_and_has_no_empty_tables() -> None:
    document = as_document(adjudicated())
    by_name = {t.key: t for t in document.tables}
    assert "human-ceiling" not in by_name
    assert not any(figure.key == "ceiling" for figure in document.figures)
    assert any("How a judge compares with a rater" in s for s in document.not_established)
    column = by_name["systems"].columns.index("Mean, adjudicated")
    assert {row[column].text for row in by_name["systems"].rows} == {"80.0"}


@pytest.mark.usefixtures("without_drawing")
def test_a_deviation_has_the_digits_of_its_scale() -> None:
    frame = simulated()
    frame["value"] = frame["value"] / 100
    analysis = analyse(table(frame, Scale(0, 1)), options=QUICK)
    properties = next(t for t in as_document(analysis).tables if t.key == "distribution")
    deviation = properties.rows[0][properties.columns.index("SD")].text
    assert re.fullmatch(r"0\.\d{3}", deviation)


def judge_only() -> pd.DataFrame:
    return simulated(raters=0)


def constant() -> pd.DataFrame:
    return simulated().assign(value=70.0)


def all_missing() -> pd.DataFrame:
    return simulated().assign(value=np.nan, missing_reason="unparsed")


def judge_missing() -> pd.DataFrame:
    frame = simulated()
    frame.loc[frame["scorer"] == "judge", "value"] = np.nan
    return frame


def half_constant() -> pd.DataFrame:
    frame = simulated()
    frame.loc[frame["scorer"] == "judge", "value"] = 100.0
    return frame


def adjudicated_only() -> pd.DataFrame:
    frame = simulated(raters=1)
    return frame.replace({"scorer_kind": {"human": "adjudicated"}})


DEGENERATE = {
    "no humans": judge_only,
    "no judge": lambda: simulated().query("scorer != 'judge'"),
    "one rater": lambda: simulated(raters=1),
    "two raters": lambda: simulated(raters=2),
    "one system": lambda: simulated(systems=1),
    "two systems": lambda: simulated(systems=2),
    "no system column": lambda: simulated().drop(columns="system"),
    "constant": constant,
    "constant judge": half_constant,
    "all missing": all_missing,
    "judge missing": judge_missing,
    "nearly all missing": lambda: simulated(missing=0.97),
    "one query": lambda: simulated(queries=1),
    "one response": lambda: simulated(queries=1, systems=1),
    "two queries": lambda: simulated(queries=2, systems=2),
    "one value": lambda: rows({}),
    "adjudicated": adjudicated_only,
    "the judge is a rater": lambda: simulated(judge_noise=0, kindness=0),
}


@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize(
    "scale",
    [
        pytest.param(POINTS, id="declared"),
        pytest.param(None, id="undeclared", marks=pytest.mark.slow),
    ],
)
def test_degenerate_tables_give_a_report_with_reasons(
    case: str, scale: Scale | None, tmp_path: Path
) -> None:
    reference = "adjudicated" if case == "adjudicated" and scale is None else "mean_of_raters"
    options = Options(resamples=100, reference=reference)
    analysis = analyse(table(DEGENERATE[case](), scale), options=options)
    page = write_report(analysis, tmp_path / "report").read_text(encoding="utf-8")
    assert read(page).open == []
    written = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    VALIDATOR.validate(written)
    assert written["verdict"]
    assert written["not_established"]
    assert "nan" not in re.sub(r"data:[^\"]*|<svg.*?</svg>", "", page, flags=re.S).lower().split()


def test_a_metric_is_drawn_under_its_own_kind() -> None:
    frame = simulated().replace({"scorer_kind": {"judge": "metric"}})
    for figure in as_document(analyse(table(frame), options=QUICK)).figures:
        if figure.key in {"against-humans", "distributions"}:
            root = ElementTree.fromstring(figure.drawings[0].svg)
            shown = [node.text or "" for node in root.iter() if node.tag.endswith("text")]
            assert any("metric" in text for text in shown), figure.key
            assert not any("judge" in text for text in shown), figure.key


def test_a_column_without_a_cell_is_left_out() -> None:
    document = as_document(analyse(table(simulated(raters=0)), options=QUICK))
    systems = next(t for t in document.tables if t.key == "systems")
    assert "Mean of people" not in systems.columns
    assert {len(row) for row in systems.rows} == {len(systems.columns)}


def test_preferences_alone_give_a_report(tmp_path: Path) -> None:
    preferred = pd.DataFrame(
        {
            "query_id": [f"q{i // 2}" for i in range(20)],
            "response_a": [f"a{i // 2}" for i in range(20)],
            "response_b": [f"b{i // 2}" for i in range(20)],
            "construct": "overall",
            "scorer": ["ann", "bob"] * 10,
            "scorer_kind": "human",
            "value": np.random.default_rng(1).integers(-2, 3, 20),
        }
    )
    scores = ScoreTable.from_frame(rows({}).iloc[:0])
    analysis = analyse(scores, PreferenceTable.from_frame(preferred, Scale(-2, 2)), QUICK)
    write_report(analysis, tmp_path / "report")
    written = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    VALIDATOR.validate(written)
    assert {e["statistic"] for e in written["estimates"]} == {
        "pearson",
        "spearman",
        "agreement_within",
    }
    assert written["verdict"][0]["sentence"].endswith("there are no scores to compare them with.")

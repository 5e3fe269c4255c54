"""The responses on which judge and people differ most, and the judge's reasons for them."""

import csv
import json
import re
from pathlib import Path

import pytest

from analysis import Options, Scale, ScoreTable, analyse, write_report
from analysis.render.labels import quoted
from analysis.topics.agreement.largest_disagreements import LISTED, largest_disagreements
from tests.analysis.pipeline.pages import VALIDATOR
from tests.analysis.scores import POINTS, rows, simulated, table

pytestmark = pytest.mark.usefixtures("without_drawing")

QUICK = Options(resamples=200)


def planted() -> ScoreTable:
    """Three responses: the judge 30 too high, 40 too low, and right; a fourth without a judge."""
    people = {"a": (50, 70), "b": (80, 80), "c": (20, 20), "d": (10, 10)}
    judged = {"a": 90.0, "b": 40.0, "c": 20.0, "d": None}
    records: list[dict[str, object]] = []
    for name, (entry, other) in people.items():
        place = {"response_id": name, "query_id": f"q{name}"}
        records += [
            {**place, "scorer": "ann", "value": float(entry)},
            {**place, "scorer": "ben", "value": float(other)},
            {**place, "scorer": "judge", "scorer_kind": "judge", "value": judged[name]},
            {**place, "scorer": "EM", "scorer_kind": "metric", "value": 0.0},
        ]
    return table(rows(*records))


def test_the_largest_differences_first_and_none_where_both_agree() -> None:
    disagreements = list(largest_disagreements(analyse(planted(), options=QUICK).context))
    assert [tuple(entry) for entry in disagreements] == [
        ("QR", "judge", "b", "qb", 40.0, 80.0, -40.0),
        ("QR", "judge", "a", "qa", 90.0, 60.0, 30.0),
    ]


def test_points_of_other_scales_are_not_subtracted() -> None:
    frame = planted().frame.astype({"scorer": "object"})
    apart = ScoreTable.from_frame(frame, {"QR": POINTS}, {("judge", "QR"): Scale(0, 200)})
    assert list(largest_disagreements(analyse(apart, options=QUICK).context)) == []


def test_reasons_stand_on_the_page_in_the_json_and_whole_in_the_csv(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script> \u202eesrever\x1b[2J\n" + "long " * 200_000
    reasons = {("judge", "b", "QR"): hostile, ("judge", "a", "QR"): "=1+1 is -5 too many"}
    page = write_report(analyse(planted(), options=QUICK), tmp_path / "r", reasons=reasons)
    text = page.read_text(encoding="utf-8")
    (part,) = re.findall(r'(?s)id="table-largest-disagreements">.*?</section>', text)
    cells = re.sub(r'href="data:[^"]*"', "", part)
    assert "&lt;script&gt;alert(1)&lt;/script&gt; \\u202eesrever\\x1b[2J long" in cells
    assert "<script" not in cells
    assert "\u202e" not in cells
    assert len(cells) < 5000
    # What somebody wrote keeps its hyphen.
    assert "=1+1 is -5 too many" in cells
    written = json.loads((tmp_path / "r" / "report.json").read_text(encoding="utf-8"))
    VALIDATOR.validate(written)
    assert [entry["reason"] for entry in written["largest_disagreements"]] == [
        hostile,
        "=1+1 is -5 too many",
    ]
    csv.field_size_limit(2**24)
    with (tmp_path / "r" / "tables" / "largest-disagreements.csv").open(encoding="utf-8") as file:
        disagreements = list(csv.DictReader(file))
    assert [row["reason"].split()[0] for row in disagreements] == [
        "<script>alert(1)</script>",
        "'=1+1",
    ]
    assert len(disagreements[0]["reason"]) == len(hostile)


def test_without_reasons_there_is_no_column_for_them_and_no_more_than_enough(
    tmp_path: Path,
) -> None:
    analysis = analyse(table(simulated(queries=20)), options=QUICK)
    page = write_report(analysis, tmp_path / "r").read_text(encoding="utf-8")
    (part,) = re.findall(r'(?s)id="table-largest-disagreements">.*?</section>', page)
    assert "Reason" not in re.sub(r'href="[^"]*"', "", part)
    assert part.count("<tr") == 1 + 3
    assert len(list(largest_disagreements(analysis.context))) == LISTED


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [
        ("It says so.", 20, "It says so."),
        ("It  says\nso.", 20, "It says so."),
        ("It says so twice.", 11, "It says so…"),
        ("\u2066a\u2069", 20, "\\u2066a\\u2069"),
        ("\ud800", 20, "\\ud800"),
    ],
    ids=["short", "lines", "cut", "isolate", "surrogate"],
)
def test_long_texts_are_quoted_shortened(text: str, most: int, shown: str) -> None:
    assert quoted(text, most) == shown

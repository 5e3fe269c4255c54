"""Names and texts from data in the report: as text, cut to the width, and distinct."""

from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

from analysis import Options, analyse, write_report
from analysis.pipeline.report_files import as_document
from analysis.render.labels import distinct_labels, shortened
from analysis.render.output_files import csv_text
from tests.analysis.pipeline.pages import read
from tests.analysis.scores import simulated, table

QUICK = Options(resamples=200)

NASTY = '<script>alert(1)</script> & "q" $x_1^2$ 判定 \'=1+1'


def test_names_from_data_are_text_everywhere(tmp_path: Path) -> None:
    frame = simulated()
    frame["construct"] = f"C{NASTY}"
    frame["system"] = frame["system"] + NASTY
    frame["scorer"] = "=" + frame["scorer"] + NASTY
    analysis = analyse(table(frame), options=QUICK, title=NASTY)
    page = write_report(analysis, tmp_path / "report").read_text(encoding="utf-8")
    tags = read(page)
    assert tags.open == []
    assert "script" not in tags.tags
    text = (tmp_path / "report" / "tables" / "estimates.csv").read_text(encoding="utf-8")
    cells = pd.read_csv(tmp_path / "report" / "tables" / "estimates.csv")["scorers"]
    # The constant judge of the alternative annotator test has a name of ours.
    assert cells[~cells.str.startswith("constant + =")].str.startswith("'=").all()
    assert text


def long_names(letters: str) -> pd.DataFrame:
    """Two constructs, judges and systems with names of 60 characters that differ at their end."""
    frame = simulated(constructs=("A", "B"), queries=8)
    frame = pd.concat([frame, frame[frame["scorer"] == "judge"].assign(scorer="other")])
    for column in ("construct", "scorer", "system"):
        numbers = {name: number for number, name in enumerate(frame[column].unique())}
        frame[column] = [f"{letters * 59}{numbers[name]}"[-60:] for name in frame[column]]
    return frame


@pytest.mark.parametrize(
    "letters",
    ["W", *(pytest.param(letter, marks=pytest.mark.slow) for letter in ("n", "判"))],
)
def test_long_names_fit_their_figures_and_stand_in_full_in_their_descriptions(letters: str) -> None:
    frame = long_names(letters)
    drawings = [
        (figure.key, drawing)
        for figure in as_document(analyse(table(frame), options=QUICK)).figures
        for drawing in figure.drawings
    ]
    assert {key for key, _ in drawings} >= {
        "ceiling", "against-humans", "distributions", "box-plots", "bias-by-system",
    }  # fmt: skip
    for key, drawing in drawings:
        root = ElementTree.fromstring(drawing.svg)
        text = next(node.text for node in root.iter() if node.tag.endswith("desc"))
        shown = [node.text for node in root.iter() if node.tag.endswith("text") and node.text]
        assert max(map(len, shown)) <= 46
        of_people = key in {"severities", "reliability-of-means", "designs"}
        named = "human" if key == "severities" else "judge"
        columns = ["construct", *(["scorer"] if key == "severities" or not of_people else [])]
        for column in (*columns, *(["system"] if key == "bias-by-system" else [])):
            names = frame.loc[frame["scorer_kind"] == named, column].unique()
            assert any(name in f"{drawing.title} {text}" for name in names), (key, column)


def test_a_name_is_cut_in_its_middle() -> None:
    assert shortened("short", 20) == "short"
    assert shortened("a-named-reader-of-pages-v1", 16) == "a-named…ages-v1"
    assert shortened("判" * 12, 10) == "判判…判判"
    assert len(shortened("W" * 60, 22)) < len(shortened("n" * 60, 22)) == 22


def test_long_names_that_differ_in_the_middle_stay_apart() -> None:
    names = [f"retriever-bm25+reranker-{number}+llama-3.1-70b-instruct" for number in range(6)]
    names += ["reader"]
    names += [f"a-long-name-{a}-and-words-{b}-at-length" for a, b in ("11", "12", "21")]
    for room in (12, 20):
        short = distinct_labels(names, room)
        assert len(set(short)) == len(names)
        assert max(map(len, short)) <= room + 2
        assert short[6] == "reader"


def test_a_cell_of_text_can_not_act_as_a_formula() -> None:
    frame = pd.DataFrame({"name": ["=1+1", "@x", "-3 degrees", "fine"], "value": [-1.5, 2, 3, 4]})
    lines = csv_text(frame).splitlines()
    assert lines[1:] == ["'=1+1,-1.5", "'@x,2.0", "'-3 degrees,3.0", "fine,4.0"]

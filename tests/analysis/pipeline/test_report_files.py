"""The page, report.json and tables that a report writes."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pandas as pd
import pytest

from analysis import Options, analyse, write_report
from analysis.core.analysis import Analysis
from analysis.core.errors import ReportError
from analysis.pipeline.report_files import as_document, report_schema, write_document
from analysis.render.document import Document
from analysis.render.output_files import as_json
from analysis.verify import verify
from tests.analysis.pipeline.pages import VALIDATOR, read
from tests.analysis.scores import simulated, table

QUICK = Options(resamples=200)


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyse(table(simulated(constructs=("QR", "AC"), missing=0.1)), options=QUICK)


@pytest.fixture(scope="module")
def content(analysis: Analysis) -> Document:
    return as_document(analysis, "ccrs report x")


@pytest.fixture(scope="module")
def report(content: Document, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a report, in which nothing is changed."""
    return write_document(content, tmp_path_factory.mktemp("written") / "report").parent


def test_the_page_is_whole_alone_and_quiet(report: Path) -> None:
    page = (report / "report.html").read_text(encoding="utf-8")
    tags = read(page)
    assert tags.open == []
    assert len(tags.ids) == len(set(tags.ids))
    assert "script" not in tags.tags
    assert all(target.startswith(("#", "tables/")) for target in tags.loaded)
    assert {t[1:] for t in tags.loaded if t.startswith("#")} <= set(tags.ids)
    assert "default-src 'none'" in page
    order = [page.index(f'id="{part}"') for part in ("verdict", "agreement", "people")]
    assert order == sorted(order)
    assert page.index('id="not-established"') > order[-1]


def test_every_drawing_is_an_image_with_title_and_description(content: Document) -> None:
    drawings = [d for figure in content.figures for d in figure.drawings]
    assert len(drawings) >= 7
    for drawing in drawings:
        root = ElementTree.fromstring(drawing.svg)
        assert root.get("role") == "img"
        labels = str(root.get("aria-labelledby")).split()
        texts = {node.get("id"): node.text for node in root.iter() if node.get("id") in labels}
        assert len(texts) == 2
        assert all(texts.values())
        # Colors come from the page: nothing is black or white on its own.
        assert not re.search(r"#0102|#ffffff|#000000", drawing.svg)


def test_the_json_follows_the_shipped_schema(analysis: Analysis, report: Path) -> None:
    written = json.loads((report / "report.json").read_text(encoding="utf-8"))
    VALIDATOR.validate(written)
    assert written["schema_version"] == 1
    assert written["provenance"]["seed"] == 0
    assert written["provenance"]["command"] == "ccrs report x"
    assert len(written["provenance"]["input_hash"]["scores"]) == 64
    assert len(written["estimates"]) == len(analysis.estimates)


def test_the_schema_is_one_and_refuses_what_it_does_not_know(content: Document) -> None:
    jsonschema.Draft202012Validator.check_schema(report_schema())
    plain = as_json(content)
    plain["estimates"][0]["p_value"] = 0.05
    with pytest.raises(jsonschema.ValidationError, match="p_value"):
        VALIDATOR.validate(plain)


@pytest.mark.usefixtures("without_drawing")
def test_a_note_stands_with_its_scorer_before_any_answer(tmp_path: Path) -> None:
    notes = {"judge": "random: <b>-5</b> means nothing", "rater-1": "tired"}
    noted = analyse(table(simulated()), options=Options(resamples=200, scorer_notes=notes))
    page = write_report(noted, tmp_path / "report").read_text(encoding="utf-8")
    note = "<strong>judge</strong> (judge): random: &lt;b&gt;-5&lt;/b&gt; means nothing"
    assert page.index('id="answer"') < page.index(note) < page.index('class="answers"')
    assert "<strong>rater-1</strong> (human): tired" in page
    written = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    VALIDATOR.validate(written)
    assert {entry["scorer"]: (entry["kind"], entry["note"]) for entry in written["scorers"]} == {
        "judge": ("judge", notes["judge"]),
        "rater-1": ("human", "tired"),
        "rater-2": ("human", None),
        "rater-3": ("human", None),
    }


@pytest.mark.usefixtures("without_drawing")
def test_the_head_counts_judges_and_what_follows_from_them_apart(tmp_path: Path) -> None:
    frame = simulated()
    judged = frame[frame["scorer"] == "judge"]
    derived_from = {"judge (expected)": ("judge",), "jury": ("judge", "second")}
    more = [judged.assign(scorer=name) for name in ("second", *derived_from)]
    noted = analyse(
        table(pd.concat([frame, *more])), options=Options(resamples=200, derived_from=derived_from)
    )
    page = write_report(noted, tmp_path / "report").read_text(encoding="utf-8")
    assert "3 raters, 2 judges and 2 scorers derived from judges" in page


@pytest.mark.usefixtures("without_drawing")
def test_the_runs_of_a_judge_are_part_of_the_provenance(analysis: Analysis, tmp_path: Path) -> None:
    run = {
        "name": "judge",
        "engine": "openai",
        "model": "<llama>",
        "model_revision": None,
        "prompt_version": "ccrs-paper-v1",
        "prompt_hash": "ab" * 32,
        "layout": "ours",
        "decoding": {
            "max_tokens": 16,
            "temperature": None,
            "refused": [],
            "ignored": ["seed", "n"],
        },
        "seed": 7,
        "repeats": 2,
    }
    page = write_report(analysis, tmp_path / "report", judge_runs=[run])
    written = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    VALIDATOR.validate(written)
    assert written["provenance"]["judge_runs"] == [run]
    text = re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8"))
    assert (
        "judge: &lt;llama&gt; by openai; prompts ccrs-paper-v1 abababababababab (ours); "
        "asked 2 times; seed 7; max tokens 16; ignored seed, n"
    ) in text


@pytest.mark.usefixtures("without_drawing")
@pytest.mark.slow
def test_the_result_of_the_verification_goes_into_page_and_json(
    analysis: Analysis, tmp_path: Path
) -> None:
    checks = [check.as_json() for check in verify(analysis.scores)]
    page = write_report(analysis, tmp_path / "report", checks=checks)
    written = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    VALIDATOR.validate(written)
    assert written["provenance"]["verification"] == checks
    assert f"{len(checks)} of {len(checks)} figures equal" in page.read_text(encoding="utf-8")


def test_csv_files_are_listed_and_hold_the_figures(analysis: Analysis, report: Path) -> None:
    written = json.loads((report / "report.json").read_text(encoding="utf-8"))
    there = {path.name for path in (report / "tables").iterdir()}
    assert there == set(written["tables"])
    empty = [name for name in there if pd.read_csv(report / "tables" / name).empty]
    assert empty == []
    estimates = pd.read_csv(report / "tables" / "estimates.csv")
    assert len(estimates) == len(analysis.estimates)


@pytest.mark.slow
def test_two_reports_on_the_same_table_are_equal(tmp_path: Path) -> None:
    scores = table(simulated(missing=0.1))
    pages = []
    for name in ("a", "b"):
        page = write_report(analyse(scores, options=QUICK), tmp_path / name)
        text = page.read_text(encoding="utf-8")
        pages.append(re.sub(r"<dt>Created</dt><dd>[^<]*", "", text))
    assert pages[0] == pages[1]


@pytest.mark.usefixtures("without_drawing")
def test_an_old_report_is_replaced_with_its_tables(content: Document, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    write_document(content, folder)
    assert (folder / "tables" / "human-ceiling.csv").exists()
    (folder / "mine.txt").write_text("kept", encoding="utf-8")
    small = analyse(table(simulated(raters=0)), options=QUICK)
    write_report(small, folder)
    assert not (folder / "tables" / "human-ceiling.csv").exists()
    assert (folder / "mine.txt").exists()


def test_a_folder_that_is_no_report_is_left_alone(content: Document, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x", encoding="utf-8")
    with pytest.raises(ReportError, match="contains other files and no report"):
        write_document(content, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    other = tmp_path / "other"
    other.mkdir()
    (other / "report.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ReportError, match="was not written by"):
        write_document(content, other)
    with pytest.raises(ReportError, match="is a file"):
        write_document(content, tmp_path / "thesis.tex")


def test_a_list_of_tables_can_not_reach_outside_the_folder(
    content: Document, tmp_path: Path
) -> None:
    folder = tmp_path / "report"
    write_document(content, folder)
    (tmp_path / "victim.csv").write_text("x", encoding="utf-8")
    marker = folder / "report.json"
    forged = json.loads(marker.read_text(encoding="utf-8"))
    forged["tables"].append("../../victim.csv")
    marker.write_text(json.dumps(forged), encoding="utf-8")
    write_document(content, folder)
    assert (tmp_path / "victim.csv").exists()


def test_a_document_is_written_twice_without_being_worked_out_twice(content: Document) -> None:
    assert content.with_checks([]).chapters is content.chapters

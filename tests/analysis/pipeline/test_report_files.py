import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pandas as pd
import pytest

from analysis import Options, PreferenceTable, Scale, ScoreTable, analyse, write_report
from analysis.core.analysis import Analysis
from analysis.core.errors import ReportError
from analysis.pipeline.report_files import as_document, report_schema, write_document
from analysis.render.labels import shortened, told_apart
from analysis.render.output_files import as_json, csv_text
from analysis.verify import verify
from tests.analysis.scores import POINTS, rows, simulated, table

QUICK = Options(resamples=200)
VALIDATOR = jsonschema.Draft202012Validator(
    report_schema(), format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
)


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyse(table(simulated(constructs=("QR", "AC"), missing=0.1)), options=QUICK)


class Tags(HTMLParser):
    """Collects what a page loads, its ids, and whether tags close."""

    VOID = frozenset({"meta", "br", "link", "img", "input", "hr"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.loaded: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        if attributes.get("id"):
            self.ids.append(str(attributes["id"]))
        for name in ("src", "href", "xlink:href", "action"):
            if attributes.get(name):
                self.loaded.append(str(attributes[name]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag


def read(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    return tags


def test_the_page_is_whole_alone_and_quiet(analysis: Analysis, tmp_path: Path) -> None:
    page = write_report(analysis, tmp_path / "report").read_text(encoding="utf-8")
    tags = read(page)
    assert tags.open == []
    assert len(tags.ids) == len(set(tags.ids))
    assert "script" not in tags.tags
    assert all(target.startswith(("#", "data:text/csv")) for target in tags.loaded)
    assert {t[1:] for t in tags.loaded if t.startswith("#")} <= set(tags.ids)
    assert "default-src 'none'" in page
    order = [page.index(f'id="{part}"') for part in ("verdict", "agreement", "people")]
    assert order == sorted(order)
    assert page.index('id="not-established"') > order[-1]


def test_every_drawing_is_an_image_with_title_and_description(analysis: Analysis) -> None:
    drawings = [d for figure in as_document(analysis).figures for d in figure.drawings]
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


@pytest.mark.usefixtures("without_drawing")
def test_the_json_follows_the_shipped_schema(analysis: Analysis, tmp_path: Path) -> None:
    write_report(analysis, tmp_path / "report", command="ccrs report x")
    written = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    VALIDATOR.validate(written)
    assert written["schema_version"] == 1
    assert written["provenance"]["seed"] == 0
    assert written["provenance"]["command"] == "ccrs report x"
    assert len(written["provenance"]["input_hash"]["scores"]) == 64
    assert len(written["estimates"]) == len(analysis.estimates)


@pytest.mark.usefixtures("without_drawing")
def test_the_schema_refuses_what_it_does_not_know(analysis: Analysis) -> None:
    plain = as_json(as_document(analysis))
    plain["estimates"][0]["p_value"] = 0.05
    with pytest.raises(jsonschema.ValidationError, match="p_value"):
        VALIDATOR.validate(plain)


@pytest.mark.usefixtures("without_drawing")
def test_a_note_stands_with_its_scorer_before_any_verdict(tmp_path: Path) -> None:
    notes = {"judge": "random: <b>-5</b> means nothing", "rater-1": "tired"}
    noted = analyse(table(simulated()), options=Options(resamples=200, scorer_notes=notes))
    page = write_report(noted, tmp_path / "report").read_text(encoding="utf-8")
    note = "<strong>judge</strong> (judge): random: &lt;b&gt;-5&lt;/b&gt; means nothing"
    assert page.index('id="verdict"') < page.index(note) < page.index('class="verdict ')
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
def test_how_answers_were_read_is_on_the_page_where_it_matters(tmp_path: Path) -> None:
    frame = simulated()
    judged = frame["scorer_kind"] == "judge"
    frame["rule"] = pd.Series("bare", frame.index).where(judged, None)
    plain = write_report(analyse(table(frame), options=QUICK), tmp_path / "plain")
    assert "table-answers-read" not in plain.read_text(encoding="utf-8")
    frame.loc[judged & (frame["response_id"] == "r1"), "rule"] = "<first_line>"
    page = write_report(analyse(table(frame), options=QUICK), tmp_path / "report")
    text = page.read_text(encoding="utf-8")
    assert 'id="table-answers-read"' in text
    assert 'id="table-bare-numbers"' in text
    assert "1 &lt;first line&gt;" in text
    assert "Labels are known in English only" in " ".join(text.split())
    written = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    VALIDATOR.validate(written)
    assert {"answers-read.csv", "bare-numbers.csv"} <= set(written["tables"])
    bare = [e for e in written["estimates"] if e["params"].get("answers") == "bare"]
    assert len(bare) == 10


@pytest.mark.usefixtures("without_drawing")
def test_the_result_of_the_verification_goes_into_page_and_json(
    analysis: Analysis, tmp_path: Path
) -> None:
    checks = [check.as_json() for check in verify(analysis.scores)]
    page = write_report(analysis, tmp_path / "report", checks=checks)
    written = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    VALIDATOR.validate(written)
    assert written["provenance"]["verification"] == checks
    assert f"{len(checks)} of {len(checks)} figures equal" in page.read_text(encoding="utf-8")


@pytest.mark.usefixtures("without_drawing")
def test_csv_files_are_listed_and_hold_the_figures(analysis: Analysis, tmp_path: Path) -> None:
    write_report(analysis, tmp_path / "report")
    written = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    there = {path.name for path in (tmp_path / "report" / "tables").iterdir()}
    assert there == set(written["tables"])
    estimates = pd.read_csv(tmp_path / "report" / "tables" / "estimates.csv")
    assert len(estimates) == len(analysis.estimates)


def test_the_same_analysis_gives_the_same_report(tmp_path: Path) -> None:
    scores = table(simulated(missing=0.1))
    pages = []
    for name in ("a", "b"):
        page = write_report(analyse(scores, options=QUICK), tmp_path / name)
        text = page.read_text(encoding="utf-8")
        pages.append(re.sub(r"<dt>Created</dt><dd>[^<]*", "", text))
    assert pages[0] == pages[1]


@pytest.mark.usefixtures("without_drawing")
def test_an_old_report_is_replaced_with_its_tables(analysis: Analysis, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    write_report(analysis, folder)
    (folder / "mine.txt").write_text("kept", encoding="utf-8")
    small = analyse(table(simulated(raters=0)), options=QUICK)
    write_report(small, folder)
    assert not (folder / "tables" / "human-ceiling.csv").exists()
    assert (folder / "mine.txt").exists()


@pytest.mark.usefixtures("without_drawing")
def test_a_folder_that_is_no_report_is_left_alone(analysis: Analysis, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x", encoding="utf-8")
    with pytest.raises(ReportError, match="contains other files and no report"):
        write_report(analysis, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    other = tmp_path / "other"
    other.mkdir()
    (other / "report.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ReportError, match="was not written by"):
        write_report(analysis, other)
    with pytest.raises(ReportError, match="is a file"):
        write_report(analysis, tmp_path / "thesis.tex")


@pytest.mark.usefixtures("without_drawing")
def test_a_list_of_tables_can_not_reach_outside_the_folder(
    analysis: Analysis, tmp_path: Path
) -> None:
    folder = tmp_path / "report"
    write_report(analysis, folder)
    (tmp_path / "victim.csv").write_text("x", encoding="utf-8")
    marker = folder / "report.json"
    forged = json.loads(marker.read_text(encoding="utf-8"))
    forged["tables"].append("../../victim.csv")
    marker.write_text(json.dumps(forged), encoding="utf-8")
    write_report(analysis, folder)
    assert (tmp_path / "victim.csv").exists()


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


@pytest.mark.parametrize("letters", ["n", "W", "判"])
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
        short = told_apart(names, room)
        assert len(set(short)) == len(names)
        assert max(map(len, short)) <= room + 2
        assert short[6] == "reader"


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
    properties = next(t for t in as_document(analysis).tables if t.key == "score-properties")
    deviation = properties.rows[0][properties.columns.index("SD")].text
    assert re.fullmatch(r"0\.\d{3}", deviation)


def test_a_cell_of_text_can_not_act_as_a_formula() -> None:
    frame = pd.DataFrame({"name": ["=1+1", "@x", "-3 degrees", "fine"], "value": [-1.5, 2, 3, 4]})
    lines = csv_text(frame).splitlines()
    assert lines[1:] == ["'=1+1,-1.5", "'@x,2.0", "'-3 degrees,3.0", "fine,4.0"]


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


@pytest.mark.parametrize("reference", ["mean_of_raters", "adjudicated"])
@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize("scale", [POINTS, None], ids=["declared", "undeclared"])
def test_degenerate_tables_give_a_report_with_reasons(
    case: str, reference: str, scale: Scale | None, tmp_path: Path
) -> None:
    options = Options(resamples=100, reference=reference)  # type: ignore[arg-type]
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


def test_a_document_is_written_twice_without_being_worked_out_twice(
    analysis: Analysis, tmp_path: Path
) -> None:
    content = as_document(analysis)
    write_document(content, tmp_path / "report")
    assert content.with_checks([]).chapters is content.chapters

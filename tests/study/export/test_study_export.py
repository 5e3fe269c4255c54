"""What is exported comes back as it was, whatever the texts hold."""

import csv
import json
import tempfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from annotate_ui.monitoring.people import PEOPLE_COLUMNS
from study import Study, StudyError, export_study, import_file, read_scores
from study.export.codebook import COLUMNS, MEANING
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, PassageRow, PreferenceRow, ResponseRow, ScoreRow
from study.text import MARK, escape_formula, unescape_formula
from tests.conftest import examples
from tests.study.rating_fixtures import add_assignment, add_rater, add_ratings, add_responses

STORABLE = st.characters(exclude_categories=("Cs",), exclude_characters="\x00")
NASTY = st.sampled_from(
    ["=1+1", "+1", "-1", "@x", "'=1", "''", "'", "\t=1", "\r\n", "\n", '"', '","', "[1]", "{}", "[",
     "NA", "null", "1", " ", "", "a\rb", "\ufeffx", "é;\t,"]
)  # fmt: skip
TEXT = NASTY | st.text(STORABLE, max_size=12)
KEY = (
    st.text(st.characters(min_codepoint=32, exclude_categories=("Cs", "Cc")), min_size=1)
    .map(str.strip)
    .filter(bool)
) | st.sampled_from(["=cmd", "-1", "'k", "@a", "NA", "nan", "1", "[x]", '"', "a;b", "1.0"])
VALUES = st.floats(0, 100) | st.none()


@st.composite
def rows(draw: st.DrawFn) -> list[LocatedRow]:
    """Draw responses of up to three systems to a query, scores of each and a comparison."""
    query_ids = draw(st.lists(KEY, min_size=1, max_size=2, unique=True))
    systems = draw(st.lists(KEY, min_size=1, max_size=3, unique=True))
    scorer, stratum = draw(KEY), draw(KEY | st.none())
    kind = draw(st.sampled_from(["human", "judge"]))
    rule = draw(KEY | st.none()) if kind == "judge" else None
    content: list[ResponseRow | ScoreRow | PreferenceRow] = []
    for query_id in query_ids:
        query = draw(TEXT.filter(lambda text: bool(text.strip())))
        references, attributes = draw(st.lists(TEXT, max_size=2)), draw(st.dictionaries(TEXT, TEXT))
        for system in systems:
            passages = st.builds(PassageRow, text=TEXT, document=KEY | st.none())
            row = ResponseRow(
                query_id=query_id,
                query=query,
                system=system,
                response=draw(TEXT),
                passages=tuple(draw(st.lists(passages, max_size=2))),
                references=tuple(references),
                attributes=attributes,
            )
            content.append(row)
        value = draw(VALUES)
        content.append(
            ScoreRow(
                query_id=query_id,
                system=systems[0],
                construct_key="QR",
                scorer=scorer,
                scorer_kind=kind,
                value=value,
                rule=None if value is None else rule,
                missing_reason=None if value is not None else draw(KEY),
                inclusion_prob=draw(st.floats(0.001, 1)),
                stratum=stratum,
            )
        )
    return [LocatedRow(number, row) for number, row in enumerate(content, start=2)]


def content(study: Study) -> list[tuple[object, ...]]:
    with study.read() as connection:
        return [
            tuple(row)
            for row in connection.exec_driver_sql(
                'SELECT q.key, q.text, q."references", q.attributes, r.key, r.text, '
                "r.content_hash, r.context_hash, o.system FROM response r "
                "JOIN query q ON q.id = r.query_id LEFT JOIN output o ON o.response_id = r.id "
                "ORDER BY q.id, o.system"
            )
        ]


@pytest.mark.parametrize("form", ["csv", pytest.param("parquet", marks=pytest.mark.slow)])
@given(imported_rows=rows())
@settings(max_examples=examples(25))
def test_an_export_comes_back_as_it_was(form: str, imported_rows: list[LocatedRow]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = Study.create(folder / "a")
        import_rows(study, imported_rows, source="drawn", sha256="0", importer="test")
        done = export_study(study, folder / "export", form)
        again = Study.create(folder / "b")
        for file in done.files:
            import_file(again, folder / "export" / file)
        pd.testing.assert_frame_equal(again.score_table(), study.score_table())
        assert content(again) == content(study)
        study.close()
        again.close()


@given(TEXT)
def test_defusing_is_undone(text: str) -> None:
    safe = escape_formula(text)
    assert unescape_formula(safe) == text
    assert not safe.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


@pytest.fixture
def filled(study: Study) -> Study:
    common = {"query_id": "q1", "construct_key": "QR", "scorer": "=anna", "scorer_kind": "human"}
    content = [
        ResponseRow(query_id="q1", query="Q?", system="A", response="=2+3", response_id="a"),
        ResponseRow(query_id="q1", query="Q?", system="B", response="y", response_id="b"),
        ResponseRow(query_id="q1", query="Q?", system="C", response="y", response_id="c"),
        ScoreRow(system="A", value=7.25, **common),
        PreferenceRow(response_a="a", response_b="b", value=-1, **common),
    ]
    placed = [LocatedRow(number, row) for number, row in enumerate(content, start=2)]
    import_rows(study, placed, source="x", sha256="0", importer="test")
    return study


def test_csv_cells_are_defused_and_numbers_are_not(filled: Study, tmp_path: Path) -> None:
    export_study(filled, tmp_path / "e")
    with (tmp_path / "e" / "responses.csv").open(encoding="utf-8-sig", newline="") as stream:
        responses = list(csv.DictReader(stream))
    assert responses[0]["response"] == "'=2+3"
    with (tmp_path / "e" / "preferences.csv").open(encoding="utf-8-sig", newline="") as stream:
        (preference,) = csv.DictReader(stream)
    assert preference["value"] == "-1"
    assert preference["scorer"] == "'=anna"


def test_cells_of_other_files_are_left_as_they_are(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("query,system,response\nQ?,A,'tis\n", encoding="utf-8")
    import_file(study, path)
    assert content(study)[0][5] == "'tis"


def test_further_ids_and_preferences_come_back(filled: Study, tmp_path: Path) -> None:
    done = export_study(filled, tmp_path / "e")
    assert done.files == {"responses.csv": 4, "scores.csv": 1, "preferences.csv": 1}
    again = Study.create(tmp_path / "again")
    added = [import_file(again, tmp_path / "e" / name).added for name in done.files]
    assert added[0] == {"queries": 1, "responses": 2, "outputs": 3, "further ids": 1}
    pd.testing.assert_frame_equal(again.preference_table(), filled.preference_table())
    # And in the study that it came from it changes nothing.
    for name in done.files:
        assert not import_file(filled, tmp_path / "e" / name).changed
    again.close()


def test_what_was_replaced_is_left_out_and_counted(filled: Study, tmp_path: Path) -> None:
    row = ResponseRow(query_id="q1", query="Q?", system="A", response="new", response_id="a")
    import_rows(filled, [LocatedRow(2, row)], source="x", sha256="1", importer="test", revise=True)
    done = export_study(filled, tmp_path / "e")
    assert done.left_out["responses that a later one replaced"] == 1
    assert done.left_out["values given to a response that a later one replaced"] == 1
    assert "Left out: responses that a later one replaced (1)." in done.lines()
    assert not any("(1 rows)" in line for line in done.lines())


def test_nothing_is_overwritten_unless_asked(filled: Study, tmp_path: Path) -> None:
    export_study(filled, tmp_path)
    with pytest.raises(StudyError, match="already exists"):
        export_study(filled, tmp_path, "parquet")
    export_study(filled, tmp_path, "parquet", overwrite=True)
    names = {path.name for path in tmp_path.glob("*.*")}
    assert "scores.parquet" in names
    assert "scores.csv" not in names
    assert not any(name.endswith(".part") for name in names)


def test_an_unknown_format(study: Study, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="use csv or parquet"):
        export_study(study, tmp_path, "xlsx")


def test_the_codebook_explains_every_column_and_scale(filled: Study, tmp_path: Path) -> None:
    export_study(filled, tmp_path)
    book = json.loads((tmp_path / "codebook.json").read_text(encoding="utf-8"))
    for name in ("responses", "scores", "preferences"):
        columns = COLUMNS[name]
        explained = book["tables"][name]["columns"]
        assert list(explained) == [MARK, *columns]
        assert all(explained.values())
        header = (tmp_path / f"{name}.csv").read_text(encoding="utf-8-sig").splitlines()[0]
        assert header.split(",") == list(explained)
    columns = {**COLUMNS, "people": PEOPLE_COLUMNS}
    assert set(MEANING) == {MARK, *(c for names in columns.values() for c in names)}
    assert [c["key"] for c in book["constructs"]] == ["QR", "CC", "ID", "AC", "IR"]
    assert book["constructs"][0]["scale"]["max"] == 100
    text = (tmp_path / "codebook.md").read_text(encoding="utf-8")
    assert "| QR | Question Relevance | 0 to 100 | interval |" in text


def test_the_summary_as_json(filled: Study, tmp_path: Path) -> None:
    done = export_study(filled, tmp_path / "e")
    assert json.loads(json.dumps(done.as_json()))["files"]["scores.csv"] == 1


def test_the_layout_of_ratings_is_in_the_export_and_comes_back(
    study: Study, tmp_path: Path
) -> None:
    (response,) = add_responses(study)
    rated = add_assignment(study, add_rater(study, "anna"), response, ["QR"], layout="side_by_side")
    add_ratings(study, rated, "QR", [70.0])
    export_study(study, tmp_path / "out")
    scores = read_scores(tmp_path / "out" / "scores.csv")
    assert scores["layout"].tolist() == ["side_by_side"]
    fresh = Study.create(tmp_path / "fresh")
    import_file(fresh, tmp_path / "out" / "responses.csv")
    summary = import_file(fresh, tmp_path / "out" / "scores.csv")
    assert summary.left_out == {}
    assert fresh.score_table()[["value", "layout"]].to_numpy().tolist() == [[70.0, "side_by_side"]]
    fresh.close()

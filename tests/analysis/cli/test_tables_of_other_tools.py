"""Tables as other tools write them: rows that lack a column, and names written in two ways."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.cli.column_options import NamedColumns
from analysis.cli.read_scores import from_file
from analysis.cli.taken_columns import taken_columns
from study.errors import InputError


def scores_of(path: Path, columns: NamedColumns | None = None, **cells: Any) -> Any:
    kinds = cells.get("kinds", ())
    return from_file(path, (), kinds, None, None, {}, columns=columns).scores


def table(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def json_lines(folder: Path, *rows: dict[str, Any]) -> Path:
    return table(folder, "".join(json.dumps(row) + "\n" for row in rows), "t.jsonl")


def test_a_key_that_some_objects_lack_is_a_column(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = json_lines(
        tmp_path,
        {"question": "a", "llm": 3},
        {"question": "a", "llm": 2, "human": 4, "system": "B"},
        {"question": "b", "human": 1, "system": "C"},
    )
    scores = scores_of(path)
    assert scores.systems == ("B", "C")
    values = {(s, r): v for s, r, v in scores.frame[["scorer", "response_id", "value"]].to_numpy()}
    assert [values["human", f"row {n}"] for n in (2, 3)] == [4, 1]
    assert [values["llm", f"row {n}"] for n in (1, 2)] == [3, 2]
    missing = scores.frame[scores.frame["value"].isna()]
    assert sorted(missing["response_id"].astype(str)) == ["row 1", "row 3"]
    assert "blank cells read as missing (2)" in capsys.readouterr().err


def test_numbers_as_ids_are_one_whether_whole_or_with_a_point(tmp_path: Path) -> None:
    rows = ({"question": q, "llm": 3, "human": 4} for q in (1, 1.0, "1"))
    assert scores_of(json_lines(tmp_path, *rows)).queries == ("1",)


def test_white_space_around_a_query_makes_no_other_query(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = table(tmp_path, "question,system,llm,human\na,A,3,4\na ,A\u00a0,2,3\n")
    scores = scores_of(path)
    assert (scores.queries, scores.systems) == (("a",), ("A",))
    assert "white space around ids, queries and systems left out (2)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("queries", "scorer", "says"),
    [
        ("q1,Q1", "anna", "Warning: queries whose names differ only in capital letters"),
        ("1,1.0", "anna", "'1' and '1.0'"),
        ("07,7", "anna", "'07' and '7'"),
        ("caf\u00e9,cafe\u0301", "anna", "Warning: queries"),
        ("a,b", "GPT", "Warning: scorers whose names differ only in capital letters"),
        ("a,b", "anna", ""),
    ],
)
def test_names_that_are_written_in_two_ways_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], queries: str, scorer: str, says: str
) -> None:
    lines = ["query_id,system,construct,scorer,scorer_kind,value"]
    one, two = queries.split(",")
    lines += [f"{one},A,QR,{scorer},human,3", f"{two},A,QR,gpt,judge,4"]
    scores_of(table(tmp_path, "\n".join(lines) + "\n"))
    assert says in (err := capsys.readouterr().err)
    assert says or not err


def test_rows_of_blank_cells_are_blank_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = table(tmp_path, "question,llm,human\na,3,4\n,,\nb,2,1\n,,\n")
    assert scores_of(path).queries == ("a", "b")
    assert "blank lines skipped (2)" in capsys.readouterr().err


def test_a_header_that_lacks_a_name_is_reported_with_its_rows(tmp_path: Path) -> None:
    path = table(tmp_path, "question,llm,human\na,3,4,\nb,2,1,\n")
    with pytest.raises(InputError, match="row 2: 4 cells, but the header names 3 columns"):
        scores_of(path)


def test_a_json_document_is_not_said_to_have_separators(tmp_path: Path) -> None:
    path = table(tmp_path, '{"results": [{"llm": 3, "human": 1}]}', "t.json")
    with pytest.raises(InputError, match="the rows are in 'results' of the document") as caught:
        scores_of(path)
    assert "commas" not in str(caught.value)


def test_a_mean_of_raters_is_not_a_further_rater(tmp_path: Path) -> None:
    path = table(tmp_path, "question,human_1,human_2,human_avg,llm\na,3,4,3.5,4\n")
    found = taken_columns(path)
    assert found.columns == NamedColumns(("llm",), ("human_1", "human_2"), query="question")
    assert found.candidates == ()
    assert found.reasons("no score") == {"human_avg": "it sums up other columns"}
    path = table(tmp_path, "question,human_avg,llm\na,3.5,4\n")
    assert taken_columns(path).columns == NamedColumns(("llm",), ("human_avg",), query="question")


def test_columns_of_numbers_that_are_taken_for_constructs_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = "query_id,system,scorer,scorer_kind,QR,timestamp"
    scores_of(table(tmp_path, f"{head}\na,A,anna,human,80,1700000000\n"))
    assert "each column of numbers is read as a construct: timestamp" in capsys.readouterr().err
    scores_of(table(tmp_path, "query_id,system,anna:Style\na,A,4\n"), kinds=("anna=human",))
    assert "read as a construct" not in capsys.readouterr().err


def test_a_column_with_two_purposes_is_refused(tmp_path: Path) -> None:
    path = table(tmp_path, "question,llm,human\na,3,4\n")
    with pytest.raises(InputError, match="'llm' is named for two purposes"):
        scores_of(path, NamedColumns(("llm",), ("llm",), query="question"))


def test_one_id_with_two_queries_is_reported_by_its_row(tmp_path: Path) -> None:
    path = table(tmp_path, "id,question,crit,llm,human\n1,a,QR,3,4\n1,b,CC,2,3\n")
    columns = NamedColumns(("llm",), ("human",), id="id", query="question", construct="crit")
    with pytest.raises(InputError, match="row 3, column id: the response '1' is one to the query"):
        scores_of(path, columns)

"""Named columns of a file, read without pandas: words, JSON, ratios, categories, faults."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from study.base.scales import Scale
from study.errors import InputError
from study.importing.score_columns.judgment_table import JudgmentTable
from study.importing.score_columns.named_columns import NamedColumns
from study.importing.score_columns.reading import read_named_columns

TWO = NamedColumns(("llm",), ("human",))


def written(folder: Path, llm: list[str], human: list[str], name: str = "t.tsv") -> Path:
    path = folder / name
    rows = [f"{a}\t{b}" for a, b in zip(llm, human, strict=True)]
    path.write_text("\n".join(["llm\thuman", *rows, ""]), encoding="utf-8")
    return path


def values(table: JudgmentTable) -> list[list[float | None]]:
    return [column.values for column in table.columns]


def test_words_are_values_with_names_and_a_level(tmp_path: Path) -> None:
    table = read_named_columns(
        written(tmp_path, ["Good", "bad", "bad"], ["good", "OK", "unsure"]), TWO
    )
    assert values(table) == [[2, 0, 0], [2, 1, None]]
    assert table.value_names == {"score": {0: "bad", 1: "OK", 2: "Good"}}
    assert table.levels == {"score": "ordinal"}
    assert table.word_scales["human", "score"] == (0, 2, 1, "ordinal")
    assert table.summary == (
        "Accepted: Good read as 2, OK as 1 and bad as 0 (5).",
        "Accepted: cells with unsure read as missing (1).",
    )
    assert len(table) == 3
    assert table.row_numbers == [2, 3, 4]


def test_the_frame_is_a_table_of_scores(tmp_path: Path) -> None:
    frame = read_named_columns(written(tmp_path, ["yes", "no"], ["Y", "N"]), TWO).to_frame()
    assert frame["response_id"].tolist() == ["row 1", "row 2"] * 2
    assert frame["scorer"].tolist() == ["llm", "llm", "human", "human"]
    assert frame["scorer_kind"].tolist() == ["judge", "judge", "human", "human"]
    assert frame["value"].tolist() == [1, 0, 1, 0]
    assert frame["system"].isna().all()


def test_json_of_a_judge_is_its_judgment(tmp_path: Path) -> None:
    llm = ['{"score": 4, "reasoning": "a"}', '```json {"Rating": "3"} ```', '{"label": "n/a"}']
    assert values(read_named_columns(written(tmp_path, llm, ["4", "2", "1"]), TWO))[0] == [
        4, 3, None,
    ]  # fmt: skip


def test_objects_of_json_lines_are_judgments(tmp_path: Path) -> None:
    rows = [{"llm": {"verdict": word, "why": "x"}, "human": word} for word in ("pass", "fail")]
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert values(read_named_columns(path, TWO)) == [[1, 0], [1, 0]]


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ('{"score": 4, "label": "good"}', "has several judgments (score, label)"),
        ('{"reasoning": "x"}', "has no judgment (reasoning)"),
        ('{"score": [4]}', "'score' of the JSON object is a list"),
    ],
)
def test_other_json_is_refused(tmp_path: Path, cell: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        read_named_columns(written(tmp_path, [cell, "3"], ["4", "2"]), TWO)
    assert "row 2, column llm" in str(caught.value)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("cells", "scale", "expected"),
    [
        (["4/5", "2 / 5"], (0, 5), [4, 2]),
        (["4 out of 5", "2 of 5"], (0, 5), [4, 2]),
        (["4 von 5", "2 sur 5"], (0, 5), [4, 2]),
        (["4/5", "3"], (1, 5), [4, 3]),
        (["80%", "55 %"], (0, 100), [80, 55]),
        (["80%", "55%"], (0, 1), [0.8, 0.55]),
        (["7,5/10", "3/10"], (0, 10), [7.5, 3]),
    ],
)
def test_parts_of_a_declared_scale(
    tmp_path: Path, cells: list[str], scale: tuple[float, float], expected: list[float]
) -> None:
    low, high = scale
    declared = {"score": Scale(min=low, max=high)}
    path = written(tmp_path, cells, [f"{high:g}", f"{low:g}"])
    table = read_named_columns(path, TWO, scales=declared)
    assert values(table)[0] == pytest.approx(expected)


def test_parts_of_a_scale_that_is_not_declared_name_the_option_once(tmp_path: Path) -> None:
    path = written(tmp_path, ["4/5", "3/5", "5/5"], ["4", "2", "1"])
    with pytest.raises(InputError) as caught:
        read_named_columns(path, TWO)
    (fault,) = caught.value.faults
    assert (fault.row, fault.column) == (2, "llm")
    assert "--scale 0:5" in fault.remedy
    with pytest.raises(InputError, match="'4/5' is not a number"):
        read_named_columns(path, TWO, scales={"score": Scale(min=0, max=10)})


def test_categories_keep_their_names(tmp_path: Path) -> None:
    table = read_named_columns(
        written(tmp_path, ["tea", "milk", "tea"], ["tea", "tea", "milk"]), TWO
    )
    assert values(table) == [[1, 0, 1], [1, 1, 0]]
    assert table.levels == {"score": "nominal"}
    assert table.value_names == {"score": {0: "milk", 1: "tea"}}
    assert any("names without an order" in line for line in table.summary)


def test_a_word_without_a_number_names_the_option(tmp_path: Path) -> None:
    path = written(tmp_path, ["good", "bad", "great", "great"], ["good", "bad", "ok", "bad"])
    with pytest.raises(InputError) as caught:
        read_named_columns(path, TWO, values={"good": 2, "ok": 1, "bad": 0})
    (fault,) = caught.value.faults
    assert (fault.row, fault.column) == (4, "llm")
    assert "--values good=2,ok=1,bad=0,great=NUMBER" in fault.remedy
    table = read_named_columns(path, TWO, values={"good": 2, "ok": 1, "bad": 0, "great": 3})
    assert values(table) == [[2, 0, 3, 3], [2, 0, 1, 0]]


def test_texts_are_one_fault(tmp_path: Path) -> None:
    llm = [f"a remark {n}" for n in range(50)]
    with pytest.raises(InputError) as caught:
        read_named_columns(written(tmp_path, llm, ["1"] * 50), TWO)
    (fault,) = caught.value.faults
    assert "is a text, as are 49 others here" in fault.problem


def test_words_of_another_scale_than_the_declared_one(tmp_path: Path) -> None:
    path = written(tmp_path, ["good", "ok", "bad"], ["good", "ok", "bad"])
    with pytest.raises(InputError) as caught:
        read_named_columns(path, TWO, scales={"score": Scale(min=1, max=5)})
    assert len(caught.value.faults) == 2
    assert "the words are 0 to 2, and the scale is 1 to 5" in str(caught.value)
    declared = {"good": 5, "ok": 3, "bad": 1}
    table = read_named_columns(path, TWO, values=declared, scales={"score": Scale(min=1, max=5)})
    assert values(table)[0] == [5, 3, 1]


def test_words_are_read_by_construct(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,c,llm,human\n1,a,pass,fail\n1,b,good,bad\n2,b,ok,good\n", encoding="utf-8")
    table = read_named_columns(path, NamedColumns(("llm",), ("human",), id="id", construct="c"))
    assert values(table) == [[1, 2, 1], [0, 0, 2]]
    assert table.constructs == ["a", "b", "b"]
    assert table.levels == {"a": "binary", "b": "ordinal"}


def test_a_small_table_takes_little_time(tmp_path: Path) -> None:
    path = written(tmp_path, ["good", "bad"] * 250, ["bad", "good"] * 250)
    code = (
        "import click, sys, time; start = time.process_time(); "
        "from study.importing.score_columns.reading import read_named_columns; "
        "from study.importing.score_columns.named_columns import NamedColumns; "
        f"read_named_columns({str(path)!r}, NamedColumns(('llm',), ('human',))); "
        "print(time.process_time() - start)"
    )
    taken = []
    for _ in range(3):
        words = [sys.executable, "-c", code]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        taken.append(float(done.stdout))
    # Some 0.03 s; with pydantic or pandas it takes several times as much.
    assert min(taken) < 0.15


@pytest.mark.parametrize(
    ("one", "other"), [("spam", "ham"), ("feature", "bug"), ("win", "loss"), ("A", "B")]
)
def test_two_unknown_words_are_categories_and_not_pass_and_fail(
    tmp_path: Path, one: str, other: str
) -> None:
    path = written(tmp_path, [one, other, one, one], [one, other, other, one])
    table = read_named_columns(path, TWO)
    assert table.levels == {"score": "nominal"}
    assert table.word_scales["human", "score"] == (0, 1, 1, "nominal")
    assert set(table.value_names["score"].values()) == {one, other}
    frame = table.to_frame()
    assert frame.attrs["value_names"] == {"score": dict(enumerate(sorted([one, other])))}
    for level in ("interval", "ordinal"):
        scale = {"score": Scale(min=0, max=1, level=level)}
        with pytest.raises(InputError, match="have no known order, and the declared scale has one"):
            read_named_columns(path, TWO, scales=scale)
    assert read_named_columns(
        path, TWO, scales={"score": Scale(min=0, max=1, level="nominal")}
    ).levels == {"score": "nominal"}


def test_words_that_do_not_occur_are_not_named(tmp_path: Path) -> None:
    table = read_named_columns(written(tmp_path, ["pass", "pass"], ["pass", "pass"]), TWO)
    assert table.summary == ("Accepted: pass read as 1 (4).",)


def test_words_with_their_number_are_read_beside_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, ["4", "2", "5"], ["4 - good", "2 - weak", "5 - great"])
    table = read_named_columns(path, TWO)
    assert values(table) == [[4, 2, 5], [4, 2, 5]]
    assert table.word_scales == {}
    assert table.value_names == {"score": {2: "2 - weak", 4: "4 - good", 5: "5 - great"}}
    with pytest.raises(InputError, match="5 for score by 'human' is outside 0 to 4"):
        read_named_columns(path, TWO, scales={"score": Scale(min=0, max=4)})


def test_grades_with_a_sign_are_other_grades(tmp_path: Path) -> None:
    grades = ["A", "A-", "B+", "B", "A", "A-", "B+", "B"]
    table = read_named_columns(written(tmp_path, grades, grades), TWO)
    assert set(table.value_names["score"].values()) >= {"A", "A-", "B+", "B"}
    assert table.levels == {"score": "ordinal"}


def test_numbers_are_declared_to_be_missing(tmp_path: Path) -> None:
    path = written(tmp_path, ["4", "-1", "3", "99"], ["4", "2", "99.0", "1"])
    table = read_named_columns(path, TWO, values={"-1": None, "99": None})
    assert values(table) == [[4, None, 3, None], [4, 2, None, 1]]
    assert "Accepted: cells with 99 read as missing (2)." in table.summary
    with pytest.raises(InputError, match="no column of scores has the number 98"):
        read_named_columns(path, TWO, values={"-1": None, "98": None})
    words = written(tmp_path, ["good", "-1", "bad"], ["good", "bad", "bad"])
    assert values(read_named_columns(words, TWO, values={"-1": None}))[0] == [1, None, 0]
    names = written(tmp_path, ["tea", "9", "milk"], ["tea", "milk", "milk"])
    assert values(read_named_columns(names, TWO, values={"9": None}))[0] == [1, None, 0]


def test_the_direction_of_a_column_named_by_a_failure_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("llm_toxic,human_toxic\nyes,no\nno,no\nyes,yes\n", encoding="utf-8")
    columns = NamedColumns(("llm_toxic",), ("human_toxic",))
    line = read_named_columns(path, columns).summary[-1]
    assert "yes counts as pass; in columns named 'llm_toxic' and 'human_toxic'" in line
    turned = read_named_columns(path, columns, values={"yes": 0, "no": 1})
    assert values(turned)[0] == [0, 1, 0]
    assert not any("counts as pass" in line for line in turned.summary)


def test_a_summary_row_is_the_only_fault_of_its_row(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("q,llm,human\na,4,5\nb,2,2\nc,1,3\n,2.33,3.33\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_named_columns(path, NamedColumns(("llm",), ("human",), query="q"))
    (fault,) = caught.value.faults
    assert (fault.row, fault.remedy) == (5, "Remove the row.")
    assert "mean of the rows above" in fault.problem

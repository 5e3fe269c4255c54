"""Tables as people have them: a right reading, or a refusal with row, value and remedy."""

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from analysis.cli.column_options import NamedColumns
from analysis.cli.read_scores import from_file
from analysis.cli.taken_columns import UnclearColumnsError, taken_columns
from analysis.core.errors import AnalysisError
from analysis.core.likely_scales import likely_scales, looks_like
from study.cli.root import cli
from study.errors import InputError

pytestmark = pytest.mark.usefixtures("without_drawing")

HUMAN = [1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 2, 4]
LLM = [2, 2, 3, 5, 5, 4, 4, 2, 1, 1, 3, 4]
QUESTIONS = [f"What is it {i // 2}?" for i in range(12)]


def table(**columns: Sequence[object]) -> pd.DataFrame:
    return pd.DataFrame(columns)


def written(folder: Path, frame: pd.DataFrame, **options: object) -> Path:
    path = folder / "t.csv"
    frame.to_csv(path, **({"index": False} | options))
    return path


def ccrs(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


@pytest.mark.parametrize(
    ("frame", "options", "columns"),
    [
        (table(human=HUMAN, llm=LLM), {}, NamedColumns(("llm",), ("human",))),
        (
            table(question=QUESTIONS, human_score=HUMAN, llm_score=LLM),
            {"index": True},
            NamedColumns(("llm_score",), ("human_score",), query="question"),
        ),
        (
            table(human=HUMAN, llm=LLM).rename_axis("Unnamed: 0"),
            {"index": True, "encoding": "utf-8-sig"},
            NamedColumns(("llm",), ("human",)),
        ),
        (
            table(human=np.array(HUMAN) + 0.5, llm=LLM),
            {"sep": ";", "decimal": ","},
            NamedColumns(("llm",), ("human",)),
        ),
        (
            table(id=range(12), annotator_1=HUMAN, annotator_2=LLM, annotator_3=HUMAN, gpt4=LLM),
            {},
            NamedColumns(("gpt4",), ("annotator_1", "annotator_2", "annotator_3"), id="id"),
        ),
        (
            table(human_QR=HUMAN, judge_QR=LLM, human_context=HUMAN, judge_Context=LLM),
            {},
            NamedColumns(
                ("QR=judge_QR", "Context=judge_Context"), ("QR=human_QR", "Context=human_context")
            ),
        ),
        (
            pd.DataFrame({"Question ID": QUESTIONS, "Human Score": HUMAN, "LLM Score": LLM}),
            {},
            NamedColumns(("LLM Score",), ("Human Score",), query="Question ID"),
        ),
        (table(humanScore=HUMAN, llmScore=LLM), {}, NamedColumns(("llmScore",), ("humanScore",))),
        (
            table(question=QUESTIONS, answer=range(12), human_score=HUMAN, llm_score=LLM),
            {},
            NamedColumns(("llm_score",), ("human_score",), query="question"),
        ),
        (
            table(human=[*HUMAN[:-1], "-"], llm=LLM, human_comment=["A long text."] * 12),
            {},
            NamedColumns(("llm",), ("human",)),
        ),
        (
            table(expert=HUMAN, **{"gpt-4o": LLM, "gpt-4o-mini": HUMAN}, model=["a", "b"] * 6),
            {},
            NamedColumns(("gpt-4o", "gpt-4o-mini"), ("expert",), system="model"),
        ),
    ],
)
def test_columns_of_common_tables_are_recognized(
    tmp_path: Path, frame: pd.DataFrame, options: dict[str, object], columns: NamedColumns
) -> None:
    assert taken_columns(written(tmp_path, frame, **options)).columns == columns


@pytest.mark.parametrize("form", ["jsonl", "json", "tsv", "parquet"])
def test_every_form_of_file_is_recognized(tmp_path: Path, form: str) -> None:
    frame = table(question=QUESTIONS, human_score=HUMAN, llm_score=LLM)
    path = tmp_path / f"t.{form}"
    if form == "tsv":
        frame.to_csv(path, sep="\t", index=False)
    elif form == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=form == "jsonl")
    columns = NamedColumns(("llm_score",), ("human_score",), query="question")
    assert taken_columns(path).columns == columns
    scores = from_file(path, ["1:5:1"], (), None, None, {}).scores
    of_judge = scores.frame[scores.frame["scorer"] == "llm_score"]
    assert of_judge["value"].tolist() == LLM


@pytest.mark.parametrize(
    ("llm", "says"),
    [
        (["about 2", *LLM[1:]], "row 2, column llm: 'about 2' is not a number"),
        ([f"{v}/5" for v in LLM], "'2/5' is not a number. If the scale ends at 5, declare that"),
        ([f"{v}%" for v in LLM], "with its lowest value: --scale 0:100"),
    ],
)
@pytest.mark.parametrize(
    "command", [("report", "--no-verify"), ("doctor",), ("plan",), ("check", "--require", "x")]
)
def test_cells_that_are_no_numbers_are_refused_by_every_command(
    tmp_path: Path, command: tuple[str, ...], llm: list[object], says: str
) -> None:
    path = written(tmp_path, table(question=QUESTIONS, human=HUMAN, llm=llm))
    require = ("--require", "report_level=yes") if command[0] == "check" else command[1:]
    result = ccrs(command[0], path, *require)
    assert result.exit_code == 2, result.output
    assert says in result.stderr


@pytest.mark.parametrize("word", ["n/a", "NaN", "None", "", "-", "N.A.", "Not sure", "?"])
def test_words_for_a_missing_value_are_missing(tmp_path: Path, word: str) -> None:
    path = written(tmp_path, table(human=HUMAN, llm=[word, *LLM[1:]]))
    frame = from_file(path, (), (), None, None, {}).scores.frame
    assert frame["value"].isna().sum() == 1
    assert len(frame) == 24


@pytest.mark.parametrize(
    ("frame", "problem", "example"),
    [
        (
            table(gold=HUMAN, model_answer=LLM),
            "no column of scores is clearly that of a judge. Columns that may be: 'model_answer'",
            "--judge COLUMN --human gold",
        ),
        (
            table(question=QUESTIONS, score=HUMAN, llm_score=LLM),
            "that of a rater. Columns that may be: 'score'",
            "--judge llm_score --human COLUMN --query question",
        ),
        (
            table(llm=LLM, anna=HUMAN, ben=HUMAN, system=["a", "b"] * 6),
            "that of a rater. Columns that may be: 'anna', 'ben'",
            "--judge llm --human COLUMN --system system",
        ),
        (
            table(llm_qr=LLM, llm_cc=LLM, anna_qr=HUMAN, anna_cc=HUMAN),
            "Columns that may be: 'anna_qr', 'anna_cc'",
            "--judge QR=llm_qr --judge CC=llm_cc --human QR=COLUMN --human CC=COLUMN",
        ),
        (
            table(judge_a=LLM, judge_b=LLM, rater_a=HUMAN, rater_b=HUMAN),
            "belong together",
            "--judge judge_a --judge judge_b",
        ),
        (
            table(id=[i // 2 for i in range(12)], human=HUMAN, llm=LLM),
            "does not identify a row: '0' is in rows 2 and 3",
            "--judge llm --human human --query id",
        ),
        (
            table(human=HUMAN, llm=[f"A long remark on the answer {i}" for i in range(12)]),
            "that of a judge; the column 'llm' contains texts",
            "OTHER_FILE --on COLUMN",
        ),
        (
            pd.DataFrame({"0": HUMAN, "1": LLM}),
            "Columns that may be: '0', '1'. If the first line has values",
            "--judge COLUMN --human COLUMN",
        ),
    ],
)
def test_unclear_tables_are_refused_with_a_whole_command(
    tmp_path: Path, frame: pd.DataFrame, problem: str, example: str
) -> None:
    path = written(tmp_path, frame)
    with pytest.raises(UnclearColumnsError) as caught:
        taken_columns(path)
    assert problem in str(caught.value)
    assert example in str(caught.value)
    result = ccrs("doctor", path, "--json")
    assert result.exit_code == 1, result.output
    content = json.loads(result.stdout)
    assert problem in content["not_recognized"]
    assert list(content["columns"]) == list(frame.columns)
    assert example in content["command"]
    assert "Not recognized" in ccrs("doctor", path).stdout


@pytest.mark.parametrize(
    "column",
    ["llm_tokens", "judge_confidence", "human_id", "human_time_s", "execution_time", "run"],
)
def test_columns_of_other_numbers_are_not_taken_for_scores(tmp_path: Path, column: str) -> None:
    frame = table(human=HUMAN, llm=LLM, **{column: HUMAN})
    found = taken_columns(written(tmp_path, frame))
    assert found.columns == NamedColumns(("llm",), ("human",))
    assert column in found.reasons("no score")
    assert column not in found.candidates


def test_a_label_next_to_columns_of_judges_and_raters_is_left_out_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = table(rater_id=["r1"] * 12, llm_score=LLM, human_score=HUMAN, label=[0, 1] * 6)
    path = written(tmp_path, frame)
    assert taken_columns(path).columns == NamedColumns(("llm_score",), ("human_score",))
    assert taken_columns(path).candidates == ("label",)
    from_file(path, (), (), None, None, {})
    assert "Nothing says whose scores these are: label." in capsys.readouterr().err
    words = frame.assign(label=["relevance"] * 12)
    assert taken_columns(written(tmp_path, words)).candidates == ()


def test_constructs_of_one_side_alone_are_left_out_and_named(tmp_path: Path) -> None:
    frame = table(human_qr=HUMAN, human_cc=HUMAN, llm_qr=LLM)
    found = taken_columns(written(tmp_path, frame))
    assert found.columns == NamedColumns(("llm_qr",), ("human_qr",))
    assert found.candidates == ("human_cc",)


def test_a_blank_column_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnclearColumnsError, match="column 'llm' is blank"):
        taken_columns(written(tmp_path, table(human=HUMAN, llm=[None] * 12)))


def test_a_row_that_sums_up_the_others_is_refused(tmp_path: Path) -> None:
    frame = table(question=[*QUESTIONS[:-1], "Average"], human=HUMAN, llm=LLM)
    with pytest.raises(InputError, match="row 13, column question: 'Average' in the last row"):
        from_file(written(tmp_path, frame), (), (), None, None, {})


@pytest.mark.parametrize("orient", ["columns", "list"])
def test_json_by_column_is_refused_with_how_to_write_it(tmp_path: Path, orient: str) -> None:
    frame = table(human=HUMAN, llm=LLM)
    path = tmp_path / "t.json"
    content = frame.to_dict("list") if orient == "list" else json.loads(frame.to_json())
    path.write_text(json.dumps(content), "utf-8")
    with pytest.raises(InputError, match=r"frame.to_json\(path, orient='records', lines=True\)"):
        taken_columns(path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("human|llm\n1|2\n", "a first line such as sep=| states another sign"),
        ('{"question": "q", "scores": [1, 2]}\n', "There are: question, scores."),
    ],
)
def test_a_file_without_any_known_column_is_refused_as_such(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "t.txt"
    path.write_text(text, "utf-8")
    result = ccrs("report", path)
    assert result.exit_code == 2
    assert "no column is that of a table of scores" in result.stderr
    assert says in result.stderr


def test_a_long_table_without_constructs_has_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = long_table(("human", "judge")).drop(columns="construct")
    scores = from_file(written(tmp_path, frame), ["1:5:1"], (), None, None, {}).scores
    assert scores.constructs == ("score",)
    assert "No column names a construct; it is called score." in capsys.readouterr().err
    called = from_file(written(tmp_path, frame.assign(metric="x")), ["1:5:1"], (), None, None, {})
    assert called.scores.constructs == ("x",)
    with pytest.raises(InputError, match=r"column 'construct' .* is missing"):
        from_file(written(tmp_path, frame.assign(category="x")), (), (), None, None, {})


def test_a_file_without_names_of_columns_is_refused_as_such(tmp_path: Path) -> None:
    path = written(tmp_path, table(a=HUMAN, b=HUMAN), header=False)
    for command in ("report", "doctor"):
        result = ccrs(command, path)
        assert result.exit_code == 2
        assert "the first line has values ('1', '1') in place of names" in result.stderr


def test_an_excel_workbook_is_refused_with_what_to_save(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"PK\x03\x04 and more")
    result = ccrs("report", path)
    assert result.exit_code == 2
    assert "in Excel: Save As, CSV UTF-8 or .xlsx" in result.stderr


def long_table(kinds: Sequence[str]) -> pd.DataFrame:
    parts = [
        table(query_id=QUESTIONS, response_id=[f"r{i}" for i in range(12)], value=values).assign(
            construct="QR", scorer=name, kind=kind
        )
        for name, kind, values in zip(("anna", "gpt"), kinds, (HUMAN, LLM), strict=True)
    ]
    return pd.concat(parts)


def test_kinds_with_capital_letters_are_read_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, long_table(("Human", "JUDGE ")))
    scores = from_file(path, ["1:5:1"], (), None, None, {}).scores
    assert scores.scorer_kinds == {"anna": "human", "gpt": "judge"}
    assert "kinds of scorers with capital letters" in capsys.readouterr().err
    path = written(tmp_path, long_table(("", "")).drop(columns="kind"))
    scores = from_file(path, ["1:5:1"], ["anna=Human", "gpt=judge"], None, None, {}).scores
    assert scores.scorer_kinds == {"anna": "human", "gpt": "judge"}


def test_a_word_that_is_no_kind_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, long_table(("Martians", "llm")))
    with pytest.raises(InputError, match="row 2, column kind: 'Martians' is not a kind of scorer"):
        from_file(path, (), (), None, None, {})


def test_values_outside_of_the_scale_stop_with_the_likely_one(tmp_path: Path) -> None:
    of_judge = [value * 20 for value in LLM]
    path = written(tmp_path, table(human=HUMAN, llm=of_judge))
    with pytest.raises(InputError) as caught:
        from_file(path, ["1:5:1"], (), None, None, {})
    assert len(caught.value.faults) == 1
    assert "row 2: 40 for score by 'llm' is outside 1 to 5, as are 12 of 12" in str(caught.value)
    assert "add --scale llm:score=0:100" in str(caught.value)
    from_file(path, ["1:5:1", "llm:score=0:100"], (), None, None, {})
    with pytest.raises(AnalysisError, match="'llm' is a scorer; name the construct too"):
        from_file(path, ["0:100", "human:score=1:5:1", "llm=0:100"], (), None, None, {})


def test_two_columns_with_the_same_values_are_reported(tmp_path: Path) -> None:
    frame = table(human=HUMAN, llm_a=LLM, llm_b=LLM, llm_c=HUMAN)
    warnings = from_file(written(tmp_path, frame), (), (), None, None, {}).scores.warnings
    assert [w for w in warnings if "copy" in w] == [
        "llm_a and llm_b have the same 12 values on score; check that neither is a copy of the "
        "other",
        "llm_c and human have the same 12 values on score; check that neither is a copy of the "
        "other",
    ]


def test_equal_verdicts_of_a_judge_and_a_rater_are_not_a_copy(tmp_path: Path) -> None:
    verdicts = ["pass", "fail"] * 6
    frame = table(human=verdicts, llm=verdicts)
    assert not from_file(written(tmp_path, frame), (), (), None, None, {}).scores.warnings[1:]


@pytest.mark.parametrize(
    ("columns", "scales"),
    [
        ({"human": HUMAN, "llm": LLM}, ["1:5:1"]),
        ({"human": HUMAN, "llm": [1, 2.5, *LLM[2:]]}, ["1:5:1"]),
        ({"human": [1, 2.5, *HUMAN[2:]], "llm": LLM}, ["1:5"]),
        ({"human": HUMAN, "llm": [v * 20 for v in LLM]}, ["1:5:1", "llm:score=0:100"]),
        ({"human": [True, False] * 6, "llm": [True] * 11 + [False]}, []),
        (
            {
                "human_aa": HUMAN,
                "llm_aa": LLM,
                "human_bb": [v / 5 for v in LLM],
                "llm_bb": [0.5] * 11 + [1],
            },
            ["1:5:1", "bb=0:1"],
        ),
    ],
)  # fmt: skip
def test_one_list_of_likely_scales_is_proposed(
    tmp_path: Path, columns: dict[str, list[object]], scales: list[str]
) -> None:
    path = written(tmp_path, pd.DataFrame(columns))
    scores = from_file(path, (), (), None, None, {}, understand=False).scores
    assert list(likely_scales(scores)) == scales
    understood = from_file(path, (), (), None, None, {}).scores
    notes = [note for note in understood.warnings if note.startswith("no scale is declared")]
    assert all(f"--scale {scale}" in note for note in notes for scale in scales)
    assert len(notes) == bool(scales)
    assert list(likely_scales(understood)) == []
    content = json.loads(ccrs("doctor", path, "--json").stdout)
    assert content["command"].endswith(" ".join(["", *(f"--scale {s}" for s in scales)]).lstrip())


def test_a_slip_among_small_values_is_no_scale() -> None:
    assert looks_like([1, 2, 3, 4, 5] * 4 + [55]) is None
    assert looks_like([0, 2, 3, 4, 5] * 4 + [55]) == "0:100"


def test_every_command_takes_and_recognizes_columns(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    quality = rng.normal(3, 1, 60)
    frame = pd.DataFrame(
        {
            name: np.clip(np.round(quality + rng.normal(0, 0.5, 60)), 1, 5).astype(int)
            for name in ("human_1", "human_2", "gpt", "llama")
        }
    ).assign(question=[f"q{i // 3}" for i in range(60)])
    path = written(tmp_path, frame)
    words = "--judge gpt --judge llama --human human_1 --human human_2 --query question"
    commands = (
        ("plan", "--wanted", "bias=1", "--queries", "10", "--raters", "2", "--runs", "2"),
        ("judge", "rank"),
        ("check", "--require", "rank_systems=yes"),
    )
    for command in commands:
        name, *rest = command
        start = (name, rest.pop(0)) if name == "judge" else (name,)
        named = ccrs(*start, path, *rest, *words.split(), "--scale", "1:5:1")
        recognized = ccrs(*start, path, *rest, "--scale", "1:5:1")
        status = 1 if name == "check" else 0
        assert named.exit_code == recognized.exit_code == status, named.output + recognized.output
        assert named.stdout == recognized.stdout
        declared = recognized.stderr.partition("The same, declared: ")[2].splitlines()[0]
        again = ccrs(*shlex.split(declared)[1:])
        assert (again.stdout, again.exit_code) == (named.stdout, status), again.output


def test_a_pilot_with_one_response_to_a_query_is_planned_from(tmp_path: Path) -> None:
    frame = table(annotator_1=HUMAN, annotator_2=LLM, annotator_3=[*HUMAN[:6], *LLM[6:]], gpt4=LLM)
    path = written(tmp_path, frame)
    design = ("--queries", "10", "--raters", "2", "--runs", "2", "--scale", "1:5:1")
    result = ccrs("plan", path, *design)
    assert result.exit_code == 0, result.output
    assert "order_responses" in result.stdout
    assert "rank_systems" not in result.stdout
    # Of one rater the queries are drawn; components need several.
    alone = written(tmp_path, frame[["annotator_1", "gpt4"]])
    drawn = ccrs("plan", alone, "--queries", "10", "--runs", "2", "--scale", "1:5:1")
    assert drawn.exit_code == 0, drawn.output
    assert "drawn from the pilot" in " ".join(drawn.stdout.split())
    result = ccrs("plan", alone, *design, "--claim", "bias=1")
    assert result.exit_code == 2
    assert "state the components: ccrs plan --components" in result.stderr


def test_a_column_with_the_construct_has_its_own_option_in_plan(tmp_path: Path) -> None:
    frame = table(id=[i // 2 for i in range(12)], dimension=["a", "b"] * 6, human_1=HUMAN, llm=LLM)
    frame["human_2"] = frame["human_1"].to_numpy()[::-1]
    path = written(tmp_path, frame.rename(columns={"dimension": "construct"}))
    result = ccrs("plan", path, "--queries", "25", "--raters", "2", "--runs", "2")
    assert result.exit_code == 0, result.output
    assert "--id id --construct-column construct" in result.stderr


@pytest.mark.parametrize("command", ["report", "check", "plan", "doctor"])
def test_a_study_has_no_named_columns(tmp_path: Path, command: str) -> None:
    result = ccrs(command, tmp_path, "--judge", "llm", "--human", "human")
    assert result.exit_code == 2
    assert "--judge" in result.stderr


def test_kinds_beside_recognized_columns_are_refused_with_the_options(tmp_path: Path) -> None:
    path = written(tmp_path, table(human=HUMAN, llm=LLM))
    result = ccrs("report", path, "--kind", "llm=judge")
    assert result.exit_code == 2
    assert "leave --kind out: --judge llm --human human" in result.stderr


def test_the_figures_of_the_first_answers_do_not_load_scipy_stats() -> None:
    code = "import sys, analysis.pipeline.estimation; sys.exit('scipy.stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

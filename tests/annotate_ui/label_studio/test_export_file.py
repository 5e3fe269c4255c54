"""An export of a project that was not pushed from here comes in as ratings."""

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from annotate_ui.label_studio.export_file import USERS_LEFT_OUT
from annotate_ui.label_studio.users import Raters
from study import Study
from study.cli.commands import import_
from study.errors import InputError
from study.importing.file_import import import_file, unmapped_controls
from study.lifecycle.erase import erase
from tests.annotate_ui.label_studio.export_builder import annotation, stars, task, written
from tests.ccrs_command import in_process, program


def test_controls_become_constructs_by_name_and_by_option(study: Study, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        task(1, annotation(1, 5, question_relevance=80, quality=60), item_id="a"),
        task(2, annotation(2, {"id": 6, "email": "x@example.org"}, quality=20), item_id="b"),
    )
    import_file(study, path, controls={"quality": "AC"})
    scores = study.score_table()
    assert list(scores["source"].unique()) == ["label_studio"]
    rows = scores[["response_id", "construct", "scorer", "value"]].values.tolist()
    assert rows[0] == ["a", "AC", "ls-5", 60]
    assert ["a", "QR", "ls-5", 80] in rows
    assert ["b", "AC", "ls-6", 20] in rows
    assert "example.org" not in (study.folder / "study.db").read_bytes().decode("latin-1")
    again = import_file(study, path, controls={"quality": "AC"})
    assert not again.added


def test_tasks_without_passages_are_about_the_responses_of_the_study(tmp_path: Path) -> None:
    """A project shows the texts that are judged, seldom in the fields of the study's file."""
    rows = [
        {
            "query_id": f"q{number}",
            "query": f"Question {number}?",
            "system": "A",
            "response": f"Answer {number}.",
            "passages": [f"Passage {number}."],
        }
        for number in (1, 2)
    ]
    responses = tmp_path / "responses.jsonl"
    responses.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    export = written(
        tmp_path, task(1, annotation(1, 5, QR=80)), task(2, annotation(2, 5, QR=20), system="A")
    )
    folder = tmp_path / "study"
    for words in (["init", folder], ["import", folder, responses]):
        assert in_process(*words).returncode == 0
    done = program("import", folder, export)
    assert done.returncode == 0
    assert "read as the stored ones with this text (2)" in done.stdout
    assert "have no passages" not in done.stdout
    with closing(Study.open(folder)) as study:
        scores = study.score_table()[["response_id", "value"]].to_numpy().tolist()
    assert scores == [["q1/A", 80], ["q2/A", 20]]


def test_an_unmapped_control_is_asked_for(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, annotation(1, 5, quality=60, stars=4)))
    with pytest.raises(InputError, match="which construct does the control 'stars' rate"):
        import_file(study, path, controls={"quality": "AC"})
    with pytest.raises(InputError, match="'ACC'"):
        import_file(study, path, controls={"quality": "ACC", "stars": ""})
    import_file(study, path, controls={"quality": "AC", "stars": ""})
    assert study.score_table()["construct"].tolist() == ["AC"]


def test_a_value_that_is_not_a_rating_is_missing_with_its_reason(
    study: Study, tmp_path: Path
) -> None:
    skip = {**annotation(5, 9), "was_cancelled": True, "result": []}
    path = written(
        tmp_path,
        task(1, annotation(1, 5, QR=250), annotation(2, 6, QR="77"), annotation(3, 7, QR=None)),
        task(2, annotation(4, 8, QR=1), annotation(6, 8, at="11:00", QR=2), skip),
    )
    summary = import_file(study, path)
    scores = study.score_table().set_index("scorer")
    assert scores["value"].dropna().to_dict() == {"ls-8": 2}
    assert scores["missing_reason"].dropna().to_dict() == {
        "ls-5": "out_of_range",
        "ls-6": "no_number",
        "ls-7": "no_number",
        "ls-9": "skipped",
    }
    assert summary.left_out == {"annotations of a task that the same user annotated again later": 1}


def test_stars_need_a_declared_range(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, stars(1, 5, 4), stars(2, 6, 1), stars(3, 7, 6)))
    with pytest.raises(InputError, match="--scale stars=1:10"):
        import_file(study, path, controls={"stars": "AC"})
    with pytest.raises(InputError, match="'other' does not rate in this file"):
        import_file(study, path, controls={"stars": ""}, ranges={"other": (1, 5)})
    import_file(study, path, controls={"stars": "AC"}, ranges={"stars": (1, 5)})
    scores = study.score_table().set_index("scorer")
    assert scores["value"].dropna().to_dict() == {"ls-5": 75, "ls-6": 0}
    assert scores["missing_reason"].dropna().to_dict() == {"ls-7": "out_of_range"}


def test_a_user_of_the_option_must_have_annotations(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, annotation(1, 5, QR=20), annotation(2, 6, QR=30)))
    with pytest.raises(
        InputError, match=r"user 9 has no annotation in this file\. Its users: 5, 6"
    ):
        import_file(study, path, raters={"9": "anna"})
    with pytest.raises(InputError, match="Correct or leave out --rater 9=;"):
        import_file(study, path, raters={"9": ""})


@pytest.mark.parametrize(
    "options",
    [
        ["--rater", "5=anna", "--rater", "05=ben"],
        ["--control", "QR=QR", "--control", "QR="],
        ["--scale", "QR=0:10", "--scale", "QR=1:5"],
        ["--kind", "a=human", "--kind", "a=judge"],
    ],
    ids=["rater", "control", "scale", "kind"],
)
def test_an_option_gives_each_name_once(study: Study, tmp_path: Path, options: list[str]) -> None:
    path = written(tmp_path, task(1, annotation(1, 5, QR=2)))
    done = CliRunner().invoke(import_, [str(study.folder), str(path), *options])
    assert f"{options[0]} has two values for" in done.output
    assert done.exit_code == 2


def test_users_with_long_numbers_are_distinguished(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, annotation(1, 10**18, QR=2)))
    mapping = f"{10**18 + 7}=anna"
    done = CliRunner().invoke(import_, [str(study.folder), str(path), "--rater", mapping])
    assert f"user {10**18 + 7} has no annotation" in str(done.exception)
    import_file(study, path)
    assert study.score_table()["scorer"].tolist() == [f"ls-{10**18}"]


def test_people_of_two_servers_are_not_one(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, annotation(1, 5, QR=20), annotation(2, 6, QR=30)))
    with study.write() as connection:
        people = Raters(connection, "http://one.example.org", "x")
        people.rater_of(5)
        people.assign({6: "anna"})
    with pytest.raises(InputError, match=r"user 5 of http://one\.example\.org is the rater ls-5"):
        import_file(study, path)
    erase(study, "anna")
    with pytest.raises(InputError, match=r"user 6 of http://one\.example\.org is erased"):
        import_file(study, path, rater_prefix=None, raters={"5": "bo"})
    done = import_file(study, path, raters={"5": "bo", "6": ""})
    assert done.left_out == {USERS_LEFT_OUT: 1}
    assert study.score_table()["scorer"].tolist() == ["bo"]
    assert import_file(study, path, rater_prefix="two-").warnings == ()
    assert sorted(study.score_table()["scorer"]) == ["bo", "two-5", "two-6"]
    more = written(tmp_path, task(2, annotation(3, 5, QR=20)))
    warnings = import_file(study, more, rater_prefix="two-").warnings
    assert "two-5: the study already has values" in str(warnings)


@pytest.mark.parametrize(
    "broken",
    [
        {"result": 7},
        {"completed_by": float("inf")},
        {"completed_by": None},
        {"id": None},
        {"result": [7, {"type": "relation", "from_id": "a"}]},
    ],
    ids=["result", "user", "nobody", "number", "relation"],
)
def test_a_broken_annotation_gives_no_traceback(study: Study, tmp_path: Path, broken: Any) -> None:
    path = written(tmp_path, task(1, annotation(1, 5, QR=20), {**annotation(2, 6, QR=1), **broken}))
    import_file(study, path)
    assert study.score_table()["value"].dropna().tolist() == [20]


def test_a_task_without_a_number_is_a_fault(study: Study, tmp_path: Path) -> None:
    good = task(1, annotation(1, 5, QR=20))
    path = written(tmp_path, good, {name: good[name] for name in ("data", "annotations")})
    with pytest.raises(InputError, match="the task has no number"):
        import_file(study, path)


def test_a_time_of_any_size_gives_no_traceback(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    text = json.dumps([task(1, {**annotation(1, 5, QR=20), "lead_time": "LEAD"})])
    path.write_text(text.replace('"LEAD"', f"1{'0' * 400}"))
    import_file(study, path)
    assert study.score_table()["value"].tolist() == [20]


def test_a_project_that_was_pushed_is_pulled_and_not_imported(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, annotation(1, 5, QR=20), ccrs_id="0123"))
    with pytest.raises(InputError, match="ccrs label-studio pull"):
        import_file(study, path)


def test_in_a_terminal_the_construct_is_asked_for(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, annotation(1, 5, QR=5, quality=60, stars=4)))
    (tmp_path / "more").mkdir()
    more = written(tmp_path / "more", task(2, annotation(2, 5, quality=70)))
    assert unmapped_controls(study, path, controls={"stars": ""}) == ["quality"]
    keyboard, terminal = os.openpty()
    os.write(keyboard, b"AC\n\n")
    command = [sys.executable, "-c", "from study.cli.root import main; main()"]
    done = subprocess.run(
        [*command, "import", str(study.folder), str(path), str(more)],
        stdin=terminal,
        capture_output=True,
        text=True,
        check=False,
    )
    os.close(keyboard)
    os.close(terminal)
    assert done.returncode == 0, done.stderr
    assert "which construct does the control 'quality' rate? (QR, CC, ID, AC, IR" in done.stdout
    assert done.stdout.count("does the control 'quality' rate?") == 1
    assert sorted(study.score_table()["construct"]) == ["AC", "AC", "QR"]

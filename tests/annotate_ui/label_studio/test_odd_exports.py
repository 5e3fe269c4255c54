"""Histories of annotations, controls of one name, and addresses in different case."""

from pathlib import Path
from typing import Any

import pytest

from annotate_ui.label_studio.export_inventory import stated_controls
from annotate_ui.label_studio.follow import FollowOptions, follow
from study import Study
from study.errors import InputError
from study.importing.file_import import import_file
from tests.annotate_ui.label_studio.export_builder import annotation, result, task, written
from tests.ccrs_command import in_process


def values(study: Study) -> list[tuple[str, Any]]:
    table = study.score_table()
    return list(zip(table["scorer"], table["value"], strict=True))


def test_of_an_annotation_with_its_history_the_present_values_count(
    study: Study, tmp_path: Path, server: Any
) -> None:
    before = {"action": "updated", "result": annotation(1, 5, QR=10)["result"], "created_by": 6}
    made = {**annotation(1, 5, QR=70), "history": [before], "last_action": "updated"}
    import_file(study, written(tmp_path, task(1, made)))
    assert values(study) == [("ls-5", 70.0)]
    number = server.create_project(description="", xml="<View/>")
    server.tasks[number] = {2: {**task(2, made), "drafts": []}}
    done = follow(study, server, number, FollowOptions(controls={"QR": "QR"}))
    assert (done.new, dict(done.rules)) == (1, {})


def test_values_of_two_controls_of_one_name_are_missing(study: Study, tmp_path: Path) -> None:
    two = [result("QR", "rating", stars) | {"to_name": f"text_{stars}"} for stars in (2, 4)]
    path = written(tmp_path, task(1, {**annotation(1, 5), "result": two}))
    import_file(study, path, ranges={"QR": (1, 5)})
    table = study.score_table()
    assert table["missing_reason"].tolist() == ["given_twice"]
    xml = (
        '<View><Choices name="QR" toName="a"><Choice value="1"/></Choices>'
        '<Choices name="QR" toName="b"><Choice value="2"/></Choices></View>'
    )
    assert [label for _, label in stated_controls(xml)["QR"].labels] == ["1", "2"]


def test_two_accounts_become_one_rater_and_no_address_is_stored(
    study: Study, tmp_path: Path
) -> None:
    users = [{"id": 5, "email": "Ada@Example.org"}, {"id": 6, "email": "ada@example.org"}]
    first, second = (
        annotation(number, user, at=f"1{number}:00", QR=10 * number)
        for number, user in enumerate(users, 1)
    )
    path = written(tmp_path, task(1, first, second))
    summary = import_file(study, path, raters={"5": "anna", "6": "anna"})
    assert not [line for line in summary.warnings if "address" in line]
    assert values(study) == [("anna", 20.0)]
    assert sum(summary.left_out.values()) == 1
    assert b"xample.org" not in (study.folder / "study.db").read_bytes()


def test_users_with_one_address_are_named_once(study: Study, tmp_path: Path) -> None:
    users = [{"id": n, "email": f"{'aA'[n % 2]}da@example.org"} for n in (5, 6)]
    made = [annotation(n, user, QR=50 + n) for n, user in enumerate(users * 2, 1)]
    others = annotation(5, {"id": 7, "email": "bo@example.org"}, QR=71), annotation(6, 8, QR=72)
    path = written(tmp_path, task(1, *made[:2]), task(2, *made[2:], *others))
    done = in_process("import", study.folder, path)
    assert done.returncode == 0
    warning = (
        "the users 5, 6 have one e-mail address and are imported as 2 raters. If they are one "
        "person, name them with --rater 5=CODE --rater 6=CODE."
    )
    assert done.stdout.count(warning) == 1
    assert "example.org" not in done.stdout
    assert b"xample.org" not in (study.folder / "study.db").read_bytes()
    assert {scorer for scorer, _ in values(study)} == {"ls-5", "ls-6", "ls-7", "ls-8"}


def test_an_address_in_place_of_a_number_is_refused(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_text("id,question,response,QR,annotation_id,annotator,lead_time\n"
                    '1,?,a,"[{""number"": 5}]",1,Ada@example.org,1\n')  # fmt: skip
    with pytest.raises(InputError, match="not the number of a user"):
        import_file(study, path)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"data": [1]}, "row 2: the task has no data. Export the project again."),
        ({"data": 5}, "row 2: the task has no data. Export the project again."),
        ({"type": {"a": 1}}, "row 2: a result of the control 'QR' has the type {'a': 1}, no text."),
        ({"type": ["number"]}, "row 2: a result of the control 'QR' has the type ['number']"),
        ({"question": "bad \ud800"}, "row 2, column question: contains half of a surrogate pair"),
    ],
    ids=["list", "number", "object-type", "list-type", "surrogate"],
)
def test_a_damaged_task_is_a_fault_of_its_row(
    study: Study, tmp_path: Path, change: dict[str, Any], problem: str
) -> None:
    damaged = task(2, annotation(2, 5, QR=20))
    if "data" in change:
        damaged |= change
    elif "type" in change:
        damaged["annotations"][0]["result"][0] |= change
    else:
        damaged["data"] |= change
    path = written(tmp_path, task(1, annotation(1, 5, QR=10)), damaged)
    refused = in_process("import", study.folder, path)
    assert refused.returncode != 0
    assert problem in refused.stderr
    assert "Traceback" not in refused.stderr + in_process("doctor", path).stderr
    assert values(study) == []

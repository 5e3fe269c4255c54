"""Pairs are compared by choices in projects that were made in Label Studio."""

from pathlib import Path
from typing import Any

import pytest

from annotate_ui.label_studio.follow import ANOTHER_TASK, NOT_IN_STUDY, FollowOptions, follow
from study import Study
from study.importing.file_import import import_file
from tests.annotate_ui.label_studio.export_builder import annotation, written
from tests.annotate_ui.label_studio.fake_server import StandIn


def better(key: str, choice: str) -> dict[str, Any]:
    return {"from_name": key, "type": "choices", "value": {"choices": [choice]}}


VALUES = {"A is better": -1.0, "tie": 0.0, "B is better": 1.0}
PAIR = {"prompt": "?", "answer_a": "one", "answer_b": "two"}
CHOICES = "".join(f'<Choice value="{label}"/>' for label in VALUES)
XML = f'<View><Choices name="which" toName="x">{CHOICES}</Choices></View>'


def tasks(*choices: str) -> list[dict[str, Any]]:
    return [
        {
            "id": number,
            "data": {**PAIR, "prompt": f"{number}?"},
            "annotations": [{**annotation(number, 1), "result": [better("which", choice)]}],
        }
        for number, choice in enumerate(choices, 1)
    ]


def preferences(study: Study) -> list[float]:
    return study.preference_table().sort_values("query_id")["value"].tolist()


@pytest.mark.parametrize("way", ["import", "follow"])
def test_choices_between_two_responses_are_preferences(
    study: Study, tmp_path: Path, way: str
) -> None:
    exported = tasks("A is better", "tie", "B is better")
    options: Any = {"controls": {"which": "AC"}, "columns": {"prompt": "query"}, "values": VALUES}
    if way == "import":
        import_file(study, written(tmp_path, *exported), **options)
    else:
        server: Any = StandIn()
        number = server.create_project(description="", xml=XML)
        server.tasks[number] = {task["id"]: {**task, "drafts": []} for task in exported}
        assert follow(study, server, number, FollowOptions(**options)).new == 3
    assert sorted(preferences(study)) == [-1.0, 0.0, 1.0]
    table = study.preference_table()
    assert table.loc[table["value"] == 1.0, "response_b"].tolist() == ["task-3/b"]


@pytest.mark.parametrize("way", ["import", "follow"])
def test_a_choice_between_the_points_of_the_scale_is_no_preference(
    study: Study, tmp_path: Path, way: str
) -> None:
    exported = tasks("A is slightly better", "B is better")
    values = {"A is better": -1.0, "A is slightly better": -0.5, "B is better": 1.0}
    options: Any = {"controls": {"which": "AC"}, "columns": {"prompt": "query"}, "values": values}
    reason = "-0.5 is not a point of the scale -2 to 2 in steps of 1"
    report: Any
    if way == "import":
        path = written(tmp_path, *exported)
        options["values"] = {label: values[label] for label in list(values)[1:]}
        report = import_file(study, path, **options)
    else:
        server: Any = StandIn()
        number = server.create_project(
            description="", xml=XML.replace("tie", "A is slightly better")
        )
        server.tasks[number] = {task["id"]: {**task, "drafts": []} for task in exported}
        report = follow(study, server, number, FollowOptions(**options))
    assert report.rules[f"a value treated as missing: {reason}"] == 1
    missing = study.preference_table().query("value != value")["missing_reason"].tolist()
    assert missing == ["out_of_range"]
    assert study.preference_table()["value"].dropna().tolist() == [1.0]


def test_a_value_of_a_response_that_is_not_in_the_study_is_counted(
    study: Study, server: Any
) -> None:
    number = server.create_project(
        description="", xml=XML.replace("<View>", '<View><Number name="stars" toName="x"/>')
    )
    (exported,) = tasks("tie")
    exported["data"]["response_id"] = "elsewhere"
    exported["annotations"][0]["result"].append(
        {"from_name": "stars", "type": "number", "value": {"number": 70}}
    )
    server.tasks[number] = {exported["id"]: {**exported, "drafts": []}}
    controls = {"which": "AC", "stars": "QR"}
    options = FollowOptions(controls=controls, columns={"prompt": "query"}, values=VALUES)
    done = follow(study, server, number, options)
    assert (done.new, preferences(study)) == (1, [0.0])
    assert done.left_out[NOT_IN_STUDY] == 1


def test_preferences_of_a_task_with_another_text_are_of_other_responses(
    study: Study, server: Any
) -> None:
    number = server.create_project(description="", xml=XML)
    (exported,) = tasks("tie")
    server.tasks[number] = {exported["id"]: {**exported, "drafts": []}}
    options = FollowOptions(controls={"which": "AC"}, columns={"prompt": "query"}, values=VALUES)
    assert follow(study, server, number, options).new == 1
    exported["data"]["answer_a"] = "another"
    later = server.annotate(number, exported["id"], 6, "12:00")
    later["result"] = [better("which", "B is better")]
    done = follow(study, server)
    assert (done.new, done.withdrawn, done.rules[ANOTHER_TASK]) == (2, 1, 1)
    assert preferences(study) == [0.0, 1.0]
    assert follow(study, server).stored_anything is False

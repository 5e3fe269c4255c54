"""Annotations that are no independent ratings: expected answers, and those made from others."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from annotate_ui.label_studio.follow import FollowOptions, follow
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from study.cli.root import cli
from study.errors import InputError
from study.importing.file_import import import_file
from tests.annotate_ui.label_studio.export_builder import annotation, task, written
from tests.annotate_ui.label_studio.fake_server import StandIn
from tests.annotate_ui.label_studio.pushed_study import reserve
from tests.annotate_ui.rated_campaign import fill

TRUE = {"ground_truth": True}
NUMBER = '<View><Text name="r" value="$response"/><Number name="QR" toName="r"/></View>'


def values(study: Study) -> list[tuple[str, str, str, float]]:
    table = study.score_table().dropna(subset="value")
    columns = ["scorer", "scorer_kind", "source", "value"]
    return sorted(tuple(row) for row in table[columns].values.tolist())


def counted(left_out: dict[str, int]) -> list[tuple[str, int]]:
    return [(text.partition(",")[0], count) for text, count in left_out.items()]


@pytest.mark.parametrize("parent", [{"parent_prediction": 9}, {"parent_annotation": 8}])
def test_annotations_made_from_others_are_kept_apart(
    study: Study, tmp_path: Path, parent: dict[str, int]
) -> None:
    accepted = {**annotation(1, 5, QR=80, at="11:00"), **parent}
    path = written(tmp_path, task(1, accepted, annotation(2, 5, QR=60), annotation(3, 6, QR=50)))
    done = import_file(study, path)
    place = "label_studio"
    assert values(study) == [("ls-5", "human", place, 60), ("ls-6", "human", place, 50)]
    ((text, count),) = done.left_out.items()
    assert text.startswith("annotations made from a prediction or from another annotation")
    assert "--annotations prefilled=ratings" in text
    assert count == 1


def test_those_that_are_asked_for_have_their_own_source(study: Study, tmp_path: Path) -> None:
    accepted = {**annotation(1, 5, QR=80), "parent_prediction": 9}
    path = written(tmp_path, task(1, accepted, annotation(3, 6, QR=50)))
    import_file(study, path, annotations={"prefilled": "ratings"})
    assert values(study) == [
        ("ls-5", "human", "label_studio_prefilled", 80),
        ("ls-6", "human", "label_studio", 50),
    ]


def test_ground_truth_is_taken_as_ratings(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, {**annotation(1, 5, QR=80), **TRUE}, annotation(2, 6, QR=50)))
    import_file(study, path, annotations={"ground-truth": "ratings"})
    assert [row[::3] for row in values(study)] == [("ls-5", 80), ("ls-6", 50)]


def test_ground_truth_is_taken_as_the_reference(study: Study, tmp_path: Path) -> None:
    # The same person may also have given a rating.
    truth = {**annotation(1, 5, QR=80), **TRUE}
    path = written(tmp_path, task(1, truth, annotation(2, 5, QR=60), annotation(3, 6, QR=50)))
    import_file(study, path, annotations={"ground-truth": "reference"})
    assert [(name, kind, value) for name, kind, _, value in values(study)] == [
        ("ls-5", "human", 60),
        ("ls-5 (adjudicated)", "adjudicated", 80),
        ("ls-6", "human", 50),
    ]


def prediction(number: int, model: str | None, **values: float) -> dict[str, Any]:
    made = annotation(number, 5, **values)
    kept = {name: made[name] for name in ("id", "created_at", "updated_at", "result")}
    return {**kept, "model_version": model, "score": 0.9}


def test_predictions_are_taken_as_a_judge(study: Study, tmp_path: Path) -> None:
    first, second = task(1, annotation(1, 5, QR=80)), task(2, annotation(2, 5, QR=40))
    first["predictions"] = [
        prediction(1, "gpt-a", QR=70),
        prediction(2, "gpt-b", QR=30),
        # A later one of the same model counts in its place.
        {**prediction(3, "gpt-a", QR=75), "created_at": "2030-01-01T00:00:00Z"},
        prediction(4, None, QR=1),
    ]
    second["predictions"] = [prediction(5, "gpt-a", QR=250), {"model_version": "gpt-a"}]
    path = written(tmp_path, first, second)
    words = ["import", str(study.folder), str(path), "--annotations", "predictions=judge"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    assert [(name, kind, value) for name, kind, _, value in values(study)] == [
        ("gpt-a", "judge", 75),
        ("gpt-b", "judge", 30),
        ("ls-5", "human", 40),
        ("ls-5", "human", 80),
    ]
    table = study.score_table()
    assert table.loc[table["value"].isna(), ["scorer", "missing_reason"]].values.tolist() == [
        ["gpt-a", "out_of_range"]
    ]
    for left_out in (
        "predictions without a model_version, which names the judge (1)",
        "predictions of a task that the same model predicted again later (1)",
        "unreadable predictions: no number (id), such as in row 2, task 2 (1)",
    ):
        assert left_out in done.output
    assert "predictions, which are not made by people" not in done.output


def test_a_kind_that_the_file_does_not_have_is_refused(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, annotation(1, 5, QR=80)))
    with pytest.raises(InputError, match="no annotation of this file is of the kind prefilled"):
        import_file(study, path, annotations={"prefilled": "ratings"})
    short = tmp_path / "short.csv"
    short.write_text(
        "id,question,response,QR,annotation_id,annotator,lead_time,created_at,updated_at\n"
        '1,Q?,A.,"[{""number"": 5}]",1,5,3,2026-01-01T10:00:00Z,2026-01-01T10:00:00Z\n'
    )
    with pytest.raises(InputError, match=r"CSV and TSV do not state it.*export .* as JSON"):
        import_file(study, short, annotations={"ground-truth": "ratings"})


def test_the_command_takes_them(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, {**annotation(1, 5, QR=80), **TRUE}))
    words = ["import", str(study.folder), str(path)]
    alone = CliRunner().invoke(cli, words)
    assert "are left out unless --annotations ground-truth=ratings takes" in alone.output
    with pytest.raises(InputError, match="left out unless --annotations ground-truth=ratings"):
        import_file(study, path, controls={"QR": "QR"})
    wrong = CliRunner().invoke(cli, [*words, "--annotations", "prefilled=reference"])
    assert wrong.exit_code == 2
    known = "ground-truth=ratings, ground-truth=reference, prefilled=ratings, predictions=judge"
    assert f"write one of {known}" in wrong.output
    done = CliRunner().invoke(cli, [*words, "--annotations", "ground-truth=ratings"])
    assert done.exit_code == 0, done.output
    assert [row[::3] for row in values(study)] == [("ls-5", 80)]


def test_doctor_counts_them_and_prints_what_takes_them(tmp_path: Path) -> None:
    truths = [{**annotation(n, 5, QR=80), **TRUE} for n in (1, 2)]
    accepted = {**annotation(3, 6, QR=5), "parent_prediction": 1}
    mixed = task(1, truths[0], accepted, annotation(4, 6, QR=30))
    mixed["predictions"] = [{"id": 1, "result": []}]
    text = doctor(written(tmp_path, mixed))
    option = "1 annotation, left out unless --annotations"
    assert f"  ground truth  {option} ground-truth=ratings or ground-truth=reference\n" in text
    assert f"  prefilled     {option} prefilled=ratings\n" in text
    assert "  predictions   1, left out unless --annotations predictions=judge\n" in text
    path = written(tmp_path, task(1, truths[0]), task(2, truths[1]))
    text = doctor(path)
    assert "control QR" in text
    command = f"ccrs import my-study {path} --annotations ground-truth=ratings\n"
    assert command in text


def doctor(path: Path) -> str:
    return CliRunner().invoke(cli, ["doctor", str(path)]).output


def of_people(server: StandIn, *annotations: dict[str, Any]) -> int:
    """Make a project with one task, as people do over there."""
    number = server.create_project(description="", xml=NUMBER)
    (task,) = server.import_tasks(number, [{"data": {"question": "Q?", "response": "A."}}])
    server.tasks[number][task]["annotations"] += annotations
    server.tasks[number][task]["predictions"] = [{"id": 9, "result": []}]
    return number


def test_a_followed_project_leaves_them_out_and_counts_predictions(study: Study) -> None:
    server = StandIn()
    accepted = {**annotation(1, 5, QR=80), "parent_prediction": 9}
    truth = {**annotation(2, 6, QR=70), **TRUE}
    number = of_people(server, accepted, truth, annotation(3, 7, QR=60))
    done = follow(study, server, number, FollowOptions())
    assert [row[::3] for row in values(study)] == [("ls-7", 60)]
    assert sorted(counted(dict(done.left_out))) == [
        ("annotations made from a prediction or from another annotation", 1),
        ("annotations marked as ground truth", 1),
        ("predictions", 1),
    ]
    follow(study, server, number, FollowOptions(annotations={"ground-truth": "reference"}))
    rows = study.score_table().dropna(subset="value")
    assert dict(zip(rows["scorer_kind"], rows["value"], strict=True)) == {
        "human": 60,
        "adjudicated": 70,
    }
    both = FollowOptions(annotations={"ground-truth": "ratings", "prefilled": "ratings"})
    follow(study, server, number, both)
    assert [(name, place, value) for name, _, place, value in values(study)] == [
        ("ls-5", "label_studio_prefilled", 80),
        ("ls-6", "label_studio", 70),
        ("ls-7", "label_studio", 60),
    ]
    assert follow(study, server).stored_anything is False
    # An empty one leaves them out again, and their values are withdrawn.
    done = follow(study, server, number, FollowOptions(annotations={"prefilled": ""}))
    assert done.withdrawn == 1
    assert [row[::3] for row in values(study)] == [("ls-6", 70), ("ls-7", 60)]


def test_predictions_of_a_followed_project_are_the_scores_of_a_judge(study: Study) -> None:
    server = StandIn()
    number = of_people(server, annotation(3, 7, QR=60))
    (task,) = server.tasks[number].values()
    task["predictions"] = [{**annotation(9, 0, QR=90), "model_version": "m1"}]
    follow(study, server, number, FollowOptions(annotations={"predictions": "judge"}))
    task["predictions"][0]["result"][0]["value"]["number"] = 80
    done = follow(study, server)
    assert (done.new, done.changed) == (0, 1)
    rows = study.score_table()
    assert rows[["scorer", "scorer_kind", "value"]].values.tolist() == [
        ["ls-7", "human", 60],
        ["m1", "judge", 80],
    ]


def test_a_pull_leaves_out_what_was_made_from_another_annotation(study: Study) -> None:
    fill(study, queries=1, systems=1)
    reserve(study, 2)
    server = StandIn()
    push(study, server)
    ((number, tasks),) = list(server.tasks.items())[:1]
    (first, *_) = tasks
    keys = {construct.key: 50 for construct in study.config.constructs}
    server.annotate(number, first, 5, "10:00", **keys)
    copied = server.annotate(number, first, 6, "10:05", **keys)
    copied["parent_annotation"] = 1
    done = pull(study, server)
    assert {row[0] for row in values(study)} == {"ls-5"}
    assert done.as_json()["left_out"] == dict(done.left_out)
    assert counted(dict(done.left_out)) == [
        ("annotations made from a prediction or from another annotation", 1)
    ]

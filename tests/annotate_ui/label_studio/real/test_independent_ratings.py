"""Imported annotations, those made from a prediction, and stated ranges, on the real server."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.follow import FollowOptions, follow
from study import Study
from tests.annotate_ui.label_studio.real.process import OWNER, LabelStudioServer, Member
from tests.annotate_ui.label_studio.real.test_foreign_projects import given, made

TEXTS = '<Text name="q" value="$prompt"/><Text name="r" value="$output"/>'
STARS = f'<View>{TEXTS}<Rating name="stars" toName="r" maxRating="10"/></View>'
NUMBERS = f'<View>{TEXTS}<Number name="n" toName="r" min="0" max="20"/></View>'
FIELDS = {"output": "response", "model": "system"}


def ccrs(*words: str | Path) -> str:
    """Run a command as a user does; return what it prints."""
    command = Path(sys.executable).with_name("ccrs")
    done = subprocess.run(
        [command, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LABEL_STUDIO_API_KEY": OWNER},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def starred(value: int) -> dict[str, Any]:
    return {"from_name": "stars", "to_name": "r", "type": "rating", "value": {"rating": value}}


def values(study: Study) -> dict[tuple[str, str, str], float]:
    rows = study.score_table().dropna(subset="value")
    return {(row.scorer, row.source, row.system): row.value for row in rows.itertuples()}


def test_what_people_accepted_from_a_prediction_is_kept_apart(
    study: Study, server: Server, label_studio: LabelStudioServer, members: tuple[Member, Member]
) -> None:
    ada, bo = members
    tasks = [{"prompt": "Q1?", "output": f"A{n}.", "model": f"m{n}"} for n in (1, 2)]
    number, (first, second) = made(label_studio, STARS, *tasks)
    with label_studio.client() as client:
        body = {"task": first, "model_version": "judge-1", "result": [starred(9)]}
        made_by_judge = client.post("/api/predictions/", json=body)
        assert made_by_judge.status_code == 201, made_by_judge.text
    prediction = made_by_judge.json()["id"]
    given(label_studio, ada, first, ("stars", "rating", 9), parent_prediction=prediction)
    own = given(label_studio, bo, first, ("stars", "rating", 4))
    given(label_studio, bo, second, ("stars", "rating", 1))
    given(label_studio, ada, second, ("stars", "rating", 4), parent_annotation=own)

    shown = ccrs("label-studio", "follow", study.folder, "--url", server.url, "--project", number,
                 "--control", "stars=AC", "--column", "output=response,model=system")  # fmt: skip
    # Nobody gave more than five stars but the judge; the project states ten.
    assert f"Range of {number}/stars in Label Studio: 1 to 10, mapped to AC" in shown
    assert "Left out: annotations made from a prediction or from another annotation" in shown
    assert "Left out: predictions, which are not made by people" in shown
    bos = f"ls-{bo.id}", "label_studio"
    mine = {(*bos, "m1"): 100 / 3, (*bos, "m2"): 0}
    assert values(study).keys() == mine.keys()
    assert all(abs(values(study)[key] - value) < 1e-9 for key, value in mine.items())

    follow(study, server, number, FollowOptions(annotations={"prefilled": "ratings"}))
    accepted = f"ls-{ada.id}", "label_studio_prefilled"
    assert values(study).keys() == {*mine, (*accepted, "m1"), (*accepted, "m2")}


def test_annotations_that_were_imported_are_counted_and_taken(
    study: Study, server: Server, label_studio: LabelStudioServer, tmp_path: Path
) -> None:
    tasks = [
        {
            "data": {"prompt": "Q1?", "output": f"A{n}.", "model": f"m{n}"},
            "annotations": [{"result": [starred(10 - n)]}],
        }
        for n in (1, 2, 3)
    ]
    path = tmp_path / "export.json"
    with label_studio.client() as client:
        body = {"title": "imported", "label_config": STARS}
        number = client.post("/api/projects/", json=body).json()["id"]
        client.post(f"/api/projects/{number}/import", json=tasks).raise_for_status()
        form = {"exportType": "JSON"}
        reply = client.get(f"/api/projects/{number}/export", params=form)
    path.write_bytes(reply.content)
    shown = ccrs("doctor", path)
    assert "ground truth   3 annotations, imported as ratings by this command" in shown
    assert "--annotations ground-truth=ratings" in shown
    words = ("--control", "stars=AC", "--scale", "stars=1:10",
             "--column", "output=response,model=system")  # fmt: skip
    ccrs("import", study.folder, path, *words, "--annotations", "ground-truth=reference")
    rows = study.score_table().dropna(subset="value")
    assert set(rows["scorer_kind"]) == {"adjudicated"}
    assert sorted(round(value) for value in rows["value"]) == [67, 78, 89]
    with Study.create(tmp_path / "followed") as other:
        options = FollowOptions({"stars": "AC"}, FIELDS, annotations={"ground-truth": "ratings"})
        follow(other, server, number, options)
        assert sorted(round(value) for value in values(other).values()) == [67, 78, 89]


def test_the_range_of_a_number_field_is_used(
    study: Study, server: Server, label_studio: LabelStudioServer, members: tuple[Member, Member]
) -> None:
    one = {"prompt": "Q1?", "output": "A1.", "model": "m1"}
    number, (task,) = made(label_studio, NUMBERS, one)
    given(label_studio, members[0], task, ("n", "number", 17))
    follow(study, server, number, FollowOptions({"n": "AC"}, FIELDS))
    assert list(values(study).values()) == [85]

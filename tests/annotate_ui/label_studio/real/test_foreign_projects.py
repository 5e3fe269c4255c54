"""Projects that a team made by hand on the server, of four kinds: every value, exactly once."""

from pathlib import Path
from typing import Any

from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.follow import FollowOptions, follow
from study import Study
from study.importing.file_import import import_file
from tests.annotate_ui.label_studio.real.process import LabelStudioServer, Member

TEXTS = '<Text name="q" value="$prompt"/><Text name="r" value="$output"/>'
STARS = f'<View>{TEXTS}<Rating name="stars" toName="r" maxRating="10"/></View>'
NUMBERS = f"""<View>{TEXTS}<Number name="quality" toName="r" min="0" max="100"/>
<Choices name="issues" toName="r" choice="multiple"><Choice value="long"/><Choice value="odd"/>
</Choices><TextArea name="why" toName="r"/></View>"""
LIKERT = f"""<View>{TEXTS}<Choices name="agree" toName="r" choice="single">
<Choice value="1 - not at all"/><Choice value="2 - partly"/><Choice value="3 - fully"/>
</Choices></View>"""
PAIRS = """<View><Text name="q" value="$prompt"/><Text name="a" value="$left"/>
<Text name="b" value="$right"/><Pairwise name="better" toName="a,b"/>
<List name="l" value="$replies"/><Ranker name="rank" toName="l"/></View>"""
FIELDS = {"prompt": "query", "output": "response", "model": "system"}
SIDES = {"prompt": "query", "left": "text_a", "right": "text_b", "replies": "items"}


def made(server: LabelStudioServer, xml: str, *data: dict[str, Any]) -> tuple[int, list[int]]:
    """Make a project by hand; return its number and those of its tasks."""
    with server.client() as client:
        body = {"title": "of the team", "label_config": xml, "maximum_annotations": 2}
        project = client.post("/api/projects/", json=body)
        assert project.status_code == 201, project.text
        number = int(project.json()["id"])
        path = f"/api/projects/{number}/import?return_task_ids=true"
        return number, client.post(path, json=list(data)).json()["task_ids"]


def given(
    server: LabelStudioServer, who: Member, task: int, *results: tuple[str, str, Any], **more: Any
) -> int:
    """Annotate a task; return the annotation's number."""
    result = [
        {"from_name": name, "to_name": "r", "type": kind, "value": {value_name(kind): value}}
        for name, kind, value in results
    ]
    with server.client(who.token) as client:
        done = client.post(f"/api/tasks/{task}/annotations/", json={"result": result, **more})
        assert done.status_code == 201, done.text
        return int(done.json()["id"])


def value_name(kind: str) -> str:
    return {"textarea": "text", "pairwise": "selected"}.get(kind, kind)


def values(study: Study) -> list[tuple[str, str, str, float]]:
    rows = study.score_table().dropna(subset="value")
    columns = ["construct", "scorer", "system", "value"]
    return sorted(tuple(row) for row in rows[columns].values.tolist())


def test_four_kinds_of_foreign_projects_come_in_exactly(
    study: Study,
    server: Server,
    label_studio: LabelStudioServer,
    members: tuple[Member, Member],
    tmp_path: Path,
) -> None:
    ada, bo = members
    one = {"prompt": "Q1?", "output": "A1.", "model": "m1"}
    two = {"prompt": "Q1?", "output": "A2.", "model": "m2"}
    stars, (s1, s2) = made(label_studio, STARS, one, two)
    numbers, (n1, _) = made(label_studio, NUMBERS, one, two)
    likert, (l1, l2) = made(label_studio, LIKERT, one, two)
    items = [{"id": f"i{n}", "title": f"T{n}", "body": f"Text {n}."} for n in range(3)]
    pair = {"prompt": "Q2?", "left": "Left.", "right": "Right.", "replies": items}
    pairs, (p1,) = made(label_studio, PAIRS, pair)

    given(label_studio, ada, s1, ("stars", "rating", 10))
    edited = given(label_studio, bo, s1, ("stars", "rating", 1))
    given(label_studio, ada, s2, was_cancelled=True)
    given(label_studio, ada, n1, ("quality", "number", 66.5), ("issues", "choices", ["odd"]),
          ("why", "textarea", ["too long"]))  # fmt: skip
    deleted = given(label_studio, bo, n1, ("quality", "number", 250))
    given(label_studio, ada, l1, ("agree", "choices", ["3 - fully"]))
    given(label_studio, bo, l2, ("agree", "choices", ["1 - not at all"]))
    given(label_studio, ada, p1, ("better", "pairwise", "left"),
          ("rank", "ranker", {"rank": ["i2", "i0", "i1"]}))  # fmt: skip

    follow(study, server, stars, FollowOptions({"stars": "AC"}, FIELDS, {"stars": (1, 10)}))
    follow(study, server, numbers, FollowOptions({"quality": "CC"}, FIELDS))
    follow(study, server, likert, FollowOptions({"agree": "QR"}, FIELDS, {"agree": (1, 3)}))
    follow(study, server, pairs, FollowOptions({"better": "ID", "rank": "IR"}, SIDES))
    names = f"ls-{ada.id}", f"ls-{bo.id}"
    expected = [
        ("AC", names[0], "m1", 100), ("AC", names[1], "m1", 0), ("CC", names[0], "m1", 66.5),
        ("QR", names[0], "m1", 100), ("QR", names[1], "m2", 0),
    ]  # fmt: skip
    assert values(study) == sorted(expected)
    preferences = study.preference_table().set_index(["construct", "response_a", "response_b"])
    task = f"task-{p1}"
    assert preferences["value"].to_dict() == {
        ("ID", f"{task}/a", f"{task}/b"): -1,
        ("IR", f"{task}/i0", f"{task}/i1"): -1,
        ("IR", f"{task}/i0", f"{task}/i2"): 1,
        ("IR", f"{task}/i1", f"{task}/i2"): 1,
    }
    done = follow(study, server)
    assert done.stored_anything is False
    assert any("250 is outside" in rule for rule in done.rules)

    with label_studio.client(bo.token) as client:
        result = [{"from_name": "stars", "to_name": "r", "type": "rating", "value": {"rating": 4}}]
        client.patch(f"/api/annotations/{edited}/", json={"result": result}).raise_for_status()
        client.delete(f"/api/annotations/{deleted}/").raise_for_status()
    done = follow(study, server)
    # What was outside the scale had been stored as missing.
    assert (done.new, done.changed, done.withdrawn) == (0, 1, 1)
    (value,) = [row[3] for row in values(study) if row[:2] == ("AC", names[1])]
    assert abs(value - 100 / 3) < 1e-9

    # The short forms of the same project have the same values.
    for form in ("JSON_MIN", "CSV"):
        with label_studio.client() as client:
            reply = client.get(f"/api/projects/{stars}/export", params={"exportType": form})
        path = tmp_path / form
        path.write_bytes(reply.content)
        with Study.create(tmp_path / f"of-{form}") as other:
            import_file(
                other, path, controls={"stars": "AC"}, ranges={"stars": (1, 10)}, columns=FIELDS
            )
            assert values(other) == [row for row in values(study) if row[0] == "AC"]


CHAT = """<View><Chat name="r" value="$messages"/>
<Rating name="stars" toName="r" maxRating="10"/></View>"""
PARAGRAPHS = """<View><Paragraphs name="r" value="$dialogue" nameKey="author" textKey="text"
layout="dialogue"/><Number name="n" toName="r" min="0" max="10"/></View>"""


def test_dialogues_and_ten_stars_come_in_exactly(
    study: Study, server: Server, label_studio: LabelStudioServer, members: tuple[Member, Member]
) -> None:
    said = [{"role": "user", "content": "Q1?"}, {"role": "assistant", "content": "A1."}]
    more = [*said, {"role": "user", "content": "Q2?"}, {"role": "assistant", "content": "A2."}]
    chats, (one, two) = made(label_studio, CHAT, {"messages": said}, {"messages": more})
    turns = [{"author": "user", "text": "Q3?"}, {"author": "assistant", "text": "A3."}]
    dialogues, (three,) = made(label_studio, PARAGRAPHS, {"dialogue": turns})
    ada = members[0]
    given(label_studio, ada, one, ("stars", "rating", 1))
    given(label_studio, ada, two, ("stars", "rating", 10))
    given(label_studio, ada, three, ("n", "number", 5))
    follow(study, server, chats, FollowOptions({"stars": "AC"}))
    follow(study, server, dialogues, FollowOptions({"n": "CC"}))
    rows = study.score_table().set_index("response_id")["value"].to_dict()
    assert rows == {f"task-{one}": 0, f"task-{two}": 100, f"task-{three}": 50}

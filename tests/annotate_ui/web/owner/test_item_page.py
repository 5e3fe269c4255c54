"""A response on which raters differ: everything about it on one page, and the value settled on."""

import re
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from sqlalchemy import insert, select

from annotate_ui.tasks.settlement import settle
from annotate_ui.tasks.workflow import open_next
from study import Study
from study.assignment.adjudication import adjudicate
from study.errors import StudyError
from study.schema import RaterAnswerBase, now
from study.schema.tables import (
    assignments,
    rater_answers,
    raters,
    ratings,
    responses,
)
from tests.annotate_ui.rated_campaign import fill, finish_step, give
from tests.annotate_ui.web.conftest import Browser
from tests.study.assignment.test_adjudication import rated


def differing(study: Study) -> None:
    rated(study, {"eva": [20.0], "fay": [70.0]})


def settled(study: Study) -> list[Any]:
    with study.read() as connection:
        return list(
            connection.execute(
                select(raters.c.code, ratings.c.value, ratings.c.comment, ratings.c.after_reveal)
                .join_from(ratings, assignments)
                .join(raters)
                .where(assignments.c.purpose == "adjudication")
                .order_by(ratings.c.id)
            )
        )


def test_texts_values_and_the_settled_value_are_on_one_page(
    owner: Browser, protected: Study
) -> None:
    differing(protected)
    page = owner.get("/owner/items/1").text
    with protected.read() as connection:
        texts = connection.exec_driver_sql("SELECT text FROM passage").scalars().all()
    assert any(text in page for text in texts)
    assert "Reference answer" in page
    assert "20–70" in page
    before = protected.score_table()
    page = owner.submit(
        "/owner/items/1/settle",
        rater="owner",
        comment="<b>fay</b> misread it",
        **{"value-QR": "30,5"},
    ).text
    assert "30.5 <span" in page
    assert "&lt;b&gt;fay" in page
    assert settled(protected) == [("owner", 30.5, "<b>fay</b> misread it", True)]
    # Sent twice it is stored once; it enters no table of scores and no rating page.
    owner.submit(
        "/owner/items/1/settle",
        rater="owner",
        comment="<b>fay</b> misread it",
        **{"value-QR": "30.5"},
    )
    assert len(settled(protected)) == 1
    after = protected.score_table()
    assert after["value"].tolist() == before["value"].tolist()
    answer = owner.client.post("/owner/export", data={"csrf_token": owner.csrf, "format": "csv"})
    with ZipFile(BytesIO(answer.data)) as packed:
        exported = packed.read("settled.csv").decode()
    answer.close()
    assert "QR,owner,30.5,<b>fay</b> misread it" in exported


def test_marked_sentences_are_shown_with_who_marked_them(owner: Browser, protected: Study) -> None:
    differing(protected)
    with protected.write() as connection:
        text = connection.execute(select(responses.c.text).where(responses.c.id == 1)).scalar_one()
        mine = connection.execute(
            select(assignments.c.id, raters.c.code)
            .join_from(assignments, raters)
            .where(assignments.c.response_id == 1, raters.c.code.in_(["eva", "fay"]))
        ).all()
        for row in mine:
            ranges = [[0, 4]] if row.code == "eva" else []
            noun = RaterAnswerBase(construct_key="QR", kind="marks", ranges=ranges)
            values = noun.model_dump() | {"config_hash": "x", "created_at": now()}
            connection.execute(insert(rater_answers).values(**values, assignment_id=row.id))
    page = owner.get("/owner/items/1").text
    assert "Marked sentences" in page
    assert f'dir="auto">{text[:4]}</td><td>1 of 2: <bdi>eva</bdi></td>' in page


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"value-QR": "x"}, "not a number"),
        ({"value-QR": "101"}, "outside the scale"),
        ({"value-QR": "nan"}, "not a finite number"),
        ({}, "No value was entered"),
        ({"value-QR": "5", "rater": "eva"}, "is a rater of this response"),
        ({"value-QR": "5", "rater": ""}, "code"),
        ({"value-QR": "5", "comment": "x" * 5001}, "5000"),
    ],
)
def test_what_cannot_be_settled_stores_nothing(
    owner: Browser, protected: Study, fields: dict[str, str], message: str
) -> None:
    differing(protected)
    answer = owner.submit("/owner/items/1/settle", **{"rater": "owner", **fields})
    assert answer.status_code == 409
    assert message in answer.text
    assert settled(protected) == []


def test_an_adjudicator_is_blind_first(any_study: Study) -> None:
    fill(any_study, queries=1, systems=1)
    rated(any_study, {"eva": [20.0], "fay": [70.0]})
    adjudicate(any_study, "dora", widest=1)
    with pytest.raises(StudyError, match="the blind value comes first"):
        settle(any_study, 1, "dora", {"QR": 50.0})
    # A settled value is none of a plan: its adjudicator is not given the response again.
    settle(any_study, 1, "owner", {"QR": 50.0})
    with pytest.raises(StudyError, match="must not know them"):
        adjudicate(any_study, "owner", widest=1)
    settle(any_study, 1, "owner", {"QR": 55.0}, "on second thoughts")
    values = [(row.code, row.value) for row in settled(any_study)]
    assert values == [("owner", 50.0), ("owner", 55.0)]


def test_work_is_rejected_in_one_click_and_the_click_is_undone(
    owner: Browser, protected: Study
) -> None:
    fill(protected, queries=1, systems=1)
    for rater in (give(protected, "gus"), give(protected, "hal")):
        assert rater is not None
        while open_next(protected, rater).step is not None:
            finish_step(protected, rater, 40.0)
    before = protected.score_table()
    page = owner.get("/owner/items/1").text
    ids = re.findall(r'/owner/raters/(\w+)/reject.*?name="assignment" value="(\w+)"', page)
    assert len(ids) == 2
    (of_gus, task), (of_hal, others_task) = ids
    page = owner.submit(f"/owner/raters/{of_gus}/reject", assignment=task).text
    assert owner.at.startswith("/owner/items/1")
    assert "rejected by the owner" in page
    left = protected.score_table().dropna(subset="value")
    left = left[left["response_id"] == re.findall(r"<h1><bdi>(.*?)</bdi>", page)[0]]
    assert set(left["scorer"]) == {"hal"}
    refused = owner.submit(f"/owner/raters/{of_gus}/reject", assignment=others_task)
    assert refused.status_code == 404
    owner.get("/owner/items/1")
    owner.submit(f"/owner/raters/{of_gus}/restore", assignment=task)
    assert protected.score_table().equals(before)
    page = owner.submit(f"/owner/raters/{of_hal}/reject").text
    assert re.search(r"Rejected: the work on \d+ responses?\.", page)
    assert "Readmit" in page
    page = owner.submit(f"/owner/raters/{of_hal}/restore").text
    assert "Rejected:" not in page
    assert protected.score_table().equals(before)

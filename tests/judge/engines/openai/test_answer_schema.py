"""Answers that follow a JSON schema, where the endpoint honours it."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import select

from judge import OpenAISettings, judge_study, show_run
from judge.engines.openai.answer_schema import answer_format
from study import Study, StudyError
from study.scales import RatingScale
from study.schema.tables import judgments
from tests.judge.stub.process import Stub, running_stub


@pytest.fixture(scope="module")
def _running() -> Iterator[Stub]:
    with running_stub() as started:
        yield started


@pytest.fixture
def stub(_running: Stub) -> Stub:
    _running.behave()
    _running.forget()
    return _running


def settings(stub: Stub, schema: str, **more: Any) -> OpenAISettings:
    return OpenAISettings.checked(
        base_url=stub.base_url,
        model="stub-judge",
        constructs=("QR",),
        answer_schema=schema,
        name="j",
        **more,
    )


def values(study: Study) -> dict[str, float]:
    table = study.score_table()
    rows = table[table["scorer"] == "j"]
    return dict(zip(rows["response_id"], rows["value"].astype(float), strict=True))


@pytest.mark.parametrize("schema", ["auto", "on"])
def test_it_is_requested_where_it_is_honoured(campaign: Study, stub: Stub, schema: str) -> None:
    stub.behave("follows_schema")
    outcome = judge_study(campaign, settings(stub, schema))
    assert (outcome.missing, outcome.falls_short, outcome.notes) == ({}, False, ())
    assert len(values(campaign)) == 12
    wanted = answer_format(RatingScale())["response_format"]
    for request in stub.log().judged:
        assert request["parameters"]["response_format"] == wanted
        assert request["parameters"]["max_tokens"] == 32
        assert "logprobs" not in request["parameters"]
    run = show_run(campaign, "j")
    assert run.decoding["answer_schema"] == "score"
    assert run.observed["answer_schema"] == "honoured"
    assert run.observed["logprobs"] == "not asked: answers are JSON"
    with campaign.read() as connection:
        assert set(connection.execute(select(judgments.c.rule)).scalars()) == {"json"}
    assert judge_study(campaign, settings(stub, schema)).judged == 0


@pytest.mark.parametrize(
    ("rule", "finding"),
    [
        ({"behaviour": "healthy"}, "ignored"),
        ({"behaviour": "answers", "text": '{"score": 700}'}, "ignored"),
        ({"behaviour": "answers", "text": '{"score": 7, "x": 1}'}, "ignored"),
        ({"behaviour": "rejects", "parameter": "response_format"}, "refused"),
    ],
    ids=["healthy", "out of range", "another field", "rejects"],
)
def test_the_free_form_is_used_elsewhere(
    campaign: Study, stub: Stub, rule: dict[str, Any], finding: str
) -> None:
    stub.behave(rule)
    with pytest.raises(StudyError, match=rf"does not honour a schema of answers \({finding}\)"):
        judge_study(campaign, settings(stub, "on"))
    assert stub.log().judged == []
    if rule["behaviour"] == "answers":
        return
    outcome = judge_study(campaign, settings(stub, "auto"))
    assert f"A schema of answers is {finding} by the endpoint" in "\n".join(outcome.notes)
    assert len(values(campaign)) == 12
    assert not any("response_format" in r["parameters"] for r in stub.log().judged)
    assert "answer_schema" not in show_run(campaign, "j").decoding


@pytest.mark.parametrize(
    ("scale", "score"),
    [
        (RatingScale(min=1, max=5), {"type": "integer", "enum": [1, 2, 3, 4, 5]}),
        (RatingScale(min=0, max=1), {"type": "number", "minimum": 0, "maximum": 1}),
        (RatingScale(min=0, max=1000), {"type": "integer", "minimum": 0, "maximum": 1000}),
        (RatingScale(min=-1.5, max=2), {"type": "number", "minimum": -1.5, "maximum": 2}),
    ],
)
def test_the_schema_follows_the_scale(scale: RatingScale, score: dict[str, Any]) -> None:
    schema = answer_format(scale)["response_format"]["json_schema"]["schema"]
    assert schema["properties"] == {"score": score}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"logprobs": "on"}, "answers in JSON have no probabilities"),
        ({"body": {"response_format": {"type": "text"}}}, "body has a response_format"),
        ({"prompts": "ccrs-rationale-v1"}, "prompts that ask for the score alone"),
    ],
)
def test_what_excludes_it_is_refused(
    campaign: Study, stub: Stub, more: dict[str, Any], message: str
) -> None:
    with pytest.raises(StudyError, match=message):
        judge_study(campaign, settings(stub, "auto", **more))

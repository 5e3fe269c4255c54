"""Answers that follow a JSON schema, where the endpoint honours it."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import select

from judge import OpenAISettings, judge_study, show_run
from judge.engines.engine_settings import VLLMSettings
from judge.engines.vllm.run_conditions import decoding
from judge.prompts.answer_schema import score_schema
from judge.prompts.prompt_versions import prompt_version
from judge.protocol.exchange import answer_format
from study import Study, StudyError
from study.base.scales import Scale
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


def settings(stub: Stub, schema: str | None, **more: Any) -> OpenAISettings:
    return OpenAISettings.checked(
        base_url=stub.base_url,
        model="stub-judge",
        constructs=("QR",),
        answer_schema=schema,
        **{"name": "j", **more},
    )


def values(study: Study) -> dict[str, float]:
    table = study.score_table()
    rows = table[table["scorer"] == "j"]
    return dict(zip(rows["response_id"], rows["value"].astype(float), strict=True))


@pytest.mark.parametrize("schema", ["auto", "on"])
def test_a_schema_is_requested_where_it_is_honoured(
    campaign: Study, stub: Stub, schema: str
) -> None:
    stub.behave("follows_schema")
    outcome = judge_study(campaign, settings(stub, schema))
    assert (outcome.missing, outcome.falls_short, outcome.notes) == ({}, False, ())
    assert len(values(campaign)) == 12
    wanted = answer_format(score_schema(Scale()))["response_format"]
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


def steps(stub: Stub, schema: str) -> OpenAISettings:
    return OpenAISettings.checked(
        base_url=stub.base_url,
        model="stub-judge",
        metric="ragas-faithfulness",
        answer_schema=schema,
        name="j",
    )


def test_steps_of_a_metric_are_answered_by_schemas(campaign: Study, stub: Stub) -> None:
    stub.behave("follows_schema")
    outcome = judge_study(campaign, steps(stub, "on"))
    assert (outcome.missing, outcome.remaining) == ({}, 0)
    run = show_run(campaign, "j")
    assert run.decoding["answer_schema"] == "items, labels"
    assert run.observed["logprobs"] == "not asked: answers do not begin with a whole number"
    sent = [request["parameters"] for request in stub.log().requests]
    formats = [p["response_format"]["json_schema"] for p in sent if "response_format" in p]
    asked = [f["schema"] for f in formats if f["name"] in {"statements", "labels"}]
    listed = {"statements": {"type": "array", "items": {"type": "string"}}}
    assert any(schema["properties"] == listed for schema in asked)
    verdict = {"type": "string", "enum": ["supported", "unsupported"]}
    labelled = [s for s in asked if s["properties"].get("1") == verdict]
    # As many required keys as statements, and no others.
    assert {tuple(s["required"]) for s in labelled} <= {("1",), ("1", "2"), ("1", "2", "3")}
    assert all(s["additionalProperties"] is False for s in labelled)
    limits = [
        (p["response_format"]["json_schema"]["name"], p["max_tokens"])
        for p in sent
        if "response_format" in p
    ]
    # The limit of the step, and room for the braces.
    assert {("statements", 1516), ("labels", 528)} <= set(limits)
    assert judge_study(campaign, steps(stub, "on")).judged == 0


def test_steps_in_free_text_are_another_run(campaign: Study, stub: Stub) -> None:
    stub.behave({"behaviour": "answers", "text": '["One statement."]'})
    outcome = judge_study(campaign, steps(stub, "auto"))
    assert "A schema of answers is ignored by the endpoint" in "\n".join(outcome.notes)
    assert set(outcome.missing) == {"labels_unreadable"}
    assert not any("response_format" in r["parameters"] for r in stub.log().requests[-3:])
    stub.behave("follows_schema")
    with pytest.raises(StudyError, match="answer_schema None there, 'items, labels' now"):
        judge_study(campaign, steps(stub, "on"))


@pytest.mark.parametrize(
    ("scale", "score"),
    [
        (Scale(min=1, max=5), {"type": "integer", "enum": [1, 2, 3, 4, 5]}),
        (Scale(min=0, max=1), {"type": "number", "minimum": 0, "maximum": 1}),
        (Scale(min=0, max=1000), {"type": "integer", "minimum": 0, "maximum": 1000}),
        (Scale(min=-1.5, max=2), {"type": "number", "minimum": -1.5, "maximum": 2}),
    ],
)
def test_the_schema_follows_the_scale(scale: Scale, score: dict[str, Any]) -> None:
    schema = score_schema(scale).as_object
    assert schema["properties"] == {"score": score}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"logprobs": "on"}, "answers in JSON have no probabilities"),
        ({"body": {"response_format": {"type": "text"}}}, "body has a response_format"),
        ({"prompts": "ccrs-rationale-v1"}, "a reason in free text before the score"),
    ],
)
def test_options_that_exclude_a_schema_are_refused(
    campaign: Study, stub: Stub, more: dict[str, Any], message: str
) -> None:
    with pytest.raises(StudyError, match=message):
        judge_study(campaign, settings(stub, "auto", **more))


def test_a_structured_prompt_version_is_answered_by_its_schema_unless_told_otherwise(
    campaign: Study, stub: Stub
) -> None:
    stub.behave("follows_schema")
    outcome = judge_study(campaign, settings(stub, None, prompts="ccrs-json-v1"))
    assert (outcome.missing, outcome.remaining) == ({}, 0)
    assert show_run(campaign, "j").decoding["answer_schema"] == "fields"
    asked = [r["parameters"] for r in stub.log().requests if "response_format" in r["parameters"]]
    last = asked[-1]["response_format"]["json_schema"]["schema"]
    assert list(last["properties"]) == ["reason", "score"]
    free = settings(stub, "off", prompts="ccrs-json-v1", name="free", max_missing=1)
    judge_study(campaign, free)
    assert "answer_schema" not in show_run(campaign, "free").decoding
    assert "response_format" not in stub.log().requests[-1]["parameters"]


FENCED = '```json\n{"reason": "3 of 4 facts.", "score": 85}\n```'


def test_where_an_endpoint_has_no_schemas_its_answers_are_read_as_objects(
    campaign: Study, stub: Stub
) -> None:
    stub.behave({"behaviour": "answers", "text": FENCED})
    outcome = judge_study(campaign, settings(stub, None, prompts="ccrs-json-v1"))
    assert "A schema of answers is ignored by the endpoint" in "\n".join(outcome.notes)
    assert outcome.missing == {}


def test_vllm_enforces_the_schemas_of_a_structured_version() -> None:
    structured, paper = prompt_version("ccrs-json-v1"), prompt_version("ccrs-paper-v1")
    assert decoding(VLLMSettings(model="m"), structured).structured
    assert not decoding(VLLMSettings(model="m"), paper).structured

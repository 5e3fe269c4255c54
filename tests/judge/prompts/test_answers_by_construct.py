"""Prompt versions that ask for other answers on some constructs, and for several fields."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from judge import OpenAISettings, export_run, judge_study, reparse_run, show_run
from judge.parsing.parse_answer import PARSER_VERSION
from judge.prompts.answer_form import AnswerForm
from judge.prompts.prompt_versions import prompt_version
from judge.protocol.exchange import Answer
from study import Study, StudyError
from study.base.scales import Scale
from study.schema.tables import judgments
from tests.judge.small_studies import Scripted, ScriptedSettings, fill
from tests.judge.stub.process import Stub, running_stub

VERSION = """scale = [0, 100]
empty_response = 0

[constructs.QR]
scale = [1, 5]

[constructs.CC]
scale = [0, 1]
form = "label"
labels = { ja = 1, nein = 0 }
max_tokens = 4

[constructs.ID]
form = "json"
max_tokens = 200
fields = { reason = "text", clarity = [1, 5], verdict = ["pass", "fail"], rating = "score" }
"""
STUDY = """name = "Mixed"
[[constructs]]
key = "QR"
name = "Relevance"
question = "Is it relevant?"
scale = { min = 1, max = 5 }
[[constructs]]
key = "CC"
name = "Coherence"
question = "Is it coherent?"
scale = { min = 0, max = 1, step = 1 }
[[constructs]]
key = "ID"
name = "Density"
question = "Is it dense?"
[[constructs]]
key = "AC"
name = "Correctness"
question = "Is it correct?"
"""
GOOD = {"reason": "It says 3 of 4.", "clarity": 4, "verdict": "pass", "rating": 85}


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    made = Study.create(tmp_path / "mixed", STUDY)
    fill(made)
    write(made, VERSION)
    yield made
    made.close()


def write(study: Study, settings: str) -> None:
    folder = study.folder / "prompts" / "mixed"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "version.toml").write_text(settings, encoding="utf-8")
    for key in ("QR", "CC", "ID", "AC"):
        (folder / f"{key}.txt").write_text(f"{key}: {{question}} {{response}}", encoding="utf-8")


def read(study: Study, key: str) -> set[tuple[float | None, str | None, str | None]]:
    columns = (judgments.c.value, judgments.c.missing_reason, judgments.c.rule)
    statement = select(*columns).where(judgments.c.construct_key == key)
    with study.read() as connection:
        return {tuple(row) for row in connection.execute(statement)}  # type: ignore[misc]


def test_each_construct_has_its_scale_labels_and_fields(
    study: Study, scripted: type[Scripted]
) -> None:
    texts = {"QR": "4/5", "CC": "Ja.", "ID": json.dumps(GOOD), "AC": "85/100"}
    scripted.answer = staticmethod(lambda prompt: Answer(texts[prompt[:2]]))
    outcome = judge_study(study, ScriptedSettings(prompts="mixed", name="j", text_metrics=()))
    assert outcome.missing == {}
    assert read(study, "QR") == {(4.0, None, "decorated")}
    assert read(study, "CC") == {(1.0, None, "first_line")} or read(study, "CC") == {
        (1.0, None, "decorated")
    }
    assert read(study, "ID") == {(85.0, None, "fields")}
    assert read(study, "AC") == {(85.0, None, "decorated")}
    asked = {r.construct_key: r for r in scripted.asked}
    assert {key: r.max_tokens for key, r in asked.items()} == {
        "QR": None, "CC": 4, "ID": 200, "AC": None,
    }  # fmt: skip
    scales = {key: r.score_scale and r.score_scale.max for key, r in asked.items()}
    assert scales == {"QR": 5, "CC": None, "ID": None, "AC": 100}
    assert reparse_run(study, "j").changed == 0
    path = study.folder / "j.jsonl"
    export_run(study, "j", path)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert {row["reason"] for row in rows if row["construct"] == "ID"} == {json.dumps(GOOD)}


def test_a_score_of_another_scale_is_missing_by_construct(
    study: Study, scripted: type[Scripted]
) -> None:
    scripted.answer = staticmethod(lambda prompt: Answer("4/5" if prompt[:2] == "AC" else "80"))
    settings = ScriptedSettings(prompts="mixed", constructs=("QR", "AC"), text_metrics=())
    judge_study(study, settings)
    assert read(study, "AC") == {(None, "other_scale", None)}
    assert read(study, "QR") == {(None, "out_of_range", None)}


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (f"```json\n{json.dumps(GOOD)}\n```", 85),
        (f"<think>Well.</think>\n{json.dumps(GOOD)}", 85),
        # Since version 5 of the parser.
        (f"{json.dumps(GOOD)}<|im_end|>", 85),
        (json.dumps({**GOOD, "rating": "85"}), 85),
        (json.dumps({**GOOD, "rating": 101}), "out_of_range"),
        (json.dumps({**GOOD, "rating": None}), "no_score"),
        (json.dumps({**GOOD, "rating": True}), "no_score"),
        (json.dumps({**GOOD, "clarity": 6}), "field_invalid"),
        (json.dumps({**GOOD, "verdict": "maybe"}), "field_invalid"),
        (json.dumps({**GOOD, "score": 10}), "fields_differ"),
        (json.dumps({"rating": 85}), "fields_differ"),
        (json.dumps(GOOD)[:-1] + ', "rating": 85}', "fields_differ"),
        (json.dumps({**GOOD, "rating": 9, "reason": "A 9 out of 10."}), "other_scale"),
        (json.dumps({**GOOD, "rating": 0, "reason": "I cannot rate it."}), "refusal"),
        (f"Here it is: {json.dumps(GOOD)}", "not_json"),
        (json.dumps(GOOD)[:-1], "not_json"),
        ("85", "not_json"),
        ("I'm sorry, I cannot evaluate this.", "refusal"),
        ("", "empty_answer"),
    ],
)
def test_an_object_is_read_whole_or_not_at_all(
    study: Study, answer: str, outcome: float | str
) -> None:
    form = prompt_version("mixed", study.folder).answer_of("ID")
    parsed = form.parse(answer, "stop", ())
    expected = (outcome, None) if isinstance(outcome, int) else (None, outcome)
    assert (parsed.value, parsed.reason) == expected
    assert form.parse(answer, "length", ()).reason == "truncated"
    assert int(PARSER_VERSION) >= 5


def test_schemas_follow_the_construct_over_http(study: Study) -> None:
    with running_stub() as stub:
        check_schemas(study, stub)


def check_schemas(study: Study, stub: Stub) -> None:
    stub.behave("follows_schema")
    settings = OpenAISettings.checked(
        base_url=stub.base_url, model="stub-judge", prompts="mixed", name="j",
        answer_schema="on", text_metrics=(),
    )  # fmt: skip
    outcome = judge_study(study, settings)
    assert set(outcome.missing) <= {"other_scale"}
    assert show_run(study, "j").decoding["answer_schema"] == "fields, label, score"
    sent = [request["parameters"] for request in stub.log().requests]
    properties = [
        p["response_format"]["json_schema"]["schema"]["properties"]
        for p in sent
        if "response_format" in p
    ]
    assert {"score": {"type": "integer", "enum": [1, 2, 3, 4, 5]}} in properties
    assert {"label": {"type": "string", "enum": ["ja", "nein"]}} in properties
    assert ["reason", "clarity", "verdict", "rating"] in [list(each) for each in properties]


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ("scale = [0, 9]\n[constructs.XX]\nscale = [1, 5]\n", "constructs.XX has no prompt"),
        ("scale = [0, 9]\n[constructs.QR]\nscale = [5, 1]\n", "constructs.QR: scale: write"),
        ("scale = [0, 9]\n[constructs.QR]\nscales = [1, 5]\n", r"constructs.QR.scales"),
        ('scale = [0, 9]\nform = "json"\n', 'fields: go with form = "json"'),
        ('scale = [0, 9]\nform = "json"\n[fields]\na = "text"\n', "exactly one is the score"),
        ('scale = [0, 9]\nform = "json"\n[fields]\na = "score"\nA = "text"\n', "only in case"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(study: Study, settings: str, fault: str) -> None:
    write(study, settings)
    with pytest.raises(StudyError, match=fault):
        prompt_version("mixed", study.folder)


def test_the_order_of_fields_is_part_of_the_hash(study: Study) -> None:
    text = 'scale = [0, 9]\nform = "json"\n[fields]\n{}\n{}\n'
    hashes = set()
    for fields in (('a = "text"', 'b = "score"'), ('b = "score"', 'a = "text"')):
        write(study, text.format(*fields))
        hashes.add(prompt_version("mixed", study.folder).hash)
    assert len(hashes) == 2


def test_a_construct_on_another_scale_of_the_study_is_named(
    study: Study, scripted: type[Scripted]
) -> None:
    del scripted
    write(study, VERSION.replace("[1, 5]\n\n", "[1, 7]\n\n"))
    with pytest.raises(StudyError, match=r"ask for 1 to 7, but QR is measured from 1 to 5"):
        judge_study(study, ScriptedSettings(prompts="mixed"))


@pytest.mark.parametrize(
    ("reason", "missing"),
    [
        ("I cannot evaluate this content.", "refusal"),
        ("Unable to evaluate; default value.", "refusal"),
        ("Final score: 40/100.", "several_scores"),
        ("The score is 40.", "several_scores"),
        ("It names 40 of the 50 dates of 1889.", None),
    ],
)
def test_the_reason_beside_a_score_contests_it_as_in_free_text(
    reason: str, missing: str | None
) -> None:
    form = prompt_version("ccrs-json-v1").answer
    parsed = form.parse(json.dumps({"reason": reason, "score": 85}), None, ())
    assert (parsed.value, parsed.reason) == ((None, missing) if missing else (85, None))


def test_decimals_have_no_probabilities_of_their_first_token() -> None:
    assert AnswerForm(scale=Scale(min=0, max=1)).score_scale is None
    assert AnswerForm(scale=Scale(min=0, max=5)).score_scale == Scale(min=0, max=5)

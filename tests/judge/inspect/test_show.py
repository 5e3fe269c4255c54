"""The details of a run, and of one response in it."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from sqlalchemy import insert, select

from judge import judge_study, show_response, show_run
from judge.cli.judge_command import judge
from judge.metrics.ccrs import Ccrs
from judge.prompts.prompt_versions import prompt_version
from judge.protocol.exchange import TRUNCATED_BY_SERVER, Answer
from judge.text import printable
from study import Study, StudyError
from study.schema import ScorerAnswerBase, now
from study.schema.tables import judgments, readings, responses, scorer_answers
from tests.judge.small_studies import Scripted, ScriptedSettings, always, fill, store

SPENT = Answer(
    "85",
    finish_reason="stop",
    served_model="served",
    fingerprint="fp-1",
    prompt_tokens=100,
    completion_tokens=2,
    cached_tokens=60,
    milliseconds=40.0,
)


def by_construct(prompt: str) -> Answer:
    """QR 0, CC 100 with words, ID a refusal, AC and IR two values."""
    answers = {
        "Question Relevance": "0",
        "Contextual Coherence": "Score: 100",
        "Information Density": "I'm sorry, I can't.",
    }
    for name, text in answers.items():
        if name in prompt.partition("\n")[0]:
            return replace(SPENT, text=text)
    return SPENT


def test_figures_by_construct(any_study: Study, scripted: type[Scripted]) -> None:
    fill(any_study)
    scripted.answer = staticmethod(by_construct)
    judge_study(any_study, ScriptedSettings(name="j"))
    run = show_run(any_study, "j")
    assert (run.judgments, run.possible, run.missing) == (60, 60, 12)
    figures_of = {figures.construct: figures for figures in run.constructs}
    assert list(figures_of) == ["QR", "CC", "ID", "AC", "IR"]
    qr, cc, refused = figures_of["QR"], figures_of["CC"], figures_of["ID"]
    assert (qr.values, qr.distinct, qr.mean, qr.at_min, qr.at_max) == (12, 1, 0, 1, 0)
    assert (qr.rules, qr.bare) == ({"bare": 12}, 1.0)
    assert (cc.at_max, cc.rules, cc.bare) == (1, {"labelled": 12}, 0.0)
    assert (refused.values, refused.mean, refused.bare) == (0, None, None)
    assert refused.missing == {"refusal": 12}
    # B and D share the prompts of QR: three answers decide six judgments.
    assert run.tokens == {"prompt": 5700, "completion": 114, "cached": 3420}
    assert run.cached_share == pytest.approx(0.6)
    assert run.milliseconds == pytest.approx(40)
    assert run.flags == {"shared_prompt": 3}
    assert [served.answers for served in run.served] == [60]
    lines = run.lines()
    assert "ID: 12 refusal (the judge refused)" in lines
    assert not any("Warning" in line for line in lines)
    assert json.loads(json.dumps(run.as_json())) == run.as_json()


def test_a_judge_that_changed_is_a_warning_with_times(
    any_study: Study, scripted: type[Scripted]
) -> None:
    fill(any_study)
    scripted.answer = always(SPENT)
    judge_study(any_study, ScriptedSettings(name="j", limit=3))
    scripted.answer = always(replace(SPENT, fingerprint="fp-2\x1b]0;owned\x07"))
    judge_study(any_study, ScriptedSettings(name="j"))
    run = show_run(any_study, "j")
    assert (run.served[0].fingerprint, run.served[0].answers) == ("fp-1", 3)
    assert run.served[0].first <= run.served[0].last <= run.served[1].last
    text = "\n".join(run.lines())
    assert "Warning: the server named several models" in text
    assert "\x1b" not in text
    assert "\\x1b]0;owned\\x07" in text


def test_further_attempts_readings_and_empty_responses(
    any_study: Study, scripted: type[Scripted]
) -> None:
    row = {"query_id": "q", "query": "?", "references": ["!"], "passages": ["p"]}
    store(any_study, {**row, "system": "A", "response": "yes"})
    store(any_study, {**row, "system": "B", "response": "  "})
    scripted.answer = always(Answer("7", missing=TRUNCATED_BY_SERVER))
    judge_study(any_study, ScriptedSettings(name="j", constructs=("CC",)))
    scripted.answer = always(Answer("One thinks of 9"))
    judge_study(any_study, ScriptedSettings(name="j", constructs=("CC",)))
    run = show_run(any_study, "j")
    (cc,) = run.constructs
    assert cc.missing == {"no_score": 1}
    assert (cc.rules, cc.bare) == ({"empty_response": 1}, None)
    assert run.further_attempts == 1
    with any_study.write() as connection:
        last = connection.execute(judgments.select().where(judgments.c.attempt == 2)).one()
        reading = {"judgment_id": last.id, "revision": 1, "parser_version": "9", "value": 9.0}
        connection.execute(insert(readings).values(**reading, rule="sentence", created_at=now()))
    run = show_run(any_study, "j")
    assert run.constructs[0].rules == {"empty_response": 1, "sentence": 1}
    assert run.read_again == 1
    assert run.parsers["9"] == 1
    (audited,) = show_response(any_study, "j", last_id(any_study, "A")).constructs
    assert [judgment["attempt"] for judgment in audited.judgments] == [1, 2]
    assert audited.judgments[1]["value"] == 9
    assert [judgment["missing_reason"] for judgment in audited.judgments[1]["earlier"]] == [
        "no_score"
    ]
    (empty,) = show_response(any_study, "j", last_id(any_study, "B")).constructs
    assert empty.prompt is None
    assert empty.judgments[0]["rule"] == "empty_response"


def last_id(study: Study, system: str) -> str:
    scores = study.score_table()
    return str(scores[scores["system"] == system]["response_id"].iloc[0])


def test_a_response_is_shown_with_the_prompts_that_were_asked(
    any_study: Study, scripted: type[Scripted]
) -> None:
    fill(any_study)
    judge_study(any_study, ScriptedSettings(name="j"))
    response = last_id(any_study, "C")
    details = show_response(any_study, "j", response)
    assert details.query_id == "q1"
    assert details.systems == ["C"]
    asked = {request.prompt: request for request in scripted.asked}
    assert {audited.construct for audited in details.constructs} == {"QR", "CC", "ID", "AC", "IR"}
    for audited in details.constructs:
        assert audited.prompt in asked
        assert asked[audited.prompt].construct_key == audited.construct
        assert len(audited.judgments) == 1
    only = show_response(any_study, "j", response, "CC")
    assert [audited.construct for audited in only.constructs] == ["CC"]


def test_a_response_is_shown_with_the_sentences_that_people_marked(
    study: Study,
    scripted: type[Scripted],
) -> None:
    fill(study)
    judge_study(study, ScriptedSettings(name="j"))
    with study.write() as connection:
        row = connection.execute(select(responses).where(responses.c.text != "")).first()
        assert row is not None
        for scorer, ranges in (("anna", [(0, 1)]), ("ben", [])):
            marks = ScorerAnswerBase(
                construct_key="CC", scorer=scorer, scorer_kind="human", item="marks", ranges=ranges
            )
            connection.execute(
                insert(scorer_answers).values(**marks.model_dump(), response_id=row.id)
            )
    shown = show_response(study, "j", row.key)
    lines = shown.lines()
    place = lines.index("  sentences, with the people who marked them, of 2:")
    assert lines[place + 1].startswith("    1  ")
    records = {record["construct"]: record for record in shown.as_json()["constructs"]}
    assert records["CC"]["sentences"][0]["marked"] == 1
    assert records["QR"]["sentences"] == []


def test_the_text_of_a_model_does_not_control_the_terminal(
    study: Study, scripted: type[Scripted]
) -> None:
    nasty = "85\n\x1b[2J\x9b31m\u202e\u2028end"
    row = {"query_id": "q", "query": "?", "references": ["!"], "passages": ["p\x1b[31m"]}
    store(study, {**row, "system": "A", "response": "a\x07\tb"})
    scripted.answer = always(Answer(nasty))
    judge_study(study, ScriptedSettings(name="j", constructs=("CC",)))
    words = ["show", str(study.folder), "j", "--response", last_id(study, "A")]
    done = CliRunner().invoke(judge, words)
    assert done.exit_code == 0, done.output
    assert not set(done.output) & set("\x1b\x07\x9b\u202e\u2028")
    assert '"85\\n\\u001b[2J\\x9b31m\\u202e\\u2028end"' in done.output
    assert "a\\x07\tb" in done.output
    kept = json.loads(CliRunner().invoke(judge, [*words, "--json"]).output)
    assert kept["constructs"][0]["judgments"][0]["raw_answer"] == nasty


def test_printable_keeps_all_that_is_seen() -> None:
    assert printable("Größe 85 % 分数 🙂") == "Größe 85 % 分数 🙂"


def test_unavailable_prompts_are_reported(
    campaign: Study, scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_study(campaign, ScriptedSettings(name="j", constructs=("QR",)))
    other = replace(prompt_version(), passage_separator=" ")
    monkeypatch.setattr("judge.running.runs.load_metric", lambda *_: Ccrs(other))
    assert not show_run(campaign, "j").has_prompts
    details = show_response(campaign, "j", last_id(campaign, "A"))
    assert details.constructs[0].prompt is None
    assert prompt_version().hash in details.notes[0]
    assert (
        "  Prompts with this hash are neither installed nor in the study."
        in show_run(campaign, "j").lines()
    )


def test_unknown_names_are_reported_with_the_nearest(
    campaign: Study, scripted: type[Scripted]
) -> None:
    judge_study(campaign, ScriptedSettings(name="llama", constructs=("QR",)))
    with pytest.raises(StudyError, match=r"no run 'lama'\. Did you mean 'llama'"):
        show_run(campaign, "lama")
    response = last_id(campaign, "A")
    with pytest.raises(StudyError, match=f"no response '{response}x'. Did you mean"):
        show_response(campaign, "llama", f"{response}x")
    with pytest.raises(StudyError, match="no construct 'QQ'"):
        show_response(campaign, "llama", response, "QQ")
    done = CliRunner().invoke(judge, ["show", str(campaign.folder), "llama", "--construct", "QR"])
    assert done.exit_code == 2
    assert "name one with --response ID" in " ".join(done.output.split())

"""The list of runs: its counts are those of the score table, its lines fit a terminal."""

import json

import pytest
from click.testing import CliRunner

from judge import judge_study, list_runs
from judge.cli.judge_command import judge
from judge.protocol.exchange import TRUNCATED_BY_SERVER, Answer
from study import Study, import_file
from tests.judge.small_studies import Scripted, ScriptedSettings, always, fill


def test_counts_are_those_of_the_score_table(any_study: Study, scripted: type[Scripted]) -> None:
    fill(any_study)
    scripted.answer = always(Answer("no idea"))
    judge_study(any_study, ScriptedSettings(name="first", constructs=("QR",), systems=("A", "B")))
    scripted.answer = always(Answer("7", missing=TRUNCATED_BY_SERVER))
    judge_study(
        any_study, ScriptedSettings(name="second", model="m", constructs=("CC",), repeats=2)
    )
    scripted.answer = always(Answer("7"))
    judge_study(any_study, ScriptedSettings(name="second", model="m", repeats=2, limit=5))
    scores = any_study.score_table()
    runs = list_runs(any_study)
    assert [run.name for run in runs] == ["first", "second"]
    for run in runs:
        mine = scores[scores["scorer"] == run.name]
        mine = mine.drop_duplicates(["response_id", "construct", "repeat"])
        assert run.judgments == len(mine)
        assert run.missing == mine["value"].isna().sum()
    assert (runs[0].judgments, runs[0].possible, runs[0].missing) == (6, 12, 6)
    # Of 24 judgments given to cut prompts some were asked again; of these the second counts.
    assert runs[1].missing < runs[1].judgments


def test_judgments_of_replaced_responses_do_not_count(
    campaign: Study, scripted: type[Scripted]
) -> None:
    judge_study(campaign, ScriptedSettings(name="j", constructs=("QR", "CC")))
    changed = {"query_id": "q1", "query": "Question 1?", "system": "A", "response": "Another one."}
    path = campaign.folder / "changed.jsonl"
    path.write_text(json.dumps({**changed, "references": ["Reference 1.", "Answer 1 of A."]}))
    import_file(campaign, path, revise=True)
    (run,) = list_runs(campaign)
    assert (run.judgments, run.possible) == (22, 24)


def test_the_table_fits_80_columns(
    campaign: Study, scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert "no run yet" in CliRunner().invoke(judge, ["list", str(campaign.folder)]).output
    model = "meta-llama/Meta-Llama-3-70B-Instruct"
    judge_study(campaign, ScriptedSettings(model=model, constructs=("QR",)))
    strange = ScriptedSettings(model="m\u202e\x9b", name=f"{model} (2)", constructs=("QR",))
    judge_study(campaign, strange)
    done = CliRunner().invoke(judge, ["list", str(campaign.folder)])
    assert done.exit_code == 0, done.output
    assert max(len(line) for line in done.output.splitlines()) <= 80
    assert "of 12" in done.output
    assert "m\\u202e\\x9b" in done.output


def test_json_has_every_field(campaign: Study, scripted: type[Scripted]) -> None:
    assert (
        json.loads(CliRunner().invoke(judge, ["list", str(campaign.folder), "--json"]).output) == []
    )
    judge_study(campaign, ScriptedSettings(name="j"))
    (run,) = json.loads(CliRunner().invoke(judge, ["list", str(campaign.folder), "--json"]).output)
    assert run.pop("begun").endswith("+00:00")
    assert run == {
        "name": "j",
        "engine": "scripted",
        "model": "scripted",
        "prompt_version": "ccrs-paper-v1",
        "judgments": 60,
        "possible": 60,
        "missing": 0,
        "pairs": 0,
    }

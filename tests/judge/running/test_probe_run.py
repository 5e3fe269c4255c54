"""Probes of a run: asked under its conditions, stored separately, resumed, never asked twice."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from judge import (
    RunStoppedError,
    judge_study,
    preview_probes,
    probe_study,
)
from judge.perturbations.catalogue import PROBES
from judge.protocol.exchange import Answer
from judge.running.item_runs import draw_sample
from judge.running.pages import Place, pages, places
from study import Study, StudyError
from study.cli.root import cli
from study.columns import PROBE_COLUMNS
from study.facts.probe_table import suspected_responses
from study.lifecycle.archive import archive
from study.lifecycle.backup import backup
from study.lifecycle.restore import restore
from study.schema.tables import judge_answers, probe_answers
from tests.judge.perturbations.stored_change import stored_change
from tests.judge.small_studies import Scripted, ScriptedSettings, always, fill, scored

SETTINGS = ScriptedSettings(model="scripted")
ON_RESPONSE = sum(not probe.needs_passages for probe in PROBES) - 2
"""Probes that alter an answer of one sentence: it can't be cut, and is one paragraph already."""


def stored(study: Study) -> list[dict[str, Any]]:
    with study.read() as connection:
        rows = connection.execute(select(probe_answers).order_by(probe_answers.c.id))
        return [dict(row) for row in rows.mappings()]


@pytest.fixture
def judged(campaign: Study, scripted: type[Scripted]) -> Study:
    judge_study(campaign, SETTINGS)
    scripted.asked.clear()
    return campaign


def test_every_probe_of_every_prompt_is_asked_and_kept_apart(
    judged: Study, scripted: type[Scripted]
) -> None:
    before = judged.score_table()
    outcome = probe_study(judged, SETTINGS, sample=3)
    rows = stored(judged)
    # One response to each of three queries, on five constructs; four show passages.
    passages = sum(row["probe"] in {"shuffled"} or "passage-" in row["probe"] for row in rows)
    assert Counter(row["kind"] for row in rows)["again"] == 3 * 5
    assert len(rows) - passages == 3 * 5 * ON_RESPONSE
    assert outcome.answered == len(rows) == sum(outcome.planned.prompts.values())
    assert (outcome.planned.responses, outcome.planned.queries, outcome.remaining) == (3, 3, 0)
    assert judged.score_table().equals(before)
    assert {"first-sentence", "one-paragraph", "support-first"} <= set(
        outcome.planned.not_alterable
    )
    assert any("Not altered" in line for line in outcome.lines())
    assert all(request.purpose.startswith("probe ") for request in scripted.asked)


def test_a_stored_change_makes_the_very_prompt_again(
    judged: Study, scripted: type[Scripted]
) -> None:
    probe_study(judged, SETTINGS, sample=4)
    prompts = {request.prompt_hash: request.prompt for request in scripted.asked}
    contents = {
        content.id: content
        for page in pages(judged, places(judged), None, texts=True)
        for content in page.contents
    }
    for row in stored(judged):
        content = contents[row["response_id"]]
        made = stored_change(row["change"]).applied(content)
        prompt = prompts[row["prompt_hash"]]
        assert made.text.strip() in prompt
        if row["construct_key"] != "QR":
            assert "\n\n".join(made.passages or ()).strip() in prompt
        if row["probe"] == "again":
            assert row["value"] == float(scored(prompt).text or "")


def test_a_probe_run_goes_on_where_it_stopped_and_asks_nothing_twice(
    judged: Study, scripted: type[Scripted]
) -> None:
    scripted.stop_after = 10
    with pytest.raises(RunStoppedError, match="Interrupted") as stopped:
        probe_study(judged, SETTINGS, sample=3)
    assert stopped.value.outcome.answered == 10
    assert stopped.value.outcome.remaining > 0
    scripted.stop_after = None
    again = probe_study(judged, SETTINGS, sample=3)
    assert again.planned.asked_before == 10
    prompts = [request.prompt for request in scripted.asked]
    assert len(set(prompts)) == len(prompts)
    done = probe_study(judged, SETTINGS, sample=3)
    assert (done.answered, done.planned.prompts) == (0, {})


def test_a_construct_that_changed_is_probed_anew(judged: Study, scripted: type[Scripted]) -> None:
    settings = SETTINGS.model_copy(update={"constructs": ("QR",)})
    before = probe_study(judged, settings, ("again",), sample=3)
    assert before.answered == 3
    path = judged.folder / "study.toml"
    edited = '\n[[constructs]]\nkey = "QR"\nname = "QR"\nquestion = "New?"\n'
    path.write_text(path.read_text(encoding="utf-8") + edited, encoding="utf-8")
    changed = Study.open(judged.folder)
    judge_study(changed, settings)
    again = probe_study(changed, settings, ("again",), sample=3)
    assert (again.answered, again.planned.asked_before) == (3, 0)
    assert [row["construct_version"] for row in stored(changed)] == [1] * 3 + [2] * 3
    changed.close()


def test_a_larger_sample_holds_the_smaller_one(judged: Study, scripted: type[Scripted]) -> None:
    probe_study(judged, SETTINGS, ("again",), sample=2)
    small = {row["response_id"] for row in stored(judged)}
    outcome = probe_study(judged, SETTINGS, ("again",), sample=7)
    assert small < {row["response_id"] for row in stored(judged)}
    assert (outcome.planned.responses, outcome.answered) == (7, 5 * 5)


def test_responses_are_spread_over_queries() -> None:
    order = [Place(query, b"c", 10 * query + n) for query in range(20) for n in range(5)]
    judged = {place.response: frozenset({"QR"}) for place in order if place.query != 3}
    chosen = draw_sample(order, judged, 19, seed=1)
    assert sorted(place.query for place in chosen) == [q for q in range(20) if q != 3]
    more = draw_sample(order, judged, 40, seed=1)
    assert set(chosen) < set(more)
    assert max(Counter(place.query for place in more).values()) == 3
    assert draw_sample(order, judged, 19, seed=2) != chosen


def test_an_answer_without_a_score_is_missing_with_its_reason(
    judged: Study, scripted: type[Scripted]
) -> None:
    scripted.answer = always(Answer("I can't do that."))
    outcome = probe_study(judged, SETTINGS, ("authority",), sample=3)
    assert outcome.missing == {"refusal": 15}
    assert {(row["value"], row["missing_reason"]) for row in stored(judged)} == {(None, "refusal")}


def test_prompts_beyond_the_window_are_stored_as_missing_without_a_call(
    judged: Study, scripted: type[Scripted]
) -> None:
    longest = max(len(p.prompt.encode()) for p in _asked(judged, scripted))
    narrow = SETTINGS.model_copy(update={"window": longest // 4})
    scripted.asked.clear()
    outcome = probe_study(judged, narrow, ("filler",), sample=3)
    rows = stored(judged)
    too_long = [row for row in rows if row["missing_reason"] == "too_long"]
    assert outcome.planned.too_long == len(too_long) > 0
    filled = [row for row in rows if row["probe"] == "filler"]
    assert len(scripted.asked) == len(filled) - len(too_long)
    assert any("Longer than the window" in line for line in outcome.lines())
    assert probe_study(judged, narrow, ("filler",), sample=3).planned.too_long == 0


def _asked(study: Study, scripted: type[Scripted]) -> list[Any]:
    probe_study(study, SETTINGS, ("again",), sample=3)
    return list(scripted.asked)


def test_what_has_no_run_is_refused(campaign: Study, scripted: type[Scripted]) -> None:
    with pytest.raises(StudyError, match="no run under these settings"):
        probe_study(campaign, SETTINGS)
    with pytest.raises(StudyError, match="no run under these settings"):
        preview_probes(campaign, SETTINGS)
    judge_study(campaign, SETTINGS)
    with pytest.raises(StudyError, match="no run under these settings"):
        probe_study(campaign, ScriptedSettings(model="scripted", temperature=0.5))


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("crud", "'crud' is a suite of 2: name one of crud-recall, crud-precision."),
        ("ccrs,crud-recall", "'ccrs,crud-recall' names 2: name one of ccrs, crud-recall."),
        (",", "',' names 0: name the metric of the run."),
    ],
)
def test_one_metric_is_probed_by_a_call(any_study: Study, metric: str, words: str) -> None:
    fill(any_study)
    with pytest.raises(StudyError) as refused:
        preview_probes(any_study, ScriptedSettings(metric=metric))
    assert str(refused.value) == f"--metric: a call probes one metric; {words}"


def test_the_help_offers_no_suites() -> None:
    shown = " ".join(CliRunner().invoke(cli, ["judge", "probe", "--help"]).output.split())
    assert "Metric of the run: one name, or a Python file that defines it." in shown
    assert "a suite" not in shown


def test_answers_to_probes_are_append_only(judged: Study) -> None:
    probe_study(judged, SETTINGS, ("again",), sample=1)
    for statement in (judge_answers.update().values(value=1.0), judge_answers.delete()):
        with pytest.raises(DBAPIError, match="append-only"), judged.write() as connection:
            connection.execute(statement)


def test_an_archive_and_a_backup_hold_them(judged: Study, tmp_path: Path) -> None:
    probe_study(judged, SETTINGS, ("again",), sample=1)
    count = len(stored(judged))
    packed = archive(judged, tmp_path / "study.zip")
    assert packed.rows["judge_answer"] == 60 + count > 60
    backup(judged, tmp_path / "study.backup")
    restore(tmp_path / "study.backup", tmp_path / "restored")
    again = Study.open(tmp_path / "restored")
    assert stored(again) == stored(judged)
    again.close()


def test_a_dry_run_asks_and_stores_nothing(judged: Study, scripted: type[Scripted]) -> None:
    priced = SETTINGS.model_copy(update={"price": (1.0, 2.0), "engine": "scripted"})
    previewed = preview_probes(judged, priced, ("length",), sample=3)
    assert previewed.planned.prompts == {"length": 3 * 5 * 2}
    assert previewed.cost is not None
    assert previewed.cost > 0
    assert scripted.asked == []
    assert stored(judged) == []
    assert any("Fewer than 30 queries" in line for line in previewed.lines())


def test_the_command_probes_with_the_options_of_the_run(
    judged: Study, scripted: type[Scripted]
) -> None:
    words = ["judge", "probe", str(judged.folder), "--engine", "scripted", "--sample", "2"]
    done = CliRunner().invoke(cli, [*words, "--kinds", "length,order", "--limit", "3"])
    assert done.exit_code == 0, done.output
    assert "3 prompts were answered" in done.output
    assert "still to be asked" in done.output
    assert len(stored(judged)) == 3
    refused = CliRunner().invoke(cli, [*words, "--kinds", "lengths"])
    assert "kind of probes 'lengths'" in str(refused.exception)


def test_the_probe_table_has_a_row_for_each_answer(any_study: Study, scripted: Any) -> None:
    fill(any_study)
    assert list(any_study.probe_table().columns) == list(PROBE_COLUMNS)
    assert any_study.probe_table().empty
    judge_study(any_study, SETTINGS)
    probe_study(any_study, SETTINGS, ("authority", "order"), sample=3)
    rows = any_study.probe_table()
    assert len(rows) == len(stored(any_study))
    assert set(rows["scorer"]) == {"scripted"}
    assert set(rows["prompts"]) == {"ccrs-paper-v1"}
    assert set(rows["fault"]) == {"rise", "either"}
    assert set(rows["query_id"]) == {"q1", "q2", "q3"}
    known = set(any_study.score_table()["response_id"])
    assert set(rows["response_id"]) <= known
    with any_study.read() as connection:
        assert suspected_responses(connection) == {}

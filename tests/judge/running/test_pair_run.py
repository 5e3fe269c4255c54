"""Pairs of responses: both orders, resumed, never asked twice, preferences in the table."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from judge import RunStoppedError, compare_pairs, judge_study, list_runs, preview_pairs, show_run
from judge.protocol.exchange import Answer
from study import Study, StudyError
from study.cli.root import cli
from study.facts.current_responses import current_responses
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, PreferenceRow
from study.lifecycle.archive import archive
from study.schema.tables import pair_answers
from tests.judge.small_studies import Scripted, ScriptedSettings, always, fill

SETTINGS = ScriptedSettings(model="scripted")
PAIRS = 3 * 6
"""Three queries with four systems each."""


def stored(study: Study) -> list[dict[str, Any]]:
    with study.read() as connection:
        rows = connection.execute(select(pair_answers).order_by(pair_answers.c.id))
        return [dict(row) for row in rows.mappings()]


def by_text(prompt: str) -> Answer:
    """Prefer the response that comes first in the alphabet."""
    first = prompt.index("Response 1:\n") + len("Response 1:\n")
    second = prompt.index("Response 2:\n") + len("Response 2:\n")
    texts = prompt[first:].split("\n", maxsplit=1)[0], prompt[second:].split("\n", maxsplit=1)[0]
    return Answer("tie" if texts[0] == texts[1] else "1" if texts[0] < texts[1] else "2")


def test_every_pair_is_asked_in_both_orders_on_every_construct(
    campaign: Study, scripted: type[Scripted]
) -> None:
    scripted.answer = staticmethod(by_text)
    outcome = compare_pairs(campaign, SETTINGS)
    rows = stored(campaign)
    assert outcome.answered == len(rows) == PAIRS * 2 * 5 == len(scripted.asked)
    assert (outcome.planned.pairs, outcome.planned.queries, outcome.remaining) == (PAIRS, 3, 0)
    asked = Counter(
        (frozenset((row["response_id"], row["second_response_id"])), row["construct_key"])
        for row in rows
    )
    assert set(asked.values()) == {2}
    table = campaign.preference_table()
    assert len(table) == PAIRS * 5
    assert set(table["scorer"]) == {"scripted pairwise"}
    assert set(table["scorer_kind"]) == {"judge"}
    assert table["missing_reason"].isna().all()
    names = campaign.score_table()
    assert names.empty
    # B and D give the same text; of C and D the second is first in the order of the response keys.
    assert Counter(table["value"]) == {-1.0: 5 * 3 * 4, 0.0: 5 * 3, 1.0: 5 * 3}


def test_a_judge_that_always_prefers_what_it_sees_first_has_no_preference(
    campaign: Study, scripted: type[Scripted]
) -> None:
    scripted.answer = always(Answer("1"))
    compare_pairs(campaign, SETTINGS)
    table = campaign.preference_table()
    assert (table["value"] == 0).all()
    assert (table["value_a_first"] == -1).all()
    assert (table["value_b_first"] == 1).all()


def test_passages_are_shown_once_where_they_are_the_same(
    campaign: Study, scripted: type[Scripted]
) -> None:
    compare_pairs(campaign, SETTINGS.model_copy(update={"constructs": ("CC", "AC")}))
    shown = {(r.construct_key, r.prompt.count("A passage.")): r.prompt for r in scripted.asked}
    assert set(shown) == {("CC", 1), ("CC", 0), ("AC", 0), ("AC", 1)} & set(shown)
    coherence = [r.prompt for r in scripted.asked if r.construct_key == "CC"]
    same = next(p for p in coherence if "Answer 1 of A." in p and p.count("Passages") == 1)
    assert same.index("Passages:") < same.index("Response 1:")
    other = next(p for p in coherence if "Passages of response 2:" in p)
    assert other.index("Response 1:") < other.index("Passages of response 1:")
    correctness = [r.prompt for r in scripted.asked if r.construct_key == "AC"]
    assert all("Reference answer:\nReference" in prompt for prompt in correctness)
    assert all("Reference answer:" not in prompt for prompt in coherence)


def test_an_interrupted_call_continues_and_asks_nothing_twice(
    campaign: Study, scripted: type[Scripted]
) -> None:
    scripted.stop_after = 7
    with pytest.raises(RunStoppedError, match="Interrupted") as stopped:
        compare_pairs(campaign, SETTINGS)
    assert (stopped.value.outcome.answered, stopped.value.outcome.begun) == (7, True)
    one_order = campaign.preference_table()["missing_reason"].value_counts()
    assert set(one_order.index) <= {"no_choice", "one_order_only"}
    scripted.stop_after = None
    preview = preview_pairs(campaign, SETTINGS)
    assert preview.run == "scripted pairwise"
    assert sum(preview.planned.prompts.values()) == PAIRS * 10 - 7
    outcome = compare_pairs(campaign, SETTINGS)
    assert not outcome.begun
    assert len(stored(campaign)) == PAIRS * 10
    assert len({(r.prompt_hash, r.repeat) for r in scripted.asked}) <= PAIRS * 10
    assert compare_pairs(campaign, SETTINGS).answered == 0


def test_a_missing_choice_is_a_missing_preference_with_its_reason(
    campaign: Study, scripted: type[Scripted]
) -> None:
    scripted.answer = staticmethod(
        lambda prompt: Answer("perhaps" if "1 of A" in prompt.split("Response 2:")[1] else "1")
    )
    outcome = compare_pairs(campaign, SETTINGS)
    assert outcome.missing == {"no_choice": 3 * 5}
    table = campaign.preference_table()
    missing = table[table["value"].isna()]
    assert set(missing["missing_reason"]) == {"no_choice"}
    assert len(missing) == 3 * 5
    # What the other order answered stays visible.
    assert (missing["value_a_first"].notna() ^ missing["value_b_first"].notna()).all()


def test_prompts_beyond_the_window_are_stored_as_missing_once(
    any_study: Study, scripted: type[Scripted]
) -> None:
    campaign = any_study
    fill(campaign)
    scripted.window = 10
    outcome = compare_pairs(campaign, SETTINGS)
    assert (outcome.answered, outcome.missing) == (0, {"too_long": PAIRS * 10})
    assert compare_pairs(campaign, SETTINGS).missing == {}
    scripted.window = None
    scripted.answer = always(Answer("tie"))
    assert compare_pairs(campaign, SETTINGS).answered == PAIRS * 10
    assert (campaign.preference_table()["value"] == 0).all()
    assert {row["attempt"] for row in stored(campaign)} == {1, 2}


def test_only_pairs_that_people_compared(campaign: Study, scripted: type[Scripted]) -> None:
    with pytest.raises(StudyError, match="People compared no pair"):
        compare_pairs(campaign, SETTINGS, "compared")
    with campaign.read() as connection:
        ids = [r.response_id for r in current_responses(connection)[0]][:2]
    row = PreferenceRow(
        query_id="q1", response_a=ids[1], response_b=ids[0], construct_key="QR", scorer="ann",
        scorer_kind="human", value=2.0,
    )  # fmt: skip
    import_rows(campaign, [LocatedRow(1, row)], source="t", sha256="0" * 64, importer="preferences")
    scripted.answer = staticmethod(by_text)
    outcome = compare_pairs(campaign, SETTINGS, "compared")
    assert (outcome.answered, outcome.planned.prompts) == (2, {"QR": 2})
    assert len(campaign.preference_table()) == 2


def test_a_study_without_two_responses_to_a_query(study: Study, scripted: type[Scripted]) -> None:
    fill(study)
    one = SETTINGS.model_copy(update={"systems": ("A",)})
    with pytest.raises(StudyError, match="No query has two responses"):
        compare_pairs(study, one)
    assert not list_runs(study)


def test_repeats_are_asked_and_numbered(campaign: Study, scripted: type[Scripted]) -> None:
    compare_pairs(campaign, SETTINGS.model_copy(update={"repeats": 2, "constructs": ("QR",)}))
    assert Counter(row["repeat"] for row in stored(campaign)) == {0: PAIRS * 2, 1: PAIRS * 2}
    assert set(campaign.preference_table()["repeat"]) == {0, 1}


def test_a_run_on_pairs_stands_beside_the_run_on_scores(
    any_study: Study, scripted: type[Scripted]
) -> None:
    campaign = any_study
    fill(campaign)
    judge_study(campaign, SETTINGS)
    before = campaign.score_table()
    compare_pairs(campaign, SETTINGS)
    assert campaign.score_table().equals(before)
    assert [(run.name, run.pairs) for run in list_runs(campaign)] == [
        ("scripted", 0),
        ("scripted pairwise", PAIRS * 5),
    ]
    assert any("90 pairs" in line for line in show_run(campaign, "scripted pairwise").lines())


def test_pairs_travel_in_an_archive(
    campaign: Study, scripted: type[Scripted], tmp_path: Path
) -> None:
    compare_pairs(campaign, SETTINGS)
    archive(campaign, tmp_path / "out.zip")
    assert (tmp_path / "out.zip").exists()


def test_the_command_has_the_options_of_engines_and_none_that_do_not_apply() -> None:
    help_text = CliRunner().invoke(cli, ["judge", "pairs", "--help"]).output
    assert "--pairs [all|compared]" in help_text
    assert "--constructs" in help_text
    for other in ("--metric ", "--prompts ", "--estimate", "--drift"):
        assert other not in help_text

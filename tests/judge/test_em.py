from judge import JudgeSettings, exact_match, judge_study
from study import Study
from study.importing import import_rows
from study.importing.rows import Placed, ScoreRow
from tests.judge.campaign import Scripted, fill, store


def test_a_match_is_strict_but_for_white_space_at_the_ends() -> None:
    assert exact_match(" Paris\n", ["London", "Paris "])
    for response in ("paris", "Paris.", "In Paris", ""):
        assert not exact_match(response, ["Paris"])
    assert not exact_match("", [""])
    assert not exact_match("Paris", [])


def test_em_is_a_metric_on_ac_against_any_reference(
    any_study: Study, scripted: type[Scripted]
) -> None:
    fill(any_study, 2)
    store(any_study, {"query_id": "bare", "query": "?", "response": "x", "system": "A"})
    outcome = judge_study(any_study, JudgeSettings())
    assert outcome.exact_match == {"stored": 8, "held": 0, "differing": 0}
    scores = any_study.score_table()
    em = scores[scores["scorer"] == "EM"].set_index(["query_id", "system"])
    assert set(em["scorer_kind"]) == {"metric"}
    assert set(em["construct"]) == {"AC"}
    assert em["value"].to_dict() == {
        (f"q{q}", system): 100.0 if system == "A" else 0.0 for q in (1, 2) for system in "ABCD"
    }
    assert judge_study(any_study, JudgeSettings()).exact_match["held"] == 8


def test_an_em_that_the_study_holds_stays_and_is_told(
    campaign: Study, scripted: type[Scripted]
) -> None:
    row = ScoreRow(
        query_id="q1",
        system="B",
        construct_key="AC",
        scorer="EM",
        scorer_kind="metric",
        value=100.0,
    )
    import_rows(campaign, [Placed(1, row)], source="em", sha256="em", importer="scores")
    outcome = judge_study(campaign, JudgeSettings())
    assert outcome.exact_match == {"stored": 11, "held": 0, "differing": 1}
    assert "1 that the study holds already differ" in " ".join(outcome.lines())


def test_without_ac_there_is_no_em(campaign: Study, scripted: type[Scripted]) -> None:
    assert judge_study(campaign, JudgeSettings(constructs=("QR",))).exact_match == {}

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, strategies as st

from judge import (
    exact_match,
    judge_study,
    normalized_match,
    preview,
    store_text_metrics,
    token_f1,
)
from judge.running.pages import places
from judge.running.unprompted_metrics import text_metrics
from study import Study, StudyError
from study.cli.root import cli
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, ScoreRow
from tests.judge.small_studies import Scripted, ScriptedSettings, fill, store

ALL = ("EM", "EM-normalized", "F1")

# Responses by system: what each metric makes of them is known by hand.
SEINE = {
    "same": "the Seine",
    "normalized": "The  Seine.",
    "longer": "the Seine river",
    "other": "Rhine",
    "none": "",
}


def add(study: Study, scorer: str, kind: str, value: float) -> None:
    row = ScoreRow.model_validate(
        {
            "query_id": "q1",
            "system": "B",
            "construct_key": "AC",
            "scorer": scorer,
            "scorer_kind": kind,
            "value": value,
        }
    )
    import_rows(study, [LocatedRow(1, row)], source=scorer, sha256=scorer, importer="scores")


def seine(study: Study) -> None:
    """One query with two references, and a response a system."""
    store(
        study,
        *(
            {
                "query_id": "q",
                "query": "Which river?",
                "references": ["the Seine", "river Seine in Paris"],
                "system": system,
                "response": text,
                "passages": ["Paris lies on the Seine."],
            }
            for system, text in SEINE.items()
        ),
    )


def fill_references(study: Study) -> None:
    """Six queries, each with a strict match, a normalized one and a partial one."""
    store(
        study,
        *(
            {
                "query_id": f"p{q}",
                "query": f"Which river, {q}?",
                "references": [f"river {q} north"],
                "system": system,
                "response": text,
                "passages": [f"Passage {q}."],
            }
            for q in range(6)
            for system, text in (
                ("A", f"river {q} north"),
                ("B", f"The river, {q} North."),
                ("C", f"river {q} south"),
            )
        ),
    )


def stored(study: Study) -> dict[str, dict[str, float]]:
    """Values of each metric on AC by system."""
    scores = study.score_table()
    metrics = scores[scores["scorer_kind"] == "metric"]
    assert set(metrics["construct"]) <= {"AC"}
    assert not metrics.duplicated(["response_id", "system", "scorer"]).any()
    return {
        str(name): dict(zip(rows["system"], rows["value"], strict=True))
        for name, rows in metrics.groupby("scorer")
    }


def test_a_match_is_strict_but_for_white_space_at_the_ends() -> None:
    assert exact_match(" Paris\n", ["London", "Paris "])
    for response in ("paris", "Paris.", "In Paris", ""):
        assert not exact_match(response, ["Paris"])
    assert not exact_match("", [""])
    assert not exact_match("Paris", [])


def test_a_normalized_match_is_one_in_the_words_of_squad() -> None:
    for response in ("paris", "Paris.", "the Paris", "  PARIS "):
        assert normalized_match(response, ["London", "Paris"])
    assert not normalized_match("In Paris", ["Paris"])
    assert not normalized_match("Paris", [])
    # "A" is left without a word, and so would match an empty response.
    assert normalized_match("A", ["A"])
    assert not normalized_match(" ", ["A"])


@given(st.text(), st.lists(st.text(), max_size=3))
def test_a_strict_match_is_a_normalized_one(response: str, references: list[str]) -> None:
    assert normalized_match(response, references) >= exact_match(response, references)
    if normalized_match(response, references):
        assert token_f1(response, references) in (0.0, 1.0)


def test_em_is_a_metric_on_ac_against_any_reference(
    any_study: Study, scripted: type[Scripted]
) -> None:
    fill(any_study, 2)
    store(any_study, {"query_id": "bare", "query": "?", "response": "x", "system": "A"})
    outcome = judge_study(any_study, ScriptedSettings())
    missing = {"no_reference": 1}
    counts = {"stored": 8, "existing": 0, "differing": 0, "truncated": 0, "missing": missing}
    assert outcome.text_metrics == {"EM": counts}
    scores = any_study.score_table()
    em = scores[scores["scorer"] == "EM"].set_index(["query_id", "system"])
    assert set(em["scorer_kind"]) == {"metric"}
    assert set(em["construct"]) == {"AC"}
    assert em["value"].to_dict() == {
        (f"q{q}", system): 100.0 if system == "A" else 0.0 for q in (1, 2) for system in "ABCD"
    }
    assert judge_study(any_study, ScriptedSettings()).text_metrics["EM"]["existing"] == 8
    assert set(stored(any_study)) == {"EM"}


def test_what_is_asked_for_later_is_added_and_nothing_doubles(
    any_study: Study, scripted: type[Scripted]
) -> None:
    seine(any_study)
    first = judge_study(any_study, ScriptedSettings())
    asked = len(scripted.asked)
    second = judge_study(any_study, ScriptedSettings(text_metrics=(*ALL, "F1")))
    assert second.run == first.run
    assert len(scripted.asked) == asked
    new = {"stored": 5, "existing": 0, "differing": 0, "truncated": 0, "missing": {}}
    old = {"stored": 0, "existing": 5, "differing": 0, "truncated": 0, "missing": {}}
    assert second.text_metrics == {"EM": old, "EM-normalized": new, "F1": new}
    assert "F1: 5 scores were stored." in second.lines()
    third = judge_study(any_study, ScriptedSettings(text_metrics=ALL))
    assert third.text_metrics == dict.fromkeys(ALL, old)
    assert stored(any_study) == {
        "EM": {"same": 100, "normalized": 0, "longer": 0, "other": 0, "none": 0},
        "EM-normalized": {"same": 100, "normalized": 100, "longer": 0, "other": 0, "none": 0},
        # Two tokens, "seine river": one of "seine" is 2 * 1 / (2 + 1), two of four 2 * 2 / (2 + 4).
        "F1": {
            "same": 100,
            "normalized": 100,
            "longer": pytest.approx(200 / 3),
            "other": 0,
            "none": 0,
        },
    }


def test_a_metric_has_its_share_of_its_own_scale(tmp_path: Path, scripted: type[Scripted]) -> None:
    study = Study.create(tmp_path / "s", "[scorers.F1]\nscale = { min = 1, max = 4 }\n")
    seine(study)
    judge_study(study, ScriptedSettings(text_metrics=("F1",)))
    assert stored(study)["F1"]["longer"] == pytest.approx(1 + 3 * 2 / 3)
    assert set(stored(study)) == {"F1"}
    study.close()


def test_a_metric_already_in_the_study_stays_and_is_reported(
    campaign: Study, scripted: type[Scripted]
) -> None:
    add(campaign, "EM", "metric", 100.0)
    outcome = judge_study(campaign, ScriptedSettings())
    assert outcome.text_metrics == {
        "EM": {"stored": 11, "existing": 0, "differing": 1, "truncated": 0, "missing": {}}
    }
    assert "although the texts give another value: 1 existing score." in " ".join(outcome.lines())


def test_without_ac_there_is_no_metric(campaign: Study, scripted: type[Scripted]) -> None:
    assert judge_study(campaign, ScriptedSettings(constructs=("QR",))).text_metrics == {}
    settings = ScriptedSettings(constructs=("QR",), text_metrics=ALL)
    for call in (judge_study, preview):
        with pytest.raises(StudyError, match="AC, which is not judged here"):
            call(campaign, settings)
    assert judge_study(campaign, ScriptedSettings(text_metrics=())).text_metrics == {}
    assert stored(campaign) == {}


def test_a_name_is_a_metrics_or_another_scorers(campaign: Study, scripted: type[Scripted]) -> None:
    assert judge_study(campaign, ScriptedSettings(model="F1", limit=1)).run == "F1 (2)"
    with pytest.raises(StudyError, match="'EM-normalized' is the name of a metric"):
        judge_study(campaign, ScriptedSettings(model="m", name="EM-normalized"))
    add(campaign, "F1", "judge", 50.0)
    with pytest.raises(StudyError, match="scorer named 'F1' that is not a metric"):
        judge_study(campaign, ScriptedSettings(text_metrics=ALL))
    assert "F1" not in stored(campaign)
    assert judge_study(campaign, ScriptedSettings(text_metrics=ALL[:2])).text_metrics


def test_a_study_without_ac_gets_none(tmp_path: Path) -> None:
    qr = 'key = "QR"\nname = "Relevance"\nquestion = "?"\nsees = ["question", "response"]\n'
    study = Study.create(tmp_path / "s", f"[[constructs]]\n{qr}")
    seine(study)
    assert store_text_metrics(study, places(study), text_metrics(ALL)) == {}
    study.close()


def test_the_option_takes_several_names_and_refuses_others(
    campaign: Study, scripted: type[Scripted]
) -> None:
    words = ["judge", str(campaign.folder), "--engine", "scripted", "--model", "m", "--json"]
    result = CliRunner().invoke(cli, [*words, "--text-metrics", "EM, F1", "--text-metrics", "F1"])
    assert result.exit_code == 0, result.output
    assert set(json.loads(result.output)["text_metrics"]) == {"EM", "F1"}
    for name, message in (("f1", "Unknown metric 'f1'"), ("RR", "`ccrs measure STUDY")):
        wrong = CliRunner().invoke(cli, [*words, "--text-metrics", name])
        assert isinstance(wrong.exception, StudyError)
        assert message in str(wrong.exception)


@pytest.mark.slow
@pytest.mark.usefixtures("without_drawing")
def test_the_report_sweeps_each_metric(
    campaign: Study, scripted: type[Scripted], tmp_path: Path
) -> None:
    fill_references(campaign)
    for name in ("m", "n"):
        judge_study(campaign, ScriptedSettings(model=name, text_metrics=ALL))
    people = [
        LocatedRow(
            number,
            ScoreRow(
                query_id=f"p{q}",
                system=system,
                construct_key="AC",
                scorer=rater,
                scorer_kind="human",
                value=float((q * 7 + 11 * ord(system) + number) % 101),
            ),
        )
        for number, (q, system, rater) in enumerate(
            (q, system, rater) for q in range(6) for system in "ABC" for rater in ("ann", "bob")
        )
    ]
    import_rows(campaign, people, source="people", sha256="people", importer="scores")
    out = tmp_path / "report"
    words = ["report", str(campaign.folder), "--out", str(out), "--resamples", "200", "--no-verify"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    sweeps = [
        e
        for e in json.loads((out / "report.json").read_text(encoding="utf-8"))["estimates"]
        if e["statistic"] == "ac_lambda_sweep"
    ]
    swept = {(*e["scorers"], e["params"]["match"]) for e in sweeps}
    assert swept == {(judge, match, match) for judge in ("m", "n") for match in ALL}
    for match in ALL:
        measured = {
            e["params"]["measure"] for e in sweeps if e["params"]["match"] == match and e["value"]
        }
        assert measured >= {"pearson", "tie_probability"}
    page = (out / "report.html").read_text(encoding="utf-8")
    for judge in ("m", "n"):
        for match in ALL:
            assert f"AC of {judge} and {match} by lambda" in page

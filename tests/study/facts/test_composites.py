"""A composite's scores are weighted means of its members', and missing where one of theirs is."""

from pathlib import Path

import pytest

from analysis.cli.read_study import from_study
from judge.running.text_scores import measure_study
from study import Study, study_status
from study.errors import InputError, StudyError
from study.settings.study_toml import parse_config
from tests.ccrs_command import in_process
from tests.study.facts.test_juries import RESPONSES, bring, jury as scores_of, made, score

BLEND = '[composites.blend]\nof = { "judge" = 3, "EM" = 1 }\n'


def metric(response: int, name: str, value: float | None, **more: object) -> dict[str, object]:
    return score(response, name, value, **more) | {"scorer_kind": "metric"}


def kinds(study: Study, name: str) -> set[str]:
    return set(study.score_table().query("scorer == @name")["scorer_kind"])


def test_the_weighted_mean_where_all_members_have_a_score(tmp_path: Path) -> None:
    study = made(tmp_path, BLEND)
    bring(
        study,
        [
            score(0, "judge", 40),
            metric(0, "EM", 100),
            score(1, "judge", 40),
            metric(1, "EM", None, missing_reason="no_reference"),
            score(2, "judge", 40),
            # On this construct the composite has no rows: EM has none.
            score(2, "judge", 10) | {"construct": "CC"},
        ],
    )
    assert scores_of(study, "blend") == {
        "r0": (55.0, None),
        "r1": (None, "composite_member_missing"),
        "r2": (None, "composite_member_not_scored"),
    }
    assert kinds(study, "blend") == {"judge"}
    words = study_status(study).combined["blend"]
    assert words == "the weighted mean of judge (weight 3) and EM (weight 1)"


def test_a_composite_of_metrics_is_a_metric(tmp_path: Path) -> None:
    study = made(tmp_path, "[composites.both]\nof = { F1 = 1, EM = 1 }\n")
    bring(study, [metric(0, "F1", 0.1), metric(0, "EM", 0.1), metric(1, "F1", 60)])
    scores = scores_of(study, "both")
    assert scores["r0"] == (0.1, None)
    assert kinds(study, "both") == {"metric"}


def test_a_report_names_what_could_not_be_computed(tmp_path: Path) -> None:
    study = made(tmp_path, BLEND + '[composites.twin]\nof = { "judge" = 1, "other" = 1 }\n')
    bring(
        study,
        [score(0, "judge", 40), score(0, "other", 4), metric(1, "F1", 0.1)],
    )
    options = from_study(study.folder, {}).options
    assert options.not_computed == {
        "blend": "the weighted mean of judge (weight 3) and EM (weight 1); 'EM' has no scores yet"
    }
    assert options.derived_from["twin"] == ("judge", "other")


def test_members_on_different_constructs_have_no_composite(tmp_path: Path) -> None:
    study = made(tmp_path, BLEND)
    bring(study, [score(0, "judge", 40), metric(0, "EM", 1) | {"construct": "AC"}])
    assert scores_of(study, "blend") == {}


def test_a_member_of_which_low_is_good_is_turned(tmp_path: Path) -> None:
    study = made(
        tmp_path,
        "[composites.grounded]\nof = { faithful = 1, hallucination = 1 }\n"
        "[scorers.hallucination]\nlow_is_good = true\n",
    )
    bring(study, [metric(0, "faithful", 90), metric(0, "hallucination", 10)])
    assert scores_of(study, "grounded") == {"r0": (90.0, None)}
    words = study_status(study).combined["grounded"]
    assert words.endswith("hallucination (weight 1, turned: low is good)")
    assert from_study(study.folder, {}).options.low_is_good == ("hallucination",)


def test_the_direction_of_a_metric_that_was_measured_here_is_known(tmp_path: Path) -> None:
    study = made(tmp_path, '[composites.both]\nof = { "context-usage" = 1, "novel-words" = 1 }\n')
    passages = [row | {"passages": ["x0 x1"]} for row in RESPONSES]
    bring(
        study, [row | {"response_id": f"p{row['response_id']}", "system": "B"} for row in passages]
    )
    measure_study(study, ["usage"], ["QR"])
    scores = study.score_table().set_index(["response_id", "scorer"])["value"]
    assert scores["pr0", "novel-words"] == 100
    assert scores["pr0", "both"] == scores["pr0", "context-usage"] / 2
    assert "novel-words" in from_study(study.folder, {}).options.low_is_good


def test_members_on_different_constructs_make_one_score(tmp_path: Path) -> None:
    study = made(
        tmp_path,
        '[composites.all]\nof = { "judge:QR" = 3, "judge:CC" = 1, "F1:AC" = 1 }\non = "QR"\n'
        "[scorers.F1]\nscale = { min = 0, max = 1 }\n",
    )
    bring(
        study,
        [
            score(0, "judge", 40),
            score(0, "judge", 100) | {"construct": "CC"},
            metric(0, "F1", 0.8) | {"construct": "AC"},
            score(1, "judge", 40),
        ],
    )
    # The share .8 is 80 on the scale of QR.
    assert scores_of(study, "all") == {
        "r0": (60.0, None),
        "r1": (None, "composite_member_not_scored"),
    }
    rows = study.score_table().query("scorer == 'all'")
    assert set(rows["construct"]) == {"QR"}
    status = study_status(study)
    assert [(s.construct, s.values) for s in status.scorers if s.scorer == "all"] == [("QR", 1)]


def test_the_status_names_what_a_composite_lacks(tmp_path: Path) -> None:
    study = made(
        tmp_path,
        BLEND + '[composites.all]\nof = { "judge:QR" = 1, "judge:CC" = 1 }\non = "QR"\n',
    )
    bring(study, [score(0, "judge", 40), metric(0, "EM", 1) | {"construct": "AC"}])
    done = in_process("status", study.folder)
    assert done.returncode == 0, done.stderr
    lines = " ".join(done.stdout.split())
    assert "no construct in common (judge on QR, EM on AC)" in lines
    assert "'judge' has no scores on CC yet" in lines


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("[composites.c]\nof = { a = 1 }\n", "at least 2"),
        ("[composites.c]\nof = { a = 1, b = 0 }\n", "greater than 0"),
        ("[composites.c]\nof = { a = 1, b = inf }\n", "finite"),
        ("[composites.c]\nof = { a = 1, c = 1 }\n", "is a composite itself"),
        ('[composites.c]\nof = { a = 1, j = 1 }\n[juries.j]\nof = ["a", "b"]\n', "a jury itself"),
        ('[composites.j]\nof = { a = 1, b = 1 }\n[juries.j]\nof = ["a", "b"]\n', "another"),
        ('[scorers.b]\nkind = "human"\n[composites.c]\nof = { a = 1, b = 1 }\n', "declared human"),
        ('[composites.c]\nof = { a = 1, "b:QR" = 1 }\non = "QR"\n', "names no construct"),
        (
            '[composites.c]\nof = { "a:QR" = 1, "b:QQ" = 1 }\non = "QR"\n',
            "no construct 'QQ'. Name one of QR",
        ),
        ('[composites.c]\nof = { "a:QR" = 1, "b:QR" = 1 }\non = "retrieval"\n', "no construct"),
        (
            "[scorers.b]\nscale = { min = 0, max = 1 }\n[composites.c]\nof = { a = 1, b = 1 }\n",
            "'a' is on 0 to 100 and 'b' on 0 to 1",
        ),
    ],
    ids=[
        "one",
        "zero",
        "infinite",
        "itself",
        "jury",
        "name",
        "human",
        "unnamed",
        "unknown",
        "on",
        "scales",
    ],
)
def test_what_makes_no_composite_is_refused_with_its_reason(settings: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        parse_config(settings)


def test_a_person_is_no_member_and_no_file_has_its_scores(tmp_path: Path) -> None:
    study = made(tmp_path, BLEND)
    with pytest.raises(InputError, match="'blend' is a composite of study"):
        bring(study, [score(0, "blend", 1)])
    bring(study, [score(0, "judge", 1) | {"scorer_kind": "human"}])
    with pytest.raises(StudyError, match="made of metrics and judges"):
        study.score_table()

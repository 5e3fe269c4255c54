"""A jury's scores follow from those of its judges, and are missing where one of theirs is."""

import json
import math
from pathlib import Path

import pytest

from judge.prompts.prompt_versions import prompt_version
from judge.protocol.conditions import Conditions
from judge.running.runs import find_or_begin
from study import Study, study_status
from study.assignment.planner import assign
from study.errors import InputError, StudyError
from study.facts.combined_scorers import in_words
from study.importing.file_import import import_file
from study.settings.study_toml import parse_config

RESPONSES: list[dict[str, object]] = [
    {"query_id": f"q{n}", "query": f"{n}?", "response": f"r{n}", "response_id": f"r{n}",
     "system": "A"}
    for n in range(3)
]  # fmt: skip
THREE = '[juries.three]\nof = ["a", "b", "c"]\n'


def score(response: int, scorer: str, value: float | None, **more: object) -> dict[str, object]:
    row = {"response_id": f"r{response}", "construct": "QR", "scorer": scorer, "value": value}
    return {**row, "scorer_kind": "judge", **more}


def bring(study: Study, rows: list[dict[str, object]]) -> None:
    path = study.folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    import_file(study, path)


def made(tmp_path: Path, settings: str = THREE) -> Study:
    study = Study.create(tmp_path / "study", settings)
    bring(study, RESPONSES)
    return study


def jury(study: Study, name: str = "three") -> dict[str, tuple[float | None, str | None]]:
    rows = study.score_table().query("scorer == @name")
    return {
        name: (None if math.isnan(value) else value, reason)
        for name, value, reason in zip(
            rows["response_id"], rows["value"], rows["missing_reason"], strict=True
        )
    }


def test_the_median_of_first_scores_where_all_judges_have_one(tmp_path: Path) -> None:
    study = made(tmp_path)
    bring(
        study,
        [
            *(score(0, name, value) for name, value in (("a", 10), ("b", 70), ("c", 90))),
            # A later score of the same judge changes nothing.
            score(0, "b", 95, repeat=1),
            score(1, "a", 10),
            score(1, "b", None, missing_reason="refusal"),
            score(1, "c", 30),
            score(2, "a", 10),
            score(2, "c", 30),
        ],
    )
    assert jury(study) == {
        "r0": (70.0, None),
        "r1": (None, "jury_member_missing"),
        "r2": (None, "jury_member_not_judged"),
    }
    rows = study.score_table().query("scorer == 'three'")
    assert set(rows["scorer_kind"]) == {"judge"}
    assert set(rows["repeat"]) == {0}
    assert rows["rule"].isna().all()
    # It follows what is judged later.
    bring(study, [score(2, "b", 40)])
    assert jury(study)["r2"] == (30.0, None)


def test_a_mean_of_two_and_its_words(tmp_path: Path) -> None:
    study = made(tmp_path, '[juries.both]\nof = ["a", "b"]\nby = "mean"\n')
    bring(study, [score(0, "a", 10), score(0, "b", 71)])
    assert jury(study, "both") == {"r0": (40.5, None)}
    assert in_words(study.config.juries["both"]) == "the mean of a and b"
    assert study_status(study).combined == {"both": "the mean of a and b"}


def test_the_status_names_a_judge_without_scores(tmp_path: Path) -> None:
    study = made(tmp_path)
    bring(study, [score(0, "a", 10), score(0, "b", 70)])
    text = study_status(study).combined["three"]
    assert text.startswith("the median of a, b and c. 'c' has no scores yet")


def test_a_jury_is_on_the_scale_of_its_judges() -> None:
    scorers = (
        "[scorers.a]\nscale = { min = 0, max = 1 }\n[scorers.b]\nscale = { min = 0, max = 1 }\n"
    )
    config = parse_config(f'{scorers}[juries.both]\nof = ["a", "b"]\n')
    scale = config.scale("QR", "both")
    assert scale is not None
    assert (scale.min, scale.max) == (0, 1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('[juries.j]\nof = ["a"]\n', "at least 2"),
        ('[juries.j]\nof = ["a", "a"]\n', "named more than once"),
        ('[juries.j]\nof = ["a", "b"]\nleast = 2\n', "unknown setting"),
        ('[juries.j]\nof = ["a", "j"]\n', "is a jury itself"),
        ('[juries.j]\nof = ["a", "k"]\n[juries.k]\nof = ["a", "b"]\n', "is a jury itself"),
        ('[scorers.b]\nkind = "human"\n[juries.j]\nof = ["a", "b"]\n', "declared human"),
        ('[scorers.j]\nkind = "metric"\n[juries.j]\nof = ["a", "b"]\n', "leave kind and scale"),
        (
            '[scorers.b]\nscale = { min = 0, max = 1 }\n[juries.j]\nof = ["a", "b"]\n',
            "'a' is on 0 to 100 and 'b' on 0 to 1",
        ),
    ],
    ids=["one", "twice", "unknown", "itself", "jury-of-jury", "human", "metric", "scales"],
)  # fmt: skip
def test_what_makes_no_jury_is_refused_with_its_reason(settings: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        parse_config(settings)


def test_no_run_and_no_rater_takes_the_name_of_a_jury(tmp_path: Path) -> None:
    study = made(tmp_path)
    with pytest.raises(StudyError, match="scorer named 'three'"):
        find_or_begin(study, Conditions("openai", "m"), prompt_version(), 1, "three")
    assert find_or_begin(study, Conditions("openai", "three"), prompt_version(), 1, None).name == (
        "three (2)"
    )
    with pytest.raises(StudyError, match="name of a judge or metric"):
        assign(study, ["three"])


def test_names_do_not_clash(tmp_path: Path) -> None:
    study = made(tmp_path)
    with pytest.raises(InputError, match="is a jury of study"):
        bring(study, [score(0, "three", 10)])
    bring(study, [score(0, "d", 10), score(0, "a", 10, scorer_kind="metric")])
    with pytest.raises(StudyError, match="of judges"):
        study.score_table()
    (study.folder / "study.toml").write_text('[juries.d]\nof = ["b", "c"]\n', encoding="utf-8")
    with pytest.raises(StudyError, match="name of a judge scorer"):
        Study.open(study.folder).score_table()

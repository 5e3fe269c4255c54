"""Which construct the controls of an export rate, on which range, and what can't be meant."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from study import Study
from study.cli.commands import import_
from study.errors import InputError
from study.importing.file_import import import_file, unmapped_controls
from study.importing.import_store import CORRECTED
from tests.annotate_ui.label_studio.export_builder import annotation, result, stars, task, written

FLUENCY = """
[[constructs]]
key = "FL"
name = "Fluency"
question = "How well does the response read?"
sees = ["question", "response"]
scale = { min = 1, max = 5, step = 1, level = "ordinal" }
"""


@pytest.fixture
def fluency(tmp_path: Path) -> Iterator[Study]:
    """Return a study whose construct goes from 1 to 5 in whole steps."""
    made = Study.create(tmp_path / "fluency", FLUENCY)
    yield made
    made.close()


def values(study: Study) -> dict[str, float]:
    return study.score_table().set_index("scorer")["value"].dropna().to_dict()


def test_two_controls_of_one_construct_are_refused(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, annotation(1, 5, a=10)), task(2, annotation(2, 5, b=90)))
    with pytest.raises(InputError, match=r"the controls 'a', 'b' all rate AC.* --control b= ?;"):
        import_file(study, path, controls={"a": "AC", "b": "AC"})
    import_file(study, path, controls={"a": "AC", "b": "QR"})
    assert study.score_table()["value"].dropna().tolist() == [10, 90]


def test_two_controls_called_like_one_construct_are_refused(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, annotation(1, 5, QR=5, qr=6, question_relevance=7)))
    with pytest.raises(InputError, match="'QR', 'qr', 'question_relevance' all rate QR"):
        import_file(study, path)
    with pytest.raises(
        InputError, match="such as with --control QR= --control question_relevance=;"
    ):
        import_file(study, path, controls={"qr": "QR"})
    assert len(study.score_table()) == 0
    import_file(study, path, controls={"QR": "", "qr": ""})
    assert study.score_table()["value"].tolist() == [7]


def test_each_of_two_controls_keeps_its_range(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, annotation(1, 5, a=3, b=3)))
    import_file(study, path, controls={"a": "AC", "b": "QR"}, ranges={"a": (1, 5)})
    scores = study.score_table().set_index("construct")["value"].to_dict()
    assert scores == {"AC": 50, "QR": 3}


def test_a_control_of_the_option_must_rate(study: Study, tmp_path: Path) -> None:
    annotated = annotation(1, 5, QR=80)
    annotated["result"].append(result("quality", "textarea", ["4"]))
    path = written(tmp_path, task(1, annotated))
    with pytest.raises(InputError, match=r"'qualty' has no result.* 'quality'.*rate: 'QR'"):
        import_file(study, path, controls={"qualty": "AC"})
    with pytest.raises(InputError, match=r"'quality' gives textarea, but only numbers"):
        import_file(study, path, controls={"quality": "AC"})
    with pytest.raises(InputError, match="the control 'QR' is left out"):
        import_file(study, path, controls={"QR": ""}, ranges={"QR": (1, 5)})
    done = import_file(study, path, controls={"quality": ""})
    assert done.left_out == {
        "results of the control 'quality', which gives textarea rather than numbers": 1
    }
    assert study.score_table()["value"].tolist() == [80]


def chosen(number: int, user: int, *labels: Any, name: str = "verdict") -> dict[str, Any]:
    return {**annotation(number, user), "result": [result(name, "choices", list(labels))]}


def test_choices_are_ratings_by_the_number_of_each(study: Study, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        task(1, chosen(1, 5, "good"), chosen(2, 6, "bad")),
        task(2, chosen(3, 5, "fair"), chosen(4, 6, "good", "bad")),
    )
    # Without a construct they are no ratings: many projects ask other things by choices.
    unmapped = import_file(Study.create(tmp_path / "other"), path)
    assert not unmapped.added.get("scores")
    assert any("results of the control 'verdict'" in text for text in unmapped.left_out)
    with pytest.raises(
        InputError,
        match=r"which number is the choice 'good' .* Its choices: 'good', 'bad', 'fair'.*"
        r"--value good=NUMBER",
    ):
        import_file(study, path, controls={"verdict": "AC"})
    with pytest.raises(InputError, match="which number is the choice 'fair'"):
        import_file(study, path, controls={"verdict": "AC"}, values={"good": 100, "bad": 0})
    given = {"good": 100.0, "bad": 0.0, "fair": 40.0}
    with pytest.raises(InputError, match=r"has the choice 'god' .* Did you mean 'good'\?"):
        import_file(study, path, controls={"verdict": "AC"}, values={**given, "god": 1})
    done = import_file(study, path, controls={"verdict": "AC"}, values=given)
    assert rated(study) == {("1", "ls-5"): 100, ("1", "ls-6"): 0, ("2", "ls-5"): 40}
    assert done.rules == {"a value treated as missing: not a number": 1}
    # Several choices of one rater are a missing value.
    assert study.score_table()["missing_reason"].dropna().tolist() == ["no_number"]
    done = import_file(study, path, controls={"verdict": "AC"}, values={**given, "fair": 50})
    assert done.rules[CORRECTED] == 4
    assert rated(study)["2", "ls-5"] == 50


def rated(study: Study) -> dict[tuple[str, str], float]:
    table = study.score_table().dropna(subset=["value"])
    tasks = table["response_id"].str.rpartition("-")[2]
    return dict(zip(zip(tasks, table["scorer"], strict=True), table["value"], strict=True))


@pytest.mark.parametrize(
    ("labels", "numbers"),
    [
        (["1", "5"], [1, 5]),
        (["1 - poor", "4 – good"], [1, 4]),
        (["2: so so", "5. Very good"], [2, 5]),
        (["3) middling", "4 (good)"], [3, 4]),
    ],
)
def test_choices_that_begin_with_a_number_have_that_number(
    fluency: Study, tmp_path: Path, labels: list[str], numbers: list[float]
) -> None:
    tasks = [task(n, chosen(n, 5, label)) for n, label in enumerate(labels, 1)]
    import_file(fluency, written(tmp_path, *tasks), controls={"verdict": "FL"})
    assert list(rated(fluency).values()) == numbers


@pytest.mark.parametrize(
    "labels",
    [["1 - poor", "good"], ["4 - good", "4: also good"], ["2 of 3 claims", "1 of 3 claims"]],
)
def test_choices_whose_numbers_are_not_clear_are_refused(
    fluency: Study, tmp_path: Path, labels: list[str]
) -> None:
    tasks = [task(n, chosen(n, 5, label)) for n, label in enumerate(labels, 1)]
    with pytest.raises(InputError, match="which number is the choice"):
        import_file(fluency, written(tmp_path, *tasks), controls={"verdict": "FL"})


def test_choices_have_a_range_like_numbers(study: Study, tmp_path: Path) -> None:
    tasks = [task(n, chosen(n, 5, str(n))) for n in range(1, 6)]
    path = written(tmp_path, *tasks)
    with pytest.raises(InputError, match=r"all 5 values of the control 'verdict' are between"):
        import_file(study, path, controls={"verdict": "AC"})
    import_file(study, path, controls={"verdict": "AC"}, ranges={"verdict": (1, 5)})
    assert list(rated(study).values()) == [0, 25, 50, 75, 100]


def test_choices_of_a_region_are_refused(study: Study, tmp_path: Path) -> None:
    of_region = chosen(1, 5, "good")
    of_region["result"][0]["value"] |= {"start": 0, "end": 4, "text": "Answ"}
    with pytest.raises(InputError, match="'verdict' rates a region"):
        import_file(
            study,
            written(tmp_path, task(1, of_region)),
            controls={"verdict": "AC"},
            values={"good": 1},
        )


def test_choices_are_imported_by_the_command(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, chosen(1, 5, "a=b")))
    words = [str(study.folder), str(path), "--control", "verdict=AC", "--value"]
    done = CliRunner().invoke(import_, [*words, "a=b=70"])
    assert done.exit_code == 0, done.output
    assert rated(study) == {("1", "ls-5"): 70}
    wrong = CliRunner().invoke(import_, [*words, "a=good"])
    assert "write CHOICE=NUMBER, such as good=1" in wrong.output


def test_settings_may_name_controls_of_other_exports(tmp_path: Path) -> None:
    settings = FLUENCY + '[label_studio]\ncontrols = { other = "FL", quality = "FL" }\n'
    study = Study.create(tmp_path / "own", settings)
    import_file(study, written(tmp_path, task(1, annotation(1, 5, quality=4))))
    assert values(study) == {"ls-5": 4}
    study.close()


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("a=b", "--control a=b=CONSTRUCT"),
        ('Wie gut? (1=a) "x"', "--control 'Wie gut? (1=a) \"x\"=CONSTRUCT'"),
        ("Note: é", "--control 'Note: é=CONSTRUCT'"),
    ],
    ids=["equals", "quotes", "colon"],
)
def test_a_control_of_any_name_can_be_mapped(
    study: Study, tmp_path: Path, name: str, remedy: str
) -> None:
    path = written(tmp_path, task(1, {**annotation(1, 5), "result": [result(name, "number", 7)]}))
    command = [str(study.folder), str(path)]
    asked = CliRunner().invoke(import_, command)
    assert remedy in str(asked.exception)
    left = CliRunner().invoke(import_, [*command, "--control", f"{name}="])
    assert f"results of the control {name!r} (1)" in left.output
    done = CliRunner().invoke(import_, [*command, "--control", f"{name}=AC"])
    assert done.exception is None, done.output
    assert values(study) == {"ls-5": 7}


def test_a_name_with_a_lone_surrogate_gives_no_traceback(study: Study, tmp_path: Path) -> None:
    annotated = {**annotation(1, 5), "result": [result("\ud800", "number", 7)]}
    with pytest.raises(InputError, match="which construct") as caught:
        import_file(study, written(tmp_path, task(1, annotated)))
    str(caught.value).encode()


@pytest.mark.parametrize("odd", [8, 0, 4.5], ids=["beyond", "none", "half"])
def test_stars_are_five_only_where_the_file_agrees(
    fluency: Study, tmp_path: Path, odd: float
) -> None:
    good = task(1, stars(1, 5, 2), stars(2, 6, 5))
    most = "10" if odd > 5 else "5"
    with pytest.raises(InputError, match=rf"row 2: .* of {odd} stars.*--scale stars=1:{most};"):
        import_file(
            fluency,
            written(tmp_path, good, task(2, stars(3, 7, odd))),
            controls={"stars": "FL"},
        )
    import_file(fluency, written(tmp_path, good), controls={"stars": "FL"})
    assert values(fluency) == {"ls-5": 2, "ls-6": 5}


def test_a_fraction_of_a_star_is_missing_on_a_declared_range(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, stars(1, 5, 4), stars(2, 6, 2.5)))
    done = import_file(study, path, controls={"stars": "AC"}, ranges={"stars": (1, 5)})
    assert values(study) == {"ls-5": 75}
    assert [rule for rule in done.rules if "2.5 is not a point of the scale 1 to 5" in rule]


@pytest.mark.parametrize(
    ("ends", "values", "expected"),
    [((0, 8), [0, 2, 8], [1, 2, 5]), ((0, 10), [0, 5, 10], [1, 3, 5]), ((1, 3), [1, 2], [1, 3])],
    ids=["halves-unused", "ends-and-middle", "coarser"],
)
def test_values_that_fall_on_points_are_mapped(
    fluency: Study, tmp_path: Path, ends: tuple[float, float], values: Any, expected: Any
) -> None:
    tasks = [task(number, annotation(number, 5, q=value)) for number, value in enumerate(values, 1)]
    import_file(fluency, written(tmp_path, *tasks), controls={"q": "FL"}, ranges={"q": ends})
    assert fluency.score_table()["value"].tolist() == expected


def test_a_range_that_misses_the_points_is_refused(fluency: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, annotation(1, 5, q=5)), task(2, annotation(2, 5, q=7)))
    with pytest.raises(InputError, match=r"row 2: .*7 on 0 to 10: 3\.8 is not a point.*steps of 1"):
        import_file(fluency, path, controls={"q": "FL"}, ranges={"q": (0, 10)})


def test_a_value_that_misses_the_points_is_missing(fluency: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, annotation(1, 5, q=3), annotation(2, 6, q=2.5)))
    done = import_file(fluency, path, controls={"q": "FL"}, ranges={"q": (0, 4)})
    assert values(fluency) == {"ls-5": 4}
    scores = fluency.score_table().set_index("scorer")
    assert scores["missing_reason"].dropna().to_dict() == {"ls-6": "out_of_range"}
    assert [rule for rule in done.rules if "2.5 on 0 to 4: 3.5 is not a point" in rule]


def test_numbers_of_a_tenth_of_the_scale_are_refused(study: Study, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        *(task(n, annotation(n, 5, QR=n, AC=10 * n, CC=80 + n % 2)) for n in range(1, 11)),
    )
    with pytest.raises(
        InputError, match="all 10 values of the control 'QR' are between 0 and 10"
    ) as refused:
        import_file(study, path)
    (fault,) = refused.value.faults
    assert "--scale QR=LOW:HIGH" in fault.remedy
    assert "--scale QR=0:100" in fault.remedy
    assert len(study.score_table()) == 0
    import_file(study, path, ranges={"QR": (0, 100)})
    scores = study.score_table().groupby("construct")["value"].max().to_dict()
    assert scores == {"QR": 10, "AC": 100, "CC": 81}


def test_an_import_with_a_corrected_scale_replaces_the_first(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, annotation(1, 5, a=4)), task(2, annotation(2, 5, a=2)))
    for high, expected in ((10, [40, 20]), (5, [80, 40]), (10, [40, 20])):
        done = import_file(study, path, controls={"a": "AC"}, ranges={"a": (0, high)})
        assert study.score_table()["value"].tolist() == expected
        assert done.added["scores"] == 2
    assert done.rules[CORRECTED] == 2
    again = import_file(study, path, controls={"a": "AC"}, ranges={"a": (0, 10)})
    assert again.imported_before is not None


@pytest.mark.parametrize("region", [{"start": 0, "end": 3}, {}], ids=["region", "item"])
def test_a_rating_of_a_region_is_not_one_of_the_response(
    study: Study, tmp_path: Path, region: dict[str, int]
) -> None:
    annotated = annotation(1, 5, QR=80)
    part = result("stars", "rating", 2)
    part["value"] |= region
    annotated["result"].append(part if region else {**part, "item_index": 0})
    path = written(tmp_path, task(7, annotation(2, 5, QR=70)), task(8, annotated))
    for mapped in ({"stars": "AC"}, {}):
        with pytest.raises(
            InputError, match=r"row 2: task 8: the control 'stars' rates a region .* --control st"
        ):
            import_file(study, path, controls=mapped, ranges={"stars": (1, 5)} if mapped else None)
    assert unmapped_controls(study, path) == []
    import_file(study, path, controls={"stars": ""})
    assert study.score_table()["construct"].tolist() == ["QR", "QR"]


def test_where_most_values_miss_the_points_the_range_is_wrong(
    fluency: Study, tmp_path: Path
) -> None:
    path = written(
        tmp_path, *(task(n, annotation(n, 5, f=value)) for n, value in enumerate([0, 0.2, 0.7]))
    )
    with pytest.raises(InputError, match=r"row 2: .*'f' are not points of FL.*0\.2"):
        import_file(fluency, path, controls={"f": "FL"}, ranges={"f": (0, 1)})


def compared(number: int, user: int, *sides: Any, **ids: Any) -> dict[str, Any]:
    results = [
        {"from_name": "side", "to_name": "a,b", "type": "pairwise", "value": {"selected": side}}
        for side in sides
    ]
    annotated = {**annotation(number, user), "result": results}
    ids = {"query_id": "q1", "response_a": "x", "response_b": "y", **ids}
    return {"id": number, "data": {"prompt": "Which?", **ids}, "annotations": [annotated]}


@pytest.fixture
def with_responses(study: Study, tmp_path: Path) -> Study:
    """Return a study with the responses x and y to one query."""
    file = tmp_path / "responses.csv"
    file.write_text("query_id,query,response_id,response\nq1,Why?,x,So.\nq1,Why?,y,Because.\n")
    import_file(study, file)
    return study


def test_comparisons_are_preferences(with_responses: Study, tmp_path: Path) -> None:
    skipped = compared(4, 8)
    skipped["annotations"][0]["was_cancelled"] = True
    path = written(
        tmp_path, compared(1, 5, "left"), compared(2, 6, "right"), compared(3, 7, "both"), skipped
    )
    import_file(with_responses, path, controls={"side": "QR"})
    table = with_responses.preference_table().set_index("scorer")
    assert table["value"].dropna().to_dict() == {"ls-5": -1, "ls-6": 1}
    reasons = table["missing_reason"].dropna().to_dict()
    assert reasons == {"ls-7": "no_number", "ls-8": "skipped"}
    assert set(table["response_a"]) == {"x"}
    assert set(table["scorer_kind"]) == {"human"}
    assert not len(with_responses.score_table())
    again = import_file(with_responses, path, controls={"side": "QR"})
    assert again.imported_before is not None


def test_comparisons_of_unknown_responses_are_refused(
    with_responses: Study, tmp_path: Path
) -> None:
    nameless = compared(1, 5, "left")
    del nameless["data"]["response_b"]
    with pytest.raises(InputError, match=r"task 1 does not name the responses.*response_b"):
        import_file(with_responses, written(tmp_path, nameless), controls={"side": "QR"})
    path = written(tmp_path, compared(1, 5, "left", response_b=" "))
    with pytest.raises(InputError, match="column response_b: is blank"):
        import_file(with_responses, path, controls={"side": "QR"})
    path = written(tmp_path, compared(1, 5, "left", response_b="z"))
    with pytest.raises(InputError, match="z"):
        import_file(with_responses, path, controls={"side": "QR"})
    # Without a construct they are left out, as choices are.
    path = written(tmp_path, compared(1, 5, "left"))
    assert "results of the control 'side'" in str(import_file(with_responses, path).left_out)


ITEMS = [{"id": f"i{n}", "body": f"Text {n}.", "model": f"m{n}"} for n in range(3)]


def ranking(number: int, user: int, groups: Any) -> dict[str, Any]:
    return {**annotation(number, user), "result": [result("rank", "ranker", groups)]}


def preferences(study: Study) -> dict[tuple[str, str, str], float]:
    rows = study.preference_table()
    return {
        (row.scorer, row.response_a[-1], row.response_b[-1]): row.value for row in rows.itertuples()
    }


def test_a_ranking_is_all_preferences_of_its_pairs(study: Study, tmp_path: Path) -> None:
    skipped = {**annotation(4, 8), "was_cancelled": True, "result": []}
    odd = ranking(3, 7, {"rank": ["i2", "i2", "i0"]})
    first = ranking(1, 5, {"rank": ["i2", "i0", "i1"]})
    of_task = task(1, first, ranking(2, 6, {"rank": ["i1", "i2"]}), odd, skipped, replies=ITEMS)
    path = written(tmp_path, of_task)
    columns = {"replies": "items", "model": "system"}
    done = import_file(study, path, controls={"rank": "AC"}, columns=columns)
    table = study.preference_table()
    assert {(r.scorer, r.response_a[-1], r.response_b[-1]): r.value for r in table.itertuples()
            if r.value == r.value} == {
        ("ls-5", "0", "1"): -1, ("ls-5", "0", "2"): 1, ("ls-5", "1", "2"): 1,
        ("ls-6", "1", "2"): -1,
    }  # fmt: skip
    missing = (
        table[table["value"].isna()].groupby("scorer")["missing_reason"].agg(["first", "size"])
    )
    assert missing.to_dict("index") == {
        "ls-7": {"first": "out_of_range", "size": 3}, "ls-8": {"first": "skipped", "size": 3},
    }  # fmt: skip
    # The task has a response of its own beside the three that were ranked.
    assert (done.added["responses"], done.added["outputs"]) == (4, 3)


def test_items_of_one_bucket_are_tied(study: Study, tmp_path: Path) -> None:
    groups = {"best": ["i1"], "rest": ["i0", "i2"], "_": []}
    path = written(tmp_path, task(1, ranking(1, 5, groups), items=ITEMS))
    with pytest.raises(InputError, match="which number is the choice 'best'"):
        import_file(study, path, controls={"rank": "AC"})
    import_file(study, path, controls={"rank": "AC"}, values={"best": 1, "rest": 0})
    assert preferences(study) == {
        ("ls-5", "0", "1"): 1, ("ls-5", "0", "2"): 0, ("ls-5", "1", "2"): -1,
    }  # fmt: skip


def test_a_ranking_of_nothing_is_refused(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, task(1, ranking(1, 5, {"rank": ["i0", "i1"]})))
    with pytest.raises(InputError, match="does not have the list that was ranked"):
        import_file(study, path, controls={"rank": "AC"})


def test_texts_of_a_comparison_are_imported(study: Study, tmp_path: Path) -> None:
    made = {**annotation(1, 5), "result": [result("better", "pairwise", None)]}
    made["result"][0]["value"] = {"selected": "right"}
    data = {"question": "Q?", "left": "One.", "right": "Two.", "system_a": "x", "system_b": "y"}
    path = written(tmp_path, {"id": 1, "data": data, "annotations": [made]})
    import_file(
        study, path, controls={"better": "AC"}, columns={"left": "text_a", "right": "text_b"}
    )
    (row,) = study.preference_table().itertuples()
    assert (row.response_a, row.response_b, row.value) == ("task-1/a", "task-1/b", 1)


def test_nested_choices_are_named_by_their_path(study: Study, tmp_path: Path) -> None:
    made = {**annotation(1, 5), "result": [result("verdict", "choices", [["good", "very"]])]}
    path = written(tmp_path, task(1, made))
    import_file(study, path, controls={"verdict": "AC"}, values={"good/very": 90})
    assert study.score_table()["value"].tolist() == [90]

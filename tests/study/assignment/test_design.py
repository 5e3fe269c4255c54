"""What `[design]` asks for is what is stored: sample, overlap, languages, layout, rounds."""

from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sqlalchemy import insert, select, update

from study import Study
from study.assignment.assignment_summary import Assigned
from study.assignment.planner import assign
from study.errors import StudyError
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, ScoreRow
from study.schema import now
from study.schema.tables import (
    assignments,
    comparisons,
    departures,
    queries,
    rater_answers,
    raters,
)
from tests.conftest import examples
from tests.study.assignment.test_planner import fill, rows


def by_purpose(study: Study, purpose: str) -> list[Any]:
    return [row for row in rows(study) if row.purpose == purpose]


def queries_of(assignments: list[Any]) -> dict[str, set[int]]:
    queries: dict[str, set[int]] = defaultdict(set)
    for row in assignments:
        queries[row.code].add(row.query_id)
    return queries


def same_but_stored(plan: Assigned, done: Assigned) -> bool:
    return replace(plan, stored=True) == done


def test_a_sample_is_stored_with_its_probability_and_stratum(any_study: Study) -> None:
    for domain, count in (("law", 6), ("medicine", 3)):
        fill(any_study, count, query_id_of=domain, attributes={"domain": domain})
    options: dict[str, Any] = {"per_item": 2, "sample": 3, "strata": ["domain"]}
    plan = assign(any_study, 3, **options, dry_run=True)
    assert same_but_stored(plan, assign(any_study, 3, **options))
    assert {(s.stratum, s.units, s.drawn, s.probability) for s in plan.sample} == {
        ("domain=law", 6, 2, 2 / 6),
        ("domain=medicine", 3, 1, 1 / 3),
    }
    stored = {(row.stratum, row.inclusion_prob) for row in rows(any_study)}
    assert stored == {("domain=law", 2 / 6), ("domain=medicine", 1 / 3)}
    assert len(rows(any_study)) == 3 * 2 * 2


def test_a_larger_sample_keeps_what_is_there_and_updates_its_probability(any_study: Study) -> None:
    fill(any_study, 12)
    assign(any_study, 4, per_item=2, sample=3, repeats=0.4)
    before = {row.public_id: row for row in rows(any_study)}
    assert {row.inclusion_prob for row in before.values()} == {3 / 12}
    done = assign(any_study, 4, per_item=2, sample=6, repeats=0.4)
    assert done.updated == len(before)
    after = {row.public_id: row for row in rows(any_study)}
    for name, row in before.items():
        now_ = after[name]
        assert now_.inclusion_prob == 6 / 12
        for column in ("rater_id", "response_id", "construct_keys", "position", "layout"):
            assert getattr(now_, column) == getattr(row, column)
    assert {row.inclusion_prob for row in after.values()} == {6 / 12}
    assert assign(any_study, 4, per_item=2, sample=6, repeats=0.4).anything is False
    # Fewer are not taken back.
    assert assign(any_study, 4, per_item=2, sample=2, repeats=0.4).anything is False


def test_new_queries_enlarge_the_population(study: Study) -> None:
    fill(study, 10)
    assign(study, 2, per_item=1, sample=5)
    fill(study, 20)
    done = assign(study, 2, per_item=1, sample=5)
    drawn = {row.query_id for row in rows(study)}
    assert {row.inclusion_prob for row in rows(study)} == {len(drawn) / 20}
    assert len(drawn) >= 5
    assert (len(drawn) > 5) == any("smaller" in note for note in done.notes)


def test_responses_are_drawn_by_system_and_judge_score(study: Study) -> None:
    fill(study, 20, systems=2)
    scores = [
        LocatedRow(
            n,
            ScoreRow(
                query_id=f"q{n // 2}",
                system=f"s{n % 2}",
                construct_key="QR",
                scorer="robot",
                scorer_kind="judge",
                value=float(n * 2),
            ),
        )
        for n in range(40)
    ]
    import_rows(study, scores, source="s", sha256="2", importer="scores")
    with pytest.raises(StudyError, match="go together"):
        assign(study, 2, per_item=1, sample=8, strata=["judge_score"])
    path = study.folder / "study.toml"
    path.write_text("[design]\nsample_of = 'responses'\nstrata = ['judge_score']\nbands = [40]\n")
    study = Study.open(study.folder)
    done = assign(study, 2, per_item=1, sample=8)
    assert {s.stratum: (s.units, s.drawn) for s in done.sample} == {
        "judge_score=below 40, system=s0": (10, 2),
        "judge_score=below 40, system=s1": (10, 2),
        "judge_score=from 40, system=s0": (10, 2),
        "judge_score=from 40, system=s1": (10, 2),
    }
    assert {row.inclusion_prob for row in rows(study)} == {0.2}
    study.close()


def test_the_judge_of_the_bands_must_be_there(study: Study) -> None:
    fill(study, 3)
    path = study.folder / "study.toml"
    path.write_text("[design]\nsample_of = 'responses'\nstrata = ['judge_score']\nbands = [40]\n")
    study = Study.open(study.folder)
    with pytest.raises(StudyError, match=r"0 judges; name in design\.judge"):
        assign(study, 2, per_item=1)
    study.close()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
def test_a_share_of_the_queries_has_several_raters(study: Study, share: float) -> None:
    fill(study, 20)
    assign(study, 4, per_item=3, overlap=share)
    raters = Counter(query for mine in queries_of(rows(study)).values() for query in mine)
    assert Counter(raters.values()) == Counter(
        {3: round(20 * share), 1: 20 - round(20 * share)}
    ) - Counter({3: 0, 1: 0})
    loads = [len(mine) for mine in queries_of(rows(study)).values()]
    assert max(loads) - min(loads) <= 1
    assert assign(study, 4, per_item=3, overlap=share).assignments == 0


def with_settings(folder: Path, settings: str) -> Study:
    return Study.create(folder, settings)


def test_the_reading_hours_of_all_purposes_add_up(study: Study) -> None:
    fill(study, 40)
    done = assign(study, 3, per_item=2, repeats=0.2, checks=1, calibration=1)
    for load in done.raters:
        assert load.hours_by_purpose.keys() == {"main", "calibration", "check", "repeat"}
        assert min(load.hours_by_purpose.values()) > 0
        assert load.hours == pytest.approx(sum(load.hours_by_purpose.values()))


def test_languages_are_obeyed_and_what_nobody_reads_is_named(tmp_path: Path) -> None:
    settings = '[raters."anna"]\nlanguages = ["de-AT"]\n[raters."ben"]\nlanguages = ["en", "de"]\n'
    study = with_settings(tmp_path / "s", settings)
    for language in ("de", "en-GB", "fr"):
        fill(study, 4, query_id_of=language, attributes={"language": language})
    fill(study, 4, query_id_of="none")
    done = assign(study, ["anna", "ben"], per_item=1)
    keys = keys_of(study)
    given_to = {code: {keys[q].split("-")[0] for q in mine}
                for code, mine in queries_of(rows(study)).items()}  # fmt: skip
    assert given_to["anna"] <= {"de", "none"}
    assert given_to["ben"] <= {"de", "en", "none"}
    (over,) = done.left_over
    assert (over.reason, len(over.queries)) == ("too few raters read fr", 4)
    # Somebody who said nothing takes everything.
    assert assign(study, ["anna", "ben", "cara"], per_item=1).left_over == []
    both = assign(study, ["anna", "ben", "cara"], per_item=3)
    assert {rest.reason for rest in both.left_over} == {
        "too few raters read en",
        "too few raters read fr",
    }
    study.close()


def keys_of(study: Study) -> dict[int, str]:
    with study.read() as connection:
        return {row.id: row.key for row in connection.execute(select(queries.c.id, queries.c.key))}


def test_everybody_has_the_calibration_and_nobody_rates_it_otherwise(any_study: Study) -> None:
    fill(any_study, 10)
    done = assign(any_study, 3, per_item=2, calibration=2)
    mine = queries_of(by_purpose(any_study, "calibration"))
    (queries,) = {frozenset(queries) for queries in mine.values()}
    assert (len(mine), len(queries)) == (3, 2)
    assert not queries & {row.query_id for row in by_purpose(any_study, "main")}
    assert done.further == {"calibration": 12}
    assert {row.inclusion_prob for row in by_purpose(any_study, "calibration")} == {1.0}
    assert {row.inclusion_prob for row in by_purpose(any_study, "main")} == {0.8}
    for code in mine:
        first = [row.purpose for row in rows(any_study) if row.code == code]
        assert first[:4] == ["calibration"] * 4
    # Who comes later has the same.
    assign(any_study, 4, per_item=2, calibration=2)
    assert queries_of(by_purpose(any_study, "calibration"))["rater-4"] == queries
    assert assign(any_study, 4, per_item=2, calibration=2).anything is False


def test_probabilities_are_those_of_the_languages_that_calibration_is_in(tmp_path: Path) -> None:
    study = with_settings(tmp_path / "s", '[raters."anna"]\nlanguages = ["en"]\n')
    for language in ("de", "en"):
        fill(study, 6, query_id_of=language, attributes={"language": language})
    done = assign(study, ["anna", "ben", "cara"], per_item=1, calibration=3)
    assert done.sample[0].probability is None
    keys = keys_of(study)
    chances = {"de": {1.0}, "en": {3 / 6}}
    for _ in range(2):
        stored: dict[str, set[float]] = defaultdict(set)
        for row in by_purpose(study, "main"):
            stored[keys[row.query_id].split("-")[0]].add(row.inclusion_prob)
        assert stored == chances
        # They stay when those to be given work next read everything.
        assert assign(study, ["ben", "dora"], per_item=1, calibration=3).updated == 0
    study.close()


def test_repeats_are_a_share_of_each_raters_queries(any_study: Study) -> None:
    fill(any_study, 20)
    assign(any_study, 2, per_item=1, repeats=0.3)
    again = by_purpose(any_study, "repeat")
    assert {code: len(mine) for code, mine in queries_of(again).items()} == {
        "rater-1": 3,
        "rater-2": 3,
    }
    assert {row.repeat for row in again} == {1}
    main = queries_of(by_purpose(any_study, "main"))
    for row in again:
        assert row.query_id in main[row.code]
        assert row.position > max(r.position for r in rows(any_study)
                                  if r.code == row.code and r.purpose == "main")  # fmt: skip
    assert assign(any_study, 2, per_item=1, repeats=0.3).anything is False
    assign(any_study, 2, per_item=1, repeats=0.5)
    assert (
        set(queries_of(again)["rater-1"]) < queries_of(by_purpose(any_study, "repeat"))["rater-1"]
    )


def orders_of(assignments: list[Any]) -> dict[tuple[str, int, int], list[int]]:
    """Return rater, query and round to the responses in order."""
    orders: dict[tuple[str, int, int], list[int]] = defaultdict(list)
    for row in sorted(assignments, key=lambda row: (row.position, row.public_id)):
        orders[row.code, row.query_id, row.round].append(row.response_id)
    return orders


@pytest.mark.parametrize("one_construct_a_pass", [False, True], ids=["together", "in passes"])
@pytest.mark.parametrize("systems", [2, 3])
def test_repeats_come_in_the_opposite_order(
    study: Study, systems: int, one_construct_a_pass: bool
) -> None:
    fill(study, 12, systems=systems, response_of_six=True)
    options: dict[str, Any] = {"per_item": 2, "checks": 1}
    options["one_construct_a_pass"] = one_construct_a_pass
    assign(study, 3, **options, repeats=0.3)
    # Some of what is repeated was assigned before.
    assign(study, 3, **options, repeats=1.0)
    first, again = (orders_of(by_purpose(study, name)) for name in ("main", "repeat"))
    assert len(again) == len(first)
    for name, order in again.items():
        assert order == first[name][::-1]


def test_a_repeat_of_work_that_was_assigned_in_parts_is_whole(study: Study) -> None:
    fill(study, 3, systems=2)
    assign(study, ["anna"], per_item=1, constructs=["QR"])
    assign(study, ["anna"], per_item=1, one_construct_a_pass=True)
    fill(study, 3, systems=3)
    assign(study, ["anna"], per_item=1, repeats=1.0)
    first, again = (
        Counter((r.response_id, key) for r in by_purpose(study, name) for key in r.construct_keys)
        for name in ("main", "repeat")
    )
    assert first == again
    assert set(first.values()) == {1}


def test_one_construct_a_pass_has_a_row_and_a_round_for_each(any_study: Study) -> None:
    fill(any_study, 6)
    assign(any_study, 4, per_item=2, one_construct_a_pass=True)
    assignments = rows(any_study)
    assert all(len(row.construct_keys) == 1 for row in assignments)
    assert len(assignments) == 6 * 2 * 2 * 5
    orders = set()
    for code in {row.code for row in assignments}:
        rounds = {(row.round, row.construct_keys[0]) for row in assignments if row.code == code}
        order = [key for _, key in sorted(rounds)]
        orders.add(tuple(order))
        assert order[0] == "QR"
        assert set(order[1:3]) == {"CC", "ID"}
        assert set(order[3:]) == {"AC", "IR"}
        assert [place for place, _ in sorted(rounds)] == [0, 1, 2, 3, 4]
        by_position = [row.round for row in sorted(
            (r for r in assignments if r.code == code), key=lambda r: r.position)]  # fmt: skip
        assert by_position == sorted(by_position)
    assert len(orders) > 1
    assert assign(any_study, 4, per_item=2, one_construct_a_pass=True).assignments == 0


def test_a_query_stays_in_the_layout_that_its_rater_has_it_in(study: Study) -> None:
    fill(study, 4, systems=1)
    assign(study, 2, per_item=1)
    fill(study, 8, systems=2)
    assign(study, 2, per_item=1, layout="side_by_side", repeats=0.5)
    layouts: dict[tuple[str, int], set[str]] = defaultdict(set)
    for row in rows(study):
        layouts[row.code, row.query_id].add(row.layout)
    assert all(len(those) == 1 for those in layouts.values())
    assert Counter(next(iter(those)) for those in layouts.values()) == {
        "single": 4,
        "side_by_side": 4,
    }


def test_what_was_taken_back_unfinished_is_given_to_somebody_else(any_study: Study) -> None:
    fill(any_study, 2, systems=1)
    assign(any_study, ["anna"], per_item=1, constructs=["QR"])
    first, second = rows(any_study)
    with any_study.write() as connection:
        connection.execute(
            insert(rater_answers).values(
                assignment_id=first.id,
                construct_key="QR",
                construct_version=1,
                revision=1,
                value=80.0,
                status="rated",
                revealed=[],
                channel="own",
                config_hash="0",
            )
        )
        connection.execute(update(assignments).values(released_at=now()))
    with pytest.raises(StudyError, match="0 of the 1 named are available"):
        assign(any_study, ["anna"], per_item=1, constructs=["QR"])
    done = assign(any_study, ["anna", "ben"], per_item=1, constructs=["QR"])
    assert {load.rater: load.new_responses for load in done.raters} == {"anna": 0, "ben": 1}
    (new,) = [row for row in rows(any_study) if row.code == "ben"]
    assert (new.response_id, new.replaces_id) == (second.response_id, second.id)
    assert assign(any_study, ["anna", "ben"], per_item=1, constructs=["QR"]).assignments == 0


def test_who_has_left_is_given_nothing(study: Study) -> None:
    fill(study, 4)
    assign(study, ["anna", "ben"], per_item=1)
    with study.write() as connection:
        anna = connection.execute(select(raters.c.id).where(raters.c.code == "anna")).scalar_one()
        connection.execute(insert(departures).values(rater_id=anna, kind="withdrew"))
    fill(study, 8)
    assert [load.rater for load in assign(study, per_item=1).raters] == ["ben"]
    with pytest.raises(StudyError, match="'anna' has left"):
        assign(study, ["anna"], per_item=1)


def test_pairs_are_compared_beside_the_ratings_or_instead(tmp_path: Path) -> None:

    for name, included in (("both", "true"), ("pairs", "false")):
        settings = f"[design]\ncomparisons = 0.5\nratings = {included}\n"
        study = with_settings(tmp_path / name, settings)
        fill(study, 8, systems=3)
        plan = assign(study, 2, per_item=1, dry_run=True)
        done = assign(study, 2, per_item=1)
        assert same_but_stored(plan, done)
        assert done.comparisons is not None
        with study.read() as connection:
            stored = connection.execute(select(comparisons)).all()
        assert len(stored) == done.comparisons.comparisons > 0
        assert bool(rows(study)) == (included == "true")
        study.close()


def test_slots_have_the_design_too(any_study: Study) -> None:
    fill(any_study, 10)
    done = assign(
        any_study,
        per_item=2,
        open_slots=True,
        sample=4,
        layout="side_by_side",
        one_construct_a_pass=True,
    )
    assert done.open_slots == 4 * 2 * 2 * 5
    assert {(row.layout, row.inclusion_prob) for row in rows(any_study)} == {("side_by_side", 0.4)}
    assert {row.round for row in rows(any_study)} == {0, 1, 2, 3, 4}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"overlap": 2}, "overlap = 2: Input should be less than or equal to 1"),
        ({"sample": 3, "strata": ["system"]}, 'set sample_of = "responses"'),
        ({"strata": ["colour"]}, "no query has the attribute 'colour'"),
        ({"cheks": 3}, r"no option 'cheks'. Did you mean 'checks'\?"),
    ],
    ids=["overlap", "system of queries", "unknown attribute", "unknown option"],
)
def test_a_design_that_cannot_be_is_refused(
    study: Study, options: dict[str, Any], message: str
) -> None:
    fill(study, 2)
    with pytest.raises(StudyError, match=message):
        assign(study, 3, **options)


@given(
    queries=st.integers(2, 9),
    raters=st.integers(1, 4),
    sample=st.none() | st.integers(1, 9),
    more=st.integers(0, 4),
    design=st.fixed_dictionaries(
        {
            "overlap": st.sampled_from([0.0, 0.4, 1.0]),
            "calibration": st.integers(0, 2),
            "checks": st.integers(0, 2),
            "repeats": st.sampled_from([0.0, 0.5]),
            "one_construct_a_pass": st.booleans(),
        }
    ),
    sample_of=st.sampled_from(["queries", "responses"]),
)
@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_plan_is_balanced_seeded_and_extended_without_disturbing(
    tmp_path_factory: Any,
    queries: int,
    raters: int,
    sample: int | None,
    more: int,
    design: dict[str, Any],
    sample_of: str,
) -> None:
    settings_of_study = f"[design]\nsample_of = {sample_of!r}\n"
    study = Study.create(tmp_path_factory.mktemp("any") / "s", settings_of_study)
    fill(study, queries, response_of_six=True)
    options = {"per_item": min(raters, 2), "sample": sample, **design}
    # Where they have no effect, they are refused.
    if raters == 1:
        options["overlap"] = 1.0
    plan = assign(study, raters, **options, dry_run=True)
    done = assign(study, raters, **options)
    assert same_but_stored(plan, done)
    before = rows(study)
    _sound(study, done, options)
    fill(study, queries + more, response_of_six=True)
    wider = options | {"sample": sample and sample + more}
    _sound(study, assign(study, raters + 1, **wider), wider)
    after = {row.id: row for row in rows(study)}
    for row in before:
        kept = {k: v for k, v in row._mapping.items() if k not in {"inclusion_prob", "stratum"}}
        assert kept == {k: v for k, v in after[row.id]._mapping.items() if k in kept}
    study.close()


def _sound(study: Study, done: Assigned, options: dict[str, Any]) -> None:
    assignments = rows(study)
    # Nobody has the same twice, apart from repeats.
    seen = Counter(
        (row.code, row.response_id, row.repeat, key)
        for row in assignments
        for key in row.construct_keys
    )
    assert set(seen.values()) <= {1}
    raters: Counter[tuple[int, str]] = Counter()
    for row in assignments:
        if row.purpose == "main":
            raters.update((row.response_id, key) for key in row.construct_keys)
    assert max(raters.values(), default=0) <= options["per_item"]
    calibration = {row.query_id for row in assignments if row.purpose == "calibration"}
    assert not calibration & {row.query_id for row in assignments if row.purpose == "main"}
    for code in {row.code for row in assignments}:
        checks = {r.query_id for r in assignments if r.code == code and r.purpose == "check"}
        assert len(checks) <= options["checks"]
    for row in assignments:
        assert 0 < row.inclusion_prob <= 1
        if row.purpose not in {"main", "repeat"}:
            assert (row.inclusion_prob, row.stratum) == (1.0, None)

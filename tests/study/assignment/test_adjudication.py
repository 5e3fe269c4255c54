"""Adjudication: the widest for certain, the others at random with a probability that is true."""

import json
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import delete, insert, select, update

from study import Study
from study.assignment.adjudication import Adjudication, adjudicate
from study.assignment.adjudication_sample import drawn
from study.cli import assignment_commands
from study.cli.root import cli
from study.errors import StudyError
from study.schema import now
from study.schema.tables import (
    assignments,
    departures,
    rater_answers,
    raters,
    responses,
    scorer_answers,
)
from tests.annotate_ui.rated_campaign import fill, give


def rated(study: Study, values: dict[str, list[float]], keys: tuple[str, ...] = ("QR",)) -> None:
    """Let raters give these values to the responses in order, on each construct."""
    for code, of_rater in values.items():
        rater_id = give(study, code, keys=keys)
        with study.write() as connection:
            ids = connection.execute(
                select(assignments.c.id)
                .where(assignments.c.rater_id == rater_id)
                .order_by(assignments.c.response_id)
            ).scalars()
            rows = [
                {
                    "assignment_id": assignment,
                    "construct_key": key,
                    "construct_version": 1,
                    "revision": 1,
                    "value": value,
                    "status": "rated",
                    "channel": "own",
                    "config_hash": study.config_hash,
                    "created_at": now(),
                }
                for assignment, value in zip(ids, of_rater, strict=False)
                for key in keys
            ]
            connection.execute(insert(rater_answers), rows)


def assigned(study: Study, rater: str = "dora") -> list[Any]:
    with study.read() as connection:
        return list(
            connection.execute(
                select(assignments, responses.c.key, responses.c.query_id)
                .join_from(assignments, raters, assignments.c.rater_id == raters.c.id)
                .join(responses, assignments.c.response_id == responses.c.id)
                .where(raters.c.code == rater)
                .order_by(assignments.c.position)
            )
        )


def campaign(study: Study, queries: int = 10) -> None:
    """Two raters whose values lie apart by 2 more with each response."""
    fill(study, queries=queries, systems=2)
    count = 2 * queries
    rated(study, {"anna": [0.0] * count, "ben": [float(2 * i) for i in range(count)]})


def test_the_widest_are_taken_and_the_others_drawn_with_a_known_probability(
    any_study: Study,
) -> None:
    campaign(any_study)
    done = adjudicate(any_study, "dora", sample=6, widest=4)
    rows = assigned(any_study)
    # Responses 17 to 20 lie 32 to 38 points apart.
    assert done == Adjudication("dora", True, 20, 4, 6, 16, 6 / 16, 10, 0, 0, 0.32, ("QR",))
    by_stratum = {s: [row for row in rows if row.stratum == s] for s in ("widest", "random")}
    last = sorted(row.response_id for row in rows if row.stratum == "widest")
    assert last == [17, 18, 19, 20]
    assert {row.inclusion_prob for row in by_stratum["widest"]} == {1.0}
    assert {row.inclusion_prob for row in by_stratum["random"]} == {6 / 16}
    assert {row.purpose for row in rows} == {"adjudication"}
    assert [row.position for row in rows] == list(range(10))
    # The responses to a query come one after another.
    met = [row.query_id for row in rows]
    assert len([i for i in range(1, len(met)) if met[i] != met[i - 1]]) == len(set(met)) - 1


def test_a_plan_is_what_is_stored_and_storing_again_changes_nothing(any_study: Study) -> None:
    campaign(any_study)
    plan = adjudicate(any_study, "dora", sample=5, widest=2, dry_run=True)
    assert assigned(any_study) == []
    assert plan == replace(adjudicate(any_study, "dora", sample=5, widest=2), stored=False)
    before = assigned(any_study)
    again = adjudicate(any_study, "dora", sample=5, widest=2)
    assert (again.new, again.raised) == (0, 0)
    assert assigned(any_study) == before


def test_an_extension_keeps_what_is_there_and_brings_probabilities_up_to_date(
    any_study: Study,
) -> None:
    campaign(any_study)
    adjudicate(any_study, "dora", sample=4, widest=4)
    before = {row.id: row for row in assigned(any_study)}
    done = adjudicate(any_study, "dora", sample=8, widest=6)
    rows = {row.id: row for row in assigned(any_study)}
    assert before.keys() <= rows.keys()
    # A response that was drawn may be among the widest now; it is taken for certain then.
    random = [row for row in rows.values() if row.stratum == "random"]
    assert (done.widest, done.random, done.random_of) == (6, len(random), 14)
    assert {row.inclusion_prob for row in random} == {len(random) / 14}
    for id_, row in before.items():
        mutable = {"inclusion_prob", "stratum"}
        old, new = row._asdict(), rows[id_]._asdict()
        assert {k: old[k] for k in old.keys() - mutable} == {
            k: new[k] for k in new.keys() - mutable
        }


def test_whose_ratings_came_in_from_elsewhere_has_rated_them(study: Study) -> None:
    campaign(study)
    with study.write() as connection:
        connection.execute(
            insert(scorer_answers),
            [
                {
                    "response_id": response,
                    "construct_key": "QR",
                    "construct_version": 1,
                    "scorer": "dora",
                    "scorer_kind": "human",
                    "repeat": 0,
                    "value": 50.0,
                    "inclusion_prob": 1.0,
                }
                for response in range(1, 16)
            ],
        )
    done = adjudicate(study, "dora", sample=20)
    assert (done.already_assigned, done.random_of) == (15, 5)
    assert {row.response_id for row in assigned(study)} == {16, 17, 18, 19, 20}


def test_the_probability_of_a_sample_of_a_sample_is_the_product(study: Study) -> None:
    campaign(study)
    with study.write() as connection:
        connection.execute(update(assignments).values(inclusion_prob=0.25))
    done = adjudicate(study, "dora", sample=6, widest=4)
    assert done.inclusion_prob == 6 / 16
    strata = {(row.stratum, row.inclusion_prob) for row in assigned(study)}
    assert strata == {("widest", 0.25), ("random", 0.25 * 6 / 16)}


def test_with_new_responses_the_sample_stays_one_of_all(study: Study) -> None:
    campaign(study, 4)
    adjudicate(study, "dora", sample=4)
    drawn_before = {row.key for row in assigned(study)}
    fill(study, queries=10, systems=2)
    rated(study, {"cara": [50.0] * 20})
    done = adjudicate(study, "dora", sample=4)
    assert done.random_of == 20
    assert done.random >= 4
    assert drawn_before <= {row.key for row in assigned(study)}
    assert {row.inclusion_prob for row in assigned(study)} == {done.random / 20}


@pytest.mark.slow
def test_each_response_is_drawn_as_often_as_its_probability_says() -> None:
    import pandas as pd

    keys = [f"r{n}" for n in range(20)]
    frame = pd.DataFrame({"key": keys, "range": [n / 20 for n in range(20)], "query": 1})
    frame["sampled"] = 1.0
    counts = pd.Series(0, index=frame.index)
    seeds = 1000
    for seed in range(seeds):
        plan = drawn(frame, [], seed, 6, 4)
        counts[plan.index[plan["stratum"] == "random"]] += 1
    # Binomial(1000, 6/16) has a standard deviation of 15.3.
    assert counts[16:].eq(0).all()
    assert (counts[:16] - seeds * 6 / 16).abs().max() < 4 * 15.3


def test_who_was_given_a_response_to_rate_does_not_adjudicate_it(any_study: Study) -> None:
    fill(any_study, queries=3, systems=2)
    rated(any_study, {"anna": [10.0] * 6})
    ben = give(any_study, "ben")
    with any_study.write() as connection:
        connection.execute(
            delete(assignments).where(assignments.c.rater_id == ben, assignments.c.response_id > 2)
        )
    with pytest.raises(StudyError, match="assigned all 6 rated responses"):
        adjudicate(any_study, "anna", sample=1)
    done = adjudicate(any_study, "ben", sample=10)
    assert (done.already_assigned, done.rated, done.random) == (2, 4, 4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give 0 or more of each"),
        ({"sample": -1, "widest": 3}, "give 0 or more of each"),
        ({"sample": 2, "constructs": ["QRX"]}, "Did you mean 'QR'"),
        ({"sample": 2, "constructs": []}, "No construct is named"),
        ({"sample": 2, "constructs": ["AC"]}, "has no response with people's values"),
    ],
    ids=["nothing", "negative", "unknown-construct", "no-construct", "unrated-construct"],
)
def test_what_cannot_be_adjudicated_is_refused(
    study: Study, options: dict[str, Any], message: str
) -> None:
    campaign(study, 2)
    with pytest.raises(StudyError, match=message):
        adjudicate(study, "dora", **options)
    assert assigned(study) == []


def test_an_extension_is_for_the_same_constructs(study: Study) -> None:
    fill(study, queries=3, systems=2)
    rated(study, {"anna": [10.0] * 6, "ben": [20.0] * 6}, ("QR", "AC"))
    adjudicate(study, "dora", sample=2, constructs=["AC"])
    assert adjudicate(study, "dora", sample=4).constructs == ("AC",)
    assert {tuple(row.construct_keys) for row in assigned(study)} == {("AC",)}
    with pytest.raises(StudyError, match="adjudicates AC already"):
        adjudicate(study, "dora", sample=4, constructs=["QR"])


def test_one_persons_values_have_no_range_and_equal_ones_are_not_wide(study: Study) -> None:
    fill(study, queries=2, systems=2)
    rated(study, {"anna": [10.0] * 4, "ben": [10.0, 30.0]})
    done = adjudicate(study, "dora", sample=10, widest=3)
    assert (done.widest, done.random, done.inclusion_prob) == (1, 3, 1.0)


def test_who_has_left_adjudicates_nothing(study: Study) -> None:
    campaign(study, 2)
    adjudicate(study, "dora", sample=1)
    with study.write() as connection:
        dora = connection.execute(select(raters.c.id).where(raters.c.code == "dora")).scalar_one()
        connection.execute(
            insert(departures).values(rater_id=dora, kind="removed", created_at=now())
        )
    with pytest.raises(StudyError, match="'dora' has left"):
        adjudicate(study, "dora", sample=2)


def test_the_command_says_what_it_chose_and_what_comes_next(study: Study) -> None:
    campaign(study, 3)
    words = ["adjudicate", str(study.folder), "--rater", "dora", "--sample", "3"]
    plan = CliRunner().invoke(cli, [*words, "--widest", "2", "--dry-run"])
    assert "Widest ranges: 2 of 6 rated responses, from 8% of the scale up." in plan.output
    assert "At random: 3 of the other 4 (probability 0.75)." in plan.output
    assert "Nothing was stored." in plan.output
    done = CliRunner().invoke(cli, [*words, "--widest", "2", "--json"])
    assert json.loads(done.output)["new"] == 5
    again = CliRunner().invoke(cli, [*words, "--widest", "50"])
    assert "requested: on the others people do not differ" in again.output
    assert f"Next: ccrs invite {study.folder} dora" in again.output
    nothing = CliRunner().invoke(cli, words[:4])
    assert (plan.exit_code, done.exit_code, again.exit_code, nothing.exit_code) == (0, 0, 0, 2)


def test_the_command_asks_in_a_terminal(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign(study, 3)
    monkeypatch.setattr(assignment_commands, "_at_a_terminal", lambda: True)
    words = ["adjudicate", str(study.folder), "--rater", "dora", "--sample", "3"]
    no = CliRunner().invoke(cli, words, input="n\n")
    assert "At random: 3 of the other 6" in no.output
    assert "Store this?" in no.output
    assert "Nothing was stored." in no.output
    assert assigned(study) == []
    yes = CliRunner().invoke(cli, words, input="y\n")
    assert "Stored 3 assignments." in yes.output
    assert len(assigned(study)) == 3
    assert "Store this?" not in CliRunner().invoke(cli, [*words, "--widest", "1", "--yes"]).output

"""What raters decided of pairs, in the table of preferences."""

from sqlalchemy import insert

from study import Study
from study.schema import Comparison, RaterAnswer
from study.schema.tables import queries, scorer_answers
from tests.study.rating_fixtures import add, add_rater, add_responses


def compare(study: Study, rater: int, pair: tuple[int, int], **columns: object) -> int:
    """A comparison on QR with one decision; return its id."""
    with study.read() as connection:
        query = connection.execute(queries.select()).first()
    assert query is not None
    row = {"query_id": query.id, "response_a_id": pair[0], "response_b_id": pair[1]}
    (comparison,) = add(
        study,
        Comparison,
        {
            **row,
            "rater_id": rater,
            "construct_key": "QR",
            "position": 0,
            "swapped": True,
            "inclusion_prob": 0.5,
            "config_hash": "x",
        },
    )
    decide(study, comparison, 1, **columns)
    return comparison


def decide(study: Study, comparison: int, revision: int, **columns: object) -> None:
    """A revision of a decision."""
    row = {"status": "rated", "value": None, **columns}
    noun = {"comparison_id": comparison, "construct_key": "QR", "construct_version": 1}
    noun |= {"kind": "choice"}
    add(
        study,
        RaterAnswer,
        {**noun, **row, "revision": revision, "revealed": [], "config_hash": "x"},
    )


def test_the_last_revision_counts_and_what_has_no_value_is_missing(any_study: Study) -> None:
    first, second = add_responses(any_study, systems=("A", "B"))
    raters = [add_rater(any_study, code) for code in ("anna", "ben", "cara")]
    changed = compare(any_study, raters[0], (first, second), value=-1.0)
    decide(any_study, changed, 2, value=2.0)
    compare(any_study, raters[1], (first, second), status="skipped")
    withdrawn = compare(any_study, raters[2], (first, second), value=1.0)
    decide(any_study, withdrawn, 2, status="withdrawn")
    rows = any_study.preference_table()
    shown = rows[["response_a", "response_b", "scorer", "scorer_kind", "missing_reason"]]
    assert shown.to_numpy().tolist() == [
        ["r0", "r1", "anna", "human", None],
        ["r0", "r1", "ben", "human", "skipped"],
        ["r0", "r1", "cara", "human", "withdrawn"],
    ]
    assert rows["value"].fillna(0).tolist() == [2.0, 0.0, 0.0]
    assert rows["repeat"].tolist() == [0, 0, 0]
    assert rows.attrs["left_out"] == {}


def test_a_decision_goes_before_a_file_whichever_response_came_first(any_study: Study) -> None:
    first, second = add_responses(any_study, systems=("A", "B"))
    compare(any_study, add_rater(any_study, "anna"), (first, second), value=1.0)
    imported = {
        "construct_key": "QR",
        "construct_version": 1,
        "repeat": 0,
        "value": 0.0,
    }
    with any_study.write() as connection:
        for scorer, kind in (("anna", "human"), ("judge", "judge")):
            for a, b in ((first, second), (second, first)):
                row = {"response_id": a, "second_response_id": b, "scorer": scorer}
                row |= {"item": f"beside {b}"}
                connection.execute(
                    insert(scorer_answers).values(**imported, **row, scorer_kind=kind)
                )
    rows = any_study.preference_table()
    # The judge compared them in both orders, and both stay.
    assert rows["scorer"].tolist() == ["judge", "judge", "anna"]
    assert rows.attrs["left_out"] == {"imported for a rater who compared the same here": 2}

"""One meaning for each id: what a table shows and what a file names is the same response."""

import pytest

from study import InputError, Study
from study.facts.current_responses import count_current_responses, current_responses
from study.importing.rows import ResponseRow, ScoreRow
from tests.study.importing.test_import_store import answer, take


def by_id(name: str, value: float, construct: str = "QR") -> ScoreRow:
    return ScoreRow(
        response_id=name, construct_key=construct, scorer="ben", scorer_kind="human", value=value
    )


def shown(study: Study) -> list[list[object]]:
    return study.score_table()[["response_id", "system", "value"]].to_numpy().tolist()


def test_a_system_that_goes_back_to_earlier_content_is_scored_on_it(study: Study) -> None:
    take(study, answer("old"))
    take(study, answer("new", response_id="q1/A"), sha256="1", revise=True)
    take(study, answer("old"), sha256="2", revise=True)
    summary = take(study, by_id("q1/A", 5), sha256="3")
    assert summary.added == {"scores": 1}
    assert shown(study) == [["q1/A", "A", 5]]
    assert any("read as the version in use" in rule for rule in summary.rules)


def test_going_back_under_the_same_id(study: Study) -> None:
    take(study, answer("old", response_id="r"), by_id("r", 1))
    take(study, answer("new", response_id="r"), by_id("r", 2), sha256="1", revise=True)
    assert shown(study) == [["r@2", "A", 2]]
    summary = take(study, answer("old", response_id="r"), sha256="2", revise=True)
    assert summary.added == {"output revisions": 1}
    assert shown(study) == [["r", "A", 1]]
    take(study, answer("newer", response_id="r"), by_id("r", 3), sha256="3", revise=True)
    assert shown(study) == [["r@3", "A", 3]]


def test_an_id_with_its_version_means_that_one_exactly(study: Study) -> None:
    take(study, answer("old", response_id="r"))
    take(study, answer("new", response_id="r"), sha256="1", revise=True)
    take(study, by_id("r@2", 2), by_id("r@1", 1), sha256="2")
    assert shown(study) == [["r@2", "A", 2]]
    with pytest.raises(InputError, match="'r@3' is not in the study"):
        take(study, by_id("r@3", 3), sha256="3")


def test_two_versions_in_use_are_told_apart(study: Study) -> None:
    take(study, answer("old", response_id="r"), answer("old", "B"))
    take(study, answer("new", response_id="r"), sha256="1", revise=True)
    take(study, by_id("r", 2), by_id("r@1", 1), sha256="2")
    assert shown(study) == [["r@1", "B", 1], ["r@2", "A", 2]]
    # Whatever id the table shows leads back to the response.
    for order, (name, _, value) in enumerate(shown(study)):
        again = take(study, by_id(str(name), float(str(value))), sha256=f"again {order}")
        assert again.already == {"scores": 1}


def test_current_responses_are_listed_and_counted_by_the_ids_of_tables(study: Study) -> None:
    def current() -> tuple[list[str], int]:
        with study.read() as connection:
            listed, others = current_responses(connection)
            assert count_current_responses(connection) == len(listed)
            return sorted(response.response_id for response in listed), others

    assert current() == ([], 0)
    take(
        study,
        answer("old", response_id="r"),
        answer("old", "B"),
        answer("other", "C", response_id="o"),
    )
    take(
        study,
        answer("new", response_id="r"),
        answer("own", "C", response_id="p"),
        sha256="1",
        revise=True,
    )
    assert current() == (["p", "r@1", "r@2"], 1)
    take(study, answer("new", "B"), sha256="2", revise=True)
    assert current() == (["p", "r@2"], 2)
    take(study, answer("old", response_id="r"), sha256="3", revise=True)
    assert current() == (["p", "r@1", "r@2"], 1)


def test_a_score_of_a_replaced_response_is_warned_of(study: Study) -> None:
    take(study, answer("old", response_id="r"))
    take(study, answer("new", response_id="r"), sha256="1", revise=True)
    (warning,) = take(study, by_id("r@1", 1), sha256="2").warnings
    assert "1 row has values for responses that a later one replaced (r@1)" in warning
    assert shown(study) == []


def test_an_id_without_a_system_does_not_go_back(study: Study) -> None:
    take(study, answer("old", None, response_id="r"))
    take(study, answer("new", None, response_id="r"), by_id("r", 2), sha256="1", revise=True)
    assert study.score_table()["response_id"].tolist() == ["r@2"]
    with pytest.raises(InputError, match=r"that of 'r', version 1\. Name the system"):
        take(study, answer("old", None, response_id="r"), sha256="2", revise=True)


def test_the_id_of_a_version_belongs_to_it(study: Study) -> None:
    take(study, answer("old", response_id="r"), answer("z", "B", response_id="s@2"))
    take(study, answer("new", response_id="r"), sha256="1", revise=True)
    with pytest.raises(InputError, match="'r@2' is version 2 of response 'r', with another"):
        take(study, answer("newer", response_id="r@2"), sha256="2", revise=True)
    other = ResponseRow(query_id="q2", query="Why?", response="x", response_id="s")
    take(study, other, sha256="3")
    changed = other.model_copy(update={"response": "y"})
    with pytest.raises(InputError, match=r"'s@2', the id of its version 2, is that of another"):
        take(study, changed, sha256="4", revise=True)

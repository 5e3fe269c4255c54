"""The one door: all or nothing, nothing twice, nothing overwritten."""

import pytest

from study import InputError, Study
from study.importing.import_report import ImportSummary
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, PassageRow, PreferenceRow, ResponseRow, ScoreRow
from study.schema.tables import imported_files, responses as response_table
from tests.study.importing.conftest import rows_of


def take(study: Study, *rows: object, sha256: str = "0", **options: bool) -> ImportSummary:
    placed = [LocatedRow(number, row) for number, row in enumerate(rows, start=2)]
    return import_rows(
        study, placed, source="here", sha256=sha256, importer="test", options={}, **options
    )


def answer(text: str, system: str | None = "A", **more: object) -> ResponseRow:
    return ResponseRow(query_id="q1", query="Who?", response=text, system=system, **more)


def score(value: float | None, scorer: str = "anna", **more: object) -> ScoreRow:
    named = {"query_id": "q1", "system": "A", "construct_key": "QR", **more}
    return ScoreRow(scorer=scorer, scorer_kind="human", value=value, **named)


def test_works_on_each_database(any_study: Study) -> None:
    passages = (PassageRow(text="p", document="d1"), PassageRow(text="r"))
    first = take(any_study, answer("x", passages=passages), answer("y", "B"), score(5))
    assert first.added == {
        "queries": 1,
        "responses": 2,
        "outputs": 2,
        "passages": 2,
        "scores": 1,
    }
    # A second file: keys go on where the database stands.
    second = take(any_study, answer("z", "C", passages=passages), score(7, system="C"), sha256="1")
    assert second.added == {"responses": 1, "outputs": 1, "scores": 1}
    table = any_study.score_table()
    assert dict(zip(table["system"], table["value"], strict=True)) == {"A": 5, "C": 7}


def test_importing_a_source_again_changes_nothing_and_says_when(study: Study) -> None:
    take(study, answer("x"), score(5))
    before = rows_of(study)
    again = take(study, answer("x"), score(5))
    assert rows_of(study) == before
    assert again.imported_before is not None
    assert again.lines()[0].startswith("here was imported as test on 20")


def test_a_source_with_some_stored_rows_adds_the_others(study: Study) -> None:
    take(study, answer("x"), score(5))
    summary = take(study, answer("x"), score(5), score(6, "ben"), sha256="1")
    assert summary.added == {"scores": 1}
    assert summary.already == {"responses": 1, "scores": 1}


def test_a_source_with_other_options_is_another_import(study: Study) -> None:
    take(study, answer("x"))
    assert take(study, answer("x"), revise=True).imported_before is None


def test_one_fault_undoes_the_whole_source(study: Study) -> None:
    before = rows_of(study)
    with pytest.raises(InputError) as caught:
        take(study, answer("x"), score(5), score(500, "ben"))
    assert [fault.row for fault in caught.value.faults] == [4]
    assert rows_of(study) == before


def test_a_source_that_breaks_off_tells_what_was_found_before(study: Study) -> None:
    from study.errors import Fault

    def rows() -> object:
        yield LocatedRow(2, answer("x"))
        yield LocatedRow(3, score(500))
        raise InputError("here", [Fault("the file is cut off.", "Copy it again.")])

    with pytest.raises(InputError) as caught:
        import_rows(study, rows(), source="here", sha256="0", importer="test")
    assert [fault.row for fault in caught.value.faults] == [3, None]


def test_revise_keeps_the_old_response_and_its_scores(study: Study) -> None:
    take(study, answer("old", response_id="r"), score(5))
    summary = take(study, answer("new", response_id="r"), sha256="1", revise=True)
    assert summary.added == {"response versions": 1, "output revisions": 1}
    take(study, score(9, "ben"), sha256="2")
    table = study.score_table()
    assert table[["response_id", "scorer", "value"]].to_numpy().tolist() == [["r@2", "ben", 9]]
    assert table.attrs["left_out"] == {"given to a response that a later one replaced": 1}
    # The id that the table shows is understood.
    by_id = ScoreRow(
        response_id="r@2", construct_key="CC", scorer="ben", scorer_kind="human", value=1
    )
    assert take(study, by_id, sha256="3").added == {"scores": 1}


def test_revise_without_ids_makes_another_response_the_current_one(study: Study) -> None:
    take(study, answer("old"), answer("old", "B"), score(5))
    take(study, answer("new"), sha256="1", revise=True)
    table = study.score_table()
    assert table["system"].tolist() == ["B"]


def with_passage(text: str, system: str | None = "A", **more: object) -> ResponseRow:
    return answer(text, system, passages=(PassageRow(text="p"),), **more)


@pytest.mark.parametrize(
    "row",
    [
        answer("x"),
        answer("x", response_id="r"),
        answer("x", response_id="task-100"),
        answer("x", None),
        answer("x", None, response_id="task-100"),
    ],
    ids=["system", "id", "system-and-another-id", "text", "text-and-another-id"],
)
def test_a_text_without_passages_is_the_stored_response(study: Study, row: ResponseRow) -> None:
    """People rated what a page showed, and their file has no passages."""
    take(study, with_passage("x", response_id="r"), with_passage("y", "B"))
    summary = take(study, row, score(5), sha256="1")
    assert summary.rules["responses without passages read as the stored ones with this text"] == 1
    assert "responses" not in summary.added
    assert study.score_table()["response_id"].tolist() == ["r"]


def test_a_text_without_passages_that_may_be_several_responses_is_none_of_them(
    study: Study,
) -> None:
    other = answer("x", "B", passages=(PassageRow(text="other"),))
    take(study, with_passage("x", response_id="r"), other)
    assert take(study, answer("x", None), sha256="1").added == {"responses": 1}
    assert take(study, answer("x", "C"), sha256="2").added == {"outputs": 1}
    with pytest.raises(InputError, match="already gave query 'q1' another response"):
        take(study, answer("z", "B"), sha256="4")


def test_a_text_without_passages_is_a_new_version_where_revise_says_so(study: Study) -> None:
    take(study, with_passage("x", response_id="r"))
    revised = take(study, answer("x", response_id="r"), sha256="1", revise=True)
    assert revised.added == {"response versions": 1, "output revisions": 1}


def test_revise_never_revises_twice_within_a_file(study: Study) -> None:
    take(study, answer("old", response_id="r"))
    rows = (answer("new", response_id="r"), answer("newer", response_id="r"))
    with pytest.raises(InputError, match="another content in row 2"):
        take(study, *rows, sha256="1", revise=True)


def test_the_content_of_another_response_is_not_a_new_version(study: Study) -> None:
    take(study, answer("x", response_id="r"), answer("y", "B", response_id="s"))
    with pytest.raises(InputError, match="its content is that of 's', version 1"):
        take(study, answer("y", response_id="r"), sha256="1", revise=True)


def test_blank_passages_and_references_are_missing_and_counted(study: Study) -> None:
    blank = answer("x", passages=(PassageRow(text=" "),), references=("", "ref", "\n"))
    summary = take(study, blank)
    assert "passages" not in summary.added
    assert summary.rules["blank passages read as no passage"] == 1
    assert summary.rules["blank reference answers read as none"] == 2
    assert summary.warnings == ("1 new response has no passages; CC, ID, AC, IR need them.",)


def test_an_id_belongs_to_one_query(study: Study) -> None:
    take(study, answer("x", response_id="r"))
    other = ResponseRow(query_id="q2", query="Why?", response="x", response_id="r")
    with pytest.raises(InputError, match="'r' already answers query 'q1'"):
        take(study, other, sha256="1", revise=True)


def test_a_query_without_id_is_found_by_its_text(study: Study) -> None:
    take(study, answer("x"))
    row = ResponseRow(query="Who?", response="y", system="B")
    new = ResponseRow(query="Where?", response="y", system="B")
    assert take(study, row, new, sha256="1").added["queries"] == 1
    with study.read() as connection:
        keys = connection.exec_driver_sql("SELECT key FROM query ORDER BY id").scalars().all()
    assert keys[0] == "q1"
    assert keys[1].startswith("q-")


def test_the_order_of_passages_is_content(study: Study) -> None:
    p, r = PassageRow(text="p"), PassageRow(text="r")
    summary = take(study, answer("x", passages=(p, r)), answer("x", "B", passages=(r, p)))
    assert summary.added["responses"] == 2
    assert summary.added["passages"] == 2


def test_references_may_be_left_out_once_said(study: Study) -> None:
    take(study, answer("x", references=("ref",)))
    assert take(study, answer("y", "B"), sha256="1").added["responses"] == 1


def test_conflicts_as_repeats_keep_both_values_and_come_in_once(study: Study) -> None:
    take(study, answer("x"), answer("x", "B"))
    rows = (score(5), score(6, system="B"), score(7, system="B"))
    summary = take(study, *rows, sha256="1", conflicts_as_repeats=True)
    assert summary.added == {"scores": 3}
    assert summary.rules["a second value stored as the next repeat"] == 2
    values = study.score_table().query("system == 'A'")
    assert dict(zip(values["repeat"], values["value"], strict=True)) == {0: 5, 1: 6, 2: 7}
    again = take(study, *rows, score(8, system="B"), sha256="2", conflicts_as_repeats=True)
    assert again.already == {"scores": 3}
    assert again.added == {"scores": 1}


def test_conflicts_as_repeats_leave_stated_repeats_alone(study: Study) -> None:
    take(study, answer("x"), score(5))
    rows = (score(6), score(9, repeat=1))
    take(study, *rows, sha256="1", conflicts_as_repeats=True)
    table = study.score_table()
    assert dict(zip(table["repeat"], table["value"], strict=True)) == {0: 5, 1: 9, 2: 6}


@pytest.mark.parametrize(
    ("column", "first", "second"),
    [
        ("inclusion_prob", 0.5, 0.25),
        ("stratum", "short", "long"),
        ("source", "mturk", "prolific"),
        ("rule", "bare", "labelled"),
        ("layout", "single", "side_by_side"),
    ],
)
def test_an_equal_value_with_another_further_column_is_a_conflict(
    study: Study, column: str, first: object, second: object
) -> None:
    first_row, second_row = (
        ScoreRow(
            query_id="q1", system="A", construct_key="QR", scorer="j", scorer_kind="judge",
            value=5, **{column: content},
        )
        for content in (first, second)
    )  # fmt: skip
    take(study, answer("x"))
    with pytest.raises(InputError, match=f"{column} {second} .* row 2 has {column} {first}"):
        take(study, first_row, second_row, sha256="1")
    take(study, first_row, sha256="2")
    with pytest.raises(InputError, match=f"{column} {second} .* the study has {column} {first}"):
        take(study, second_row, sha256="3")
    assert take(study, first_row, answer("x"), sha256="4").already["scores"] == 1


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ({"response_id": "r", "query_id": "q2"}, "answers query 'q1', not 'q2'"),
        ({"response_id": "r", "system": "B"}, "is not what system 'B' answered"),
    ],
)
def test_names_of_a_response_must_agree(study: Study, named: dict[str, str], problem: str) -> None:
    take(study, answer("x", response_id="r"), answer("y", "B"))
    row = ScoreRow(construct_key="QR", scorer="a", scorer_kind="human", value=1, **named)
    with pytest.raises(InputError, match=problem):
        take(study, row, sha256="1")


def preference(value: float | None = 1, **more: object) -> PreferenceRow:
    named = {"query_id": "q1", "response_a": "ra", "response_b": "rb", "construct_key": "QR"}
    return PreferenceRow(scorer="anna", scorer_kind="human", value=value, **{**named, **more})


def test_preferences(study: Study) -> None:
    rows = (answer("x", response_id="ra"), answer("y", "B", response_id="rb"))
    summary = take(study, *rows, preference(-2), preference(None, repeat=1))
    assert summary.added["preferences"] == 2
    table = study.preference_table()
    assert table["value"].tolist()[0] == -2
    assert table["missing_reason"].tolist() == [None, "blank"]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (preference(3), "3 is outside the scale -2 to 2"),
        (preference(response_b="rc"), "'rc' is not in the study"),
        (preference(query_id="q9"), "'query q9' is not in the study"),
        (preference(response_b="r2"), "response 'r2' answers query 'q2', not 'q1'"),
    ],
)
def test_preferences_that_do_not_fit(study: Study, row: PreferenceRow, problem: str) -> None:
    other = ResponseRow(query_id="q2", query="Why?", response="z", response_id="r2")
    take(study, answer("x", response_id="ra"), answer("y", "B", response_id="rb"), other)
    with pytest.raises(InputError, match=problem):
        take(study, row, sha256="1")


def test_a_comparison_of_one_content_with_itself_is_taken_and_counted(study: Study) -> None:
    rows = (answer("x", response_id="ra"), answer("x", "B", response_id="rb"))
    summary = take(study, *rows, preference())
    assert summary.added["preferences"] == 1
    assert any("a response with itself" in line for line in summary.lines())


def test_scores_of_a_changed_construct_stand_beside_the_old_ones(study: Study) -> None:
    take(study, answer("x"), score(5))
    text = '[[constructs]]\nkey = "QR"\nname = "n"\nquestion = "Another?"\n'
    (study.folder / "study.toml").write_text(text)
    changed = Study.open(study.folder)
    assert take(changed, score(6), sha256="1").added == {"scores": 1}
    assert changed.score_table()["value"].tolist() == [6]
    changed.close()


def test_what_was_done_is_recorded(study: Study) -> None:
    take(study, answer("x"), score(5))
    with study.read() as connection:
        row = connection.execute(imported_files.select()).one()
        responses = connection.execute(response_table.select()).all()
    assert row.counts["added scores"] == 1
    assert row.config_hash == study.config_hash
    assert [response.key for response in responses] == ["q1/A"]


def test_the_summary_as_json(study: Study) -> None:
    import json

    summary = take(study, answer("x"), answer("x", "B"), score(5))
    counts = json.loads(json.dumps(summary.as_json()))
    assert counts["added"]["scores"] == 1
    assert counts["changed"] is True
    assert counts["imported_before"] is None

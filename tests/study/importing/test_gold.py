"""Training and check material comes in with the values expected of it, and stays as it is."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select

from annotate_ui.monitoring.expected_material import lacking_material
from study import Study, import_file, study_status
from study.assignment.planner import assign
from study.errors import InputError
from study.importing.content_store import NO_LONGER_TRAINED
from study.schema.tables import assignments, expected_values, raters, responses
from study.settings.design import DesignSpec
from tests.study.importing.conftest import Write, response, rows_of


def material(number: int = 1, /, **changes: Any) -> dict[str, Any]:
    row = {
        "query_id": f"t{number}",
        "query": f"What is learned first, {number}?",
        "response": f"This is, {number}.",
        "passages": [f"A passage to learn from, {number}."],
        "references": ["This."],
        "attributes": {"domain": "training"},
        "expected": {"QR": {"low": 70, "high": 100, "why": "It answers."}, "AC": [0, 20]},
    }
    return {**row, **changes}


def expected(study: Study) -> list[tuple[Any, ...]]:
    with study.read() as connection:
        rows = connection.execute(
            select(expected_values, responses.c.role)
            .join_from(expected_values, responses, expected_values.c.response_id == responses.c.id)
            .order_by(expected_values.c.id)
        )
        return [
            (row.construct_key, row.purpose, row.low, row.high, row.explanation, row.role)
            for row in rows
        ]


def test_material_is_recognized_and_stored_without_a_system(any_study: Study, write: Write) -> None:
    rows = [material(), material(2, purpose="check", expected={"ID": [0.5, 30]})]
    summary = import_file(any_study, write("training.jsonl", rows))
    assert summary.importer == "expected"
    assert summary.added["expected values"] == 3
    assert summary.left_out == {}
    assert expected(any_study) == [
        ("QR", "training", 70, 100, "It answers.", "training"),
        ("AC", "training", 0, 20, None, "training"),
        ("ID", "check", 0.5, 30, None, "check"),
    ]
    assert rows_of(any_study)["output"] == 0
    status = study_status(any_study)
    assert (status.training, status.checks, status.responses, status.queries) == (1, 1, 0, 0)
    assert any_study.score_table().empty


def test_importing_material_again_changes_nothing(filled: Study, write: Write) -> None:
    import_file(filled, write("training.jsonl", [material()]))
    before = rows_of(filled)
    again = import_file(filled, write("training.jsonl", [material()]))
    assert not again.changed
    # Another file with the same row and one more adds the one.
    more = import_file(filled, write("more.jsonl", [material(), material(2)]))
    assert more.already["expected values"] == 2
    assert more.added["expected values"] == 2
    assert rows_of(filled)["expected_value"] == before["expected_value"] + 2
    status = study_status(filled)
    assert (status.training, status.queries, status.responses) == (2, 3, 6)


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown construct": ({"expected": {"QQ": [0, 1]}}, "no construct 'QQ'"),
    "outside the scale": ({"expected": {"QR": [0, 101]}}, "101 is outside the scale 0 to 100"),
    "low above high": ({"expected": {"QR": [50, 40]}}, "low 50 is above high 40"),
    "a system": ({"system": "A"}, "names the system 'A'"),
    "no range": ({"expected": {"QR": 70}}, "70 is not a range"),
    "half a range": ({"expected": {"QR": {"low": 70}}}, "is not a range"),
    "three ends": ({"expected": {"QR": [1, 2, 3]}}, "is not a range"),
    "a word": ({"expected": {"QR": ["low", 80]}}, "low"),
    "nothing": ({"expected": {}}, "has no expected value"),
    "another purpose": ({"purpose": "main"}, "'main' is not a purpose"),
    "no reference": ({"references": [], "expected": {"AC": [0, 9]}}, "the query has none"),
    "no passages": ({"passages": [], "expected": {"CC": [0, 9]}}, "the response has none"),
}


@pytest.mark.parametrize(("changes", "problem"), FAULTS.values(), ids=list(FAULTS))
def test_what_is_wrong_is_told_with_its_row(
    study: Study, write: Write, changes: dict[str, Any], problem: str
) -> None:
    path = write("training.jsonl", [material(), material(2, **changes)])
    with pytest.raises(InputError) as refused:
        import_file(study, path, importer="expected")
    (fault,) = refused.value.faults
    assert problem in fault.problem
    assert fault.row == 2
    assert fault.remedy
    assert rows_of(study)["response"] == 0


def test_a_changed_range_is_refused(study: Study, write: Write) -> None:
    import_file(study, write("training.jsonl", [material()]))
    for changed, message in (
        ({"QR": {"low": 60, "high": 100, "why": "It answers."}}, "the study has 70 to 100"),
        ({"QR": {"low": 70, "high": 100}}, "another explanation"),
    ):
        with pytest.raises(InputError, match=message) as refused:
            import_file(study, write("again.jsonl", [material(expected=changed)]))
        assert "new response" in refused.value.faults[0].remedy
    twice = [material(2), material(2, expected={"QR": [0, 1]})]
    with pytest.raises(InputError, match="row 1 has 70 to 100"):
        import_file(study, write("twice.jsonl", twice))
    assert len(expected(study)) == 2


def test_nobody_learns_from_what_is_measured(filled: Study, write: Write) -> None:
    fields = response(1, "A")
    del fields["system"], fields["response_id"]
    row = {**fields, "expected": {"QR": [0, 50]}}
    with pytest.raises(InputError, match="that the study measures"):
        import_file(filled, write("training.jsonl", [row]))
    # To check with it harms nobody.
    import_file(filled, write("checks.jsonl", [{**row, "purpose": "check"}]))
    assert expected(filled) == [("QR", "check", 0, 50, None, "answer")]


def test_what_a_system_gives_after_all_is_measured_by_others(study: Study, write: Write) -> None:
    import_file(study, write("training.jsonl", [material()]))
    same = material(system="A")
    del same["expected"]
    summary = import_file(study, write("responses.jsonl", [same]))
    assert summary.rules[NO_LONGER_TRAINED] == 1
    with study.write() as connection:
        rater = connection.execute(
            insert(raters).values(code="anna").returning(raters.c.id)
        ).scalar_one()
        response = connection.execute(select(responses.c.id)).scalar_one()
        connection.execute(
            insert(assignments).values(
                rater_id=rater,
                response_id=response,
                construct_keys=["QR"],
                purpose="training",
                position=0,
                repeat=0,
                inclusion_prob=1.0,
                config_hash="",
            )
        )
        assert lacking_material(connection, DesignSpec(training=1))
    done = assign(study, ["anna", "ben", "cara"], per_item=2)
    assert [load.responses for load in done.raters] == [0, 1, 1]


def test_a_table_does_as_well(study: Study, write: Write) -> None:
    text = "query_id,query,response,passages,expected\nt1,Who?,They,P,"
    path = write("training.csv", text + '"{""QR"": [70, 100]}"\n')
    assert import_file(study, path).added["expected values"] == 1


def test_the_example_has_material(tmp_path: Path) -> None:
    from importlib.resources import as_file, files

    from study.example import build_example

    study = build_example(tmp_path / "example")
    with as_file(files("study._example")) as source:
        summary = import_file(study, source / "training.jsonl")
    assert summary.added["expected values"] >= 12
    status = study_status(study)
    assert status.training >= 4
    assert status.checks >= 2
    study.close()

"""Dialogues, as Label Studio's controls Chat and Paragraphs show them, have a response."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from annotate_ui.label_studio.task_content import AFTER_RESPONSE, NO_ANSWER, NO_QUESTION
from study import Study
from study.cli.root import cli
from study.errors import InputError
from study.importing.file_import import import_file
from study.schema.tables import queries, responses
from tests.annotate_ui.label_studio.export_builder import annotation, written

CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hello?"},
    {"role": "assistant", "content": "Yes?"},
    {"role": "user", "content": "What is it?"},
    {"role": "assistant", "content": "It is a lamp."},
]
PARAGRAPHS = [{"author": "User", "text": "What?"}, {"author": "Bot", "text": "That."}]


def of(number: int, **data: Any) -> dict[str, Any]:
    return {"id": number, "data": data, "annotations": [annotation(number, 5, QR=10 * number)]}


def texts(study: Study) -> list[tuple[str, str]]:
    with study.read() as connection:
        rows = connection.execute(
            select(queries.c.text, responses.c.text.label("response"))
            .join_from(responses, queries, responses.c.query_id == queries.c.id)
            .order_by(responses.c.id)
        )
        return [(row.text, row.response) for row in rows]


def test_the_last_message_of_the_assistant_is_the_response(study: Study, tmp_path: Path) -> None:
    said = {"author": "AI", "text": "This."}
    thanks = [PARAGRAPHS[0], said, {"author": "User", "text": "Thanks."}]
    path = written(
        tmp_path, of(1, messages=CHAT), of(2, dialogue=PARAGRAPHS), of(3, conversation=thanks)
    )
    words = ["import", str(study.folder), str(path), "--json"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    before = (
        "system: Be brief.\n\nuser: Hello?\n\nassistant: Yes?\n\nuser: What is it?",
        "It is a lamp.",
    )
    assert texts(study) == [before, ("What?", "That."), ("What?", "This.")]
    assert f'"{AFTER_RESPONSE}": 1' in done.output
    assert study.score_table()["value"].tolist() == [10, 20, 30]


def test_a_field_of_another_name_is_a_dialogue_by_the_option(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, of(1, turns=PARAGRAPHS))
    with pytest.raises(InputError, match=r"or a dialogue \(messages with role and content\)"):
        import_file(study, path)
    import_file(study, path, columns={"turns": "messages"})
    assert texts(study) == [("What?", "That.")]


@pytest.mark.parametrize(
    "messages",
    [[{"role": "assistant"}], ["text"], "text"],
    ids=str,
)
def test_what_is_no_dialogue_is_refused(study: Study, tmp_path: Path, messages: Any) -> None:
    with pytest.raises(InputError, match="neither the id of a response nor its texts"):
        import_file(study, written(tmp_path, of(1, messages=messages)))


@pytest.mark.parametrize(
    ("messages", "why", "remedy"),
    [
        pytest.param([], NO_ANSWER, "give it one of these names", id="empty"),
        pytest.param(CHAT[:2], NO_ANSWER, "give it one of these names", id="no-answer"),
        pytest.param(CHAT[2:3], NO_QUESTION, "Add the question", id="no-question"),
    ],
)
def test_a_dialogue_without_a_response_is_left_out_and_counted(
    study: Study, tmp_path: Path, messages: Any, why: str, remedy: str
) -> None:
    path = written(tmp_path, of(1, messages=messages), of(2, messages=CHAT))
    described = CliRunner().invoke(cli, ["doctor", str(path)])
    assert described.exit_code == 0, described.output
    assert "--column" not in described.output
    summary = import_file(study, path)
    assert summary.left_out[why] == 1
    assert "not used" not in " ".join(summary.lines())
    assert study.score_table()["value"].tolist() == [20]
    with pytest.raises(InputError, match=f"no task can be used: {why}, such as task 1") as refused:
        import_file(study, written(tmp_path, of(1, messages=messages), of(2, messages=messages)))
    assert remedy in str(refused.value)
    described = CliRunner().invoke(cli, ["doctor", str(tmp_path / "export.json")])
    assert "fields      messages" in described.output

"""What `ccrs doctor` prints for an export is a command that its file passes."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from study.cli.root import cli
from tests.annotate_ui.label_studio.export_builder import annotation, result, stars, task, written

UNREAD = {"prompt_text": "Q?", "output": "A."}


def of(number: int, *results: dict[str, Any]) -> dict[str, Any]:
    return {**annotation(number, 5), "result": list(results)}


def label(name: str) -> dict[str, Any]:
    value = {"start": 0, "end": 6, "text": "Answer", "labels": [name]}
    return {"from_name": "spans", "type": "labels", "value": value}


def region(number: int) -> dict[str, Any]:
    value = {"start": 0, "end": 2, "rating": number}
    return {"from_name": "part", "type": "rating", "value": value}


EXPORTS: dict[str, list[dict[str, Any]]] = {
    "numbers in the lowest tenth": [
        task(n, annotation(n, 5, quality=value)) for n, value in enumerate((1, 3, 5, 2), 1)
    ],
    "those of a control with the name of a construct": [
        task(n, annotation(n, 5, QR=value)) for n, value in enumerate((1, 3, 5, 2), 1)
    ],
    "fields with other names": [
        {"id": 1, "data": UNREAD, "annotations": [annotation(1, 5, quality=50)]}
    ],
    "labels alone": [task(1, of(1, label("unsupported")), response="Answer.")],
    "a control of regions": [task(1, of(1, result("QR", "number", 50), region(3)))],
    "two controls of one construct": [task(1, annotation(1, 5, QR=5, qr=6))],
    "a control beside one for each construct": [
        task(1, annotation(1, 5, QR=5, CC=5, IR=5, AC=5, ID=5, overall=60))
    ],
    "choices": [task(1, of(1, result("verdict", "choices", ["good"])))],
    "stars": [task(1, stars(1, 5, 4))],
    "comparisons with other names": [
        {
            "id": 1,
            "data": {"ask": "Q?", "left_text": "One.", "right_text": "Two."},
            "annotations": [
                of(1, {"from_name": "p", "type": "pairwise", "value": {"selected": "left"}})
            ],
        }
    ],
}
# What a person writes for the words in capitals.
WRITTEN = {
    "=CONSTRUCT": "=AC",
    "=NUMBER": "=80",
    "LOW:HIGH": "0:5",
    "QUERY=query,RESPONSE=response": "prompt_text=query,output=response",
    "QUERY=query,LEFT=text_a,RIGHT=text_b": "ask=query,left_text=text_a,right_text=text_b",
}


@pytest.mark.parametrize("name", EXPORTS)
def test_the_command_runs_and_imports_what_people_gave(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, *EXPORTS[name])
    text = CliRunner().invoke(cli, ["doctor", str(path)]).output
    command = text.rpartition(" && ccrs import my-study ")[2].strip()
    for capitals, word in WRITTEN.items():
        command = command.replace(capitals, word)
    folder = str(tmp_path / "study")
    assert CliRunner().invoke(cli, ["init", folder]).exit_code == 0
    done = CliRunner().invoke(cli, ["import", folder, *shlex.split(command)])
    assert done.exit_code == 0, (command, done.output)
    assert "has no ratings" not in done.output, command


def test_the_fields_of_the_tasks_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, *EXPORTS["fields with other names"])
    text = CliRunner().invoke(cli, ["doctor", str(path)]).output
    assert "fields           prompt_text, output\n" in text
    assert "--column QUERY=query,RESPONSE=response\n" in text

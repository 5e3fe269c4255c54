"""Import of a system's responses through the door of all imports, and the file that has them."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from sqlalchemy import select

from judge.protocol.exchange import Answer
from judge.responding.reader_answers import ReaderAnswers
from judge.responding.reader_prompt import CUT, TRUNCATED, described, prompt_hash, read_response
from judge.responding.respond_outcome import SystemResponses
from judge.responding.stored_rankings import FOLDER
from judge.responding.system_prompts import AnsweringSystem
from study.errors import StudyError
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, ResponseRow
from study.schema.tables import outputs, queries
from study.study import Study

UNSTORABLE = "unstorable"
"""A response with a character that databases refuse."""


def check_unanswered(
    study: Study, systems: Iterable[AnsweringSystem], known: Mapping[str, Answer]
) -> None:
    """Refuse to ask for responses that the import would refuse: their system has others.

    Parameters
    ----------
    known
        Answers of the reader by the hash of the prompt; a response to another prompt, or of
        another reader, is one from elsewhere.

    Raises
    ------
    StudyError
        A system has a response to a query whose prompt is still to be asked.
    """
    with study.read() as connection:
        rows = connection.execute(
            select(outputs.c.system, queries.c.key).join_from(
                outputs, queries, outputs.c.query_id == queries.c.id
            )
        )
        stored = {(row.system, row.key) for row in rows}
    for each in systems:
        others = [
            question.id
            for place, question in enumerate(each.questions)
            if (each.name, question.id) in stored and prompt_hash(each.prompt(place)) not in known
        ]
        if others:
            raise StudyError(
                f"The system {each.name} has responses to {len(others):,} of the queries already, "
                f"such as {others[0]!r}, which were imported or made under other conditions "
                "(corpus, settings of the system, reader, prompt). Give the system another name in "
                "study.toml, or make these its current responses with --revise."
            )


def import_responses(
    study: Study,
    system: AnsweringSystem,
    answers: ReaderAnswers,
    conditions: Mapping[str, Any],
    *,
    revise: bool,
) -> SystemResponses:
    """Import the responses of a system; keep them with their scores and rules in a file."""
    made = SystemResponses(
        inside_study(study, system.retrieved.path),
        inside_study(study, answers.path),
        system.prompts.name,
    )
    rows: list[LocatedRow] = []
    lines = []
    rules, missing = Counter[str](), Counter[str]()
    for place in range(len(system.questions)):
        answer = answers.known.get(prompt_hash(system.prompt(place)))
        if answer is None:
            made.open += 1
            continue
        read = answer.missing or read_response(answer) or TRUNCATED
        row = read if isinstance(read, str) else _row(system, place, read.text)
        if isinstance(row, str) or isinstance(read, str):
            missing[str(row)] += 1
            continue
        rules[read.rule] += 1
        made.cut += answer.finish_reason == CUT
        rows.append(LocatedRow(len(rows) + 1, row))
        scores = [each.score for each in system.retrieved.rankings[place]]
        more = {"rule": read.rule, "finish_reason": answer.finish_reason, "scores": scores}
        lines.append(json.dumps({**row.model_dump(mode="json", exclude_defaults=True), **more}))
    made.rules, made.missing = dict(rules), dict(missing)
    made.responses = len(rows)
    if rows:
        text = "".join(f"{line}\n" for line in lines)
        path = study.folder / FOLDER / f"responses-{_file_name(system.name)}.jsonl"
        path.write_text(text, encoding="utf-8")
        options = {"system": described(system.spec, system.prompts), "reader": dict(conditions)}
        summary = import_rows(
            study,
            iter(rows),
            source=path.name,
            sha256=sha256(text.encode()).hexdigest(),
            importer="responses",
            options={**options, "ranking": made.ranking},
            revise=revise,
        )
        made.added = summary.added.get("outputs", 0)
    return made


def _row(system: AnsweringSystem, place: int, response: str) -> ResponseRow | str:
    """Return the row of a response, or the reason why it can't be stored."""
    question = system.questions[place]
    try:
        return ResponseRow(
            query_id=question.id,
            query=question.text,
            response=response,
            system=system.name,
            passages=tuple(system.passages(place)),
            references=question.references,
        )
    except ValidationError as error:
        [detail, *_] = error.errors(include_url=False)
        if detail["loc"][:1] == ("response",):
            return UNSTORABLE
        field = ".".join(map(str, detail["loc"]))
        message = detail["msg"].removeprefix("Value error, ")
        raise StudyError(f"query {question.id!r}, {field}: {message}") from None


def _file_name(system: str) -> str:
    if system.replace("-", "").replace("_", "").isalnum() and system.isascii():
        return system
    return sha256(system.encode()).hexdigest()[:12]


def inside_study(study: Study, path: Path) -> str:
    return path.relative_to(study.folder).as_posix()

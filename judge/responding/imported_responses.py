"""Import of a system's responses through the door of all imports, and the file that has them."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from sqlalchemy import select

from judge.protocol.exchange import Answer
from judge.responding.corpus import CorpusQuery
from judge.responding.reader_answers import ReaderAnswers
from judge.responding.reader_prompt import CUT, TRUNCATED, described, prompt_hash, read_response
from judge.responding.respond_outcome import SystemResponses
from judge.responding.stored_rankings import FOLDER
from judge.responding.system_prompts import AnsweringSystem
from study.errors import Fault, InputError, StudyError
from study.facts.current_responses import current_outputs
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, ResponseRow
from study.schema.tables import queries, responses
from study.study import Study

UNSTORABLE = "unstorable"
"""A response with a character that databases refuse."""


def check_queries(study: Study, path: Path, questions: Iterable[CorpusQuery]) -> None:
    """Refuse queries that the import would refuse, before their responses cost anything.

    Raises
    ------
    InputError
        With all queries that the study has with another text or other references.
    """
    columns = queries.c.key, queries.c.text, queries.c.references
    with study.read() as connection:
        stored: dict[str, Any] = {row.key: row for row in connection.execute(select(*columns))}
    faults = []
    for each in questions:
        known = stored.get(each.id)
        references = [text for text in each.references if text.strip()]
        differs = ""
        if known is not None and known.text != each.text:
            differs = "another text"
        elif known is not None and references and list(known.references or ()) != references:
            differs = "other references"
        if differs:
            problem = f"the study has the query {each.id!r} with {differs}."
            remedy = "Make the two agree, or give the query in this file another identifier."
            faults.append(Fault(problem, remedy))
    if faults:
        raise InputError(path.name, faults)


def check_unanswered(
    study: Study, systems: Sequence[AnsweringSystem], files: Sequence[Mapping[str, Answer]]
) -> None:
    """Refuse to ask for responses that the import would refuse: their system has others.

    Parameters
    ----------
    systems
        Of one reader and prompt.
    files
        Answers of the reader by the hash of the prompt, of each file that has some. A response
        that is in none of them is one from elsewhere.

    Raises
    ------
    StudyError
        A system has another response to a query.
    """
    stored = stored_responses(study, systems)
    for each in systems:
        others = []
        for place, question in enumerate(each.questions):
            text = stored.get((each.name, question.id))
            if text is None:
                continue
            digest = prompt_hash(each.prompt(place))
            if not any(_agrees(each, place, text, known.get(digest)) for known in files):
                others.append(question.id)
        if others:
            copied = "" if any(files) else (
                " If the study was restored from a backup, copy the folder respond of the original "
                "study into it, which a backup does not contain."
            )  # fmt: skip
            raise StudyError(
                f"The system {each.name} has responses to {len(others):,} of the queries already, "
                f"such as {others[0]!r}, which were imported or made under other conditions "
                "(corpus, settings of the system, reader, prompt). Give the system another name in "
                f"study.toml, or make these its current responses with --revise.{copied}"
            )


def stored_responses(
    study: Study, systems: Sequence[AnsweringSystem]
) -> dict[tuple[str, str], str]:
    """Return the current responses of systems to their queries, by system and query."""
    current = current_outputs()
    columns = current.c.system, queries.c.key, responses.c.text
    joined = current.join(queries, current.c.query_id == queries.c.id)
    joined = joined.join(responses, current.c.response_id == responses.c.id)
    wanted = current.c.system.in_([each.name for each in systems])
    with study.read() as connection:
        rows = connection.execute(select(*columns).select_from(joined).where(wanted))
        stored = {(row.system, row.key): row.text for row in rows}
    asked = {(each.name, question.id) for each in systems for question in each.questions}
    return {key: text for key, text in stored.items() if key in asked}


def _agrees(system: AnsweringSystem, place: int, stored: str, answer: Answer | None) -> bool:
    """Whether the import of an answer leaves the stored response as it is."""
    if answer is None:
        return False
    read = None if answer.missing else read_response(answer)
    if read is None or read.text == stored:
        return True
    return isinstance(_row(system, place, read.text), str)


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
        path.write_text(text, encoding="utf-8")
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

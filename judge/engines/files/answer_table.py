"""Tables of answers that were obtained elsewhere, by prompt or by response and construct."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from string import hexdigits
from typing import Any

from judge.engines.files.answer_cells import FIELDS, answer_of, note_blank, whole_number
from judge.engines.files.answer_index import AnswerIndex, Key
from judge.prompts.template import PromptSet, PromptVersion
from judge.protocol.exchange import Answer, Failure, Request
from study.errors import Fault, InputError, nearest
from study.importing.existing_content import ExistingContent
from study.importing.import_report import ImportSummary
from study.importing.readers.column_layout import has
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import RecordSource
from study.schema import PROMPT_NOT_WHOLE
from study.study import Study
from study.text import abbreviate, counted

# A hint compares a name with every id, so hints are limited.
_MOST_HINTS, _MOST_IDS = 20, 5000
_HASH_LENGTH = 64
_SAME_WORDS = "probe again"
"""Purpose of a prompt that is asked a second time with the same words."""


class AnswerTables:
    """The answers of tables, in which each row names its prompt, or its response and construct.

    `ccrs help batch-files` describes the columns.
    """

    def __init__(
        self, study: Study, prompts: PromptSet, index: AnswerIndex, *, repeats: int
    ) -> None:
        self._study = study
        self._prompts = prompts
        self._index = index
        self._repeats = repeats
        self._constructs = [construct.key for construct in study.config.constructs]
        self._existing: ExistingContent
        self._skipped: Counter[str] = Counter()
        self._unknown: set[str] = set()
        self._stored = 0

    def read(self, paths: Sequence[Path]) -> tuple[str, ...]:
        """Read files; return notes on what was read.

        Raises
        ------
        InputError
            A file has faults; each is listed with its row.
        """
        with self._study.read() as connection:
            self._existing = ExistingContent(connection)
        notes: list[str] = []
        for path in paths:
            source = RecordSource(path)
            self._read(source)
            lines = ImportSummary.of(source.report, path.name, "answers").lines()[1:]
            notes += [f"{path.name}: {line}" for line in lines]
        del self._existing
        answered = self._index.prompts()
        if further := self._stored - answered:
            self._skipped["further attempts at the same prompts"] += further
        if beyond := answered - self._index.prompts(self._repeats):
            most = self._index.repeats()
            notes.append(
                f"Beyond --repeats {self._repeats}: {counted(beyond, 'answer')}; the files "
                f"have {most}."
            )
        return (
            f"Recorded answers: {answered}.",
            *(f"Not used: {count} {what}." for what, count in sorted(self._skipped.items())),
            *notes,
        )

    def results(self, request: Request) -> list[tuple[Request, Answer | Failure]]:
        """Return the answers to a prompt; empty where the tables have none."""
        by_response: list[Answer | None] = [None] * len(request.response_ids)
        # Answers that name a response are to its own prompts, not to altered ones.
        if isinstance(self._prompts, PromptVersion) and not request.purpose:
            by_response = [
                self._take(_response_key(response, request.construct_key, request.repeat))
                for response in request.response_ids
            ]
        answers = [answer for answer in by_response if answer is not None]
        # The same words asked again are another question, which tables cannot tell from the first.
        if not answers and request.purpose != _SAME_WORDS:
            by_words = self._take(_prompt_key(_hash(request.prompt), request.repeat))
            answers = [] if by_words is None else [by_words]
        if not answers:
            return []
        whole = [answer for answer in answers if answer.missing not in PROMPT_NOT_WHOLE]
        if not whole and min(request.attempts) > 1:
            # That the prompt was not whole is stored already; each call would store it again.
            failure = Failure(answers[0].missing or "", "the files contain no other answer")
            return [(request, failure)]
        if all(_content(answer) == _content(answers[0]) for answer in answers):
            return [(request, answers[0])]
        # The same prompt was asked more than once elsewhere, with different answers: each belongs
        # to its response.
        shared = (whole or answers)[0]
        return [
            (replace(request, response_ids=(response,), attempts=(attempt,)), answer or shared)
            for response, attempt, answer in zip(
                request.response_ids, request.attempts, by_response, strict=True
            )
        ]

    def close(self) -> None:
        """Do nothing: the files are read."""

    def _take(self, key: Key) -> Answer | None:
        stored = self._index.take(key)
        return None if stored is None else Answer(**json.loads(stored)["answer"])

    def _read(self, source: RecordSource) -> None:
        reader = Reader(source, FIELDS)
        columns = source.head.columns
        if has(FIELDS, columns, "prompt") or has(FIELDS, columns, "prompt_hash"):
            reader.require("answer")
        elif not isinstance(self._prompts, PromptVersion):
            # Prompts of a step have no other name than their words.
            reader.require("prompt", "answer")
        else:
            reader.require("construct", "answer")
            if not has(FIELDS, columns, "response_id"):
                reader.require("query_id", "system")
        faults: list[Fault] = []
        for cells in reader:
            if isinstance(cells, Fault):
                faults.append(cells)
                continue
            self._add(cells, source)
            faults += cells.remaining_faults()
        if faults:
            raise InputError(source.path.name, faults, source.report.notes)

    def _add(self, cells: RecordCells, source: RecordSource) -> None:
        """Add a row; its faults are noted in the cells."""
        key = self._key(cells, whole_number(cells, "repeat", 0))
        attempt = whole_number(cells, "attempt", 1)
        prompts, construct = self._prompts, cells.key("construct")
        form = None
        if isinstance(prompts, PromptVersion) and construct in prompts.templates:
            form = prompts.answer_of(construct)
        answer = answer_of(cells, form, delimited=source.form == "delimited")
        if cells.faulty or key is None:
            return
        if answer is None:
            self._skipped["rows without an answer"] += 1
            return
        row = {"answer": asdict(answer), "place": f"{source.path.name}, row {cells.number}"}
        whole = answer.missing not in PROMPT_NOT_WHOLE
        stored = self._index.add(key, json.dumps(row), attempt, whole=whole)
        if stored is None:
            self._stored += 1
            return
        earlier = json.loads(stored)
        first = Answer(**earlier["answer"])
        if (first.text, first.missing) == (answer.text, answer.missing):
            self._skipped["repeated answers"] += 1
            return
        new, old = (abbreviate(a.missing if a.text is None else a.text) for a in (answer, first))
        cells.fault(
            f"the answer is {new}, but {old} in {earlier['place']}, for the same prompt and "
            "repeat.",
            "Keep one of them, or number them as attempts or repeats.",
            cells.column("answer"),
        )

    def _key(self, cells: RecordCells, repeat: int) -> Key | None:
        """Return what a row answers; None where it is not used, or has a fault."""
        if cells.has("prompt") or cells.has("prompt_hash"):
            return _key_of_prompt(cells, repeat)
        if not isinstance(self._prompts, PromptVersion):
            cells.fault("names no prompt.", "Give its words in prompt, or their SHA-256 in "
                        "prompt_hash.")  # fmt: skip
            return None
        response, construct = self._response(cells), self._construct(cells)
        if cells.faulty or response is None or construct is None:
            return None
        if construct not in self._prompts.templates:
            self._skipped["answers on constructs that have no prompt"] += 1
        elif not self._existing.in_use(response):
            self._skipped["answers for responses that a later one replaced"] += 1
        else:
            return _response_key(response, construct, repeat)
        return None

    def _construct(self, cells: RecordCells) -> str | None:
        construct = cells.key("construct")
        if construct is None:
            note_blank(cells, "construct")
        elif construct not in self._constructs:
            hint = nearest(construct, self._constructs)
            cells.fault(
                f"the study has no construct {abbreviate(construct)}.",
                f"{hint} It has: {', '.join(self._constructs)}.".lstrip(),
                cells.column("construct"),
            )
        return construct

    def _response(self, cells: RecordCells) -> int | None:
        """Return the response that a row names; ids that do not agree are faults."""
        existing = self._existing
        name, query, system = cells.key("response_id"), cells.key("query_id"), cells.key("system")
        query_key = None if query is None else existing.query_ids.get(query)
        if name is None:
            if query is None or system is None:
                cells.fault("names no response.", "Give response_id, or query_id and system.")
                return None
            output = existing.outputs.get((query_key or 0, system))
            if output is None:
                self._unmatched(cells, f"{query}/{system}", "system" if query_key else "query_id")
            return None if output is None else output[0]
        response = existing.find(name)
        if response is None:
            self._unmatched(cells, name, "response_id")
            return None
        answered = existing.responses[response].query
        column = ""
        if query is not None and query_key != answered:
            column = "query_id"
            problem = f"answers query {existing.queries[answered].key!r}, not {query!r}"
        elif (
            system is not None and existing.outputs.get((answered, system), (None,))[0] != response
        ):
            column, problem = "system", f"is not the response of system {system!r}"
        if column:
            remedy = f"Correct one of the two, or leave {column} out."
            cells.fault(f"response {name!r} {problem}.", remedy, cells.column(column))
        return response

    def _unmatched(self, cells: RecordCells, name: str, column: str) -> None:
        existing = self._existing
        ids = existing.query_ids if column == "query_id" else existing.response_ids()
        self._unknown.add(name)
        hint = ""
        if len(self._unknown) <= _MOST_HINTS and len(ids) <= _MOST_IDS:
            hint = nearest(name.partition("/")[0] if column == "query_id" else name, ids)
        cells.fault(
            f"{name!r} is not in the study. {hint}".rstrip(),
            "Correct it, or import its response first.",
            cells.column(column),
        )


def _key_of_prompt(cells: RecordCells, repeat: int) -> Key | None:
    """Return the key of a row that names a prompt; None where it has a fault."""
    text, digest = cells.words("prompt"), (cells.key("prompt_hash") or "").strip().lower()
    if digest and (len(digest) != _HASH_LENGTH or set(digest) - set(hexdigits)):
        cells.fault(
            f"{abbreviate(digest)} is no SHA-256.",
            "Give the 64 hexadecimal digits of the SHA-256 of the prompt in UTF-8.",
            cells.column("prompt_hash"),
        )
        return None
    if text:
        text_digest = _hash(text)
        if digest and digest != text_digest:
            cells.fault(
                "prompt and prompt_hash name different prompts.",
                "Correct one of the two, or leave it out.",
                cells.column("prompt_hash"),
            )
            return None
        digest = text_digest
    return _prompt_key(digest, repeat)


def _prompt_key(prompt_hash: str, repeat: int) -> Key:
    return Key(f"prompt {prompt_hash}", repeat)


def _response_key(response: int, construct: str, repeat: int) -> Key:
    return Key(f"{response} {construct}", repeat)


def _hash(prompt: str) -> str:
    return sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()


def _content(answer: Answer) -> tuple[Any, ...]:
    return answer.text, answer.missing, answer.finish_reason, answer.distribution

"""Files of answers that were obtained elsewhere, read by response, construct and repeat."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from judge.engines.recorded_distributions import recorded_distribution
from judge.prompts.template import PromptVersion
from judge.protocol.chat_completion import escaped
from judge.protocol.exchange import CONTENT_FILTER, REJECTED, Answer
from study.errors import Fault, InputError, nearest
from study.importing.existing_content import ExistingContent
from study.importing.import_report import ImportSummary
from study.importing.readers.column_layout import Fields, has, missing_column
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import RecordSource
from study.schema import PROMPT_NOT_WHOLE
from study.study import Study
from study.text import abbreviate

_COUNTS = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")
_READ: Fields = {
    "response_id": ("response_id",),
    "query_id": ("query_id",),
    "system": ("system",),
    "construct": ("construct", "construct_key"),
    "answer": ("answer", "raw_answer", "output"),
    **{
        name: (name,)
        for name in (
            "repeat",
            "attempt",
            "missing_reason",
            "finish_reason",
            "served_model",
            "fingerprint",
            *_COUNTS,
            "milliseconds",
            "distribution",
            "logprobs",
        )
    },
}
# Further columns of `ccrs judge export`. Answers are read anew: earlier readings count for nothing.
_EXPORTED: Fields = {
    name: (name,)
    for name in (
        *("systems", "value", "rule", "reason", "flags", "created_at"),
        *("expected", "expected_low", "expected_high"),
        *("distribution_mode", "distribution_variance", "distribution_mass"),
    )
}
FIELDS: Fields = {**_READ, **_EXPORTED}

_OF_EMPTY = frozenset({"empty_answer", "truncated"})
# Reasons that stand whatever the answer says.
_STANDING = frozenset({CONTENT_FILTER, REJECTED, *PROMPT_NOT_WHOLE})
# A hint costs a comparison with every known id.
_HINTS, _KNOWN = 20, 5000
_MOST = 2**31 - 1
_LONGEST = 500


class Key(NamedTuple):
    """What an answer was given to."""

    response: int
    construct_key: str
    repeat: int


Recordings = dict[Key, Answer]


def recorded_answers(
    study: Study, paths: Sequence[Path], prompts: PromptVersion
) -> tuple[Recordings, tuple[str, ...]]:
    """Read files of answers.

    Returns the answers by response (database key), construct and repeat, and notes on what was
    read. Columns are documented in judge/README.md under "Engines".

    Raises
    ------
    InputError
        A file has faults; each is told with its row.
    """
    with study.read() as connection:
        held = ExistingContent(connection)
    found = _Found(held, [c.key for c in study.config.constructs], prompts)
    notes: list[str] = []
    for path in paths:
        source = RecordSource(path)
        found.read(source)
        told = ImportSummary.of(source.report, path.name, "answers").lines()[1:]
        notes += [f"{path.name}: {line}" for line in told]
    chosen = found.chosen()
    counts = sorted(found.counts.items())
    return chosen, (
        f"Recorded answers: {len(chosen)}.",
        *(f"Not taken: {number} {what}." for what, number in counts),
        *notes,
    )


@dataclass
class _Found:
    """Answers of all files by what they were given to, with attempts and places."""

    held: ExistingContent
    constructs: Sequence[str]
    prompts: PromptVersion
    answers: dict[Key, dict[int, tuple[Answer, str]]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    _unknown: set[str] = field(default_factory=set)

    def chosen(self) -> Recordings:
        """Return of each key the first attempt at the whole prompt, or else the first."""
        chosen = {}
        for key, attempts in self.answers.items():
            whole = [n for n, (said, _) in attempts.items() if said.missing not in PROMPT_NOT_WHOLE]
            chosen[key] = attempts[min(whole or attempts)][0]
            if len(attempts) > 1:
                self.counts["further attempts, beside the ones taken"] += len(attempts) - 1
        return chosen

    def read(self, source: RecordSource) -> None:
        """Take in a file."""
        reader = Reader(source, FIELDS)
        reader.require("construct", "answer")
        if not has(FIELDS, source.head.columns, "response_id"):
            reader.require("query_id", "system")
        faults: list[Fault] = []
        for cells in reader:
            if isinstance(cells, Fault):
                faults.append(cells)
                continue
            fault = self._take(cells, source)
            faults += cells.remaining_faults()
            faults += [fault] if fault else []
        if faults:
            raise InputError(source.path.name, faults, source.report.notes)

    def _take(self, cells: RecordCells, source: RecordSource) -> Fault | None:
        """Take in a row; return what stands against it, beside what is noted in the cells."""
        response, construct = self._response(cells), self._construct(cells)
        repeat, attempt = _numbered(cells, "repeat", 0), _numbered(cells, "attempt", 1)
        answer = _answer(cells, self.prompts, delimited=source.form == "delimited")
        if cells.faulty or response is None or construct is None:
            return None
        if construct not in self.prompts.templates:
            self.counts["answers on constructs that have no prompt"] += 1
        elif not self.held.in_use(response):
            self.counts["answers for responses that a later one replaced"] += 1
        elif answer is None:
            self.counts["rows without an answer"] += 1
        else:
            place = f"{source.path.name}, row {cells.number}"
            attempts = self.answers.setdefault(Key(response, construct, repeat), {})
            before, there = attempts.setdefault(attempt, (answer, place))
            if before is answer:
                return None
            if (before.text, before.missing) != (answer.text, answer.missing):
                return _conflict(cells, answer, before, there)
            self.counts["answers that stand in the files twice"] += 1
        return None

    def _construct(self, cells: RecordCells) -> str | None:
        construct = cells.key("construct")
        if construct is None:
            _blank(cells, "construct")
        elif construct not in self.constructs:
            hint = nearest(construct, self.constructs)
            cells.fault(
                f"the study has no construct {abbreviate(construct)}.",
                f"{hint} It has: {', '.join(self.constructs)}.".lstrip(),
                cells.column("construct"),
            )
        return construct

    def _response(self, cells: RecordCells) -> int | None:
        """Return the response that a row names; ids that do not agree are faults."""
        held = self.held
        name, query, system = cells.key("response_id"), cells.key("query_id"), cells.key("system")
        asked = None if query is None else held.query_ids.get(query)
        if name is None:
            if query is None or system is None:
                cells.fault("names no response.", "Give response_id, or query_id and system.")
                return None
            output = held.outputs.get((asked or 0, system))
            if output is None:
                self._unmatched(cells, f"{query}/{system}", "system" if asked else "query_id")
            return None if output is None else output[0]
        response = held.find(name)
        if response is None:
            self._unmatched(cells, name, "response_id")
            return None
        own = held.responses[response].query
        column = ""
        if query is not None and asked != own:
            column = "query_id"
            problem = f"answers query {held.queries[own].key!r}, not {query!r}"
        elif system is not None and held.outputs.get((own, system), (None,))[0] != response:
            column, problem = "system", f"is not what system {system!r} answered"
        if column:
            remedy = f"Correct one of the two, or leave {column} out."
            cells.fault(f"response {name!r} {problem}.", remedy, cells.column(column))
        return response

    def _unmatched(self, cells: RecordCells, name: str, column: str) -> None:
        known = self.held.query_ids if column == "query_id" else self.held.response_ids()
        self._unknown.add(name)
        hint = ""
        if len(self._unknown) <= _HINTS and len(known) <= _KNOWN:
            hint = nearest(name.partition("/")[0] if column == "query_id" else name, known)
        cells.fault(
            f"{name!r} is not in the study. {hint}".rstrip(),
            "Correct it, or import its response first.",
            cells.column(column),
        )


def _answer(cells: RecordCells, prompts: PromptVersion, *, delimited: bool) -> Answer | None:
    text, finish = cells.words("answer"), cells.key("finish_reason")
    reason = cells.key("missing_reason")
    standing = reason if reason in _STANDING else None
    if finish == CONTENT_FILTER:
        standing = CONTENT_FILTER
    if text == "" and delimited and reason not in _OF_EMPTY:
        # A blank cell is none, unless the file says that the answer was empty.
        text = None
    if cells.column("answer") is None and standing is None:
        _blank(cells, "answer")
    counts: dict[str, Any] = {name: _count(cells, name) for name in _COUNTS}
    milliseconds = cells.optional_number("milliseconds")
    if milliseconds is not None and milliseconds < 0:
        cells.fault(f"{milliseconds:g} is negative.", "Leave it out.", cells.column("milliseconds"))
    distribution = recorded_distribution(cells, prompts)
    if text is None and standing is None:
        return None
    return Answer(
        None if text is None else escaped(text),
        finish_reason=_name(finish),
        served_model=_name(cells.key("served_model")),
        fingerprint=_name(cells.key("fingerprint")),
        milliseconds=milliseconds,
        distribution=distribution,
        missing=standing,
        **counts,
    )


def _name(text: str | None) -> str | None:
    return None if text is None else escaped(text)[:_LONGEST]


def _numbered(cells: RecordCells, name: str, first: int) -> int:
    number = cells.whole_number(name)
    if number is not None and not first <= number <= _MOST:
        cells.fault(f"{number} is no {name}.", f"Count them from {first}.", cells.column(name))
    return first if number is None else number


def _count(cells: RecordCells, name: str) -> int | None:
    number = cells.optional_number(name)
    if number is None:
        return None
    if not (number.is_integer() and 0 <= number <= _MOST):
        cells.fault(
            f"{number:g} is no count of tokens.", "Correct it or leave it out.", cells.column(name)
        )
        return None
    return int(number)


def _blank(cells: RecordCells, name: str) -> None:
    column = cells.column(name)
    if column is None:
        fault = missing_column(FIELDS[name], cells.columns)
        cells.fault(fault.problem, fault.remedy)
    else:
        cells.fault("is blank.", "Give it in every row.", column)


def _conflict(cells: RecordCells, answer: Answer, before: Answer, there: str) -> Fault:
    said, kept = (abbreviate(a.missing if a.text is None else a.text) for a in (answer, before))
    return Fault(
        f"{said} is the answer here, but {kept} is it in {there}, for the same response, construct "
        "and repeat.",
        "Keep one of them, or number them as attempts or repeats.",
        cells.number,
        cells.column("answer"),
    )

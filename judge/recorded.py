"""The engine `recorded`: answers that were obtained elsewhere, from files."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from judge.answers import CONTENT_FILTER, REJECTED, Answer, Failure
from judge.engine import Delivery, Ready
from judge.prompts import PromptVersion
from judge.requests import Request
from judge.runs import Conditions, Run
from judge.settings import JudgeSettings
from judge.tokens import TokenCount
from study.campaign import Study
from study.errors import Fault, InputError, StudyError, nearest
from study.importing.held import Held
from study.importing.reading.layout import Fields
from study.importing.reading.reader import Reader
from study.importing.reading.record_cells import RecordCells
from study.importing.reading.shown import shown
from study.importing.reading.source import Source
from study.nouns import PROMPT_NOT_WHOLE

FIELDS: Fields = {
    "response_id": ("response_id",),
    "query_id": ("query_id",),
    "system": ("system",),
    "construct": ("construct", "construct_key"),
    "answer": ("answer", "raw_answer", "output"),
    "repeat": ("repeat",),
    "attempt": ("attempt",),
    "missing_reason": ("missing_reason",),
    "finish_reason": ("finish_reason",),
    "served_model": ("served_model",),
    "fingerprint": ("fingerprint",),
    "prompt_tokens": ("prompt_tokens",),
    "completion_tokens": ("completion_tokens",),
    "reasoning_tokens": ("reasoning_tokens",),
    "cached_tokens": ("cached_tokens",),
    "milliseconds": ("milliseconds",),
}
_OF_EMPTY = frozenset({"empty_answer", "truncated"})
_COUNTS = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")
# Reasons that stand whatever the answer says.
_STANDING = frozenset({CONTENT_FILTER, REJECTED, *PROMPT_NOT_WHOLE})
_TOGETHER = 500


class Key(NamedTuple):
    """What an answer was given to."""

    response: int
    construct_key: str
    repeat: int


class RecordedEngine:
    """Answers each prompt with what the files of `settings.answers` say of its response."""

    def __init__(self, settings: JudgeSettings, study: Study, prompts: PromptVersion) -> None:
        settings.refuse(
            "requests",
            "temperature",
            "send_temperature",
            "max_tokens",
            "reasoning_tokens",
            "length_parameter",
            "seed",
            "window",
            "skip_too_long",
        )
        if not settings.answers:
            raise StudyError("The engine recorded needs files of answers: --answers FILE")
        if settings.model is None:
            raise StudyError("Say which model gave the recorded answers, with --model.")
        self._model = settings.model
        self._paths = settings.answers
        self._study = study
        self._constructs = tuple(prompts.templates)
        self._answers: Mapping[Key, Answer] = {}

    def start(self, sample: Sequence[str]) -> Ready:
        """Read the files, whole or not at all."""
        del sample
        self._answers, notes = recorded_answers(self._study, self._paths, self._constructs)
        return Ready(Conditions("recorded", self._model), TokenCount(), notes=notes)

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        """Deliver what is recorded; what is not is counted, and asked for by the next run."""
        del run
        waiting: list[tuple[Request, Answer]] = []
        for request in requests:
            waiting += self._answered(request, delivery)
            if len(waiting) >= _TOGETHER:
                delivery.commit(waiting)
                waiting = []
        if waiting:
            delivery.commit(waiting)
        return ()

    def _answered(self, request: Request, delivery: Delivery) -> list[tuple[Request, Answer]]:
        found = [
            self._answers.get(Key(response, request.construct_key, request.repeat))
            for response in request.response_ids
        ]
        given = [answer for answer in found if answer is not None]
        if not given:
            failure = Failure("no_recorded_answer", "the files hold no answer to this prompt")
            delivery.failed(request, failure)
            return []
        if all(answer.text == given[0].text for answer in given):
            return [(request, given[0])]
        # Elsewhere the very prompt was asked more than once, with other answers: each stays with
        # its response.
        return [
            (
                replace(request, response_ids=(response,), attempts=(attempt,)),
                given[0] if answer is None else answer,
            )
            for response, attempt, answer in zip(
                request.response_ids, request.attempts, found, strict=True
            )
        ]


@dataclass
class _Found:
    """Answers of all files by what they were given to, with attempts and places."""

    answers: dict[Key, dict[int, tuple[Answer, str]]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def chosen(self) -> dict[Key, Answer]:
        """Return of each key the first attempt at the whole prompt, or else the first."""
        chosen = {}
        for key, attempts in self.answers.items():
            whole = [n for n, (said, _) in attempts.items() if said.missing not in PROMPT_NOT_WHOLE]
            chosen[key] = attempts[min(whole or attempts)][0]
        return chosen


def recorded_answers(
    study: Study, paths: Sequence[Path], constructs: Sequence[str]
) -> tuple[dict[Key, Answer], tuple[str, ...]]:
    """Read files of answers.

    Returns the answers by response (database key), construct and repeat, and notes on what was
    read. Columns are documented in judge/README.md under "Engines".

    Raises
    ------
    InputError
        A file has faults; each is told with its row.
    """
    with study.read() as connection:
        held = Held(connection)
    found = _Found()
    for path in paths:
        _read(Source(path), held, constructs, found)
    further = sum(len(attempts) - 1 for attempts in found.answers.values())
    if further:
        found.counts["further attempts, beside the ones taken"] += further
    notes = [f"Recorded answers: {len(found.answers)}."]
    notes += [f"Not taken: {number} {what}." for what, number in sorted(found.counts.items())]
    return found.chosen(), tuple(notes)


def _read(source: Source, held: Held, constructs: Sequence[str], found: _Found) -> None:
    reader = Reader(source, FIELDS)
    reader.require("construct", "answer")
    if "response_id" not in source.head.columns:
        reader.require("query_id", "system")
    faults: list[Fault] = []
    for cells in reader:
        if isinstance(cells, Fault):
            faults.append(cells)
            continue
        key, attempt = _key(cells, held, constructs), cells.whole("attempt")
        answer = _answer(cells, source.form == "delimited")
        wrong = list(cells.untold())
        faults += wrong
        if key is None or wrong:
            continue
        if answer is None:
            found.counts["rows without an answer"] += 1
            continue
        place = f"{source.path.name}, row {cells.number}"
        attempts = found.answers.setdefault(key, {})
        before = attempts.setdefault(attempt or 1, (answer, place))
        if before[1] == place:
            continue
        if (before[0].text, before[0].missing) == (answer.text, answer.missing):
            found.counts["answers that stand in the files twice"] += 1
            continue
        faults.append(
            Fault(
                f"{shown(answer.text)} is the answer here, but {shown(before[0].text)} is it in "
                f"{before[1]}, for the same response, construct and repeat.",
                "Keep one of them, or number them as attempts or repeats.",
                cells.number,
                cells.column("answer"),
            )
        )
    if faults:
        raise InputError(source.path.name, faults, source.tally.notes)


def _key(cells: RecordCells, held: Held, constructs: Sequence[str]) -> Key | None:
    construct = cells.key("construct")
    if construct is None:
        cells.fault("names no construct.", "Give its key.", cells.column("construct"))
    elif construct not in constructs:
        remedy = f"{nearest(construct, constructs)} There are prompts for {', '.join(constructs)}."
        cells.fault(
            f"{shown(construct)} is no construct of these prompts.",
            remedy.lstrip(),
            cells.column("construct"),
        )
    response = _response(cells, held)
    repeat = cells.whole("repeat") or 0
    if repeat < 0:
        cells.fault(f"{repeat} is no repeat.", "Count 0, 1, 2, ...", cells.column("repeat"))
    return None if response is None or construct is None else Key(response, construct, repeat)


def _response(cells: RecordCells, held: Held) -> int | None:
    name, query, system = cells.key("response_id"), cells.key("query_id"), cells.key("system")
    if name is not None:
        response = held.find(name)
        if response is None:
            hint = nearest(name, held.response_ids()) if len(held.responses) < 10_000 else ""
            cells.fault(
                f"The study has no response {shown(name)}.",
                f"{hint} Correct the id, or import the response first.".lstrip(),
                cells.column("response_id"),
            )
        return response
    if query is None or system is None:
        cells.fault("names no response.", "Give response_id, or query_id and system.")
        return None
    given = held.outputs.get((held.query_ids.get(query, -1), system))
    if given is None:
        cells.fault(
            f"The study has no response of {shown(system)} to {shown(query)}.",
            "Correct the ids, or import the response first.",
            cells.column("query_id"),
        )
        return None
    return given[0]


def _answer(cells: RecordCells, delimited: bool) -> Answer | None:
    text = cells.words("answer")
    reason = cells.key("missing_reason")
    standing = reason if reason in _STANDING else None
    if text == "" and delimited and reason not in _OF_EMPTY:
        # A blank cell is none, unless the file says that the answer was empty.
        text = None
    counts = {name: cells.whole(name) for name in _COUNTS}
    milliseconds = cells.share("milliseconds")
    for name, value in {**counts, "milliseconds": milliseconds}.items():
        if value is not None and value < 0:
            cells.fault(f"{value:g} is negative.", "Leave it out.", cells.column(name))
    if text is None and standing is None:
        return None
    return Answer(
        text,
        finish_reason=cells.key("finish_reason"),
        served_model=cells.key("served_model"),
        fingerprint=cells.key("fingerprint"),
        milliseconds=milliseconds,
        missing=standing,
        **counts,
    )

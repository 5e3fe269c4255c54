"""Files of answers that were obtained elsewhere, read by prompt or by response and construct."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from string import hexdigits
from typing import Any

from judge.engines.recorded_index import Key, RecordedIndex, of_prompt, of_response
from judge.prompts.answer_form import AnswerForm
from judge.prompts.template import PromptSet, PromptVersion
from judge.protocol.chat_completion import escaped
from judge.protocol.exchange import CONTENT_FILTER, REJECTED, Answer
from judge.protocol.logprob_distribution import MOST_PROBABILITY, ScoreTokens
from study.base.scales import Scale
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
    "prompt": ("prompt",),
    "prompt_hash": ("prompt_hash",),
    **{
        name: (name,)
        for name in (
            "repeat",
            "attempt",
            "missing_reason",
            "reasoning",
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
# Further columns of `ccrs judge export`. Answers are read again, so earlier readings are ignored.
_EXPORTED: Fields = {
    name: (name,)
    for name in (
        *("systems", "value", "rule", "reason", "flags", "created_at"),
        *("expected", "expected_low", "expected_high"),
        *("distribution_mode", "distribution_variance", "distribution_mass"),
    )
}
FIELDS: Fields = {**_READ, **_EXPORTED}

# With these reasons an empty cell means that the answer was empty.
_EMPTY_ANSWERS = frozenset({"empty_answer", "truncated"})
# Reasons that apply whatever the answer is.
_FIXED_REASONS = frozenset({CONTENT_FILTER, REJECTED, *PROMPT_NOT_WHOLE})
# A hint compares a name with every id, so hints are limited.
_MOST_HINTS, _MOST_IDS = 20, 5000
_LARGEST = 2**31 - 1
_LONGEST_NAME = 500
_HASH_LENGTH = 64


def read_answers(
    study: Study, paths: Sequence[Path], prompts: PromptSet, index: RecordedIndex
) -> tuple[str, ...]:
    """Read files of answers into an index; return notes on what was read.

    Columns are documented in judge/README.md under "Engines".

    Raises
    ------
    InputError
        A file has faults; each is listed with its row.
    """
    with study.read() as connection:
        existing = ExistingContent(connection)
    reader = _AnswerReader(existing, [c.key for c in study.config.constructs], prompts, index)
    notes: list[str] = []
    for path in paths:
        source = RecordSource(path)
        reader.read(source)
        lines = ImportSummary.of(source.report, path.name, "answers").lines()[1:]
        notes += [f"{path.name}: {line}" for line in lines]
    answered = index.prompts()
    if further := index.attempts() - answered:
        reader.skipped["further attempts at the same prompts"] += further
    skipped = sorted(reader.skipped.items())
    return (
        f"Recorded answers: {answered}.",
        *(f"Not used: {count} {description}." for description, count in skipped),
        *notes,
    )


@dataclass
class _AnswerReader:
    """Adds the answers of all files to the index, with their places."""

    existing: ExistingContent
    constructs: Sequence[str]
    prompts: PromptSet
    index: RecordedIndex
    skipped: Counter[str] = field(default_factory=Counter)
    _unknown: set[str] = field(default_factory=set)

    def read(self, source: RecordSource) -> None:
        """Read a file."""
        reader = Reader(source, FIELDS)
        columns = source.head.columns
        if has(FIELDS, columns, "prompt") or has(FIELDS, columns, "prompt_hash"):
            reader.require("answer")
        elif not isinstance(self.prompts, PromptVersion):
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
        key = self._key(cells, _number(cells, "repeat", 0))
        attempt = _number(cells, "attempt", 1)
        prompts, construct = self.prompts, cells.key("construct")
        form = None
        if isinstance(prompts, PromptVersion) and construct in prompts.templates:
            form = prompts.answer_of(construct)
        answer = _answer(cells, form, delimited=source.form == "delimited")
        if cells.faulty or key is None:
            return
        if answer is None:
            self.skipped["rows without an answer"] += 1
            return
        place = f"{source.path.name}, row {cells.number}"
        earlier = self.index.add(key, attempt, answer, place)
        if earlier is None:
            return
        first, first_place = earlier
        if (first.text, first.missing) == (answer.text, answer.missing):
            self.skipped["repeated answers"] += 1
            return
        new, old = (abbreviate(a.missing if a.text is None else a.text) for a in (answer, first))
        cells.fault(
            f"the answer is {new}, but {old} in {first_place}, for the same prompt and repeat.",
            "Keep one of them, or number them as attempts or repeats.",
            cells.column("answer"),
        )

    def _key(self, cells: RecordCells, repeat: int) -> Key | None:
        """Return what a row answers; None where it is not used, or has a fault."""
        if cells.has("prompt") or cells.has("prompt_hash"):
            return _key_of_prompt(cells, repeat)
        if not isinstance(self.prompts, PromptVersion):
            cells.fault("names no prompt.", "Give its words in prompt, or their SHA-256 in "
                        "prompt_hash.")  # fmt: skip
            return None
        response, construct = self._response(cells), self._construct(cells)
        if cells.faulty or response is None or construct is None:
            return None
        if construct not in self.prompts.templates:
            self.skipped["answers on constructs that have no prompt"] += 1
        elif not self.existing.in_use(response):
            self.skipped["answers for responses that a later one replaced"] += 1
        else:
            return of_response(response, construct, repeat)
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
        existing = self.existing
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
        existing = self.existing
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
    text, digest = cells.words("prompt"), (cells.key("prompt_hash") or "").strip().lower()
    if digest and (len(digest) != _HASH_LENGTH or set(digest) - set(hexdigits)):
        cells.fault(
            f"{abbreviate(digest)} is no SHA-256.",
            "Give the 64 hexadecimal digits of the SHA-256 of the prompt in UTF-8.",
            cells.column("prompt_hash"),
        )
        return None
    if text:
        of_text = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if digest and digest != of_text:
            cells.fault(
                "prompt and prompt_hash name different prompts.",
                "Correct one of the two, or leave it out.",
                cells.column("prompt_hash"),
            )
            return None
        digest = of_text
    return of_prompt(digest, repeat)


def _answer(cells: RecordCells, form: AnswerForm | None, *, delimited: bool) -> Answer | None:
    text, finish = cells.words("answer"), cells.key("finish_reason")
    reason = cells.key("missing_reason")
    missing = reason if reason in _FIXED_REASONS else None
    if finish == CONTENT_FILTER:
        missing = CONTENT_FILTER
    if text == "" and delimited and reason not in _EMPTY_ANSWERS:
        # A blank cell is not an answer, unless the file states that the answer was empty.
        text = None
    if cells.column("answer") is None and missing is None:
        _blank(cells, "answer")
    counts: dict[str, Any] = {name: _token_count(cells, name) for name in _COUNTS}
    milliseconds = cells.optional_number("milliseconds")
    if milliseconds is not None and milliseconds < 0:
        cells.fault(f"{milliseconds:g} is negative.", "Leave it out.", cells.column("milliseconds"))
    distribution = None if form is None else _distribution(cells, form)
    if text is None and missing is None:
        return None
    return Answer(
        None if text is None else escaped(text),
        reasoning=None if not (thought := cells.words("reasoning")) else escaped(thought),
        finish_reason=_name(finish),
        served_model=_name(cells.key("served_model")),
        fingerprint=_name(cells.key("fingerprint")),
        milliseconds=milliseconds,
        distribution=distribution,
        missing=missing,
        **counts,
    )


def _distribution(cells: RecordCells, form: AnswerForm) -> dict[str, float] | None:
    """Return the distribution in a row, or the one that follows from its token probabilities."""
    distribution = cells.mapping("distribution")
    if distribution:
        problem = _distribution_problem(distribution, form.scale)
        if problem is None:
            return {score: float(share) for score, share in distribution.items()}
        remedy = 'Give the probability of each score: {"80": 0.7, "85": 0.3}.'
        cells.fault(problem, remedy, cells.column("distribution"))
        return None
    logprobs = cells.mapping("logprobs")
    if not logprobs or form.score_scale is None:
        return None
    return ScoreTokens(form.score_scale, unprobed=True).distribution(logprobs)


def _distribution_problem(distribution: Mapping[str, Any], scale: Scale) -> str | None:
    """Return why a mapping is not a distribution over the scores of a scale, if so."""
    total = 0.0
    for score, share in distribution.items():
        try:
            value = float(score)
        except ValueError:
            return f"{abbreviate(score)} is not a score."
        problem = scale.problem(value)
        if problem:
            return f"{problem}."
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            return f"{abbreviate(share)} is not a probability of {score}."
        total += share
    return None if 0 < total <= MOST_PROBABILITY else f"the probabilities add up to {total:g}."


def _name(text: str | None) -> str | None:
    return None if text is None else escaped(text)[:_LONGEST_NAME]


def _number(cells: RecordCells, name: str, first: int) -> int:
    number = cells.whole_number(name)
    if number is not None and not first <= number <= _LARGEST:
        remedy = f"Count them from {first}."
        cells.fault(f"{number} is not a valid {name}.", remedy, cells.column(name))
    return first if number is None else number


def _token_count(cells: RecordCells, name: str) -> int | None:
    number = cells.optional_number(name)
    if number is None:
        return None
    if not (number.is_integer() and 0 <= number <= _LARGEST):
        problem = f"{number:g} is not a number of tokens."
        cells.fault(problem, "Correct it or leave it out.", cells.column(name))
        return None
    return int(number)


def _blank(cells: RecordCells, name: str) -> None:
    column = cells.column(name)
    if column is None:
        fault = missing_column(FIELDS[name], cells.columns)
        cells.fault(fault.problem, fault.remedy)
    else:
        cells.fault("is blank.", "Give it in every row.", column)

"""A row of a table of answers: what it has in its cells."""

from collections.abc import Mapping
from typing import Any

from judge.prompts.answer_form import AnswerForm
from judge.protocol.chat_completion import escaped
from judge.protocol.exchange import CONTENT_FILTER, REJECTED, Answer
from judge.protocol.finish_reasons import is_broken_off, standard_reason
from judge.protocol.logprob_distribution import MOST_PROBABILITY, ScoreTokens
from study.base.scales import Scale
from study.importing.readers.column_layout import Fields, missing_column
from study.importing.readers.records import RecordCells
from study.schema import PROMPT_NOT_WHOLE
from study.text import abbreviate

_COUNTS = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")
FIELDS: Fields = {
    "construct": ("construct", "construct_key"),
    "answer": ("answer", "raw_answer", "output"),
    **{
        name: (name,)
        for name in (
            *("response_id", "query_id", "system", "prompt", "prompt_hash", "repeat", "attempt"),
            *("missing_reason", "reasoning", "finish_reason", "served_model", "fingerprint"),
            *(*_COUNTS, "milliseconds", "distribution", "logprobs"),
            # Of `ccrs judge export`. Answers are read again, so earlier readings are ignored.
            *("systems", "value", "rule", "reason", "flags", "created_at"),
            *("expected", "expected_low", "expected_high"),
            *("distribution_mode", "distribution_variance", "distribution_mass"),
        )
    },
}
"""The columns of a table of answers, and their names in files."""

# With these reasons an empty cell means that the answer was empty.
_EMPTY_ANSWERS = frozenset({"empty_answer", "truncated"})
# Reasons that apply whatever the answer is.
_FIXED_REASONS = frozenset({CONTENT_FILTER, REJECTED, *PROMPT_NOT_WHOLE})
_LARGEST = 2**31 - 1
_LONGEST_NAME = 500


def answer_of(cells: RecordCells, form: AnswerForm | None, *, delimited: bool) -> Answer | None:
    """Return the answer of a row; None where there is none. Faults are noted in the cells.

    Parameters
    ----------
    form
        Form of the construct's answers, if it is known: that of their distribution.
    delimited
        Whether a blank cell and an empty text are the same.
    """
    text, finish = cells.words("answer"), standard_reason(cells.key("finish_reason"))
    reason = cells.key("missing_reason")
    missing = reason if reason in _FIXED_REASONS else None
    if finish == CONTENT_FILTER:
        missing = CONTENT_FILTER
    if is_broken_off(finish) or (text == "" and delimited and reason not in _EMPTY_ANSWERS):
        # A blank cell is not an answer, unless the file states that the answer was empty.
        text = None
    if cells.column("answer") is None and missing is None:
        note_blank(cells, "answer")
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


def whole_number(cells: RecordCells, name: str, first: int) -> int:
    """Return a number that counts from `first`, which it is where the row has none."""
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


def note_blank(cells: RecordCells, name: str) -> None:
    """Note that a row lacks a field."""
    column = cells.column(name)
    if column is None:
        fault = missing_column(FIELDS[name], cells.columns)
        cells.fault(fault.problem, fault.remedy)
    else:
        cells.fault("is blank.", "Give it in every row.", column)

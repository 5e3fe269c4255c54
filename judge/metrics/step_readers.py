"""What metrics in steps read in an answer, or the reason for which they have no value.

Each reader has the name of what was asked for, such as `claims`, and raises a `NoValueError` whose
reason is that name and the fault of the answer: `claims_unreadable`, `labels_too_few`. An answer is
never completed, shortened or averaged over. The schemas for the same answers are in
`judge.prompts.answer_schema`.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from judge.metrics.embedding import TRUNCATED
from judge.metrics.metric import MetricValue, NoValueError
from judge.parsing.parse_answer import is_cut
from judge.parsing.structured_answers import (
    UnreadableError,
    read_labels,
    read_list,
    read_numbers,
    read_texts,
    read_word,
)
from judge.protocol.exchange import Answer

T = TypeVar("T")


def list_in(answer: Answer, what: str) -> list[str]:
    """Return the items of a list, which may be empty; `what` is listed, such as `claims`.

    Raises
    ------
    NoValueError
        The answer is not a list of texts, or was cut off.
    """
    return _read(answer, what, partial(read_list, what=what))


def labels_in(answer: Answer, number: int, labels: Sequence[str]) -> list[str]:
    """Return the label of each of `number` items.

    Raises
    ------
    NoValueError
        The answer does not have exactly one of the labels for each item, or was cut off.
    """
    return _read(answer, "labels", partial(read_labels, number=number, labels=labels))


def numbers_in(answer: Answer, number: int, most: int) -> list[list[int]]:
    """Return a list of numbers from 1 to `most` for each of `number` items.

    Raises
    ------
    NoValueError
        The answer does not have exactly one such list for each item, or was cut off.
    """
    return _read(answer, "numbers", partial(read_numbers, number=number, most=most))


def texts_in(answer: Answer, number: int) -> list[str]:
    """Return the text for each of `number` items.

    Raises
    ------
    NoValueError
        The answer does not have exactly one text for each item, or was cut off.
    """
    return _read(answer, "texts", partial(read_texts, number=number))


def word_in(answer: Answer, words: Sequence[str]) -> str:
    """Return the word that an answer consists of.

    Raises
    ------
    NoValueError
        It is none of `words`, or was cut off.
    """
    return _read(answer, "labels", partial(read_word, words=words))


def is_word(answer: Answer, word: str) -> bool:
    """Return whether an answer consists of this word."""
    try:
        return word_in(answer, (word,)) == word
    except NoValueError:
        return False


def cosine_in(answer: Answer) -> tuple[float, bool]:
    """Return the cosine that an encoder computed, and whether it read one of the texts in part."""
    value, _, flag = (answer.text or "").partition(" ")
    return float(value), flag == TRUNCATED


def share(counted: Sequence[bool]) -> MetricValue:
    """Return the share of items that count, at least one item, with both numbers as parts."""
    number = sum(counted)
    return MetricValue(number / len(counted), parts={"counted": number, "of": len(counted)})


def _read(answer: Answer, what: str, read: Callable[[str | None], T]) -> T:
    if is_cut(answer.finish_reason):
        raise NoValueError(f"{what}_truncated")
    try:
        return read(answer.text)
    except UnreadableError as error:
        raise NoValueError(f"{what}_{error.fault}") from None

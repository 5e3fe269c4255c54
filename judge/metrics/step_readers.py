"""What metrics in steps read in an answer, or the reason for which they have no value."""

from collections.abc import Sequence

from judge.metrics.embedding import TRUNCATED
from judge.metrics.metric import MetricValue, NoValueError
from judge.parsing.structured_answers import read_labels, read_list, read_texts, read_word
from judge.protocol.exchange import Answer


def list_in(answer: Answer, what: str) -> list[str]:
    """Return the items of a list, which may be empty.

    Parameters
    ----------
    answer
        The answer to a prompt that asks for a list.
    what
        What is listed, such as `claims`: the beginning of the reasons.

    Raises
    ------
    NoValueError
        The answer is not a list (`claims_unreadable`), or was cut off (`claims_truncated`).
    """
    if answer.finish_reason == "length":
        raise NoValueError(f"{what}_truncated")
    items = read_list(answer.text)
    if items is None:
        raise NoValueError(f"{what}_unreadable")
    return items


def labels_in(answer: Answer, number: int, labels: Sequence[str]) -> list[str]:
    """Return the label of each of `number` items.

    Raises
    ------
    NoValueError
        The answer does not have exactly one of the labels for each item (`labels_unreadable`).
    """
    found = read_labels(answer.text, number, labels)
    if found is None:
        raise NoValueError("labels_unreadable")
    return found


def texts_in(answer: Answer, number: int) -> list[str]:
    """Return the text for each of `number` items.

    Raises
    ------
    NoValueError
        The answer does not have exactly one text for each item (`texts_unreadable`), or was cut
        off (`texts_truncated`).
    """
    if answer.finish_reason == "length":
        raise NoValueError("texts_truncated")
    found = read_texts(answer.text, number)
    if found is None:
        raise NoValueError("texts_unreadable")
    return found


def word_in(answer: Answer, words: Sequence[str]) -> str:
    """Return the word that an answer consists of.

    Raises
    ------
    NoValueError
        It is none of `words` (`labels_unreadable`).
    """
    word = read_word(answer.text, words)
    if word is None:
        raise NoValueError("labels_unreadable")
    return word


def cosine_in(answer: Answer) -> tuple[float, bool]:
    """Return the cosine that an encoder computed, and whether it read one of the texts in part."""
    value, _, flag = (answer.text or "").partition(" ")
    return float(value), flag == TRUNCATED


def share(counted: Sequence[bool]) -> MetricValue:
    """Return the share of items that count, at least one item, with both numbers as parts."""
    number = sum(counted)
    return MetricValue(number / len(counted), parts={"counted": number, "of": len(counted)})

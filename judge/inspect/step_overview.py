"""The claims of a response with their labels, by the text that they were checked by."""

import re
from collections.abc import Sequence
from typing import Any

from judge.parsing.structured_answers import UnreadableError, read_list, read_object
from judge.text import printable

_NUMBERED = re.compile(r"(\d+)\. (.*)")
# Characters of a text that are shown.
_SHOWN = 100


def overview(step: str, fields: Sequence[str], answer: str | None) -> list[str]:
    """Return the items of an answer that is a list, or the labels of numbered items, as lines.

    Parameters
    ----------
    step
        Name of the step.
    fields
        The texts in the fields of its prompt, in order; numbered items are the last one.
    answer
        The raw answer; other answers than lists and objects have no overview.
    """
    read = read_answer(step, answer)
    if isinstance(read, list) and fields:
        items = [f"    - {printable(str(item))}" for item in read]
        return [f"  {step} of {_short(fields[-1])}", *(items or ["    (none)"])]
    if not isinstance(read, dict) or len(fields) < 2:
        return []
    numbered = [_NUMBERED.fullmatch(line) for line in fields[-1].splitlines()]
    items = [
        f"    {printable(str(read.get(match[1], '(no label)')))}: {printable(match[2])}"
        for match in numbered
        if match is not None
    ]
    return [f"  {step} by {_short(fields[-2])}", *items] if items else []


def read_answer(step: str, answer: str | None) -> list[str] | dict[str, Any] | None:
    """Return the list or the object that an answer is, as metrics read it; None: it is neither."""
    try:
        return read_list(answer, step)
    except UnreadableError:
        pass
    try:
        return dict(read_object(answer))
    except UnreadableError:
        return None


def _short(text: str) -> str:
    words = printable(" ".join(text.split()))
    return repr(words if len(words) <= _SHOWN else f"{words[:_SHOWN]}...")

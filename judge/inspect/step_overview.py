"""The claims of a response with their labels, by the text that they were checked by."""

import json
import re
from collections.abc import Sequence

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
        The raw answer; other answers than JSON have no overview.
    """
    try:
        read = json.loads(answer or "")
    except (ValueError, RecursionError):
        return []
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


def _short(text: str) -> str:
    words = printable(" ".join(text.split()))
    return repr(words if len(words) <= _SHOWN else f"{words[:_SHOWN]}...")

"""The tasks of an export one by one: as objects, all take several times more memory."""

import json
from collections.abc import Iterator
from typing import IO, Any

from annotate_ui.label_studio.server_error import ServerError


def tasks_in(file: IO[bytes], number: int) -> Iterator[dict[str, Any]]:
    """Yield the tasks of a project's export one by one: as objects, all take several times more.

    Raises
    ------
    ServerError
        The export is cut off or no list. What was yielded before is then not all there is.
    """
    file.seek(0)
    decode = json.JSONDecoder().raw_decode
    try:
        text = file.read().decode("utf-8")
        place = _next(text, 0, "[")
        if text[_next(text, place)] == "]":
            return
        while True:
            task, place = decode(text, _next(text, place))
            if not isinstance(task, dict):
                raise TypeError(f"{str(task)[:50]!r} is no task")
            yield task
            place = _next(text, place)
            if text[place] == "]":
                return
            place = _next(text, place, ",")
    except (ValueError, TypeError, IndexError) as error:
        raise ServerError(
            f"The export of project {number} is no whole list of tasks ({error}); run it again."
        ) from None


def _next(text: str, place: int, sign: str = "") -> int:
    """Return where the next character stands that is not white space, or what follows `sign`."""
    while text[place] in " \t\r\n":
        place += 1
    if not text.startswith(sign, place):
        raise ValueError(f"{sign!r} is missing at character {place}")
    return place + len(sign)

"""The tasks of an export one by one: as objects, all take several times more memory."""

from collections.abc import Iterator
from typing import IO, Any

import ijson

from annotate_ui.label_studio.server_error import ServerError


def tasks_in(file: IO[bytes], number: int) -> Iterator[dict[str, Any]]:
    """Yield the tasks of a project's export one by one.

    Raises
    ------
    ServerError
        The export is truncated or not a list. What was yielded before is then not all there is.
    """
    file.seek(0)
    try:
        if not file.read(_START).lstrip().startswith(b"["):
            raise TypeError("it does not begin with a list")
        file.seek(0)
        for task in ijson.items(file, "item", use_float=True):
            if not isinstance(task, dict):
                raise TypeError(f"{str(task)[:50]!r} is not a task")
            yield task
    except (ijson.JSONError, UnicodeDecodeError, TypeError) as error:
        raise ServerError(
            f"The export of project {number} is no whole list of tasks ({error}); run it again."
        ) from None


_START = 1024
"""Bytes among which the first character that is not white space is looked for."""

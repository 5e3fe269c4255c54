"""JSON: lines with an object each, read one by one, or a whole document."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from study.errors import Fault
from study.importing.readers.input_file import Form, InputFile, Record, decoding, open_text
from study.text import abbreviate

ITEMS = "Rows are the items of the JSON array, counted from 1."

_LINES_SUFFIXES = {".jsonl", ".ndjson", ".jsonlines"}


class DuplicateNameError(ValueError):
    """A name occurs twice in one JSON object; readers differ in which value they take."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the name {abbreviate(name)} twice in one object")


def loaded(text: str) -> Any:
    """Read JSON; a name that occurs twice in one object is a `DuplicateNameError`."""
    return json.loads(text, object_pairs_hook=_object)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names: set[str] = set()
        for name, _ in pairs:
            if name in names:
                raise DuplicateNameError(name)
            names.add(name)
    return result


def form(path: Path, suffix: str, start: bytes) -> Form:
    """Return whether a JSON file has an object on each line or is one document."""
    if start.startswith(b"{") and suffix in _LINES_SUFFIXES:
        return "json lines"
    # An object or array that is complete on the first line, with more to come, begins JSON lines.
    with path.open("rb") as stream:
        line = next((line for line in stream if line.strip()), b"")
        more = any(line.strip() for line in stream)
    try:
        json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return "json document"
    return "json lines" if more else "json document"


def document(source: InputFile) -> Any:
    """Read a whole document.

    Raises
    ------
    InputError
        It is not UTF-8, not JSON, or ends in the middle.
    """
    try:
        with decoding(source.path), open_text(source.path, source.report) as stream:
            text = stream.read()
        return loaded(text)
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) or "Unterminated" in error.msg
        problem = f"not valid JSON at line {error.lineno}, column {error.colno}: {error.msg}."
        if cut:
            problem = (
                f"the JSON ends in the middle, at line {text.count(chr(10)) + 1} (byte "
                f"{source.size}): {error.msg}, begun at line {error.lineno}, column {error.colno}."
            )
        remedy = "The file is cut off; copy or export it again." if cut else "Repair that place."
        raise source.refused(problem, remedy) from None
    except (ValueError, RecursionError) as error:
        raise source.refused(*_unreadable(error)) from None


def rows_within(document: Any) -> str | None:
    """Return the name of the only list of objects in a document that is one object."""
    lists = [
        name
        for name, member in (document.items() if isinstance(document, dict) else ())
        if isinstance(member, list) and member and all(isinstance(row, dict) for row in member)
    ]
    return lists[0] if len(lists) == 1 else None


def within_document(path: Path, name: str) -> Fault:
    """Return the fault of a document whose rows are in its list `name`."""
    lines = path.with_suffix(".jsonl").name
    return Fault(
        f"the rows are in {name!r} of the document.",
        "Write them alone, in Python: import json, pathlib, pandas; rows = json.loads("
        f"pathlib.Path({path.name!r}).read_text('utf-8'))[{name!r}]; "
        f"pandas.DataFrame(rows).to_json({lines!r}, orient='records', lines=True).",
    )


def count_other_members(source: InputFile, document: dict[str, Any], name: str) -> None:
    """Count the members of a document other than its list `name`; they are left out."""
    for other in document:
        if other != name:
            source.report.left_out[
                f"the document's {abbreviate(other)}, in addition to {name!r}"
            ] += 1


def objects(source: InputFile, items: list[Any], name: str = "item") -> Iterator[Record | Fault]:
    """Yield the objects of an array, counted from 1."""
    if ITEMS not in source.report.notes:
        source.report.notes.append(ITEMS)
    if not items:
        raise source.refused("the JSON array is empty.", "Save it again with its items.")
    for number, item in enumerate(items, start=1):
        yield _record(number, item, name)
        if number % 500 == 0:
            source.advance(number, len(items))


def lines(source: InputFile) -> Iterator[Record | Fault]:
    with decoding(source.path), open_text(source.path, source.report) as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield _parsed(number, line, line.endswith(("\n", "\r")))
            if number % 500 == 0:
                source.advance(stream.buffer.tell(), source.size)


def _parsed(number: int, line: str, ended: bool) -> Record | Fault:
    try:
        return _record(number, loaded(line), "line")
    except json.JSONDecodeError as error:
        if not ended:
            return Fault(
                f"the file ends in the middle of this line, at character {len(line)}: {error.msg}.",
                "The file is cut off; copy or export it again.",
                number,
            )
        return Fault(
            f"not valid JSON at character {error.colno}: {error.msg}.",
            "Write one JSON object in each line.",
            number,
        )
    except (ValueError, RecursionError) as error:
        return Fault(*_unreadable(error), number)


def _unreadable(error: Exception) -> tuple[str, str]:
    """Return the problem with JSON whose syntax is valid, and the remedy."""
    if isinstance(error, DuplicateNameError):
        return f"the JSON has {error}.", "Keep one of them."
    if isinstance(error, RecursionError):
        return "the JSON is nested too deeply to be read.", "Export it again, flat."
    # Python reads no whole number beyond a few thousand digits.
    return "the JSON has a number with thousands of digits.", "Correct it, or write it as text."


def _record(number: int, item: Any, name: str) -> Record | Fault:
    if isinstance(item, dict):
        return Record(number, item)
    kind = type(item).__name__ if item is not None else "null"
    return Fault(f"this {name} is not a JSON object but {kind}.", "Write {...}.", number)

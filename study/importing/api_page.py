"""A page of records as the interfaces of Langfuse and Phoenix return it: {"data": [...], ...}."""

from collections.abc import Iterable

from study.errors import Fault
from study.importing.readers.input_file import Record
from study.importing.readers.json_text import count_other_members, objects
from study.importing.readers.source import Head, RecordSource


def record_names(head: Head) -> set[str]:
    """Return the names of a record's cells, which are the columns unless the file is a page."""
    page = head.first.get("data") if head.form == "json document" else None
    first = page[0] if isinstance(page, list) and page else None
    return set(first) if isinstance(first, dict) else set(head.columns)


def page_records(source: RecordSource) -> Iterable[Record | Fault]:
    """Return the records of a file, or of the page that it contains."""
    document = source.document
    if isinstance(document, dict) and isinstance(document.get("data"), list):
        count_other_members(source, document, "data")
        return objects(source, document["data"])
    return source.records()

"""Parquet, read in batches."""

from collections.abc import Iterator
from typing import Any

from study.errors import Fault, InputError
from study.importing.readers.input_file import InputFile, Record
from study.pyarrow_extra import load_pyarrow
from study.text import shorten

COUNTED = "Rows of a Parquet file are counted from 1."

_ROWS = 500


def header(source: InputFile) -> tuple[str, ...]:
    """Return the column names."""
    return tuple(_opened(source).schema_arrow.names)


def records(source: InputFile) -> Iterator[Record | Fault]:
    """Read the rows; lists stay lists, missing cells are None."""
    if COUNTED not in source.report.notes:
        source.report.notes.append(COUNTED)
    pa = load_pyarrow()
    file = _opened(source)
    columns = file.schema_arrow.names
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        fault = Fault(f"the column {twice[0]!r} occurs twice.", "Rename one of them.")
        raise InputError(source.path.name, [fault])
    number, total = 0, file.metadata.num_rows
    if total == 0:
        fault = Fault("the file has columns and no rows.", "Save it again with its rows.")
        raise InputError(source.path.name, [fault])
    batches = file.iter_batches(batch_size=_ROWS)
    while True:
        try:
            batch = next(batches, None)
            rows = [] if batch is None else batch.to_pylist()
        except UnicodeDecodeError:
            problem = f"a text in the rows after {number} is not UTF-8."
            fault = Fault(problem, "Write it again from text that is.")
            raise InputError(source.path.name, [fault]) from None
        except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
            raise _unreadable(source, error, number) from None
        if batch is None:
            return
        for cells in rows:
            number += 1
            yield Record(number, cells)
        source.advance(number, total)


def _opened(source: InputFile) -> Any:
    pa = load_pyarrow()
    try:
        return pa.parquet.ParquetFile(source.path)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(source, error) from None


def _unreadable(source: InputFile, error: Exception, number: int | None = None) -> InputError:
    first = shorten(str(error).partition("\n")[0], 200)
    where = "" if number is None else f" after row {number}"
    fault = Fault(
        f"the Parquet file can't be read{where}: {first}",
        "It may be cut off or damaged; copy or write it again.",
    )
    return InputError(source.path.name, [fault])

"""Tables as files for others: CSV that spreadsheets open safely, Parquet, and JSON lines."""

import csv
import json
import math
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from study.pyarrow_extra import load_pyarrow
from study.text import MARK, escape_formula

Kind = Literal["text", "texts", "passages", "integer", "number", "time"]
"""What the cells of a column are."""
Rows = Iterable[tuple[Any, ...]]

# Rows of a Parquet file that are in memory at once.
_BATCH = 2000


def write_table(path: Path, form: str, columns: Mapping[str, Kind], rows: Rows) -> int:
    """Write a new file with a table, one of `FORMS`; return its number of rows.

    A missing cell is None or NaN. In CSV, text that a spreadsheet would run as a formula is
    escaped, and a column marks the file as escaped; lists and mappings are JSON.
    """
    return FORMS[form](path, columns, rows)


def _write_csv(path: Path, columns: Mapping[str, Kind], rows: Rows) -> int:
    number = 0
    # The byte order mark makes spreadsheets read UTF-8.
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\r\n")
        writer.writerow([MARK, *columns])
        for number, row in enumerate(rows, 1):  # noqa: B007  (counts)
            writer.writerow(["1", *map(_csv_cell, row)])
    return number


def _csv_cell(cell: Any) -> str:
    if isinstance(cell, list | dict):
        return _json(cell) if cell else ""
    if isinstance(cell, float):
        return "" if math.isnan(cell) else repr(cell).removesuffix(".0")
    if isinstance(cell, datetime):
        return cell.isoformat()
    if isinstance(cell, str):
        return escape_formula(cell)
    return "" if cell is None else str(cell)


def _write_jsonl(path: Path, columns: Mapping[str, Kind], rows: Rows) -> int:
    number = 0
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for number, row in enumerate(rows, 1):  # noqa: B007  (counts)
            cells = (cell.isoformat() if isinstance(cell, datetime) else cell for cell in row)
            stream.write(_json(dict(zip(columns, cells, strict=True))) + "\n")
    return number


def _write_parquet(path: Path, columns: Mapping[str, Kind], rows: Rows) -> int:
    pa = load_pyarrow()
    kinds: dict[Kind, Any] = {
        "text": pa.string(),
        "texts": pa.list_(pa.string()),
        "passages": pa.list_(pa.struct([("text", pa.string()), ("document", pa.string())])),
        "integer": pa.int64(),
        "number": pa.float64(),
        "time": pa.timestamp("us", tz="UTC"),
    }
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns.items()])
    number, remaining = 0, iter(rows)
    with pa.parquet.ParquetWriter(path, schema) as writer:
        while batch := list(islice(remaining, _BATCH)):
            cells = zip(*(map(_parquet_cell, row) for row in batch), strict=True)
            arrays = [pa.array(c, kind) for c, kind in zip(cells, schema.types, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            number += len(batch)
    return number


def _parquet_cell(cell: Any) -> Any:
    # Parquet needs the same names in every mapping of a column, so mappings become text.
    if isinstance(cell, dict):
        return _json(cell)
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


FORMS: Mapping[str, Callable[[Path, Mapping[str, Kind], Rows], int]] = {
    "csv": _write_csv,
    "parquet": _write_parquet,
    "jsonl": _write_jsonl,
}
"""Kinds of files, by the ending of their names."""

"""A run as a file: every judgment with its raw answer, written a few at a time."""

import csv
import json
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from judge.inspect.distribution_figures import EXPECTED_COLUMNS, expected_figures
from judge.running.runs import run_of
from study.errors import StudyError, nearest
from study.facts.current_responses import current_outputs, current_responses
from study.facts.judgments import as_read, reason_before_score
from study.schema import Judgment, Query, Response, table
from study.study import Study
from study.text import MARK, escape_formula

_OF_RESPONSE = ("response_id", "query_id", "systems")
_STORED = (
    "repeat",
    "attempt",
    "value",
    "missing_reason",
    "rule",
    "answer",
    "reason",
    "finish_reason",
    "served_model",
    "fingerprint",
    "flags",
    "prompt_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "cached_tokens",
    "milliseconds",
    "created_at",
    "distribution",
)
COLUMNS = (*_OF_RESPONSE, "construct", *_STORED, *EXPECTED_COLUMNS)
"""Columns of the file, in order."""

# Rows that are in memory at once.
_TOGETHER = 2000

Row = tuple[Any, ...]


@dataclass(frozen=True)
class RunExport:
    """What was written, and what was left out."""

    run: str
    path: Path
    rows: int
    """Judgments, further attempts among them."""
    left_out: dict[str, int]
    """Reason to number of judgments."""

    def as_json(self) -> dict[str, Any]:
        """Return the summary as values that JSON can hold."""
        return {
            "run": self.run,
            "path": str(self.path),
            "rows": self.rows,
            "left_out": self.left_out,
        }

    def lines(self) -> list[str]:
        """Return the summary as lines of text."""
        return [
            f"Wrote {self.path} ({self.rows} judgments of the run {self.run!r}).",
            *(f"Left out: {number} {reason}." for reason, number in self.left_out.items()),
        ]


def export_run(
    study: Study,
    name: str,
    path: Path | str,
    format: str | None = None,  # noqa: A002  (the word that callers expect)
    *,
    overwrite: bool = False,
) -> RunExport:
    """Write every judgment of a run into one file, a row each, further attempts included.

    Parameters
    ----------
    study : Study
    name : str
        The run.
    path : Path or str
    format : {"csv", "parquet", "jsonl"}, optional
        By the file's ending unless given. In CSV, text that a spreadsheet would run as a formula
        is defused as in `study.export_study`; JSON lines and Parquet hold it as it is.
    overwrite : bool
        Replace a file that is there.

    Returns
    -------
    RunExport
        Columns of the file are `COLUMNS`; value, missing_reason and rule are those of the newest
        reading. Judgments of responses that a later one replaced, and of constructs that are no
        longer those of study.toml, are left out and counted.

    Raises
    ------
    StudyError
        There is no such run or format, or the file exists already.
    """
    path = Path(path)
    write = _WRITERS[_format(path, format)]
    if path.is_dir():
        raise StudyError(f"{path} is a folder; name a file, such as {path / 'judgments.csv'}.")
    if path.exists() and not overwrite:
        raise StudyError(
            f"{path} already exists. Choose another name, or replace it with --overwrite."
        )
    left_out: Counter[str] = Counter()
    with study.read() as connection:
        run = run_of(connection, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Under another name until all is written: an export is whole, or not there.
        part = path.with_name(f"{path.name}.part")
        try:
            with closing(_rows(study, connection, run, left_out)) as rows:
                number = write(part, rows)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    return RunExport(name, path, number, dict(left_out))


def _format(path: Path, given: str | None) -> str:
    found = given or path.suffix.lower().removeprefix(".")
    if found not in _WRITERS:
        hint = nearest(found, _WRITERS)
        told = f"There is no export format {found!r}. {hint}" if found else f"{path} has no ending."
        raise StudyError(
            f"{told.rstrip()} End the file's name with .csv, .parquet or .jsonl, or give --format."
        )
    return found


def _rows(
    study: Study, connection: Connection, run: Mapping[str, Any], left_out: Counter[str]
) -> Generator[Row, None, None]:
    """Yield the rows by response, construct, repeat and attempt; count what is left out."""
    j = table(Judgment)
    versions = study.construct_versions(connection)
    places = _places(connection)
    stored = ["raw_answer" if name == "answer" else name for name in _STORED if name != "reason"]
    columns = ("response_id", "construct_version", "construct_key", *stored)
    # As the index has them, so that nothing is sorted.
    order = (j.c.response_id, j.c.construct_key, j.c.construct_version, j.c.repeat, j.c.attempt)
    statement = as_read(columns, j.c.run_id == run["id"]).order_by(*order)
    scales = {key: study.config.scale(key, run["name"]) for key in versions}
    with connection.execute(statement, execution_options={"yield_per": _TOGETHER}) as found:
        for response, version, *rest in found:
            key = rest[0]
            if key not in versions:
                left_out["of a construct that study.toml no longer has"] += 1
            elif version != versions[key]:
                left_out["of an earlier version of a construct"] += 1
            elif response not in places:
                left_out["of a response that a later one replaced"] += 1
            else:
                figures = expected_figures(rest[-1], scales[key])
                yield (*places[response], *_with_reason(rest), *figures.values())


def _with_reason(cells: Sequence[Any]) -> Row:
    """Put the reason behind the answer that holds it."""
    at = 1 + _STORED.index("answer")
    reason = reason_before_score(cells[at], cells[1 + _STORED.index("rule")])
    return (*cells[: at + 1], reason, *cells[at + 1 :])


def _places(connection: Connection) -> dict[int, tuple[str, str, list[str]]]:
    """Return id, query and systems of each response in use."""
    r, q, o = table(Response), table(Query), current_outputs()
    systems: dict[int, list[str]] = {}
    rows = connection.execute(select(o.c.response_id, o.c.system).order_by(o.c.first_id))
    for response, system in sorted(rows, key=lambda row: row.system):
        systems.setdefault(response, []).append(system)
    asked = select(r.c.id, q.c.key).join_from(r, q, r.c.query_id == q.c.id)
    queries = {row.id: row.key for row in connection.execute(asked)}
    return {
        response.id: (response.response_id, queries[response.id], systems.get(response.id, []))
        for response in current_responses(connection)[0]
    }


def _write_csv(path: Path, rows: Iterable[Row]) -> int:
    number = 0
    # With a byte order mark spreadsheets read UTF-8 as what it is.
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\r\n")
        writer.writerow([MARK, *COLUMNS])
        for number, row in enumerate(rows, 1):  # noqa: B007  (counts)
            writer.writerow(["1", *map(_csv_cell, row)])
    return number


def _csv_cell(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, list | dict):
        return json.dumps(cell, ensure_ascii=False) if cell else ""
    if isinstance(cell, float):
        return repr(cell).removesuffix(".0")
    if isinstance(cell, datetime):
        return cell.isoformat()
    return escape_formula(cell) if isinstance(cell, str) else str(cell)


def _write_jsonl(path: Path, rows: Iterable[Row]) -> int:
    number = 0
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for number, row in enumerate(rows, 1):  # noqa: B007  (counts)
            cells = (cell.isoformat() if isinstance(cell, datetime) else cell for cell in row)
            record = dict(zip(COLUMNS, cells, strict=True))
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
    return number


def _write_parquet(path: Path, rows: Iterable[Row]) -> int:
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    texts: dict[str, Any] = dict.fromkeys(COLUMNS, pa.string())
    lists = dict.fromkeys(("systems", "flags"), pa.list_(pa.string()))
    floats = dict.fromkeys(("value", "milliseconds", *EXPECTED_COLUMNS), pa.float64())
    counts = ("repeat", "attempt", *(name for name in COLUMNS if name.endswith("_tokens")))
    time = {"created_at": pa.timestamp("us", tz="UTC")}
    kinds = {**texts, **lists, **floats, **dict.fromkeys(counts, pa.int64()), **time}
    schema = pa.schema([(name, kinds[name]) for name in COLUMNS])
    number, rest = 0, iter(rows)
    with ParquetWriter(path, schema) as writer:
        while some := list(islice(rest, _TOGETHER)):
            # An object has other names in each row, which a column of objects can't have.
            plain = [[json.dumps(c) if isinstance(c, dict) else c for c in row] for row in some]
            cells: Sequence[Sequence[Any]] = list(zip(*plain, strict=True))
            arrays = [pa.array(c, kind) for c, kind in zip(cells, schema.types, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            number += len(some)
    return number


_WRITERS: dict[str, Callable[[Path, Iterable[Row]], int]] = {
    "csv": _write_csv,
    "parquet": _write_parquet,
    "jsonl": _write_jsonl,
}

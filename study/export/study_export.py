"""A study as files: responses, scores and preferences, with a codebook."""

import csv
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from study.csv_injection import MARK, escape_formula
from study.errors import StudyError
from study.export.codebook import COLUMNS, codebook, codebook_markdown
from study.facts.response_rows import current_responses, response_rows

if TYPE_CHECKING:
    from pandas import DataFrame

    from study.study import Study

Rows = Iterable[tuple[Any, ...]]

_CODEBOOK = ("codebook.md", "codebook.json")
# Rows of a Parquet file that are in memory at once.
_TOGETHER = 2000


@dataclass(frozen=True)
class ExportSummary:
    """What was written: rows by file, and what was left out."""

    folder: Path
    files: dict[str, int]
    left_out: dict[str, int]

    def lines(self) -> list[str]:
        """Return the summary as lines of text."""
        written = [
            f"Wrote {self.folder / name} ({rows} rows)." for name, rows in self.files.items()
        ]
        written.append(f"Wrote {self.folder / 'codebook.md'} and codebook.json.")
        return written + [f"Left out: {n} {what}." for what, n in self.left_out.items()]

    def as_json(self) -> dict[str, Any]:
        """Return the summary as values that JSON can hold."""
        return {**asdict(self), "folder": str(self.folder)}


def export_study(
    study: "Study",
    folder: Path | str,
    format: str = "csv",  # noqa: A002  (the word that callers expect)
    *,
    overwrite: bool = False,
) -> ExportSummary:
    """Write a study's tables and their codebook into `folder`.

    `import_file` takes the files back: a fresh study with the same study.toml has the same
    tables. What later versions and revisions replaced is left out, and counted.

    Raises
    ------
    StudyError
        Files of an export are there already and `overwrite` is not set, or the format is none.
    """
    if format not in _WRITERS:
        raise StudyError(f"There is no export format {format!r}; write csv or parquet.")
    folder = Path(folder)
    there = [folder / name for name in _names() if (folder / name).exists()]
    if there and not overwrite:
        raise StudyError(
            f"{there[0]} already exists. Choose another folder, or replace it with --overwrite."
        )
    folder.mkdir(parents=True, exist_ok=True)
    scores, preferences = study.score_table(), study.preference_table()
    left_out = {
        f"values {why}": n
        for table in (scores, preferences)
        for why, n in table.attrs["left_out"].items()
    }
    parts: dict[str, Path] = {}
    counts: dict[str, int] = {}
    with study.read() as connection:
        responses, replaced = current_responses(connection)
        if replaced:
            left_out["responses that a later one replaced"] = replaced
        tables: dict[str, Rows] = {
            "responses": response_rows(connection, responses),
            "scores": _tuples(scores),
            "preferences": _tuples(preferences),
        }
        for name, rows in tables.items():
            # Under another name until all is written: an export is whole, or not there.
            parts[name] = folder / f"{name}.{format}.part"
            counts[name] = _WRITERS[format](parts[name], COLUMNS[name], rows)
    for path in there:
        path.unlink()
    for name, part in parts.items():
        if counts[name]:
            part.replace(part.with_suffix(""))
        else:
            part.unlink()
    counts = {name: n for name, n in counts.items() if n}
    book = codebook(study.config, counts, format)
    text = json.dumps(book, ensure_ascii=False, indent=1)
    (folder / "codebook.json").write_text(text + "\n", encoding="utf-8")
    (folder / "codebook.md").write_text(codebook_markdown(book), encoding="utf-8")
    return ExportSummary(folder, {f"{name}.{format}": n for name, n in counts.items()}, left_out)


def _names() -> list[str]:
    return [f"{name}.{form}" for name in COLUMNS for form in _WRITERS] + list(_CODEBOOK)


def _tuples(frame: "DataFrame") -> Iterator[tuple[Any, ...]]:
    return frame.itertuples(index=False, name=None)


def _write_csv(path: Path, columns: Sequence[str], rows: Rows) -> int:
    count = 0
    # With a byte order mark spreadsheets read UTF-8 as what it is.
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\r\n")
        writer.writerow([MARK, *columns])
        for row in rows:
            writer.writerow(
                ["1", *(_csv_cell(name, c) for name, c in zip(columns, row, strict=True))]
            )
            count += 1
    return count


def _csv_cell(name: str, cell: Any) -> str:
    if name == "passages":
        texts = [t if document is None else _passage(t, document) for t, document in cell]
        return json.dumps(texts, ensure_ascii=False) if texts else ""
    if isinstance(cell, list | dict):
        return json.dumps(cell, ensure_ascii=False) if cell else ""
    if cell is None:
        return ""
    if isinstance(cell, float):
        return "" if math.isnan(cell) else repr(cell).removesuffix(".0")
    return escape_formula(cell) if isinstance(cell, str) else str(cell)


def _write_parquet(path: Path, columns: Sequence[str], rows: Rows) -> int:
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    schema = pa.schema([(name, _arrow_type(name)) for name in columns])
    count, rows = 0, iter(rows)
    with ParquetWriter(path, schema) as writer:
        while some := list(islice(rows, _TOGETHER)):
            cells = [
                dict(zip(columns, map(_parquet_cell, columns, row), strict=True)) for row in some
            ]
            writer.write_table(pa.Table.from_pylist(cells, schema))
            count += len(some)
    return count


def _arrow_type(name: str) -> Any:
    import pyarrow as pa

    if name == "passages":
        return pa.list_(pa.struct([("text", pa.string()), ("document", pa.string())]))
    kinds = {"references": pa.list_(pa.string()), "repeat": pa.int64()}
    floats = dict.fromkeys(("value", "inclusion_prob", "response_words", "position"), pa.float64())
    return {**kinds, **floats}.get(name, pa.string())


def _parquet_cell(name: str, cell: Any) -> Any:
    if name == "passages":
        return [_passage(text, document) for text, document in cell]
    if name == "attributes":
        return json.dumps(cell, ensure_ascii=False)
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def _passage(text: str, document: str | None) -> dict[str, str | None]:
    return {"text": text, "document": document}


_WRITERS: dict[str, Callable[[Path, Sequence[str], Rows], int]] = {
    "csv": _write_csv,
    "parquet": _write_parquet,
}

"""Reading and writing the tables of simulations, and the options that their commands share."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

FOLDER = Path(__file__).parent


def options(description: str | None, repetitions: int) -> argparse.ArgumentParser:
    """A parser with --out and --repetitions, by default as many as given."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--repetitions", type=int, default=repetitions)
    return parser


def write_rows(out: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """Write rows with the same columns as CSV, each as soon as it is computed."""
    writer: csv.DictWriter[str] | None = None
    with out.open("w", newline="", encoding="utf-8") as file:
        for row in rows:
            if writer is None:
                writer = csv.DictWriter(file, list(row), lineterminator="\n")
                writer.writeheader()
            writer.writerow(row)
            file.flush()


def read_rows(table: Path | str) -> list[dict[str, str]]:
    """Rows of a table: a path, or the name of a committed one."""
    path = table if isinstance(table, Path) else FOLDER / table
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))

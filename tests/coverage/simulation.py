"""How often each interval covers the truth: writes the committed table.

`python -m tests.coverage.simulation --out tests/coverage/coverage.csv` takes about an hour of two
cores. Rows are written as their cell finishes, and a table that is there is gone on with.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import time
from collections.abc import Iterator
from pathlib import Path

from tests.coverage import ceiling_cells, composite_cells
from tests.coverage.campaigns import CROWDED_CENTER, Design
from tests.coverage.ceiling_cells import Ceiling
from tests.coverage.cells import Cell, Panel, Population, Row, Shared
from tests.coverage.composite_cells import Composite

QUERIES = (15, 30, 60, 150, 500)
#: Scores that seldom reach an end of the scale, and scores two thirds of which are 100.
CENTERS = (60.0, CROWDED_CENTER)
#: Severities in standard deviations of what is rated.
SEVERITIES = (0.0, 0.2, 0.4)
LOADINGS = (0.0, 0.5, 0.7, 0.9)
#: Repetitions of further cells, with a Monte Carlo error of about .005, and of slow ones, of .007.
FEWER, FEWEST = 2000, 1000


def cells(repetitions: int, resamples: int, seed: int = 1) -> list[Cell]:
    """All cells of the table, in its order."""
    common = (seed, repetitions, resamples)
    result: list[Cell] = [
        Panel(Design(queries, 3, severity=3, center=center, bounded=True), *common)
        for center in CENTERS
        for queries in QUERIES
    ]
    for queries, raters in ((100, 3), (100, 5), (100, 10), (30, 3)):
        for share in SEVERITIES:
            severity = round(share * Design(queries, raters, 0.0).response_sd, 3)
            result.append(Population(Design(queries, raters, severity), *common))
    # The fewest raters, and few responses with a second rating.
    few = (seed, min(repetitions, FEWER), resamples)
    for queries in (30, 100):
        for raters, overlap in ((2, None), (3, 0.2), (5, 0.2)):
            for share in SEVERITIES:
                severity = round(share * Design(queries, raters, 0.0).response_sd, 3)
                result.append(Population(Design(queries, raters, severity, overlap=overlap), *few))
    fewest = (seed, min(repetitions, FEWEST), resamples)
    result += [Ceiling(design, *fewest) for design in ceiling_cells.designs()]
    result += [Composite(design, *few) for design in composite_cells.designs()]
    for queries in (30, 150):
        for loading in LOADINGS:
            result.append(Shared(Design(queries, 0, 0.0, missing=0.0), *common, loading=loading))
    return result


def finished(out: Path, wanted: list[Cell]) -> dict[str, list[Row]]:
    """Rows by cell of a table that is there, of cells with enough repetitions."""
    if not out.exists():
        return {}
    enough = {cell.key: cell.repetitions for cell in wanted}
    there: dict[str, list[Row]] = {}
    with out.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if int(row["repetitions"]) >= enough.get(row["cell"], 1 << 60):
                there.setdefault(row["cell"], []).append(dict(row))
    return there


def write(out: Path, wanted: list[Cell], there: dict[str, list[Row]]) -> None:
    """Write the rows in the order of the cells."""
    rows = [row for cell in wanted for row in there.get(cell.key, [])]
    part = out.with_suffix(".part")
    with part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    part.replace(out)


def _timed(cell: Cell) -> tuple[str, list[Row], float]:
    started = time.perf_counter()
    return cell.key, cell.rows(), time.perf_counter() - started


def computed(todo: list[Cell], processes: int) -> Iterator[tuple[str, list[Row], float]]:
    """Rows of the cells in the order in which they finish."""
    if processes == 1:
        yield from map(_timed, todo)
        return
    with multiprocessing.get_context("spawn").Pool(processes, maxtasksperchild=4) as pool:
        yield from pool.imap_unordered(_timed, todo)


def main() -> None:
    """Write the table, or what is missing of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=5000)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", default="", help="cells whose name begins so")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    wanted = cells(options.repetitions, options.resamples)
    there = finished(options.out, wanted)
    todo = [c for c in wanted if c.key not in there and c.key.startswith(options.only)]
    for key, rows, seconds in computed(todo, options.processes):
        there[key] = rows
        write(options.out, wanted, there)
        print(f"{key}: {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()

"""Answers on a judge beside one rater, exactly at their thresholds: writes the committed table.

`python -m tests.coverage.one_rater` simulates `--studies` studies a cell, with 30, 100 and 300
responses to separate queries, and writes tests/coverage/one_rater.csv. A yes is then false, and
should be as rare as the one-sided level of the answer, .05:

- order: judge and rater are normal with the correlation sin(.2 pi) = .588, at which .70 of the
  pairs are ordered alike;
- grades: both are rounded to grades from 1 to 5, with the correlation at which the same holds,
  ties of the judge counted half;
- level: the judge is 5 points too kind on a scale from 0 to 100, with errors of 10 points;
- rates: the judge passes .80 of what people pass and fails .95 of what they fail, who fail .4.

A perfect judge and one without any relation to people are included: the former should get a yes,
the latter none.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.options import Options
from analysis.decisions.records import Use
from analysis.pipeline.one_rater import OneRaterTable, first_figures
from study.base.scales import Scale

TABLE = Path(__file__).with_name("one_rater.csv")
SIZES = (30, 100, 300)
WORDS = ("yes", "likely", "open", "unlikely", "no")
POINTS, GRADES, VERDICTS = Scale(0, 100), Scale(1, 5, 1), Scale(0, 1, 1)
#: Of normal scores that are rounded to grades; from the probabilities of their 25 pairs.
CORRELATION_OF_GRADES = 0.521427

Pair = tuple[FloatArray, FloatArray]


def normal(rng: np.random.Generator, n: int, correlation: float) -> Pair:
    """Standard normal values of people and of a judge, each (n,)."""
    people = rng.normal(size=n)
    return people, correlation * people + math.sqrt(1 - correlation**2) * rng.normal(size=n)


def _points(values: FloatArray) -> FloatArray:
    return np.clip(50 + 12 * values, 0, 100)


def graded(values: FloatArray) -> FloatArray:
    """Grades from 1 to 5, each given to about a fifth, the middle ones more often."""
    return np.clip(np.round(3 + 1.1 * values), 1, 5)


def _order(rng: np.random.Generator, n: int) -> Pair:
    people, judge = normal(rng, n, math.sin(0.2 * math.pi))
    return _points(people), _points(judge)


def _grades(rng: np.random.Generator, n: int) -> Pair:
    people, judge = normal(rng, n, CORRELATION_OF_GRADES)
    return graded(people), graded(judge)


def _level(rng: np.random.Generator, n: int) -> Pair:
    people = 50 + 12 * rng.normal(size=n)
    return people, people + 5 + 10 * rng.normal(size=n)


def _rates(rng: np.random.Generator, n: int) -> Pair:
    people = (rng.random(n) < 0.6).astype(np.float64)
    passes = np.where(people == 1, rng.random(n) < 0.8, rng.random(n) < 0.05)
    return people, passes.astype(np.float64)


def _perfect(rng: np.random.Generator, n: int) -> Pair:
    people = graded(rng.normal(size=n))
    return people, people


def _noise(rng: np.random.Generator, n: int) -> Pair:
    return graded(rng.normal(size=n)), graded(rng.normal(size=n))


#: By kind: how it is drawn, its scale, and the use that is at its threshold.
KINDS: dict[str, tuple[Callable[[np.random.Generator, int], Pair], Scale, Use]] = {
    "order": (_order, POINTS, "order_responses"),
    "grades": (_grades, GRADES, "order_responses"),
    "level": (_level, POINTS, "report_level"),
    "rates": (_rates, VERDICTS, "report_level"),
    "perfect": (_perfect, GRADES, "order_responses"),
    "perfect level": (_perfect, GRADES, "report_level"),
    "noise": (_noise, GRADES, "order_responses"),
    "noise level": (_noise, GRADES, "report_level"),
}


def answer(kind: str, n: int, number: int) -> str:
    """The answer to the use on one study."""
    draw, scale, use = KINDS[kind]
    rng = np.random.default_rng((number, n, list(KINDS).index(kind)))
    people, judge = (values.tolist() for values in draw(rng, n))
    table = OneRaterTable("score", "human", people, {"llm": judge}, scale, {})
    found = first_figures(table, Options()).decisions
    return next(d.answer for d in found if d.use == use and d.construct is None)


def main() -> None:
    """Simulate the studies and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=2000, help="studies of each cell")
    options = parser.parse_args()
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["kind", "use", "responses", "studies", *WORDS])
        for kind, (_, _, use) in KINDS.items():
            for n in SIZES:
                found = [answer(kind, n, number) for number in range(options.studies)]
                counts = [found.count(word) for word in WORDS]
                rows.writerow([kind, use, n, options.studies, *counts])
                print(kind, n, counts, flush=True)


if __name__ == "__main__":
    main()

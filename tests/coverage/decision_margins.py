"""False answers at the margins, true answers given, and the chance beside likely, as tables.

`python -m tests.coverage.decision_margins` simulates studies (tests/coverage/decision_studies.py)
and adds them to tests/coverage/decision_margins.csv until it has `--studies` of each cell; an
interrupted run goes on where it ended. `--part` names one of the tables:

- size: judges exactly at a margin. A yes is then false, and so is a no: both should be at most .05.
  The order is .1 of tau-b below a rater's, or the share of pairs ordered as one rater does .1 below
  that of the rater's own repeat, the bias 5 points for these raters or for raters like
  these, the system that the judge puts first 5 points worse for people than the best one (its
  scores follow people's, the others are as far below), or of responses that people pass .8 pass,
  and in "both rates" of those that they fail .8 fail too.
  "100 of 2000" queries are a sample of the judged ones, which the table states.
- power: judges of which a yes is true: equal to a rater, or with half a rater's error, on one or
  five constructs; and 12 points kind, or without any relation to people, where it is false.
- chance: judges spread around the margins. Of the answers with a probability, how many are true.
- plain: the studies of size and power answered by the plain reference
  (tests/coverage/plain_bootstrap.py), at most `PLAIN_STUDIES` of each cell.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.decisions.records import Use, UseDecision
from tests.coverage.decision_studies import (
    VERDICTS,
    Design,
    Drawn,
    Judge,
    answered,
    drawn,
    error_at,
    error_beside_repeat,
    frame,
    points_behind,
    stepped,
    whole,
)
from tests.coverage.plain_bootstrap import plain_answer

TABLE = Path(__file__).with_name("decision_margins.csv")
FIELDS = ("part", "kind", "target", "design", "studies", "yes", "no", "likely", "unlikely", "mean")
THESE, LIKE_THESE = "these_raters", "raters_like_these"
MARGIN, ORDER_MARGIN, RATE = 5.0, 0.1, 0.8

#: Points that each system is below the one before where a sample of the queries is rated.
NEAR = 4.0

#: The plain reference has another name of the part, and fewer studies.
PLAIN, PLAIN_STUDIES = "plain ", 100

#: Points by which a judge puts one system first that people find worse than the best.
PREFERRED = 25.0


class Cell(NamedTuple):
    """One cell: how a study is drawn, and which answer of the judge as a whole is counted."""

    part: str
    kind: str
    target: str
    design: Design
    use: Use
    table: Callable[[np.random.Generator], pd.DataFrame]

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What names it in the table."""
        return self.part, self.kind, self.target, str(self.design)


def constructs(
    draw: Callable[[np.random.Generator], Drawn], number: int, rng: np.random.Generator
) -> pd.DataFrame:
    """A table of so many constructs, drawn apart."""
    return pd.concat([frame(draw(rng), f"C{i + 1}") for i in range(number)], ignore_index=True)


def rated_twice(design: Design, rng: np.random.Generator) -> pd.DataFrame:
    """One rater, who rates everything twice, and a judge that is .1 of the pairs worse."""
    judge = Judge(error_beside_repeat(-ORDER_MARGIN))
    twice = replace(design, raters=2)
    rows = frame(drawn(twice, judge, rng, (0.0,) * design.systems, severity=0))
    again = rows["scorer"] == "rater-2"
    return rows.assign(scorer=rows["scorer"].where(~again, "rater-1"), repeat=again.astype(int))


def near(design: Design, rng: np.random.Generator) -> pd.DataFrame:
    """A judge equal to a rater, on systems that are close to one another."""
    effects = tuple(-NEAR * place for place in range(design.systems))
    return frame(drawn(design, Judge(), rng, effects), rated=design.rated)


def verdicts(design: Design, rng: np.random.Generator, fails: float = 0.95) -> pd.DataFrame:
    """A judge that passes .8 of what people pass and fails this share of what they fail."""
    n = design.queries * design.systems
    query = np.repeat(np.arange(design.queries), design.systems)
    system = np.tile(np.arange(design.systems), design.queries)
    people = (rng.random(n) < 0.6).astype(float)
    judge = np.where(people == 1, rng.random(n) < RATE, rng.random(n) < 1 - fails).astype(float)
    return frame(Drawn(np.column_stack([people] * design.raters), judge, query, system))


def at_regret(design: Design, rng: np.random.Generator) -> Drawn:
    """The judge puts the second system first; for people all are 5 points below the best."""
    effects = (0.0, *(-points_behind(MARGIN) for _ in range(design.systems - 1)))
    prefers = tuple(PREFERRED if place == 1 else 0.0 for place in range(design.systems))
    return drawn(design, Judge(0.5, prefers=prefers), rng, effects)


def sizes() -> Iterator[Cell]:
    """Judges exactly at a margin."""
    for raters in (1, 3, 5):
        for queries in (30, 100, 300):
            of = Design(queries, 4, raters)
            flat = (0.0,) * of.systems
            targets = [THESE, LIKE_THESE] if raters > 1 else [THESE]
            if raters == 1:
                own: Use = "choose_between_responses"
                yield Cell("size", "order, own repeat", THESE, of, own, partial(rated_twice, of))
            if raters > 1:
                for target in targets:
                    at_order = partial(_at_order, of)
                    yield Cell("size", "order", target, of, "choose_between_responses", at_order)
            for target in targets:
                judge = Judge(0.5, MARGIN, beside_panel=target == THESE)
                draw = partial(_drawn, of, judge, flat)
                yield Cell("size", "level", target, of, "report_level", draw)
            regret: Callable[[np.random.Generator], pd.DataFrame] = partial(_at_regret, of)
            yield Cell("size", "regret", THESE, of, "rank_systems", regret)
            if raters == 1:
                yield Cell("size", "rate", THESE, of, "report_level", partial(verdicts, of))
                both = partial(verdicts, of, fails=RATE)
                yield Cell("size", "both rates", THESE, of, "report_level", both)
    for of in (Design(100, 2, 3), Design(100, 6, 3), *map(_sample, (2, 4, 6))):
        yield Cell("size", "regret", THESE, of, "rank_systems", partial(_at_regret, of))
    five = Design(100, 4, 3)
    level = Judge(0.5, MARGIN, beside_panel=True)
    draw_five = partial(_drawn, five, level, (0.0,) * 4, number=5)
    yield Cell("size", "level, five constructs", THESE, five, "report_level", draw_five)


def powers() -> Iterator[Cell]:
    """Judges of which a yes is true, and two of which it is false."""
    judges = {
        "equal to a rater": Judge(1.0),
        "half a rater's error": Judge(0.5),
        "12 points kind": Judge(1.0, 12.0),
        "noise": Judge(1.0, follows=False),
    }
    designs = ((Design(100, 4, 5), 5), (Design(30, 4, 3), 5), (Design(100, 4, 1), 1))
    uses: tuple[Use, ...] = ("choose_between_responses", "rank_systems", "report_level")
    for name, judge in judges.items():
        for design, number in designs:
            kind = f"{name}, {number} construct{'s' if number > 1 else ''}"
            draw = partial(_drawn, design, judge, stepped(4), number=number)
            for use in uses:
                for target in (THESE, LIKE_THESE):
                    if target == THESE or (design.raters > 1 and use != "rank_systems"):
                        yield Cell("power", f"{use}: {kind}", target, design, use, draw)
    for systems in (2, 4, 6):
        for of in (Design(100, systems, 1), _sample(systems)):
            kind = "rank_systems: equal to a rater, systems 4 points apart"
            yield Cell("power", kind, THESE, of, "rank_systems", partial(near, of))


def _sample(systems: int) -> Design:
    return Design(2000, systems, 1, rated=100)


def _drawn(
    design: Design,
    judge: Judge,
    effects: tuple[float, ...],
    rng: np.random.Generator,
    number: int = 1,
) -> pd.DataFrame:
    return constructs(lambda stream: drawn(design, judge, stream, effects), number, rng)


def _at_order(design: Design, rng: np.random.Generator) -> pd.DataFrame:
    judge = Judge(error_at(-ORDER_MARGIN, design.raters))
    return frame(drawn(design, judge, rng, (0.0,) * design.systems))


def _at_regret(design: Design, rng: np.random.Generator) -> pd.DataFrame:
    return frame(at_regret(design, rng), rated=design.rated)


def _stream(cell: Cell, number: int) -> np.random.Generator:
    """The random numbers of a study, the same for the plain reference."""
    key = "".join(cell.key).removeprefix(PLAIN)
    return np.random.default_rng((number, *map(ord, key)))


def plain(cell: Cell) -> Cell:
    """The same studies, to be answered by the plain reference."""
    return cell._replace(part=PLAIN + cell.part)


def answer(cell: Cell, number: int) -> tuple[str, float]:
    """The answer on one study, and its probability."""
    if cell.part.startswith(PLAIN):
        rng = _stream(cell, number)
        return plain_answer(cell.table(rng), cell.use, rng), 0.0
    decision = run(cell, number)
    return decision.answer, decision.probability or 0.0


def run(cell: Cell, number: int) -> UseDecision:
    """The answer on one study."""
    rng = _stream(cell, number)
    scale = {"scale": VERDICTS} if cell.kind in {"rate", "both rates"} else {}
    found = answered(cell.table(rng), [cell.use], seed=number, **scale)
    decision = whole(found, cell.use, cell.target)
    assert decision is not None, cell.key
    return decision


#: Spreads of judges: the standard deviation of the logarithm of the error, and of the shift.
SPREADS = {"as assumed": (0.5, 6.0), "wider": (0.8, 10.0), "narrower": (0.25, 3.0)}
BANDS = ((0.0, 0.05), (0.05, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 0.95), (0.95, 1.0))


def chance(spread: str, number: int) -> Iterator[tuple[str, float, bool]]:
    """For each answer with a probability: the use, the probability, and whether it is true."""
    rng = np.random.default_rng((number, list(SPREADS).index(spread), 7))
    of_error, of_shift = SPREADS[spread]
    error = float(np.exp(np.log(error_at(-ORDER_MARGIN)) + of_error * rng.normal()))
    shift = float(of_shift * rng.normal())
    design = Design(int(rng.choice([30, 100])), 4, 3)
    judge = Judge(error, shift, beside_panel=True)
    table = frame(drawn(design, judge, rng, (0.0,) * 4))
    found = answered(table, ["choose_between_responses", "report_level"], seed=number)
    true = {
        "choose_between_responses": error < error_at(-ORDER_MARGIN),
        "report_level": abs(shift) < MARGIN,
    }
    for d in found:
        if d.construct is None and d.target == THESE and d.probability is not None:
            yield d.use, d.probability, true[d.use]


Key = tuple[str, str, str, str]
Counts = dict[str, float]


def read() -> dict[Key, Counts]:
    """The committed table."""
    if not TABLE.exists():
        return {}
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {
            (row["part"], row["kind"], row["target"], row["design"]): {
                key: float(row[key]) for key in FIELDS[4:]
            }
            for row in csv.DictReader(file)
        }


def write(table: dict[Key, Counts]) -> None:
    """Write the table, sorted by part as it was computed."""
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(FIELDS)
        for key, counts in table.items():
            rows.writerow([*key, *(f"{counts[field]:g}" for field in FIELDS[4:])])


def _add(counts: Counts, answer: str, value: float) -> None:
    before = counts["studies"]
    counts["studies"] += 1
    counts["mean"] = round((counts["mean"] * before + value) / (before + 1), 6)
    if answer in counts:
        counts[answer] += 1


def _none() -> Counts:
    return dict.fromkeys(FIELDS[4:], 0.0)


def simulate(cells: list[Cell], studies: int, table: dict[Key, Counts]) -> None:
    """Add studies of these cells, 20 at a time, those with the fewest first."""
    while True:
        open_cells = [c for c in cells if table.get(c.key, _none())["studies"] < studies]
        if not open_cells:
            return
        cell = min(open_cells, key=lambda c: table.get(c.key, _none())["studies"])
        counts = table.setdefault(cell.key, _none())
        first = int(counts["studies"])
        for number in range(first, min(first + 20, studies)):
            _add(counts, *answer(cell, number))
        write(table)
        print(*cell.key, counts, flush=True)


def simulate_chances(studies: int, table: dict[Key, Counts]) -> None:
    """Reliability: in each band of probabilities how many of the answers are true (`yes`)."""
    for spread in SPREADS:
        # The band of its studies counts them, whether they have such an answer or not.
        drawn_before = table.setdefault(("chance", spread, "all", "studies"), _none())
        for number in range(int(drawn_before["studies"]), studies):
            drawn_before["studies"] += 1
            for use, probability, true in chance(spread, number):
                band = next(b for b in BANDS if probability <= b[1])
                key = ("chance", f"{spread}: {use}", THESE, f"{band[0]:g} to {band[1]:g}")
                _add(table.setdefault(key, _none()), "yes" if true else "", probability)
            if number % 20 == 19:
                write(table)
                print(spread, number + 1, flush=True)
    write(table)


def main() -> None:
    """Simulate further studies and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("size", "power", "chance", "plain"))
    parser.add_argument("--studies", type=int, default=300, help="studies to have of each cell")
    options = parser.parse_args()
    table = read()
    for part, of in (("size", sizes), ("power", powers)):
        if options.part in {None, part}:
            simulate(list(of()), options.studies, table)
    if options.part in {None, "plain"}:
        cells = [plain(cell) for cell in (*sizes(), *powers())]
        simulate(cells, min(options.studies, PLAIN_STUDIES), table)
    if options.part in {None, "chance"}:
        simulate_chances(options.studies, table)


if __name__ == "__main__":
    main()

"""What the two parts of the rule for ranking systems cost, and what each of them holds back.

`python -m tests.coverage.choice_parts` writes choice_parts.csv: the share of studies with a yes by
the rule, without the pair on which judge and people must be shown to agree, without the correction
for choosing on the same responses, and without both. `estimated` has in its place a correction for
the correlation of judge and people as it is estimated (`chosen_p`), which no theorem covers where
systems differ in their spread. Systems are compared by paired t tests. A row of power has five
constructs, all of which need a yes; a row of size has one, on which the choice costs exactly 5
points, so that a yes is false:

- one preferred: the judge puts one of the systems that are 5 points worse first.
- any worse one: it puts one of them first, whichever its errors favor.
- any worse one, one far below: the same, and on a last system both agree.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from analysis.core.arrays import FloatArray
from analysis.decisions.standards import ALPHA
from analysis.statistics.agreement.choice_regret import Differences, Regret, regret_of
from tests.coverage.decision_studies import Design, Drawn, Judge, drawn, points_behind, stepped

TABLE = Path(__file__).with_name("choice_parts.csv")
MARGIN, PREFERRED, FAR = 5.0, 25.0, 50.0
POWER = "equal to a rater, 5 constructs"
RULES = ("rule", "estimated", "no_pair", "no_correction", "neither")
STUDIES = {True: 400, False: 1000}


class Cell(NamedTuple):
    """How a study is drawn, and of how many constructs."""

    kind: str
    design: Design
    judge: Judge
    effects: tuple[float, ...]

    @property
    def power(self) -> bool:
        """Whether a yes is true."""
        return self.kind == POWER


def cells() -> Iterator[Cell]:
    """A good judge, and judges whose choice costs exactly the margin."""
    yield Cell(POWER, Design(30, 4, 3), Judge(1.0), stepped(4))
    behind = -points_behind(MARGIN)
    for design in (Design(30, 4, 3), Design(100, 4, 5), Design(30, 6, 3), Design(100, 6, 5)):
        rest = design.systems - 2
        worse = (0.0, *(behind,) * (rest + 1))
        below = (0.0, *(behind,) * rest, -FAR)
        one = (0.0, PREFERRED, *(0.0,) * rest)
        every = (0.0, *(PREFERRED,) * (rest + 1))
        yield Cell("one preferred", design, Judge(1.0, prefers=one), worse)
        yield Cell("any worse one", design, Judge(1.0, prefers=every), worse)
        last = (0.0, *(PREFERRED,) * rest, 0.0)
        yield Cell("any worse one, one far below", design, Judge(1.0, prefers=last), below)


def differences(values: FloatArray) -> Differences:
    """Paired t statistics of all pairs of systems; values (queries, systems)."""
    result = {}
    for pair in combinations(range(values.shape[1]), 2):
        apart = values[:, pair[0]] - values[:, pair[1]]
        error = float(apart.std(ddof=1) / np.sqrt(apart.size))
        result[pair] = float(apart.mean()), error, float(apart.size - 1)
    return result


_GRID = np.linspace(-8, 8, 801)


def chosen_p(p: float, others: int, shared: float, rho: float) -> float:
    """p of a comparison with a system that was chosen among so many, none better for the judge.

    `shared` is the correlation of the errors of judge and people, `rho` that of the comparisons.
    """
    density = others * norm.pdf(_GRID) * norm.cdf(_GRID) ** (others - 1) * (_GRID[1] - _GRID[0])
    part = np.sqrt(1 - rho)
    beyond = norm.isf(p) - part * shared * _GRID
    return float((density * norm.sf(beyond / np.sqrt(1 - (part * shared) ** 2))).sum())


def estimated_p(people: FloatArray, judge: FloatArray, found: Regret) -> float:
    """The largest p of the rivals with this correction; values (queries, systems)."""
    parts = []
    for values in (people, judge):
        left = values - values.mean(axis=1, keepdims=True)
        parts.append((left - left.mean(axis=0)).ravel())
    shared = max(0.0, float(np.corrcoef(parts[0], parts[1])[0, 1]))
    others = people.shape[1] - 1
    corrected = []
    for rival in found.uncertainty.rivals:
        apart = np.delete(people, rival.system, 1) - people[:, [rival.system]]
        rho = (np.corrcoef(apart.T).sum() - others) / (others * (others - 1))
        p = rival.p_at_least(MARGIN)
        corrected.append(chosen_p(p, others, shared, float(np.clip(rho, 0, 0.95))))
    return max(corrected)


def answers(d: Drawn, systems: int) -> list[bool]:
    """Whether each of `RULES` gives a yes."""
    people, judge = (v.reshape(-1, systems) for v in (d.ratings.mean(axis=1), d.judge))
    found = regret_of(differences(people), differences(judge), systems)
    assert isinstance(found, Regret)
    corrected = found.uncertainty.p_at_least(found.value, MARGIN) <= ALPHA
    plain = max(rival.p_at_least(MARGIN) for rival in found.uncertainty.rivals) <= ALPHA
    pair = found.agreed <= ALPHA
    estimated = estimated_p(people, judge, found) <= ALPHA
    return [corrected and pair, estimated and pair, corrected, plain and pair, plain]


def simulated(cell: Cell, studies: int) -> list[float]:
    """The share of studies with a yes, by each of `RULES`."""
    rng = np.random.default_rng(tuple(map(ord, cell.kind + str(cell.design))))
    yes = np.zeros(len(RULES))
    for _ in range(studies):
        constructs = [
            answers(drawn(cell.design, cell.judge, rng, cell.effects), cell.design.systems)
            for _ in range(5 if cell.power else 1)
        ]
        yes += np.all(constructs, axis=0)
    return [float(share) for share in yes / studies]


def main() -> None:
    """Simulate all cells and write the table."""
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("kind", "design", "studies", *RULES))
        for cell in cells():
            studies = STUDIES[cell.power]
            shares = (f"{share:.4g}" for share in simulated(cell, studies))
            rows.writerow((cell.kind, cell.design, studies, *shares))


if __name__ == "__main__":
    main()

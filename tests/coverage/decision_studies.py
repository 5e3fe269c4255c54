"""Simulated studies for answers: people, systems and a judge of a known quality.

Each of S systems answers each query. The quality of a response is 60 points, plus a normal part of
its query (standard deviation 12) and of the response (15), plus that of its system. A rater gives
it with a severity (standard deviation 3 between raters) and an error (12), the judge with a shift
and an error of its own. Values are rounded to 5 points and end at 0 and 100.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd
from scipy.special import ndtr

from analysis import Options, Scale, ScoreTable
from analysis.core.arrays import FloatArray, IntArray
from analysis.decisions.records import Use, UseDecision
from analysis.pipeline.estimation import answers

QUERY, RESPONSE, ERROR, SEVERITY = 12.0, 15.0, 12.0, 3.0
POINTS, VERDICTS = Scale(0, 100), Scale(0, 1, 1)

#: Points that each system is below the one before, where systems differ.
APART = 8.0

#: Queries of the population from which true figures are computed.
POPULATION = 1_000_000


@dataclass(frozen=True)
class Design:
    """The size of a study; `rated` of the queries are rated, by default all."""

    queries: int
    systems: int
    raters: int
    rated: int | None = None

    def __str__(self) -> str:
        queries = str(self.queries) if self.rated is None else f"{self.rated} of {self.queries}"
        return f"{queries} x {self.systems} x {self.raters}"


@dataclass(frozen=True)
class Judge:
    """How a judge scores: its error beside a rater's, its shift in points, and its systems.

    `shift` is beside the raters' population, or beside the panel. `prefers` are points that it adds
    to systems, `follows` whether its scores have to do with the responses.
    """

    error: float = 1.0
    shift: float = 0.0
    beside_panel: bool = False
    prefers: tuple[float, ...] = ()
    follows: bool = True


@dataclass(frozen=True)
class Drawn:
    """Ratings (n, raters), judge (n,), and query and system (n,) of each response."""

    ratings: FloatArray
    judge: FloatArray
    query: IntArray
    system: IntArray


def rounded(values: FloatArray) -> FloatArray:
    """Values on the scale from 0 to 100 in steps of 5."""
    return np.asarray(np.clip(5 * np.round(values / 5), 0, 100))


def drawn(
    design: Design,
    judge: Judge,
    rng: np.random.Generator,
    effects: Sequence[float],
    severity: float = SEVERITY,
) -> Drawn:
    """One study; `effects` are points of each system."""
    query = np.repeat(np.arange(design.queries), design.systems)
    system = np.tile(np.arange(design.systems), design.queries)
    quality = 60 + QUERY * rng.normal(size=design.queries)[query]
    quality = quality + RESPONSE * rng.normal(size=query.size) + np.asarray(effects)[system]
    severities = severity * rng.normal(size=design.raters)
    errors = ERROR * rng.normal(size=(query.size, design.raters + 1))
    ratings = rounded(quality[:, None] + severities + errors[:, :-1])
    own = quality if judge.follows else 60 + 22 * rng.normal(size=query.size)
    own = own + judge.error * errors[:, -1] + judge.shift
    if judge.beside_panel:
        own = own + severities.mean()
    if judge.prefers:
        own = own + np.asarray(judge.prefers)[system]
    return Drawn(ratings, rounded(own), query, system)


def stepped(systems: int) -> tuple[float, ...]:
    """Systems of which each is worse than the one before."""
    return tuple(-APART * place for place in range(systems))


@cache
def order_difference(error: float, raters: int = 3) -> float:
    """The judge's tau-b within a query minus a rater's, of the population with four systems.

    Both are with the mean of the other raters, which more raters make more reliable.
    """
    d = population(error, raters)
    people = d.ratings.sum(axis=1)
    apart = []
    for rater in d.ratings.T:
        others = people - rater
        apart.append(_tau_b(d.judge, others) - _tau_b(rater, others))
    return float(np.mean(apart))


def population(error: float, raters: int, queries: int = POPULATION, seed: int = 1) -> Drawn:
    """Four systems that people find equally good, and a judge with this error."""
    rng = np.random.default_rng(seed)
    return drawn(Design(queries, 4, raters), Judge(error), rng, (0.0,) * 4, severity=0)


def _signs(values: FloatArray) -> FloatArray:
    """Signs of the differences of all pairs within a query of four responses."""
    of_query = values.reshape(-1, 4)
    i, j = np.triu_indices(4, 1)
    return np.asarray(np.sign(of_query[:, i] - of_query[:, j]))


def _tau_b(first: FloatArray, second: FloatArray) -> float:
    one, other = _signs(first), _signs(second)
    return float((one * other).sum() / np.sqrt((one**2).sum() * (other**2).sum()))


@cache
def error_at(difference: float, raters: int = 3) -> float:
    """The judge's error, in errors of a rater, at which its tau-b is so far from a rater's."""
    return _error_at(lambda error: order_difference(error, raters), difference)


@cache
def repeat_difference(error: float) -> float:
    """The same of the share of pairs that are ordered as by one rater, beside the own repeat."""
    d = population(error, 2)
    first, again, judge = map(_signs, (*d.ratings.T, d.judge))
    # Ties of the others count half.
    return float(((judge - again) * first)[first != 0].mean() / 2)


@cache
def error_beside_repeat(difference: float) -> float:
    """The judge's error at which this share is so far from the repeat's."""
    return _error_at(repeat_difference, difference)


def _error_at(of_error: Callable[[float], float], difference: float) -> float:
    return bisected(lambda error: -of_error(error), -difference, 0.2, 6.0, 0.005)


def bisected(
    increasing: Callable[[float], float], wanted: float, low: float, high: float, nearest: float
) -> float:
    """Where an increasing function has this value, to within `nearest`."""
    while high - low > nearest:
        middle = (low + high) / 2
        low, high = (middle, high) if increasing(middle) < wanted else (low, middle)
    return (low + high) / 2


def mean_rating(mean: float, deviation: float) -> float:
    """Mean of normal values after they are rounded, and ended at 0 and 100 (`rounded`)."""
    steps = np.arange(2.5, 100, 5)
    return float(5 * ndtr((mean - steps) / deviation).sum())


@cache
def points_behind(regret: float) -> float:
    """Points by which a system is worse, where ratings of it are so much lower on average."""
    deviation = float(np.hypot.reduce([QUERY, RESPONSE, ERROR, SEVERITY]))
    best = mean_rating(60, deviation)
    return bisected(lambda by: best - mean_rating(60 - by, deviation), regret, 0, 50, 1e-4)


def frame(
    d: Drawn, construct: str = "QR", name: str = "judge", rated: int | None = None
) -> pd.DataFrame:
    """The study as a table of scores; of a sample so many queries are rated, which it states."""
    base = pd.DataFrame(
        {
            "response_id": [f"r{i}" for i in range(d.query.size)],
            "query_id": [f"q{i}" for i in d.query],
            "system": [f"s{i}" for i in d.system],
            "construct": construct,
        }
    )
    parts = [base.assign(scorer=name, scorer_kind="judge", value=d.judge)]
    parts += [
        base.assign(scorer=f"rater-{i + 1}", scorer_kind="human", value=values)
        for i, values in enumerate(d.ratings.T)
    ]
    if rated is not None:
        probability = rated / (d.query.max() + 1)
        chosen = d.query < rated
        parts = [
            parts[0],
            *(part[chosen].assign(inclusion_prob=probability) for part in parts[1:]),
        ]
    return pd.concat(parts, ignore_index=True)


def answered(
    table: pd.DataFrame, uses: Sequence[Use], scale: Scale = POINTS, seed: int = 0
) -> list[UseDecision]:
    """The answers on a study."""
    constructs = list(dict.fromkeys(table["construct"]))
    scores = ScoreTable.from_frame(table, dict.fromkeys(constructs, scale))
    return answers(scores, uses, Options(seed=seed))


def whole(found: Sequence[UseDecision], use: Use, target: str) -> UseDecision | None:
    """The answer for the judge as a whole."""
    return next((d for d in found if (d.construct, d.use, d.target) == (None, use, target)), None)


def at_panel(judge: Judge, shift: float) -> Judge:
    """The judge with a shift beside the panel of its study."""
    return replace(judge, shift=shift, beside_panel=True)

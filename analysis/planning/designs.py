"""What plans of widths and of claims have in common: settings, designs, answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

from analysis.core.errors import AnalysisError
from analysis.planning.components import Components
from analysis.planning.simulated_study import Design
from study.base.analysis_settings import AnalysisSettings

#: Called with the number of simulated parts done and of all of them.
Advance = Callable[[int, int], None]

#: Simulated studies for each design, if no number is wanted.
RUNS = 40


@dataclass(frozen=True, kw_only=True)
class PlanSettings:
    """What is simulated: every rater rates every response of each design.

    Parameters
    ----------
    queries, raters
        Numbers to simulate.
    responses_per_query
        Responses to each query, as many as systems.
    judged
        Queries with scores of the judge only, for corrected means.
    width
        Of the scale in points, of which the margin of a level is a share.
    minutes
        A rater's working time for one response.
    level
        Level of the report's intervals.
    assurance
        Share of the studies that shall reach a width, or whose report shall make a claim.
    runs
        Simulated studies for each design.
    seed
        Of their draws.

    Raises
    ------
    AnalysisError
        A number is too small.
    """

    queries: tuple[int, ...] = (25, 50, 100, 200)
    raters: tuple[int, ...] = (2, 3, 5, 10)
    responses_per_query: int = 4
    judged: int = 1000
    width: float = 100.0
    minutes: float = 1.0
    level: float = AnalysisSettings.level
    assurance: float = 0.8
    runs: int = RUNS
    seed: int = 0

    def __post_init__(self) -> None:
        for option, numbers, least in (("queries", self.queries, 5), ("raters", self.raters, 1)):
            if not numbers or min(numbers) < least:
                raise AnalysisError(f"{option}: give numbers from {least} on")
        if self.responses_per_query < 1 or min(self.runs, self.judged) < 2 or not self.minutes > 0:
            raise AnalysisError("responses, runs, judged queries and minutes: give more")

    def designs(self) -> Iterator[Design]:
        """Every number of raters with every number of queries."""
        for raters in self.raters:
            for queries in self.queries:
                yield Design(queries, raters, self.responses_per_query)


@dataclass(frozen=True, kw_only=True)
class SimulatedDesign:
    """One figure in one design; `reason` states why the design does not have it."""

    queries: int
    raters: int
    responses: int
    """Responses that are rated."""
    ratings: int
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class QueriesNeeded:
    """Queries that are enough with a number of raters; None with the reason."""

    raters: int
    queries: int | None = None
    responses: int | None = None
    ratings: int | None = None
    hours: float | None = None
    reason: str | None = None


def size_of(design: Design) -> dict[str, int]:
    """Fields of a `SimulatedDesign`."""
    return {
        "queries": design.queries,
        "raters": design.raters,
        "responses": design.n_responses,
        "ratings": design.n_ratings,
    }


def effort(queries: int, raters: int, settings: PlanSettings) -> dict[str, Any]:
    """Fields of `QueriesNeeded` where so many queries are enough."""
    design = Design(queries, raters, settings.responses_per_query)
    return size_of(design) | {"hours": design.n_ratings * settings.minutes / 60}


CellT = TypeVar("CellT", bound=SimulatedDesign)
AnswerT = TypeVar("AnswerT", bound=QueriesNeeded)


@dataclass(frozen=True, kw_only=True)
class Plan(Generic[CellT, AnswerT]):
    """What was simulated (`cells`), and what follows for each number of raters (`answers`)."""

    components: Components
    settings: PlanSettings
    cells: Sequence[CellT]
    answers: Sequence[AnswerT]

    def as_json(self) -> dict[str, Any]:
        """The plan as values for JSON, null for NaN."""
        content = asdict(self)
        content |= content.pop("settings")
        for cell in content["cells"]:
            for key, value in cell.items():
                if isinstance(value, float) and math.isnan(value):
                    cell[key] = None
        return content

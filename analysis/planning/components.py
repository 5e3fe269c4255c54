"""Standard deviations of queries, responses, raters and judges: stated, or from a pilot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray
from analysis.core.errors import AnalysisError
from analysis.core.query_statistic import as_codes, as_values
from analysis.statistics.reliability.two_way import two_way
from analysis.statistics.reliability.variance_components import variance_components


@dataclass(frozen=True)
class Components:
    """Standard deviations in points of the scale.

    A rating is query + response + rater + error. A judge's score is slope * (query + response)
    + judge. The defaults are those of a scale from 0 to 100 on which raters agree moderately:
    ICC(A,1) .72, judge and a rater's true value correlate at .83.
    """

    query: float = 10.0
    response: float = 15.0
    rater: float = 5.0
    error: float = 10.0
    judge: float = 12.0
    slope: float = 1.0
    """Points of the judge for a point of the true value."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not math.isfinite(value) or (value < 0 and name != "slope"):
                raise AnalysisError(f"component {name} = {value:g}: give a finite number from 0 on")
        if self.query == 0 and self.response == 0:
            raise AnalysisError("query and response are both 0: responses do not differ")

    @property
    def rating_sd(self) -> float:
        """Standard deviation of single ratings."""
        return math.hypot(self.query, self.response, self.rater, self.error)


def parse_components(text: str, width: float = 100.0) -> Components:
    """Read `query=10,rater=4`; other components have defaults in proportion to the scale.

    Raises
    ------
    AnalysisError
        A name is unknown or a value is not a number.
    """
    names = {field.name for field in fields(Components)}
    stated: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if name.strip() not in names:
            raise AnalysisError(
                f"component {name.strip()!r} is not one of {', '.join(sorted(names))}"
            )
        try:
            stated[name.strip()] = float(value)
        except ValueError:
            raise AnalysisError(f"component {part!r}: write {name.strip()}=NUMBER") from None
    return Components(**{**default_components(width), **stated})


def default_components(width: float = 100.0) -> Mapping[str, float]:
    """The defaults on a scale of this width."""
    return {
        name: value if name == "slope" else value * width / 100
        for name, value in asdict(Components()).items()
    }


def components_of(
    ratings: npt.ArrayLike, judge: npt.ArrayLike | None, query: npt.ArrayLike
) -> Components:
    """Components of a pilot: ratings (n, R), judge (n,) or None, query codes (n,).

    Components of ratings are estimated by REML (`variance_components`); the variance of the
    responses' true values is divided into that of queries and that within them by the analysis of
    variance of the responses' means, adjusted for raters. The judge's slope follows from its
    covariance with the mean rating. A component that is estimated below 0 is 0; without a judge its
    defaults are used.

    Raises
    ------
    AnalysisError
        The pilot does not identify the components: fewer than 2 raters or responses, for instance.
    """
    people = as_values(ratings)
    codes, _ = as_codes(query, people.shape[0], None)
    parts = variance_components(people)
    if parts.reason is not None:
        raise AnalysisError(f"the pilot gives no components: {parts.reason}")
    if parts.response <= 0:
        raise AnalysisError(
            "the pilot gives no components: raters do not agree on responses at all; state them"
        )
    table = two_way(people)
    means, place = table.response_means, codes[table.responses]
    between = min(max(_between(means, place), 0.0), parts.response)
    usual = Components()
    spread = math.sqrt(parts.response + parts.rater + parts.residual)
    slope, noise = usual.slope, usual.judge * spread / usual.rating_sd
    if judge is not None:
        machine = as_values(judge, "judge")[table.responses]
        both = np.isfinite(machine)
        if np.count_nonzero(both) > 2:
            scores, person = machine[both], means[both]
            slope = float(np.cov(scores, person)[0, 1]) / parts.response
            noise = math.sqrt(max(float(scores.var(ddof=1)) - slope**2 * parts.response, 0.0))
    return Components(
        query=math.sqrt(between),
        response=math.sqrt(parts.response - between),
        rater=math.sqrt(max(parts.rater, 0.0)),
        error=math.sqrt(max(parts.residual, 0.0)),
        judge=noise,
        slope=slope,
    )


def _between(means: FloatArray, place: npt.NDArray[np.int64]) -> float:
    """Variance of queries, from the mean squares between and within them."""
    _, group, counts = np.unique(place, return_inverse=True, return_counts=True)
    n, q = means.size, counts.size
    if q < 2:
        return 0.0
    if n == q:
        # With one response a query the two are not identified, and enter alike.
        return 0.0
    group_means = np.bincount(group, weights=means) / counts
    centered = means - means.mean()
    between = float(counts @ (group_means - means.mean()) ** 2) / (q - 1)
    within = (float(centered @ centered) - between * (q - 1)) / (n - q)
    size = (n - float(counts @ counts) / n) / (q - 1)
    return (between - within) / size

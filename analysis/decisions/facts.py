"""What a decision must know of a judge and its raters besides the figures."""

from __future__ import annotations

import math
from dataclasses import dataclass

from study.base.scales import Scale


@dataclass(frozen=True)
class ScoredFacts:
    """One judge on one construct, over the rated queries."""

    construct: str
    scorer: str
    people: tuple[str, ...] = ()
    """The raters, or the adjudicator."""
    adjudicated: bool = False
    """Whether the reference is an adjudicated value in place of the mean of raters."""
    n_responses: int = 0
    """Responses with a score and a reference."""
    n_queries: int = 0
    """Queries of these responses."""
    rated_twice: bool = False
    """Whether any response was rated by two raters."""
    several_a_query: bool = False
    """Whether any query has two rated responses."""
    systems: tuple[str, ...] = ()
    nominal: bool = False
    """Whether values only name categories."""
    human_scale: Scale | None = None
    scorer_scale: Scale | None = None
    reference_missing: str | None = None
    """Why people's values are not there."""
    constant: str | None = None
    """Which side gives all responses one value."""
    missing_share: float = 0.0
    """Share of the rated responses without a score."""
    unequal_draw: bool = False
    """Whether responses were drawn with unequal probabilities."""
    dominant: str | None = None
    """The query that has a large part of the rated responses, with its share."""
    copy_of: str | None = None
    """The rater whose ratings the scores all equal."""
    people_at_max: float = math.nan
    """Share of people's values at the maximum of the scale."""
    preferences: bool = False
    """Whether people and the judge compared responses, in place of scoring them."""
    pattern: str | None = None
    """What the scores have in common that a person would see, such as a constant shift."""

    @property
    def people_constant(self) -> bool:
        """Whether people give all responses one value, so that no order of theirs is known."""
        return self.constant is not None and self.constant.startswith("people")

    @property
    def n_raters(self) -> int:
        """Number of raters; 0 where the reference is adjudicated."""
        return 0 if self.adjudicated else len(self.people)

    @property
    def one_rating(self) -> bool:
        """Whether no response has two ratings, so that no rater is compared with another."""
        return self.adjudicated or not self.rated_twice

    @property
    def scope(self) -> str:
        """Where order counts: within a query, or over all responses where each is of another."""
        return "within_query" if self.several_a_query else "pooled"

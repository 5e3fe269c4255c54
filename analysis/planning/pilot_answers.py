"""The chance that a report on more queries like those of a pilot answers yes.

Queries of the pilot are drawn with replacement, each with all its responses, ratings and scores,
and the report's own functions answer. So everything stays as it is in the pilot: the ends of the
scale, ties, the bias on each system. What is true of the pilot's queries is taken to be true: the
chance is that of a yes if the figures stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analysis.core.arrays import IntArray
from analysis.core.options import Options
from analysis.core.tables import ScoreTable
from analysis.decisions.records import Use
from analysis.pipeline.estimation import answers
from analysis.planning.claim import ClaimOutcome
from analysis.planning.components import Components
from analysis.planning.designs import Advance, PlanSettings, size_of
from analysis.planning.planned_report import PlannedReport
from analysis.planning.power import PowerOfDesign, PowerPlan, queries_for_power, shares
from analysis.planning.simulated_study import Design

#: Uses that most studies are for; the second and third need several responses, or systems.
USES: tuple[Use, ...] = (
    "choose_between_responses",
    "order_responses",
    "rank_systems",
    "report_level",
)

#: Simulated studies for each design, if no number is wanted.
RUNS = 40


@dataclass(frozen=True, eq=False)
class Pilot:
    """The rated responses of one construct, and the scores that one judge gave them."""

    scores: ScoreTable
    raters: tuple[str, ...]
    places: tuple[IntArray, ...]
    """Rows of each query."""

    @classmethod
    def of(cls, scores: ScoreTable, construct: str, scorer: str) -> Pilot:
        """What one construct of a table has; queries that nobody rated are left out."""
        rows = scores.frame
        construct_rows = rows[rows["construct"] == construct]
        human = construct_rows["scorer_kind"].isin(["human", "adjudicated"])
        human &= construct_rows["value"].notna()
        rated = construct_rows.loc[human, "query_id"].unique()
        kept = construct_rows["query_id"].isin(rated)
        kept &= human | (construct_rows["scorer"] == scorer)
        used = construct_rows[kept].reset_index(drop=True)
        groups = used.groupby("query_id", observed=True, sort=True).indices
        raters = tuple(dict.fromkeys(construct_rows.loc[human, "scorer"].astype(str)))
        places = tuple(np.asarray(rows_of) for rows_of in groups.values())
        return cls(replace(scores, frame=used), raters, places)

    @property
    def uses(self) -> tuple[Use, ...]:
        """The uses that the report on it is asked about."""
        return tuple(use for use in USES if _decided(self.scores, use, Options(resamples=100)))

    def drawn(self, queries: int, raters: int, rng: np.random.Generator) -> ScoreTable:
        """So many of its queries, drawn with replacement, rated by so many of its raters."""
        chosen = rng.integers(len(self.places), size=queries)
        rows = np.concatenate([self.places[place] for place in chosen])
        copies = np.repeat(np.arange(queries), [self.places[place].size for place in chosen])
        frame = self.scores.frame.iloc[rows].reset_index(drop=True)
        for column in ("query_id", "response_id"):
            named = frame[column].astype(str) + "#" + pd.Series(copies).astype(str)
            frame[column] = named.astype("category")
        if raters < len(self.raters):
            left_out = rng.permutation(len(self.raters))[raters:]
            names = [self.raters[place] for place in left_out]
            frame = frame[~frame["scorer"].isin(names)].reset_index(drop=True)
        return replace(self.scores, frame=frame)


def power_of_pilot(
    pilot: Pilot,
    uses: Sequence[Use],
    components: Components,
    settings: PlanSettings,
    options: Options | None = None,
    progress: Advance | None = None,
) -> PowerPlan:
    """The share of drawn studies with a yes, for these raters, in each design.

    `components` are stated with the plan, and not used.
    """
    options = options or Options(level=settings.level, seed=settings.seed)
    designs, cells = list(settings.designs()), []
    total, done = len(designs) * settings.runs, 0
    for design in designs:
        reason = None
        if design.raters > len(pilot.raters):
            reason = f"the pilot has {len(pilot.raters)}"
        outcomes: dict[Use, list[ClaimOutcome]] = {use: [] for use in uses}
        for run in range(settings.runs):
            if progress is not None:
                progress(done, total)
            done += 1
            if reason is None:
                stream = np.random.SeedSequence(
                    settings.seed, spawn_key=(design.queries, design.raters, run)
                )
                table = pilot.drawn(design.queries, design.raters, np.random.default_rng(stream))
                for use in uses:
                    outcomes[use].append(
                        _decided(table, use, options) or ClaimOutcome(np.nan, False)
                    )
        cells += [_cell(use, design, reason, outcomes[use]) for use in uses]
    if progress is not None:
        progress(total, total)
    return PowerPlan(
        components=components,
        settings=settings,
        claims=dict.fromkeys(uses),
        report=PlannedReport(),
        cells=cells,
        answers=[
            queries_for_power([c for c in cells if (c.claim, c.raters) == (use, raters)], settings)
            for use in uses
            for raters in settings.raters
        ],
        from_pilot=True,
    )


def _decided(table: ScoreTable, use: Use, options: Options) -> ClaimOutcome | None:
    """Whether the answer is yes, for these raters; None where the table cannot be asked.

    An order of systems that is adjusted for its raters is about raters like these alone.
    """
    asked = [d for d in answers(table, [use], options) if d.construct is None]
    asked.sort(key=lambda d: d.target != "these_raters")
    if not asked or asked[0].answer == "not_applicable":
        return None
    binding = asked[0].binding
    figure = np.nan if binding is None else binding.estimate.value
    return ClaimOutcome(figure, asked[0].answer == "yes")


def _cell(
    use: Use, design: Design, reason: str | None, outcomes: Sequence[ClaimOutcome]
) -> PowerOfDesign:
    return PowerOfDesign(
        claim=use,
        effect=None,
        target="these_raters",
        reason=reason,
        **size_of(design),
        **shares(outcomes, 1.0),
    )

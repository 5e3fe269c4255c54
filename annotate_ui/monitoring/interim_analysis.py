"""Interim analyses: figures computed while people rate, each of them recorded.

A design is sequential from the first interim analysis on, so each is stored with its result. Only
the stopping rule may decide when to stop: the intervals of the other figures are valid at one
moment, not at the best of many.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

import numpy as np
import pandas as pd
from sqlalchemy import insert, select

from analysis.core.computation import one_blas_thread
from analysis.core.construct_data import ConstructData
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.layouts import select_layout
from analysis.core.options import Options
from analysis.core.statistic import ORDER, within_ranges
from analysis.core.tables import ScoreTable
from analysis.statistics.reliability.icc import icc, icc_interval, icc_undefined_reason
from analysis.topics.agreement import association, categories, human_ceiling
from analysis.topics.agreement.association import judge_against_humans
from analysis.topics.agreement.categories import on_categories
from analysis.topics.agreement.human_ceiling import ceilings, raters_against_others
from analysis.topics.reliability.estimates import STATISTICS as RELIABILITY, alphas
from analysis.topics.reliability.raters import unconnected
from annotate_ui.monitoring.stopping_rule import stopping_state
from study.errors import StudyError, nearest
from study.facts.ratings import values_so_far
from study.schema import now
from study.schema.tables import interim_analyses
from study.study import Study

Kind = Literal["agreement", "judge", "stopping"]
KINDS: tuple[Kind, ...] = ("agreement", "judge", "stopping")

#: Resamples are only drawn from 500 queries on; interim figures need fewer than a report.
_RESAMPLES = 500
_SCOPES = ("pooled", "within_query")
_DECLARED = (
    *RELIABILITY,
    *association.STATISTICS,
    *human_ceiling.STATISTICS,
    *categories.STATISTICS,
)


@dataclass(frozen=True)
class InterimResult:
    """The result of an interim analysis."""

    kind: str
    requested_in: str
    """`page` or `command`."""
    computed_at: datetime
    ratings: int
    """Number of values that people had entered."""
    not_for_stopping: bool
    """Stopping because of these figures would bias them."""
    judge: str | None
    note: str | None
    """What the figures leave out."""
    figures: tuple[dict[str, Any], ...]
    """Of agreement and judge: records as in `estimates` of report.json."""
    stopping: dict[str, Any] | None
    """Of the stopping rule: `StoppingState.as_json()`."""
    erased: bool = False
    """Whether the figures were removed with a rater whose values they counted."""

    def as_json(self) -> dict[str, Any]:
        """Return the result as values that JSON can represent."""
        return {**asdict(self), "computed_at": self.computed_at.isoformat(timespec="seconds")}

    def of(self, statistic: str, construct: str, scope: str = "pooled") -> list[dict[str, Any]]:
        """Return the figures of a statistic on a construct."""
        return [
            figure
            for figure in self.figures
            if figure["statistic"] == statistic
            and figure["constructs"] == [construct]
            and figure["scope"] == scope
        ]


def run_interim_analysis(
    study: Study, kind: Kind, requested_in: str, judge: str | None = None
) -> InterimResult:
    """Compute interim figures, and record that they were computed.

    `judge` names the scorer of `kind="judge"`.

    Raises
    ------
    StudyError
        The kind or the judge is unknown, or people have not entered a value yet.
    """
    if kind not in KINDS:
        raise StudyError(
            f"Unknown kind of interim analysis {kind!r}; use one of {', '.join(KINDS)}."
        )
    if (kind == "judge") != (judge is not None):
        raise StudyError("Name the judge for an analysis of a judge, and for no other analysis.")
    figures: list[dict[str, Any]] = []
    note: str | None = None
    stopping: dict[str, Any] | None = None
    if kind == "stopping":
        stopping = stopping_state(study).as_json()
    else:
        figures, note = _figures(study, judge)
    result = {"judge": judge, "note": note, "figures": figures, "stopping": stopping}
    with study.write() as connection:
        row = {
            "kind": kind,
            "requested_in": requested_in,
            "ratings": values_so_far(connection),
            "result": result,
            "created_at": now(),
        }
        connection.execute(insert(interim_analyses).values(row))
    return _result(row)


def interim_results(study: Study, kind: Kind | None = None) -> list[InterimResult]:
    """Return the results of interim analyses, the newest first: all, or of one kind."""
    statement = select(interim_analyses).order_by(interim_analyses.c.id.desc())
    if kind is not None:
        statement = statement.where(interim_analyses.c.kind == kind)
    with study.read() as connection:
        return [_result(row) for row in connection.execute(statement).mappings()]


def newest(study: Study, kind: Kind) -> InterimResult | None:
    """Return the last result of a kind that was not erased; None if there is none."""
    results = interim_results(study, kind)
    return next((result for result in results if not result.erased), None)


def _result(row: Any) -> InterimResult:
    stored = row["result"]
    return InterimResult(
        kind=row["kind"],
        requested_in=row["requested_in"],
        computed_at=row["created_at"],
        ratings=row["ratings"],
        not_for_stopping=row["kind"] != "stopping",
        judge=stored.get("judge"),
        note=stored.get("note"),
        figures=tuple(stored.get("figures") or ()),
        stopping=stored.get("stopping"),
        erased=stored.get("erased", False),
    )


def human_context(study: Study, frame: pd.DataFrame, judge: str | None = None) -> Context | None:
    """Return people's values for analysis, with those of one judge if it is named.

    None where people entered no value. Of values in two layouts, which are never pooled, those of
    the layout with more values are used; `layout_left_out` of the context names the other.

    Raises
    ------
    StudyError
        The judge is unknown.
    """
    config = study.config
    human = frame["scorer_kind"] == "human"
    if judge is not None:
        machines = frame.loc[frame["scorer_kind"].isin(["judge", "metric"]), "scorer"].unique()
        if judge not in machines:
            hint = nearest(judge, machines) or f"There are: {', '.join(machines) or 'none'}."
            raise StudyError(f"Unknown judge {judge!r} in {study.folder}. {hint}")
    if not frame.loc[human, "value"].notna().any():
        return None
    scales = {c.key: c.scale for c in config.constructs}
    scorer_scales = config.scorer_scales(frame["scorer"].unique(), scales)
    names = {c.key: c.name for c in config.constructs}
    asked = human if judge is None else human | (frame["scorer"] == judge)
    rows = frame[asked & frame["construct"].isin(list(scales))]
    scores, left_out = select_layout(ScoreTable.from_frame(rows, scales, scorer_scales, names))
    options = Options(resamples=_RESAMPLES, seed=config.seed, level=config.analysis.level)
    return Context(scores, None, options, layout_left_out=left_out and left_out.split(";")[0])


def _figures(study: Study, judge: str | None) -> tuple[list[dict[str, Any]], str | None]:
    context = human_context(study, study.score_table(), judge)
    if context is None:
        raise StudyError(
            f"People have not entered a value in {study.folder} yet; compute this when they have."
        )
    with one_blas_thread():
        figures = _agreement(context) if judge is None else _judge_agreement(context)
        shown = within_ranges(_DECLARED, figures)
        return [figure.as_json() for figure in shown], context.layout_left_out


def _agreement(context: Context) -> Iterator[Estimate]:
    """Yield how far people agree: alpha, ICC(A,1), and each rater against the others.

    On nominal scales only alpha.
    """
    for construct, data in context.rated.items():
        if len(data.raters) > 1:
            yield from alphas(context, data, (context.level(construct),))
            if not context.nominal([construct]):
                yield _icc(context, data)
    yield from raters_against_others(context.ordered, ("pearson",))


def _judge_agreement(context: Context) -> Iterator[Estimate]:
    """Yield agreement of the judge with people, its bias, and its order compared with a rater's."""
    yield from judge_against_humans(context.ordered, (ORDER, "pearson", "bias"), _SCOPES)
    # A look in between is at these raters.
    all_ceilings = ceilings(context.ordered, (ORDER,))
    yield from (figure for figure in all_ceilings if figure.target == "these_raters")
    yield from on_categories(context)


def _icc(context: Context, data: ConstructData) -> Estimate:
    rated = np.isfinite(data.ratings).any(axis=1)
    values, query = data.ratings[rated], data.query[rated]
    reason = unconnected(data) or icc_undefined_reason(values, "A,1")
    record: dict[str, Any] = {
        "constructs": (data.construct,),
        "scorers": data.raters,
        "target": "raters_like_these",
        "n_responses": len(values),
        "n_queries": int(np.unique(query).size),
        "n_raters": len(data.raters),
        "params": {"form": "A,1"},
    }
    if reason is not None:
        return Estimate("icc", reason=reason, **record)
    interval = icc_interval(values, query, "A,1", level=context.options.level)
    has_interval = interval.reason is None
    return Estimate(
        "icc",
        value=icc(values, "A,1"),
        ci_low=interval.low,
        ci_high=interval.high,
        ci_level=interval.level if has_interval else None,
        method=interval.method if has_interval else None,
        reason=interval.reason,
        **record,
    )

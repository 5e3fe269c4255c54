"""The judge's agreement without ratings that were given before any passage was opened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from analysis.core.analysis import Analysis
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.statistic import Statistic
from analysis.render.formatting import percent
from analysis.render.table import Cell, TableBuilder
from analysis.render.table_of import Column, TableOf, TableRow, coefficient, number_of
from analysis.topics.agreement.association import compared
from analysis.topics.agreement.human_ceiling import SCOPES

#: Value of params.ratings of figures without those ratings.
OPENED = "passages_opened"

_KEY = ["construct", "scorer", "response_id", "repeat"]


def unopened(context: Context) -> Iterator[Estimate]:
    """How many ratings were given without an opened passage, and correlations without them.

    The latter have params.ratings = passages_opened. Constructs without such ratings have no
    records.
    """
    frame = context.scores.frame
    if not context.options.without_unopened or "passages_opened" not in frame:
        return
    left_out = frame["passages_opened"].eq("no") & frame["scorer_kind"].eq("human")
    kept = replace(context.scores, frame=frame[~left_out].reset_index(drop=True))
    without = Context(kept, context.preferences, context.options)
    for construct in context.scores.constructs:
        construct_rows = frame["construct"].eq(construct) & frame["scorer_kind"].eq("human")
        known = construct_rows & frame["passages_opened"].notna() & frame["value"].notna()
        recorded = frame[known].drop_duplicates(_KEY)
        folded = recorded["passages_opened"].eq("no")
        count = int(folded.sum())
        if not count:
            continue
        yield Estimate(
            "unopened_share",
            value=count / len(recorded),
            constructs=(construct,),
            scorers=tuple(sorted(recorded.loc[folded, "scorer"].astype(str).unique())),
            n_raters=recorded["scorer"].nunique(),
            n_responses=recorded["response_id"].nunique(),
            n_queries=recorded["query_id"].nunique(),
            params={"count": count, "of": len(recorded)},
        )
        for scored in without.scored(without_reference=True):
            # Only raters' pages record what was opened.
            if scored.construct == construct and scored.data.reference_kind != "adjudicated":
                for estimate in compared(without, scored, "pearson", only=SCOPES):
                    yield replace(estimate, params={**estimate.params, "ratings": OPENED})


STATISTICS = (
    Statistic(
        "unopened_share",
        "No passage opened",
        "share of the raters' values on a construct that were given before the rater had opened "
        "any passage of the response, of those for which it is recorded; params.count of "
        "params.of; only where the option without_unopened is declared",
        unopened,
        range=(0, 1),
    ),
)


def _with_unopened(analysis: Analysis) -> Iterator[TableRow]:
    """A row for each scorer and scope with a correlation of all ratings, and one without these."""
    for share in analysis.estimates.select("unopened_share"):
        construct = share.constructs[0]
        for scorer, scope in product(analysis.rated[construct].scorers, ("within_query", "pooled")):
            row = TableRow(analysis, {"construct": construct, "scorer": scorer, "scope": scope})
            if (e := row.first("pearson")) and row.first("pearson", ratings=OPENED):
                yield TableRow(analysis, row.where, e)


def _unopened(row: TableRow, built: TableBuilder) -> Cell:
    share = row.analysis.estimates.select("unopened_share", construct=row.construct)[0]
    built.used.append(share)
    return Cell(f"{share.params['count']:,}", parts=(percent(share.value),))


without_unopened = TableOf(
    "unopened-passages",
    "The agreement without ratings given before any passage was opened",
    "Pearson correlation of each scorer with the mean of the raters: of all ratings, as "
    "everywhere else in this report, and without those that were given before their rater had "
    "opened any passage of the response. Only constructs with such ratings.",
    _with_unopened,
    ("construct", "scorer", "scope", Column("{unopened_share}", _unopened),
     coefficient("pearson", "{pearson}, all ratings"),
     coefficient("pearson", "{pearson}, without them", ratings=OPENED), "responses",
     number_of("n_responses", "Responses, without them", "pearson", ratings=OPENED)),
    heads=3,
)  # fmt: skip

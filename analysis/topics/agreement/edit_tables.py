"""The tables of a report on ratings that were changed after more had been shown."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from analysis.core.analysis import Analysis
from analysis.render.formatting import listed, percent
from analysis.render.table import Cell, Table, TableBuilder
from analysis.topics.agreement.edits import LAST


def edits_made(analysis: Analysis) -> Iterator[Table]:
    """How many values were changed later, by whom, and by how much."""
    built, first = TableBuilder(), analysis.estimates.first
    for share in analysis.estimates.select("edited_share"):
        construct, params = share.constructs[0], share.params
        scale = analysis.context.human_scale(construct)
        built.used.append(share)
        built.add(
            construct,
            f"{params['of']:,}",
            Cell(f"{params['count']:,}", parts=(percent(share.value),)),
            built.points(first("edit_mean", construct=construct), scale),
            built.points(first("edit_mean_absolute", construct=construct), scale),
            f"{params['given_later']:,}" if params["given_later"] else "",
            f"{params['taken_back']:,}" if params["taken_back"] else "",
            listed(share.scorers),
        )
    yield built.table(
        "edits",
        "Ratings changed after more was shown",
        "A rating counts as it was before its rater was shown the next fields of the query. Later "
        "changes are kept; these are the ratings whose last value is another. Mean change (last "
        "minus counted) and mean absolute change are in points, over ratings with both values; "
        "given later and taken back: ratings with only one of them.",
        ("Construct", "Ratings", "Changed", "Mean change", "Mean absolute change", "Given later",
         "Taken back", "By"),
    )  # fmt: skip


def with_edits(analysis: Analysis) -> Iterator[Table]:
    """The agreement that is reported, beside that with the last values."""
    built, found = TableBuilder(), analysis.estimates
    scopes = {"within_query": "within a query", "pooled": "pooled"}
    for construct, data in analysis.rated.items():
        for scorer, (scope, name) in product(data.scorers, scopes.items()):
            where = {"construct": construct, "scorer": scorer, "scope": scope}
            counted, last = (found.first("pearson", ratings=r, **where) for r in (None, LAST))
            if counted is None or last is None:
                continue
            built.add(
                construct,
                scorer,
                name,
                built.r(counted),
                built.r(last),
                f"{counted.n_responses:,}",
                f"{last.n_responses:,}",
            )
    yield built.table(
        "edits-agreement",
        "The agreement with the changed ratings",
        "Pearson correlation of each scorer with the mean of the raters: as counted everywhere "
        "else in this report, and with each rating's last value in its place. Only constructs on "
        "which ratings were changed.",
        ("Construct", "Scorer", "Scope", "r, as counted", "r, last values", "Responses",
         "Responses, last values"),
        heads=3,
    )  # fmt: skip

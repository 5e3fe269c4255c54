"""The tables of a report on what missing values could have changed, and where they gather."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.render.formatting import percent, points
from analysis.render.table import Cell, Table, TableBuilder

#: Systems of a scorer of which a row is shown; estimates.csv has the rest.
SYSTEMS_SHOWN = 12


def by_system(analysis: Analysis) -> Iterator[Table]:
    """Share missing by system, with the means that are possible."""
    built, found = TableBuilder(), analysis.estimates
    tests = {(e.constructs, e.scorers): e for e in found.select("missing_differs_by_system")}
    for key, test in tests.items():
        construct, scorer = key[0][0], key[1][0]
        if analysis.scorer_kinds.get(scorer) == "human":
            continue
        where = {"construct": construct, "scorer": scorer}
        scale = analysis.scores.scale(construct, scorer)
        rows = sorted(found.select("missing_share_by_system", **where), key=lambda e: -e.value)
        for place, e in enumerate(rows[:SYSTEMS_SHOWN]):
            low, high = (
                found.first("mean_bounds", scope=e.scope, end=end, **where)
                for end in ("low", "high")
            )
            mean = found.first("mean", scope=e.scope, **where)
            built.used += [b for b in (low, high) if b is not None]
            possible = Cell("—")
            if low is not None and high is not None and low.defined:
                ends = (points(b.value, scale, 1) for b in (low, high))
                possible = Cell(" to ".join(ends))
            elif low is not None:
                possible = built.points(low, scale)
            built.used.append(e)
            built.add(
                construct,
                scorer,
                e.systems[0],
                percent(e.value),
                f"{e.n_dropped:,} of {e.n_responses:,}",
                built.points(mean, scale),
                possible,
                built.number(test, ".3f") if not place else "",
            )
    yield built.table(
        "missing-by-system",
        "What is missing, by system",
        "Possible means: if every missing score were the lowest, or the highest, of the scale. "
        "p: test that missing scores fall on the systems alike, dealing them anew among the "
        f"systems that answered the same query. The {SYSTEMS_SHOWN} systems with most missing.",
        ("Construct", "Scorer", "System", "Missing", "Responses", "Mean", "Possible means", "p"),
        heads=3,
    )


def by_band(analysis: Analysis) -> Iterator[Table]:
    """Share missing where others score low, and where they score high."""
    built = TableBuilder()
    for e in analysis.estimates.select("missing_share_by_band"):
        construct, scorer = e.constructs[0], e.scorers[0]
        if analysis.scorer_kinds.get(scorer) == "human":
            continue
        of = str(e.params["of"])
        scale = (
            analysis.context.human_scale(construct)
            if of == "human reference"
            else analysis.scores.scale(construct, of)
        )
        low, high = (points(float(str(e.params[end])), scale) for end in ("low", "high"))
        built.used.append(e)
        built.add(
            construct, scorer, of, f"{low} to {high}", percent(e.value),
            f"{e.n_dropped:,} of {e.n_responses:,}",
        )  # fmt: skip
    yield built.table(
        "missing-by-band",
        "What is missing, by score",
        "Responses in thirds of what people say or, where nobody rated one of those that are "
        "missing, of what another scorer says.",
        ("Construct", "Scorer", "By", "Score", "Missing", "Responses"),
        heads=3,
    )

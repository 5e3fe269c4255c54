"""Tables on decisions: pairs of systems, and whether the judge may stand in for a rater."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.core.scales import Scale
from analysis.render.formatting import points
from analysis.render.table import Cell, Table, TableBuilder
from analysis.topics.agreement.alternative_annotator import CONSTANT

#: Disagreements that are listed; estimates.csv has every pair.
PAIRS_SHOWN = 30

_WORDS = {
    "opposite": "opposite differences",
    "people_only": "people only",
    "judge_only": "the judge only",
}


def decisions(analysis: Analysis) -> Iterator[Table]:
    """How many pairs of systems each construct's judge and people decide alike."""
    built, first = TableBuilder(), analysis.estimates.first
    for e in analysis.estimates.select("decision_agreement"):
        where = {"construct": e.constructs[0], "scorer": e.scorers[0]}
        counts = (
            str(e.params[name])
            for name in ("pairs", "same", "neither", "people_only", "judge_only", "opposite",
                         "undecided")
        )  # fmt: skip
        built.add(
            e.constructs[0], e.scorers[0], built.number(e, ".0%"), *counts,
            built.r(first("soft_pairwise_accuracy", **where)),
        )  # fmt: skip
    yield built.table(
        "decisions",
        "The same decisions on pairs of systems",
        "A difference between two systems is found where the interval of the mean paired "
        "difference excludes 0, for all pairs at once, on the responses that both scored. Soft "
        "accuracy: 1 minus the mean difference of the p-values of judge and people.",
        ("Construct", "Scorer", "Alike", "Pairs", "Both find it", "Neither", "People only",
         "Judge only", "Opposite", "Undecided", "Soft accuracy"),
        heads=2,
    )  # fmt: skip


def disagreements(analysis: Analysis) -> Iterator[Table]:
    """Pairs of systems that judge and people decide differently, opposite ones first."""
    built = TableBuilder()
    found = [e for e in analysis.estimates.select("decision") if e.params["decision"] in _WORDS]
    found.sort(key=lambda e: list(_WORDS).index(str(e.params["decision"])))
    for e in found[:PAIRS_SHOWN]:
        scale = analysis.context.human_scale(e.constructs[0])
        own = analysis.scores.scale(e.constructs[0], e.scorers[0])
        built.used.append(e)
        built.add(
            e.constructs[0],
            e.scorers[0],
            " − ".join(e.systems),
            _side(e, "people", scale),
            _side(e, "judge", own),
            _WORDS[str(e.params["decision"])],
            f"{e.n_queries:,}",
        )
    rest = len(found) - PAIRS_SHOWN
    more = f" {rest:,} more are in estimates.csv." if rest > 0 else ""
    yield built.table(
        "decisions-apart",
        "Pairs of systems decided differently",
        "Mean difference of the first system minus the second, by people and by the judge, with "
        f"intervals that hold for all pairs at once; who finds a difference.{more}",
        ("Construct", "Scorer", "Systems", "People", "Judge", "Found by", "Queries"),
        heads=3,
    )


def _side(e: Estimate, name: str, scale: Scale | None) -> Cell:
    keys = (name, f"{name}_low", f"{name}_high")
    given = [float(str(e.params[key])) for key in keys if e.params[key] is not None]
    value, *ends = (points(v, scale, 1) for v in given)
    # Equal on every query: no difference, and no interval.
    return Cell(value, f"[{', '.join(ends)}]" if ends else "")


def alternative_annotator(analysis: Analysis) -> Iterator[Table]:
    """The alternative annotator test, a constant judge below each construct's judges."""
    built, select = TableBuilder(), analysis.estimates.select
    rates = select("alt_test_winning_rate")
    if not any(e.defined for e in rates):
        # A study of two raters is told so once, among what is not established.
        return
    for e in rates:
        constant = e.scorers[0] == CONSTANT
        advantage = next(
            (
                a
                for a in select("alt_test_advantage_probability", construct=e.constructs[0])
                if a.scorers[0] == e.scorers[0] and a.params["alignment"] == e.params["alignment"]
            ),
            None,
        )
        built.add(
            e.constructs[0],
            "a constant: the mean of all ratings" if constant else e.scorers[0],
            str(e.params["alignment"]).replace("_", " "),
            built.number(e, ".0%"),
            built.number(advantage, ".2f"),
            str(e.params.get("passed") or ""),
            str(e.n_raters),
        )
    epsilon = analysis.options.alt_test_epsilon
    yield built.table(
        "alternative-annotator",
        "May the judge stand in for a rater?",
        "Alternative annotator test: share of raters that the judge may replace (half or more "
        "passes), and how often it is at least as close to the other raters as the left-out rater. "
        f"Allowance epsilon {epsilon:g}; p-values clustered by query and adjusted over raters. "
        "Where a constant passes as well, the judge's pass is withheld.",
        ("Construct", "Scorer", "Closeness", "Winning rate", "Advantage", "Passed", "Raters"),
        heads=2,
    )


def non_inferiority(analysis: Analysis) -> Iterator[Table]:
    """The judge's distance from a rater against the declared margin."""
    built = TableBuilder()
    scopes = {"within_query": "within a query", "pooled": "pooled"}
    for e in analysis.estimates.select("non_inferiority"):
        built.add(
            e.constructs[0], e.scorers[0], scopes[e.scope], built.r(e), f"{e.params['margin']:g}",
            str(e.params.get("non_inferior") or ""), f"{e.n_queries:,}",
        )  # fmt: skip
    level = analysis.options.level
    yield built.table(
        "non-inferiority",
        "No worse than a rater, by the declared margin",
        "Judge minus rater, Pearson's r with the mean of the other raters. Brackets: "
        f"{2 * level - 1:.0%} intervals, whose lower end is a bound at {level:.0%}; the judge is "
        "no worse where it lies above minus the margin.",
        ("Construct", "Scorer", "Scope", "Difference", "Margin", "No worse", "Queries"),
        heads=3,
    )

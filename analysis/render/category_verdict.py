"""The verdict on a nominal scale: whether judge and people choose the same categories.

It names no category, so that it is the same whatever numbers stand for them.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.render.formatting import between, correlation, counted, percent
from analysis.render.verdict_notes import FEW_QUERIES
from analysis.render.verdict_order import (
    Comparison,
    JudgeBesideRater,
    compared_with_0,
    corrected_away,
)

#: With a wider interval of a difference of kappas the two are not called equal.
WIDE = 0.2


def on_categories(
    analysis: Analysis, construct: str, scorer: str, name: str
) -> tuple[str, Comparison]:
    """The sentence without its construct, and the comparison with a rater."""
    first = analysis.estimates.first
    where = {"construct": construct, "scorer": scorer}
    data = analysis.rated[construct]
    if data.reference_missing:
        return f"{data.reference_missing}, so there is no result for {name}", "withheld"
    equal = first("equal_categories", **where)
    if equal is None or not equal.defined:
        why = equal.reason if equal is not None else "there are no values to compare"
        return f"whether {name} chooses people's categories is unknown ({why})", "withheld"
    share = f"it chose the category of {percent(equal.value)} of people's ratings"
    judge, rater, difference = (
        first(statistic, **where)
        for statistic in ("judge_kappa", "rater_kappa", "kappa_difference")
    )
    if judge is None or rater is None or difference is None or not difference.defined:
        kappa = first("cohen_kappa", **where)
        people = "the adjudicated categories" if data.reference_kind == "adjudicated" else "a rater"
        if kappa is None or not kappa.defined:
            return f"agreement of {name} beyond chance is unknown; {share}", "withheld"
        figure = f"{correlation(kappa.value)} {between(kappa)}".rstrip()
        return f"{name} agrees with {people} by a kappa of {figure}; {share}", "withheld"
    beside = JudgeBesideRater(judge, rater, difference)
    corrected = corrected_away(analysis, difference)
    amounts = ", ".join(filter(None, (f"kappa {beside.amounts}", corrected)))
    sentences: dict[Comparison, str] = {
        "worse": f"{name} agrees with a rater on categories less than another rater does",
        "better": f"{name} agrees with a rater on categories more than another rater does",
        "undecided": f"{name} cannot be distinguished from a rater in which categories it chooses",
        "withheld": f"{name} and a rater are compared without an interval ({difference.reason})",
    }
    comparison = compared_with_0(analysis, difference)
    return f"{sentences[comparison]} ({amounts}); {share}", comparison


def category_notes(analysis: Analysis, construct: str, scorer: str) -> Iterator[str]:
    """How to read the figures of the sentence."""
    difference = analysis.estimates.first("kappa_difference", construct=construct, scorer=scorer)
    if difference is None or not difference.defined:
        return
    undecided = difference.has_interval and difference.ci_low <= 0 <= difference.ci_high
    if undecided and difference.ci_high - difference.ci_low > WIDE:
        yield (
            "The interval is wide: neither an advantage nor a shortfall of a size that matters "
            "is excluded. More rated queries narrow it."
        )
    if difference.n_queries < FEW_QUERIES:
        yield (
            f"That rests on {counted(difference.n_responses, 'response')} to "
            f"{counted(difference.n_queries, 'query', 'queries')} only."
        )

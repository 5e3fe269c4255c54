"""Section of the report: pass or fail, with its tables."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import correlation, percent
from analysis.render.section import Section
from analysis.render.table_of import (
    TableOf,
    each,
    formatted,
    in_words,
    param,
    spread,
    stated,
)
from analysis.topics.binary import estimates, figures, pass_rates

#: Constructs and judges of which sentences are made; the table has the others.
SUMMARIZED = 3

#: From this agreement by chance on, and this distance of kappa below accuracy, a sentence explains
#: kappa: the values of Feinstein and Cicchetti's (1990) example are .81 and .53.
MOSTLY_BY_CHANCE, APART = 0.7, 0.3

#: The statistics of the table of rates, in its order.
_RATES = (
    "true_positive_rate", "true_negative_rate", "balanced_accuracy", "precision", "f1", "accuracy",
    "mcc", "verdict_kappa",
)  # fmt: skip


def reading(analysis: Analysis) -> Iterator[str]:
    """What the judge does with the responses that people fail, and with those that they pass."""
    rates = analysis.estimates.select("true_negative_rate")
    for fails in [e for e in rates if e.defined][:SUMMARIZED]:
        construct, scorer = fails.constructs[0], fails.scorers[0]
        passed = analysis.estimates.first("true_positive_rate", construct=construct, scorer=scorer)
        sentence = (
            f"{construct}: of responses that people fail{_below_cut(fails)}, {scorer} passes "
            f"{percent(1 - fails.value)}{_complement(fails)}"
        )
        if passed is not None and passed.defined:
            sentence += (
                f"; of those that they pass, it fails {percent(1 - passed.value)}"
                f"{_complement(passed)}"
            )
        yield f"{sentence}."
        yield from _paradox(analysis, construct, scorer)


def _below_cut(fails: Estimate) -> str:
    """From where on people's graded values fail, if they are cut."""
    cut = fails.params.get("people_cut")
    return "" if cut is None else f" (below {cut:g})"


def _paradox(analysis: Analysis, construct: str, scorer: str) -> Iterator[str]:
    """Why kappa is low although judge and people agree on most responses."""
    where = {"construct": construct, "scorer": scorer}
    kappa = analysis.estimates.first("verdict_kappa", **where)
    accuracy = analysis.estimates.first("accuracy", **where)
    if kappa is None or accuracy is None or not kappa.defined:
        return
    chance = float(str(kappa.params["chance"]))
    if chance >= MOSTLY_BY_CHANCE and accuracy.value - kappa.value >= APART:
        yield (
            f"{construct}: kappa is {correlation(kappa.value)} although {scorer} gives people's "
            f"verdict on {percent(accuracy.value)}, since people pass "
            f"{percent(float(str(kappa.params['people_pass'])))} and chance alone agrees on "
            f"{percent(chance)} (the prevalence paradox): read the two rates above."
        )


def _complement(e: Estimate) -> str:
    """The interval of 1 minus the estimate, in percent."""
    if not e.has_interval:
        return ""
    return f" [{100 * (1 - e.ci_high):.0f}, {100 * (1 - e.ci_low):.0f}]"


rates_table = TableOf(
    "pass-or-fail",
    "Pass or fail: the judge's verdicts against people's",
    "People's verdict is the majority of a response's raters; a tie counts half as a pass and "
    "half as a fail. Intervals: Wilson's, for responses that come in queries.",
    each(_RATES[0]),
    ("construct", "scorer", *(formatted(name, ".0%") for name in _RATES[:-2]), *_RATES[-2:],
     "responses", in_words("Tied raters", lambda row: f"{row.estimate.params.get('ties', 0):,}")),
)  # fmt: skip


def _stated(e: Estimate) -> str:
    return f"{figures.count_of(e)} ({percent(e.value)})"


_VERDICTS = {"pass": "Judge passes", "fail": "Judge fails"}

confusion_table = TableOf(
    "verdict-confusion",
    "{verdict_confusion}",
    "Responses by people's verdict (rows) and the judge's (columns), with the share of the "
    "row; ties of raters add a half to both rows.",
    each("verdict_confusion"),
    ("construct", "scorer", in_words("Verdict", "people {e.params[people]}"),
     spread(stated("", _stated), lambda row: _VERDICTS[str(row.estimate.params["judge"])]),
     param("of", "Responses", ",g")),
    heads=3,
)  # fmt: skip


SECTION = Section(
    key="binary",
    title="Pass or fail",
    statistics=(*estimates.STATISTICS, *pass_rates.STATISTICS),
    figures=(figures.confusion_figure,),
    tables=(rates_table, confusion_table, pass_rates.pass_rates_table),
    reading=reading,
    on_categories=(
        reading,
        figures.confusion_figure,
        rates_table,
        confusion_table,
        pass_rates.pass_rates_table,
    ),
)

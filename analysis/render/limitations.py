"""What a report does not establish, given its data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from analysis.core.analysis import Analysis
from analysis.render.formatting import counted, listed

FEW_RATERS = 5
FEW_QUERIES = 50
SIMULATED = "simulated"


def not_established(analysis: Analysis) -> list[str]:
    """Sentences for the report's last section."""
    return list(_facts(analysis))


def _facts(analysis: Analysis) -> Iterator[str]:
    scores = analysis.scores
    kinds = analysis.scorer_kinds
    simulated = sorted(name for name in kinds if SIMULATED in name.lower())
    if simulated:
        yield (
            f"Anything about people or a real judge: {listed(simulated)} "
            f"{'is' if len(simulated) == 1 else 'are'} simulated. The figures show what the method "
            "finds, not what is true of a judge."
        )
    notes = analysis.options.scorer_notes
    for name in kinds:
        # The note on a derived scorer describes how it is computed.
        if name in notes and name not in analysis.options.derived_from:
            yield f"Anything about {name} that the note on it rules out: {notes[name]}"
    yield from (
        f"Anything about {name}, which has no scores: it is {reason}."
        for name, reason in analysis.options.not_computed.items()
    )
    raters = sorted(name for name, kind in kinds.items() if kind == "human")
    derived = analysis.options.derived_from
    judges = [name for name, kind in kinds.items() if kind == "judge" and name not in derived]
    if not raters and analysis.options.reference == "mean_of_raters":
        yield "Whether any score is right: there are no human ratings."
    elif raters:
        yield from _about_raters(raters)
    if analysis.options.reference == "adjudicated":
        yield (
            "How a judge compares with a rater: the reference is adjudicated, and favors the "
            "raters whose values it settled."
        )
    yield from _about_rules(analysis)
    yield from _about_sample(analysis)
    if analysis.options.interim_analyses:
        yield (
            "That intervals are valid at every stop: the design was sequential. Interim figures "
            f"were computed {counted(analysis.options.interim_analyses, 'time')} while people "
            "rated. The interval of a declared stopping rule allows for that; the intervals here "
            "do not, and cover less than their level if rating ended because of what was seen."
        )
    repeated = scores.frame.loc[scores.frame["repeat"] > 0, "scorer"]
    judge_of = analysis.options.judge_of
    runs = Counter(judge_of(name) for name in judges)
    silent = [n for n in judges if runs[judge_of(n)] == 1 and not (repeated == n).any()]
    if silent:
        yield (
            f"Whether {listed(silent)} would give the same scores again: each response has one "
            f"score of {'it' if len(silent) == 1 else 'each'}. Run-to-run variation is not in any "
            "interval."
        )
    elif judges:
        yield (
            "How much figures vary from run to run: each uses the first scores of one run. Repeats "
            "and further runs are compared in the section on stability."
        )
    yield from _about_gaps(analysis)
    undeclared = [key for key in scores.constructs if scores.scale(key) is None]
    if undeclared:
        yield (
            f"Bias and ceilings on {listed(undeclared)}: no scale is declared "
            f"(--scale {undeclared[0]}=MIN:MAX)."
        )
    nominal = [key for key in scores.constructs if analysis.context.nominal([key])]
    if nominal:
        yield (
            f"Order, level and means on {listed(nominal)}: the scale is nominal, so only agreement "
            "on categories is computed."
        )
    if len(scores.constructs) > 1:
        yield (
            "Anything about all constructs at once by intervals: each is valid for its figure "
            "alone, and with many figures some exclude the truth by chance. Sentences that claim "
            "a difference are corrected for that."
        )


def _about_raters(raters: list[str]) -> Iterator[str]:
    if len(raters) == 1:
        yield (
            "How far people agree, and what another rater would say: one person rated. Every "
            "figure speaks of this rater only."
        )
    elif len(raters) < FEW_RATERS:
        yield (
            f"Much about other raters: {len(raters)} people rated. Figures for raters like these "
            "rest on so few and are weak; figures for these raters are not about others."
        )
    else:
        yield (
            f"What other kinds of people would say: {len(raters)} people rated, and figures for "
            "raters like these are valid for people recruited as they were."
        )


def _about_rules(analysis: Analysis) -> Iterator[str]:
    """Rules that raters had and judges lacked, where the two are compared."""
    compared = [
        apart
        for apart in analysis.options.instruction_mismatches
        if (data := analysis.rated.get(apart.construct)) is not None
        and data.raters
        and np.isfinite(data.scorers.get(apart.judge, np.nan)).any()
    ]
    judges: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    unknown: dict[str, list[str]] = {}
    for apart in compared:
        if apart.rules:
            judges.setdefault((apart.construct, apart.rules), []).append(apart.judge)
        elif apart.rules is None:
            unknown.setdefault(apart.judge, []).append(apart.construct)
    for (construct, rules), names in judges.items():
        lacks = "its prompt lacks" if len(names) == 1 else "their prompts lack"
        yield (
            f"How {listed(names)} would score {construct} under the raters' rules, which {lacks}: "
            + " ".join(f"\u201c{rule}\u201d" for rule in rules)
        )
    for judge, constructs in unknown.items():
        yield (
            f"Whether {judge} was given the rules that raters followed on {listed(constructs)}: "
            "its prompt is not known here."
        )


def _about_sample(analysis: Analysis) -> Iterator[str]:
    scores = analysis.scores
    queries, rated = len(scores.queries), len(analysis.context.rated_queries)
    if scores.frame.empty:
        yield f"Anything beyond {counted(rated, 'query', 'queries')} with preferences."
        return
    systems = len(scores.systems)
    yield (
        f"Anything beyond these {counted(queries, 'query', 'queries')}"
        + (f" and {counted(systems, 'system')}" if systems else "")
        + ": intervals treat the queries as a random sample of the queries that matter"
        + (", and the systems as the only ones." if systems else ".")
    )
    if 0 < rated < FEW_QUERIES:
        yield (
            f"Small differences: people rated responses to {counted(rated, 'query', 'queries')}, "
            "which leaves intervals wide, and estimates of small shares rough."
        )
    if 0 < rated < queries:
        yield (
            f"Agreement on the {queries - rated:,} queries that were not rated: it is assumed to "
            f"be as on the {rated:,} rated ones, which holds if these were drawn at random."
        )
    if not systems:
        yield "Anything about systems: the table has none."
    elif systems < 3:
        yield f"How a judge ranks systems: there {'is' if systems == 1 else 'are'} {systems}."
    if scores.frame["inclusion_prob"].ne(1).any():
        yield (
            "Figures for the whole pool: responses were drawn with stated probabilities, and "
            "figures other than the corrected means and `choice_regret` are not weighted by them."
        )


def _about_gaps(analysis: Analysis) -> Iterator[str]:
    frame = analysis.scores.frame
    if frame.empty:
        return
    missing = frame["value"].isna()
    for kind, noun in (("judge", "the judge"), ("human", "people")):
        rows = frame["scorer_kind"] == kind
        share = float(missing[rows].mean()) if rows.any() else 0.0
        unplanned = missing & rows & (frame["missing_reason"].astype("object") != "not_assigned")
        count = int(np.count_nonzero(unplanned.to_numpy()))
        if share and count:
            yield (
                f"What {noun} would have said where a value is missing ({counted(count, 'value')}, "
                "not counting what was not assigned): missing values are left out, which is "
                "harmless only if they do not differ from the others."
            )

"""What a report does not establish, given its data.

Each function finds facts; the words are in `sentence_templates`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from analysis.core.analysis import Analysis
from analysis.render.sentences import Fact, fact, in_words

FEW_RATERS = 5
FEW_QUERIES = 50
SIMULATED = "simulated"


def not_established(analysis: Analysis) -> list[str]:
    """Sentences for the report's last section."""
    conditions = (
        _about_scorers, _about_people, _about_rules, _about_sample, _about_systems, _about_runs,
        _about_gaps, _about_constructs,
    )  # fmt: skip
    return [in_words(found) for condition in conditions for found in condition(analysis)]


def _about_scorers(analysis: Analysis) -> Iterator[Fact]:
    kinds, options = analysis.scorer_kinds, analysis.options
    simulated = sorted(name for name in kinds if SIMULATED in name.lower())
    if simulated:
        yield fact("simulated", names=simulated)
    for name in kinds:
        # The note on a derived scorer describes how it is computed.
        if name in options.scorer_notes and name not in options.derived_from:
            yield fact("scorer_note", scorer=name, note=options.scorer_notes[name])
    for name, reason in options.not_computed.items():
        yield fact("not_computed", scorer=name, reason=reason)


def _about_people(analysis: Analysis) -> Iterator[Fact]:
    n = sum(kind == "human" for kind in analysis.scorer_kinds.values())
    adjudicated = analysis.options.reference == "adjudicated"
    if n > 1:
        yield fact("few_raters" if n < FEW_RATERS else "other_people", n=n)
    elif n or not adjudicated:
        yield fact("one_rater" if n else "no_ratings")
    if adjudicated:
        yield fact("adjudicated")


def _about_rules(analysis: Analysis) -> Iterator[Fact]:
    """Rules that raters had and judges lacked, where the two are compared."""
    judges: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    unknown: dict[str, list[str]] = {}
    for apart in analysis.options.instruction_mismatches:
        data = analysis.rated.get(apart.construct)
        scores = np.nan if data is None else data.scorers.get(apart.judge, np.nan)
        if data is None or not data.raters or not np.isfinite(scores).any():
            continue
        if apart.rules:
            judges.setdefault((apart.construct, apart.rules), []).append(apart.judge)
        elif apart.rules is None:
            unknown.setdefault(apart.judge, []).append(apart.construct)
    for (construct, rules), names in judges.items():
        quoted = " ".join(f"\u201c{rule}\u201d" for rule in rules)
        yield fact("rules", judges=names, construct=construct, rules=quoted)
    for judge, constructs in unknown.items():
        yield fact("rules_unknown", judge=judge, constructs=constructs)


def _about_sample(analysis: Analysis) -> Iterator[Fact]:
    scores = analysis.scores
    queries, rated = len(scores.queries), len(analysis.context.rated_queries)
    if scores.frame.empty:
        yield fact("preferences_only", rated=rated)
        return
    systems = len(scores.systems)
    name = "queries_and_systems" if systems else "queries"
    yield fact(name, queries=queries, systems=systems)
    if 0 < rated < FEW_QUERIES:
        yield fact("few_queries", rated=rated)
    if 0 < rated < queries:
        yield fact("unrated_queries", rated=rated, unrated=queries - rated)


def _about_systems(analysis: Analysis) -> Iterator[Fact]:
    scores = analysis.scores
    if scores.frame.empty:
        return
    if len(scores.systems) < 3:
        name = "few_systems" if scores.systems else "no_systems"
        yield fact(name, systems=len(scores.systems))
    if scores.frame["inclusion_prob"].ne(1).any():
        yield fact("unequal_draw")


def _about_runs(analysis: Analysis) -> Iterator[Fact]:
    options, frame = analysis.options, analysis.scores.frame
    if options.interim_analyses:
        yield fact("sequential", looks=options.interim_analyses)
    repeated = set(frame.loc[frame["repeat"] > 0, "scorer"])
    judges = [
        name
        for name, kind in analysis.scorer_kinds.items()
        if kind == "judge" and name not in options.derived_from
    ]
    runs = Counter(map(options.judge_of, judges))
    once = [n for n in judges if runs[options.judge_of(n)] == 1 and n not in repeated]
    if once:
        yield fact("one_run", judges=once)
    elif judges:
        yield fact("first_run")


def _about_gaps(analysis: Analysis) -> Iterator[Fact]:
    frame = analysis.scores.frame
    if frame.empty:
        return
    unplanned = frame["missing_reason"].astype("object") != "not_assigned"
    for kind, whose in (("judge", "the judge"), ("human", "people")):
        missing = frame["value"].isna() & unplanned & (frame["scorer_kind"] == kind)
        if missing.any():
            yield fact("missing", whose=whose, n=int(np.count_nonzero(missing.to_numpy())))


def _about_constructs(analysis: Analysis) -> Iterator[Fact]:
    scores = analysis.scores
    undeclared = [key for key in scores.constructs if scores.scale(key) is None]
    if undeclared:
        yield fact("no_scales", constructs=undeclared)
    nominal = [key for key in scores.constructs if analysis.context.nominal([key])]
    if nominal:
        yield fact("nominal", constructs=nominal)
    if len(scores.constructs) > 1:
        yield fact("many_constructs")

"""The whole analysis: every estimate of a report, in one list."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from analysis.core.analysis import Analysis
from analysis.core.claims import claims
from analysis.core.computation import one_blas_thread
from analysis.core.construct_data import without_scores
from analysis.core.context import Context
from analysis.core.cuts import check_cuts
from analysis.core.errors import AnalysisError
from analysis.core.estimates import Estimate, EstimateList
from analysis.core.layouts import select_layout
from analysis.core.mark_table import MarkTable
from analysis.core.options import Options, changed_fields
from analysis.core.probe_table import ProbeTable
from analysis.core.scale_mapping import mapped_scores
from analysis.core.statistic import estimates_of, within_ranges
from analysis.core.tables import PreferenceTable, ScoreTable
from analysis.core.text_formats import rendered_note
from analysis.core.unequal_queries import dominating
from analysis.decisions.answers import decisions
from analysis.decisions.records import Use, UseDecision
from analysis.pipeline.decision_figures import figures_of_decisions, figures_of_uses
from analysis.render.verdicts import compared, verdict_subjects
from analysis.topics.agreement.categories import kappas, on_categories
from analysis.topics.agreement.judge_comparison import judges_compared
from analysis.topics.agreement.order_of_presentation import order_effects
from analysis.topics.agreement.preferences import preferences as on_preferences
from analysis.topics.agreement.preferences_beside_raters import majority_accuracies
from analysis.topics.agreement.preferred_choices import preference_accuracies, preference_kappas
from analysis.topics.answer_correctness.estimates import unit_checks
from analysis.topics.expected_score.estimates import expected_scores
from analysis.topics.reliability.estimates import STATISTICS as RELIABILITY, alphas


def estimates(
    scores: ScoreTable,
    preferences: PreferenceTable | None = None,
    options: Options | None = None,
) -> list[Estimate]:
    """All figures of a report, in its order; undefined ones carry their reason."""
    return list(analyse(scores, preferences, options).estimates)


def analyse(
    scores: ScoreTable,
    preferences: PreferenceTable | None = None,
    options: Options | None = None,
    title: str = "Judge against people",
    probes: ProbeTable | None = None,
    marks: MarkTable | None = None,
    *,
    given: Collection[str] | None = None,
) -> Analysis:
    """Analyse a table of scores, with preferences if there are any.

    `probes` are answers of judges to altered prompts, `marks` people's marks on sentences. `given`
    are the options that the caller asked for; by default those that differ from their defaults.

    Raises
    ------
    AnalysisError
        Both tables are empty, or an option that was asked for has no effect on them.

    Examples
    --------
    >>> from ccrs_study import Options, Scale, ScoreTable, analyse, read_scores
    >>> scores = ScoreTable.from_frame(read_scores("scores.csv"), {"QR": Scale(0, 100)})
    >>> analysis = analyse(scores, options=Options(resamples=200))
    >>> bias = analysis.estimates.first("bias", construct="QR", scorer="llm")
    >>> round(bias.value, 2), bias.n_responses, bias.n_queries
    (7.51, 40, 20)
    """
    return _whole(title, _checked_context(scores, preferences, options, probes, marks, given))


def headline(
    scores: ScoreTable,
    preferences: PreferenceTable | None = None,
    options: Options | None = None,
    title: str = "Judge against people",
    probes: ProbeTable | None = None,
    marks: MarkTable | None = None,
    *,
    given: Collection[str] | None = None,
) -> Analysis:
    """Only the figures of the verdict, in a fraction of the time; see `completed`."""
    context = _checked_context(scores, preferences, options, probes, marks, given)
    return _analysis(title, context, _headline)


def answers(
    scores: ScoreTable, uses: Sequence[Use], options: Options | None = None
) -> list[UseDecision]:
    """The answers on these uses of every judge, from the figures that decide them alone."""
    analysis = _analysis("Answers", _context(scores, None, options), partial(figures_of_uses, uses))
    return decisions(analysis, verdict_subjects(analysis), uses)


def comparison(
    scores: ScoreTable,
    options: Options | None = None,
    scorers: Collection[str] = (),
    title: str = "Judges against people",
) -> Analysis:
    """Only the comparison of judges with each other, of these `scorers` if any are named."""
    context = _context(scores, None, options)
    if scorers:
        rows = context.scores.frame
        people = ~rows["scorer_kind"].isin(["judge", "metric"])
        kept = rows[people | rows["scorer"].isin(list(scorers))].reset_index(drop=True)
        context = replace(context, scores=replace(context.scores, frame=kept))
    return _with_sections(_analysis(title, context, judges_compared))


def completed(analysis: Analysis) -> Analysis:
    """The whole analysis that a headline belongs to, on the same resamples."""
    return _whole(analysis.title, analysis.context)


def _checked_context(
    scores: ScoreTable,
    preferences: PreferenceTable | None,
    options: Options | None,
    probes: ProbeTable | None,
    marks: MarkTable | None,
    given: Collection[str] | None,
) -> Context:
    """The context; every option that was asked for can be used."""
    context = _context(scores, preferences, options, probes, marks)
    names = changed_fields(context.options) if given is None else given
    if names:
        from analysis.pipeline.unused_options import COMMAND, PYTHON, check_unused

        check_unused(context, names, PYTHON if given is None else COMMAND)
    return context


def _context(
    scores: ScoreTable,
    preferences: PreferenceTable | None,
    options: Options | None,
    probes: ProbeTable | None = None,
    marks: MarkTable | None = None,
) -> Context:
    if scores.frame.empty and (preferences is None or preferences.frame.empty):
        raise AnalysisError("there are no scores and no preferences to analyze")
    options = options or Options()
    if options.map:
        mapped = mapped_scores(scores, options.map, options.seed)
        notes = {
            name: "; ".join(filter(None, (options.scorer_notes.get(name), note)))
            for name, note in mapped.notes.items()
        }
        scores = mapped.scores
        options = replace(options, scorer_notes={**options.scorer_notes, **notes})
    check_cuts(scores, options.cut)
    scores, left_out = select_layout(scores, options.layout)
    return Context(scores, preferences, options, left_out, probes, marks)


def _analysis(
    title: str, context: Context, figures: Callable[[Context], Iterator[Estimate]]
) -> Analysis:
    scores, preferences = context.scores, context.preferences
    warnings = [*scores.warnings, *(preferences.warnings if preferences else ())]
    with one_blas_thread():
        estimates_of_report = EstimateList(tuple(figures(context)))
    if context.layout_left_out is not None:
        warnings.insert(0, context.layout_left_out)
    shown = rendered_note(scores, preferences)
    if shown is not None:
        warnings.append(shown)
    warnings += [*_weights(scores), *_dominated(scores), *_without_scores(scores)]
    analysis = Analysis(title, context, estimates_of_report, tuple(warnings))
    return replace(analysis, claims=claims(compared(analysis), {}, context.options.level))


def _whole(title: str, context: Context) -> Analysis:
    # What the verdict needs is loaded first; the rest while it is being read.
    from analysis.pipeline.sections import statistics

    return _with_sections(_analysis(title, context, partial(estimates_of, statistics())))


def _with_sections(analysis: Analysis) -> Analysis:
    """The analysis with the headings of all sections, and corrected for their comparisons."""
    from analysis.pipeline.sections import headings, sections_compared, sections_joint

    report_claims = claims(
        compared(analysis),
        sections_compared(analysis),
        analysis.options.level,
        sections_joint(analysis),
    )
    return replace(analysis, headings=headings(), claims=report_claims)


def _headline(context: Context) -> Iterator[Estimate]:
    ordered = context.ordered
    yield from figures_of_decisions(context)
    yield from expected_scores(ordered, ("pearson",))
    yield from on_categories(context)
    if context.nominal(context.rated):
        yield from (e for e in kappas(context) if context.nominal(e.constructs))
    for construct, data in context.rated.items():
        if data.raters:
            figures = alphas(context, data, (context.level(construct),))
            yield from within_ranges(RELIABILITY, figures)
    yield from on_preferences(ordered, ("pearson",))
    yield from preference_accuracies(ordered)
    yield from preference_kappas(ordered)
    yield from majority_accuracies(ordered)
    yield from order_effects(ordered)
    yield from unit_checks(ordered)


def _dominated(scores: ScoreTable) -> list[str]:
    """A warning where a single query has most of what people rated."""
    rows = scores.frame
    rated = rows["scorer_kind"].isin(["human", "adjudicated"]) & rows["value"].notna()
    responses = rows.loc[rated, ["query_id", "response_id"]].drop_duplicates()
    counts = responses["query_id"].astype("object").value_counts(sort=False)
    place = dominating(np.asarray(counts, dtype=np.float64)) if len(counts) else None
    if place is None:
        return []
    count, total = int(counts.iloc[place]), len(responses)
    return [
        f"query {counts.index[place]!r} has {count} of {total} rated responses "
        f"({count / total:.0%}): "
        "figures that count responses rest mostly on it, and their intervals are wider or withheld"
    ]


def _without_scores(scores: ScoreTable) -> list[str]:
    """A warning on the judges and metrics that have no score on a construct."""
    constructs: dict[str, list[str]] = {}
    for scorer, construct in without_scores(scores):
        constructs.setdefault(scorer, []).append(construct)
    return [
        f"{scorer} has no score on {', '.join(of)}: it is compared with nobody there"
        for scorer, of in constructs.items()
    ]


def _weights(scores: ScoreTable) -> list[str]:
    probability: pd.Series[float] = scores.frame["inclusion_prob"]
    if (probability == 1).all():
        return []
    return [
        "responses were drawn with unequal or stated probabilities; corrected means, and the "
        "choice of a system by them, are weighted, all other figures describe the rated responses "
        "without weights"
    ]

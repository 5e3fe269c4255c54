"""Whether judge and people reach the same decisions on pairs of systems, with the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.statistic import Statistic
from analysis.render.formatting import points
from analysis.render.table import Cell, TableBuilder
from analysis.render.table_of import (
    Column,
    TableOf,
    TableRow,
    each,
    formatted,
    human_scale,
    in_words,
    param,
    scorer_scale,
)
from analysis.statistics.agreement.choice_regret import (
    METHOD,
    choice_regret,
    error_of,
    regret_of,
)
from analysis.statistics.agreement.system_decisions import (
    DECISIONS,
    PERMUTATIONS,
    Decisions,
    decisions,
    soft_pairwise_accuracy,
)
from analysis.statistics.discrimination.system_scores import rows_at_once, system_scores
from analysis.topics.agreement.judged_queries import differences_on_judged
from analysis.topics.distribution.people_by_system import ADJUSTED, adjusted_people
from study.base.scales import Scale

#: Resamples that carry a critical value: more would not change its second digit.
ROWS = 2000

#: Pairs of systems that are listed each (15 systems); of more only the counts are given.
PAIRS_LISTED = 105
NO_INTERVAL = (
    "no interval: the p-values that it is made from already account for the sampling of queries"
)


def decisions_on_systems(context: Context) -> Iterator[Estimate]:
    """`decision_agreement`, `decision` of each pair, and `soft_pairwise_accuracy`."""
    yield from _decisions_of_scorers(context, soft=True)


def decisions_by_interval(context: Context) -> Iterator[Estimate]:
    """`decision_agreement` and `decision` of each pair."""
    yield from _decisions_of_scorers(context, soft=False)


def _decisions_of_scorers(context: Context, *, soft: bool) -> Iterator[Estimate]:
    for data, scorer, values, _ in context.scored():
        if len(data.systems) > 1:
            yield from _decisions_of_scorer(context, data, scorer, values, soft_too=soft)


def _decisions_of_scorer(
    context: Context, data: ConstructData, scorer: str, values: FloatArray, *, soft_too: bool
) -> Iterator[Estimate]:
    both = np.isfinite(values) & np.isfinite(data.reference)
    judge, people = (
        system_scores(np.where(both, v, np.nan), data.query, data.produced, data.n_queries)
        for v in (values, data.reference)
    )
    needs = np.isfinite(people).any(axis=1).sum()
    weights = context.rated_resampling.bootstrap_blocks(rows_at_once(data.n_queries), ROWS)
    options = context.options
    adjusted = adjusted_people(context, data.construct)
    outcome = decisions(judge, people, weights, options.level, options.seed, adjusted)
    record = data.record(scorer, "system_level") | {
        "n_responses": int(np.count_nonzero(both & data.produced.any(axis=1))),
        "n_queries": int(needs),
    }
    if adjusted is not None:
        record |= {"target": "raters_like_these", "params": ADJUSTED}
    yield _agreement(outcome, record)
    yield _regret(context, data, outcome, record)
    if len(outcome.decisions) <= PAIRS_LISTED:
        common = context.differences_withheld(data.construct, scorer) is None and adjusted is None
        yield from _each(data, outcome, record, common=common)
    if not soft_too:
        return
    soft = soft_pairwise_accuracy(judge, people, seed=options.seed, adjusted=adjusted)
    counts = {"pairs": int(soft.first.size), "permutations": PERMUTATIONS}
    yield Estimate(
        "soft_pairwise_accuracy",
        value=soft.value,
        reason=soft.reason or NO_INTERVAL,
        **_with_params(record, counts),
    )


def _agreement(outcome: Decisions, record: dict[str, Any]) -> Estimate:
    counts: dict[str, int] = {decision: outcome.count(decision) for decision in DECISIONS}
    return Estimate(
        "decision_agreement",
        value=outcome.share,
        method=outcome.people_intervals.method or None,
        reason=outcome.reason,
        **_with_params(record, {"pairs": len(outcome.decisions), **counts}),
    )


def _regret(
    context: Context, data: ConstructData, outcome: Decisions, record: dict[str, Any]
) -> Estimate:
    """What it costs people to take the system that the judge finds best."""
    systems, level = len(data.systems), context.options.level
    judged = differences_on_judged(context, data.construct, record["scorers"][0])
    if judged is None:
        regret = choice_regret(outcome, systems)
    else:
        regret = regret_of(judged.people, judged.judge, systems)
        record = _with_params(record, {"judged_queries": judged.n_queries})
    if isinstance(regret, str):
        return Estimate("choice_regret", reason=regret, **record)
    low, high = regret.uncertainty.interval(regret.value, (1 - level) / 2)
    chosen, best = data.systems[regret.chosen], data.systems[regret.best]
    first, second = (data.systems[place] for place in regret.agreed_pair)
    agreed = {"agreed_p": regret.agreed, "agreed_first": first, "agreed_second": second}
    return Estimate(
        "choice_regret",
        value=regret.value,
        ci_low=low,
        ci_high=high,
        ci_level=level,
        method=METHOD,
        uncertainty=regret.uncertainty,
        **_with_params(record, agreed) | {"systems": (chosen, best)},
    )


def _with_params(record: dict[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    return record | {"params": {**record.get("params", {}), **params}}


def _apart(outcome: Decisions, place: int, *, common: bool) -> dict[str, float | None]:
    """The judge's difference minus people's, where they have a common scale."""
    error, df = error_of(outcome, outcome.apart_intervals, place)
    known = common and np.isfinite(error)
    return {
        "apart": float(outcome.apart[place]) if known else None,
        "apart_error": error if known else None,
        "apart_df": df if known and np.isfinite(df) else None,
    }


def _each(
    data: ConstructData, outcome: Decisions, record: dict[str, Any], *, common: bool
) -> Iterator[Estimate]:
    for place, decision in enumerate(outcome.decisions):
        pair = data.systems[outcome.first[place]], data.systems[outcome.second[place]]
        params: dict[str, float | None] = {}
        for name, point, of in (
            ("people", outcome.people, outcome.people_intervals),
            ("judge", outcome.judge, outcome.judge_intervals),
        ):
            error, df = error_of(outcome, of, place)
            values = {
                name: point[place],
                f"{name}_low": of.low[place],
                f"{name}_high": of.high[place],
                f"{name}_error": error,
                f"{name}_df": df,
            }
            params |= {k: float(v) if np.isfinite(v) else None for k, v in values.items()}
        params |= _apart(outcome, place, common=common)
        queries = int(outcome.n_shared[place])
        undecided = decision == "undecided"
        reasons = outcome.people_intervals.reasons[place] or outcome.judge_intervals.reasons[place]
        if undecided and not queries:
            reasons = "no query has answers of both systems with both values"
        yield Estimate(
            "decision",
            value=float("nan") if undecided else float(decision in {"same", "neither"}),
            reason=(reasons or "undecided") if undecided else None,
            **_with_params(record, {"decision": decision, **params})
            | {"systems": pair, "n_queries": queries, "n_responses": 2 * queries},
        )


#: What the statistics of this module have in common.
_statistic = partial(
    Statistic,
    estimates=decisions_on_systems,
    range=(0, 1),
    scopes=("system_level",),
    targets=("these_raters", "raters_like_these"),
)

STATISTICS = (
    _statistic(
        "decision_agreement",
        "Same decision",
        "share of pairs of systems on which people and judge decide alike; counts in params. Where "
        "raters are not balanced over systems, people's differences are adjusted "
        "(params.adjusted)",
        better="higher",
    ),
    _statistic(
        "decision",
        "Significant by",
        "one pair (`systems`), on the responses that both scored, also where these are a sample: "
        "1 where the decisions are equal, params.decision names the decision, with both "
        "differences, their simultaneous ends, and the standard error and degrees of freedom of "
        "each (none from resamples); params.apart is the judge's difference "
        "minus people's",
    ),
    replace(
        _statistic(
            "choice_regret",
            "Regret of the judge's choice",
            "people's mean of the best system minus that of the system with the judge's best mean "
            "(`systems`: the judge's choice, the best other one), at least 0; params.agreed_p is "
            "the p that judge and people agree on the sign of no pair (agreed_first and "
            "agreed_second: the pair with the smallest p, the one that people prefer first). Where "
            "inclusion_prob states that the ratings are a sample, the judge's means are over all "
            "params.judged_queries and people's differences are corrected by them "
            "(ppi_difference)",
            better="lower",
            source="Hsu 1981",
        ),
        range=(0, None),
    ),
    _statistic(
        "soft_pairwise_accuracy",
        "Soft pairwise accuracy",
        "1 minus the mean absolute difference of the p-values of judge and people over pairs of "
        "systems",
        better="higher",
        source="Thompson et al. 2024",
    ),
)


#: Disagreements in the table; estimates.csv has every pair.
PAIRS_SHOWN = 30
_WORDS = {
    "opposite": "opposite differences",
    "people_only": "people only",
    "judge_only": "the judge only",
}


decisions_table = TableOf(
    "decisions",
    "The same decisions on pairs of systems",
    "Two systems differ significantly where the simultaneous interval of their mean paired "
    "difference excludes 0, on the responses that both judge and people scored. Both, "
    "neither, people only, judge only: by whose values they do. Opposite: by both, in "
    "opposite directions. Undecided: an interval is missing. {soft_pairwise_accuracy}: 1 minus "
    "the mean difference of the p-values of judge and people.",
    each("decision_agreement"),
    ("construct", "scorer", formatted("decision_agreement", ".0%"), param("pairs", "Pairs"),
     param("same", "Both"), param("neither", "Neither"), param("people_only", "People only"),
     param("judge_only", "Judge only"), param("opposite", "Opposite"),
     param("undecided", "Undecided"), "soft_pairwise_accuracy"),
)  # fmt: skip


def _side(heading: str, name: str, scale: Callable[[TableRow], Scale | None]) -> Column:
    """The difference by people or by the judge."""

    def cell(row: TableRow, built: TableBuilder) -> Cell:
        e = row.estimate
        built.used.append(e)
        keys = (name, f"{name}_low", f"{name}_high")
        values = [float(str(e.params[key])) for key in keys if e.params[key] is not None]
        value, *ends = (points(v, scale(row), 1) for v in values)
        # Equal on every query: no difference, and no interval.
        return Cell(value, f"[{', '.join(ends)}]" if ends else "")

    return Column(heading, cell)


disagreements_table = TableOf(
    "decisions-different",
    "Pairs of systems decided differently",
    "Mean difference of the first system minus the second, by people and by the judge, with "
    "simultaneous intervals for all pairs, and by whose values the two differ significantly.",
    each("decision", keep=lambda e: e.params["decision"] in _WORDS,
         sort=lambda e: list(_WORDS).index(str(e.params["decision"]))),
    ("construct", "scorer", in_words("Systems", lambda row: " − ".join(row.estimate.systems)),
     _side("People", "people", human_scale), _side("Judge", "judge", scorer_scale),
     param("decision", "{decision}", _WORDS.__getitem__), "queries"),
    heads=3,
    most=PAIRS_SHOWN,
    cut=" {rest} more are in estimates.csv.",
)  # fmt: skip

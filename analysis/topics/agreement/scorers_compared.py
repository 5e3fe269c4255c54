"""Which scorer to use: judges and metrics in one table for each construct, with what they take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from analysis.core.analysis import Analysis
from analysis.core.construct_data import ConstructData
from analysis.core.estimates import Estimate
from analysis.decisions.standards import ORDER_MARGIN
from analysis.render.formatting import correlation, with_interval
from analysis.render.metric_notes import family
from analysis.render.sentence_templates import SCOPES
from analysis.render.table import Cell, Table, TableBuilder
from analysis.topics.agreement.spent import NO_MODEL, duration, spent


@dataclass(frozen=True)
class _Scorer:
    """A judge or metric on a construct."""

    name: str
    order: Estimate
    """Its tau-b, turned where low is good."""
    missing: Counter[str]
    took: dict[str, Any]

    @property
    def tokens(self) -> int | None:
        """Tokens of prompts and answers; None: not known."""
        if self.took["counted_by"] == NO_MODEL:
            return 0
        counts = [self.took.get(f"{kind}_tokens") for kind in ("prompt", "completion")]
        return None if None in counts else sum(map(int, filter(None, counts)))


def scorer_tables(analysis: Analysis) -> Iterator[Table]:
    """A table for each construct on which judges or metrics are compared, the best first."""
    for construct, data in analysis.context.rated.items():
        scorers = _sorted(analysis, construct, data)
        if not _compared(data, scorers):
            continue
        judge = next((s.name for s in scorers if data.kinds[s.name] == "judge"), None)
        built = TableBuilder()
        for scorer in scorers:
            took = scorer.took
            built.add(
                scorer.name,
                built.r(scorer.order),
                built.r(_judge_minus(analysis, construct, judge, scorer)),
                ", ".join(f"{n:,} {why.replace('_', ' ')}" for why, n in scorer.missing.items()),
                _whole(took.get("answers")),
                _whole(scorer.tokens),
                "" if took.get("cost") is None else f"{took['cost']:,.2f}",
                "" if took.get("seconds") is None else duration(took["seconds"]),
            )
        yield built.table(
            f"scorers-{construct}",
            f"Judges and metrics on {construct}, the best first",
            f"Tau-b {SCOPES[scorers[0].order.scope]} with {analysis.reference_words}, its sign "
            "turned where low is good. Calls, tokens, cost and time are those of the whole run, "
            "on all its constructs, and of a jury or composite those of its members.",
            ("Scorer", analysis.headings["kendall_tau_b"],
             f"{judge} minus it" if judge else "", "No value", "Calls", "Tokens", "Cost", "Time"),
        )  # fmt: skip


def compared_scorers(analysis: Analysis) -> set[str]:
    """The scorers of these tables."""
    tables = (_sorted(analysis, key, data) for key, data in analysis.context.rated.items())
    return {scorer.name for scorers in tables for scorer in scorers}


def reading(analysis: Analysis) -> Iterator[str]:
    """The cheapest scorer that is within the margin of the best, by construct."""
    declared = analysis.options.non_inferiority_margin
    margin = ORDER_MARGIN if declared is None else declared
    for construct, data in analysis.context.ordered.rated.items():
        scorers = _sorted(analysis, construct, data)
        if not _compared(data, scorers):
            continue
        best = scorers[0]
        near = [s for s in scorers if s.order.value >= best.order.value - margin]
        cheapest = min(near, key=lambda scorer: _price(scorer, near))
        within = f"within {correlation(margin)} of the best"
        if cheapest is best:
            yield (
                f"{construct}: of {len(scorers)} scorers {best.name} orders responses best "
                f"({_figure(best)}), and none {within} is known to be cheaper."
            )
            continue
        first, second = (f"{s.name} ({_figure(s)}; {_effort(s)})" for s in (cheapest, best))
        yield (
            f"{construct}: of {len(scorers)} scorers the cheapest {within} is {first}; the best is "
            f"{second}{_shown(analysis, construct, data, best, cheapest)}."
        )


def _compared(data: ConstructData, scorers: list[_Scorer]) -> bool:
    return len(scorers) > 1 and any(data.kinds[scorer.name] == "metric" for scorer in scorers)


def _sorted(analysis: Analysis, construct: str, data: ConstructData) -> list[_Scorer]:
    """Judges and metrics whose order can be compared with people's, the best first."""
    scope = "within_query" if data.several_a_query else "pooled"
    where = {"construct": construct, "scope": scope}
    found: list[_Scorer] = []
    if data.reference_missing or "metric" not in {data.kinds[name] for name in data.scorers}:
        return found
    for name in data.scorers:
        order = analysis.estimates.first("kendall_tau_b", scorer=name, **where)
        if order is not None and order.defined:
            turned = name in analysis.options.low_is_good
            missing, took = _missing_and_spent(analysis, construct, name)
            found.append(_Scorer(name, _turned(order) if turned else order, missing, took))
    return sorted(found, key=lambda scorer: -scorer.order.value)


def _missing_and_spent(
    analysis: Analysis, construct: str, name: str
) -> tuple[Counter[str], dict[str, Any]]:
    frame = analysis.context.scores.frame
    rows = frame[(frame["scorer"] == name) & frame["repeat"].eq(0)]
    rows = rows.drop_duplicates(["response_id", "construct"])
    runs = {str(run["name"]): run for run in analysis.inputs.judge_runs if run.get("account")}
    members = analysis.options.derived_from.get(name, ())
    here = rows[rows["construct"] == construct]
    missing = Counter(here.loc[here["value"].isna(), "missing_reason"].dropna().astype("str"))
    member_costs = [_missing_and_spent(analysis, construct, member)[1] for member in members]
    if member_costs and all("answers" in took for took in member_costs):
        asking = [took for took in member_costs if took["counted_by"] != NO_MODEL]
        return missing, _together(asking) if asking else member_costs[0]
    return missing, spent(runs.get(name), members, rows, max(1, rows["response_id"].nunique()))


def _together(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what several runs took; without what is not known of one of them."""
    sums: dict[str, Any] = {"counted_by": "members"}
    for key in set().union(*parts) - {"counted_by"}:
        given: list[Any] = [part.get(key) for part in parts]
        sums[key] = None if None in given else sum(given)
    return sums


def _judge_minus(
    analysis: Analysis, construct: str, judge: str | None, scorer: _Scorer
) -> Estimate | None:
    if judge is None or judge == scorer.name:
        return None
    where = {"construct": construct, "scope": scorer.order.scope, "measure": "kendall_tau_b"}
    for statistic in ("judge_minus_metric", "judge_difference"):
        for e in analysis.estimates.select(statistic, **where):
            if e.scorers[:2] == (judge, scorer.name) and "on" not in e.params:
                return e
            if e.scorers[:2] == (scorer.name, judge):
                return _turned(e)
    return None


def _turned(e: Estimate) -> Estimate:
    return replace(e, value=-e.value, ci_low=-e.ci_high, ci_high=-e.ci_low)


def _price(scorer: _Scorer, among: list[_Scorer]) -> tuple[bool, float, int]:
    """Cost where that of all of them is known, else tokens; what is not known is last."""
    costs = [each.took.get("cost") for each in among]
    amount = scorer.tokens if None in costs else scorer.took["cost"]
    return amount is None, amount or 0.0, among.index(scorer)


def _figure(scorer: _Scorer) -> str:
    return f"tau-b {with_interval(scorer.order)}"


def _effort(scorer: _Scorer) -> str:
    if scorer.took["counted_by"] == NO_MODEL or scorer.tokens == 0:
        return "asks no judge"
    cost = scorer.took.get("cost")
    if cost is not None:
        return f"cost {cost:,.2f}"
    return "cost not known" if scorer.tokens is None else f"{scorer.tokens:,} tokens"


def _shown(
    analysis: Analysis, construct: str, data: ConstructData, best: _Scorer, other: _Scorer
) -> str:
    """Whether the data show that it is within the margin, of a judge and a metric."""
    if (data.kinds[best.name], data.kinds[other.name]) != ("judge", "metric"):
        return ""
    key = family(construct, best.name, None)
    for e in analysis.estimates.select("metric_within_margin", construct=construct):
        if e.scorers[:2] == (best.name, other.name) and "on" not in e.params:
            holds = analysis.claims.hold(key, e) and e.value > 0
            return ", and the data show this" if holds else ", but the data do not show this yet"
    return ""


def _whole(number: float | None) -> Cell | str:
    return "" if number is None else f"{number:,.0f}"

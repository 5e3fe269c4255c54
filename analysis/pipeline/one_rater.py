"""The first figures and answers on judges beside one rater, before numpy and pandas are loaded.

A table with a column of one rater and one of each judge, each row a response to a separate query,
is what most people have. Its first lines are computed here, in plain Python; the report computes
the same figures again with all others (tests/analysis/pipeline/test_one_rater.py compares them).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from analysis.core.end_intervals import STEP_OF_ORDER
from analysis.core.estimates import Estimate, EstimateList
from analysis.core.interval import withheld
from analysis.core.options import Options
from analysis.core.scales import not_common, step_of_grades
from analysis.core.statistic import ORDER
from analysis.decisions.answers import answered
from analysis.decisions.described import DescribedTable
from analysis.decisions.facts import ScoredFacts
from analysis.decisions.patterns import pattern
from analysis.decisions.records import UseDecision
from analysis.statistics.plain.calibration import calibration_error_squared
from analysis.statistics.plain.intervals import jackknife, share
from analysis.statistics.plain.ordered_pairs import codes, ordered_pairs
from study.base.scales import Scale

#: From here on intervals of the report resample at random, and so are left to it.
MOST_RESPONSES = 999

#: Shared responses from which equal values mean a copy (`decisions.table_facts`).
SHARED = 20

_Values = Sequence[float | None]


@dataclass(frozen=True)
class OneRaterTable:
    """Values (n,) of a rater and of judges on one construct, None where missing."""

    construct: str
    rater: str
    people: _Values
    judges: Mapping[str, _Values]
    scale: Scale | None
    """Of people's values."""
    judge_scales: Mapping[str, Scale | None]

    @property
    def passes_or_fails(self) -> bool:
        """Whether people pass or fail responses."""
        return self.scale is not None and self.scale.binary

    @property
    def left_to_the_report(self) -> bool:
        """Whether figures are needed that are not computed here."""
        graded_judge = self.passes_or_fails and any(
            set(_known(values)) - {0.0, 1.0} for values in self.judges.values()
        )
        nominal = self.scale is not None and self.scale.level == "nominal"
        # How other scales are mapped, or cut, and odd values are told by the report.
        apart = self.scale is None or any(
            scale is None or not scale.same_points(self.scale)
            for scale in self.judge_scales.values()
        )
        return len(self.people) > MOST_RESPONSES or nominal or graded_judge or apart


@dataclass(frozen=True)
class FirstFigures:
    """What the first lines of a report are written from."""

    estimates: EstimateList
    facts: tuple[ScoredFacts, ...]
    decisions: tuple[UseDecision, ...]
    described: DescribedTable


def first_figures(table: OneRaterTable, options: Options) -> FirstFigures:
    """The figures of each judge that decide, and the answers."""
    records: list[Estimate] = []
    facts = []
    for judge in table.judges:
        pairs = _Paired.of(table, judge)
        records += _figures(table, judge, pairs, options.level)
        facts.append(_facts(table, judge, pairs))
    estimates = EstimateList(tuple(records))
    described = DescribedTable(
        options.level,
        lambda _: table.scale,
        lambda _, scorer: table.judge_scales.get(scorer, table.scale),
    )
    decisions = tuple(answered(estimates, facts, options))
    return FirstFigures(estimates, tuple(facts), decisions, described)


@dataclass(frozen=True)
class _Paired:
    """Responses with both values, and their rows."""

    judge: list[float]
    people: list[float]
    rows: list[int]

    @classmethod
    def of(cls, table: OneRaterTable, judge: str) -> _Paired:
        both = [
            (x, y, row)
            for row, (x, y) in enumerate(zip(table.judges[judge], table.people, strict=True))
            if x is not None and y is not None
        ]
        return cls([x for x, _, _ in both], [y for _, y, _ in both], [row for *_, row in both])


def _known(values: _Values) -> list[float]:
    return [value for value in values if value is not None]


def _figures(table: OneRaterTable, judge: str, pairs: _Paired, level: float) -> Iterator[Estimate]:
    n = len(pairs.judge)
    either = sum(
        (x is None) != (y is None) for x, y in zip(table.judges[judge], table.people, strict=True)
    )
    record: dict[str, Any] = {
        "constructs": (table.construct,),
        "scorers": (judge, table.rater),
        "target": "these_raters",
        "n_raters": 1,
        "n_responses": n,
        "n_queries": n,
        "n_dropped": either,
    }
    yield from _order(pairs, level, record)
    scale = table.judge_scales.get(judge, table.scale)
    if table.scale is not None and scale is not None and scale.same_points(table.scale):
        yield from _level(pairs, _known(table.people), table.scale, level, record)
    else:
        reason = not_common(table.construct, judge, table.scale, scale)
        yield Estimate("bias", reason=reason, **record)
    if table.passes_or_fails and table.scale is not None and n:
        yield from _verdicts(pairs, level, record)
    own = _known(table.judges[judge])
    if scale is not None and own:
        at_max = sum(value >= scale.max for value in own) / len(own)
        yield Estimate("share_at_max", value=at_max, **record)


def _order(pairs: _Paired, level: float, record: dict[str, Any]) -> Iterator[Estimate]:
    x_values, y_values = set(codes(pairs.judge)), set(codes(pairs.people))
    names = (
        (x_values, record["scorers"][0], pairs.judge),
        (y_values, "human reference", pairs.people),
    )
    reason = None
    if len(pairs.judge) < 3:
        reason = f"a correlation needs at least 3 responses, there are {len(pairs.judge)}"
    for distinct, name, values in names if reason is None else ():
        if len(distinct) == 1:
            reason = reason or f"{name} gives every response the same value ({values[0]:g})"
    counted = ordered_pairs(pairs.judge, pairs.people)
    if reason:
        yield Estimate(ORDER, reason=reason, **record)
    else:
        tau = jackknife(
            counted.tau_b, counted.tau_b_without_each, level, "fisher_z", counted.trials
        )
        yield Estimate(ORDER, value=counted.tau_b, **tau.fields, reason=tau.reason, **record)
    concordance = counted.concordance
    if math.isnan(concordance):
        yield Estimate("concordance", reason="people order no two responses", **record)
        return
    without = counted.concordance_without_each
    undefined = sum(map(math.isnan, without))
    if undefined and 0 < concordance < 1:
        share_of = undefined / len(without)
        why = f"undefined in {share_of:.1%} of {len(without)} resamples"
        alike = withheld(level, "jackknife_t", why)
    else:
        alike = jackknife(concordance, without, level, "logit", step=STEP_OF_ORDER)
    yield Estimate("concordance", value=concordance, **alike.fields, reason=alike.reason, **record)


def _level(
    pairs: _Paired,
    known_people: Sequence[float],
    scale: Scale,
    level: float,
    record: dict[str, Any],
) -> Iterator[Estimate]:
    n = len(pairs.judge)
    if not n:
        yield Estimate("bias", reason="no response has both values", **record)
        return
    differences = [x - y for x, y in zip(pairs.judge, pairs.people, strict=True)]
    total = math.fsum(differences)
    values = sorted(set(pairs.judge) | set(pairs.people))
    steps = [b - a for a, b in pairwise(values)]
    without = [(total - d) / (n - 1) for d in differences] if n > 1 else differences
    bias = jackknife(total / n, without, level, step=min(steps, default=None))
    yield Estimate("bias", value=total / n, **bias.fields, reason=bias.reason, **record)
    if n > 1 and not scale.two_valued:
        square = calibration_error_squared(pairs.judge, pairs.people)
        if not math.isnan(square):
            yield Estimate("calibration_error_squared", value=square, **record)
    step = step_of_grades(scale, whole=not any(y % 1 for y in known_people))
    if step is None:
        return
    for name, points in (("exact_agreement", 0.0), ("adjacent_agreement", step)):
        if points and scale.two_valued:
            continue
        near = [float(abs(d) <= points + 1e-12 * scale.width) for d in differences]
        yield _share(name, near, level, record)


def _share(
    name: str, hits: Sequence[float], level: float, record: dict[str, Any], empty: str = ""
) -> Estimate:
    """A share of responses (those of `hits`), or why there is none."""
    if not hits:
        return Estimate(name, reason=empty, **record)
    interval = share(hits, level)
    value = math.fsum(hits) / len(hits)
    return Estimate(name, value=value, **interval.fields, reason=interval.reason, **record)


def _verdicts(pairs: _Paired, level: float, record: dict[str, Any]) -> Iterator[Estimate]:
    both = list(zip(pairs.judge, pairs.people, strict=True))
    passed = [float(x == 1) for x, y in both if y == 1]
    failed = [float(x == 0) for x, y in both if y == 0]
    yield _share("true_positive_rate", passed, level, record, "people pass none of the responses")
    yield _share("true_negative_rate", failed, level, record, "people fail none of the responses")
    yield _share("accuracy", [float(x == y) for x, y in both], level, record)
    tp, tn = sum(passed), sum(failed)
    cells = (tp, len(passed) - tp, len(failed) - tn, tn)
    kappa = _kappa(*cells)
    if math.isnan(kappa):
        why = "people or the judge give one verdict throughout"
        yield Estimate("verdict_kappa", reason=why, **record)
    else:
        without = [_kappa(*_less_one(cells, x, y)) for x, y in both]
        trials = min(len(both), 2 * min(len(passed), len(failed)))
        interval = jackknife(kappa, without, level, "fisher_z", trials)
        yield Estimate(
            "verdict_kappa", value=kappa, **interval.fields, reason=interval.reason, **record
        )
    for people, judge, count, of in (
        ("pass", "pass", cells[0], len(passed)),
        ("pass", "fail", cells[1], len(passed)),
        ("fail", "pass", cells[2], len(failed)),
        ("fail", "fail", cells[3], len(failed)),
    ):
        if of:
            params: dict[str, str | float | int | None] = {
                "people": people,
                "judge": judge,
                "count": float(count),
                "of": float(of),
            }
            yield Estimate("verdict_confusion", value=count / of, params=params, **record)


def _less_one(
    cells: tuple[float, float, float, float], judge: float, people: float
) -> tuple[float, float, float, float]:
    place = (0 if judge == 1 else 1) if people == 1 else (2 if judge == 1 else 3)
    tp, fn, fp, tn = (count - (place == k) for k, count in enumerate(cells))
    return tp, fn, fp, tn


def _kappa(tp: float, fn: float, fp: float, tn: float) -> float:
    total = tp + fn + fp + tn
    chance = (tp + fn) * (tp + fp) + (fp + tn) * (fn + tn)
    possible = total**2 - chance
    return ((tp + tn) * total - chance) / possible if possible > 0 else math.nan


def _facts(table: OneRaterTable, judge: str, pairs: _Paired) -> ScoredFacts:
    scale = table.judge_scales.get(judge, table.scale)
    people = _known(table.people)
    rated = [x for x, y in zip(table.judges[judge], table.people, strict=True) if y is not None]
    equal = len(pairs.judge) >= SHARED and pairs.judge == pairs.people
    return ScoredFacts(
        table.construct,
        judge,
        people=(table.rater,),
        n_responses=len(pairs.judge),
        n_queries=len(pairs.judge),
        human_scale=table.scale,
        scorer_scale=scale,
        reference_missing=None if people else f"no human rating on {table.construct}",
        constant=_constant([x for x in rated if x is not None], people),
        missing_share=sum(x is None for x in rated) / len(rated) if rated else 0.0,
        copy_of=table.rater if equal else None,
        people_at_max=math.nan
        if table.scale is None or not people
        else sum(y >= table.scale.max for y in people) / len(people),
        pattern=pattern(
            pairs.judge, pairs.people, pairs.rows, table.scale if scale == table.scale else None
        ),
    )


def _constant(scores: Sequence[float], people: Sequence[float]) -> str | None:
    for whose, values in (
        ("the judge gives every rated response the same value", scores),
        ("people give every response the same value", people),
    ):
        if len(values) > 1 and len(set(values)) == 1:
            return f"{whose} ({values[0]:g})"
    return None

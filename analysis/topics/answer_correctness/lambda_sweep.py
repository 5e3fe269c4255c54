"""Composed AC as the weight of the match goes from 0 to 1: estimates and figure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.arrays import FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.context import Context
from analysis.core.estimates import Estimate, to_frame
from analysis.core.pairs import Scope
from analysis.render.drawing import ACCENT, INK, MUTED, RULE, Drawing, Figure, as_svg, canvas, head
from analysis.render.formatting import correlation, with_minus
from analysis.render.panels import HEIGHT, JUDGES_DRAWN, WIDTH
from analysis.statistics.agreement.association import association
from analysis.statistics.answer_correctness import composed_ac
from analysis.statistics.discrimination.tukey import randomized_tukey_hsds
from analysis.statistics.distribution.shape import tie_probability
from analysis.topics.agreement.association import REFERENCE
from analysis.topics.distribution.estimates import counts

#: Metrics that can serve as the match: strict, normalized, and the overlap of tokens.
MATCHES = ("EM", "EM-normalized", "F1")

#: Weights of the match.
WEIGHTS = tuple(step / 10 for step in range(11))

#: Permutations of a test in the sweep, and its level.
RESAMPLES, ALPHA = 1000, 0.05


NO_PAIR = "a pair needs 2 scores"
NO_TEST = "no two systems have scores on a common query"


def lambda_sweep(context: Context, construct: str, judge: str, match: str) -> Iterator[Estimate]:
    """`ac_lambda_sweep`: agreement with people, ties, and discriminative power of composed AC.

    The parts are on one scale, and the metric in params.match is the match.
    """
    rated, whole = context.rated.get(construct), context.whole[construct]
    name = "ac_lambda_sweep"
    record: dict[str, Any] = {"constructs": (construct,), "scorers": (judge, match)}
    if rated is not None and not rated.reference_missing:
        scopes: tuple[Scope, ...] = ("pooled", "within_query")
        for scope in scopes:
            for weight in WEIGHTS:
                statistic = association(
                    "pearson",
                    composed_ac(rated.scorers[judge], rated.scorers[match], weight),
                    rated.reference,
                    rated.query,
                    scope,
                    n_queries=rated.n_queries,
                    names=("composed AC", REFERENCE),
                )
                params = _params(weight, "pearson", match)
                yield context.estimate(
                    name, statistic, None, "fisher_z", scope=scope, target="these_raters",
                    params=params, **record,
                )  # fmt: skip
    composed = [
        composed_ac(whole.scorers[judge], whole.scorers[match], weight) for weight in WEIGHTS
    ]
    for weight, values in zip(WEIGHTS, composed, strict=True):
        ties = tie_probability(values)
        yield Estimate(
            name, value=ties, reason=NO_PAIR if np.isnan(ties) else None,
            params=_params(weight, "tie_probability", match),
            **counts(values, whole.query), **record,
        )  # fmt: skip
    if len(whole.systems) > 1:
        tests = randomized_tukey_hsds(
            [by_system(whole, values) for values in composed], RESAMPLES, context.options.seed
        )
        for weight, test in zip(WEIGHTS, tests, strict=True):
            power = test.power(ALPHA)
            yield Estimate(
                name, systems=whole.systems, value=power,
                reason=(test.reason or NO_TEST) if np.isnan(power) else None,
                n_responses=test.n_scores, n_queries=test.n_queries,
                params=_params(weight, "discriminative_power", match) | {"alpha": ALPHA},
                **record,
            )  # fmt: skip


def _params(weight: float, measure: str, match: str) -> dict[str, Any]:
    return {"lambda": weight, "measure": measure, "match": match}


def by_system(data: ConstructData, values: FloatArray) -> FloatArray:
    """Values (n,) as a table (Q, S); a system with several responses to a query has their mean."""
    present = np.isfinite(values)
    table = np.full((data.n_queries, len(data.systems)), np.nan)
    for place in range(len(data.systems)):
        system_rows = data.produced[:, place] & present
        count = np.bincount(data.query[system_rows], minlength=data.n_queries)
        total = np.bincount(data.query[system_rows], values[system_rows], data.n_queries)
        some = count > 0
        table[some, place] = total[some] / count[some]
    return table


#: Most panels of the figure, where a judge is composed with several metrics.
PANELS_DRAWN = 6

#: What is added to its heading, color, line and marker of each measure: distinguishable without
#: color.
_LINES = {
    ("pearson", "within_query"): (" within a query", INK, "-", "o"),
    ("pearson", "pooled"): (", pooled", INK, "--", "s"),
    ("tie_probability", "pooled"): ("", MUTED, ":", "^"),
    ("discriminative_power", "pooled"): ("", ACCENT, "-.", "D"),
}


def lambda_sweep_figure(analysis: Analysis) -> Iterator[Figure]:
    """A panel a judge and metric of a match: fewer judges where each has several."""
    parts: dict[str, dict[tuple[str, ...], list[Estimate]]] = {}
    for e in analysis.estimates.select("ac_lambda_sweep"):
        parts.setdefault(e.scorers[0], {}).setdefault(e.scorers, []).append(e)
    # A judge without people's values beside its own has nothing to draw.
    parts = {
        judge: panels
        for judge, panels in parts.items()
        if any(e.defined for rows in panels.values() for e in rows)
    }
    if not parts:
        return
    several = max(len(judge_panels) for judge_panels in parts.values())
    drawn = min(JUDGES_DRAWN, max(1, PANELS_DRAWN // several))
    panels = [
        panel for judge_panels in list(parts.values())[:drawn] for panel in judge_panels.items()
    ]
    omitted = ", ".join(list(parts)[drawn:])
    drawings = tuple(
        _draw(analysis, scorers, rows, f"lambda-{n}") for n, (scorers, rows) in enumerate(panels)
    )
    yield Figure(
        key="lambda-sweep",
        title="What does the exact match add?",
        caption=(
            f"{analysis.headings['ac_lambda_sweep']}: composed of the match with weight lambda "
            "and the judge's part with 1 - lambda: Pearson correlation with people, chance that "
            "two responses tie, and share of pairs of systems with a significant difference by "
            "the randomized Tukey test (p < .05). The vertical line is "
            "the lambda of this report." + (f" Not drawn: {omitted}." if omitted else "")
        ),
        drawings=drawings,
        data=to_frame(e for _, rows in panels for e in rows),
    )


def _draw(analysis: Analysis, scorers: tuple[str, ...], rows: list[Estimate], key: str) -> Drawing:
    judge, match = scorers
    descriptions = []
    with canvas(WIDTH * 1.5, HEIGHT + 0.55) as (figure, axes):
        axes.axvline(analysis.options.ac_lambda, color=MUTED, linewidth=0.8, dashes=(3, 2))
        low = 0.0
        for (measure, scope), (which, color, line, marker) in _LINES.items():
            name = f"{analysis.headings[measure]}{which}"
            points = [
                e for e in rows if e.params["measure"] == measure and e.scope == scope and e.defined
            ]
            if not points:
                continue
            x = [float(str(e.params["lambda"])) for e in points]
            y = [e.value for e in points]
            low = min(low, *y)
            axes.plot(
                x, y, color=color, linestyle=line, marker=marker, markersize=3, linewidth=1,
                label=name,
            )  # fmt: skip
            first, last = (with_minus(correlation(y[at])) for at in (0, -1))
            descriptions.append(f"{name} {first} at lambda {x[0]:g}, {last} at {x[-1]:g}")
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(low - 0.04, 1.04)
        axes.grid(color=RULE, linewidth=0.4)
        axes.set_axisbelow(True)
        axes.set_xlabel("lambda, the weight of the match")
        axes.yaxis.set_major_formatter(lambda value, _: with_minus(correlation(value)))
        head(figure, f"AC, {match}", judge)
        figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=7)
        return as_svg(
            figure, key, f"AC of {judge} and {match} by lambda", "; ".join(descriptions) + "."
        )

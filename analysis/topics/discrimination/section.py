"""Section of the report: which systems differ, by judge and by people, with its tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from analysis.core.analysis import Analysis
from analysis.core.arrays import FloatArray, IntArray
from analysis.core.construct_data import ConstructData
from analysis.core.estimates import Estimate
from analysis.render.formatting import counted, listed, p_value
from analysis.render.section import Section
from analysis.render.table import Cell, TableBuilder
from analysis.render.table_of import (
    Column,
    Line,
    TableOf,
    TableRow,
    each,
    formatted,
    in_points,
    in_words,
    param,
    scorer_scale,
    spread,
)
from analysis.topics.discrimination import (
    estimates,
    figures,
    published_tables,
    system_ranks,
)
from analysis.topics.discrimination.figures import name_of
from analysis.topics.distribution.estimates import MEAN_OF_RATERS
from analysis.topics.distribution.people_by_system import ADJUSTED

#: Scorers and hypotheses of which a sentence is made; the tables have the others.
_SCORERS_SUMMARIZED, _HYPOTHESES_SUMMARIZED = 2, 4


def reading(analysis: Analysis) -> Iterator[str]:
    """How many pairs of systems differ significantly by each scorer, and declared hypotheses."""
    for judge, pairs in _judge_differences(analysis).items():
        yield f"{judge}: significant differences for {_counts(analysis, pairs)}."
    people = _people_differences(analysis)
    if people:
        queries = max(e.n_queries for e in people)
        whose = "People's ratings" if people[0].n_raters else "Adjudicated values"
        on = counted(queries, "query", "queries")
        yield f"{whose}, on {on}: significant differences for {_counts(analysis, people)}."
    yield from _other_raters(analysis)
    yield from _equal_for_all_systems(analysis)
    for e in analysis.estimates.select("hypothesis_p")[:_HYPOTHESES_SUMMARIZED]:
        yield _outcome(analysis, e)


def _equal_for_all_systems(analysis: Analysis) -> Iterator[str]:
    """Metrics that do not distinguish systems, as those of passages that all systems share."""
    for construct, data in analysis.context.whole.items():
        if len(data.systems) < 2:
            continue
        equal = [
            name
            for name, values in data.scorers.items()
            if data.kinds[name] == "metric" and _constant_within(values, data.query)
        ]
        if equal:
            yield (
                f"{construct}: {listed(equal)} cannot distinguish systems: all responses to a "
                "query have the same score."
            )


def _constant_within(values: FloatArray, query: IntArray) -> bool:
    """Whether values differ in no query, and several responses to one query have some."""
    known = np.isfinite(values)
    by_query = pd.Series(values[known]).groupby(query[known])
    return bool((by_query.size() > 1).any() and (by_query.max() == by_query.min()).all())


def compared(analysis: Analysis) -> Iterator[Estimate]:
    """The differences between systems, by the scorers of which sentences are made."""
    for pairs in _judge_differences(analysis).values():
        yield from pairs
    yield from _people_differences(analysis)
    yield from analysis.estimates.select("system_difference", **ADJUSTED)


def _judge_differences(analysis: Analysis) -> dict[str, list[Estimate]]:
    """Defined differences by each of the first judges."""
    by_judge: dict[str, list[Estimate]] = {}
    for e in analysis.estimates.select("system_difference", on="all"):
        if e.defined and analysis.scorer_kinds.get(e.scorers[0]) == "judge":
            by_judge.setdefault(e.scorers[0], []).append(e)
    return dict(list(by_judge.items())[:_SCORERS_SUMMARIZED])


def _people_differences(analysis: Analysis) -> list[Estimate]:
    """Defined differences by people where raters are balanced over systems."""
    return [
        e
        for e in analysis.estimates.select("system_difference", on="rated")
        if e.defined
        and (e.n_raters or analysis.scorer_kinds.get(e.scorers[0]) == "adjudicated")
        and not _is_adjusted(e)
    ]


def _other_raters(analysis: Analysis) -> Iterator[str]:
    """People's differences where raters are not balanced over systems, by construct."""
    by_construct: dict[str, list[Estimate]] = {}
    for e in analysis.estimates.select("system_difference", **ADJUSTED):
        by_construct.setdefault(e.constructs[0], []).append(e)
    for construct, pairs in by_construct.items():
        apart = [e for e in pairs if analysis.claims.hold("systems", e)]
        defined = [e for e in pairs if e.has_interval]
        text = f"{construct}: the systems were not rated by the same raters to the same extent."
        if defined:
            text += (
                " Adjusted for raters' severity, people's ratings differ significantly for "
                f"{len(apart)} of {counted(len(defined), 'pair')} of systems (for raters like "
                "these)."
            )
        without = [e for e in pairs if not e.defined]
        if without:
            text += (
                f" People's difference is withheld for {counted(len(without), 'pair')}: "
                f"{without[0].reason}."
            )
        yield text


def _counts(analysis: Analysis, pairs: list[Estimate]) -> str:
    """'14 of 15 pairs of systems on QR, 13 on IR and 11 on CC'."""
    by_construct: dict[str, list[bool]] = {}
    for e in pairs:
        by_construct.setdefault(e.constructs[0], []).append(analysis.claims.hold("systems", e))
    ordered = sorted(by_construct.items(), key=lambda item: -sum(item[1]) / len(item[1]))
    if len({len(holds) for holds in by_construct.values()}) == 1:
        (first, holds), *others = ordered
        words = [f"{sum(holds)} of {counted(len(holds), 'pair')} of systems on {first}"]
        words += [f"{sum(holds)} on {construct}" for construct, holds in others]
    else:
        words = [f"{sum(holds)} of {len(holds)} pairs on {key}" for key, holds in ordered]
    return listed(words)


def _outcome(analysis: Analysis, e: Estimate) -> str:
    name, scorer = str(e.params["hypothesis"]).rstrip("."), figures.name_of(analysis, e)
    if not e.defined:
        return f"“{name}” could not be tested with {scorer}: {e.reason}."
    holm = e.params["holm"]
    assert isinstance(holm, float)  # noqa: S101  (it is defined where p is)
    holds = "is supported" if holm < 0.05 else "is not supported"
    several = int(str(e.params["hypotheses"])) > 1
    adjusted = " after Holm's adjustment" if several else ""
    return f"“{name}” {holds} in the scores of {scorer} ({p_value(holm)}{adjusted})."


#: Of people's figures in a table where raters are not balanced over systems.
ADJUSTED_WORDS = (
    "On {where} the systems were not rated by the same raters to the same extent: people's figures "
    "by system are adjusted for raters' severity, with intervals for raters like these."
)

#: Pairs of systems in one table; more pairs are in estimates.csv only.
PAIRS_SHOWN = 28


def _name(row: TableRow) -> str:
    return name_of(row.analysis, row.estimate)


def _judged(row: TableRow) -> bool:
    return row.analysis.scorer_kinds.get(row.scorer) in {"judge", "metric"}


def _leading(analysis: Analysis) -> Iterator[TableRow]:
    """All but judges and metrics on the responses that people rated."""
    for row in each("discriminative_power")(analysis):
        if not _judged(row) or row.estimate.params["on"] != "rated":
            yield row


def _again(row: TableRow) -> Estimate | None:
    return row.first("discriminative_power", on="rated") if _judged(row) else None


def _significant(row: TableRow) -> str:
    e = row.estimate
    return f"{e.params['significant']} of {e.params['pairs']}" if e.defined else ""


power = TableOf(
    "discriminative-power",
    "Pairs of systems that differ significantly",
    "{discriminative_power}: share of the pairs of systems with p < .05 by a randomized Tukey "
    "HSD test (queries' scores permuted across systems, all pairs at once). With more "
    "queries more pairs differ significantly, so a judge's power is also given on the "
    "responses that people rated.",
    _leading,
    ("construct", in_words("Scorer", _name), formatted("discriminative_power", ".2f"),
     in_words("Pairs", _significant), "queries",
     formatted(_again, ".2f", "{discriminative_power}, rated responses")),
)  # fmt: skip


def _of_other_raters(_analysis: Analysis, rows: Line) -> str:
    """Where people's figures are adjusted."""
    return _adjusted_on([e for row in rows if _is_adjusted(e := row.estimate)])


def _is_adjusted(e: Estimate) -> bool:
    return ADJUSTED.items() <= e.params.items()


def _adjusted_on(adjusted: Sequence[Estimate]) -> str:
    where = listed(list(dict.fromkeys(e.constructs[0] for e in adjusted)))
    return f" {ADJUSTED_WORDS.format(where=where)}" if adjusted else ""


def _difference(row: TableRow, built: TableBuilder) -> Cell:
    test = row.first("randomized_tukey_hsd_p")
    if test is None:
        return Cell("")
    cell = built.points(row.estimate, scorer_scale(row))
    built.used.append(test)
    return replace(cell, parts=(p_value(test.value),) if test.defined else ())


differences = TableOf(
    "system-differences",
    "Differences between systems: {part}",
    "{system_difference}: mean of the first system minus that of the second on the queries that "
    "both have scores on, in points; brackets: simultaneous intervals for all pairs of a "
    "construct. {randomized_tukey_hsd_p}: randomized Tukey HSD, two-sided, also simultaneous for "
    "all pairs.",
    each("system_difference", "scorers", "systems", "on"),
    ("pair", spread(Column("", _difference))),
    heads=1,
    note=_of_other_raters,
    most=PAIRS_SHOWN,
    per=lambda analysis: figures.drawn(
        analysis, (name_of(analysis, e) for e in analysis.estimates.select("system_difference"))
    ),
    part=_name,
)  # fmt: skip


def _claims(row: TableRow) -> str:
    return "all of it" if row.estimate.params["aggregation"] == "maximum" else "some of it"


declared_hypotheses = TableOf(
    "hypotheses",
    "Declared hypotheses",
    "Every pair on every construct by a randomized Tukey HSD test, one-sided where the first "
    "system is expected above the second. All of it: the largest p. Some of it: the smallest "
    "p times the number of constructs. Adjusted: by Holm's method over a scorer's hypotheses.",
    each("hypothesis_p"),
    (param("hypothesis", "Hypothesis"), in_words("Scorer", _name), param("direction", "Direction"),
     in_words("Constructs", lambda row: ", ".join(row.estimate.constructs)),
     in_words("Claims", _claims), formatted("hypothesis_p", ".4f"),
     param("holm", "{hypothesis_p}, adjusted", ".4f")),
)  # fmt: skip


def _each_scorer(analysis: Analysis) -> Iterator[TableRow]:
    for construct, data in analysis.context.whole.items():
        for system, scorer in product(data.systems, data.scorers):
            where = {"construct": construct, "scorer": scorer, "scope": f"system:{system}"}
            yield TableRow(analysis, where)


def _people(reference: str) -> Column:
    """The mean of the reference, if it is of this kind."""

    def mean(row: TableRow) -> Estimate | None:
        whose = _whose_mean(row.analysis.context.whole[row.construct])
        if whose is None or row.analysis.options.reference != reference:
            return None
        where = {"construct": row.construct, "scope": row.where["scope"], **whose}
        return row.analysis.estimates.first("mean", **where)

    return in_points(
        mean, "{mean}, adjudicated" if reference == "adjudicated" else "{mean} of people"
    )


def _on_which(analysis: Analysis, _rows: Line) -> str:
    means = analysis.estimates.select("mean", of=MEAN_OF_RATERS, **ADJUSTED)
    compared = any(not data.reference_missing for data in analysis.context.whole.values())
    reference = (
        " The scorer's and the reference's means may rest on different responses, bias and r "
        f"on those with both. The reference is {analysis.reference_words}."
    )
    return (reference if compared else "") + _adjusted_on(means)


systems = TableOf(
    "systems",
    "Systems",
    "Mean score on all responses of a system that have one.",
    _each_scorer,
    ("construct", in_words("System", lambda row: row.where["scope"].removeprefix("system:")),
     "scorer", in_points("mean", "{mean} of the scorer", scorer_scale),
     _people("mean_of_raters"), _people("adjudicated"), in_points("bias", scale=scorer_scale),
     "pearson"),
    heads=3,
    note=_on_which,
)  # fmt: skip


def _whose_mean(data: ConstructData) -> dict[str, str] | None:
    """Whose mean is that of the reference: one scorer's, that of the mean of raters, or none."""
    alone = tuple(data.adjudicated) if data.reference_kind == "adjudicated" else data.raters
    if len(alone) == 1:
        return {"scorer": alone[0]}
    return {"of": MEAN_OF_RATERS} if alone and alone == data.raters else None


SECTION = Section(
    key="systems",
    title="Differences between systems",
    statistics=estimates.STATISTICS,
    figures=(
        figures.asl_curves,
        figures.system_differences,
    ),
    tables=(
        systems,
        system_ranks.ranks_of_systems,
        power,
        differences,
        declared_hypotheses,
        published_tables.published_power,
        published_tables.published_differences,
        published_tables.published_others,
    ),
    details=("system-ranks", "system-differences"),
    reading=reading,
    compared=compared,
)

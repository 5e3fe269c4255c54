"""A description of a table of scores: its scorers, its scales, and what can be computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from analysis.core.construct_data import ConstructData, construct_data
from analysis.core.likely_scales import Scored, likely_scales, scored_values
from analysis.core.tables import ScoreTable
from analysis.topics.answer_correctness.estimates import CONSTRUCT, EXACT_MATCH

#: Sizes that statistics need (explained on the pages of the statistics).
ALT_TEST_RATERS, ALT_TEST_QUERIES, FEW_RATERS, CORRELATION = 3, 30, 5, 3


@dataclass(frozen=True)
class Finding:
    """A part of a report: a remark on it, or why it cannot be computed."""

    subject: str
    possible: bool
    why: str = ""
    remark: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """The contents of a table, and what can be computed from it."""

    responses: int
    queries: int
    systems: int
    raters: int
    scored: tuple[Scored, ...]
    scales: tuple[str, ...]
    """The `--scale` options that would declare what the values look like."""
    findings: tuple[Finding, ...]

    @property
    def usable(self) -> bool:
        """Whether anything can be computed."""
        return any(finding.possible for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """The description as values for JSON."""
        return asdict(self) | {"usable": self.usable}


def diagnose(scores: ScoreTable) -> Diagnosis:
    """Describe a table: shapes, scales guessed from the values, and what a report could say.

    A guessed scale is only reported: it is not used until it is declared.
    """
    data = {key: construct_data(scores, key) for key in scores.constructs}
    scored = scored_values(scores)
    people = {name for name, kind in scores.scorer_kinds.items() if kind == "human"}
    return Diagnosis(
        responses=scores.frame["response_id"].nunique(),
        queries=len(scores.queries),
        systems=len(scores.systems),
        raters=len(people),
        scored=scored,
        scales=likely_scales(scores),
        findings=tuple(_findings(scores, data, scored)),
    )


def _findings(
    scores: ScoreTable, data: Mapping[str, ConstructData], scored: tuple[Scored, ...]
) -> Iterator[Finding]:
    judges = {name for name, kind in scores.scorer_kinds.items() if kind == "judge"}
    machines = {n for n, kind in scores.scorer_kinds.items() if kind in {"judge", "metric"}}
    overlap = max((_in_common(d) for d in data.values()), default=0)
    pairs = max((_several_a_query(d) for d in data.values()), default=0)
    shared = max((_rated_twice(d) for d in data.values()), default=0)
    raters = max((len(d.raters) for d in data.values()), default=0)
    rated = sum(values_of.n for values_of in scored if values_of.kind == "human")
    yield Finding(
        "how scores are distributed: means, ties, ends of the scale"
        if any(not _only_names(scores, key) for key in data) or not data
        else "how scores are distributed: shares of the categories",
        any(values_of.n for values_of in scored),
        "there are no values",
    )
    yield Finding(
        "how far people agree: alpha, ICC, each rater",
        shared > 0,
        _no_agreement(raters, rated),
    )
    ordered = {key for key in data if not _only_names(scores, key)}
    only_categories = (
        "" if ordered else "the values name categories, which have no order and no distance"
    )
    compared = overlap >= CORRELATION
    no_pair = (
        "no judge or metric" if not machines
        else "no human ratings" if not rated
        else f"{overlap} responses have a score and a rating; a correlation takes {CORRELATION}"
    )  # fmt: skip
    if len(ordered) < len(data):
        yield Finding(
            "judge against people: the same categories, kappa and confusion", overlap > 0, no_pair
        )
    yield Finding(
        "judge against people: correlations",
        compared and not only_categories,
        only_categories or no_pair,
    )
    yield Finding(
        "the order of responses within a query",
        compared and pairs > 0 and not only_categories,
        only_categories
        or ("no query has two responses with both a score and a rating" if compared else no_pair),
    )
    yield Finding(
        "the human ceiling: judge against a rater, both with the other raters",
        compared and shared > 0 and not only_categories,
        only_categories or (no_pair if not compared else _no_agreement(raters, rated)),
    )
    declared = {values_of.construct for values_of in scored if values_of.declared}
    yield Finding(
        "bias, calibration and ends of the scale in points",
        compared
        and not only_categories
        and bool(declared or any(values_of.looks_like for values_of in scored)),
        only_categories
        or (no_pair if not compared else "the values are on no usual scale; declare their scale"),
        "" if declared else "on the scale that the values look like",
    )
    valued = any(values_of.n for values_of in scored)
    yield from _on_systems(scores, judges, data, valued=valued, only_categories=only_categories)
    yield Finding(
        "the alternative annotator test",
        raters >= ALT_TEST_RATERS and overlap > 0 and len(scores.queries) >= ALT_TEST_QUERIES,
        f"it takes {ALT_TEST_RATERS} raters and {ALT_TEST_QUERIES} queries each; there are "
        f"{raters} and {len(scores.queries)}",
    )
    with_order = tuple(values_of for values_of in scored if values_of.construct in ordered)
    several = max((_constructs_of(with_order, name) for name in machines | set(_people(scores))),
                  default=0)  # fmt: skip
    yield Finding(
        "validity: constructs among each other", several > 1, "no scorer scored two constructs"
    )
    yield Finding(
        "results for raters like these, not only for this panel",
        shared > 0,
        _no_agreement(raters, rated),
        f"weak with {raters} raters" if raters < FEW_RATERS else "",
    )
    ac = data.get(CONSTRUCT)
    yield Finding(
        "the audit of Answer Correctness",
        ac is not None and EXACT_MATCH in ac.scorers and bool(judges & set(ac.scorers)),
        f"it takes a judge and the metric {EXACT_MATCH} on {CONSTRUCT}",
    )
    repeated = scores.frame.loc[scores.frame["repeat"] > 0, "scorer"].nunique()
    yield Finding(
        "a scorer's agreement with itself", repeated > 0, "no scorer scored a response twice"
    )


def _only_names(scores: ScoreTable, construct: str) -> bool:
    """Whether people's values on a construct are categories without an order."""
    people = scores.scorers(construct, "human", "adjudicated") or scores.scorers(construct)
    scale = scores.scale(construct, people[0]) if people else None
    return scale is not None and scale.level == "nominal"


def _on_systems(
    scores: ScoreTable,
    judges: set[str],
    data: Mapping[str, ConstructData],
    *,
    valued: bool,
    only_categories: str,
) -> Iterator[Finding]:
    """What can be said about systems; `only_categories`: why nothing that needs means, if so."""
    systems = len(scores.systems)
    systems_present = f"there {'is 1 system' if systems == 1 else f'are {systems} systems'}"
    yield Finding(
        "which systems differ: randomized Tukey test, discriminative power",
        systems > 1 and valued and not only_categories,
        "there are no values"
        if not valued
        else only_categories
        if only_categories
        else systems_present
        if systems
        else "no column names the systems",
    )
    compared = any(np.isfinite(d.reference).any() and d.scorers for d in data.values())
    yield Finding(
        "agreement between systems",
        systems >= CORRELATION and compared and not only_categories,
        "no response has a rating and a score" if not compared
        else only_categories if only_categories
        else systems_present if systems else "no column names the systems",
    )  # fmt: skip
    unrated = any(
        np.isfinite(values).any()
        and np.isfinite(d.reference).any()
        and (np.isfinite(values) & ~np.isfinite(d.reference)).any()
        for d in data.values()
        for name, values in d.scorers.items()
        if name in judges
    )
    yield Finding(
        "system means corrected by ratings",
        unrated and systems > 0 and not only_categories,
        only_categories if only_categories
        else "no column names the systems" if not systems
        else "it takes judge scores on unrated responses in addition to rated ones",
    )  # fmt: skip


def _in_common(data: ConstructData) -> int:
    present = np.isfinite(data.reference)
    return max((int((present & np.isfinite(v)).sum()) for v in data.scorers.values()), default=0)


def _several_a_query(data: ConstructData) -> int:
    present = np.isfinite(data.reference)
    return max(
        (
            int((np.bincount(data.query[present & np.isfinite(v)], minlength=1) > 1).sum())
            for v in data.scorers.values()
        ),
        default=0,
    )


def _rated_twice(data: ConstructData) -> int:
    return int((np.isfinite(data.ratings).sum(axis=1) > 1).sum()) if data.raters else 0


def _no_agreement(raters: int, rated: int) -> str:
    if not rated:
        return "no human ratings"
    if raters < 2:
        return "one rater only; agreement takes two"
    return "no response was rated by two raters"


def _people(scores: ScoreTable) -> Iterator[str]:
    return (name for name, kind in scores.scorer_kinds.items() if kind == "human")


def _constructs_of(scored: tuple[Scored, ...], scorer: str) -> int:
    return sum(1 for values_of in scored if values_of.scorer == scorer and values_of.n)

"""The page on coverage: every simulated interval below .935, and what the report does there.

`python -m tests.coverage.shortfalls` writes it from the committed tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.core.context import ENOUGH, measured_coverage
from analysis.core.resampling import PERCENTILE_FROM
from analysis.statistics.binary.pass_rates import FEWEST
from analysis.statistics.correction.prediction_powered import INFORMATIVE_FROM
from analysis.topics.agreement.few_queries import (
    ENOUGH_TO_BE_BETTER,
    ENOUGH_TO_BE_NON_INFERIOR,
)
from analysis.topics.binary import chance_corrected_coverage
from analysis.topics.binary.cut_coverage import coverage_at_cut
from analysis.topics.binary.estimates import MOVED_BY_CUT
from analysis.topics.correction import composite
from analysis.topics.correction.estimates import CROWDED_COVERAGE
from analysis.topics.correction.unseen_failures import ENOUGH_LABELS
from tests.coverage.campaigns import CROWDED_CENTER
from tests.coverage.regimes import CEILINGS
from tests.coverage.tables import FOLDER, read_rows

PAGE = FOLDER.parents[1] / "analysis" / "statistics" / "coverage.md"
BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"

Row = dict[str, str]


@dataclass(frozen=True)
class Simulated:
    """Coverage of an interval that reports use, and what the report does (None: nothing)."""

    table: str
    cell: str
    statistic: str
    coverage: float
    error: float
    repetitions: int
    report: str | None = None

    @property
    def short(self) -> bool:
        """Whether it covers less than .935 in the simulation."""
        return self.coverage < ENOUGH

    @property
    def beyond_error(self) -> bool:
        """Whether it is below by more than two Monte Carlo errors."""
        return self.coverage + 2 * self.error < ENOUGH


#: What each table simulates.
TABLES = {
    "coverage.csv": "agreement, alpha, ceiling, bias, recalibration, composites: by queries, "
    "raters, severity, ceiling and missing ratings",
    "corrected.csv": "corrected means and differences, and the ratings alone, by labels, share at "
    "100, and failures that the judge does not see",
    "regimes.csv": "the same by share rated and judge",
    "rater_severity.csv": "differences of systems adjusted for raters' severity",
    "severity_on_few_points.csv": "the same on 3 and 5 ordered points",
    "system_ranks.csv": "places of all systems at once",
    "further_rater.csv": "judge minus rater for raters like these, of judges that are such raters",
    "few_queries.csv": "statements on order at few queries, for these raters: 1 minus twice the "
    "share of wrong `better`, 1 minus that of wrong non-inferiority",
    "soft_accuracy.csv": "soft pairwise accuracy of systems",
    "favored_systems.csv": "intervals of all systems' errors at once, for fair judges",
    "favored_on_few_points.csv": "the same for judges on 2 to 7 points",
    "null_studies.csv": "all claims of a report at once, where none is true",
    "binary_rates.csv": "rates of a judge that passes or fails, MCC and kappa, by responses, share "
    "that people pass, judge and clustering",
    "cut_rates.csv": "the two rates and balanced accuracy of a graded judge at its best cut, "
    "chosen on other queries",
    "pass_rates.csv": "pass rates of a system, by the judge's rates and by labels, by queries "
    "labeled; `kinder` is the share of its failures that the judge lets through in addition",
    "few_of_a_class.csv": "pass rates by the judge's rates, by the number of labeled passes or "
    "failures, whichever is smaller",
    "decision_margins.csv": "answers on a judge exactly at a margin: 1 minus the share of false "
    "yes and of false no",
    "one_rater.csv": "answers on a judge beside one rater, exactly at the threshold or without any "
    "relation to people: 1 minus the share of false yes",
}

#: Share of samples with an interval, below which their coverage is of a few odd samples.
MOSTLY = 0.2


def used() -> list[Row]:
    """Rows of coverage.csv whose interval a report uses."""
    few = {"jackknife_t": True, "percentile_bootstrap": False}
    return [
        row
        for row in read_rows("coverage.csv")
        if row["target"] != "trap"
        and few.get(row["method"], int(row["queries"]) < PERCENTILE_FROM)
        == (int(row["queries"]) < PERCENTILE_FROM)
    ]


def crowded(row: Row) -> bool:
    """Whether two thirds of the ratings are at the end of the scale."""
    return float(row["center"]) == CROWDED_CENTER


def simulated() -> Iterator[Simulated]:
    """All simulated intervals of reports."""
    for row in used():
        yield Simulated(
            "coverage.csv",
            row["cell"],
            f"{row['statistic']}, {row['target'].replace('_', ' ')}",
            *_with_error(row),
            _of_coverage(row),
        )
    for row in read_rows("corrected.csv"):
        cell = f"{row['labels']} labels, {float(row['ceiling']):.0%} at 100"
        if failing := float(row["failures"]):
            cell = f"{row['labels']} labels, {failing:.0%} failures, blind judge"
        if row["way"] in WAYS:
            ceiling = float(row["ceiling"])
            yield _corrected("corrected.csv", cell, row, failing > 0, ceiling)
    for row in read_rows("regimes.csv"):
        cell = f"{row['labels']} of 240 labeled, judge {row['judge']}, {row['scores']}"
        cell += "" if row["scores"] == "failures" else " at 100"
        ceiling = CEILINGS.get(row["scores"], 0.0)
        yield _corrected("regimes.csv", cell, row, row["scores"] == "failures", ceiling)
    yield from _shares("rater_severity.csv", ("queries", "raters", "kind", "overlap", "spread"))
    ordinal = ("queries", "raters", "points", "kind", "overlap", "effects", "level")
    yield from _shares("severity_on_few_points.csv", ordinal)
    yield from _shares("system_ranks.csv", ("queries", "systems", "apart", "ceiling"))
    yield from _errors("further_rater.csv", ("measure", "spread", "raters", "queries"),
                       "raters_like_these")  # fmt: skip
    for figure, sides, enough in (
        ("better", 2, ENOUGH_TO_BE_BETTER),
        ("non_inferior", 1, ENOUGH_TO_BE_NON_INFERIOR),
    ):
        yield from _errors("few_queries.csv", ("queries", "raters"), figure, sides, enough)
    yield from _shares("soft_accuracy.csv", ("queries", "systems", "means", "judges"))
    yield from _errors("favored_systems.csv", ("ceiling", "gap", "systems", "queries", "raters"),
                       "named")  # fmt: skip
    yield from _errors("favored_on_few_points.csv",
                       ("points", "gap", "systems", "queries", "raters", "judge"),
                       "named")  # fmt: skip
    for row in read_rows("null_studies.csv"):
        studies = int(row["studies"])
        share = 1 - int(row["false"]) / studies
        yield Simulated("null_studies.csv", row["kind"], "claims", *_share(share, studies))
    yield from _binary()
    yield from _decided()


def _decided() -> Iterator[Simulated]:
    """False answers on judges exactly at a margin."""
    for row in read_rows("decision_margins.csv"):
        if row["part"] == "size":
            studies = int(row["studies"])
            cell = _cell(row, ("kind", "target", "design"))
            for answer in ("yes", "no"):
                share = _share(1 - int(row[answer]) / studies, studies)
                yield Simulated("decision_margins.csv", cell, f"false {answer}", *share)
    for row in read_rows("one_rater.csv"):
        if not row["kind"].startswith("perfect"):
            studies = int(row["studies"])
            cell, use = f"{row['kind']}, {row['responses']} responses", row["use"].replace("_", " ")
            share = _share(1 - int(row["yes"]) / studies, studies)
            yield Simulated("one_rater.csv", cell, use, *share)


def _binary() -> Iterator[Simulated]:
    """Rates of judges that pass or fail, and pass rates of systems, that reports have."""
    for row in read_rows("binary_rates.csv"):
        statistic = row["statistic"]
        chance_corrected = (statistic, True) in chance_corrected_coverage.MEASURED
        if row["method"] != ("logit" if chance_corrected else "wilson"):
            continue
        covers = None
        if chance_corrected:
            size, passing = int(row["items"]), float(row["prevalence"])
            covers = chance_corrected_coverage.measured_coverage(statistic, size, passing)
        report = None if covers is None else f"prints the measured coverage, {_decimals(covers, 2)}"
        cell = _cell(row, ("items", "prevalence", "right", "clustered"))
        yield from _with_interval("binary_rates.csv", cell, statistic, row, report)
    for row in read_rows("cut_rates.csv"):
        statistic, cell = row["statistic"], _cell(row, ("items", "prevalence", "correlation"))
        covers = coverage_at_cut(int(row["items"])) if statistic in MOVED_BY_CUT else None
        report = None if covers is None else f"prints the measured coverage, {_decimals(covers, 2)}"
        yield from _with_interval("cut_rates.csv", cell, statistic, row, report)
    for row in read_rows("pass_rates.csv"):
        by_rates = row["way"] == "rates"
        report = ASSUMES_EQUAL_RATES if by_rates and float(row["kinder"]) > 0 else None
        cell = _cell(row, ("labels", "prevalence", "right", "kinder"))
        way = f"pass rate by {row['way']}"
        yield from _with_interval("pass_rates.csv", cell, way, row, report)
    for row in read_rows("few_of_a_class.csv"):
        if int(row["smaller"]) >= FEWEST:
            cell = _cell(row, ("right", "smaller"))
            share = _share(float(row["coverage"]), int(row["shown"]))
            yield Simulated("few_of_a_class.csv", cell, "pass rate by rates", *share)


def _with_interval(
    table: str, cell: str, statistic: str, row: Row, report: str | None
) -> Iterator[Simulated]:
    """A row whose coverage is of the samples with an interval, if these are not a few odd ones."""
    if float(row["given"]) >= MOSTLY:
        studies = round(float(row["given"]) * int(row["repetitions"]))
        share = _share(float(row["coverage"]), studies)
        yield Simulated(table, cell, statistic.replace("_", " "), *share, report)


WAYS = ("report", "ratings alone")

#: What the table of pass rates states of those by the judge's rates.
ASSUMES_EQUAL_RATES = "states that the judge's rates must be the same for every system"


def _with_error(row: Row) -> tuple[float, float, int]:
    return float(row["coverage"]), float(row["monte_carlo_error"]), int(row["repetitions"])


def _share(share: float, studies: int) -> tuple[float, float, int]:
    return share, float(np.sqrt(share * (1 - share) / studies)), studies


def _shares(table: str, keys: tuple[str, ...], figure: str = "coverage") -> Iterator[Simulated]:
    for row in read_rows(table):
        studies = int(row.get("used") or row["repetitions"])
        yield Simulated(table, _cell(row, keys), figure, *_share(float(row[figure]), studies))


def _errors(
    table: str, keys: tuple[str, ...], figure: str, sides: int = 1, enough: int = 0
) -> Iterator[Simulated]:
    """Coverage is 1 minus the share of errors, on one side or on both.

    The report states the share below `enough` queries.
    """
    for row in read_rows(table):
        if float(row.get("favored", 0)) > 0:
            continue
        share, error, studies = _share(float(row[figure]), int(row["studies"]))
        states = int(row["queries"]) < enough
        yield Simulated(
            table,
            _cell(row, keys),
            figure,
            1 - sides * share,
            sides * error,
            studies,
            "states the share of wrong statements" if states else None,
        )


def _cell(row: Row, keys: tuple[str, ...]) -> str:
    return ", ".join(f"{key} {row[key]}" for key in keys)


def _of_coverage(row: Row) -> str | None:
    """What the report does in a row of coverage.csv."""
    statistic, _, variant = row["statistic"].partition(" ")
    queries = int(row["queries"])
    if statistic.startswith("composite"):
        scope = variant.split()[-1]
        covers = composite.measured_coverage(statistic, scope, crowded(row), queries)
    else:
        covers = measured_coverage(statistic, variant, queries) if crowded(row) else None
    return None if covers is None else f"prints the measured coverage, {_decimals(covers, 2)}"


def _corrected(table: str, cell: str, row: Row, failures: bool, ceiling: float) -> Simulated:
    labels, mean = int(row["labels"]), row["statistic"] == "mean"
    few = labels * (1 - ceiling)
    report = None
    if mean and failures and labels < ENOUGH_LABELS:
        report = "states the coverage with failures that nothing shows"
    elif mean and row["way"] == "ratings alone" and few < INFORMATIVE_FROM and ceiling > 2 / 3:
        report = f"prints the measured coverage, {_decimals(CROWDED_COVERAGE, 2)}"
    way = "corrected" if row["way"] == "report" else row["way"]
    return Simulated(table, cell, f"{row['statistic']}, {way}", *_with_error(row), report)


def tables() -> str:
    """Both tables of the page in Markdown."""
    rows = list(simulated())
    summary = [
        "| table | intervals of | cells | repetitions | lowest | below .935 | by 2 errors |",
        "|" + "---|" * 7,
    ]
    for name, what in TABLES.items():
        of = [row for row in rows if row.table == name]
        counts = sorted({row.repetitions for row in of})
        repetitions = f"{counts[0]:,}" + (f" to {counts[-1]:,}" if len(counts) > 1 else "")
        summary.append(
            f"| [{name}](../../tests/coverage/{name}) | {what} | {len(of):,} | {repetitions} "
            f"| {_decimals(min(row.coverage for row in of))} | {sum(row.short for row in of)} "
            f"| {sum(row.beyond_error for row in of)} |"
        )
    short = [
        "| table | cell | statistic | coverage | Monte Carlo error | the report |",
        "|" + "---|" * 6,
        *(
            f"| {row.table.removesuffix('.csv')} | {row.cell} | {row.statistic} "
            f"| {_decimals(row.coverage)} | {_decimals(row.error)} | {row.report or WITHIN} |"
            for row in rows
            if row.short
        ),
    ]
    return "\n".join([*summary, "", "## Below .935", "", *short])


WITHIN = "nothing: within two errors of .935"


def _decimals(value: float, digits: int = 3) -> str:
    return f"{value:.{digits}f}".removeprefix("0")


def page_with(text: str, generated: str) -> str:
    """A page with these tables between its markers."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{generated}\n\n{END}{after}"


def main(page: Path = PAGE) -> None:
    """Write the tables into the page."""
    page.write_text(page_with(page.read_text(encoding="utf-8"), tables()), encoding="utf-8")


if __name__ == "__main__":
    main()

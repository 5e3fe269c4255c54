"""How often a report on a study without effects makes a false claim: writes the committed table.

`python -m tests.coverage.null_studies` simulates studies of each kind, or of the one that `--kind`
names, and adds them to tests/coverage/null_studies.csv until it has `--studies` of each. Each has 5
raters, 4 systems and 20 rated queries:

- exchangeable: one judge on four constructs, drawn as the raters are;
- ten judges: ten judges on one construct, all drawn as the raters are;
- saturating: a judge on four constructs that is fair to the systems, but whose scores rise ever
  less with quality and are at the maximum for two in five responses;
- equal systems: four equal systems, of whose 67 queries people rated 20, and a lenient, noisy judge
  on four constructs.

What the verdict or a section of a report would claim is read from the records that report.json has
under `claims`. A claim is false if the truth is 0 or has the other sign; where an effect exists
without a sign known beforehand (a noisy judge's bias, the gain of a recalibration), claims are not
counted.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis import Options, Scale, ScoreTable
from analysis.core.analysis import Analysis
from analysis.core.arrays import FloatArray
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.pipeline.estimation import _analysis, _context
from analysis.topics.agreement.association import biases, judge_against_humans
from analysis.topics.agreement.human_ceiling import ceilings
from analysis.topics.agreement.judge_comparison import judges_compared
from analysis.topics.calibration.estimates import calibration
from analysis.topics.correction.estimates import correction
from analysis.topics.discrimination.estimates import discrimination
from analysis.topics.missingness.estimates import missing
from analysis.topics.reliability.raters import raters
from tests.analysis.claimed import with_claims

TABLE = Path(__file__).with_name("null_studies.csv")
KINDS = ("exchangeable", "ten judges", "saturating", "equal systems")
RATERS, SYSTEMS, RATED, POOL = 5, 4, 20, 67
QUERY, RESPONSE, ERROR = 12.0, 15.0, 15.0
#: By how many points each system is worse than the one before.
WORSE = 4.0
COUNTS = ("studies", "false", "uncorrected")

#: Statistics of which a claim is never true in a study of this kind; of `SIGNED`, it depends.
NULL = {
    "exchangeable": {
        "human_ceiling_difference", "bias", "error_by_system_given_human", "rater_severity",
    },
    "ten judges": {
        "human_ceiling_difference", "bias", "error_by_system_given_human", "rater_severity",
        "judge_difference",
    },
    "saturating": {"error_by_system_given_human", "rater_severity"},
    "equal systems": {"error_by_system_given_human", "rater_severity"},
}  # fmt: skip
SIGNED = {"system_difference", "ppi_difference"}


def study(kind: str, number: int) -> ScoreTable:
    """One study of a kind, with its own random numbers."""
    rng = np.random.default_rng((KINDS.index(kind), number))
    queries = POOL if kind == "equal systems" else RATED
    constructs = ("C1",) if kind == "ten judges" else ("C1", "C2", "C3", "C4")
    query = np.repeat(np.arange(queries), SYSTEMS)
    system = np.tile(np.arange(SYSTEMS), queries)
    base = pd.DataFrame(
        {
            "response_id": [f"r{i}" for i in range(query.size)],
            "query_id": [f"q{i}" for i in query],
            "system": [f"s{i}" for i in system],
        }
    )
    parts = []
    for construct in constructs:
        quality = (
            65 + QUERY * rng.normal(size=queries)[query] + RESPONSE * rng.normal(size=query.size)
        )
        if kind != "equal systems":
            quality -= WORSE * system
        for rater in range(RATERS):
            value = _rated(quality + ERROR * rng.normal(size=query.size))
            rows = base.assign(scorer=f"rater-{rater + 1}", scorer_kind="human", value=value)
            parts.append(rows[query < RATED].assign(construct=construct))
        for judge in range(10 if kind == "ten judges" else 1):
            value = _judged(kind, quality, rng)
            rows = base.assign(scorer=f"judge-{judge + 1}", scorer_kind="judge", value=value)
            parts.append(rows.assign(construct=construct))
    scales = dict.fromkeys(constructs, Scale(0, 100))
    return ScoreTable.from_frame(pd.concat(parts, ignore_index=True), scales)


def _rated(value: FloatArray) -> FloatArray:
    return np.asarray(np.clip(5 * np.round(value / 5), 0, 100))


def _judged(kind: str, quality: FloatArray, rng: np.random.Generator) -> FloatArray:
    error = rng.normal(size=quality.size)
    if kind == "saturating":
        risen = 113 * (1 - np.exp(-np.maximum(quality, 0) / 32))
        return _rated(risen + 5 * error)
    if kind == "equal systems":
        return _rated(quality + 8 + 20 * error)
    return _rated(quality + ERROR * error)


def _figures(context: Context) -> Iterator[Estimate]:
    """What the verdict and the sections make claims of, as a report computes it."""
    yield from judge_against_humans(context, ("kendall_tau_b", "bias"), ("pooled", "within_query"))
    yield from ceilings(context)
    yield from biases(context)
    yield from judges_compared(context)
    yield from raters(context)
    yield from calibration(context)
    yield from correction(context)
    yield from discrimination(context)
    yield from missing(context)


def analysed(kind: str, number: int) -> Analysis:
    """The part of a report that its claims come from."""
    context = _context(study(kind, number), None, Options(seed=number), None)
    return with_claims(_analysis(kind, context, _figures))


def is_false(kind: str, record: Mapping[str, Any]) -> bool:
    """Whether a claim of this comparison, in its observed direction, would be false."""
    if record["statistic"] in SIGNED:
        # The first system of a pair is better unless all are equal.
        return kind == "equal systems" or record["value"] < 0
    return record["statistic"] in NULL[kind]


def outcome(kind: str, number: int) -> tuple[bool, bool]:
    """Whether a study has a false claim; and whether it had without correction."""
    records = [r for r in analysed(kind, number).claims.records() if is_false(kind, r)]
    return any(r["holds"] for r in records), any(r["p"] <= 0.05 for r in records)


def counted(kind: str, first: int, studies: int) -> dict[str, int]:
    """Studies of a kind, and how many of them have a false claim."""
    outcomes = np.array([outcome(kind, number) for number in range(first, first + studies)])
    false, uncorrected = outcomes.sum(axis=0).tolist()
    return {"studies": studies, "false": false, "uncorrected": uncorrected}


def read() -> dict[str, dict[str, int]]:
    """The committed table by kind."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {row["kind"]: {key: int(row[key]) for key in COUNTS} for row in csv.DictReader(file)}


def main() -> None:
    """Simulate further studies and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=KINDS, help="only this kind")
    parser.add_argument("--studies", type=int, default=1000, help="studies to have of each kind")
    options = parser.parse_args()
    table = read() if TABLE.exists() else {}
    for kind in [options.kind] if options.kind else KINDS:
        while (done := table.get(kind, dict.fromkeys(COUNTS, 0)))["studies"] < options.studies:
            more = counted(kind, done["studies"], min(25, options.studies - done["studies"]))
            table[kind] = {key: done[key] + more[key] for key in COUNTS}
            rows = [{"kind": name, **table[name]} for name in KINDS if name in table]
            with TABLE.open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, ["kind", *COUNTS], lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
            print(kind, table[kind], flush=True)


if __name__ == "__main__":
    main()

"""How often a report on a study without effects makes a false claim: writes the committed table.

`python -m tests.coverage.null_studies` simulates studies of each kind, or of the one that `--kind`
names, and adds them to tests/coverage/null_studies.csv until it has `--studies` of each
(`null_kinds` draws them):

- exchangeable: one judge on four constructs, drawn as the raters are;
- ten judges: ten judges on one construct, all drawn as the raters are;
- saturating: a judge on four constructs that is fair to the systems, but whose scores rise ever
  less with quality and are at the maximum for two in five responses;
- equal systems: four equal systems, of whose 67 queries people rated 20, and a lenient, noisy judge
  on four constructs;
- categories: two judges, drawn as the raters are, on four constructs with three unordered
  categories;
- five points: four equal systems on an ordinal scale of 1 to 5, which raters of different severity
  did not rate to the same extent, and a lenient judge, on four constructs;
- altered prompts: as exchangeable, with six altered prompts, four rounds of prompts asked again,
  layouts, supporting passages, model families and lengths that change nothing;
- few raters: as exchangeable, with 3 raters and 8 queries;
- one query dominates: as exchangeable, with 2 raters and 2 equal systems; one of the 20 queries has
  60 of the 98 responses;
- sparse overlap: as exchangeable, with 3 raters, 40 queries and 6 equal systems, of which 3 answer
  each query;
- at the maximum: as exchangeable, with 85% of all values at the maximum;
- missing by quality: as exchangeable, with equal systems; the judge gives no score the more often
  the worse the response is, in one of seven cases;
- thirty systems: as exchangeable, on one construct with 3 raters and 30 equal systems;
- one rater: as exchangeable, with 1 rater and 8 queries;
- ordinal: as exchangeable, with 3 raters, on an ordinal scale of 1 to 5.

What the verdict or a section of a report would claim is read from the records that report.json has
under `claims`. A claim is false if the truth is 0 or has the other sign; where an effect exists
without a sign known beforehand (a noisy judge's bias, the gain of a recalibration, raters who
differ in severity), claims are not counted.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from analysis import Options
from analysis.core.analysis import Analysis
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.pipeline.estimation import _analysis, _context
from analysis.topics.agreement.association import biases, judge_against_humans
from analysis.topics.agreement.categories import on_categories
from analysis.topics.agreement.human_ceiling import ceilings
from analysis.topics.agreement.judge_comparison import judges_compared
from analysis.topics.calibration.estimates import calibration
from analysis.topics.correction.estimates import correction
from analysis.topics.discrimination.estimates import system_comparisons
from analysis.topics.expected_score.estimates import expected_scores
from analysis.topics.missingness.estimates import missing_by_system
from analysis.topics.probes.drift import drift
from analysis.topics.probes.estimates import probes
from analysis.topics.probes.observed_biases import observed_biases
from analysis.topics.reliability.raters import rater_severities
from tests.analysis.claimed import with_claims
from tests.coverage.null_kinds import KINDS, study

TABLE = Path(__file__).with_name("null_studies.csv")
COUNTS = ("studies", "false", "uncorrected")

_OF_EXCHANGEABLE = {
    "human_ceiling_difference", "bias", "error_by_system_given_human", "error_by_length",
    "rater_severity",
}  # fmt: skip
#: Statistics of which a claim is never true in a study of this kind; of `SIGNED`, it depends.
NULL = {
    "exchangeable": _OF_EXCHANGEABLE,
    "ten judges": _OF_EXCHANGEABLE | {"judge_difference"},
    "saturating": {"error_by_system_given_human", "rater_severity"},
    "equal systems": {"error_by_system_given_human", "rater_severity"},
    "categories": {"kappa_difference", "judge_difference"},
    "five points": {"error_by_system_given_human"},
    "altered prompts": _OF_EXCHANGEABLE | {
        "probe_shift", "drift_shift", "error_by_layout", "error_by_support", "self_preference",
    },
    "few raters": _OF_EXCHANGEABLE,
    "one query dominates": _OF_EXCHANGEABLE,
    "sparse overlap": _OF_EXCHANGEABLE,
    "at the maximum": _OF_EXCHANGEABLE,
    "missing by quality": _OF_EXCHANGEABLE | {"missing_differs_by_system"},
    "thirty systems": _OF_EXCHANGEABLE,
    "one rater": _OF_EXCHANGEABLE,
    "ordinal": _OF_EXCHANGEABLE,
}  # fmt: skip
SIGNED = {"system_difference", "ppi_difference"}


def figures(context: Context) -> Iterator[Estimate]:
    """What the verdict and the sections make claims of, as a report computes it."""
    ordered = context.ordered
    scopes = ("pooled", "within_query")
    yield from judge_against_humans(ordered, ("kendall_tau_b", "bias"), scopes)
    yield from ceilings(ordered, scopes=("within_query",))
    yield from biases(ordered)
    yield from on_categories(context)
    yield from judges_compared(context, leading_only=True)
    yield from rater_severities(ordered)
    yield from calibration(ordered)
    yield from probes(ordered)
    yield from drift(ordered)
    yield from observed_biases(ordered)
    yield from correction(ordered)
    yield from system_comparisons(ordered)
    yield from expected_scores(ordered)
    yield from missing_by_system(context)


def analysed(kind: str, number: int) -> Analysis:
    """The part of a report that its claims come from."""
    scores, probed = study(kind, number)
    context = _context(scores, None, Options(seed=number), probed)
    return with_claims(_analysis(kind, context, figures))


def is_false(kind: str, record: Mapping[str, Any]) -> bool:
    """Whether a claim of this comparison, in its observed direction, would be false."""
    if record["statistic"] in SIGNED:
        # The first system of a pair is better unless all are equal.
        return KINDS[kind].worse == 0 or record["value"] < 0
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


def share(count: int, of: int) -> tuple[float, float]:
    """The share of studies, and its standard error."""
    p = count / of
    return p, math.sqrt(p * (1 - p) / of)


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

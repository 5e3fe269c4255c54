"""How often an answer on the use of a judge is a false yes: writes the committed table.

`python -m tests.coverage.decisions` simulates studies of each kind, or of the one that `--kind`
names, and adds them to tests/coverage/decisions.csv until it has `--studies` of each. A study has 4
systems, each 10 points worse than the one before, 100 queries and 5 raters whose severities differ
by a standard deviation of 3 points:

- noise: the judge's scores have nothing to do with the responses;
- exchangeable: the judge is drawn as the raters are;
- kind: as the raters, but 12 points kinder;
- ends: the judge is right below 40 and above 90, and draws at random between;
- influential: noise, but for one response that judge and people find very bad;
- few: exchangeable, with 3 raters and 8 queries;
- ceiling: 78% of the judge's scores are at the maximum;
- binary: people fail 10% of the responses, of which the judge fails half;
- several_noise, several_kind: two judges on each of three constructs, all of them noise or kind. A
  study counts once for each answer that any of the six has, so that false_yes is the share of
  studies with a false yes anywhere.

An answer is false if its statement is: for yes, that every figure of the
question meets its threshold; for with care, that it meets the weaker one; for no, that a figure
does not meet its threshold. The true figures are those of one population of 20,000 queries.
"""

from __future__ import annotations

import argparse
import csv
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis import Options, Scale, ScoreTable
from analysis.core.arrays import FloatArray, IntArray
from analysis.core.statistic import ORDER
from analysis.decisions.answers import decisions
from analysis.decisions.records import USES as ALL_USES, Answer, Use
from analysis.pipeline.decision_figures import figures_of_decisions
from analysis.pipeline.estimation import _analysis, _context
from analysis.statistics.agreement.alternative_annotator import alternative_annotator
from analysis.statistics.agreement.association import association
from analysis.statistics.agreement.human_ceiling import human_ceiling
from analysis.statistics.agreement.pairwise_accuracy import accuracy_beside_raters

TABLE = Path(__file__).with_name("decisions.csv")
#: Every query has several responses, so that the order of responses to different ones is not asked.
USES = tuple(use for use in ALL_USES if use != "order_responses")
KINDS = (
    "noise", "exchangeable", "kind", "ends", "influential", "few", "ceiling", "binary",
    "several_noise", "several_kind",
)  # fmt: skip
#: The kind of each judge where there are several, and of how many constructs.
SEVERAL = {"several_noise": "noise", "several_kind": "kind"}
CONSTRUCTS = 3
SYSTEMS, WORSE = 4, 10.0
QUERY, RESPONSE, ERROR, SEVERITY = 12.0, 15.0, 15.0, 3.0
POPULATION = 20_000
COUNTS = ("studies", "yes", "with_care", "no", "false_yes", "false_with_care", "false_no")


class Drawn(NamedTuple):
    """Ratings (n, raters), judge (n,), and query, system and quality (n,) of each response."""

    ratings: FloatArray
    judge: FloatArray
    query: IntArray
    system: IntArray
    quality: FloatArray


def drawn(kind: str, rng: np.random.Generator, queries: int, severity: float = SEVERITY) -> Drawn:
    """One study of a kind."""
    raters = 3 if kind == "few" else 5
    query = np.repeat(np.arange(queries), SYSTEMS)
    system = np.tile(np.arange(SYSTEMS), queries)
    n = query.size
    quality = 80 + QUERY * rng.normal(size=queries)[query] + RESPONSE * rng.normal(size=n)
    quality -= WORSE * system
    errors = ERROR * rng.normal(size=(n, raters + 1))
    if kind == "binary":
        # People's latent values are below the cut for one in ten.
        latent = quality + 26
        ratings = (latent[:, None] + errors[:, :raters] / 2 > 62).astype(float)
        judge = np.where(latent > 62, rng.random(n) > 0.03, rng.random(n) > 0.5).astype(float)
        return Drawn(ratings, judge, query, system, latent)
    severities = severity * rng.normal(size=raters)
    ratings = _rated(quality[:, None] + severities + errors[:, :raters])
    error = errors[:, raters]
    judge = quality + error
    if kind == "noise":
        judge = 65 + 24 * rng.normal(size=n)
    elif kind == "kind":
        judge = judge + 12
    elif kind == "ends":
        middle = (quality > 40) & (quality < 90)
        judge = np.where(middle, rng.uniform(40, 90, n), quality + error / 3)
    elif kind == "influential":
        judge = 65 + 5 * rng.normal(size=n)
        if queries < POPULATION:
            ratings[0], judge[0] = 0, 0
    elif kind == "ceiling":
        judge = judge + 55
    return Drawn(ratings, _rated(judge), query, system, quality)


def second_judge(kind: str, quality: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A further judge (n,) of the kind noise or kind on the same responses."""
    own = rng.normal(size=quality.size)
    return _rated(65 + 24 * own if kind == "noise" else quality + 12 + ERROR * own)


def _rated(value: FloatArray) -> FloatArray:
    return np.asarray(np.clip(5 * np.round(value / 5), 0, 100))


class Truth(NamedTuple):
    """Whether the statement of yes, and the weaker one, is true."""

    yes: bool
    weaker: bool


@cache
def truth(kind: str) -> dict[Use, Truth]:
    """What is true of the population, by the default thresholds."""
    d = drawn(kind, np.random.default_rng(1), POPULATION, severity=0)
    people = d.ratings.mean(axis=1)
    where = {"scope": "within_query", "n_queries": POPULATION}
    ceiling = human_ceiling(d.ratings, d.judge, d.query, "within_query", ORDER)
    assert ceiling.difference is not None
    order = ceiling.difference.point
    accuracy = accuracy_beside_raters(d.ratings, d.judge, d.query, POPULATION).point
    chance = association(ORDER, d.judge, people, d.query, **where).point  # type: ignore[arg-type]
    width = 1.0 if kind == "binary" else 100.0
    systems = [d.system == system for system in range(SYSTEMS)]
    biases = [float((d.judge - people)[of].mean()) for of in (d.system >= 0, *systems)]
    means = [(people[of].mean(), d.judge[of].mean()) for of in systems]
    costs = []
    for (p1, j1), (p2, j2) in combinations(means, 2):
        same = (p1 - p2) * (j1 - j2) > 0
        # A judge without a preference does not have people's; by chance it may in the population.
        same &= kind not in {"noise", "influential"}
        costs.append(0.0 if same else abs(p1 - p2))
    test = alternative_annotator(d.judge, d.ratings, d.query, 0.15)
    rates = (1.0, 1.0)
    if kind == "binary":
        passed = people > 0.5
        rates = (float(d.judge[passed].mean()), float(1 - d.judge[~passed].mean()))

    def of(times: float) -> dict[Use, bool]:
        as_rater = order > -0.1 * times
        level = max(map(abs, biases)) < 0.05 * times * width
        least = 0.8 if times == 1 else 0.65
        return {
            "rank_systems": max(costs) <= 0.05 * times * width,
            "choose_between_responses": as_rater and accuracy > -0.1 * times and chance > 0.01,
            "report_level": min(rates) > least if kind == "binary" else level and chance > 0.01,
            "replace_rater": as_rater and bool(test.passed),
        }

    full, weaker = of(1), of(1 if kind == "few" else 2)
    return {use: Truth(full[use], weaker[use]) for use in USES}


def answers(kind: str, number: int) -> dict[Use, set[Answer]]:
    """The answers on one simulated study, of all its constructs and judges."""
    rng = np.random.default_rng((number, KINDS.index(kind)))
    constructs = [f"C{i + 1}" for i in range(CONSTRUCTS if kind in SEVERAL else 1)]
    parts = []
    for construct in constructs:
        d = drawn(SEVERAL.get(kind, kind), rng, 8 if kind == "few" else 100)
        base = pd.DataFrame(
            {
                "response_id": [f"r{i}" for i in range(d.query.size)],
                "query_id": [f"q{i}" for i in d.query],
                "system": [f"s{i}" for i in d.system],
                "construct": construct,
            }
        )
        judges = {"judge": d.judge}
        if kind in SEVERAL:
            judges["second"] = second_judge(SEVERAL[kind], d.quality, rng)
        parts += [
            base.assign(scorer=name, scorer_kind="judge", value=values)
            for name, values in judges.items()
        ]
        parts += [
            base.assign(scorer=f"rater-{i + 1}", scorer_kind="human", value=values)
            for i, values in enumerate(d.ratings.T)
        ]
    scale = Scale(0, 1, 1) if kind == "binary" else Scale(0, 100)
    frame = pd.concat(parts, ignore_index=True)
    scores = ScoreTable.from_frame(frame, dict.fromkeys(constructs, scale))
    context = _context(scores, None, Options(seed=number), None)
    analysis = _analysis(kind, context, figures_of_decisions)
    asked = [(construct, name) for construct in constructs for name in judges]
    results: dict[Use, set[Answer]] = {use: set() for use in USES}
    for decision in decisions(analysis, asked):
        if decision.construct and decision.answer != "not_applicable":
            results[decision.use].add(decision.answer)
    return results


def counted(kind: str, first: int, studies: int) -> dict[Use, dict[str, int]]:
    """Answers by use, and how many of them are false."""
    counts = {use: dict.fromkeys(COUNTS, 0) for use in USES}
    for number in range(first, first + studies):
        for use, of_use in answers(kind, number).items():
            row, true = counts[use], truth(SEVERAL.get(kind, kind))[use]
            row["studies"] += 1
            for answer in of_use - {"undecided"}:
                row[answer] += 1
            row["false_yes"] += "yes" in of_use and not true.yes
            row["false_with_care"] += "with_care" in of_use and not true.weaker
            row["false_no"] += "no" in of_use and true.yes
    return counts


Key = tuple[str, str]


def read() -> dict[Key, dict[str, int]]:
    """The committed table by kind and use."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {
            (row["kind"], row["use"]): {key: int(row[key]) for key in COUNTS}
            for row in csv.DictReader(file)
        }


def _write(table: dict[Key, dict[str, int]]) -> None:
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["kind", "use", "true", *COUNTS], lineterminator="\n")
        writer.writeheader()
        for kind in KINDS:
            for use in USES:
                if (kind, use) in table:
                    true = "yes" if truth(SEVERAL.get(kind, kind))[use].yes else "no"
                    row = {"kind": kind, "use": use, "true": true}
                    writer.writerow(row | table[kind, use])


def main() -> None:
    """Simulate further studies and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=KINDS, help="only this kind")
    parser.add_argument("--studies", type=int, default=1000, help="studies to have of each kind")
    options = parser.parse_args()
    table = read() if TABLE.exists() else {}
    kinds = [options.kind] if options.kind else list(KINDS)

    def done(kind: str) -> int:
        return table.get((kind, USES[0]), {"studies": 0})["studies"]

    while open_kinds := [kind for kind in kinds if done(kind) < options.studies]:
        # The kind with the fewest comes next, so that an interrupted run leaves them even.
        kind = min(open_kinds, key=done)
        more = counted(kind, done(kind), min(25, options.studies - done(kind)))
        for use in USES:
            before = table.get((kind, use), dict.fromkeys(COUNTS, 0))
            table[kind, use] = {key: before[key] + more[use][key] for key in COUNTS}
        _write(table)
        print(kind, done(kind), {use: table[kind, use] for use in USES}, flush=True)


if __name__ == "__main__":
    main()

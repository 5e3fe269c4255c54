"""A better judge never gets a weaker answer, in studies with systems, queries and three raters."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale, ScoreTable
from analysis.core.arrays import FloatArray
from analysis.decisions.answers import decisions
from analysis.decisions.records import Use
from analysis.pipeline.decision_figures import figures_of_decisions
from analysis.pipeline.estimation import _analysis, _context

pytestmark = pytest.mark.slow

STRENGTH = {"no": 0, "unlikely": 1, "open": 2, "likely": 3, "yes": 4}
SYSTEMS, RATERS = 4, 3
SCALES = {"points": Scale(0, 100), "grades": Scale(1, 5, 1), "verdicts": Scale(0, 1, 1)}


def people(scale: Scale, queries: int) -> FloatArray:
    """Ratings (responses, raters); systems are a tenth of the scale apart."""
    rng = np.random.default_rng(queries)
    system = np.tile(np.arange(SYSTEMS), queries)
    quality = 0.75 - 0.12 * system + 0.15 * rng.normal(size=system.size)
    noisy = quality[:, None] + 0.06 * rng.normal(size=(system.size, RATERS))
    if scale.binary:
        return (noisy > 0.5).astype(np.float64)
    step = scale.step or 5.0
    values = scale.min + step * np.round(noisy * scale.width / step)
    return np.clip(values, scale.min, scale.max)


def reference(ratings: FloatArray, scale: Scale) -> FloatArray:
    """What a perfect judge gives: the median rating, a point of the scale."""
    return np.median(ratings, axis=1)


def from_reversed(ratings: FloatArray, scale: Scale) -> Iterator[FloatArray]:
    right = reference(ratings, scale)
    order = np.random.default_rng(1).permutation(right.size)
    for share in (0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.96, 0.98, 0.99, 1):
        judge = scale.min + scale.max - right
        kept = order[: round(share * right.size)]
        judge[kept] = right[kept]
        yield judge


def from_shifted(ratings: FloatArray, scale: Scale) -> Iterator[FloatArray]:
    right = reference(ratings, scale)
    noise = np.random.default_rng(2).normal(0, scale.width * 0.04, right.size)
    for share in np.linspace(0.2, 0, 11):
        yield right + noise + share * scale.width


def answers(ratings: FloatArray, judge: FloatArray, scale: Scale) -> dict[tuple[Use, str], str]:
    n = len(judge)
    base = pd.DataFrame(
        {
            "response_id": [f"r{i}" for i in range(n)],
            "query_id": [f"q{i // SYSTEMS}" for i in range(n)],
            "system": [f"s{i % SYSTEMS}" for i in range(n)],
            "construct": "QR",
        }
    )
    parts = [base.assign(scorer="judge", scorer_kind="judge", value=judge)]
    parts += [
        base.assign(scorer=f"rater-{i}", scorer_kind="human", value=values)
        for i, values in enumerate(ratings.T)
    ]
    wide = Scale(scale.min - scale.width, scale.max + scale.width, level=scale.level)
    # A shifted judge is beyond the ends: its values are kept as they are.
    beyond = judge.min() < scale.min or judge.max() > scale.max
    used = wide if beyond else scale
    scores = ScoreTable.from_frame(pd.concat(parts, ignore_index=True), {"QR": used})
    margin = {} if scale.binary else {"bias_margin": 0.05 * scale.width}
    context = _context(scores, None, Options(**margin), None)
    analysis = _analysis("ladder", context, figures_of_decisions)
    found = decisions(analysis, [("QR", "judge")])
    whole = [d for d in found if d.construct is None and d.answer in STRENGTH]
    return {(d.use, d.target): d.answer for d in whole}


LADDERS = {
    "points reversed": ("points", from_reversed),
    "grades reversed": ("grades", from_reversed),
    "verdicts reversed": ("verdicts", from_reversed),
    "points shifted": ("points", from_shifted),
    "grades shifted": ("grades", from_shifted),
}


@pytest.mark.parametrize("queries", [25, 100])
@pytest.mark.parametrize("name", LADDERS)
def test_no_step_up_gives_a_weaker_answer(name: str, queries: int) -> None:
    kind, ladder = LADDERS[name]
    scale = SCALES[kind]
    ratings = people(scale, queries)
    strongest: dict[tuple[Use, str], tuple[int, int]] = {}
    for step, judge in enumerate(ladder(ratings, scale)):
        for use, answer in answers(ratings, judge, scale).items():
            # The median verdict, the end of this ladder, may prefer another system than the mean.
            if scale.binary and use[0] == "rank_systems":
                continue
            # It removes inversions, which no level needs; the bias only comes nearer on average.
            if ladder is from_reversed and use[0] == "report_level":
                continue
            before, at = strongest.get(use, (0, 0))
            assert STRENGTH[answer] >= before, f"{use}: step {step} is {answer}, step {at} stronger"
            strongest[use] = (STRENGTH[answer], step)
    if queries == 100:
        assert strongest["choose_between_responses", "these_raters"][0] == STRENGTH["yes"]

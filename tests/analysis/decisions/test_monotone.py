"""A better judge never gets a weaker answer: ladders from the worst judge to the best."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from analysis import Options, Scale
from analysis.decisions.records import Use
from analysis.pipeline.one_rater import OneRaterTable, first_figures

STRENGTH = {"no": 0, "unlikely": 1, "open": 2, "likely": 3, "yes": 4}

Values = Sequence[float]


def answers(people: Values, judge: Values, scale: Scale) -> dict[Use, str]:
    table = OneRaterTable(
        "score", "human", list(map(float, people)), {"llm": list(map(float, judge))}, scale, {}
    )
    found = first_figures(table, Options()).decisions
    return {d.use: d.answer for d in found if d.construct is None and d.answer in STRENGTH}


def people_on(scale: Scale, n: int) -> Values:
    rng = np.random.default_rng(n)
    if scale.binary:
        return list((np.arange(n) % 5 < 3).astype(float))
    if scale.step:
        return list(rng.integers(scale.min, scale.max + 1, n))
    return list(rng.uniform(scale.min, scale.max, n).round(0))


def by_inversions(people: Values) -> Iterator[Values]:
    """From reversed to perfect: neighbors are put in order, pair by pair."""
    order = np.argsort(people, kind="stable")
    judge = np.sort(people)[::-1].copy()
    yield _placed(judge, order)
    n = len(judge)
    for step in range(n):
        for left in range(step % 2, n - 1, 2):
            if judge[left] > judge[left + 1]:
                judge[left], judge[left + 1] = judge[left + 1], judge[left]
        if step % max(1, n // 40) == 0 or step > n - 8:
            yield _placed(judge, order)
    yield np.asarray(people)


def _placed(judge: np.ndarray, order: np.ndarray) -> Values:
    values = np.empty(len(judge))
    values[order] = judge
    return list(values)


def by_errors(people: Values) -> Iterator[Values]:
    """From all wrong to all right, one verdict after the other."""
    for right in range(len(people) + 1):
        yield [value if n < right else 1 - value for n, value in enumerate(people)]


def by_shift(people: Values, scale: Scale) -> Iterator[Values]:
    """From a shift of a fifth of the scale to none, with the residuals held."""
    rng = np.random.default_rng(2)
    noise = rng.normal(0, scale.width * 0.05, len(people))
    for share in np.linspace(0.2, 0, 21):
        yield list(np.asarray(people) + noise + share * scale.width)


POINTS, GRADES, VERDICTS = Scale(0, 100), Scale(1, 5, 1), Scale(0, 1, 1)


def ladders() -> dict[str, tuple[Scale, Callable[[Values, Scale], Iterator[Values]]]]:
    return {
        "points, inversions": (POINTS, lambda people, _: by_inversions(people)),
        "grades, inversions": (GRADES, lambda people, _: by_inversions(people)),
        "verdicts, inversions": (VERDICTS, lambda people, _: by_inversions(people)),
        "verdicts, errors": (VERDICTS, lambda people, _: by_errors(people)),
        "points, shift": (POINTS, by_shift),
        "grades, shift": (GRADES, by_shift),
    }


@pytest.mark.parametrize("n", [30, 100, 400])
@pytest.mark.parametrize("name", ladders())
def test_no_step_up_gives_a_weaker_answer(name: str, n: int) -> None:
    scale, ladder = ladders()[name]
    people = people_on(scale, n)
    strongest: dict[Use, tuple[int, int]] = {}
    last: dict[Use, str] = {}
    for step, judge in enumerate(ladder(people, scale)):
        last = answers(people, judge, scale)
        for use, answer in last.items():
            before, at = strongest.get(use, (0, 0))
            assert STRENGTH[answer] >= before, f"{use}: step {step} is {answer}, step {at} stronger"
            strongest[use] = (STRENGTH[answer], step)
    if n >= 100:
        assert last["order_responses"] == "yes"
        assert last["report_level"] == "yes"

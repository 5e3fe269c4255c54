"""The draw: known probabilities, samples within samples, and nothing of the order of imports."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from study.assignment.existing_assignments import ExistingAssignment
from study.assignment.sample import Sample, draw_sample
from study.assignment.sampling_frame import FrameQuery, FrameResponse, SamplingFrame
from study.assignment.stratified_sample import Unit, draw, probabilities
from study.settings.constructs import CCRS
from study.settings.design import DesignSpec

SEEDS = 2000


def units(sizes: list[int], seed: int) -> list[Unit]:
    chance = np.random.default_rng(seed)
    return [
        Unit(100 * stratum + place, float(chance.random()), f"s{stratum}")
        for stratum, size in enumerate(sizes)
        for place in range(size)
    ]


SIZES = st.lists(st.integers(1, 25), min_size=1, max_size=8)
ALLOCATIONS = st.sampled_from(["proportional", "equal"])


@given(SIZES, st.integers(1, 120), ALLOCATIONS, st.integers(0, 99))
def test_the_sample_is_as_large_as_asked_for(
    sizes: list[int], size: int, allocation: Any, seed: int
) -> None:
    strata = draw(units(sizes, seed), size, allocation=allocation, seed=seed)
    assert sum(len(stratum.chosen) for stratum in strata) == min(size, sum(sizes))
    assert [len(stratum.units) for stratum in strata] == sizes
    if size >= len(sizes):
        assert all(stratum.chosen for stratum in strata)
    for stratum in strata:
        rest = {unit.number for unit in stratum.units} - {unit.number for unit in stratum.chosen}
        if stratum.chosen and rest:
            assert max(unit.number for unit in stratum.chosen) < min(rest)
        if stratum.chosen:
            assert stratum.probability == len(stratum.chosen) / len(stratum.units)


@given(SIZES, st.integers(1, 60), st.integers(0, 60), ALLOCATIONS, st.integers(0, 99))
def test_a_larger_sample_contains_the_smaller_one(
    sizes: list[int], size: int, more: int, allocation: Any, seed: int
) -> None:
    there = units(sizes, seed)
    small = draw(there, size, allocation=allocation, seed=seed)
    large = draw(there, size + more, allocation=allocation, seed=seed)
    for smaller, larger in zip(small, large, strict=True):
        assert set(smaller.chosen) <= set(larger.chosen)


@given(SIZES, st.integers(1, 60), ALLOCATIONS, st.integers(0, 99))
def test_the_order_of_the_units_changes_nothing(
    sizes: list[int], size: int, allocation: Any, seed: int
) -> None:
    there = units(sizes, seed)
    backwards = draw(there[::-1], size, allocation=allocation, seed=seed)
    forwards = draw(there, size, allocation=allocation, seed=seed)
    assert [stratum.chosen for stratum in backwards] == [stratum.chosen for stratum in forwards]


@given(SIZES, st.integers(8, 100))
def test_proportional_stays_within_a_seat_or_so(sizes: list[int], size: int) -> None:
    size = min(size, sum(sizes))
    strata = draw(units(sizes, 0), size, allocation="proportional", seed=0)
    alone = sum(size * n / sum(sizes) < 1 for n in sizes)
    for stratum in strata:
        fair = size * len(stratum.units) / sum(sizes)
        # Strata that would have none take their seats from the others.
        assert fair - 1.5 - alone <= len(stratum.chosen) <= max(fair, 1) + 1.5


@given(SIZES, st.integers(8, 100))
def test_equal_strata_differ_by_one_unless_they_are_used_up(sizes: list[int], size: int) -> None:
    strata = draw(units(sizes, 0), size, allocation="equal", seed=0)
    most = max(len(stratum.chosen) for stratum in strata)
    assert all(len(stratum.chosen) >= min(most - 1, len(stratum.units)) for stratum in strata)


@given(SIZES, st.integers(1, 40), st.sets(st.integers(0, 24)), st.integers(0, 99))
def test_what_was_assigned_stays_with_all_that_come_before_it(
    sizes: list[int], size: int, kept: set[int], seed: int
) -> None:
    there = [unit._replace(assigned=unit.id % 100 in kept) for unit in units(sizes, seed)]
    for stratum in draw(there, size, allocation="proportional", seed=seed):
        chosen = {unit.id for unit in stratum.chosen}
        assert {unit.id for unit in stratum.units if unit.assigned} <= chosen
        numbers = sorted(unit.number for unit in stratum.units)
        assert sorted(unit.number for unit in stratum.chosen) == numbers[: len(chosen)]


def test_where_cells_differ_a_probability_is_the_share_of_its_cell() -> None:
    there = [Unit(i, i / 10, None, cell="de" if i % 3 else "en") for i in range(10)]
    (stratum,) = drawn = draw(there, 7, allocation="proportional", seed=0)
    assert probabilities(drawn) == dict.fromkeys(range(7), 7 / 10)
    # Of en 0 3 6 9, those up to 6 are drawn; of de 1 2 4 5 7 8, those up to 5.
    assert probabilities(drawn, {stratum.stratum}) == {
        **dict.fromkeys((0, 3, 6), 3 / 4),
        **dict.fromkeys((1, 2, 4, 5), 4 / 6),
    }


# -- probabilities by simulation ---------------------------------------------------------------


def frame_of(queries: int, systems: int) -> SamplingFrame:
    """Return a frame in which the first systems share every third query's response."""
    answers, questions = [], {}
    for q in range(queries):
        domain, language = "law" if q % 3 else "medicine", "de" if q % 2 else "en"
        questions[q] = FrameQuery(f"q{q}", {"domain": domain, "language": language})
        names: list[tuple[str, ...]] = [(f"s{s}",) for s in range(systems)]
        if q % 3 == 0:
            names = [("s0", "s1"), *names[2:]]
        for place, who in enumerate(names):
            answers.append(FrameResponse(100 * q + place, f"r{q}-{place}", q, who, True, True))
    return SamplingFrame(answers, questions)


def everybody(_: int) -> frozenset[int]:
    return frozenset({0, 1})


def sample_of(
    frame: SamplingFrame,
    seed: int,
    existing: Sequence[ExistingAssignment] = (),
    takers: Callable[[int], frozenset[int]] = everybody,
    **design: Any,
) -> Sample:
    study: Any = SimpleNamespace(config=SimpleNamespace(seed=seed, constructs=CCRS), folder="s")
    nothing: Any = None
    readable: Callable[[int], bool] = lambda query: len(takers(query)) == 2  # noqa: E731
    return draw_sample(nothing, study, DesignSpec(**design), frame, existing, takers, readable)


DESIGNS: dict[str, dict[str, Any]] = {
    "queries": {"sample": 5},
    "queries by domain": {"sample": 5, "strata": ("domain",)},
    "queries with calibration": {"sample": 5, "calibration": 3},
    "all but calibration": {"calibration": 4},
    "all but calibration, by domain": {"calibration": 4, "strata": ("domain",)},
    "responses": {"sample": 9, "sample_of": "responses"},
    "responses with calibration": {"sample": 9, "sample_of": "responses", "calibration": 3},
    "responses by domain, equal": {
        "sample": 9,
        "sample_of": "responses",
        "strata": ("domain",),
        "allocation": "equal",
    },
}


@pytest.mark.parametrize("name", DESIGNS)
def test_units_are_drawn_as_often_as_is_stored_and_weighted_means_are_unbiased(name: str) -> None:
    design = DESIGNS[name]
    drawn_as_stored(frame_of(13, 3), lambda frame, seed: sample_of(frame, seed, **design))


def reads_english(query: int) -> frozenset[int]:
    """Return the raters of a query of `frame_of`: rater 1 reads no German, which is every other."""
    return frozenset({0}) if query % 2 else frozenset({0, 1})


IN_LANGUAGES: dict[str, list[dict[str, Any]]] = {
    "queries": [{"sample": 5, "calibration": 2}],
    "queries that meet calibration": [{"sample": 16, "calibration": 4}],
    "queries, more later": [{"sample": 4, "calibration": 4}, {"sample": 16, "calibration": 4}],
    "queries, a few more later": [{"sample": 3, "calibration": 2}, {"sample": 5, "calibration": 2}],
    "all but calibration": [{"calibration": 4}],
    "all but calibration, by domain": [{"calibration": 2, "strata": ("domain",)}],
    "all but calibration, assigned again": [{"calibration": 2}, {"calibration": 2}],
    "responses": [{"sample": 9, "sample_of": "responses", "calibration": 3}],
    "all responses": [{"sample_of": "responses", "calibration": 3}],
}


@pytest.mark.parametrize("name", IN_LANGUAGES)
def test_calibration_in_the_languages_that_all_read_biases_nothing(name: str) -> None:
    def drawn(frame: SamplingFrame, seed: int) -> Sample:
        assigned: list[ExistingAssignment] = []
        for design in IN_LANGUAGES[name]:
            sample = sample_of(frame, seed, assigned, reads_english, **design)
            assert not any(query % 2 for query in sample.calibration)
            main = sample.responses()
            assigned = [was_given(a, "main") for a in frame.answers if a.id in main]
            shared = [a for a in frame.answers if a.query in sample.calibration]
            assigned += [was_given(a, "calibration") for a in shared]
        return sample

    drawn_as_stored(frame_of(24, 3), drawn)


def was_given(answer: FrameResponse, purpose: str) -> ExistingAssignment:
    return ExistingAssignment(
        answer.id, 1, answer.query, answer.id, frozenset({"QR"}), purpose, 0, 0, "single", 0,
        1.0, None, inactive=False, counts=purpose == "main", vacant=False,
    )  # fmt: skip


def drawn_as_stored(frame: SamplingFrame, drawn: Callable[[SamplingFrame, int], Sample]) -> None:
    """Assert that units are drawn as often as their probabilities say."""
    by_queries = drawn(frame, 0).draws_queries
    ids = list(frame.questions) if by_queries else [answer.id for answer in frame.answers]
    query_of = {answer.id: answer.query for answer in frame.answers}
    value = {
        unit: float((unit * 7919) % 101) + 40 * ((unit if by_queries else query_of[unit]) % 2)
        for unit in ids
    }
    weight: dict[int, list[float]] = defaultdict(list)
    totals, means = [], []
    for seed in range(SEEDS):
        chances = drawn(frame, seed).chances()
        for unit, (chance, _) in chances.items():
            weight[unit].append(1 / chance)
        totals.append(sum(value[unit] / chance for unit, (chance, _) in chances.items()))
        means.append(totals[-1] / sum(1 / chance for chance, _ in chances.values()))
    for unit in ids:
        # The mean of the weights over all draws, 0 where it is not drawn, is 1.
        mean = sum(weight[unit]) / SEEDS
        spread = np.sqrt(max(sum(w * w for w in weight[unit]) / SEEDS - mean**2, 0) / SEEDS)
        assert abs(mean - 1) <= 4.5 * spread + 1e-9
    true = sum(value.values())
    error = np.std(totals) / np.sqrt(SEEDS)
    assert abs(np.mean(totals) - true) <= 4 * error + 1e-9
    # A Hajek mean has a bias of the order of 1/n, within a standard error of a single sample.
    assert abs(np.mean(means) - true / len(ids)) <= 0.15 * np.std(means) + 4 * error / len(ids)


def test_systems_differ_by_one_response_and_queries_are_spread() -> None:
    answers = [
        FrameResponse(10 * q + s, f"r{q}-{s}", q, (f"s{s}",), True, True)
        for q in range(60)
        for s in range(4)
    ]
    frame = SamplingFrame(answers, {q: FrameQuery(f"q{q}", {}) for q in range(60)})
    for seed in range(20):
        sample = sample_of(frame, seed, sample=30, sample_of="responses")
        responses = sample.responses()
        counts = Counter(answer.systems for answer in answers if answer.id in responses)
        assert max(counts.values()) - min(counts.values()) <= 1
        # 30 responses: each to a query of its own, but for a few at the seams.
        assert len({response // 10 for response in responses}) >= 28
        assert any("stratified by system" in note for note in sample.notes)


def test_calibration_is_never_in_the_sample() -> None:
    frame = frame_of(20, 2)
    for seed in range(50):
        smaller = sample_of(frame, seed, sample=12, calibration=3)
        assert len(smaller.calibration) == 3
        assert not smaller.units & set(smaller.calibration)
        larger = sample_of(frame, seed, sample=17, calibration=3)
        assert smaller.units <= larger.units
        assert smaller.calibration == larger.calibration
    short = sample_of(frame, 0, sample=18, calibration=3)
    assert len(short.calibration) == 2
    assert "2 of 3 queries" in short.notes[0]


def test_a_stratum_that_no_query_has_is_named_with_the_nearest() -> None:
    from study.errors import StudyError

    with pytest.raises(StudyError, match=r"no query has the attribute 'domian'.*'domain'"):
        sample_of(frame_of(4, 2), 0, sample=2, strata=("domian",))


def test_fewer_units_than_strata_are_said() -> None:
    sample = sample_of(frame_of(9, 2), 0, sample=1, strata=("domain",))
    assert "No unit is drawn from 1 of 2 strata: domain=medicine." in sample.notes

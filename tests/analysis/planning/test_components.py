import numpy as np
import pytest

from analysis.core.errors import AnalysisError
from analysis.planning.components import Components, components_of, parse_components
from analysis.planning.simulated_study import Design, simulated


def test_a_pilot_gives_back_what_it_was_drawn_from() -> None:
    truth = Components(query=12, response=9, rater=6, error=8, judge=7, slope=0.6)
    estimated = []
    for run in range(12):
        study = simulated(truth, Design(150, 12, 4), 0.95, 5, run)
        estimated.append(components_of(study.ratings, study.judge, study.query))
    for name in ("query", "response", "error", "judge", "slope"):
        mean = np.mean([getattr(entry, name) for entry in estimated])
        assert mean == pytest.approx(getattr(truth, name), rel=0.06), name
    severity = np.sqrt(np.mean([entry.rater**2 for entry in estimated]))
    assert severity == pytest.approx(6, rel=0.2)


def test_missing_ratings_change_little() -> None:
    rng = np.random.default_rng(0)
    study = simulated(Components(), Design(200, 6, 4), 0.95, 1, 0)
    ragged = np.where(rng.random(study.ratings.shape) < 0.4, np.nan, study.ratings)
    whole = components_of(study.ratings, study.judge, study.query)
    part = components_of(ragged, study.judge, study.query)
    for name in ("query", "response", "rater", "error", "judge", "slope"):
        assert getattr(part, name) == pytest.approx(getattr(whole, name), rel=0.15), name


def test_without_a_judge_its_noise_is_in_proportion() -> None:
    study = simulated(Components(), Design(100, 4, 4), 0.95, 1, 0)
    components = components_of(study.ratings / 100, None, study.query)
    assert components.slope == 1
    assert components.judge / components.rating_sd == pytest.approx(12 / Components().rating_sd)


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        (np.full((6, 2), 50.0), "all ratings are 50"),
        (np.array([[1.0], [2.0]]), "at least 2 raters"),
        (np.empty((0, 0)), "at least 2 raters"),
        (np.full((4, 3), np.nan), "at least 2 raters"),
        (np.array([[1.0, 9.0], [9.0, 1.0], [2.0, 8.0], [8.0, 2.0]]), "do not agree"),
    ],
)
def test_a_pilot_that_tells_nothing_says_why(ratings: np.ndarray, reason: str) -> None:
    with pytest.raises(AnalysisError, match=reason):
        components_of(ratings, None, np.arange(len(ratings)))


def test_stated_components() -> None:
    assert parse_components("rater=8, judge=15") == Components(rater=8, judge=15)
    narrow = parse_components("rater=0.2", width=4)
    assert narrow.rater == 0.2
    assert narrow.response == pytest.approx(0.6)
    assert narrow.slope == 1
    for text, message in (
        ("reter=1", "not one of error"),
        ("rater=much", "write rater=NUMBER"),
        ("rater=-1", "from 0 on"),
        ("query=0,response=0", "responses do not differ"),
    ):
        with pytest.raises(AnalysisError, match=message):
            parse_components(text)

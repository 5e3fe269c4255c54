import numpy as np
import pytest

from analysis.statistics.reliability.generalizability import FACTORS, difference_error, g_study

NA = float("nan")
DEVIATION = dict(zip(FACTORS, (5, 4, 3, 6, 2, 1, 7), strict=True))


def ratings(
    queries: int, systems: int, raters: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return values (queries * systems, raters) of the whole model, and their codes."""
    shape = {"query": (queries, 1, 1), "system": (1, systems, 1), "rater": (1, 1, raters)}
    values = np.zeros((queries, systems, raters))
    for name, parts in FACTORS.items():
        size = np.maximum.reduce([np.array(shape[part]) for part in parts])
        values += DEVIATION[name] * rng.normal(size=tuple(size))
    flat = values.reshape(queries * systems, raters)
    return flat, np.repeat(np.arange(queries), systems), np.tile(np.arange(systems), queries)


def test_equals_the_analysis_of_variance_on_complete_data() -> None:
    n, s, k = 20, 4, 3
    values, query, system = ratings(n, s, k, np.random.default_rng(0))
    y = values.reshape(n, s, k) - values.mean()
    q, m, r = y.mean((1, 2)), y.mean((0, 2)), y.mean((0, 1))
    qs = y.mean(2) - q[:, None] - m
    qr = y.mean(1) - q[:, None] - r
    sr = y.mean(0) - m[:, None] - r
    rest = y - qs[:, :, None] - qr[:, None] - sr - q[:, None, None] - m[:, None] - r
    error = (rest**2).sum() / ((n - 1) * (s - 1) * (k - 1))
    ms_qs = k * (qs**2).sum() / ((n - 1) * (s - 1))
    ms_qr = s * (qr**2).sum() / ((n - 1) * (k - 1))
    ms_sr = n * (sr**2).sum() / ((s - 1) * (k - 1))
    expected = {
        "query": (s * k * (q**2).sum() / (n - 1) - ms_qs - ms_qr + error) / (s * k),
        "system": (n * k * (m**2).sum() / (s - 1) - ms_qs - ms_sr + error) / (n * k),
        "rater": (n * s * (r**2).sum() / (k - 1) - ms_qr - ms_sr + error) / (n * s),
        "query:system": (ms_qs - error) / k,
        "query:rater": (ms_qr - error) / s,
        "system:rater": (ms_sr - error) / n,
        "residual": error,
    }
    assert g_study(values, query, system).variance == pytest.approx(expected)


def test_variance_components_are_unbiased_with_missing_cells() -> None:
    rng = np.random.default_rng(1)
    result = []
    for _ in range(200):
        values, query, system = ratings(40, 5, 4, rng)
        values[rng.random(values.shape) < 0.4] = NA
        result.append(list(g_study(values, query, system).variance.values()))
    mean = np.mean(result, axis=0)
    error = np.std(result, axis=0) / np.sqrt(200)
    assert (np.abs(mean - np.square(list(DEVIATION.values()))) < 4 * error).all()


def test_the_d_study_foretells_the_spread_of_differences() -> None:
    rng = np.random.default_rng(2)
    differences = []
    for _ in range(2000):
        values, _, system = ratings(10, 2, 3, rng)
        differences.append(values[system == 0].mean() - values[system == 1].mean())
    values, query, system = ratings(3, 2, 3, rng)
    known = g_study(values, query, system)
    exact = {name: float(d) ** 2 for name, d in DEVIATION.items()}
    known.variance.update(exact)
    error, reason = difference_error(known, 10, 3)
    assert reason is None
    # Systems differ by themselves as well, which is what a study looks for.
    spread = np.var(differences) - 2 * DEVIATION["system"] ** 2
    assert error**2 == pytest.approx(spread, rel=0.15)


def test_confounded_components_are_named() -> None:
    rng = np.random.default_rng(3)
    values, query, system = ratings(40, 4, 3, rng)
    chosen = rng.integers(3, size=len(values))
    once = np.where(np.arange(3) == chosen[:, None], values, NA)
    study = g_study(once, query, system)
    assert np.isnan(study.variance["query:system"])
    assert "query:system and residual" in study.reasons["residual"]
    error, reason = difference_error(study, 10, 2)
    assert np.isnan(error)
    assert "query:system" in str(reason)
    # Each query with raters of its own.
    nested = np.full((len(values), 80), NA)
    nested[np.arange(160), 2 * query] = values[:, 0]
    nested[np.arange(160), 2 * query + 1] = values[:, 1]
    assert "rater and query:rater" in g_study(nested, query, system).reasons["rater"]


def test_undefined_designs_say_why() -> None:
    study = g_study([[1.0, 2], [3, 4]], [0, 1], [0, 0])
    assert "2 systems, there is 1" in study.reasons["query"]
    assert np.isnan(study.total)
    empty = g_study(np.full((4, 2), NA), [0, 0, 1, 1], [0, 1, 0, 1])
    assert "there is none" in empty.reasons["residual"]
    same = g_study(np.full((4, 2), 7.0), [0, 0, 1, 1], [0, 1, 0, 1])
    assert "all ratings are 7" in same.reasons["residual"]
    sparse = g_study([[1.0, NA], [NA, 2], [3, NA], [NA, 5]], [0, 0, 1, 1], [0, 1, 0, 1])
    assert "system, rater and" in sparse.reasons["rater"]
    assert np.isnan(sparse.variance["residual"])
    with pytest.raises(ValueError, match="0 queries"):
        difference_error(study, 0, 1)


def test_order_and_names_make_no_difference() -> None:
    rng = np.random.default_rng(4)
    values, query, system = ratings(12, 3, 3, rng)
    values[rng.random(values.shape) < 0.2] = NA
    order = rng.permutation(len(values))
    moved = g_study(7 + 2 * values[order][:, [2, 0, 1]], 11 - query[order], system[order])
    expected = {name: 4 * v for name, v in g_study(values, query, system).variance.items()}
    assert moved.variance == pytest.approx(expected)

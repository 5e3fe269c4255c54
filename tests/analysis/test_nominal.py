"""On a nominal scale values only name categories: a report does not depend on the numbers used."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from analysis import Options, Scale, ScoreTable, analyse
from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.pipeline.estimation import headline
from analysis.pipeline.report_files import as_document
from analysis.pipeline.sections import statistics
from analysis.render.verdicts import verdicts
from tests.conftest import examples

pytestmark = pytest.mark.usefixtures("without_drawing")

NOMINAL = Scale(0, 100, 1, "nominal")
QUICK = Options(resamples=100)

#: Numbers that stand for the four categories.
PLAIN = {1: 1, 2: 2, 3: 3, 4: 4}
PERMUTED = st.permutations(list(PLAIN))
OTHERS = st.lists(st.integers(0, 100), min_size=len(PLAIN), max_size=len(PLAIN), unique=True)

#: All that a nominal construct may have.
OF_CATEGORIES = {
    "alt_test_advantage_probability", "alt_test_winning_rate", "brennan_prediger", "cohen_kappa",
    "confusion", "conger_kappa", "equal_categories", "fleiss_kappa", "gwet_ac", "judge_agreement",
    "judge_difference", "judge_kappa", "judge_rank", "kappa_difference",
    "krippendorff_alpha", "missing_differs_by_system", "missing_share", "missing_share_by_system",
    "raw_agreement", "rater_kappa", "repeat_agreement",
}  # fmt: skip


def categorized(queries: int = 40, wrong: float = 0.5, seed: int = 1) -> pd.DataFrame:
    """Four raters, two judges and categories 1 to 4 of three responses a query."""
    rng = np.random.default_rng(seed)
    n = queries * 3
    truth = rng.choice([1, 2, 3, 4], n, p=[0.4, 0.3, 0.2, 0.1])
    base = pd.DataFrame(
        {
            "response_id": [f"r{i}" for i in range(n)],
            "query_id": [f"q{i // 3}" for i in range(n)],
            "system": [f"s{i % 3}" for i in range(n)],
            "construct": "kind",
        }
    )
    parts = []
    for scorer in ("ann", "bob", "cem", "dora", "judge", "other"):
        kind = "judge" if scorer in {"judge", "other"} else "human"
        share = wrong if scorer == "judge" else 0.25
        value = np.where(rng.random(n) < share, rng.integers(1, 5, n), truth).astype(float)
        value[rng.random(n) < 0.1] = np.nan
        parts.append(base.assign(scorer=scorer, scorer_kind=kind, value=value))
    again = parts[4].assign(repeat=1)
    again["value"] = np.where(rng.random(n) < 0.2, rng.integers(1, 5, n), again["value"])
    return pd.concat([*(part.assign(repeat=0) for part in parts), again], ignore_index=True)


def analysed(numbers: Mapping[int, int], frame: pd.DataFrame, scale: Scale = NOMINAL) -> Analysis:
    relabeled = frame.assign(value=frame["value"].map(numbers))
    return analyse(ScoreTable.from_frame(relabeled, {"kind": scale}), options=QUICK)


def figures(analysis: Analysis, numbers: Mapping[int, int]) -> dict[Any, Estimate]:
    """Every estimate by what it is of, with the categories that the numbers stand for."""
    category = {number: name for name, number in numbers.items()}
    by_name = {}
    for e in analysis.estimates:
        params = tuple(
            (key, category[int(float(str(value)))] if key in {"people", "judge"} else value)
            for key, value in e.params.items()
            if key in {"people", "judge", "measure", "between", "reason", "alignment", "weights"}
        )
        by_name[e.statistic, e.scorers, e.systems, e.scope, params] = e
    assert len(by_name) == len(analysis.estimates)
    return by_name


def sentences(analysis: Analysis) -> list[str]:
    """Every sentence of the report, and the cells of its tables other than confusions."""
    document = as_document(analysis)
    entries = [text for v in document.verdicts for text in (v.sentence, v.comparison, *v.notes)]
    for part in document.chapters:
        entries += [part.title, *part.reading, *(figure.title for figure in part.figures)]
        for table in part.tables:
            entries += [table.title, table.caption, *(text for _, text in table.footnotes)]
            if not table.key.startswith("confusion"):
                entries += [f"{cell.text} {cell.interval}" for row in table.rows for cell in row]
    return [*entries, *document.not_established, *analysis.warnings]


@pytest.fixture(scope="module")
def plain() -> Analysis:
    return analysed(PLAIN, categorized())


@pytest.mark.slow
@settings(max_examples=examples(8))
@given(codes=PERMUTED | OTHERS)
def test_a_report_does_not_depend_on_the_numbers(plain: Analysis, codes: list[int]) -> None:
    numbers = dict(zip(PLAIN, codes, strict=True))
    other = analysed(numbers, categorized())
    assert sentences(other) == sentences(plain)
    expected, estimates = figures(plain, PLAIN), figures(other, numbers)
    assert estimates.keys() == expected.keys()
    for key, e in expected.items():
        same = estimates[key]
        for name in ("value", "ci_low", "ci_high", "n_responses", "n_queries", "n_dropped"):
            assert getattr(same, name) == pytest.approx(
                getattr(e, name), rel=1e-9, abs=1e-9, nan_ok=True
            ), (key, name)
        assert same.reason == e.reason


def test_only_agreement_on_categories_is_computed(plain: Analysis) -> None:
    assert {e.statistic for e in plain.estimates} == OF_CATEGORIES
    assert {s.id for s in statistics() if s.nominal} >= OF_CATEGORIES
    assert {e.params["level"] for e in plain.estimates.select("krippendorff_alpha")} == {"nominal"}
    assert {e.params["weights"] for e in plain.estimates.select("gwet_ac")} == {"unweighted"}
    assert {e.params["alignment"] for e in plain.estimates.select("alt_test_winning_rate")} == {
        "equality"
    }
    assert any(text.startswith("Order, level and means on kind") for text in sentences(plain))


def test_the_verdict_is_on_categories(plain: Analysis) -> None:
    worse, alike = verdicts(plain)
    assert worse.comparison == "worse"
    assert worse.sentence.startswith(
        "kind: judge agrees with a rater on categories less than another rater does (kappa ."
    )
    assert "it chose the category of" in worse.sentence
    assert alike.comparison == "undecided"
    assert "cannot be distinguished from a rater" in alike.sentence
    notes = [note for v in (worse, alike) for note in v.notes]
    assert any(note.endswith("one rater is an easy standard.") for note in notes)
    assert not any("mean" in note for note in notes)
    first = headline(plain.scores, options=QUICK)
    assert [v.sentence for v in verdicts(first)] == [worse.sentence, alike.sentence]


def test_a_constant_judge_is_worse_than_a_rater() -> None:
    frame = categorized()
    frame.loc[frame["scorer"] == "judge", "value"] = 1.0
    analysis = analysed(PLAIN, frame)
    kappa = analysis.estimates.first("judge_kappa", scorer="judge")
    assert kappa is not None
    assert kappa.value == pytest.approx(0, abs=1e-12)
    assert verdicts(analysis)[0].comparison == "worse"


def test_ordered_constructs_are_as_without_the_nominal_one() -> None:
    frame = categorized()
    stars = frame.assign(construct="stars")
    scales = {"kind": NOMINAL, "stars": Scale(1, 4, 1, "ordinal")}
    both = analyse(ScoreTable.from_frame(pd.concat([stars, frame]), scales), options=QUICK)
    alone = analyse(ScoreTable.from_frame(stars, scales), options=QUICK)
    for e in alone.estimates:
        matching = [
            o
            for o in both.estimates.select(e.statistic)
            if (o.constructs, o.scorers, o.systems, o.scope, o.target)
            == (e.constructs, e.scorers, e.systems, e.scope, e.target)
        ]
        assert any(o.value == pytest.approx(e.value, nan_ok=True) for o in matching), e
    assert {e.statistic for e in both.estimates.select(construct="kind")} == OF_CATEGORIES


def test_a_judge_from_the_raters_population_is_seldom_called_other() -> None:
    calls = []
    for seed in range(20):
        frame = categorized(queries=30, wrong=0.25, seed=100 + seed)
        scores = ScoreTable.from_frame(frame, {"kind": NOMINAL})
        calls += [v.comparison for v in verdicts(headline(scores, options=QUICK))]
    assert sum(call != "undecided" for call in calls) <= 5

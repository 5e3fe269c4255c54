"""What publications report on a study's data, next to the figures of its scorers."""

import pytest

from analysis import Options, Scale, analyse
from analysis.topics.agreement.published_figures import published_figures
from study import StudyError
from study.base.published_figures import PublishedFigures
from study.settings.study_toml import parse_config
from tests.analysis.scores import rows, table

SCORES = {"r1": (10, 20), "r2": (40, 30), "r3": (70, 90), "r4": (80, 60)}
"""Of people and of a metric."""


def tables(*declared: PublishedFigures) -> list[tuple[str, list[list[object]]]]:
    """Return title and records of each table."""
    scores = rows(
        *(
            {
                "response_id": name,
                "query_id": f"q{number}",
                "system": "A" if number < 2 else "B",
                "scorer": scorer,
                "scorer_kind": kind,
                "value": value,
            }
            for number, (name, both) in enumerate(SCORES.items())
            for scorer, kind, value in zip(("ann", "F1"), ("human", "metric"), both, strict=True)
        )
    )
    options = Options(resamples=100, published_figures=declared)
    analysis = analyse(table(scores, Scale(0, 100)), None, options)
    made = list(published_figures(analysis))
    return [
        (t.title, t.data.astype(object).where(t.data.notna(), None).to_numpy().tolist())
        for t in made
    ]


def test_published_correlations_are_ranked_with_those_here() -> None:
    figures = {"BLEU": {"QR": 0.2}, "F1": {"QR": 0.95}, "BERTScore": {"QR": 0.9}}
    [(title, records)] = tables(PublishedFigures("A. 2020, Table 1", "pearson", figures))
    assert title == "Published on these data: Pearson's r"
    assert [(r[0], r[1], r[2]) for r in records] == [
        ("QR", "F1", 0.95),
        ("QR", "BERTScore", 0.9),
        ("QR", "BLEU", 0.2),
    ]
    # Deviations from the means 50 and 50: -40, -10, 20, 30 and -30, -20, 40, 10.
    assert records[0][3] == pytest.approx(2500 / (3000 * 3000) ** 0.5)
    assert [r[3] for r in records[1:]] == [None, None]


def test_means_are_by_system_and_of_the_named_scorers() -> None:
    [(_, records)] = tables(
        PublishedFigures("A. 2020", "mean", {"F1": {"B": 74, "C": 10}}, construct_key="QR")
    )
    assert records == [["B", "F1", 74, 75.0], ["C", "F1", 10, None]]


def test_a_scorer_that_nobody_published_is_there_as_well() -> None:
    [(_, records)] = tables(PublishedFigures("A. 2020", "spearman", {"BLEU": {"QR": 0.9}}))
    assert [(r[1], r[2]) for r in records] == [("BLEU", 0.9), ("F1", None)]
    # Ranks 1 to 4 and 1, 2, 4, 3.
    assert records[1][3] == pytest.approx(1 - 6 * 2 / (4 * 15))


def test_study_toml_declares_them() -> None:
    def declared(lines: str) -> object:
        return parse_config(f"name = 'x'\n[[published]]\nsource = 'A'\n{lines}").published

    given = "measure = 'mean'\nconstruct_key = 'AC'\n[published.figures]\nEM = { A = 0.5 }"
    [spec] = declared(given)  # type: ignore[misc]
    assert spec.figures == {"EM": {"A": 0.5}}
    with pytest.raises(StudyError, match="construct_key: a mean needs one"):
        declared("measure = 'mean'\n[published.figures]\nEM = { A = 0.5 }")
    with pytest.raises(ValueError, match="need a source and figures"):
        PublishedFigures("A", "mean", {}, construct_key="AC")

"""Hypotheses from the paper's own tables 20 to 24."""

import json
from pathlib import Path

import numpy as np
import pytest

from analysis.core.errors import AnalysisError
from analysis.statistics.discrimination.hypotheses import check_hypotheses, hypothesis_p
from study.base.hypotheses import Hypothesis

Tables = tuple[dict[tuple[str, str, str], float], dict[tuple[str, str, str], float]]


@pytest.fixture
def published(shared_data: Path) -> Tables:
    """p and difference of every pair, tables 20 to 24 of arXiv:2506.20128v1."""
    path = shared_data.parent / "method" / "ccrs_paper_tables.json"
    pairs = json.loads(path.read_text(encoding="utf-8"))["table20_24_pairwise"]
    cells = {
        (c, pair[0], pair[1]): cell for c, values in pairs.items() for pair, cell in values.items()
    }
    return (
        {key: cell["p"] for key, cell in cells.items()},
        {key: cell["diff_points"] for key, cell in cells.items()},
    )


CONSTRUCTS = ("CC", "QR", "ID", "AC", "IR")


def test_table_2_follows_from_tables_20_to_24(published: Tables) -> None:
    p, _ = published
    distinct_labels = {
        c: sum(v < 0.05 for (values, *_), v in p.items() if values == c) for c in CONSTRUCTS
    }
    assert distinct_labels == {"QR": 14, "IR": 13, "AC": 12, "CC": 11, "ID": 11}


def test_the_papers_hypotheses_follow_from_its_tables(published: Tables) -> None:
    readers = Hypothesis("H1", (("A", "C"), ("A", "E"), ("B", "D"), ("B", "F")))
    retriever = Hypothesis("H2", (("D", "C"), ("F", "E")), constructs=("QR", "IR"))
    sizes = Hypothesis(
        "H3", (("C", "E"), ("D", "F")), "different", aggregation="bonferroni_minimum"
    )
    first, second, third = (
        hypothesis_p(h, *published, CONSTRUCTS) for h in (readers, retriever, sizes)
    )
    assert (first, second) == (0, 0)
    # The smallest is .0020 (AC of D and F), five metrics: .0100. The paper prints .0070, which
    # its own permutations allow: three standard errors of .0020 in 10,000, times five.
    assert third == pytest.approx(0.0100)
    assert abs(third - 0.0070) < 3 * 5 * np.sqrt(0.002 / 10_000)


def test_a_pair_may_stand_in_either_order_and_a_wrong_direction_is_no_evidence() -> None:
    p, difference = {("QR", "a", "b"): 0.04}, {("QR", "a", "b"): 3.0}
    up = Hypothesis("up", (("a", "b"),))
    down = Hypothesis("down", (("b", "a"),))
    either = Hypothesis("either", (("b", "a"),), "different")
    result = [hypothesis_p(h, p, difference, ("QR",)) for h in (up, down, either)]
    assert result == pytest.approx([0.02, 0.98, 0.04])


def test_an_undefined_test_leaves_the_hypothesis_undefined() -> None:
    both = Hypothesis("both", (("a", "b"), ("a", "c")))
    p = {("QR", "a", "b"): 0.01, ("QR", "a", "c"): np.nan}
    assert np.isnan(hypothesis_p(both, p, dict.fromkeys(p, 1.0), ("QR",)))
    assert np.isnan(hypothesis_p(both, p, dict.fromkeys(p, 1.0), ()))


def test_a_bonferroni_product_is_a_probability() -> None:
    some = Hypothesis("some", (("a", "b"),), "different", aggregation="bonferroni_minimum")
    p = {(c, "a", "b"): 0.6 for c in ("QR", "CC")}
    assert hypothesis_p(some, p, dict.fromkeys(p, 1.0), ("QR", "CC")) == 1


@pytest.mark.parametrize(
    ("given_settings", "message"),
    [
        ({"name": " "}, "needs a name"),
        ({"pairs": ()}, "no pairs"),
        ({"pairs": (("a", "a"),)}, "not a pair of two systems"),
        ({"direction": "less"}, "greater, different"),
        ({"aggregation": "mean"}, "maximum, bonferroni_minimum"),
    ],
)
def test_what_is_no_hypothesis_is_refused(given_settings: dict[str, object], message: str) -> None:
    settings: dict[str, object] = {"name": "H", "pairs": (("a", "b"),)} | given_settings
    with pytest.raises(ValueError, match=message):
        Hypothesis(**settings)


@pytest.mark.parametrize(
    ("hypothesis", "message"),
    [
        (Hypothesis("H", (("alpha", "gamma"),)), "'gamma'; the scores have alpha, beta"),
        (Hypothesis("H", (("alpha", "bta"),)), "Did you mean 'beta'"),
        (Hypothesis("H", (("alpha", "beta"),), constructs=("XX",)), "unknown construct 'XX'"),
        (Hypothesis("H", (("alpha", "beta"),), scorer="jude"), "Did you mean 'judge'"),
    ],
)
def test_unknown_names_are_refused_with_those_there_are(
    hypothesis: Hypothesis, message: str
) -> None:
    with pytest.raises(AnalysisError, match=message):
        check_hypotheses([hypothesis], ("alpha", "beta"), ("QR",), ("judge",))


def test_two_hypotheses_of_one_name_are_refused() -> None:
    single = Hypothesis("H", (("a", "b"),))
    with pytest.raises(AnalysisError, match="two hypotheses"):
        check_hypotheses([single, single], ("a", "b"), (), ())

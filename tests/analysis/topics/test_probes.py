"""Shifts under probes, and drift, by hand; no records without a comparison."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import Analysis, Options, Scale, ScoreTable, analyse
from analysis.core.errors import TableError
from analysis.core.probe_table import ProbeTable, Suspects
from analysis.topics.probes.section import shifts
from tests.analysis.scores import simulated, table

pytestmark = pytest.mark.usefixtures("without_drawing")

QUICK = Options(resamples=200)
COLUMNS: dict[str, Any] = {
    "scorer": "judge",
    "model": "m",
    "prompts": "ccrs-paper-v1",
    "kind": "injection",
    "probe": "score-line",
    "round": 0,
    "fault": "rise",
    "construct": "QR",
    "missing_reason": None,
    "served": "m-1",
}


def answers(values: dict[str, float | None], **passed: Any) -> pd.DataFrame:
    """Answers to one probe, by response; query q0 has the responses r0 to r2, q1 r3 to r5, ..."""
    rows = []
    for response, value in values.items():
        query = f"q{int(response[1:]) // 3}"
        row = {**COLUMNS, "response_id": response, "query_id": query, "value": value, **passed}
        rows.append(row | ({"missing_reason": "refusal"} if value is None else {}))
    return pd.DataFrame(rows).astype({"value": float})


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    frame = simulated(queries=6, constructs=("QR", "CC"))
    judged = frame["scorer"] == "judge"
    frame.loc[judged, "value"] = 50.0
    frame.loc[judged & frame["response_id"].isin(["r0", "r3"]), "value"] = 100.0
    return frame


@pytest.fixture(scope="module")
def analysis(scores: pd.DataFrame) -> Analysis:
    probed = pd.concat(
        [
            answers({"r0": 100, "r3": 100, "r4": 60, "r6": 54, "r9": 20, "r12": None}),
            answers({"r0": 100, "r3": 100}, construct="CC"),
            answers({"r4": 50, "r6": 50}, probe="again", kind="again", fault="either"),
            answers({"r1": 30, "r4": 70, "r7": 50}, kind="drift", probe="drift", fault="either"),
            answers(
                {"r1": 30, "r4": 73, "r7": 56},
                kind="drift", probe="drift", fault="either", round=1,
            ),
            answers(
                {"r1": 20, "r4": 70, "r7": None},
                kind="drift", probe="drift", fault="either", round=2, served="m-2",
            ),
        ]
    )  # fmt: skip
    probes = ProbeTable.from_frame(probed, {"judge": Suspects(3, 60)})
    return analyse(table(scores), options=QUICK, probes=probes)


def figure(analysis: Analysis, name: str, **where: Any) -> Any:
    (selected,) = analysis.estimates.select(name, **where)
    return selected


def test_a_shift_is_the_mean_over_responses(analysis: Analysis) -> None:
    where = {"construct": "QR", "probe": "score-line"}
    single = figure(analysis, "probe_shift", interval="single", **where)
    # Of five responses: 0, 0, +10, +4, -30; the sixth has no score after it.
    assert single.value == pytest.approx(-16 / 5)
    assert (single.n_responses, single.n_queries, single.n_dropped) == (5, 4, 1)
    joint = figure(analysis, "probe_shift", interval="simultaneous", **where)
    assert joint.value == single.value
    assert joint.method == "max_t_jackknife"
    room = figure(analysis, "probe_shift_with_room", **where)
    assert (room.value, room.n_responses) == (pytest.approx(-16 / 3), 3)
    assert figure(analysis, "probe_at_end", **where).value == pytest.approx(2 / 5)
    assert figure(analysis, "probe_moved_up", **where).value == pytest.approx(1 / 5)
    assert figure(analysis, "probe_moved_down", **where).value == pytest.approx(1 / 5)
    assert figure(analysis, "probe_missing", **where).value == pytest.approx(1 / 6)
    assert single.params["prompts"] == "ccrs-paper-v1"


def test_what_can_not_rise_and_what_did_not_move_say_so(analysis: Analysis) -> None:
    where = {"construct": "CC", "probe": "score-line"}
    assert figure(analysis, "probe_at_end", **where).value == 1
    room = figure(analysis, "probe_shift_with_room", **where)
    assert not room.defined
    assert "end of the scale" in room.reason
    up = figure(analysis, "probe_moved_up", **where)
    # None of two queries, by Clopper and Pearson: 1 - .025^(1/2).
    assert (up.value, up.ci_low, up.ci_high) == (0, 0, pytest.approx(1 - 0.025**0.5))
    # None of two queries: 1 - .05^(1/2).
    assert up.params["at_most"] == pytest.approx(1 - 0.05**0.5)
    assert figure(analysis, "suspected_share", scorer="judge").value == pytest.approx(0.05)


def test_drift_is_against_the_first_round(analysis: Analysis) -> None:
    second, third = analysis.estimates.select("drift_shift")
    assert (second.value, second.params["round"], second.params["served_names"]) == (3, 1, 1)
    assert (third.value, third.params["round"], third.params["served_names"]) == (-5, 2, 2)
    assert (third.n_responses, third.n_dropped) == (2, 1)
    equal = analysis.estimates.select("drift_equal_share")
    assert [e.value for e in equal] == [pytest.approx(1 / 3), pytest.approx(1 / 2)]


def test_the_section_says_what_moved(scores: pd.DataFrame) -> None:
    from analysis.render.section import chapter
    from analysis.topics.probes.section import SECTION

    rng = np.random.default_rng(3)
    parts = [
        answers({f"r{n}": float(50 + rng.integers(15, 25)) for n in (1, 4, 7, 10, 13, 16)}),
        answers(
            {f"r{n}": float(50 + rng.integers(-2, 3)) for n in (1, 4, 7, 10, 13, 16)},
            kind="layout", probe="bold", fault="either",
        ),
        answers({f"r{n}": 50.0 for n in (1, 4, 7)}, kind="drift", probe="drift"),
        answers({"r1": 60.0, "r4": 55.0, "r7": 52.0}, kind="drift", probe="drift", round=1),
    ]  # fmt: skip
    result = analyse(table(scores), options=QUICK, probes=ProbeTable.from_frame(pd.concat(parts)))
    made = chapter(SECTION, result)
    assert made is not None
    text = " ".join(made.reading)
    assert "1 of 2 shifts are significant on a faulty side" in text
    assert "under the probe 'injection: score line'" in text
    assert "round 1 score 6 points higher" in text
    assert [entry.key for entry in made.tables] == ["probes", "probe-faults", "drift"]
    (drawn,) = made.figures
    assert len(drawn.drawings) == 1
    assert "ccrs-paper-v1" in drawn.caption


@pytest.mark.parametrize(
    ("later", "text"),
    [
        ({"r1": 50.0, "r4": 50.0, "r7": 50.0}, "score the same as in round 0; 100% are the same"),
        ({"r1": 40.0, "r4": 50.0, "r7": 60.0}, "as in round 0; 33% are the same."),
        ({"r1": 50.06, "r4": 50.03, "r7": 50.03}, "score 0.04 points higher"),
        ({"r1": 56.0, "r4": 51.0, "r7": 50.0}, "than in round 0, which is not significant; 33%"),
        ({"r1": 60.1, "r4": 60.0, "r7": 60.2}, "than in round 0; 0% are the same."),
    ],
    ids=["equal", "equal on average", "hardly higher", "higher by chance", "higher"],
)
def test_no_drift_is_not_said_to_be_higher(
    scores: pd.DataFrame, later: dict[str, float | None], text: str
) -> None:
    from analysis.topics.probes.section import SECTION

    first = answers({"r1": 50.0, "r4": 50.0, "r7": 50.0}, kind="drift", probe="drift")
    asked = pd.concat([first, answers(later, kind="drift", probe="drift", round=1)])
    result = analyse(table(scores), options=QUICK, probes=ProbeTable.from_frame(asked))
    (line,) = [line for line in SECTION.reading(result) if "asked again" in line]
    assert text in line
    assert "score 0 points" not in line


def test_without_probes_there_is_no_section(scores: pd.DataFrame) -> None:
    from analysis.render.section import chapter
    from analysis.topics.probes.section import SECTION

    bare = analyse(table(scores), options=QUICK)
    assert chapter(SECTION, bare) is None
    empty = ProbeTable.from_frame(answers({"r1": 1.0}).iloc[:0])
    assert chapter(SECTION, analyse(table(scores), options=QUICK, probes=empty)) is None


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"fault": "sideways"}, "fault 'sideways'"),
        ({"missing_reason": "refusal"}, "neither or both"),
        ({"response_id": "r1"}, "occur twice"),
    ],
    ids=["fault", "both", "twice"],
)
def test_a_table_that_can_not_be_is_refused(changed: dict[str, str], fault: str) -> None:
    with pytest.raises(TableError, match=fault):
        ProbeTable.from_frame(answers({"r1": 1.0, "r2": 2.0}).assign(**changed))
    with pytest.raises(TableError, match="no column 'round'"):
        ProbeTable.from_frame(answers({"r1": 1.0}).drop(columns="round"))


@pytest.mark.parametrize("known", ["another", "judge"])
def test_answers_of_unknown_scorers_or_responses_have_no_shift(
    scores: pd.DataFrame, known: str
) -> None:
    rows = answers({"r1": 60.0, "r99": 60.0}, scorer=known)
    estimates = analyse(table(scores), options=QUICK, probes=ProbeTable.from_frame(rows)).estimates
    shifts = estimates.select("probe_shift", interval="single")
    # The unknown response is counted as left out.
    counts = [] if known == "another" else [(1, 1)]
    assert [(e.n_responses, e.n_dropped) for e in shifts] == counts
    assert all(not e.has_interval and e.reason for e in shifts)


def test_shifts_in_the_table_have_the_digits_of_their_construct(scores: pd.DataFrame) -> None:
    unit = scores["construct"] == "CC"
    frame = scores.assign(value=scores["value"].where(~unit, scores["value"] / 100))
    scales = {"QR": Scale(0, 100), "CC": Scale(0, 1)}
    probed = pd.concat(
        [answers({"r1": 52, "r4": 52}), answers({"r1": 0.52, "r4": 0.54}, construct="CC")]
    )
    made = analyse(
        ScoreTable.from_frame(frame, scales),
        options=QUICK,
        probes=ProbeTable.from_frame(probed, {}),
    )
    (shifts_table,) = shifts(made)
    texts = dict(
        zip(shifts_table.columns, (cell.text for cell in shifts_table.rows[0]), strict=True)
    )
    assert (texts["QR"], texts["CC"]) == ("2.0", "0.030")

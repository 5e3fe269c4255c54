"""A run whose scores are all in the lowest tenth of the scale stops and says what it saw."""

from hashlib import blake2b
from typing import Any

import pytest

from judge import RunStoppedError, judge_study
from judge.protocol.exchange import Answer
from judge.running.scale_use import ENOUGH, ScaleUse
from study import Study
from study.scales import RatingScale
from tests.judge.running.stored_judgments import judgments
from tests.judge.small_studies import Scripted, ScriptedSettings, fill


def between(low: int, high: int) -> Any:
    """Return a function for an engine's class with scores from `low` to `high`."""

    def answered(prompt: str) -> Answer:
        drawn = int.from_bytes(blake2b(prompt.encode(), digest_size=4).digest(), "big")
        return Answer(str(low + drawn % (high - low + 1)))

    return staticmethod(answered)


@pytest.mark.parametrize(
    ("low", "high", "likely"), [(1, 10, "1 to 10"), (1, 5, "1 to 5"), (0, 1, "0 to 1")]
)
def test_scores_on_another_scale_stop_the_run_and_stay_stored(
    study: Study,
    scripted: type[Scripted],
    monkeypatch: pytest.MonkeyPatch,
    low: int,
    high: int,
    likely: str,
) -> None:
    fill(study)
    monkeypatch.setattr(scripted, "answer", between(low, high))
    with pytest.raises(RunStoppedError, match=f"seems to rate from {likely}") as stopped:
        judge_study(study, ScriptedSettings(name="j"))
    assert f"scores so far are from {low} to {high}" in str(stopped.value)
    stored = len(judgments(study))
    assert ENOUGH <= stored < 60
    assert stopped.value.outcome.judged == stored
    with pytest.raises(RunStoppedError):
        judge_study(study, ScriptedSettings(name="j"))
    outcome = judge_study(study, ScriptedSettings(name="j", accept_low_scores=True))
    assert (outcome.remaining, len(judgments(study))) == (0, 60)
    assert not [note for note in outcome.notes if "lowest tenth" in note]


def test_a_sample_says_it_too(
    study: Study, scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(study)
    monkeypatch.setattr(scripted, "answer", between(1, 5))
    outcome = judge_study(study, ScriptedSettings(name="j", limit=20))
    (note,) = [note for note in outcome.notes if "lowest tenth" in note]
    assert note.startswith("All 2")
    assert "from 1 to 5" in note


@pytest.mark.parametrize(
    ("scale", "values"),
    [
        ((0, 100), [0.0] * 99),
        ((0, 100), [*[1.0, 2.0, 3.0] * 40, 11.0]),
        ((1, 5), [1.0, 1.2] * 60),
    ],
    ids=["one value", "one above", "short scale"],
)
def test_what_is_not_taken_for_another_scale(
    scale: tuple[float, float], values: list[float]
) -> None:
    use = ScaleUse(RatingScale(min=scale[0], max=scale[1]), {}, accept=False)
    use.add({"value": value, "rule": "bare"} for value in values)
    use.check()
    assert use.note() is None


def test_scores_of_empty_responses_do_not_count() -> None:
    use = ScaleUse(RatingScale(), {}, accept=False)
    use.add({"value": 0.0, "rule": "empty_response"} for _ in range(90))
    use.add({"value": 90.0, "rule": "bare"} for _ in range(9))
    assert use.note() is None

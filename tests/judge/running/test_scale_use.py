"""A run whose scores are all in the lowest tenth of the scale stops and says what it saw."""

import json
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from judge import FilesSettings, RunStoppedError, judge_study, show_run
from judge.protocol.exchange import Answer
from judge.run_settings import JudgeSettings
from judge.running.scale_use import ENOUGH, ScaleUse
from study import Study
from study.base.scales import Scale
from tests.judge.running.stored_judgments import judgments
from tests.judge.small_studies import Scripted, ScriptedSettings, fill


def between(low: int, high: int) -> Any:
    """Return a function for an engine's class with scores from `low` to `high`."""

    def answered(prompt: str) -> Answer:
        drawn = int.from_bytes(blake2b(prompt.encode(), digest_size=4).digest(), "big")
        return Answer(str(low + drawn % (high - low + 1)), prompt_tokens=10, completion_tokens=1)

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


def test_an_estimate_stops_as_well(
    study: Study, scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(study)
    monkeypatch.setattr(scripted, "answer", between(1, 10))
    with pytest.raises(RunStoppedError, match="seems to rate from 1 to 10") as stopped:
        judge_study(study, ScriptedSettings(name="j", estimate=55))
    assert stopped.value.outcome.sample
    assert ENOUGH <= len(judgments(study)) < 60


@pytest.mark.parametrize("number", [10, 40])
def test_a_small_estimate_stops_at_its_end(
    study: Study, scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    fill(study)
    monkeypatch.setattr(scripted, "answer", between(1, 10))
    with pytest.raises(RunStoppedError, match="seems to rate from 1 to 10") as stopped:
        judge_study(study, ScriptedSettings(name="j", estimate=number))
    outcome = stopped.value.outcome
    assert (outcome.answered, outcome.estimate) == (number, None)
    assert "counted no tokens" not in "\n".join(outcome.lines())
    assert [call.ended for call in show_run(study, "j").calls] == ["stopped"]
    settings = ScriptedSettings(name="j", estimate=10, accept_low_scores=True)
    assert judge_study(study, settings).answered == 10


def recorded(study: Study, folder: Path) -> JudgeSettings:
    """Return the settings for answers from 1 to 5 in a file."""
    rows = [
        {"query_id": f"q{q}", "system": system, "construct": construct, "answer": str(1 + q)}
        for q in (1, 2, 3)
        for system in "ABCD"
        for construct in ("QR", "CC", "ID", "AC", "IR")
    ]
    path = folder / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return FilesSettings(model="other", answers=(path,))


def batch(study: Study, folder: Path) -> JudgeSettings:
    """Send a batch; return the settings for its results, which are from 1 to 5."""
    judge_study(study, FilesSettings(model="other", requests=folder / "sent"))
    (sent,) = (folder / "sent").glob("*.jsonl")
    results = []
    for number, line in enumerate(sent.read_text(encoding="utf-8").splitlines()):
        message = {"message": {"content": str(1 + number % 5)}, "finish_reason": "stop"}
        response = {"status_code": 200, "body": {"model": "m", "choices": [message]}}
        name = json.loads(line)["custom_id"]
        results.append(json.dumps({"custom_id": name, "response": response, "error": None}))
    path = folder / "results.jsonl"
    path.write_text("\n".join(results), encoding="utf-8")
    return FilesSettings(model="other", answers=(path,))


@pytest.mark.parametrize("settings_of", [recorded, batch])
def test_answers_obtained_elsewhere_stop_the_run_as_well(
    study: Study, tmp_path: Path, settings_of: Callable[[Study, Path], JudgeSettings]
) -> None:
    fill(study)
    settings = settings_of(study, tmp_path)
    with pytest.raises(RunStoppedError, match="seems to rate from 1 to 5"):
        judge_study(study, settings)
    assert len(judgments(study)) >= ENOUGH
    accepted = settings.model_copy(update={"accept_low_scores": True})
    assert judge_study(study, accepted).remaining == 0


def test_one_construct_on_another_scale_is_named(
    study: Study, scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(study, queries=13)
    low, whole = between(1, 5).__func__, between(0, 100).__func__

    def answered(prompt: str) -> Answer:
        answer: Answer = (low if "Question Relevance" in prompt else whole)(prompt)
        return answer

    monkeypatch.setattr(scripted, "answer", staticmethod(answered))
    settings = ScriptedSettings(name="j", constructs=("QR", "CC"))
    few = judge_study(study, settings.model_copy(update={"systems": ("A",)}))
    (note,) = [note for note in few.notes if "lowest tenth" in note]
    assert note.startswith("All 13 scores so far on QR are from 1 to 5, in the lowest tenth")
    with pytest.raises(RunStoppedError, match=r"All 5[01] scores so far on QR are from 1 to 5"):
        judge_study(study, settings)


def rows(values: list[float], rule: str) -> list[dict[str, Any]]:
    return [{"construct_key": "QR", "value": value, "rule": rule} for value in values]


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
    use = ScaleUse(lambda _: Scale(min=scale[0], max=scale[1]), accept=False)
    use.add(rows(values, "bare"))
    use.check()
    assert use.note() is None


def test_scores_of_empty_responses_do_not_count() -> None:
    use = ScaleUse(lambda _: Scale(), accept=False)
    use.add(rows([0.0] * 90, "empty_response"))
    use.add(rows([90.0] * 9, "bare"))
    assert use.note() is None

"""The manual's page on rubrics of one's own, as it is written."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge import compare_pairs, judge_study
from judge.protocol.exchange import Answer
from study import Study
from tests.judge.small_studies import Scripted, ScriptedSettings, always, store

PAGE = (Path(__file__).parents[3] / "data/manual/own_rubric.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"(?:`([\w./-]+)`:\n\n)?```(toml|text|python)\n(.*?)```", PAGE, re.DOTALL)
FILES = {name: text for name, _, text in BLOCKS if name}


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    settings = next(text for name, kind, text in BLOCKS if kind == "toml" and not name)
    folder = tmp_path / "my-study"
    made = Study.create(folder, settings)
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    store(
        made,
        *(
            {"query_id": "q", "query": "Where is my parcel?", "system": s, "response": text}
            for s, text in (("a", "It comes tomorrow."), ("b", "No idea."))
        ),
    )
    yield made
    made.close()


def test_a_prompt_of_ones_own_scores_a_construct(study: Study, scripted: type[Scripted]) -> None:
    scripted.answer = staticmethod(lambda prompt: Answer("4" if "tomorrow" in prompt else "2"))
    judge_study(study, ScriptedSettings(prompts="tone-v1"))
    assert sorted(study.score_table()["value"]) == [2, 4]
    assert all("from 1 (rude) to 5 (friendly)" in request.prompt for request in scripted.asked)


def test_pairs_need_no_prompt(study: Study, scripted: type[Scripted]) -> None:
    scripted.answer = always(Answer("2"))
    assert compare_pairs(study, ScriptedSettings()).answered == 2
    assert "Is the response friendly without being familiar?" in scripted.asked[0].prompt
    assert study.preference_table()["value"].tolist() == [0]


def test_a_metric_in_steps_scores_and_says_why_it_does_not(
    study: Study, scripted: type[Scripted], tmp_path: Path
) -> None:
    def answer(prompt: str) -> Answer:
        if "No idea" in prompt:
            return Answer("There are none.")
        if "List each promise" in prompt:
            return Answer(json.dumps(["comes", "tomorrow"]))
        return Answer('{"1": "yes", "2": "no"}')

    scripted.answer = staticmethod(answer)
    judge_study(study, ScriptedSettings(metric=str(tmp_path / "promises.py")))
    table = study.score_table().set_index("system")
    # Half of the promises: the middle of the scale from 1 to 5.
    assert table.loc["a", "value"] == 3
    assert table.loc["b", "missing_reason"] == "promises_unreadable"

"""The manual's page on rubrics of one's own, as it is written."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from judge import compare_pairs, judge_metrics, judge_study, show_response
from judge.metrics.registry import metric_names
from judge.protocol.exchange import Answer
from study import Study
from study.cli.root import cli
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


def friendly(prompt: str) -> Answer:
    return Answer("yes" if "tomorrow" in prompt else "No.")


def test_the_first_example_has_as_many_lines_as_its_heading_says(
    study: Study, scripted: type[Scripted], tmp_path: Path
) -> None:
    first = next(text for _, kind, text in BLOCKS if kind == "python")
    assert first == FILES["friendly.py"]
    number = len([line for line in first.splitlines() if line.strip()])
    assert f"## A metric in {number} lines of Python\n" in PAGE
    scripted.answer = staticmethod(friendly)
    judge_study(study, ScriptedSettings(metric=str(tmp_path / "friendly.py")))
    table = study.score_table().set_index("system")["value"]
    assert (table["a"], table["b"]) == (5, 1)
    command = re.search(r"`ccrs (measure show my-study RESPONSE .*?)`", PAGE)
    assert command is not None
    names = {"my-study": str(study.folder), "friendly.py": str(tmp_path / "friendly.py")}
    names["RESPONSE"] = study.score_table()["response_id"].iloc[0]
    words = [names.get(word, word) for word in command[1].split()]
    page = CliRunner().invoke(cli, words).output
    assert "friendly  tone  5\n" in page
    assert page.endswith("  raw answers:\n    ask (the response): yes\n")
    assert "name its file" in CliRunner().invoke(cli, words[:-2]).output


def test_a_metric_of_another_package_is_found_by_its_key(
    study: Study, scripted: type[Scripted], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, entry = tmp_path / "site", next(t for _, _, t in BLOCKS if "entry-points" in t)
    package, info = site / "my_package", site / "my_package-1.0.dist-info"
    for folder in (package, info):
        folder.mkdir(parents=True)
    (package / "__init__.py").touch()
    for name in ("friendly.py", "friendly.toml"):
        (package / name).write_text(FILES[name], encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    declared = entry.replace('[project.entry-points."ccrs.metrics"]', "[ccrs.metrics]")
    (info / "entry_points.txt").write_text(declared.replace('"', ""))
    monkeypatch.syspath_prepend(str(site))
    scripted.answer = staticmethod(friendly)
    [outcome] = judge_metrics(study, ScriptedSettings(metric="friendly"))
    assert (outcome.judged, outcome.missing) == (2, {})
    assert sorted(study.score_table()["value"]) == [1, 5]
    shown = show_response(study, outcome.run, study.score_table()["response_id"].iloc[0])
    assert shown.constructs[0].steps[0].step == "ask"
    assert "friendly" in metric_names()


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

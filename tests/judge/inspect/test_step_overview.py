"""Claims and labels of a response at the top of its page."""

import json

from judge import judge_study, show_response
from judge.inspect.step_overview import overview
from study import Study
from tests.judge.metrics.test_ragchecker import scripted_answer
from tests.judge.small_studies import Scripted, ScriptedSettings, fill


def test_lists_and_labels_have_lines() -> None:
    claims = ["A question?", "The text\nof a response."]
    assert overview("claims", claims, '["One.", "Two."]') == [
        "  claims of 'The text of a response.'",
        "    - One.",
        "    - Two.",
    ]
    assert overview("claims", claims, "[]")[1:] == ["    (none)"]
    checked = ["A question?", "x" * 200, "1. One.\n2. Two."]
    assert overview("check", checked, '{"1": "entailed"}') == [
        f"  check by '{'x' * 100}...'",
        "    entailed: One.",
        "    (no label): Two.",
    ]
    for answer in (None, "prose", "3", '"word"'):
        assert overview("check", checked, answer) == []


def test_the_page_of_a_response_begins_with_them(study: Study, scripted: type[Scripted]) -> None:
    fill(study, queries=1)
    scripted.answer = staticmethod(scripted_answer)
    outcome = judge_study(study, ScriptedSettings(metric="ragchecker-faithfulness"))
    table = study.score_table().query("scorer == @outcome.run and system == 'A'")
    shown = show_response(study, outcome.run, table["response_id"].iloc[0])
    lines = shown.lines()
    first = lines.index("  prompt of the step claims:")
    assert "    - First: Answer 1 of A." in lines[:first]
    assert "  check by 'A passage. (1)'" in lines[:first]
    assert "  check by 'Another one. (1)'" in lines[:first]
    assert lines[:first].count("    entailed: First: Answer 1 of A.") == 2
    assert json.loads(json.dumps(shown.as_json()))["constructs"][0]["steps"][0]["fields"]

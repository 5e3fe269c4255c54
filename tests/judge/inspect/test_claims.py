"""Claims and labels of a response at the top of its page."""

import json

from judge import judge_study, show_response
from study import Study
from tests.judge.metrics.test_ragchecker import scripted_answer
from tests.judge.small_studies import Scripted, ScriptedSettings, fill


def test_the_page_of_a_response_begins_with_them(study: Study, scripted: type[Scripted]) -> None:
    fill(study, queries=1)
    scripted.answer = staticmethod(scripted_answer)
    outcome = judge_study(study, ScriptedSettings(metric="ragchecker-faithfulness"))
    table = study.score_table().query("scorer == @outcome.run and system == 'A'")
    shown = show_response(study, outcome.run, table["response_id"].iloc[0])
    lines = shown.lines()
    first = lines.index("  prompt of the step claims (the response):")
    at = lines.index("    - First: Answer 1 of A.")
    assert lines[at - 1] == "  claims of the response:"
    assert lines[at + 1] == "        entailed: passages 1, 2"
    assert at < first
    [evaluation] = json.loads(json.dumps(shown.as_json()))["constructs"][0]["claims"]
    assert evaluation["claims"][0] == {
        "of": "claims of the response",
        "text": "First: Answer 1 of A.",
        "labels": ["entailed: passages 1, 2"],
    }

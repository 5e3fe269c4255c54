"""Claims and labels of a response at the top of its page."""

import json

from judge import judge_study, show_response
from judge.protocol.exchange import Answer
from study import Study
from tests.judge.metrics.test_ragchecker import scripted_answer
from tests.judge.small_studies import Scripted, ScriptedSettings, always, fill


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


def test_sentences_are_labeled_by_the_question(study: Study, scripted: type[Scripted]) -> None:
    fill(study, queries=1)
    # Lines in place of JSON are labels as well.
    scripted.answer = always(Answer("1: needed\n2: unneeded\n3: needed\n4: unneeded"))
    outcome = judge_study(study, ScriptedSettings(metric="ragas-context-relevance"))
    table = study.score_table().query("scorer == @outcome.run and system == 'A'")
    lines = show_response(study, outcome.run, table["response_id"].iloc[0]).lines()
    at = lines.index("  extraction:")
    assert lines[at + 1 : at + 3] == ["    - A passage.", "        needed: the question"]
    assert "    - Another one." in lines[at:]

"""Claims and labels of a response at the top of its page."""

import json
from collections.abc import Sequence

from judge import judge_study, show_response
from judge.inspect.claims import LabeledClaims
from judge.metrics.evaluation import KnownAnswer, evaluate
from judge.metrics.metric import Content, Metric, MetricInput, Prompt
from judge.metrics.registry import load_metric
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


class Labeled:
    """The claims of a response whose sentences are claims; a text entails those that it has."""

    def __init__(
        self, metrics: Sequence[str], response: str, reference: str, passages: Sequence[str] = ()
    ) -> None:
        self.titles: list[str] = []
        claims = LabeledClaims()
        content = Content(1, 1, b"", "What?", (reference,), response, (*passages,), 0, 0, True)
        for key in metrics:
            metric = load_metric(key)
            shown = MetricInput(
                content, metric.constructs[0], frozenset(metric.fields), (*passages,),
                "\n\n".join(passages),
            )  # fmt: skip

            def known(
                prompt: Prompt, metric: Metric = metric, shown: MetricInput = shown
            ) -> KnownAnswer:
                answer = answered(prompt)
                claims.add(metric, shown, prompt, answer)
                self.titles.append(claims.title(metric, shown, prompt))
                return KnownAnswer(Answer(answer), 1)

            assert evaluate(metric, shown, known).result is not None
        self.labels = {(claim.of, claim.text): claim.labels for claim in claims.listed()}


def answered(prompt: Prompt) -> str:
    if prompt.compared is not None:
        return "0.5"
    *_, text, shown = prompt.parts[1::2]
    items = [line.split(". ", 1)[-1] for line in shown.split("\n")]
    if prompt.step in {"claims", "statements"}:
        return json.dumps([f"{part.strip(' .')}." for part in shown.split(". ")])
    if prompt.step == "check_together":
        return json.dumps({str(n): [1] for n, _ in enumerate(items, 1)})
    yes, no = {"check": ("entailed", "neutral"), "presence": ("present", "absent")}[prompt.step]
    return json.dumps({str(n): yes if item in text else no for n, item in enumerate(items, 1)})


def test_a_claim_of_two_lists_has_the_labels_of_each() -> None:
    metrics = ("ragchecker-f1", "ragchecker-faithfulness")
    found = Labeled(metrics, "A. B.", "A. C.", ["A."])
    assert found.labels == {
        ("claims of the response", "A."): ["entailed: passage 1, the reference"],
        ("claims of the response", "B."): ["neutral: passage 1, the reference"],
        ("claims of the reference", "A."): ["entailed: the response"],
        ("claims of the reference", "C."): ["neutral: the response"],
    }
    assert found.titles[2:4] == [
        "check (claims of the response, the reference)",
        "check (claims of the reference, the response)",
    ]
    # The sixth claim has a prompt alone, and is the only one of the reference.
    found = Labeled(metrics, "A. B. C. D. E. F.", "F.", ["F. X."])
    assert found.labels["claims of the response", "F."] == ["entailed: passage 1, the reference"]
    assert found.labels["claims of the reference", "F."] == ["entailed: passage 1, the response"]


def test_equal_lists_share_the_labels_of_the_prompts_that_they_share() -> None:
    metrics = ("ragchecker-precision", "ragchecker-faithfulness", "ragchecker-claim-recall")
    found = Labeled(metrics, "A.", "A", ["B."])
    assert found.labels == {
        ("claims of the response", "A."): ["neutral: passage 1, the reference"],
        ("claims of the reference", "A."): ["neutral: passage 1"],
    }
    assert found.titles[-1] == "check (claims of the response, claims of the reference, passage 1)"
    # The statements of both directions are equal, so each is looked for in an equal list.
    found = Labeled(("ragas-answer-correctness",), "A. B.", "A. C.")
    assert found.labels["statements of the response", "A."] == [
        "present: statements of the reference"
    ]
    assert found.labels["statements of the reference", "C."] == [
        "absent: statements of the response"
    ]


def test_equal_texts_have_all_of_their_names() -> None:
    metrics = ("ragchecker-f1", "ragchecker-faithfulness")
    found = Labeled(metrics, "A.", "A.", ["A.", "B.", "A."])
    of = "claims of the reference and the response"
    assert found.labels == {
        (of, "A."): ["entailed: passages 1, 3, the reference, the response", "neutral: passage 2"]
    }
    texts = "passages 1, 3, the reference, the response"
    assert list(dict.fromkeys(found.titles)) == [
        f"claims ({texts})",
        f"check ({of}, {texts})",
        f"check ({of}, passage 2)",
    ]


def test_numbers_of_passages_are_those_of_passages_with_text() -> None:
    found = Labeled(("ragchecker-together-faithfulness",), "A.", "B.", [" ", "A.", "A."])
    assert found.labels["claims of the response", "A."] == ["entailed: passage 2"]

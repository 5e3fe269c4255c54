import pytest

from judge.metrics.context_usage import ContextUsage, NovelWords
from judge.metrics.evaluation import evaluate
from judge.metrics.metric import Content, Metric, MetricValue, MissingValue
from judge.running.shown_texts import ShownTexts

PASSAGES = ("The Seine flows.", "The Rhine flows too!")  # the, seine, flows, rhine, too


def measured(metric: Metric, text: str, passages: tuple[str, ...]) -> object:
    content = Content(1, 1, b"context", "?", (), text, passages, 0, len(passages), True)
    return evaluate(metric, ShownTexts(metric).input_of(content, "CC")).result


@pytest.mark.parametrize(
    ("text", "usage", "novel"),
    [
        ("The Seine, the Seine", 2 / 5, 0),
        ("Paris: SEINE", 1 / 5, 1 / 2),
        ("Berlin", 0, 1),
        ("too flows the rhine seine", 1, 0),
    ],
)
def test_shares_are_those_counted_by_hand(text: str, usage: float, novel: float) -> None:
    for metric, share in ((ContextUsage(), usage), (NovelWords(), novel)):
        assert measured(metric, text, PASSAGES) == MetricValue(share)


@pytest.mark.parametrize(
    ("text", "passages", "reason"),
    [
        (" ", PASSAGES, "empty_response"),
        ("?", PASSAGES, "response_without_words"),
        ("Paris", ("...",), "passages_without_words"),
    ],
)
def test_a_text_without_words_has_a_reason(
    text: str, passages: tuple[str, ...], reason: str
) -> None:
    for metric in (ContextUsage(), NovelWords()):
        assert measured(metric, text, passages) == MissingValue(reason)

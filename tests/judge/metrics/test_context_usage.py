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
    ("text", "passages", "usage", "novel"),
    [
        # A share of no words is undefined; one in which nothing counts is 0.
        (" ", PASSAGES, MetricValue(0), MissingValue("response_without_words")),
        ("?", PASSAGES, MetricValue(0), MissingValue("response_without_words")),
        ("Paris", ("...",), MissingValue("passages_without_words"), MetricValue(1)),
    ],
)
def test_a_share_of_no_words_has_a_reason(
    text: str,
    passages: tuple[str, ...],
    usage: MetricValue | MissingValue,
    novel: MetricValue | MissingValue,
) -> None:
    assert measured(ContextUsage(), text, passages) == usage
    assert measured(NovelWords(), text, passages) == novel

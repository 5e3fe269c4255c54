"""The RAG triad of TruLens (package trulens 2.16.0), on points from 0 to 3 divided by 3.

An answer that is not one of the points has no value, where the package takes the smallest number of
the text or stores 0.
"""

from judge.metrics.metric import Metric, MetricInput, MetricValue, MissingValue, Steps
from judge.metrics.step_readers import labels_in, word_in
from judge.parsing.structured_answers import numbered, on_one_line
from judge.prompts.answer_schema import labels_schema, word_schema
from judge.prompts.step_prompts import step_prompts
from study.base.scales import Scale
from study.sentences import sentences
from study.settings.constructs import RETRIEVAL
from study.types import Sees

_POINTS = ("0", "1", "2", "3")
_MOST = 3
_SUPPORT = ("trivial", "abstains", *_POINTS)
_POINT = word_schema(_POINTS)


class TruLens(Metric):
    """Base of the metrics."""

    key = "trulens"
    version = "6"
    constructs: tuple[str, ...] = ()
    fields: tuple[Sees, ...] = ()
    scorer_kind = "metric"
    scale = Scale(min=0, max=1)
    prompts = step_prompts(__file__)


class TruLensContextRelevance(TruLens):
    """Mean relevance of the passages to the question; 0 where none of them has a text."""

    key = "trulens-context-relevance"
    constructs = (RETRIEVAL.key,)
    fields = ("question", "context")

    def score(self, response: MetricInput) -> Steps:
        """Ask for a point for each passage."""
        passages = [passage for passage in response.passages if passage.strip()]
        if not passages:
            return MetricValue(0.0, "no_passages_with_text")
        answers = yield [
            self.prompt("passage", _POINT, question=response.question, passage=passage)
            for passage in passages
        ]
        points = [int(word_in(answer, _POINTS)) for answer in answers]
        return MetricValue(sum(points) / (_MOST * len(points)), parts={"passages": len(points)})


class TruLensAnswerRelevance(TruLens):
    """Relevance of the response to the question."""

    key = "trulens-answer-relevance"
    constructs = ("QR",)
    fields = ("question", "response")

    def score(self, response: MetricInput) -> Steps:
        """Ask for a point."""
        prompt = self.prompt(
            "answer", _POINT, question=response.question, response=response.response
        )
        [answer] = yield [prompt]
        return MetricValue(int(word_in(answer, _POINTS)) / _MOST)


class TruLensGroundedness(TruLens):
    """Mean support of the response's sentences by the passages.

    Trivial sentences do not count; one that abstains counts as supported.
    """

    key = "trulens-groundedness"
    constructs = ("CC",)
    fields = ("response", "context")

    def score(self, response: MetricInput) -> Steps:
        """Label all sentences with one prompt."""
        found = [on_one_line(sentence) for sentence in sentences(response.response)]
        if not found:
            return MissingValue("no_statements")
        schema = labels_schema(len(found), _SUPPORT)
        [answer] = yield [
            self.prompt("support", schema, context=response.context, sentences=numbered(found))
        ]
        labels = labels_in(answer, len(found), _SUPPORT)
        points = [_MOST if x == "abstains" else int(x) for x in labels if x != "trivial"]
        if not points:
            return MissingValue("no_statements")
        parts = {"sentences": len(found), "counted": len(points)}
        return MetricValue(sum(points) / (_MOST * len(points)), parts=parts)

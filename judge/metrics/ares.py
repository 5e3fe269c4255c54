"""The yes/no questions of ARES (Saad-Falcon et al. 2023, arXiv 2311.09476), asked of a judge.

ARES corrects the share of yes of each system by labeled responses (prediction-powered inference).
The two that are on constructs are judges in tables, so that the report corrects their means by the
ratings of people, with an interval that also covers at few labels:
`analysis/statistics/correction`.
"""

from judge.metrics.metric import Metric, MetricInput, MetricValue, Steps
from judge.metrics.step_readers import word_in
from judge.prompts.answer_schema import word_schema
from judge.prompts.step_prompts import step_prompts
from study.base.scales import Scale
from study.settings.constructs import RETRIEVAL
from study.types import Sees

_WORDS = ("yes", "no")


class Ares(Metric):
    """Base of the metrics: 1 for yes, 0 for no."""

    key = "ares"
    version = "4"
    constructs: tuple[str, ...] = ()
    fields: tuple[Sees, ...] = ()
    scale = Scale(min=0, max=1)
    prompts = step_prompts(__file__)
    step = ""

    def score(self, response: MetricInput) -> Steps:
        """Ask the question about the fields of the metric."""
        values = {name: getattr(response, name) for name in self.fields}
        [answer] = yield [self.prompt(self.step, word_schema(_WORDS), **values)]
        return MetricValue(float(word_in(answer, _WORDS) == "yes"))


class AresContextRelevance(Ares):
    """Whether the passages contain what is needed to answer the question."""

    scorer_kind = "metric"
    key = "ares-context-relevance"
    constructs = (RETRIEVAL.key,)
    fields = ("question", "context")
    step = "context"


class AresAnswerFaithfulness(Ares):
    """Whether the passages support all that the response states."""

    key = "ares-answer-faithfulness"
    constructs = ("CC",)
    fields = ("context", "response")
    step = "faithfulness"


class AresAnswerRelevance(Ares):
    """Whether the response answers the question."""

    key = "ares-answer-relevance"
    constructs = ("QR",)
    fields = ("question", "response")
    step = "relevance"

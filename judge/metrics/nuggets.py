"""Nugget recall as AutoNuggetizer scores it (TREC RAG 2024; Pradeep et al. 2024, arXiv 2411.09607).

Nuggets are the short facts of the reference answer. Each is vital or okay for the question, and a
response supports it (1), supports it in part (.5, or 0 where the score is strict) or does not
support it (0). With s these points of a response, the scores are

    vital     sum of s over vital nuggets / vital nuggets
    all       sum of s over all nuggets / nuggets
    weighted  (sum over vital + .5 x sum over okay) / (vital nuggets + .5 x okay nuggets)

The track makes nuggets from judged passages and responses, here they come from the reference
answer. A reference answer without vital nuggets has no vital score, where the package stores 0.
"""

from collections.abc import Generator, Sequence
from typing import ClassVar, NamedTuple

from judge.metrics.metric import Metric, MetricInput, MetricValue, NoValueError, Prompt, Steps
from judge.metrics.step_readers import labels_in, list_in
from judge.parsing.structured_answers import numbered
from judge.prompts.answer_schema import labels_schema, list_schema
from judge.prompts.step_prompts import step_prompts
from judge.protocol.exchange import Answer
from study.base.scales import Scale
from study.types import Sees

NUGGETS_A_PROMPT = 10
"""Nuggets that one prompt labels, as in the authors' package."""
_NUGGETS = list_schema("nuggets")
_VITAL = "vital"
_IMPORTANCE = (_VITAL, "okay")
_SUPPORT = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}


class Nugget(NamedTuple):
    """A fact of the reference answer."""

    vital: bool
    support: str
    """A key of the points of a response, such as `partial_support`."""


Labels = Generator[Sequence[Prompt], Sequence[Answer], list[str]]


class NuggetRecall(Metric):
    """Base of the metrics, which share all prompts."""

    key = "nuggets"
    constructs: tuple[str, ...] = ()
    fields: tuple[Sees, ...] = ("question", "response", "reference")
    scorer_kind = "metric"
    scale = Scale(min=0, max=1)
    steps = 3
    items_a_prompt = NUGGETS_A_PROMPT
    reference_reasons = ("no_nuggets", "no_vital_nuggets")
    prompts = step_prompts(__file__)
    vital_weight: ClassVar[float] = 1.0
    okay_weight: ClassVar[float] = 1.0
    strict: ClassVar[bool] = False
    """Whether partial support counts as none."""

    def score(self, response: MetricInput) -> Steps:
        """List the nuggets, label their importance, and label their support."""
        if not response.reference.strip():
            raise NoValueError("no_nuggets")
        [answer] = yield [
            self.prompt("nuggets", _NUGGETS, question=response.question, text=response.reference)
        ]
        texts = list_in(answer, "nuggets")
        if not texts:
            raise NoValueError("no_nuggets")
        importance = yield from self._labels(
            "importance", texts, _IMPORTANCE, question=response.question
        )
        if _VITAL not in importance and not self.okay_weight:
            raise NoValueError("no_vital_nuggets")
        support = ["not_support"] * len(texts)
        if response.response.strip():
            shown = {"question": response.question, "response": response.response}
            support = yield from self._labels("support", texts, tuple(_SUPPORT), **shown)
        return self.value(
            [Nugget(i == _VITAL, s) for i, s in zip(importance, support, strict=True)]
        )

    def value(self, nuggets: Sequence[Nugget]) -> MetricValue:
        """Return the weighted mean of the points, with the numbers of nuggets as parts."""
        weights = [self.vital_weight if n.vital else self.okay_weight for n in nuggets]
        points = [self._points(nugget.support) for nugget in nuggets]
        total = sum(weight * point for weight, point in zip(weights, points, strict=True))
        parts: dict[str, float] = {"vital": sum(n.vital for n in nuggets), "of": len(nuggets)}
        parts |= {label: sum(n.support == label for n in nuggets) for label in _SUPPORT}
        return MetricValue(total / sum(weights), parts=parts)

    def _points(self, support: str) -> float:
        points = _SUPPORT[support]
        return float(points == 1) if self.strict else points

    def _labels(
        self, step: str, texts: Sequence[str], labels: tuple[str, ...], /, **shown: str
    ) -> Labels:
        blocks = [
            texts[first : first + NUGGETS_A_PROMPT]
            for first in range(0, len(texts), NUGGETS_A_PROMPT)
        ]
        answers = yield [
            self.prompt(step, labels_schema(len(some), labels), **shown, nuggets=numbered(some))
            for some in blocks
        ]
        return [
            label
            for some, answer in zip(blocks, answers, strict=True)
            for label in labels_in(answer, len(some), labels)
        ]


class VitalStrict(NuggetRecall):
    """Share of the vital nuggets that the response supports: the track's main score."""

    key = "nugget-vital-strict"
    constructs = ("IR",)
    okay_weight = 0.0
    strict = True


class AllStrict(NuggetRecall):
    """Share of all nuggets that the response supports."""

    key = "nugget-all-strict"
    constructs = ("IR",)
    strict = True


class WeightedStrict(NuggetRecall):
    """Share of the nuggets that the response supports, with half the weight for okay ones."""

    key = "nugget-weighted-strict"
    constructs = ("IR",)
    okay_weight = 0.5
    strict = True


class Vital(NuggetRecall):
    """`nugget-vital-strict` with half a point for partial support."""

    key = "nugget-vital"
    constructs = ("IR",)
    okay_weight = 0.0


class All(NuggetRecall):
    """`nugget-all-strict` with half a point for partial support."""

    key = "nugget-all"
    constructs = ("IR",)


class Weighted(NuggetRecall):
    """`nugget-weighted-strict` with half a point for partial support."""

    key = "nugget-weighted"
    constructs = ("IR",)
    okay_weight = 0.5

"""Comparison of two responses to a query on any construct of a study.

The prompt states the construct's name and its question to raters, and shows what the construct
sees. The value is a preference: 1 where the second response is better, -1 where the first is, and
0 for a tie. Each pair is asked in both orders: `judge.running.pairs`.
"""

from collections.abc import Iterable

from judge.metrics.metric import (
    Metric,
    MetricInput,
    MetricValue,
    NoValueError,
    Prompt,
    Steps,
)
from judge.parsing.choices import FIRST, SECOND, read_choice
from judge.prompts.answer_schema import word_schema
from judge.prompts.step_prompts import step_prompts
from judge.protocol.exchange import Answer
from study.base.scales import Scale
from study.settings.constructs import ConstructSpec
from study.types import Sees

_CHOICE = word_schema(("1", "2", "tie"))
_REASONS = {"no_score": "no_choice", "several_scores": "several_choices"}


class Pairwise(Metric):
    """Which of two responses is better on a construct."""

    key = "pairwise"
    fields = ("question", "response", "context", "reference")
    scale = Scale(min=FIRST, max=SECOND)
    prompts = step_prompts(__file__)
    single_prompt = True

    def __init__(self, constructs: Iterable[ConstructSpec]) -> None:
        self._constructs = {construct.key: construct for construct in constructs}
        self.constructs = tuple(self._constructs)

    def reads(self, construct: str) -> frozenset[Sees]:
        """Return what the construct sees, and the response."""
        return frozenset({*self._constructs[construct].sees, "response"})

    def score(self, response: MetricInput) -> Steps:
        """Compare a response with the one beside it, and read the answer.

        A response alone is compared with itself: an engine tests itself on such prompts.
        """
        [answer] = yield [self._compare(response, response.second or response)]
        return self._preference(answer, response.construct)

    def _compare(self, first: MetricInput, second: MetricInput) -> Prompt:
        """Return the prompt that shows two responses to a query in this order."""
        construct = self._constructs[first.construct]
        shown: list[Prompt] = []
        if "question" in construct.sees:
            shown.append(self.prompt("question", question=first.question))
        texts = [first.response, second.response]
        if "context" in construct.sees:
            if first.content.context_hash == second.content.context_hash:
                if first.context:
                    shown.append(self.prompt("passages", context=first.context))
            else:
                texts = [
                    self._with_passages(each, number)
                    for number, each in enumerate((first, second), 1)
                ]
        if "reference" in construct.sees and first.reference:
            shown.append(self.prompt("reference", reference=first.reference))
        return self.prompt(
            "compare",
            _CHOICE,
            shown="\n\n".join(part.text for part in shown),
            first=texts[0],
            second=texts[1],
            construct=construct.name,
            construct_question=construct.question,
        )

    def _preference(self, answer: Answer, construct: str) -> MetricValue:
        """Return the preference in an answer.

        Raises
        ------
        NoValueError
            The answer makes no choice.
        """
        spec = self._constructs[construct]
        parsed = read_choice(answer.text, answer.finish_reason, (spec.key, spec.name))
        if parsed.value is None:
            reason = parsed.reason or "no_score"
            raise NoValueError(_REASONS.get(reason, reason))
        return MetricValue(parsed.value, parsed.rule)

    def _with_passages(self, response: MetricInput, number: int) -> str:
        if not response.context:
            return response.response
        return self.prompt(
            "with_passages",
            response=response.response,
            number=str(number),
            context=response.context,
        ).text

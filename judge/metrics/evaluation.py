"""A metric applied to one response, as far as the answers to its prompts are known."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from judge.metrics.metric import Metric, MetricInput, MetricValue, MissingValue, Prompt
from judge.protocol.exchange import Answer
from study.errors import StudyError

OUT_OF_RANGE = "out_of_range"


class KnownAnswer(NamedTuple):
    """A stored answer to a prompt."""

    answer: Answer
    response: int
    """Response (database key) for which the prompt was asked."""
    attempt: int = 1


class WaitingPrompt(NamedTuple):
    """A prompt that still lacks an answer."""

    number: int
    """Its place in the list that the metric yielded, from 0."""
    prompt: Prompt


@dataclass(frozen=True)
class Evaluation:
    """How far a metric comes with the answers that are known."""

    result: MetricValue | MissingValue | None
    """None: prompts wait for answers."""
    waiting: tuple[WaitingPrompt, ...] = ()
    used: tuple[KnownAnswer, ...] = ()
    """The known answers that were sent, in their order."""


def evaluate(
    metric: Metric,
    response: MetricInput,
    known: Callable[[Prompt], KnownAnswer | None] = lambda _: None,
) -> Evaluation:
    """Run a metric from its beginning, sending the answers that are known.

    Parameters
    ----------
    metric, response
        What is evaluated.
    known
        Returns the stored answer to a prompt; None where there is none yet.

    Raises
    ------
    StudyError
        The metric breaks a rule: it yields more lists than `steps` allows, or returns something
        else than a value. What the metric's own code raises is passed on with the metric's name.
    """
    steps = metric.score(response)
    used: list[KnownAnswer] = []
    answers: list[Answer] | None = None
    for _ in range(metric.steps + 1):
        try:
            prompts = next(steps) if answers is None else steps.send(answers)
        except StopIteration as end:
            return Evaluation(_checked(metric, end.value), (), tuple(used))
        except StudyError:
            raise
        except Exception as error:
            raise StudyError(
                f"The metric {metric.key} failed on {response.construct} of the response "
                f"{response.content.id}: {type(error).__name__}: {error}"
            ) from error
        stored = [known(prompt) for prompt in prompts]
        found = [one for one in stored if one is not None]
        used += found
        # A prompt that was cut or refused ends the evaluation: no value is made of a part.
        reason = next((one.answer.missing for one in found if one.answer.missing), None)
        if reason is not None:
            steps.close()
            return Evaluation(MissingValue(reason), (), tuple(used))
        if len(found) < len(prompts):
            steps.close()
            waiting = [
                WaitingPrompt(number, prompt)
                for number, (prompt, one) in enumerate(zip(prompts, stored, strict=True))
                if one is None
            ]
            return Evaluation(None, tuple(waiting), tuple(used))
        answers = [one.answer for one in found]
    steps.close()
    raise StudyError(
        f"The metric {metric.key} yields more than {metric.steps} lists of prompts; raise its "
        "`steps`."
    )


def decided_by(metric: Metric, response: MetricInput, answer: Answer) -> MetricValue | MissingValue:
    """Return what a metric with a single prompt makes of its answer.

    Raises
    ------
    StudyError
        The metric asks more than one prompt.
    """
    known = KnownAnswer(answer, response.content.id)
    prompts: list[Prompt] = []

    def first(prompt: Prompt) -> KnownAnswer | None:
        prompts.append(prompt)
        return known if len(prompts) == 1 else None

    found = evaluate(metric, response, first)
    if found.result is None or len(prompts) != 1:
        raise not_single(metric)
    return found.result


def not_single(metric: Metric) -> StudyError:
    """Return the fault of a metric that declares a single prompt and asks otherwise."""
    return StudyError(
        f"The metric {metric.key} declares `single_prompt`, but does not ask exactly one prompt."
    )


def _checked(metric: Metric, result: object) -> MetricValue | MissingValue:
    if isinstance(result, MissingValue):
        return result
    if not isinstance(result, MetricValue):
        raise StudyError(
            f"The metric {metric.key} returned {result!r}; return a MetricValue or a MissingValue."
        )
    if metric.scale.problem(result.value):
        return MissingValue(OUT_OF_RANGE, result.parts)
    return result

"""Evaluating a metric on one response with the answers that are known so far."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from judge.metrics.metric import (
    Metric,
    MetricInput,
    MetricValue,
    MissingValue,
    NoValueError,
    Prompt,
)
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
    """A prompt without an answer."""

    number: int
    """Its position in the list that the metric yielded, from 0."""
    prompt: Prompt


@dataclass(frozen=True)
class Evaluation:
    """The state of a metric's evaluation with the known answers."""

    result: MetricValue | MissingValue | None
    """None: some prompts have no answer yet."""
    waiting: tuple[WaitingPrompt, ...] = ()
    used: tuple[KnownAnswer, ...] = ()
    """The known answers that the metric received, in order."""
    asked: tuple[Prompt, ...] = ()
    """All prompts that it yielded, in order."""


def evaluate(
    metric: Metric,
    response: MetricInput,
    known: Callable[[Prompt], KnownAnswer | None] = lambda _: None,
) -> Evaluation:
    """Run a metric from its beginning with the known answers.

    A metric with `reference_reasons` is run with each reference answer, all at once, and the
    largest value counts; a reference answer that it can't compare with is left out, and where any
    other value is missing, the result is.

    Parameters
    ----------
    metric, response
        The metric and the response to evaluate.
    known
        Returns the stored answer to a prompt, or None.

    Raises
    ------
    StudyError
        The metric yields more lists than `steps` allows, returns anything else than a value, or
        raises an exception, which the message names.
    """
    references = [text for text in response.content.references if text.strip()]
    if metric.reference_reasons and len(references) > 1:
        each = [
            _evaluate(
                metric, replace(response, content=replace(response.content, references=(r,))), known
            )
            for r in references
        ]
        return _best(each, metric.reference_reasons)
    return _evaluate(metric, response, known)


def _best(each: Sequence[Evaluation], reference_reasons: Collection[str]) -> Evaluation:
    """Return the evaluation of a response from those with each of its reference answers."""
    asked = [len(evaluation.asked) for evaluation in each]
    # The number of a prompt tells it from the others that are asked with it.
    waiting = tuple(
        WaitingPrompt(sum(asked[:place]) + prompt.number, prompt.prompt)
        for place, evaluation in enumerate(each)
        for prompt in evaluation.waiting
    )
    used = tuple(chain(*(evaluation.used for evaluation in each)))
    prompts = tuple(chain(*(evaluation.asked for evaluation in each)))
    results = [evaluation.result for evaluation in each]
    return Evaluation(_largest(results, reference_reasons), waiting, used, prompts)


def _largest(
    results: Sequence[MetricValue | MissingValue | None], reference_reasons: Collection[str]
) -> MetricValue | MissingValue | None:
    compared = [
        result
        for result in results
        if not (isinstance(result, MissingValue) and result.reason in reference_reasons)
    ]
    missing = [result for result in compared or results if isinstance(result, MissingValue)]
    if None in results or missing:
        return None if None in results else missing[0]
    return max((r for r in compared if isinstance(r, MetricValue)), key=lambda r: r.value)


def _evaluate(
    metric: Metric, response: MetricInput, known: Callable[[Prompt], KnownAnswer | None]
) -> Evaluation:
    steps = metric.score(response)
    used: list[KnownAnswer] = []
    asked: list[Prompt] = []
    answers: list[Answer] | None = None
    for _ in range(metric.steps + 1):
        try:
            prompts = next(steps) if answers is None else steps.send(answers)
        except StopIteration as end:
            result = _checked(metric, response.construct, end.value)
            return Evaluation(result, (), tuple(used), tuple(asked))
        except NoValueError as end:
            return Evaluation(end.missing, (), tuple(used), tuple(asked))
        except StudyError:
            raise
        except Exception as error:
            raise StudyError(
                f"The metric {metric.key} failed on {response.construct} of the response "
                f"{response.content.id}: {type(error).__name__}: {error}"
            ) from error
        asked += prompts
        stored = [known(prompt) for prompt in prompts]
        present = [item for item in stored if item is not None]
        used += present
        # A prompt that was cut or refused ends the evaluation: there is no value of a part.
        reason = next((item.answer.missing for item in present if item.answer.missing), None)
        if reason is not None:
            steps.close()
            return Evaluation(MissingValue(reason), (), tuple(used), tuple(asked))
        if len(present) < len(prompts):
            steps.close()
            waiting = [
                WaitingPrompt(number, prompt)
                for number, (prompt, item) in enumerate(zip(prompts, stored, strict=True))
                if item is None
            ]
            return Evaluation(None, tuple(waiting), tuple(used), tuple(asked))
        answers = [item.answer for item in present]
    steps.close()
    raise StudyError(
        f"The metric {metric.key} yields more than {metric.steps} lists of prompts; raise its "
        "`steps`."
    )


def decided_by(metric: Metric, response: MetricInput, answer: Answer) -> MetricValue | MissingValue:
    """Return the result of a metric with a single prompt.

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

    evaluation = evaluate(metric, response, first)
    if evaluation.result is None or len(prompts) != 1:
        raise single_prompt_error(metric)
    return evaluation.result


def single_prompt_error(metric: Metric) -> StudyError:
    """Return the error for a metric that declares a single prompt and asks others."""
    return StudyError(
        f"The metric {metric.key} declares `single_prompt`, but does not ask exactly one prompt."
    )


def _checked(metric: Metric, construct: str, result: object) -> MetricValue | MissingValue:
    if isinstance(result, MissingValue):
        return result
    if not isinstance(result, MetricValue):
        raise StudyError(
            f"The metric {metric.key} returned {result!r}; return a MetricValue or a MissingValue."
        )
    if metric.scale_of(construct).problem(result.value):
        return MissingValue(OUT_OF_RANGE, result.parts)
    return result

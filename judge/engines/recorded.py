"""The engine `recorded`: answers that were obtained elsewhere, from files."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from judge.engines.engine import Delivery, Ready, TokenCount
from judge.engines.engine_settings import RecordedSettings
from judge.engines.recorded_answers import Key, Recordings, recorded_answers
from judge.prompts.template import PromptSet, PromptVersion
from judge.protocol.conditions import Conditions, Run
from judge.protocol.exchange import Answer, Failure, Request
from study.errors import StudyError
from study.schema import PROMPT_NOT_WHOLE
from study.study import Study

_TOGETHER = 500


class RecordedEngine:
    """Answers each prompt with what the files of `settings.answers` say of its response."""

    settings = RecordedSettings
    asks_now = False

    def __init__(self, settings: RecordedSettings, study: Study, prompts: PromptSet) -> None:
        if not isinstance(prompts, PromptVersion):
            raise StudyError(
                f"The engine recorded has one answer for each response and construct; the metric "
                f"{prompts.metric} asks in steps."
            )
        if not settings.answers:
            raise StudyError("The engine recorded needs files of answers: --answers FILE")
        if settings.model is None:
            raise StudyError("Say which model gave the recorded answers, with --model.")
        self._model = settings.model
        self._paths = settings.answers
        self._repeats = settings.repeats
        self._study = study
        self._prompts = prompts
        self._answers = Recordings()
        self._taken: set[Key] = set()

    def start(self, sample: Sequence[str]) -> Ready:
        """Read the files, whole or not at all."""
        del sample
        self._answers, notes = recorded_answers(self._study, self._paths, self._prompts)
        beyond = sum(key.repeat >= self._repeats for key in self._answers)
        if beyond:
            most = 1 + max(key.repeat for key in self._answers)
            notes += (
                f"Beyond --repeats {self._repeats}: {beyond} answers; the files have {most}.",
            )
        return Ready(Conditions("recorded", self._model), TokenCount(), notes=notes)

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        """Deliver what is recorded; what is not is counted, and asked for by the next run."""
        del run
        waiting: list[tuple[Request, Answer]] = []
        for request in requests:
            waiting += self._answered(request, delivery)
            if len(waiting) >= _TOGETHER:
                delivery.commit(waiting)
                waiting = []
        if waiting:
            delivery.commit(waiting)
        left = sum(key.repeat < self._repeats for key in self._answers) - len(self._taken)
        return (f"Not needed, being judged already or not wanted now: {left}.",) if left else ()

    def close(self) -> None:
        """Nothing is held."""

    def _answered(self, request: Request, delivery: Delivery) -> Iterator[tuple[Request, Answer]]:
        keys = [Key(r, request.construct_key, request.repeat) for r in request.response_ids]
        self._taken.update(key for key in keys if key in self._answers)
        found = [self._answers.get(key) for key in keys]
        given = [answer for answer in found if answer is not None]
        whole = [answer for answer in given if answer.missing not in PROMPT_NOT_WHOLE]
        if not given:
            failure = Failure("no_recorded_answer", "the files hold no answer to this prompt")
            delivery.failed(request, failure)
        elif not whole and min(request.attempts) > 1:
            # It is stored already, and would be with each call, that the prompt was not whole.
            reason = given[0].missing or ""
            delivery.failed(request, Failure(reason, "the files hold no other answer"))
        elif all(_said(answer) == _said(given[0]) for answer in given):
            yield request, given[0]
        else:
            # Elsewhere the very prompt was asked more than once, with other answers: each stays
            # with its response.
            shared = (whole or given)[0]
            for response, attempt, answer in zip(
                request.response_ids, request.attempts, found, strict=True
            ):
                part = replace(request, response_ids=(response,), attempts=(attempt,))
                yield part, answer or shared


def _said(answer: Answer) -> tuple[Any, ...]:
    return answer.text, answer.missing, answer.finish_reason, answer.distribution

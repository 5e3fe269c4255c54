"""The engine `recorded`: answers that were obtained elsewhere, from files."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from judge.engines.engine import Delivery, Ready, TokenCount, deliver_in_blocks
from judge.engines.engine_settings import RecordedSettings
from judge.engines.recorded_answers import Key, Recordings, read_answers
from judge.prompts.template import PromptSet, PromptVersion
from judge.protocol.conditions import Conditions, Run
from judge.protocol.exchange import Answer, Failure, Request
from study.errors import StudyError
from study.schema import PROMPT_NOT_WHOLE
from study.study import Study


class RecordedEngine:
    """Answers each prompt with the answer to it in the files of `settings.answers`."""

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
            raise StudyError("Name the model that gave the recorded answers, with --model.")
        self._model = settings.model
        self._settings = settings
        self._study = study
        self._prompts = prompts
        self._answers = Recordings()
        self._used: set[Key] = set()

    def start(self, sample: Sequence[str]) -> Ready:
        """Read the files; a fault in one of them refuses it as a whole."""
        del sample
        repeats = self._settings.repeats
        self._answers, notes = read_answers(self._study, self._settings.answers, self._prompts)
        beyond = sum(key.repeat >= repeats for key in self._answers)
        if beyond:
            most = 1 + max(key.repeat for key in self._answers)
            notes += (f"Beyond --repeats {repeats}: {beyond} answers; the files have {most}.",)
        return Ready(Conditions("recorded", self._model), TokenCount(), notes=notes)

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        """Deliver the recorded answers; prompts without one are counted as failed."""
        del run
        deliver_in_blocks(
            delivery, (result for request in requests for result in self._results(request))
        )
        usable = sum(key.repeat < self._settings.repeats for key in self._answers)
        unused = usable - len(self._used)
        if not unused:
            return ()
        return (f"Not used, since they are judged already or not selected now: {unused}.",)

    def close(self) -> None:
        """Do nothing: no file stays open."""

    def _results(self, request: Request) -> Iterator[tuple[Request, Answer | Failure]]:
        keys = [Key(r, request.construct_key, request.repeat) for r in request.response_ids]
        self._used.update(key for key in keys if key in self._answers)
        by_response = [self._answers.get(key) for key in keys]
        answers = [answer for answer in by_response if answer is not None]
        whole = [answer for answer in answers if answer.missing not in PROMPT_NOT_WHOLE]
        if not answers:
            detail = "the files contain no answer to this prompt"
            yield request, Failure("no_recorded_answer", detail)
        elif not whole and min(request.attempts) > 1:
            # That the prompt was not whole is stored already; each call would store it again.
            yield request, Failure(answers[0].missing or "", "the files contain no other answer")
        elif all(_content(answer) == _content(answers[0]) for answer in answers):
            yield request, answers[0]
        else:
            # The same prompt was asked more than once elsewhere, with different answers: each
            # belongs to its response.
            shared = (whole or answers)[0]
            for response, attempt, answer in zip(
                request.response_ids, request.attempts, by_response, strict=True
            ):
                part = replace(request, response_ids=(response,), attempts=(attempt,))
                yield part, answer or shared


def _content(answer: Answer) -> tuple[Any, ...]:
    return answer.text, answer.missing, answer.finish_reason, answer.distribution

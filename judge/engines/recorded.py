"""The engine `recorded`: answers that were obtained elsewhere, from files."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from judge.engines.engine import CommandKind, Delivery, Ready, TokenCount, deliver_in_blocks
from judge.engines.engine_settings import RecordedSettings
from judge.engines.recorded_answers import read_answers
from judge.engines.recorded_index import RecordedIndex, of_prompt, of_response
from judge.prompts.step_prompts import StepPrompts
from judge.prompts.template import PromptSet
from judge.protocol.conditions import Conditions, Run
from judge.protocol.exchange import Answer, Failure, Request
from study.errors import StudyError
from study.schema import PROMPT_NOT_WHOLE
from study.study import Study

_SAME_WORDS = "probe again"
"""Purpose of a prompt that is asked a second time with the same words."""


class RecordedEngine:
    """Answers each prompt with the answer to it in the files of `settings.answers`."""

    settings = RecordedSettings

    def __init__(self, settings: RecordedSettings, study: Study, prompts: PromptSet) -> None:
        if not settings.answers:
            raise StudyError("The engine recorded needs files of answers: --answers FILE")
        if settings.model is None:
            raise StudyError("Name the model that gave the recorded answers, with --model.")
        self._model = settings.model
        self._settings = settings
        self._study = study
        self._prompts = prompts
        self._in_steps = isinstance(prompts, StepPrompts)
        self._index = RecordedIndex()
        self._open: set[str] = set()

    def start(self, sample: Sequence[str]) -> Ready:
        """Read the files; a fault in one of them refuses it as a whole."""
        del sample
        repeats = self._settings.repeats
        answers = self._settings.answers
        notes = read_answers(self._study, answers, self._prompts, self._index)
        if beyond := self._index.prompts() - self._index.prompts(repeats):
            most = self._index.repeats()
            notes += (f"Beyond --repeats {repeats}: {beyond} answers; the files have {most}.",)
        return Ready(Conditions("recorded", self._model), TokenCount(), notes=notes)

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        """Deliver the recorded answers; prompts without one stay open."""
        del run
        deliver_in_blocks(
            delivery, (result for request in requests for result in self._results(request))
        )
        return ()

    def finish(self, kind: CommandKind) -> tuple[str, ...]:
        """Return how many answers were not used, and how many prompts of steps have none."""
        del kind
        unused = self._index.prompts(self._settings.repeats, unused=True)
        notes = []
        if unused:
            notes.append(f"Not used, since they are judged already or not selected now: {unused}.")
        if self._open:
            notes.append(
                f"{len(self._open)} prompts have no recorded answer; their responses stay open "
                "until a file has one."
            )
        return tuple(notes)

    def close(self) -> None:
        """Delete the index."""
        self._index.close()

    def _results(self, request: Request) -> Iterator[tuple[Request, Answer | Failure]]:
        keys = [
            of_response(response, request.construct_key, request.repeat)
            for response in request.response_ids
        ]
        # Answers that name a response are to its own prompts, not to altered ones.
        named = not self._in_steps and not request.purpose
        by_response = [self._index.take(key) if named else None for key in keys]
        answers = [answer for answer in by_response if answer is not None]
        if not answers and (answer := self._by_words(request)) is not None:
            answers, by_response = [answer], [answer] * len(keys)
        whole = [answer for answer in answers if answer.missing not in PROMPT_NOT_WHOLE]
        if not answers:
            detail = "the files contain no answer to this prompt"
            if self._in_steps:
                self._open.add(f"{request.repeat} {_hash(request)}")
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

    def _by_words(self, request: Request) -> Answer | None:
        """Return the answer that names the words of a prompt.

        The same words asked again are another question, which files of answers cannot tell from
        the first one.
        """
        if request.purpose == _SAME_WORDS:
            return None
        return self._index.take(of_prompt(_hash(request), request.repeat))


def _hash(request: Request) -> str:
    return sha256(request.prompt.encode("utf-8", "surrogatepass")).hexdigest()


def _content(answer: Answer) -> tuple[Any, ...]:
    return answer.text, answer.missing, answer.finish_reason, answer.distribution

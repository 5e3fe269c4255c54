"""One reader is asked: all open prompts of its systems, or a sample that tells of the others."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from time import monotonic
from typing import Any

from judge.engines.engine import FileEngine, load_engine
from judge.protocol.conditions import Run, identity, run_digest
from judge.protocol.exchange import TOO_LONG, Answer
from judge.responding.imported_responses import check_unanswered
from judge.responding.reader_answers import ReaderAnswers
from judge.responding.reader_prompt import STEP, prompt_hash
from judge.responding.stored_rankings import FOLDER
from judge.responding.system_prompts import (
    AnsweringSystem,
    AskedPrompt,
    by_length,
    open_prompts,
    reader_requests,
)
from judge.run_settings import JudgeSettings
from judge.running.forecast import CountedAnswer, Forecast, forecast
from judge.running.metric_requests import PromptName
from judge.running.plan import draw_prompts
from study.errors import StudyError
from study.importing.readers.input_file import Advance
from study.study import Study

#: Prompts that an engine is started with.
_FIRST = 3


@dataclass
class AskedReader:
    """What one reader was asked, and what it answered."""

    answers: ReaderAnswers
    conditions: Mapping[str, Any]
    notes: Sequence[str]
    stopped: StudyError | KeyboardInterrupt | None = None
    """Why it could not be asked further."""
    forecast: Forecast | None = None
    """Of an estimate: what the other prompts will take, where answers have counts of tokens."""


def ask_reader(
    study: Study,
    settings: JudgeSettings,
    systems: Sequence[AnsweringSystem],
    limit: int | None,
    advance: Advance,
    *,
    revise: bool,
) -> AskedReader:
    """Ask the reader `settings.model` for the answers that its systems lack.

    Raises
    ------
    StudyError
        The engine can't be started, a prompt does not fit, or a system has other responses.
    """
    prompts, reader = systems[0].prompts, settings.model or ""
    with closing(load_engine(settings.engine)(settings, study, prompts)) as engine:
        some = range(min(_FIRST, len(systems[0].questions)))
        ready = engine.start([systems[0].prompt(place) for place in some])
        notes = [*ready.notes]
        parts = identity(ready.conditions, prompts, 1)
        path = study.folder / FOLDER / f"answers-{run_digest(parts)[:12]}.jsonl"
        answers = ReaderAnswers(path, parts, advance)
        answers.add_overhead(ready.overhead)
        if not revise:
            check_unanswered(study, systems, [answers.known])
        whole, too_long = by_length(
            open_prompts(systems, answers.known, limit), ready, settings, reader
        )
        answers.store_missing(list(reader_requests(too_long)), TOO_LONG)
        asked = whole
        if settings.estimate is not None:
            asked = _sampled(whole, settings.estimate, study.config.seed)
        answers.total = len(asked)
        run = Run(0, reader, begun=not answers.known, identity=run_digest(parts))
        began = monotonic()
        result = AskedReader(answers, parts, notes)
        try:
            notes += engine.run(run, reader_requests(asked), answers)
            if isinstance(engine, FileEngine):
                notes += engine.finish("respond")
        except (StudyError, KeyboardInterrupt) as error:
            result.stopped = error
            return result
        if settings.estimate is not None:
            result.forecast = _forecast(whole, asked, answers.known, settings, monotonic() - began)
    return result


def _sampled(whole: Sequence[AskedPrompt], number: int, seed: int) -> list[AskedPrompt]:
    """Return so many of the prompts, drawn at random over their lengths."""
    names = [PromptName(STEP, 0, place) for place in range(len(whole))]
    sizes = {name: _size(each) for name, each in zip(names, whole, strict=True)}
    chosen = draw_prompts(sizes, number, seed)
    return [each for name, each in zip(names, whole, strict=True) if name in chosen]


def _forecast(
    whole: Sequence[AskedPrompt],
    asked: Sequence[AskedPrompt],
    known: Mapping[str, Answer],
    settings: JudgeSettings,
    seconds: float,
) -> Forecast | None:
    """Return what the open prompts will take, of which a sample was asked in so many seconds."""

    def answer_of(each: AskedPrompt) -> Answer | None:
        return known.get(prompt_hash(each.system.prompt(each.place)))

    sizes = [_size(each) for each in whole if answer_of(each) is None]
    counted = [
        CountedAnswer(_size(each), answer)
        for each in asked
        if (answer := answer_of(each)) is not None
    ]
    return forecast(counted, len(sizes), sum(sizes), settings, wall=seconds)


def _size(each: AskedPrompt) -> int:
    return len(each.system.prompt(each.place).encode())

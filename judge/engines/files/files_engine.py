"""The engine `files`: writes the prompts without an answer into files, and reads answers."""

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from judge.engines.engine import CommandKind, Delivery, Ready, TokenCount, deliver_in_blocks
from judge.engines.engine_settings import FilesSettings
from judge.engines.files.answer_index import AnswerIndex
from judge.engines.files.answer_table import AnswerTables
from judge.engines.files.file_formats import FORMATS, results_format
from judge.engines.files.provider_format import ProviderFormat, Sampling
from judge.engines.files.request_files import RequestFiles, format_of, written_before
from judge.engines.files.result_files import ResultFiles, custom_id
from judge.engines.openai.logprob_support import LogprobRequest, top_alternatives
from judge.engines.openai.response_format import TOKENS as SCHEMA_TOKENS
from judge.prompts.template import PromptSet
from judge.protocol.conditions import Conditions, Run, run_digest, with_shuffle
from judge.protocol.exchange import Answer, Failure, Request
from judge.run_settings import JudgeSettings, option_name
from judge.text import by_number
from study.errors import StudyError
from study.study import Study
from study.text import counted, shell_word

# Characters of a custom_id that identify the conditions; providers accept 64 in all.
_RUN_LENGTH = 23


class _AnswerFiles(Protocol):
    """Files of answers of one kind."""

    def read(self, paths: Sequence[Path]) -> tuple[str, ...]: ...

    def results(self, request: Request) -> list[tuple[Request, Answer | Failure]]: ...

    def close(self) -> None: ...


class FilesEngine:
    """Answers prompts from `settings.answers`, and writes the others into `settings.requests`."""

    settings = FilesSettings

    def __init__(self, settings: FilesSettings, study: Study, prompts: PromptSet) -> None:
        if settings.requests is None and not settings.answers:
            raise StudyError(
                "The engine files writes the prompts without an answer into files (--requests "
                "FOLDER), reads answers (--answers FILE), or both."
            )
        if settings.model is None:
            raise StudyError("Name the model that gives the answers, with --model.")
        settings.check_answers()
        self._tables = settings.reads_tables
        self._form = _format(settings)
        for name, remedy in self._form.not_sent.items():
            if getattr(settings, name) != type(settings).model_fields[name].default:
                raise StudyError(f"{option_name(name)}: {remedy}")
        reasons = settings.reasoning_tokens > 0
        if settings.logprobs == "on" and (reasons or not prompts.score_scales):
            raise StudyError(
                "--logprobs on: probabilities of scores need an answer that begins with the "
                "score, a whole number; here a reason comes first, or the answer is a label or a "
                "decimal."
            )
        self._study = study
        self._settings = settings
        self._prompts = prompts
        self._max_tokens = settings.max_tokens or prompts.max_tokens
        self._logprobs: LogprobRequest | None = None
        if settings.logprobs == "on":
            self._logprobs = top_alternatives(prompts.score_scales[0])
        chosen = settings.temperature
        temperature = prompts.temperature if chosen is None else chosen
        self._sampling = Sampling(
            model=settings.model,
            system=prompts.system,
            max_tokens=self._max_tokens + settings.reasoning_tokens,
            reasons=reasons,
            temperature=None if settings.omit_temperature else temperature,
            seed=settings.seed,
            body=settings.body,
        )
        self._index = AnswerIndex()
        self._prefix = ""
        self._answers: _AnswerFiles | None = None
        self._files: RequestFiles | None = None
        self._rewritten: Counter[str] = Counter()
        self._unanswered: set[str] = set()

    def start(self, sample: Sequence[str]) -> Ready:
        """Read the answers, and the names of the prompts that were written before."""
        del sample
        settings, model, index = self._settings, self._sampling.model, self._index
        if self._tables:
            self._answers = AnswerTables(
                self._study, self._prompts, index, repeats=settings.repeats
            )
            notes = self._answers.read(settings.answers)
            return Ready(Conditions("files", model), TokenCount(), notes=notes)
        conditions = Conditions("files", model, decoding=self._decoding(), seed=self._sampling.seed)
        # Results must belong to the conditions whose prompts they answer. The metrics of a suite
        # share them, so that a prompt of several metrics is sent once.
        shuffled = with_shuffle(conditions, settings.shuffle_passages)
        parts = {
            "model": shuffled.model,
            "decoding": dict(shuffled.decoding or {}),
            "seed": shuffled.seed,
            "repeats": settings.repeats,
            "system": self._sampling.system,
        }
        self._prefix = f"{run_digest(parts)[:_RUN_LENGTH]}-"
        with_scores = self._logprobs is not None
        self._answers = ResultFiles(self._prefix, self._form, index, with_scores=with_scores)
        notes = self._answers.read(settings.answers)
        if settings.requests is not None:
            for name in written_before(settings.requests, self._form):
                if not name.startswith(self._prefix):
                    raise StudyError(
                        f"{settings.requests} contains requests that were written with other "
                        "options. Choose another folder, or use those options."
                    )
                index.add_sent(name, new=False)
        return Ready(
            conditions,
            TokenCount(),
            settings.window,
            self._sampling.max_tokens,
            notes=notes,
            asks=bool(settings.answers),
        )

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        """Deliver the answers to prompts, and write those without one."""
        del run
        deliver_in_blocks(delivery, self._answered(requests))
        return ()

    def has_answer(self, request: Request) -> bool:
        """Return whether the files have an answer to a prompt."""
        assert self._answers is not None  # noqa: S101  (set by `start`)
        return any(isinstance(result, Answer) for _, result in self._answers.results(request))

    def finish(self, kind: CommandKind) -> tuple[str, ...]:
        """Give the files of requests their names; return what was written and what comes next."""
        files, settings, command = self._files, self._settings, self._command(kind)
        counts = {} if files is None else files.finish()
        self._files = None
        notes = [f"Wrote {path} ({counted(number, 'prompt')})." for path, number in counts.items()]
        if self._rewritten:
            reasons = ", ".join(f"{n} {reason}" for reason, n in by_number(self._rewritten))
            notes.append(f"Written again, since they got no answer: {reasons}.")
        waiting = self._index.waiting()
        if waiting:
            notes.append(
                f"{counted(waiting, 'prompt waits', 'prompts wait')} for results: files in "
                f"{settings.requests} have what was asked. To send it once more, choose another "
                "folder."
            )
        if unused := self._index.prompts(settings.repeats, unused=True):
            notes.append(
                "Not used, since their prompts are judged already, not selected now, or have "
                f"changed since: {counted(unused, 'answer')}."
            )
        if self._unanswered:
            remedy = (
                "what they are for stays open until a file has one"
                if self._tables
                else "give their results when they come, or let "
                f"`{command} --requests FOLDER` write them into files"
            )
            notes.append(
                f"{counted(len(self._unanswered), 'prompt has', 'prompts have')} no answer in "
                f"these files; {remedy}."
            )
        if counts or waiting:
            folder = shell_word(settings.requests or "")
            send = "When they are answered:"
            if counts:
                send = f"Send the files of this call (`ccrs judge batch submit {folder}`); then"
            notes.append(
                f"{send} `{command} --requests {folder} --answers "
                "RESULTS`, with --answers for each file of results, and the same other options."
            )
        return tuple(notes)

    def close(self) -> None:
        """Delete unfinished files and the index."""
        if self._files is not None:
            self._files.discard()
        if self._answers is not None:
            self._answers.close()
        self._index.close()

    def _decoding(self) -> dict[str, Any]:
        sampling, settings = self._sampling, self._settings
        decoding: dict[str, Any] = {
            "temperature": sampling.temperature,
            "max_tokens": self._max_tokens,
            "reasoning_tokens": settings.reasoning_tokens,
            "refused": [],
            "ignored": [],
        }
        if self._logprobs is not None:
            decoding["logprobs"] = self._logprobs.name
        if settings.answer_schema == "on":
            decoding["answer_schema"] = "json_schema"
        if settings.body:
            decoding["body"] = dict(settings.body)
        return decoding

    def _answered(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Answer | Failure]]:
        """Yield requests with their answers; the others are written into files."""
        assert self._answers is not None  # noqa: S101  (set by `start`)
        for request in requests:
            results = self._answers.results(request)
            if any(isinstance(result, Answer) for _, result in results):
                yield from results
                continue
            failure = next((why for _, why in results if isinstance(why, Failure)), None)
            if self._settings.requests is not None:
                self._write(request, failure)
                continue
            self._unanswered.add(custom_id(self._prefix, request))
            # What results lack is awaited: a provider answers each prompt, or says that it failed.
            if failure is not None or self._tables:
                detail = "the files contain no answer to this prompt"
                yield request, failure or Failure("no_answer", detail)

    def _write(self, request: Request, failure: Failure | None) -> None:
        """Write a prompt, unless a file has it that was not answered yet."""
        name = custom_id(self._prefix, request)
        if self._index.is_waiting(name):
            return
        if self._files is None:
            assert self._settings.requests is not None  # noqa: S101  (checked by the caller)
            self._files = RequestFiles(self._settings.requests, self._form)
        sampling = self._sampling
        if request.max_tokens is not None:
            limit = request.max_tokens + self._settings.reasoning_tokens
            sampling = replace(sampling, max_tokens=limit)
        if self._settings.answer_schema == "on" and request.schema is not None:
            limit = sampling.max_tokens + SCHEMA_TOKENS
            sampling = replace(sampling, schema=request.schema, max_tokens=limit)
        if self._logprobs is not None and request.score_scale is not None:
            sampling = replace(sampling, alternatives=self._logprobs.expected)
        if request.repeat and sampling.seed is not None:
            sampling = replace(sampling, seed=sampling.seed + request.repeat)
        self._files.add(self._form.request(name, request.prompt, sampling))
        self._index.add_sent(name, new=True)
        if failure is not None:
            self._rewritten[failure.reason] += 1

    def _command(self, kind: CommandKind) -> str:
        settings = self._settings
        names = {"run": ["judge"], "respond": ["respond"]}.get(kind, ["judge", kind])
        words = ["ccrs", *names, str(self._study.folder), "--engine", "files"]
        words += ["--model", self._sampling.model]
        words += [] if self._form.name == "openai" else ["--format", self._form.name]
        fields = type(settings).model_fields
        for name in ("metric", "prompts"):
            value = str(getattr(settings, name))
            if value != fields[name].default:
                words += [option_name(name), value]
        return shlex.join(words)


NOT_READ = (
    "The files of --answers were not looked at: the prompts that they answer are counted as well."
)
"""Note of a preview that does not look up answers."""


@contextmanager
def answers_in_files(
    study: Study, settings: JudgeSettings, prompts: PromptSet | None
) -> Iterator[Callable[[Request], bool] | None]:
    """Return what tells whether the files of the settings answer a prompt; None without files.

    Raises
    ------
    StudyError
        As a call with these files does.
    """
    if not isinstance(settings, FilesSettings) or not settings.answers or prompts is None:
        yield None
        return
    with closing(FilesEngine(settings, study, prompts)) as engine:
        engine.start(())
        yield engine.has_answer


def _format(settings: FilesSettings) -> ProviderFormat:
    """Return the format of requests and results."""
    folder = settings.requests
    known = {
        "--format": None if settings.format is None else FORMATS[settings.format],
        "the files of --answers": results_format(settings.answers),
        f"the files in {folder}": None if folder is None else format_of(folder, FORMATS.values()),
    }
    found = {place: form.name for place, form in known.items() if form is not None}
    if len({*found.values()}) > 1:
        listed = ", ".join(f"{place} {name}" for place, name in found.items())
        raise StudyError(
            f"Requests and answers have one format; here {listed}. Leave --format out, or choose "
            "another folder."
        )
    return FORMATS[next(iter(found.values()), "openai")]

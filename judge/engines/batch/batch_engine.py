"""The engine `batch`: writes what has no answer into files, and reads a provider's results."""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from judge.engines.batch.anthropic_format import AnthropicFormat
from judge.engines.batch.batch_format import BatchFormat, OpenAIFormat, Sampling
from judge.engines.batch.batch_index import BatchIndex
from judge.engines.batch.gemini_format import GeminiFormat
from judge.engines.batch.request_files import RequestFiles, written_before
from judge.engines.batch.result_files import ResultFiles
from judge.engines.engine import CommandKind, Delivery, Ready, TokenCount, deliver_in_blocks
from judge.engines.engine_settings import BatchSettings
from judge.engines.openai.logprob_support import LogprobRequest, top_alternatives
from judge.engines.openai.response_format import TOKENS as SCHEMA_TOKENS
from judge.prompts.step_prompts import StepPrompts
from judge.prompts.template import PromptSet
from judge.protocol.conditions import Conditions, Run, run_digest, with_shuffle
from judge.protocol.exchange import Answer, Failure, Request
from judge.run_settings import option_name
from judge.text import by_number
from study.errors import StudyError
from study.study import Study
from study.text import shell_word

FORMATS: dict[str, BatchFormat] = {
    form.name: form for form in (OpenAIFormat(), AnthropicFormat(), GeminiFormat())
}
"""The forms of files by name, as `--batch-format` has them."""

# Characters of a custom_id that identify the conditions; providers accept 64 in all.
_RUN_LENGTH = 23


class BatchEngine:
    """Answers prompts from `settings.answers`, and writes the others into `settings.requests`."""

    settings = BatchSettings

    def __init__(self, settings: BatchSettings, study: Study, prompts: PromptSet) -> None:
        if settings.requests is None and not settings.answers:
            raise StudyError(
                "The engine batch writes the prompts without an answer into files "
                "(--requests FOLDER), reads the provider's results (--answers FILE), or both."
            )
        if settings.model is None:
            raise StudyError("Name the model that the batch is for, with --model.")
        self._form = FORMATS[settings.batch_format]
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
        if settings.answer_schema == "on" and settings.logprobs == "on":
            raise StudyError(
                "--answer-schema on: answers in JSON have no probabilities of scores; leave it or "
                "--logprobs out."
            )
        self._study = study
        self._settings = settings
        self._max_tokens = settings.max_tokens or prompts.max_tokens
        self._in_steps = isinstance(prompts, StepPrompts)
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
        self._index = BatchIndex()
        self._prefix = ""
        self._results: ResultFiles
        self._files: RequestFiles | None = None
        self._rewritten: Counter[str] = Counter()
        self._unanswered: set[str] = set()

    def start(self, sample: Sequence[str]) -> Ready:
        """Read the places of the results, and the names of the prompts that were written before."""
        del sample
        settings = self._settings
        conditions = Conditions(
            "batch", self._sampling.model, decoding=self._decoding(), seed=self._sampling.seed
        )
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
        self._results = ResultFiles(self._prefix, self._form, self._index)
        self._results.read(settings.answers)
        if settings.requests is not None:
            for name in written_before(settings.requests, self._form):
                if not name.startswith(self._prefix):
                    raise StudyError(
                        f"{settings.requests} contains requests that were written with other "
                        "options. Choose another folder, or use those options."
                    )
                self._index.add_sent(name, new=False)
        return Ready(
            conditions,
            TokenCount(),
            settings.window,
            self._sampling.max_tokens,
            asks=bool(settings.answers),
        )

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        """Deliver the results of prompts, and write those without an answer."""
        del run
        deliver_in_blocks(delivery, self._answered(requests))
        return ()

    def finish(self, kind: CommandKind) -> tuple[str, ...]:
        """Give the files of requests their names; return what was written and what comes next."""
        files, settings, command = self._files, self._settings, self._command(kind)
        counts = {} if files is None else files.finish()
        self._files = None
        notes = [f"Wrote {path} ({number} prompts)." for path, number in counts.items()]
        if self._rewritten:
            reasons = ", ".join(f"{n} {reason}" for reason, n in by_number(self._rewritten))
            notes.append(f"Written again, since they got no answer: {reasons}.")
        waiting = self._index.waiting()
        if waiting:
            notes.append(
                f"{waiting} prompts wait for results: files in {settings.requests} contain them "
                "already. To send them once more, choose another folder."
            )
        notes += self._results.notes()
        without = len(self._unanswered)
        if without:
            notes.append(
                f"{without} prompts have no result in these files; "
                f"`{command} --requests FOLDER` writes them into files."
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
        if hasattr(self, "_results"):
            self._results.close()
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
        if self._form.name != "openai":
            decoding["format"] = self._form.name
        if self._logprobs is not None:
            decoding["logprobs"] = self._logprobs.name
        if settings.answer_schema == "on":
            decoding["answer_schema"] = "json_schema"
        if settings.body:
            decoding["body"] = dict(settings.body)
        return decoding

    def _answered(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Answer | Failure]]:
        """Yield requests with their results; the others are written into files."""
        for request in requests:
            name = custom_id(self._prefix, request)
            scale = None if self._logprobs is None else request.score_scale
            result = self._results.take(name, scale)
            if isinstance(result, Answer):
                yield request, result
            elif self._settings.requests is not None:
                self._write(name, request, result)
            elif result is None and self._in_steps:
                # Prompts of a later step, most of which are not sent yet.
                self._unanswered.add(name)
            else:
                self._unanswered.add(name)
                missing = Failure("no_result", "the files contain no result for this prompt")
                yield request, result or missing

    def _write(self, name: str, request: Request, failure: Failure | None) -> None:
        """Write a prompt, unless a file has it that was not answered yet."""
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
        words = ["ccrs", *names, str(self._study.folder), "--engine", "batch"]
        words += ["--model", self._sampling.model]
        fields = type(settings).model_fields
        for name in ("batch_format", "metric", "prompts"):
            value = str(getattr(settings, name))
            if value != fields[name].default:
                words += [option_name(name), value]
        return shlex.join(words)


def custom_id(prefix: str, request: Request) -> str:
    """Return the name under which a prompt is sent, in 64 characters.

    It identifies the conditions, the exact prompt, its purpose and the attempt, so no result is
    used for another prompt, or twice.
    """
    state = sha256()
    for part in (request.purpose, f"{request.repeat} {max(request.attempts)}", request.prompt):
        encoded = part.encode("utf-8", "surrogatepass")
        state.update(len(encoded).to_bytes(8, "big") + encoded)
    return f"{prefix}{state.hexdigest()[:40]}"

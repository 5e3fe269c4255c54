"""The engine `batch`: files for a provider's batch service, written and read back.

The format is OpenAI's batch of chat completions, which other providers accept as well: one JSON
object a line, joined with its result by `custom_id`.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from judge.engines.engine import Delivery, Ready, TokenCount, deliver_in_blocks
from judge.engines.engine_settings import BatchSettings
from judge.engines.openai.logprob_support import top_alternatives
from judge.prompts.template import PromptSet
from judge.protocol.chat_completion import read_reply
from judge.protocol.conditions import Conditions, Run, identity, run_digest, with_shuffle
from judge.protocol.exchange import REJECTED, Answer, Failure, Request, chat_messages
from judge.protocol.logprob_distribution import ScoreTokens
from judge.text import printable
from study.errors import Fault, InputError, StudyError
from study.scales import RatingScale
from study.study import Study

# OpenAI's limits for one file.
MOST_REQUESTS = 50_000
MOST_BYTES = 200_000_000
# Characters of a provider's message that are stored.
_MESSAGE_LENGTH = 300
# Characters of a custom_id that identify the run; providers accept 64 in all.
_RUN_LENGTH = 23
# So many refusals, and fewer answers, are the fault of the parameters, not of the prompts.
_MANY_REFUSALS = 20


class BatchEngine:
    """Writes the prompts into `settings.requests`, or reads results from `settings.answers`."""

    settings = BatchSettings
    asks_now = False

    def __init__(self, settings: BatchSettings, study: Study, prompts: PromptSet) -> None:
        if (settings.requests is None) == (not settings.answers):
            raise StudyError(
                "The engine batch either writes the files to send (--requests FOLDER), or reads "
                "the provider's results (--answers FILE)."
            )
        if settings.model is None:
            raise StudyError("Name the model that the batch is for, with --model.")
        reasons = settings.reasoning_tokens > 0
        if settings.logprobs == "on" and (reasons or not prompts.score_scales):
            raise StudyError(
                "--logprobs on: probabilities of scores need an answer that begins with the "
                "score; here a reason comes first, or the answer is a label."
            )
        self._study = study
        self._settings = settings
        self._model = settings.model
        self._prompts = prompts
        self._max_tokens = settings.max_tokens or prompts.max_tokens
        # The service cannot be probed. Models that reason have another name for the limit.
        self._limit_name = "max_completion_tokens" if reasons else "max_tokens"
        logprobs = settings.logprobs == "on"
        self._logprobs = top_alternatives(prompts.score_scales[0]) if logprobs else None
        self._parameters = self._sent_parameters()
        self._results: _Results

    def start(self, sample: Sequence[str]) -> Ready:
        """Read the results, if any. The conditions follow from the settings alone."""
        del sample
        settings = self._settings
        if settings.requests is not None:
            _check_folder(settings.requests)
        decoding: dict[str, Any] = {
            "temperature": self._parameters.get("temperature"),
            "max_tokens": self._max_tokens,
            "reasoning_tokens": settings.reasoning_tokens,
            "limit_sent_as": self._limit_name,
            "refused": [],
            "ignored": [],
        }
        if self._logprobs is not None:
            decoding["logprobs"] = self._logprobs.name
        if settings.body:
            decoding["body"] = dict(settings.body)
        conditions = Conditions(
            "batch", self._model, decoding=decoding, seed=self._parameters.get("seed")
        )
        # Results must belong to the run whose prompts they answer.
        conditions = with_shuffle(conditions, settings.shuffle_passages)
        digest = run_digest(identity(conditions, self._prompts, settings.repeats))
        scales = self._prompts.score_scales if self._logprobs is not None else ()
        self._results = _Results(digest, scales)
        for path in settings.answers:
            self._results.read(path)
        self._results.check_refusals()
        return Ready(
            conditions,
            TokenCount(),
            settings.window,
            int(self._parameters[self._limit_name]),
            asks=settings.requests is None,
        )

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        """Write the requests, or deliver their results."""
        if self._settings.requests is not None:
            return self._write(run, requests, self._settings.requests)
        deliver_in_blocks(
            delivery,
            (
                (request, self._results.take(custom_id(run, request), request.score_scale))
                for request in requests
            ),
        )
        return self._results.notes()

    def close(self) -> None:
        """Do nothing: no file stays open."""

    def _sent_parameters(self) -> dict[str, Any]:
        settings, prompts = self._settings, self._prompts
        limit = self._max_tokens + settings.reasoning_tokens
        sent: dict[str, Any] = {**settings.body, "model": self._model, self._limit_name: limit}
        if not settings.omit_temperature:
            chosen = settings.temperature
            sent["temperature"] = prompts.temperature if chosen is None else chosen
        if settings.seed is not None:
            sent["seed"] = settings.seed
        return sent

    def _line(self, run: Run, request: Request) -> bytes:
        parameters = dict(self._parameters)
        if request.repeat and "seed" in parameters:
            parameters["seed"] += request.repeat
        if request.max_tokens is not None:
            parameters[self._limit_name] = request.max_tokens + self._settings.reasoning_tokens
        if self._logprobs is not None and request.score_scale is not None:
            parameters |= self._logprobs.parameters
        messages = chat_messages(request.prompt, self._prompts.system)
        line = {
            "custom_id": custom_id(run, request),
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {**parameters, "messages": messages},
        }
        return json.dumps(line, ensure_ascii=False).encode() + b"\n"

    def _write(self, run: Run, requests: Iterable[Request], folder: Path) -> tuple[str, ...]:
        files = _RequestFiles(folder)
        try:
            for request in requests:
                files.add(self._line(run, request))
            written = files.finish()
        except BaseException:
            files.discard()
            raise
        command = f"ccrs judge {self._study.folder} --engine batch --model {self._model}"
        return (
            *(f"Wrote {path} ({count} prompts)." for path, count in written.items()),
            f"Send them; then `{command} --answers RESULTS`, with --answers for each file of "
            "results, and the same other options.",
        )


def custom_id(run: Run, request: Request) -> str:
    """Return the name under which a prompt is sent, in 64 characters.

    It identifies the run, the exact prompt and the attempt, so no result is used for another
    prompt, or twice.
    """
    attempt = max(request.attempts)
    parts = (request.construct_key, f"{request.repeat} {attempt}", request.prompt)
    state = sha256()
    for part in parts:
        encoded = part.encode()
        state.update(len(encoded).to_bytes(8, "big") + encoded)
    return f"{run.identity[:_RUN_LENGTH]}-{state.hexdigest()[:40]}"


def _check_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise StudyError(f"{folder} is not a folder. Give --requests the name of a folder.")
    if folder.is_dir() and (existing := sorted(folder.glob("judge-*.jsonl"))):
        raise StudyError(f"{existing[0]} exists already. Choose another folder, or move the files.")


class _RequestFiles:
    """Files of a batch, under temporary names until all are complete."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._path = folder
        self._stream: IO[bytes] | None = None
        self._counts: dict[Path, int] = {}
        self._bytes = 0

    def add(self, line: bytes) -> None:
        if (
            self._stream is None
            or self._counts[self._path] >= MOST_REQUESTS
            or self._bytes + len(line) > MOST_BYTES
        ):
            self._close()
            self._path = self._folder / f"judge-{len(self._counts) + 1:03}.jsonl"
            self._stream = _temporary(self._path).open("wb")
            self._counts[self._path] = self._bytes = 0
        self._stream.write(line)
        self._counts[self._path] += 1
        self._bytes += len(line)

    def finish(self) -> dict[Path, int]:
        """Give the files their names; return the prompts of each."""
        self._close()
        for path in self._counts:
            _temporary(path).replace(path)
        return self._counts

    def discard(self) -> None:
        self._close()
        for path in self._counts:
            _temporary(path).unlink(missing_ok=True)

    def _close(self) -> None:
        if self._stream is not None:
            self._stream.close()


def _temporary(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


class _Results:
    """Results of a batch by the name of their prompt."""

    def __init__(self, identity: str, scales: Sequence[RatingScale]) -> None:
        self._scales = scales
        self._distributions: dict[tuple[str, RatingScale], dict[str, float] | None] = {}
        self._prefix = f"{identity[:_RUN_LENGTH]}-"
        self._results: dict[str, Answer | Failure] = {}
        self._used = 0
        self._duplicates = 0

    def read(self, path: Path) -> None:
        """Read a file of results or of errors.

        Raises
        ------
        InputError
            A line is not one of a batch, or belongs to another run; the file is not used.
        """
        if not path.is_file():
            problem = "is a folder" if path.is_dir() else "does not exist"
            raise InputError(path.name, [Fault(f"{path} {problem}.", "Give the provider's file.")])
        faults: list[Fault] = []
        with path.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                problem_and_remedy = self._add(line) if line.strip() else None
                if problem_and_remedy is not None:
                    faults.append(Fault(*problem_and_remedy, number))
        if faults:
            raise InputError(path.name, faults)

    def check_refusals(self) -> None:
        """Treat refusals as failures if they outnumber the answers, so that they are not final."""
        answers = {n: r for n, r in self._results.items() if isinstance(r, Answer)}
        refused = {n: answer for n, answer in answers.items() if answer.missing == REJECTED}
        if len(refused) >= _MANY_REFUSALS and 2 * len(refused) > len(answers):
            for name, answer in refused.items():
                self._results[name] = Failure(REJECTED, answer.text or "")

    def take(self, name: str, scale: RatingScale | None = None) -> Answer | Failure:
        """Return the result of a prompt whose answer begins with a score on a scale."""
        result = self._results.get(name)
        if result is None:
            return Failure("no_result", "the files contain no result for this prompt")
        self._used += 1
        if isinstance(result, Answer) and scale is not None and self._scales:
            return replace(result, distribution=self._distributions.get((name, scale)))
        return result

    def notes(self) -> tuple[str, ...]:
        """Return in sentences which results were not used."""
        unused = len(self._results) - self._used
        counts = {
            "results are duplicates; the first of each was used": self._duplicates,
            "results were not used: their prompts are judged already, not selected now, or have "
            "changed since": unused,
        }
        return tuple(f"{count} {text}." for text, count in counts.items() if count)

    def _add(self, line: bytes) -> tuple[str, str] | None:
        """Add a line; return the problem and the remedy if it cannot be used."""
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            return "The line is not valid JSON.", "Give the provider's file unchanged."
        name = data.get("custom_id") if isinstance(data, dict) else None
        if not isinstance(name, str):
            return "The line has no custom_id.", "Give the provider's results or errors."
        if not name.startswith(self._prefix):
            return (
                f"{printable(name)[:80]!r} belongs to another run.",
                "Read results with the options that their requests were written with.",
            )
        result = _read_result(data)
        if result is None:
            return (
                "The line contains neither a response nor an error.",
                "Give the provider's results or errors.",
            )
        if isinstance(self._results.get(name), Answer):
            self._duplicates += 1
        else:
            self._results[name] = result
            for scale in self._scales:
                tokens = ScoreTokens(scale, unprobed=True)
                self._distributions[name, scale] = tokens.distribution(_logprobs(data))
        return None


def _logprobs(data: dict[str, Any]) -> Any:
    """Return the token probabilities of a result, as they came; None where it has none."""
    try:
        body = data["response"]["body"]
        return (json.loads(body) if isinstance(body, str) else body)["choices"][0].get("logprobs")
    except (AttributeError, KeyError, IndexError, TypeError, ValueError, RecursionError):
        return None


def _read_result(data: dict[str, Any]) -> Answer | Failure | None:
    error, response = data.get("error"), data.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    if isinstance(response, dict) and not body and isinstance(error, dict):
        # Some services put the text of a refusal next to the response.
        body = {"error": error}
    if isinstance(response, dict) and isinstance(body, dict | str):
        raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        status = response.get("status_code")
        result = read_reply(status if isinstance(status, int) else 200, {}, raw, None)
        return result if isinstance(result, Answer) else Failure(result.reason, result.detail)
    if error:
        code = error.get("code") if isinstance(error, dict) else None
        message = printable(json.dumps(error, ensure_ascii=False))[:_MESSAGE_LENGTH]
        return Failure(printable(str(code or "error"))[:_MESSAGE_LENGTH], message)
    return None

"""The engine `batch`: files for a provider's batch service, written and read back.

The format is OpenAI's batch of chat completions, which other providers take as well: one JSON
object a line, joined with its result by `custom_id`.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from judge.engines.engine import Delivery, Ready, TokenCount
from judge.engines.engine_settings import BatchSettings
from judge.engines.openai.logprob_support import top
from judge.prompts.template import PromptSet
from judge.protocol.chat_completion import read_reply
from judge.protocol.conditions import Conditions, Run, identity, run_digest, with_shuffle
from judge.protocol.exchange import REJECTED, Answer, Failure, Request
from judge.protocol.logprob_distribution import ScoreTokens
from judge.text import printable
from study.errors import Fault, InputError, StudyError
from study.study import Study

# OpenAI's limits for one file.
MOST_REQUESTS = 50_000
MOST_BYTES = 200_000_000
_TOGETHER = 500
_SHOWN = 300
# Signs of a custom_id that stand for the run; 64 are the most that providers take.
_OF_RUN = 23
# So many refusals, and fewer answers, speak of what was sent with the prompts.
_REFUSALS = 20


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
            raise StudyError("Say which model the batch is for, with --model.")
        self._study = study
        self._settings = settings
        self._model = settings.model
        self._prompts = prompts
        # The service can't be asked what the model takes: models that reason have a name of their
        # own for the limit.
        self._reasoning = settings.reasoning_tokens
        reasons = self._reasoning > 0
        self._limit_name = "max_completion_tokens" if reasons else "max_tokens"
        if settings.logprobs == "on" and (reasons or prompts.form != "score"):
            raise StudyError(
                "--logprobs on: probabilities of scores are told where the answer begins with the "
                "score; here a reason comes first."
            )
        # Nobody can be asked what the service tells, so they are asked for on demand only.
        self._way = top(prompts.scale) if settings.logprobs == "on" else None
        self._parameters = self._sent()
        self._results: _Results

    def start(self, sample: Sequence[str]) -> Ready:
        """Nothing is asked: the conditions are what the settings say. Results are read here."""
        del sample
        settings = self._settings
        if settings.requests is not None:
            _refuse_full(settings.requests)
        decoding: dict[str, Any] = {
            "temperature": self._parameters.get("temperature"),
            "max_tokens": settings.max_tokens or self._prompts.max_tokens,
            "reasoning_tokens": self._reasoning,
            "limit_sent_as": self._limit_name,
            "refused": [],
            "ignored": [],
        }
        if self._way is not None:
            decoding["logprobs"] = self._way.name
        conditions = Conditions(
            "batch", self._model, decoding=decoding, seed=self._parameters.get("seed")
        )
        # A batch belongs to the run whose prompts it holds.
        conditions = with_shuffle(conditions, settings.shuffle_passages)
        digest = run_digest(identity(conditions, self._prompts, settings.repeats))
        way = self._way
        tokens = None if way is None else replace(way.tokens, unprobed=True)
        self._results = _Results(digest, tokens)
        for path in settings.answers:
            self._results.read(path)
        self._results.doubt_refusals()
        answer_tokens = int(self._parameters[self._limit_name])
        return Ready(
            conditions,
            TokenCount(),
            settings.window,
            answer_tokens,
            asks=settings.requests is None,
        )

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        """Write the requests, or deliver their results."""
        if self._settings.requests is not None:
            return self._write(run, requests, self._settings.requests)
        return self._read(run, requests, delivery)

    def close(self) -> None:
        """Nothing is held."""

    def _sent(self) -> dict[str, Any]:
        settings, prompts = self._settings, self._prompts
        tokens = (settings.max_tokens or prompts.max_tokens) + self._reasoning
        sent: dict[str, Any] = {"model": self._model, self._limit_name: tokens}
        if not settings.omit_temperature:
            chosen = settings.temperature
            sent["temperature"] = prompts.temperature if chosen is None else chosen
        if settings.seed is not None:
            sent["seed"] = settings.seed
        if self._way is not None:
            sent |= self._way.parameters
        return sent

    def _line(self, run: Run, request: Request) -> bytes:
        parameters = dict(self._parameters)
        if request.repeat and "seed" in parameters:
            parameters["seed"] += request.repeat
        if request.max_tokens is not None:
            parameters[self._limit_name] = request.max_tokens + self._reasoning
        message = {"role": "user", "content": request.prompt}
        line = {
            "custom_id": custom_id(run, request),
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {**parameters, "messages": [message]},
        }
        return json.dumps(line, ensure_ascii=False).encode() + b"\n"

    def _write(self, run: Run, requests: Iterable[Request], folder: Path) -> tuple[str, ...]:
        files = _Files(folder)
        try:
            for request in requests:
                files.add(self._line(run, request))
            written = files.finish()
        except BaseException:
            files.abandon()
            raise
        command = f"ccrs judge {self._study.folder} --engine batch --model {self._model}"
        return (
            *(f"Wrote {path} ({count} prompts)." for path, count in written.items()),
            f"Send them; then `{command} --answers RESULTS...` with the same other options.",
        )

    def _read(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        results = self._results
        waiting: list[tuple[Request, Answer]] = []
        for request in requests:
            said = results.take(custom_id(run, request))
            if isinstance(said, Failure):
                delivery.failed(request, said)
                continue
            waiting.append((request, said))
            if len(waiting) >= _TOGETHER:
                delivery.commit(waiting)
                waiting = []
        if waiting:
            delivery.commit(waiting)
        return results.notes()


def custom_id(run: Run, request: Request) -> str:
    """Return the name under which a prompt goes out, in 64 characters.

    It stands for the run's identity, the very prompt and the attempt, so that no result is taken
    for another one, nor twice.
    """
    attempt = max(request.attempts)
    parts = (request.construct_key, f"{request.repeat} {attempt}", request.prompt)
    state = sha256()
    for part in parts:
        encoded = part.encode()
        state.update(len(encoded).to_bytes(8, "big") + encoded)
    return f"{run.identity[:_OF_RUN]}-{state.hexdigest()[:40]}"


def _refuse_full(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise StudyError(f"{folder} is no folder. Give --requests the name of one.")
    if folder.is_dir() and (there := sorted(folder.glob("judge-*.jsonl"))):
        raise StudyError(
            f"{there[0]} is there already. Choose another folder, or move those files away."
        )


class _Files:
    """Files of a batch, each under another name until all are written."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._stream: IO[bytes] | None = None
        self._counts: dict[Path, int] = {}
        self._bytes = 0

    def add(self, line: bytes) -> None:
        if self._stream is None or self._is_full(line):
            self._next()
        assert self._stream is not None  # noqa: S101  (the line above)
        self._stream.write(line)
        self._counts[self._path] += 1
        self._bytes += len(line)

    def finish(self) -> dict[Path, int]:
        if self._stream is not None:
            self._stream.close()
        for path in self._counts:
            _part(path).replace(path)
        return self._counts

    def abandon(self) -> None:
        if self._stream is not None:
            self._stream.close()
        for path in self._counts:
            _part(path).unlink(missing_ok=True)

    def _is_full(self, line: bytes) -> bool:
        return self._counts[self._path] >= MOST_REQUESTS or self._bytes + len(line) > MOST_BYTES

    def _next(self) -> None:
        if self._stream is not None:
            self._stream.close()
        self._path = self._folder / f"judge-{len(self._counts) + 1:03}.jsonl"
        self._stream = _part(self._path).open("wb")
        self._counts[self._path] = 0
        self._bytes = 0


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


class _Results:
    """Results of a batch by the name of their prompt."""

    def __init__(self, identity: str, scores: ScoreTokens | None) -> None:
        self._scores = scores
        self._prefix = f"{identity[:_OF_RUN]}-"
        self._found: dict[str, Answer | Failure] = {}
        self._taken = 0
        self._counts: Counter[str] = Counter()

    def read(self, path: Path) -> None:
        """Take in a file of results or of errors.

        Raises
        ------
        InputError
            A line is none of a batch's, or belongs to another run; nothing is taken.
        """
        if not path.is_file():
            kind = "is a folder" if path.is_dir() else "does not exist"
            raise InputError(path.name, [Fault(f"{path} {kind}.", "Give the provider's file.")])
        faults: list[Fault] = []
        with path.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                if not line.strip():
                    continue
                problem = self._take_in(line)
                if problem is not None:
                    faults.append(Fault(*problem, number))
        if faults:
            raise InputError(path.name, faults)

    def doubt_refusals(self) -> None:
        """Take refusals as failures where they outnumber the answers, so that they are no end."""
        answers = {n: said for n, said in self._found.items() if isinstance(said, Answer)}
        refused = {n: said for n, said in answers.items() if said.missing == REJECTED}
        if len(refused) >= _REFUSALS and 2 * len(refused) > len(answers):
            for name, said in refused.items():
                self._found[name] = Failure(REJECTED, said.text or "")

    def take(self, name: str) -> Answer | Failure:
        """Return what came back for a prompt."""
        said = self._found.get(name)
        if said is None:
            return Failure("no_result", "the files hold no result for this prompt")
        self._taken += 1
        return said

    def notes(self) -> tuple[str, ...]:
        """Return what was not taken, in sentences."""
        left = len(self._found) - self._taken
        if left:
            self._counts[
                "results are of prompts that wait for none: judged already, not wanted now, or "
                "changed since"
            ] += left
        return tuple(f"{number} {what}." for what, number in self._counts.items())

    def _take_in(self, line: bytes) -> tuple[str, str] | None:
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            return "The line is no JSON.", "Give the provider's file as it is."
        name = data.get("custom_id") if isinstance(data, dict) else None
        if not isinstance(name, str):
            return "The line has no custom_id.", "Give the provider's results or errors."
        if not name.startswith(self._prefix):
            return (
                f"{printable(name)[:80]!r} belongs to another run.",
                "Read results with the options that their requests were written with.",
            )
        said = _said(data, self._scores)
        if said is None:
            return (
                "The line holds neither a response nor an error.",
                "Give the provider's results or errors.",
            )
        before = self._found.get(name)
        if isinstance(before, Answer):
            self._counts["results came twice, and the first is taken"] += 1
        else:
            self._found[name] = said
        return None


def _said(data: dict[str, Any], scores: ScoreTokens | None) -> Answer | Failure | None:
    error, response = data.get("error"), data.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    if isinstance(response, dict) and not body and isinstance(error, dict):
        # Some services put the words of a refusal beside the response.
        body = {"error": error}
    if isinstance(response, dict) and isinstance(body, dict | str):
        raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        status = response.get("status_code")
        said = read_reply(status if isinstance(status, int) else 200, {}, raw, None, scores)
        return said if isinstance(said, Answer) else Failure(said.reason, said.detail)
    if error:
        code = error.get("code") if isinstance(error, dict) else None
        words = printable(json.dumps(error, ensure_ascii=False))[:_SHOWN]
        return Failure(printable(str(code or "error"))[:_SHOWN], words)
    return None

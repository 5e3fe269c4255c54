"""Settings of the engine `vllm`."""

from typing import Literal

from pydantic import Field

from judge.settings import JudgeSettings, option


class VLLMSettings(JudgeSettings):
    """A judge that vLLM runs on this machine."""

    engine: Literal["vllm"] = "vllm"
    revision: str | None = Field(
        default=None,
        description="revision of the model on the hub: a tag or a commit",
        json_schema_extra=option("NAME"),
    )
    structured: bool = Field(
        default=False, description="let the model write nothing but a whole number"
    )
    processes: int = Field(
        default=1,
        ge=1,
        le=64,
        description="processes with a model each, on GPUs of their own",
        json_schema_extra=option("N"),
    )

"""The sections [judge] and [juries] of study.toml."""

from typing import Any, Literal

from pydantic import Field, field_validator

from study.settings import SettingsSection
from study.types import Key


class JurySpec(SettingsSection):
    """`[juries."NAME"]`: several judges whose scores are combined into those of one scorer."""

    of: tuple[Key, ...] = Field(
        min_length=2, description="the judges; where one of them has no score, the jury has none"
    )
    by: Literal["median", "mean"] = Field(
        default="median", description="how the judges' first scores are combined"
    )

    @field_validator("of")
    @classmethod
    def _each_once(cls, judges: tuple[str, ...]) -> tuple[str, ...]:
        twice = sorted({name for name in judges if judges.count(name) > 1})
        if twice:
            raise ValueError(f"{', '.join(map(repr, twice))} is named more than once")
        return judges


class JudgeSpec(SettingsSection):
    """`[judge]`: how a judge is run."""

    vllm: dict[Key, Any] = Field(
        default={},
        description="arguments of vLLM's engine, such as `dtype`, `quantization` or "
        "`tensor_parallel_size`",
    )

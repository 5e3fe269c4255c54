"""study.toml: a module for each group of sections."""

from pydantic import BaseModel, ConfigDict


class SettingsSection(BaseModel):
    """What all of them have in common: unknown settings are refused, nothing changes later."""

    model_config = ConfigDict(frozen=True, extra="forbid")

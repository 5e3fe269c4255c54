"""study.toml: a module for each group of sections."""

from pydantic import BaseModel, ConfigDict


class SettingsSection(BaseModel):
    """Base of all sections: unknown settings are refused, and values are immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid")

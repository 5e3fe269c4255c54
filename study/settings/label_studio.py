"""The section of study.toml about Label Studio."""

from urllib.parse import urlsplit

from pydantic import Field, field_validator

from study.settings.sections import SettingsSection
from study.types import Key


class LabelStudioSpec(SettingsSection):
    """`[label_studio]`: the server that slots are rated on. Its token is never a setting."""

    url: str | None = Field(
        default=None,
        description="address of the Label Studio server, with its path where it has one",
    )
    controls: dict[str, Key] = Field(
        default={},
        description="control of an imported export to the construct that it rates, such as "
        '`controls = { quality = "AC" }`',
    )

    @field_validator("url")
    @classmethod
    def _an_address_without_secret(cls, address: str | None) -> str | None:
        if address is None:
            return None
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("begin with http:// or https:// and a host")
        if "@" in parts.netloc:
            raise ValueError("holds a user or password; leave it out")
        return address

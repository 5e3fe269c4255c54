"""The sections [rating], [raters] and [label_studio] of study.toml: how and where people rate."""

from pathlib import Path
from typing import Literal, get_args
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from study.settings import SettingsSection
from study.types import Key

Exit = Literal["completion", "screen_out", "return"]
"""How a rater's part ends: all is done; not admitted, or not willing; left before the end."""
EXITS: tuple[Exit, ...] = get_args(Exit)

TextFormat = Literal["plain", "monospace", "rendered"]

LANGUAGE_TAG = r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"
"""The form of a language code, as in HTML: de, en-GB."""


class RatingSpec(SettingsSection):
    """`[rating]`: how people rate on the project's own pages."""

    disclosure: Literal["staged", "all"] = Field(
        default="staged",
        description="staged shows a field only once the constructs that may not see it are rated; "
        "all shows everything at once",
    )
    lease_minutes: float = Field(
        default=120,
        gt=0,
        le=60 * 24 * 366,
        description="minutes for which an open slot is reserved for a rater who saves nothing",
    )
    base_url: str = Field(
        default="http://127.0.0.1:8350",
        description="address of the pages, with which links begin",
    )
    language: str = Field(
        default="en",
        pattern=LANGUAGE_TAG,
        description="language of the texts, as in HTML; the attribute `language` of a query "
        "takes precedence",
    )
    interface_language: str = Field(
        default="en",
        pattern=LANGUAGE_TAG,
        description="language of the pages' own words: en, de, or the unreviewed translations es, "
        "fr, zh and ar; another needs a catalogue",
    )
    catalogue: str | None = Field(
        default=None,
        description="gettext catalogue (.po) next to study.toml with the pages' words in "
        "interface_language",
    )
    text_format: TextFormat = Field(
        default="plain",
        description="how responses, passages and references are shown: plain, as written in the "
        "pages' font; monospace, as written; rendered, as Markdown. Raters may switch between the "
        "last two",
    )
    words_per_minute: float = Field(
        default=238,
        gt=0,
        description="reading speed for the hours that `ccrs assign` states",
    )
    consent: str | None = Field(
        default=None,
        description="Markdown file next to study.toml that raters must agree to first",
    )
    instructions: str | None = Field(
        default=None,
        description="Markdown file next to study.toml that raters read before they rate",
    )
    session_minutes: float | None = Field(
        default=None,
        gt=0,
        description="active minutes after which a rater is asked to come back later",
    )
    break_minutes: float = Field(
        default=30, gt=0, description="pause after which a rater's next value begins a session"
    )
    adjudicators_see: str | None = Field(
        default=None,
        min_length=1,
        description="judge run whose score and reason an adjudicator sees, with other raters' "
        "values, once the blind value is stored",
    )
    completion_code: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="code that raters are shown at the end, to claim their payment",
    )
    completion_url: str | None = Field(
        default=None,
        description="https address that the last page links to; {code} is replaced by the code",
    )
    screen_out_code: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="code shown to raters who fail the training or decline the consent text",
    )
    screen_out_url: str | None = Field(
        default=None, description="https address that these raters are shown, like `completion_url`"
    )
    return_code: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="code shown to raters who have left the study before its end",
    )
    return_url: str | None = Field(
        default=None, description="https address that these raters are shown, like `completion_url`"
    )

    @field_validator("base_url")
    @classmethod
    def _an_origin(cls, address: str) -> str:
        try:
            parts = urlsplit(address)
            _ = parts.port
        except ValueError as error:
            raise ValueError(f"is not a valid address: {error}") from None
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("begin with http:// or https:// and a host")
        if "@" in parts.netloc:
            raise ValueError("contains a user or password; leave it out")
        if parts.path not in {"", "/"} or parts.query or parts.fragment:
            raise ValueError("give scheme, host and port only, without a path")
        return f"{parts.scheme}://{parts.netloc}"

    @field_validator(*(f"{way}_url" for way in EXITS))
    @classmethod
    def _a_way_back(cls, address: str | None) -> str | None:
        if address is not None and not address.startswith("https://"):
            raise ValueError("begin with https://")
        return address

    @field_validator("catalogue", "consent", "instructions")
    @classmethod
    def _beside_the_settings(cls, name: str | None) -> str | None:
        if name is not None and (Path(name).name != name or name in {"", ".", ".."}):
            raise ValueError("name a file next to study.toml, without a folder")
        return name


class RaterSpec(SettingsSection):
    """`[raters."CODE"]`: a rater; no personal data is needed."""

    languages: tuple[str, ...] = Field(
        default=(),
        description="languages of the queries assigned to the rater; default: all",
    )


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
            raise ValueError("contains a user or password; leave it out")
        return address

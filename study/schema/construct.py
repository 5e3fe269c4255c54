"""What is measured: a construct as it stood when something was rated or judged on it."""

from sqlalchemy import JSON, Text as LongText
from sqlmodel import Field

from study.scales import Level
from study.schema.base import Noun
from study.types import Key, Sees, Text


class ConstructBase(Noun):
    """A construct: its question to the rater, its scale and anchors, what it may see."""

    key: Key = Field(primary_key=True)
    name: Text
    question: Text = Field(sa_type=LongText)
    scale_min: float
    scale_max: float
    scale_step: float | None = None
    scale_level: Level = Field(sa_type=LongText)
    anchors: dict[str, Text] = Field(default_factory=dict, sa_type=JSON)
    """Point of the scale (as text) to the words that stand beside it."""
    sees: list[Sees] = Field(default_factory=list, sa_type=JSON)
    rules: list[Text] = Field(default_factory=list, sa_type=JSON)


class Construct(ConstructBase, table=True):
    version: int = Field(default=1, primary_key=True, ge=1)
    """A construct changed in study.toml is stored as its next version; the highest is current."""

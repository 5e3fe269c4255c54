"""The sections of study.toml on scorers: [scorers], [juries], [composites], [judge] and others."""

from typing import Annotated, Any, Literal, NamedTuple, Self
from unicodedata import category

from pydantic import Field, field_validator, model_validator

from study.base.scales import Scale
from study.settings import SettingsSection
from study.types import Key, ScorerKind


class ScorerSpec(SettingsSection):
    """`[scorers."NAME"]`: a scorer whose values are imported or computed."""

    kind: ScorerKind | None = Field(
        default=None, description="human, adjudicated, judge or metric; files may then leave it out"
    )
    scale: Scale | None = Field(
        default=None, description="the scorer's own scale, where it differs from the construct's"
    )
    note: str | None = Field(
        default=None, description="a remark that the report shows with the scorer"
    )

    low_is_good: bool | None = Field(
        default=None,
        description="whether a low value is a good sign, as of hallucination; default: as the "
        "metric declares that was measured here, else no",
    )
    family: Key | None = Field(
        default=None,
        description="family of a judge's model, as in systems; the report then looks for "
        "self-preference",
    )

    @field_validator("note")
    @classmethod
    def _one_paragraph(cls, note: str) -> str:
        text = " ".join(note.split())
        if not text:
            raise ValueError("is blank; write a remark, or leave the setting out")
        if any(category(character) == "Cc" for character in text):
            # It is printed on terminals, which obey some of them.
            raise ValueError("contains a control character; remove it")
        return text


class MetricSpec(SettingsSection):
    """`[metrics."NAME"]`: what a metric measures in this study."""

    on: tuple[str, ...] = Field(
        min_length=1,
        description="constructs that its values stand for, in place of those that it names",
    )


class SystemSpec(SettingsSection):
    """`[systems."NAME"]`: a system, and how `ccrs respond` makes its responses."""

    family: Key | None = Field(
        default=None,
        description="family of the model that writes its responses, such as llama",
    )
    reader: Key | None = Field(
        default=None,
        description="model that answers from the passages, as the engine names it; `ccrs respond` "
        "makes responses of systems with a reader",
    )
    retriever: Literal["bm25", "dense", "fused"] = Field(
        default="bm25",
        description="how passages are ranked: by words (bm25), by the cosine of vectors (dense), "
        "or by the reciprocal ranks of both (fused)",
    )
    chunk_tokens: int = Field(default=300, ge=1, description="most tokens of a passage")
    chunk_overlap: int = Field(
        default=60, ge=0, description="most tokens that a passage has in common with the one before"
    )
    passages: int = Field(default=20, ge=1, description="passages that the reader is given")
    fusion: int = Field(
        default=60,
        ge=0,
        description="constant that is added to each rank where rankings are fused",
    )
    query_prefix: str = Field(
        default="",
        description="text before each query for the encoder, such as the instruction that its "
        "model card asks for",
    )
    prompt: str = Field(
        default="rag-answer-v1",
        description="prompt of the reader: rag-answer-v1, or a TOML file in the study's folder",
    )

    @model_validator(mode="after")
    def _each_setting_has_an_effect(self) -> Self:
        given = self.model_fields_set
        reader_settings = sorted(given - {"family", "reader"})
        if self.reader is None and reader_settings:
            raise ValueError(
                f"{reader_settings[0]}: has no effect without a reader; name the model that answers"
            )
        if self.reader is None and self.family is None:
            raise ValueError("names neither the family nor the reader; give one of them")
        if self.chunk_overlap >= self.chunk_tokens:
            raise ValueError("chunk_overlap: must be below chunk_tokens")
        if self.retriever != "fused" and "fusion" in given:
            raise ValueError('fusion: goes with retriever = "fused"; leave it out')
        if self.retriever == "bm25" and "query_prefix" in given:
            raise ValueError('query_prefix: is for an encoder; leave it out with "bm25"')
        return self


class PreferenceSpec(SettingsSection):
    """`[preferences]`: how comparisons of two responses are scaled."""

    scale: Scale = Field(
        default=Scale(min=-2, max=2, step=1, level="ordinal"),
        description="range of a preference; a positive value means that response b is better",
    )


class CombinedMember(NamedTuple):
    """A scorer of which a jury or composite is made."""

    scorer: str
    construct: str | None = None
    """The construct of its scores; None: that of the jury or composite."""
    weight: float = 1.0


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

    @property
    def members(self) -> tuple[CombinedMember, ...]:
        """The judges."""
        return tuple(map(CombinedMember, self.of))


class CompositeSpec(SettingsSection):
    """`[composites."NAME"]`: the weighted mean of metrics and judges as one scorer."""

    of: dict[Key, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        min_length=2,
        description="the members with their weights, whose sum may be any; where a member has no "
        "score, the composite has none; with `on` each is named SCORER:CONSTRUCT",
    )
    on: Key | None = Field(
        default=None,
        description="construct of the composite, where its members are on several; default: each "
        "construct on which all members have scores",
    )

    @model_validator(mode="after")
    def _constructs_named(self) -> Self:
        for name in self.of if self.on is not None else ():
            scorer, _, construct = name.rpartition(":")
            if not scorer or not construct:
                raise ValueError(
                    f"of: {name!r} names no construct, which `on` asks for; write SCORER:CONSTRUCT"
                )
        return self

    @property
    def members(self) -> tuple[CombinedMember, ...]:
        """The scorers with their constructs and weights."""
        if self.on is None:
            return tuple(CombinedMember(name, None, weight) for name, weight in self.of.items())
        named = ((name.rpartition(":"), weight) for name, weight in self.of.items())
        return tuple(CombinedMember(scorer, key, weight) for (scorer, _, key), weight in named)


CombinedSpec = JurySpec | CompositeSpec
"""A scorer whose scores follow from those of others, in `of`."""


class JudgeSpec(SettingsSection):
    """`[judge]`: how a judge is run."""

    vllm: dict[Key, Any] = Field(
        default={},
        description="arguments of vLLM's engine, such as `dtype`, `quantization` or "
        "`tensor_parallel_size`",
    )

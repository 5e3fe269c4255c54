"""What a prompt asks for: a number on a scale, one of several labels, with or without a reason."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from judge.parsing.parse_answer import Form, Parsed, parse_answer
from judge.parsing.score_patterns import Names
from judge.prompts.answer_fields import Fields, parse_fields, schema_of
from judge.prompts.answer_schema import AnswerSchema, has_whole_scores, score_schema, word_schema
from study.base.scales import Scale


@dataclass(frozen=True, kw_only=True)
class AnswerForm:
    """What the prompt of a construct asks for."""

    scale: Scale
    """The range of scores."""
    form: Form = "score"
    labels: Mapping[str, float] = field(default_factory=dict)
    """Values of the labels that an answer, or the field with its score, may be."""
    fields: Fields = field(default_factory=dict)
    """The fields of an answer, where the form is `json`."""
    empty_response: float | None = None
    """Score of an empty response by the prompt's own rule; None: its prompt is asked."""
    max_tokens: int | None = None
    """Limit of the answer's tokens; None: that of the prompt version."""

    @cached_property
    def schema(self) -> AnswerSchema | None:
        """The schema of the answer; None where a free reason comes first."""
        if self.form == "json":
            return schema_of(self.fields, self.scale, self.labels)
        if self.form == "label":
            return word_schema(list(self.labels))
        return score_schema(self.scale) if self.form == "score" else None

    @property
    def score_scale(self) -> Scale | None:
        """The scale, if an answer begins with its score, a whole number; else None.

        The first token of "0.8" is that of 0, whose probability says nothing of the score.
        """
        begins_with_it = self.form == "score" and has_whole_scores(self.scale)
        return self.scale if begins_with_it else None

    def hashed(self) -> dict[str, Any]:
        """Return what belongs to the hash of a prompt version.

        What has its default is left out, so that later settings do not change earlier hashes.
        """
        content: dict[str, Any] = {
            "scale": [self.scale.min, self.scale.max],
            "empty_response": self.empty_response,
        }
        if self.form != "score":
            content["form"] = self.form
        if self.labels:
            content["labels"] = dict(self.labels)
        if self.fields:
            # As a list: their order is what the model writes first.
            content["fields"] = [[name, kind] for name, kind in self.fields.items()]
        if self.max_tokens is not None:
            content["max_tokens"] = self.max_tokens
        return content

    def parse(self, text: str | None, finish_reason: str | None, names: Names) -> Parsed:
        """Read the score in an answer; `names` are those of the study's constructs."""
        if self.form == "json":
            return parse_fields(text, finish_reason, self.fields, self.scale, self.labels)
        return parse_answer(
            text, self.scale, finish_reason, form=self.form, names=names, labels=self.labels
        )

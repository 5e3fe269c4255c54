"""CCRS: one prompt for each construct, one score an answer (Muhamed 2025, arXiv 2506.20128)."""

from functools import cached_property
from pathlib import Path
from typing import Self

from judge.metrics.metric import (
    Content,
    Metric,
    MetricInput,
    MetricValue,
    MissingValue,
    Prompt,
    Steps,
)
from judge.parsing.parse_answer import PARSER_VERSION
from judge.prompts.prompt_versions import prompt_version
from judge.prompts.template import Field, PromptVersion, Template
from judge.protocol.exchange import Answer
from study.base.scales import Scale
from study.types import Sees


class Ccrs(Metric):
    """The judge of the paper: five constructs with a separate prompt each."""

    key = "ccrs"
    version = PARSER_VERSION
    single_prompt = True

    def __init__(self, prompts: PromptVersion) -> None:
        self.words = prompts
        self.prompts = prompts
        self.constructs = tuple(prompts.templates)

    @classmethod
    def create(cls, prompts: str, study_folder: Path | None) -> Self:
        """Return CCRS with a prompt version of the package or of the study."""
        return cls(prompt_version(prompts, study_folder))

    @cached_property
    def fields(self) -> tuple[Sees, ...]:  # type: ignore[override]
        """The fields that any of its prompts shows."""
        templates = self.words.templates.values()
        return tuple(sorted({name for template in templates for name in template.sees}))

    def reads(self, construct: str) -> frozenset[Sees]:
        """Return the fields that the construct's prompt shows."""
        return self.words.templates[construct].sees

    def scale_of(self, construct: str) -> Scale:
        """Return the scale that the construct's prompt states."""
        return self.words.answer_of(construct).scale

    def empty_response_of(self, construct: str) -> float | None:
        """Return the score that the construct's prompt states for a response without text."""
        return self.words.answer_of(construct).empty_response

    def answer_limit(self, construct: str) -> int | None:
        """Return the limit that the construct sets for its answers."""
        return self.words.answer_of(construct).max_tokens

    def score(self, response: MetricInput) -> Steps:
        """Ask the construct's prompt and read the score in its answer."""
        [answer] = yield [self.ask(response)]
        return self.read(answer, response.construct)

    def ask(self, response: MetricInput) -> Prompt:
        """Return the construct's prompt."""
        template = self.words.templates[response.construct]
        parts = tuple(template.parts(_values(template, response)))
        form = self.words.answer_of(response.construct)
        return Prompt(response.construct, parts, form.max_tokens, form.schema, form.score_scale)

    def read(self, answer: Answer, construct: str) -> MetricValue | MissingValue:
        """Return the score in an answer, or the reason why there is none."""
        if answer.missing is not None:
            return MissingValue(answer.missing)
        form = self.words.answer_of(construct)
        parsed = form.parse(answer.text, answer.finish_reason, self.words.construct_names)
        if parsed.value is None:
            return MissingValue(parsed.reason or "no_score")
        return MetricValue(parsed.value, parsed.rule)

    def prompt_size(self, content: Content, construct: str) -> int | None:
        """Return an upper bound of the prompt's bytes: white space at the ends is removed later."""
        separators = len(self.words.passage_separator.encode()) * max(content.passage_count - 1, 0)
        sizes: dict[Field, int] = {
            "question": len(content.question.encode()),
            "response": len(content.text.encode()),
            "context": content.passage_bytes + separators,
            "ground_truth": len((content.reference or "").encode()),
        }
        template = self.words.templates[construct]
        return template.own_bytes + sum(sizes[name] for name in template.shown)


def _values(template: Template, response: MetricInput) -> dict[Field, str]:
    """Return the values of the fields that a template shows."""
    fields = template.sees
    values: dict[Field, str] = {}
    if "question" in fields:
        values["question"] = response.question
    if "response" in fields:
        values["response"] = response.response
    if "context" in fields:
        values["context"] = response.context
    if "reference" in fields:
        values["ground_truth"] = response.reference
    return values

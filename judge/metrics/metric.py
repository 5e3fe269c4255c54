"""The protocol of a metric: the fields that it reads, its prompts, and the value that it returns.

A metric is a generator over one response. It yields lists of prompts, is sent their answers in the
same order, and returns a `MetricValue`, or a `MissingValue` with its reason. The runner does the
rest: it stores each answer, resumes after an interruption by sending stored answers again, asks
equal prompts once, groups prompts that share a beginning, and accounts for tokens and reasons.

A metric has to follow two rules. It is a pure function: the same answers lead to the same prompts
and the same value, so it uses no clock and no random numbers. And it reads only the fields that it
declares, because responses that agree in these fields share one evaluation.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Literal

from judge.parsing.structured_answers import FAULTS
from judge.prompts.answer_schema import AnswerSchema
from judge.prompts.step_prompts import StepPrompts
from judge.prompts.template import PAPER, PromptSet
from judge.protocol.exchange import Answer
from study.base.scales import Scale
from study.errors import StudyError, nearest
from study.types import Sees


@dataclass(frozen=True, slots=True)
class Content:
    """A response with everything that a prompt may show of it."""

    id: int
    query: int
    context_hash: bytes
    question: str
    references: tuple[str, ...]
    text: str
    passages: tuple[str, ...] | None
    """In rank order; None where they were not read."""
    passage_bytes: int
    """Bytes of the passages in UTF-8, without separators."""
    passage_count: int
    selected: bool
    """Whether it is to be judged now."""

    @property
    def reference(self) -> str | None:
        """The first reference answer; None where the query has none."""
        return self.references[0] if self.references else None


@dataclass(frozen=True)
class Prompt:
    """One prompt of a step."""

    step: str
    parts: tuple[str, ...]
    """The text in parts, of which each field of the response is one."""
    max_tokens: int | None = None
    """Tokens of its answer; None: those of the metric's prompt set."""
    schema: AnswerSchema | None = None
    """What it requests, for engines that can enforce it; None: free text."""
    score_scale: Scale | None = None
    """Scale of the score with which its answer begins; None: it begins with something else."""
    compared: tuple[str, str] | None = None
    """Two texts: the answer is the cosine of their vectors, which an encoder computes."""

    @property
    def text(self) -> str:
        """The text that the model receives."""
        return "".join(self.parts)

    @cached_property
    def size(self) -> int:
        """Length in bytes of UTF-8."""
        return sum(len(part.encode("utf-8", "surrogatepass")) for part in self.parts)

    @cached_property
    def hash(self) -> str:
        """SHA-256 (hexadecimal) of the text: equal prompts of a run are asked once."""
        return sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class MetricValue:
    """The value of a response on one construct."""

    value: float
    """A point on the metric's scale."""
    rule: str | None = None
    """How it was obtained, in one word; None: the metric's key is stored."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """Intermediate figures, such as the number of statements."""


@dataclass(frozen=True, slots=True)
class MissingValue:
    """A missing value with its reason."""

    reason: str
    """One word, such as `no_statements`; the table `reasons` of the prompts explains it."""
    parts: Mapping[str, float] = field(default_factory=dict)


_OF_READERS = {
    f"{what}_{fault}": f"{what}: {meaning}"
    for what in ("claims", "statements", "questions", "nuggets", "labels", "numbers", "texts")
    for fault, meaning in FAULTS.items()
}
"""Reasons of `judge.metrics.step_readers`."""


class NoValueError(Exception):
    """Raised in `Metric.score` to end an evaluation as returning a `MissingValue` does."""

    def __init__(self, reason: str, parts: Mapping[str, float] | None = None) -> None:
        super().__init__(reason)
        self.missing = MissingValue(reason, parts or {})


Steps = Generator[Sequence[Prompt], Sequence[Answer], MetricValue | MissingValue]
"""What `Metric.score` returns: it yields prompts, is sent answers, and returns a value."""


@dataclass(frozen=True)
class MetricInput:
    """A response as a metric reads it: only the fields that the metric declares."""

    content: Content
    construct: str
    """Key of the construct that is measured."""
    fields: frozenset[Sees]
    shown_passages: tuple[str, ...] = ()
    """The passages in the order in which the run shows them."""
    shown_context: str = ""
    """These passages, joined."""
    strip: bool = True
    second: "MetricInput | None" = None
    """The response with which it is compared; None: it is judged alone."""

    @property
    def question(self) -> str:
        """The query."""
        self._check("question")
        return self._text(self.content.question)

    @property
    def response(self) -> str:
        """The text to be judged."""
        self._check("response")
        return self._text(self.content.text)

    @property
    def context(self) -> str:
        """The passages as one text."""
        self._check("context")
        return self.shown_context

    @property
    def passages(self) -> tuple[str, ...]:
        """The passages one by one."""
        self._check("context")
        return self.shown_passages

    @property
    def reference(self) -> str:
        """The first reference answer; empty where there is none."""
        self._check("reference")
        return self._text(self.content.reference or "")

    @property
    def references(self) -> tuple[str, ...]:
        """All reference answers."""
        self._check("reference")
        return tuple(self._text(text) for text in self.content.references)

    def _text(self, text: str) -> str:
        return text.strip() if self.strip else text

    def _check(self, name: Sees) -> None:
        if name not in self.fields:
            declared = ", ".join(sorted(self.fields)) or "none"
            raise StudyError(
                f"The metric reads the field {name!r}, which it does not declare (it declares: "
                f"{declared}). Add it to `fields`: responses are compared by what a metric reads."
            )


class Metric(ABC):
    """Base of all metrics. A package registers its metrics as entry points `ccrs.metrics`."""

    key: str
    """Name in options and tables."""
    version: str = "1"
    """To be raised whenever answers are read differently; stored with each value."""
    constructs: tuple[str, ...]
    """Keys of the constructs that it measures."""
    fields: tuple[Sees, ...]
    """The fields of a response that it reads."""
    scale: Scale = Scale()
    """Range of its values."""
    steps: int = 1
    """Largest number of lists of prompts that it yields; 0: it sends no prompts."""
    prompts: PromptSet | None = None
    """Its prompt templates; None: it sends no prompts."""
    single_prompt: bool = False
    """Whether each evaluation has exactly one prompt, whose size `prompt_size` returns before the
    text is made."""
    empty_response: float | None = None
    """Value of a response without text; None: such a response is evaluated like any other."""
    scorer_kind: Literal["judge", "metric"] = "judge"
    """What its scorer is in tables. A judge scores a construct as people do, and the report says
    what it may be used for; a metric measures something else and is compared with judges."""
    reference_reasons: tuple[str, ...] = ()
    """Missing reasons that say that a reference answer has nothing to compare with. A metric with
    any takes the best of several reference answers; without, `reference` is the first of them."""
    low_is_good: bool = False
    """Whether a low value is a good sign: the report turns its sign where it compares orders."""
    label_of_numbers: str | None = None
    """What the numbers of passages in an answer say of an item, such as `entailed`; None: its
    answers have no such numbers."""
    items_a_prompt: int | None = None
    """Items of a list that one prompt labels, from the first item on; None: all of them, or those
    that the metric did not drop."""
    compares_texts: bool = False
    """Whether some of its prompts are answered by an encoder: see `cosine`."""
    encoder: str = ""
    """Name of this encoder, which the runner sets: cosines by another one are other prompts."""
    max_tokens: int | None = None
    """Limit of answers whose step has none, which the runner sets where the engine has another."""
    key_names_model: bool = False
    """Whether another model has another key: then stored values are not computed again, only to
    be compared. For metrics without prompts."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if isinstance(cls.prompts, StepPrompts):
            cls.prompts = replace(cls.prompts, metric=cls.key)

    @abstractmethod
    def score(self, response: MetricInput) -> Steps:
        """Evaluate one response on one construct, which is `response.construct`.

        Answers that the server cut or refused are not sent: the runner ends the evaluation and
        stores the reason.
        """

    def cosine(self, first: str, second: str) -> Prompt:
        """Return the prompt that asks for the cosine of the vectors of two texts, neither blank.

        The metric sets `compares_texts`; `step_readers.cosine_in` reads the answer.
        """
        texts = json.dumps([first, second], ensure_ascii=False)
        parts = (f"Cosine of the vectors by {self.encoder}: ", texts)
        return Prompt("cosine", parts, compared=(first, second))

    def prepare(self, responses: Sequence[MetricInput]) -> None:
        """Compute together what `score` will need of each of these responses; here nothing."""
        del responses

    @classmethod
    def create(cls, prompts: str, study_folder: Path | None) -> "Metric":
        """Return the metric with the prompt version of this name.

        Raises
        ------
        StudyError
            The metric has no such version.
        """
        del study_folder
        metric = cls()
        version = metric.prompts.name if metric.prompts is not None else None
        if prompts not in {PAPER, version}:
            has = f"it has {version}" if version else "it sends no prompts"
            raise StudyError(f"The metric {metric.key} has no prompt version {prompts!r}; {has}.")
        return metric

    @property
    def reasons(self) -> Mapping[str, str]:
        """Explanations of the metric's own missing reasons, a few words each."""
        own = self.prompts.reasons if isinstance(self.prompts, StepPrompts) else {}
        return {**_OF_READERS, **own}

    def reads(self, construct: str) -> frozenset[Sees]:
        """Return the fields that it reads for a construct."""
        del construct
        return frozenset(self.fields)

    def scale_of(self, construct: str) -> Scale:
        """Return the range of its values on a construct."""
        del construct
        return self.scale

    def empty_response_of(self, construct: str) -> float | None:
        """Return the value of a response without text; None: it is evaluated like any other."""
        del construct
        return self.empty_response

    def answer_limit(self, construct: str) -> int | None:
        """Return the tokens of the answer to a single prompt; None: those of the prompt set."""
        del construct
        return None

    def prompt_size(self, content: Content, construct: str) -> int | None:
        """Return the size in bytes of a response's single prompt, without reading its passages.

        None where `single_prompt` is False: such evaluations are planned from the full texts.
        """
        del content, construct
        return None

    def prompt(self, step: str, schema: AnswerSchema | None = None, /, **values: str) -> Prompt:
        """Return the prompt of a step with these values in its fields.

        Parameters
        ----------
        step
            Key of the step.
        schema
            What the prompt requests, from `judge.prompts.answer_schema`: enforced by engines that
            can (`--answer-schema`, `--structured`). None: the answer is free text.
        values
            The text of each field.

        Raises
        ------
        StudyError
            The prompt set has no such step, or a field of its template has no value.
        """
        prompts = self.prompts
        if not isinstance(prompts, StepPrompts):
            raise StudyError(f"The metric {self.key} has no prompts by step.")
        if step not in prompts.steps:
            hint = nearest(step, prompts.steps)
            raise StudyError(f"The prompts {prompts.name} have no step {step!r}. {hint}".rstrip())
        template = prompts.steps[step]
        if set(template.fields()) != set(values):
            raise StudyError(
                f"The prompt {step!r} of {prompts.name} has the fields "
                f"{', '.join(template.fields()) or '(none)'}, but the metric passes "
                f"{', '.join(values) or 'none'}."
            )
        return Prompt(step, template.parts(values), template.max_tokens, schema)

    def trimmed(self, text: str) -> str:
        """Return a field's text as the metric reads it."""
        strips = self.prompts.strip_fields if self.prompts is not None else True
        return text.strip() if strips else text

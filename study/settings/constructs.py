"""The five CCRS constructs, as raters meet them.

Names, what each may see, and the words at the two ends of the scale are those of the prompts in
Muhamed 2025 (arXiv 2506.20128, Appendix B). The questions and the rules for hard cases are this
project's; the judge's prompts do not contain those rules.
"""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from study.base.scales import Scale
from study.types import Key, Sees, Text


class ConstructSpec(BaseModel):
    """`[[constructs]]`: a construct."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: Key = Field(description="short name, as in files and tables")
    name: Text = Field(description="full name")
    question: Text = Field(description="question to the rater")
    scale: Scale = Scale()
    anchors: dict[str, Text] = Field(
        default={}, description="labels of points of the scale, by point"
    )
    sees: tuple[Sees, ...] = Field(
        default=("question", "response", "context", "reference"),
        description="fields that rater and judge may see",
    )
    rules: tuple[Text, ...] = Field(default=(), description="short rules for hard cases")
    # What follows is not part of the construct's version.
    flags: tuple[Key, ...] = Field(
        default=(), description='remarks that a rater may tick, such as "too long"'
    )
    control: Key | None = Field(
        default=None, description="control of the rating page; default: chosen by the scale"
    )
    comment_question: Text | None = Field(
        default=None,
        description="optional question that the rater answers in the comment, in words",
    )

    values: dict[str, float | Literal[""]] = Field(
        default={},
        description='numbers of words in imported files, such as {good = 2, unsure = ""}; "" is '
        "missing",
    )

    mark_question: Text | None = Field(
        default=None,
        description="request to mark the sentences of the response that carry the judgment",
    )

    @property
    def word_values(self) -> dict[str, float | None]:
        """Number of each word of `values`; None is missing."""
        return {word: None if number == "" else number for word, number in self.values.items()}

    @model_validator(mode="after")
    def _values_are_of_the_scale(self) -> Self:
        for word, number in self.word_values.items():
            problem = None if number is None else self.scale.problem(number)
            if not word.strip():
                problem = "a word is blank; blank cells are missing values in any case"
            if problem:
                raise ValueError(f"values of {self.key}: {problem}")
        return self

    @model_validator(mode="after")
    def _marks_need_a_response(self) -> Self:
        if self.mark_question is not None and "response" not in self.sees:
            raise ValueError(
                f"mark_question of {self.key}: raters mark sentences of the response, which "
                'sees does not contain; add "response" to sees, or remove mark_question'
            )
        if self.mark_question is not None and not self.mark_question.strip():
            raise ValueError(f"mark_question of {self.key} is blank; write it, or remove it")
        return self

    @model_validator(mode="after")
    def _anchors_lie_on_the_scale(self) -> Self:
        for point in self.anchors:
            try:
                problem = self.scale.problem(float(point))
            except ValueError:
                problem = f"{point!r} is not a number"
            if problem:
                raise ValueError(f"anchor of {self.key}: {problem}")
        return self


RETRIEVAL = ConstructSpec(
    key="retrieval",
    name="Retrieval",
    question="How good is the ranking of the passages?",
    scale=Scale(min=0, max=1),
    sees=(),
)
"""What metrics of a ranking measure: not a property of the response, so neither rated nor judged.

It is in the score table of a study that has such values, whatever its study.toml defines."""

_REFUSAL = "A refusal is a response: rate what it says, not whether it should have been given."
_LANGUAGE = "A response in another language than the question is rated for its content."
_REFERENCE = "Follow the reference as written; if it seems wrong, flag it and still follow it."
_REFERENCE_FLAG = ("reference seems wrong",)

CCRS = (
    ConstructSpec(
        key="QR",
        name="Question Relevance",
        question="How directly does the response address the question that was asked?",
        anchors={
            "0": "completely irrelevant",
            "100": "perfectly relevant and directly answers the query",
        },
        sees=("question", "response"),
        rules=(
            "Whether the answer is true does not matter here, only whether it answers.",
            _REFUSAL,
            _LANGUAGE,
        ),
    ),
    ConstructSpec(
        key="CC",
        name="Contextual Coherence",
        question="Does the response follow from the passages, without contradicting them?",
        anchors={
            "0": "completely incoherent or contradictory",
            "100": "perfectly coherent and consistent",
        },
        sees=("response", "context"),
        rules=(
            "A statement that is true but not in the passages counts as unsupported.",
            "Irrelevant passages are no excuse: the response must still agree with them.",
            _REFUSAL,
        ),
    ),
    ConstructSpec(
        key="ID",
        name="Information Density",
        question="Does the response say what is needed, neither too long nor too thin?",
        anchors={
            "0": "either too verbose or uninformative",
            "100": "optimally concise and informative for the query",
        },
        sees=("question", "response", "context"),
        rules=("If the value is low, say in the comment: too long or too thin.", _REFUSAL),
        flags=("too long", "too thin"),
    ),
    ConstructSpec(
        key="AC",
        name="Answer Correctness",
        question="How correct is the response, compared with the reference answer?",
        anchors={
            "0": "completely incorrect or contains significant factual errors",
            "100": "perfect factual accuracy (semantically equivalent to the ground truth)",
        },
        sees=("response", "context", "reference"),
        rules=(_REFERENCE, "Other words for the same facts are as good.", _LANGUAGE),
        flags=_REFERENCE_FLAG,
    ),
    ConstructSpec(
        key="IR",
        name="Information Recall",
        question="How much of the essential information in the reference does the response give?",
        anchors={
            "0": "no essential information from the ground truth is recalled",
            "100": "all essential information is fully captured",
        },
        sees=("response", "context", "reference"),
        rules=(_REFERENCE, "Extra material neither adds nor takes away.", _LANGUAGE),
        flags=_REFERENCE_FLAG,
    ),
)

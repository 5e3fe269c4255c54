"""The prompt of a reader, and the response in its answer."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from judge.parsing.markup import after_thinking
from judge.prompts.step_prompts import StepPrompts, step_prompts
from judge.protocol.exchange import Answer
from study.errors import StudyError
from study.settings.scorer_sections import SystemSpec

STEP = "answer"
FIELDS = ("passages", "question")
SHIPPED = {"rag-answer-v1": Path(__file__).with_name("rag_answer.toml")}

TAGGED = "tagged"
"""The response is what stands between the first <answer> and the </answer> after it."""
WHOLE = "whole"
"""The answer has no such tags: all of it is the response."""
CUT = "length"
"""Finish reason of an answer that the limit of tokens cut."""


TRUNCATED = "truncated"
"""Why there is no response where the limit of tokens cut the answer before one."""


class ReadResponse(NamedTuple):
    """A response, with the rule by which it was read from the answer."""

    text: str
    rule: str


def reader_prompts(name: str, study_folder: Path) -> StepPrompts:
    """Return the prompt of this name: one of the package, or a TOML file of the study.

    Raises
    ------
    StudyError
        There is none of this name, or it can't be used.
    """
    path = SHIPPED.get(name, study_folder / name)
    if name not in SHIPPED and path.suffix != ".toml":
        raise StudyError(
            f"Unknown prompt of a reader {name!r}: name {', '.join(SHIPPED)}, or a file in the "
            "study's folder such as prompt.toml."
        )
    prompts = step_prompts(str(path))
    if set(prompts.steps) != {STEP}:
        raise StudyError(f"{path}: a reader has one prompt, in the table [steps.{STEP}].")
    shown = prompts.steps[STEP].fields()
    if set(shown) != set(FIELDS):
        raise StudyError(
            f"{path}: the prompt shows {', '.join(shown) or 'no field'}; write {{passages}} and "
            "{question}, and no other word in braces."
        )
    return prompts


def filled(prompts: StepPrompts, question: str, passages: Sequence[str]) -> str:
    """Return the text of a prompt."""
    if prompts.strip_fields:
        question, passages = question.strip(), [text.strip() for text in passages]
    values = {"question": question, "passages": prompts.passage_separator.join(passages)}
    return "".join(prompts.steps[STEP].parts(values))


def prompt_hash(prompt: str) -> str:
    """Return the SHA-256 (hexadecimal) of a prompt."""
    return sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()


def read_response(answer: Answer) -> ReadResponse | None:
    """Return the response in an answer, without the model's reasoning before it.

    None: the limit of tokens cut the answer before a response began.

    Examples
    --------
    >>> read_response(Answer("It follows: <answer> Paris. </answer>"))
    ReadResponse(text='Paris.', rule='tagged')
    >>> read_response(Answer("<think>Hm.</think> Paris."))
    ReadResponse(text='Paris.', rule='whole')
    """
    text = after_thinking(answer.text or "")
    is_cut = answer.finish_reason == CUT
    if text is None or (is_cut and not text.strip()):
        return None
    _, begins, after = text.partition("<answer>")
    inside, ends, _ = after.partition("</answer>")
    # An answer that was cut has no end.
    if begins and (ends or is_cut):
        return ReadResponse(inside.strip(), TAGGED)
    return ReadResponse(text.strip(), WHOLE)


def described(spec: SystemSpec, prompts: StepPrompts) -> dict[str, object]:
    """Return how a system makes its responses, with the version of its prompt."""
    return {
        **spec.model_dump(exclude={"family"}),
        "prompt": prompts.name,
        "prompt_hash": prompts.hash,
    }

"""The claims that metrics in steps read in a response, with the labels that they were given."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from judge.metrics.metric import Metric, MetricInput, Prompt
from judge.parsing.structured_answers import UnreadableError, on_one_line, read_list, read_object
from judge.text import printable

_NUMBERED = re.compile(r"(\d+)\. (.*)")
_PASSAGE = "passage "
_QUESTION = "the question"
# Characters of a text that has no name.
_SHOWN = 60


@dataclass(frozen=True)
class LabeledClaim:
    """A claim, a statement or a question, as a model listed it."""

    of: str
    """What it is, such as "claims of the response"."""
    text: str
    labels: list[str]
    """Each label with the texts for which it was given, such as "entailed: passages 1, 3"."""


class LabeledClaims:
    """The claims of one response, from the prompts of metrics and their answers."""

    def __init__(self) -> None:
        self._labels: dict[tuple[str, str], dict[str, dict[str, None]]] = {}
        """(What it is, text) to label to the names of the texts for which it was given."""
        self._shown: MetricInput | None = None
        self._names: dict[str, str] = {}
        """Of the texts of `_shown`."""

    def add(self, metric: Metric, shown: MetricInput, prompt: Prompt, answer: str | None) -> None:
        """Add what a prompt and its answer say, if that is a list, or labels by number."""
        names = self._names_of(shown)
        fields = prompt.parts[1::2]
        read = _read(prompt, answer)
        if isinstance(read, list) and fields:
            for item in read:
                of = f"{prompt.step} of {_name(names, fields[-1])}"
                self._labels.setdefault((of, on_one_line(item)), {})
        elif isinstance(read, dict) and len(fields) > 1:
            by = _name(names, fields[-2])
            for match in map(_NUMBERED.fullmatch, fields[-1].splitlines()):
                if match is not None:
                    said = read.get(match[1], "(no label)")
                    label, texts = _in_words(metric, shown.shown_passages, names, said, by)
                    self._label(prompt.step, on_one_line(match[2]), label, texts)

    def title(self, shown: MetricInput, prompt: Prompt) -> str:
        """Return the step of a prompt with what it shows of the response.

        Examples: "claims (the response)", "check (claims of the reference, passage 2)".
        """
        fields = prompt.parts[1::2]
        numbered = filter(None, map(_NUMBERED.fullmatch, fields[-1].splitlines() if fields else ()))
        texts = {on_one_line(match[2]) for match in numbered}
        parts = dict.fromkeys(of for of, text in self._labels if text in texts)
        names = self._names_of(shown)
        for field in fields:
            name = names.get(on_one_line(field))
            if name is not None and name != _QUESTION:
                parts[name] = None
            elif shown.shown_passages and all(text in field for text in shown.shown_passages):
                parts["the passages"] = None
        return f"{prompt.step} ({', '.join(parts)})" if parts else prompt.step

    def listed(self) -> Iterator[LabeledClaim]:
        """Yield the claims with their labels, in the order in which they were added."""
        for (of, text), labels in self._labels.items():
            given = [
                f"{label}: {_joined(names)}" if names else label for label, names in labels.items()
            ]
            yield LabeledClaim(of, text, given)

    def _names_of(self, shown: MetricInput) -> dict[str, str]:
        """Return what the texts of a response are; passages have their rank as number."""
        if shown is not self._shown:
            content = shown.content
            named = {
                content.question: _QUESTION,
                shown.shown_context: "the passages",
                **{
                    passage: f"{_PASSAGE}{n}" for n, passage in enumerate(content.passages or (), 1)
                },
                **dict.fromkeys(content.references, "the reference"),
                content.text: "the response",
            }
            self._names = {on_one_line(key): name for key, name in named.items() if key}
            self._shown = shown
        return self._names

    def _label(self, step: str, text: str, label: str, names: Iterable[str]) -> None:
        listed = [key for key in self._labels if key[1] == text] or [(step, text)]
        for key in listed:
            of_label = self._labels.setdefault(key, {}).setdefault(label, {})
            of_label.update(dict.fromkeys(names))


def claim_lines(claims: Iterable[LabeledClaim]) -> list[str]:
    """Return claims as lines for a terminal, below what they are."""
    lines = []
    for of, group in groupby(claims, key=lambda claim: claim.of):
        lines.append(f"  {printable(of)}:")
        for claim in group:
            lines += [f"    - {printable(claim.text)}"]
            lines += [f"        {printable(label)}" for label in claim.labels]
    return lines


def _read(prompt: Prompt, answer: str | None) -> list[str] | dict[str, Any] | None:
    """Return the list or the labels that an answer is, as metrics read it; None: it is neither."""
    asked = None if prompt.schema is None else prompt.schema.schema["type"]
    try:
        if asked in {None, "array"}:
            return read_list(answer, prompt.step)
    except UnreadableError:
        pass
    try:
        return None if asked == "array" else dict(read_object(answer, lines=True))
    except UnreadableError:
        return None


def _in_words(
    metric: Metric, passages: Sequence[str], names: Mapping[str, str], value: Any, by: str
) -> tuple[str, list[str]]:
    """Return what an answer says of an item, and the names of the texts for which it says it."""
    word = metric.label_of_numbers
    if word is None or not isinstance(value, list):
        return str(value), [by]
    if not all(type(number) is int and 1 <= number <= len(passages) for number in value):
        return f"unreadable answer {value}", ["the passages"]
    named = [_name(names, passages[number - 1]) for number in value]
    return (word, named) if named else (f"{word} by no passage", [])


def _joined(names: Iterable[str]) -> str:
    """Return names as a list, with the numbers of passages after one word."""
    numbers = [name.removeprefix(_PASSAGE) for name in names if name.startswith(_PASSAGE)]
    others = [name for name in names if not name.startswith(_PASSAGE)]
    word = "passages" if len(numbers) > 1 else "passage"
    return ", ".join([*([f"{word} {', '.join(numbers)}"] if numbers else []), *others])


def _name(names: Mapping[str, str], text: str) -> str:
    """Return what a text of a prompt is, or its beginning where it has no name."""
    line = on_one_line(text)
    return names.get(line, line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…")

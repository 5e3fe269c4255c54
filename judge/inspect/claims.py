"""The claims that metrics in steps read in a response, with the labels that they were given."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from judge.metrics.metric import Metric, MetricInput, Prompt
from judge.parsing.structured_answers import UnreadableError, on_one_line, read_by_number, read_list
from judge.text import printable

_NUMBERED = re.compile(r"\d+\. (.*)")
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


@dataclass
class _Listed:
    """A list of claims, or the numbered lines of a prompt that shows no list."""

    of: str
    text: str
    """In which they were read, on one line; empty where no list was asked for."""
    items: tuple[str, ...]
    labels: list[dict[str, dict[str, None]]] = field(init=False)
    """Of each item: label to the names of the texts for which it was given."""

    def __post_init__(self) -> None:
        self.labels = [{} for _ in self.items]

    def positions(self, block: tuple[str, ...], most: int | None) -> list[int] | None:
        """Return the positions of the items that a prompt shows; None: it shows another list.

        `most` is how many items of a list one prompt shows. Without such a number it shows those
        that were not dropped.
        """
        if most is not None:
            for start in range(0, len(self.items), most):
                if self.items[start : start + most] == block:
                    return list(range(start, start + len(block)))
            return None
        found: list[int] = []
        for text in block:
            try:
                found.append(self.items.index(text, found[-1] + 1 if found else 0))
            except ValueError:
                return None
        return found


class LabeledClaims:
    """The claims of one response, from the prompts of metrics and their answers."""

    def __init__(self) -> None:
        self._lists: dict[tuple[str, tuple[str, ...]], _Listed] = {}
        """By what they are, and their items."""
        self._shown: MetricInput | None = None
        self._names: dict[str, list[str]] = {}
        """Of the texts of `_shown`."""

    def add(self, metric: Metric, shown: MetricInput, prompt: Prompt, answer: str | None) -> None:
        """Add what a prompt and its answer say, if that is a list, or labels by number.

        An answer may be added again. Where two metrics share a prompt, it is the same, but each has
        lists of its own that the prompt may show.
        """
        fields = prompt.parts[1::2]
        read = _read(prompt, answer)
        if isinstance(read, list) and fields:
            of = f"{prompt.step} of {_and(self._names_in(shown, fields[-1]))}"
            self._list(of, fields[-1], tuple(map(on_one_line, read)))
        elif isinstance(read, dict) and len(fields) > 1 and (block := _block(fields[-1])):
            by = self._names_in(shown, fields[-2])
            said = [
                self._in_words(metric, shown, read.get(str(number), "(no label)"), by)
                for number, _ in enumerate(block, 1)
            ]
            for listed, positions in self._shown_in(metric, shown, prompt, block):
                for position, (label, names) in zip(positions, said, strict=True):
                    listed.labels[position].setdefault(label, {}).update(dict.fromkeys(names))

    def title(self, metric: Metric, shown: MetricInput, prompt: Prompt) -> str:
        """Return the step of a prompt with what it shows of the response.

        Examples: "claims (the response)", "check (claims of the reference, passage 2)".
        """
        fields = prompt.parts[1::2]
        parts: dict[str, None] = {}
        if fields and (block := _block(fields[-1])):
            found = self._shown_in(metric, shown, prompt, block, add=False)
            parts.update(dict.fromkeys(listed.of for listed, _ in found))
        names = self._names_of(shown)
        for text in fields:
            named = names.get(on_one_line(text))
            if named is not None and named != [_QUESTION]:
                parts[_joined(named)] = None
            elif (
                not _block(text)
                and shown.shown_passages
                and all(part in text for part in shown.shown_passages)
            ):
                parts["the passages"] = None
        return f"{prompt.step} ({', '.join(parts)})" if parts else prompt.step

    def listed(self) -> Iterator[LabeledClaim]:
        """Yield the claims with their labels, in the order in which they were added."""
        for listed in self._lists.values():
            for text, labels in zip(listed.items, listed.labels, strict=True):
                given = [
                    f"{label}: {_joined(names)}" if names else label
                    for label, names in labels.items()
                ]
                yield LabeledClaim(listed.of, text, given)

    def _list(self, of: str, text: str, items: tuple[str, ...]) -> _Listed:
        return self._lists.setdefault((of, items), _Listed(of, on_one_line(text), items))

    def _shown_in(
        self,
        metric: Metric,
        shown: MetricInput,
        prompt: Prompt,
        block: tuple[str, ...],
        *,
        add: bool = True,
    ) -> list[tuple[_Listed, list[int]]]:
        """Return the lists whose items a prompt shows, with their positions.

        Two equal lists share a prompt, except that the claims of a text are not checked by it.
        Lines that are in no list are one by themselves.
        """
        fields = prompt.parts[1::2]
        shows = fields[-2] if len(fields) > 1 else ""
        names = self._names_of(shown).get(on_one_line(shows), [])
        given = _block(shows)
        found = [
            (listed, positions)
            for listed in self._lists.values()
            if (positions := listed.positions(block, metric.items_a_prompt)) is not None
        ]
        if metric.items_a_prompt is None:
            found = [each for each in found if each[0].items == block] or found
        if not found and add:
            return [(self._list(prompt.step, "", block), list(range(len(block))))]
        others = [
            (listed, positions)
            for listed, positions in found
            if listed.items != given
            and (listed.text != on_one_line(shows) or any(map(_is_passage, names)))
        ]
        return others or found

    def _names_in(self, shown: MetricInput, text: str) -> list[str]:
        """Return what a text of a prompt is, or its beginning where it has no name."""
        line = on_one_line(text)
        names = self._names_of(shown).get(line)
        if names is None and (block := _block(text)):
            names = [listed.of for listed in self._lists.values() if listed.items == block]
        return names or [line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"]

    def _names_of(self, shown: MetricInput) -> dict[str, list[str]]:
        """Return what the texts of a response are; passages have their rank as number."""
        if shown is not self._shown:
            content = shown.content
            # These may be equal, which a claim's labels should say.
            named = [
                *((text, f"{_PASSAGE}{n}") for n, text in enumerate(content.passages or (), 1)),
                (content.reference or "", "the reference"),
                (content.text, "the response"),
            ]
            others = [
                *((text, f"reference {n}") for n, text in enumerate(content.references[1:], 2)),
                (content.question, _QUESTION),
                (shown.shown_context, "the passages"),
            ]
            self._names = {}
            for text, name in named:
                self._names.setdefault(on_one_line(text), []).append(name)
            for text, name in others:
                self._names.setdefault(on_one_line(text), [name])
            self._names.pop("", None)
            self._shown = shown
        return self._names

    def _in_words(
        self, metric: Metric, shown: MetricInput, value: Any, by: list[str]
    ) -> tuple[str, list[str]]:
        """Return what an answer says of an item, and the names of the texts for which it does."""
        word = metric.label_of_numbers
        if word is None or not isinstance(value, list):
            return str(value), by
        # Prompts number the passages that have text.
        passages = [line for text in shown.shown_passages if (line := on_one_line(text))]
        if not all(type(number) is int and 1 <= number <= len(passages) for number in value):
            return f"unreadable answer {value}", ["the passages"]
        named = [self._passage(shown, passages, number - 1) for number in value]
        return (word, named) if named else (f"{word} by no passage", [])

    def _passage(self, shown: MetricInput, passages: list[str], place: int) -> str:
        """Return the name of the passage at a place of a prompt; several may be equal."""
        ranks = filter(_is_passage, self._names_of(shown)[passages[place]])
        return list(ranks)[passages[:place].count(passages[place])]


def claim_lines(claims: Iterable[LabeledClaim]) -> list[str]:
    """Return claims as lines for a terminal, below what they are."""
    lines = []
    for of, group in groupby(claims, key=lambda claim: claim.of):
        lines.append(f"  {printable(of)}:")
        for claim in group:
            lines += [f"    - {printable(claim.text)}"]
            lines += [f"        {printable(label)}" for label in claim.labels]
    return lines


def _block(text: str) -> tuple[str, ...]:
    """Return the items of numbered lines; none where a line is something else."""
    found = [_NUMBERED.fullmatch(line) for line in text.split("\n")]
    return tuple(on_one_line(match[1]) for match in found if match) if all(found) else ()


def _read(prompt: Prompt, answer: str | None) -> list[str] | dict[str, Any] | None:
    """Return the list or the labels that an answer is, as metrics read it; None: it is neither."""
    asked = None if prompt.schema is None else prompt.schema.schema["type"]
    try:
        if asked in {None, "array"}:
            return read_list(answer, prompt.step)
    except UnreadableError:
        pass
    try:
        return None if asked == "array" else read_by_number(answer)
    except UnreadableError:
        return None


def _joined(names: Iterable[str]) -> str:
    """Return names as a list, with the numbers of passages after one word, in their order."""
    numbers = sorted(int(name.removeprefix(_PASSAGE)) for name in names if _is_passage(name))
    others = [name for name in names if not _is_passage(name)]
    word = "passages" if len(numbers) > 1 else "passage"
    passages = [f"{word} {', '.join(map(str, numbers))}"] if numbers else []
    return ", ".join([*passages, *others])


def _and(names: Sequence[str]) -> str:
    """Return the names of a text as one name."""
    roles = [name for name in names if not _is_passage(name)]
    return " and ".join(roles or [_joined(names)])


def _is_passage(name: str) -> bool:
    return name.startswith(_PASSAGE) and name.removeprefix(_PASSAGE).isdigit()

"""Reads a label, such as yes or no, in a judge's answer, where the prompts map labels to values."""

import json
import re
from collections.abc import Mapping
from typing import Any

from judge.parsing.markup import fenced, undecorated
from judge.parsing.score_patterns import AMBIGUOUS, NOUN, Names, spaced

_KEYS = (
    r"label|decision|choice|option|class|classification|category|conclusion|"
    r"urteil|antwort|ergebnis|décision|réponse|veredicto|respuesta|ответ|вердикт|"
    r"答案|判断|结论|判定"
)
_TAGGED = re.compile(r"<([a-z_]{1,30})>([^<>]*)</\1>\.?", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\[([^\[\]]*)\]|\(([^()]*)\)")
# "Yes, the date is right.", "A - It answers.", "Pass (all facts)".
_EXPLAINED = re.compile(r"([^.,;:!(\n]{1,60}?)(?:[.,;:!)]\s+|\s+[-–—]+\s+|\s+(?=\())(\S.*)")
# "B) Partly correct": the words of an option, which take nothing back.
_OPTION = re.compile(r"[^\W_]\)\s")
# What takes a label back: "Yes, but ...", "Yes - or rather no".
_QUALIFIES = re.compile(
    r"\(?(?:but|or|and|if|though|although|except|however|maybe|perhaps|part(?:ly|ially)|mostly|"
    r"actually|wait|not)\b",
    re.IGNORECASE,
)

# A later line that takes the answer back: "Wait, no."
_RECONSIDERS = re.compile(
    r"(?:wait|actually|rather|hmm|correction|on (?:second|reflection))\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]+")

Labels = Mapping[str, float]
"""Label to value, as a prompt version declares them; labels differ without regard to case."""


class LabelReader:
    """Finds the labels of a prompt version where they are the answer.

    A label is the answer if it is alone on the first or last line, also with a key ("Verdict:
    yes"), begins the first line before its explanation, or is the value of a key of JSON. Inside a
    sentence it is a word like any other.
    """

    def __init__(self, labels: Labels, names: Names = ()) -> None:
        self._values = labels
        self._labels = {folded(label): label for label in labels}
        keys = "|".join((_KEYS, NOUN, AMBIGUOUS, *(spaced(name) for name in names)))
        self._key = re.compile(
            rf"(?:(?:the|my|final|overall|correct)\s+){{0,3}}(?:{keys})(?:\s+(?:is|would\s+be))?",
            re.IGNORECASE,
        )
        self._keyed = re.compile(
            rf"(?:{self._key.pattern})\s*(?:[:=]|->|\s[-–—]\s|\s)\s*(?P<label>\S.*)",
            re.IGNORECASE,
        )

    def find(self, answer: str) -> tuple[set[str], str]:
        """Return the labels that are the answer, and the rule of the last: none, one, or several.

        The rules are those of scores: decorated, labelled, json, first_line, last_line.
        """
        block = fenced(answer)
        text = (f"{block[0]}\n{block[1]}" if block else answer).strip()
        if text.startswith("{"):
            return self._in_object(text), "json"
        lines = [line for line in text.split("\n") if line.strip()]
        if not lines:
            return set(), ""
        last = len(lines) - 1
        first = self._alone(lines[0])
        ends = {last: self._alone(lines[last]), 0: first or self._explained(lines[0])}
        keyed = {n: label for n, line in enumerate(lines) if (label := self._keyed_label(line))}
        found = {number: label for number, label in ends.items() if label}
        if found or 0 in keyed or last in keyed:
            # Another label with a key contests the answer, wherever it is.
            found |= keyed
        labels = set(found.values())
        for line in lines[1:] if labels else ():
            if _RECONSIDERS.match(line):
                labels |= self.mentioned(line)
        if last > 0:
            return labels, "last_line" if last in found else "first_line"
        if keyed:
            return labels, "labelled"
        return labels, "decorated" if first else "first_line"

    def mentioned(self, answer: str) -> set[str]:
        """Return the labels that the first line of an answer contains as words."""
        line = folded(answer.partition("\n")[0])
        words = f" {' '.join(_WORD.findall(line))} "
        return {label for name, label in self._labels.items() if f" {name} " in words}

    def _label(self, text: str | None) -> str | None:
        return None if text is None else self._labels.get(folded(text))

    def _alone(self, line: str) -> str | None:
        plain = undecorated(line)
        if plain is None:
            return None
        bracketed = _IN_BRACKETS.fullmatch(plain.strip())
        return self._label(bracketed[bracketed.lastindex or 0] if bracketed else plain)

    def _keyed_label(self, line: str) -> str | None:
        tagged = _TAGGED.fullmatch(line.strip())
        if tagged:
            return self._alone(tagged[2]) if self._is_key(tagged[1]) else None
        plain = undecorated(line)
        match = plain and self._keyed.fullmatch(plain.strip())
        return self._alone(match["label"]) or self._explained(match["label"]) if match else None

    def _explained(self, line: str) -> str | None:
        plain = undecorated(line)
        match = plain and _EXPLAINED.fullmatch(plain.strip())
        if not match or (_QUALIFIES.match(match[2]) and not _OPTION.match(plain or "")):
            return None
        label = self._label(match[1])
        if label is None:
            return None
        # "A, B" and "Yes / No - unclear" are not answers.
        next_word = self.mentioned(match[2].split(" ", 1)[0])
        same = all(self._values[other] == self._values[label] for other in next_word)
        return label if same else None

    def _in_object(self, text: str) -> set[str]:
        try:
            data, end = json.JSONDecoder(strict=False).raw_decode(text)
        except (ValueError, RecursionError):
            return set()
        values = [self._member(value) for name, value in data.items() if self._is_key(name)]
        after = [self._keyed_label(line) or self._alone(line) for line in text[end:].split("\n")]
        return {label for label in values + (after if any(values) else []) if label}

    def _is_key(self, name: str) -> bool:
        return self._key.fullmatch(re.sub(r"[_-]", " ", name)) is not None

    def _member(self, value: Any) -> str | None:
        if isinstance(value, bool | int):
            return self._label(json.dumps(value))
        return self._alone(value) if isinstance(value, str) else None


def folded(text: str) -> str:
    """Return a label without what does not tell labels apart.

    Examples
    --------
    >>> folded("Not_Relevant.")
    'not relevant'
    """
    return " ".join(re.sub(r"[_'’]", " ", text).casefold().split()).rstrip(" .,;!。")

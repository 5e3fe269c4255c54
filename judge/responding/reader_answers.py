"""The answers of a reader, kept in a file of the study's folder as they arrive."""

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from judge.engines.engine import Delivery
from judge.protocol.exchange import TOKENS, Answer, Failure, Request
from judge.responding.reader_prompt import prompt_hash
from study.errors import StorageError, StudyError
from study.importing.readers.input_file import Advance, unseen

_FIRST_FAILURES = 3


class ReaderAnswers(Delivery):
    """The answers under some conditions, by the hash of the prompt; each is on disk once it counts.

    Parameters
    ----------
    path
        Their file: the conditions in its first line, then an answer a line. Begun if it is new.
    conditions
        The identity of the reader and its prompt.
    advance
        Called with the number of answers and failures of this call, and of its prompts.

    Raises
    ------
    StudyError
        The file was changed. A last line that was not finished, since the process was killed, is
        removed: its answer was not confirmed.
    """

    def __init__(
        self, path: Path, conditions: Mapping[str, Any], advance: Advance = unseen
    ) -> None:
        super().__init__()
        self.path = path
        self.known: dict[str, Answer] = {}
        self.failures: Counter[str] = Counter()
        self.examples: list[str] = []
        """The first failure of each kind, in the words of the server."""
        self.tokens: Counter[str] = Counter()
        """Of the answers of this call, by name."""
        self.answered = 0
        self.total = 0
        """Prompts of this call."""
        self._advance = advance
        path.parent.mkdir(exist_ok=True)
        whole = _whole_lines(path)
        if whole:
            self.known = stored_answers(path)
            return
        with path.open("w", encoding="utf-8") as file:
            _write(file, [{"conditions": conditions}])

    def commit(self, pairs: Sequence[tuple[Request, Answer]]) -> None:
        """Append answers; return when they are on disk."""
        with self._lock:
            self._store(pairs)
            self.answered += len(pairs)
            for _, answer in pairs:
                for name in TOKENS:
                    self.tokens[name] += getattr(answer, f"{name}_tokens") or 0
        self._report()

    def store_missing(self, requests: Sequence[Request], reason: str) -> None:
        """Store that prompts have no answer, which are not asked for this reason."""
        self._store([(request, Answer(None, missing=reason)) for request in requests])

    def _store(self, pairs: Sequence[tuple[Request, Answer]]) -> None:
        named = [(prompt_hash(request.prompt), answer) for request, answer in pairs]
        lines = [{"prompt_hash": digest, **_filled_fields(answer)} for digest, answer in named]
        try:
            with self.path.open("a", encoding="utf-8") as file:
                _write(file, lines)
        except OSError as error:
            raise StorageError(
                f"{self.path} can't be written ({error.strerror}). The answers before are kept; "
                "free the disk and run the command again."
            ) from None
        self.known.update(named)

    def failed(self, request: Request, failure: Failure) -> None:
        """Count a prompt without an answer; the next call asks it again."""
        del request
        with self._lock:
            if failure.reason not in self.failures and len(self.examples) < _FIRST_FAILURES:
                self.examples.append(f"No answer: {failure.reason}: {failure.detail}")
            self.failures[failure.reason] += 1
        self._report()

    def _report(self) -> None:
        self._advance(self.answered + self.failures.total(), self.total)


def stored_answers(path: Path) -> dict[str, Answer]:
    """Return the answers in a file, by the hash of the prompt.

    Raises
    ------
    StudyError
        A line is not an answer.
    """
    known = {}
    with path.open(encoding="utf-8") as file:
        next(file, None)
        for number, line in enumerate(file, 2):
            if not line.endswith("\n"):
                break
            try:
                fields = json.loads(line)
                digest = fields.pop("prompt_hash")
                known[digest] = Answer(**fields)
            except (ValueError, KeyError, TypeError, AttributeError):
                raise StudyError(
                    f"{path}, row {number}: {line[:60]!r} is not an answer, so the file was "
                    "changed. Restore it, or remove the row: its prompt is then asked again."
                ) from None
    return known


def stored_conditions(path: Path) -> Mapping[str, Any]:
    """Return the conditions in the first line of a file of answers; empty if it has none."""
    with path.open(encoding="utf-8") as file:
        try:
            found = json.loads(next(file, "{}")).get("conditions", {})
        except (ValueError, AttributeError):
            return {}
    return found if isinstance(found, dict) else {}


def _filled_fields(answer: Answer) -> dict[str, Any]:
    fields = {name: value for name, value in asdict(answer).items() if value is not None}
    return {"text": answer.text, **fields}


def _write(file: IO[str], lines: Sequence[Mapping[str, Any]]) -> None:
    # ASCII: an answer may have half of a surrogate pair, which UTF-8 has not.
    file.write("".join(f"{json.dumps(line)}\n" for line in lines))
    file.flush()
    os.fsync(file.fileno())


def _whole_lines(path: Path) -> bool:
    """Remove a line without its end; return whether there are lines before it."""
    if not path.exists():
        return False
    with path.open("rb+") as file:
        content = file.read()
        end = content.rfind(b"\n") + 1
        file.truncate(end)
    return end > 0

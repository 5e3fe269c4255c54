"""Results of a batch, read in a stream: an index of their places, and each when it is needed."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from judge.engines.batch.batch_format import BatchFormat
from judge.engines.batch.batch_index import BatchIndex, ResultPlace
from judge.engines.batch.request_files import name_problem
from judge.protocol.exchange import REJECTED, Answer, Failure
from judge.protocol.logprob_distribution import ScoreTokens
from study.base.scales import Scale
from study.errors import Fault, InputError

# So many refusals, and fewer answers, are the fault of the parameters, not of the prompts.
_MANY_REFUSALS = 20
# Faults of a file that are listed.
_MOST_FAULTS = 1000


class ResultFiles:
    """Results by the name of their prompt, in any order and in several files."""

    def __init__(self, prefix: str, form: BatchFormat, index: BatchIndex) -> None:
        self._prefix = prefix
        self._form = form
        self._index = index
        self._streams: list[IO[bytes]] = []
        self._open = ExitStack()
        self._duplicates = 0
        self._refusals_are_failures = False

    def read(self, paths: Sequence[Path]) -> None:
        """Read files of results or of errors.

        Raises
        ------
        InputError
            A line is not one of a batch, or belongs to another run; the file is not used.
        """
        for path in paths:
            self._read(path)
        refused, answers = self._index.refusals()
        self._refusals_are_failures = refused >= _MANY_REFUSALS and 2 * refused > answers

    def take(self, name: str, scale: Scale | None = None) -> Answer | Failure | None:
        """Return the result of a prompt; None if the files have none.

        With a `scale`, the answer has the distribution over its scores.
        """
        place = self._index.take(name)
        if place is None:
            return None
        scores = None if scale is None else ScoreTokens(scale, unprobed=True)
        stream = self._streams[place.file]
        stream.seek(place.offset)
        result = self._form.read(json.loads(stream.readline()), scores)
        if (
            isinstance(result, Answer)
            and result.missing == REJECTED
            and self._refusals_are_failures
        ):
            # Not final: the next batch asks these prompts again.
            return Failure(REJECTED, result.text or "")
        return result

    def notes(self) -> tuple[str, ...]:
        """Return in sentences which results were not used."""
        counts = {
            "results are duplicates; the first of each was used": self._duplicates,
            "results were not used: their prompts are judged already, not selected now, or have "
            "changed since": self._index.unused(),
        }
        return tuple(f"{number} {text}." for text, number in counts.items() if number)

    def close(self) -> None:
        """Close the files."""
        self._open.close()

    def _read(self, path: Path) -> None:
        if not path.is_file():
            problem = "is a folder" if path.is_dir() else "does not exist"
            raise InputError(path.name, [Fault(f"{path} {problem}.", "Give the provider's file.")])
        faults: list[Fault] = []
        stream = self._open.enter_context(path.open("rb"))
        self._streams.append(stream)
        offset = 0
        for number, line in enumerate(stream, 1):
            if line.strip():
                place = ResultPlace(len(self._streams) - 1, offset)
                fault = self._add(line, place)
                if fault is not None and len(faults) < _MOST_FAULTS:
                    faults.append(Fault(*fault, number))
            offset += len(line)
        if faults:
            raise InputError(path.name, faults)

    def _add(self, line: bytes, place: ResultPlace) -> tuple[str, str] | None:
        """Add a line; return the problem and the remedy if it cannot be used."""
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            return "The line is not valid JSON.", "Give the provider's file unchanged."
        field = self._form.id_field
        name: Any = data.get(field) if isinstance(data, dict) else None
        problem = name_problem(name, self._prefix, field)
        if problem is not None:
            return problem
        result = self._form.read(data, None)
        if result is None:
            return (
                "The line contains neither a response nor an error.",
                "Give the provider's results or errors.",
            )
        answered = isinstance(result, Answer)
        refused = isinstance(result, Answer) and result.missing == REJECTED
        if not self._index.add_result(name, place, answered=answered, refused=refused):
            self._duplicates += 1
        return None

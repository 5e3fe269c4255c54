"""A provider's results, read in a stream: an index of their places, and each when it is needed."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from judge.engines.files.answer_index import AnswerIndex, Key
from judge.engines.files.provider_format import ProviderFormat
from judge.protocol.exchange import REJECTED, Answer, Failure, Request
from judge.protocol.logprob_distribution import ScoreTokens
from judge.text import printable
from study.errors import Fault, InputError
from study.text import counted

# So many refusals, and fewer answers, are the fault of the parameters, not of the prompts.
_MANY_REFUSALS = 20
# Faults of a file that are listed.
_MOST_FAULTS = 1000


def custom_id(prefix: str, request: Request) -> str:
    """Return the name under which a prompt is sent, in 64 characters.

    It identifies the conditions, the exact prompt, its purpose and the attempt, so no result is
    used for another prompt, or twice.
    """
    state = sha256()
    for part in (request.purpose, f"{request.repeat} {max(request.attempts)}", request.prompt):
        encoded = part.encode("utf-8", "surrogatepass")
        state.update(len(encoded).to_bytes(8, "big") + encoded)
    return f"{prefix}{state.hexdigest()[:40]}"


class ResultFiles:
    """Results by the name of their prompt, in any order and in several files.

    Parameters
    ----------
    prefix
        Beginning of the names of a run's prompts.
    with_scores
        Whether answers have distributions over the scores.
    """

    def __init__(
        self, prefix: str, form: ProviderFormat, index: AnswerIndex, *, with_scores: bool
    ) -> None:
        self._prefix = prefix
        self._form = form
        self._index = index
        self._with_scores = with_scores
        self._streams: list[IO[bytes]] = []
        self._open = ExitStack()
        self._answers = self._refused = self._repeated = 0

    def read(self, paths: Sequence[Path]) -> tuple[str, ...]:
        """Read files of results or of errors; return notes on what was read.

        Raises
        ------
        InputError
            A line is not one of a batch, or belongs to another run; the file is not used.
        """
        for path in paths:
            self._read(path)
        if not self._repeated:
            return ()
        return (f"Not used: {counted(self._repeated, 'repeated answer')}.",)

    def results(self, request: Request) -> list[tuple[Request, Answer | Failure]]:
        """Return the result of a prompt; empty where the files have none."""
        place = self._index.take(Key(custom_id(self._prefix, request)))
        if place is None:
            return []
        file, offset = place.split()
        stream = self._streams[int(file)]
        stream.seek(int(offset))
        scale = request.score_scale if self._with_scores else None
        scores = None if scale is None else ScoreTokens(scale, unprobed=True)
        result = self._form.read(json.loads(stream.readline()), scores)
        assert result is not None  # noqa: S101  (was read before)
        many = self._refused >= _MANY_REFUSALS and 2 * self._refused > self._answers
        if many and isinstance(result, Answer) and result.missing == REJECTED:
            # Not final: the next batch asks these prompts again.
            result = Failure(REJECTED, result.text or "")
        return [(request, result)]

    def close(self) -> None:
        """Close the files."""
        self._open.close()

    def _read(self, path: Path) -> None:
        faults: list[Fault] = []
        stream = self._open.enter_context(path.open("rb"))
        self._streams.append(stream)
        offset = 0
        for number, line in enumerate(stream, 1):
            fault = self._add(line, offset) if line.strip() else None
            if fault is not None and len(faults) < _MOST_FAULTS:
                faults.append(Fault(*fault, number))
            offset += len(line)
        if faults:
            raise InputError(path.name, faults)

    def _add(self, line: bytes, offset: int) -> tuple[str, str] | None:
        """Add a line; return the problem and the remedy if it cannot be used."""
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            return "The line is not valid JSON.", "Give the provider's file unchanged."
        field, remedy = self._form.id_field, "Give the provider's results or errors."
        name: Any = data.get(field) if isinstance(data, dict) else None
        if not isinstance(name, str):
            return f"The line has no {field}.", remedy
        if not name.startswith(self._prefix):
            return (
                f"{printable(name)[:80]!r} belongs to another run.",
                "Read results with the options that their requests were written with.",
            )
        result = self._form.read(data, None)
        if result is None:
            return "The line contains neither a response nor an error.", remedy
        file = len(self._streams) - 1
        place = f"{file} {offset}"
        if isinstance(result, Failure):
            self._index.add_failure(name, place, file)
        elif self._index.add(Key(name), place) is not None:
            self._repeated += 1
        else:
            self._answers += 1
            self._refused += result.missing == REJECTED
        return None

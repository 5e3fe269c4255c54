"""The files of a batch, written under temporary names until all are complete."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from judge.engines.files.provider_format import ProviderFormat
from study.errors import Fault, InputError, StudyError


def written_before(folder: Path, form: ProviderFormat) -> Iterator[str]:
    """Yield the names of the prompts in the files of a folder.

    Raises
    ------
    StudyError
        The folder is a file, or one of its files cannot be read.
    """
    if folder.exists() and not folder.is_dir():
        raise StudyError(f"{folder} is not a folder. Give --requests the name of a folder.")
    for path in files_of(folder, form):
        for request in requests_in(path, form):
            yield str(request[form.id_field])


def format_of(folder: Path, formats: Iterable[ProviderFormat]) -> ProviderFormat | None:
    """Return the format of the files of requests in a folder; None where it has none.

    Raises
    ------
    StudyError
        The files have several formats.
    """
    found = [form for form in formats if _has_files(folder, form)]
    if len(found) > 1:
        raise StudyError(f"{folder} has files for several providers. Use a folder for each.")
    return found[0] if found else None


def _has_files(folder: Path, form: ProviderFormat) -> bool:
    try:
        request = next(requests_in(files_of(folder, form)[0], form))
        return form.size(request).prompt_bytes > 0
    except (StudyError, LookupError, TypeError, AttributeError, StopIteration):
        return False


def files_of(folder: Path, form: ProviderFormat) -> list[Path]:
    """Return the files of a folder in this format, in the order in which they were written."""
    return sorted(folder.glob(f"judge-[0-9]*{form.suffix}")) if folder.is_dir() else []


def requests_in(path: Path, form: ProviderFormat) -> Iterator[dict[str, Any]]:
    """Yield the requests in a file; each has its name.

    Raises
    ------
    InputError
        A line is not a request in this format.
    """
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            text = line.strip().removesuffix(b",")
            if not text or text in {form.opening.strip(), form.closing.strip()}:
                continue
            try:
                request = json.loads(text)
                known = isinstance(request[form.id_field], str)
            except (ValueError, KeyError, TypeError, RecursionError):
                known = False
            if not known:
                problem = f"The line is not a request in the format {form.name!r}."
                raise InputError(path.name, [Fault(problem, "Choose another folder.", number)])
            yield request


class RequestFiles:
    """Writes requests into numbered files of at most the provider's limits."""

    def __init__(self, folder: Path, form: ProviderFormat) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._form = form
        # An interrupted call leaves unfinished files, which no one has sent.
        for left in folder.glob("judge-*.part"):
            left.unlink(missing_ok=True)
        stems = (path.stem.removeprefix("judge-") for path in files_of(folder, form))
        numbers = (int(stem) for stem in stems if stem.isdecimal())
        self._next = max(numbers, default=0) + 1
        self._path = folder
        self._stream: IO[bytes] | None = None
        self._counts: dict[Path, int] = {}
        self._bytes = 0

    def add(self, request: dict[str, Any]) -> None:
        """Write a request."""
        form = self._form
        line = json.dumps(request, ensure_ascii=False).encode("utf-8", "backslashreplace")
        size = len(line) + len(form.between)
        full = self._stream is not None and (
            self._counts[self._path] >= form.most_requests
            or self._bytes + size + len(form.closing) > form.most_bytes
        )
        if full:
            self._close()
        if self._stream is None:
            self._path = self._folder / f"judge-{self._next:03}{form.suffix}"
            self._next += 1
            self._stream = _temporary(self._path).open("wb")
            self._stream.write(form.opening)
            self._counts[self._path], self._bytes = 0, len(form.opening)
        else:
            self._stream.write(form.between)
        self._stream.write(line)
        self._counts[self._path] += 1
        self._bytes += size

    def finish(self) -> dict[Path, int]:
        """Give the files their names; return the prompts of each."""
        self._close()
        for path in self._counts:
            _temporary(path).replace(path)
        return self._counts

    def discard(self) -> None:
        """Delete what is not finished."""
        if self._stream is not None:
            self._stream.close()
        for path in self._counts:
            _temporary(path).unlink(missing_ok=True)

    def _close(self) -> None:
        if self._stream is not None:
            self._stream.write(self._form.closing)
            self._stream.close()
            self._stream = None


def _temporary(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")

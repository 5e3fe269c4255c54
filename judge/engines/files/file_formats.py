"""What files of answers are: a provider's results, or tables of answers."""

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from judge.engines.files.anthropic_format import AnthropicFormat
from judge.engines.files.gemini_format import GeminiFormat
from judge.engines.files.openai_format import OpenAIFormat
from judge.engines.files.provider_format import ProviderFormat
from study.errors import Fault, InputError, StudyError

FORMATS: dict[str, ProviderFormat] = {
    form.name: form for form in (OpenAIFormat(), AnthropicFormat(), GeminiFormat())
}
"""The formats of requests and results by name, as `--format` has them."""

# Lines that are looked at, and the most bytes of each.
_LINES, _LINE_BYTES = 100, 1 << 24


def results_format(paths: Sequence[Path]) -> ProviderFormat | None:
    """Return the format of files with a provider's results; None: they are tables of answers.

    An empty file is whatever the others are.

    Raises
    ------
    StudyError
        A file does not exist, or the files are of several kinds.
    """
    found = {path: _format_of(path) for path in paths if _size(path)}
    if len(set(found.values())) > 1:
        listed = "; ".join(
            f"{path.name}: " + ("a table" if form is None else f"results of {form.name}")
            for path, form in found.items()
        )
        raise StudyError(
            f"The files of --answers are of several kinds ({listed}). Read one kind at a time."
        )
    return next(iter(found.values()), None)


def _size(path: Path) -> int:
    if not path.is_file():
        problem = "is a folder" if path.is_dir() else "does not exist"
        raise InputError(path.name, [Fault(f"{path} {problem}.", "Give a file of answers.")])
    return path.stat().st_size


def _format_of(path: Path) -> ProviderFormat | None:
    with path.open("rb") as stream:
        for line in islice(iter(lambda: stream.readline(_LINE_BYTES), b""), _LINES):
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict):
                for form in reversed(FORMATS.values()):
                    if form.recognizes(record):
                        return form
    return None

"""What is known of the files of a folder that were submitted: batches.json in that folder."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout
from pydantic import BaseModel, Field, ValidationError

from judge.engines.files.service.batch_provider import BatchState
from study.errors import StudyError

NAME = "batches.json"


class SubmittedFile(BaseModel):
    """A file of requests, and how far it is."""

    digest: str
    """SHA-256 of its content."""
    prompts: int
    times: int = 1
    """How often it was submitted: again only where a batch failed as a whole."""
    prepared: str | None = None
    """The uploaded file; at Anthropic the newest batch before this one."""
    since: float = 0.0
    """When that was, in seconds since 1970."""
    state: Literal["preparing", "starting", "running", "ended", "failed", "fetched"] = "preparing"
    """Starting: its start was sent, or is about to be, and no answer is known."""
    batch: str | None = None
    word: str = ""
    """The provider's word for the state."""
    answered: int = 0
    failed: int = 0
    message: str = ""
    results: list[str] = Field(default=[])
    """Files of its results in the folder."""

    @property
    def key(self) -> str:
        """The mark of its batch: the same for the same requests, submitted as often."""
        return f"ccrs-{self.digest[:32]}-{self.times}"

    def update(self, state: BatchState) -> None:
        """Note the state of its batch."""
        self.batch, self.state, self.word = state.batch, state.state, state.word
        self.answered, self.failed, self.message = state.answered, state.failed, state.message


class SubmittedFiles(BaseModel):
    """The files of a folder, by name, and where they were submitted. No key is in it."""

    provider: Literal["openai", "anthropic", "gemini"]
    base_url: str
    model: str | None = None
    """The model of a batch whose format names none."""
    files: dict[str, SubmittedFile] = Field(default={})

    @classmethod
    def read(cls, folder: Path) -> "SubmittedFiles | None":
        """Return what a folder has; None where nothing was submitted.

        Raises
        ------
        StudyError
            The file is damaged.
        """
        path = folder / NAME
        try:
            return cls.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise StudyError(
                f"{path} is damaged ({place or 'the file'}: {first['msg']}). Restore it from a "
                "copy; without it no batch of the folder is known here."
            ) from None

    def write(self, folder: Path) -> None:
        """Replace the file in one step; when this returns, it is on disk."""
        part = folder / f"{NAME}.part"
        with part.open("w", encoding="utf-8") as file:
            file.write(self.model_dump_json(indent=1) + "\n")
            file.flush()
            os.fsync(file.fileno())
        part.replace(folder / NAME)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep other calls from submitting or fetching the files of a folder.

    Raises
    ------
    StudyError
        Another call does so.
    """
    try:
        with FileLock(folder / f"{NAME}.lock", timeout=0):
            yield
    except Timeout:
        raise StudyError(
            f"Another call submits or fetches the files of {folder}. Wait until it has ended."
        ) from None


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file's content."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def now() -> float:
    """Return the time in seconds since 1970."""
    return time.time()

"""What a provider's batch service is asked: upload, start, find again, state and results."""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from judge.engines.files.provider_format import ProviderFormat
from judge.engines.files.service.provider_client import ProviderClient
from study.errors import StudyError


@dataclass(frozen=True)
class BatchState:
    """A batch as its provider describes it."""

    batch: str
    """The provider's id."""
    state: Literal["running", "ended", "failed"]
    """Failed: it has ended, and there are no results."""
    word: str
    """The provider's word for it."""
    answered: int = 0
    failed: int = 0
    """Prompts so far."""
    message: str = ""
    results: tuple[tuple[str, str], ...] = ()
    """Files of results: what follows the name, such as "-errors", and the address."""


@dataclass(frozen=True)
class FileToSubmit:
    """A file of requests on its way to a provider."""

    path: Path
    key: str
    """What the batch is marked with, where the provider has marks, so that it is found again."""
    prompts: int
    model: str | None
    known: Collection[str]
    """Ids of the batches of the other files of the folder."""


class NoListError(StudyError):
    """A server has no list of its batches, in which a lost one could be found."""


class BatchProvider(ABC):
    """The batch service of one provider."""

    form: ClassVar[ProviderFormat]
    title: ClassVar[str]
    base_url: ClassVar[str]
    key_variable: ClassVar[str]
    marks: ClassVar[bool] = True
    """Whether a batch can be marked with a key, so that a look for it is certain."""
    keeps_uploads: ClassVar[float] = float("inf")
    """Seconds for which an upload surely exists."""

    def __init__(self, client: ProviderClient) -> None:
        self.client = client

    @staticmethod
    @abstractmethod
    def headers(key: str) -> dict[str, str]:
        """Return the headers of each request, without those of an empty key."""

    @abstractmethod
    async def prepare(self, file: FileToSubmit) -> str:
        """Upload a file; return what `start` and `find` need of it. It may be repeated."""

    @abstractmethod
    async def start(self, file: FileToSubmit, prepared: str) -> BatchState:
        """Start the batch of a file. It is sent once: the answer may be lost."""

    @abstractmethod
    async def find(self, file: FileToSubmit, prepared: str | None) -> BatchState | None:
        """Return the batch of a file, of whose start the answer was lost; None: it did not start.

        Raises
        ------
        StudyError
            It cannot be told.
        """

    @abstractmethod
    async def state(self, batch: str) -> BatchState:
        """Return the state of a batch."""


def number(counts: Mapping[str, Any], *names: str) -> int:
    """Return the sum of counts, which may be texts; what is absent or unreadable is 0."""
    values = (str(counts.get(name, 0)) for name in names)
    return sum(int(value) for value in values if value.isascii() and value.isdecimal())


def part(data: Any, *names: str) -> dict[str, Any]:
    """Return an object within an object; empty where there is none."""
    for name in names:
        data = data.get(name) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def entries(data: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the objects of a list within an object; empty where there is none."""
    found = data.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def word(data: Mapping[str, Any], name: str) -> str:
    """Return a text within an object; empty where there is none."""
    value = data.get(name)
    return value if isinstance(value, str) else ""


def identifier(data: Mapping[str, Any], name: str, what: str) -> str:
    """Return an id within an object, which becomes a part of addresses.

    Raises
    ------
    StudyError
        There is none, or it has signs that no id has.
    """
    value = word(data, name)
    if not re.fullmatch(r"(?:[a-z]+/)?[\w.-]+", value, re.ASCII) or value.endswith("."):
        raise StudyError(
            f"The server's reply has no id of {what}. Check --base-url: it must be the address of "
            "a batch service."
        )
    return value

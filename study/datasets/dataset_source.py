"""Where a data set comes from, pinned by commit and by the SHA-256 of each file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import file_digest, sha256
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from time import monotonic
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    UnknownHandler,
)

from study.errors import StudyError
from study.importing.rows import LocatedRow
from study.progress import Advance

_SILENCE_SECONDS = 30
_FILE_SECONDS = 300
_CHUNK = 1 << 16


def https_opener() -> OpenerDirector:
    """Return an opener that knows HTTPS alone, so that no redirect can lead elsewhere."""
    opener = OpenerDirector()
    for handler in (
        ProxyHandler(),  # HTTPS_PROXY and its kin, as everywhere
        UnknownHandler(),
        HTTPSHandler(),
        HTTPDefaultErrorHandler(),
        HTTPRedirectHandler(),
        HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


def download(address: str, *, size: int, advance: Callable[[int], None]) -> bytes:
    """Return what lies at `address`, cut after `size` + 1 bytes.

    `advance` is called with the number of bytes received. The caller compares the digest: more than
    `size` bytes, or fewer, can't be the file that was meant.

    Raises
    ------
    OSError
        Unreachable, refused, silent for too long, or broken off.
    """
    request = Request(address, headers={"User-Agent": "ccrs-study"})  # noqa: S310  (HTTPS only)
    deadline = monotonic() + _FILE_SECONDS
    content = bytearray()
    try:
        with https_opener().open(request, timeout=_SILENCE_SECONDS) as answer:
            while len(content) <= size:
                chunk = answer.read(min(_CHUNK, size + 1 - len(content)))
                if not chunk:
                    break
                content += chunk
                advance(min(len(content), size))
                if monotonic() > deadline:
                    raise TimeoutError(f"not finished after {_FILE_SECONDS} seconds")
    except HTTPError as error:
        error.close()
        raise
    except HTTPException as error:
        raise OSError(f"the server's answer broke off ({type(error).__name__})") from error
    return bytes(content)


if TYPE_CHECKING:
    from study.study import Study

HOST = "https://raw.githubusercontent.com"


@dataclass(frozen=True)
class SourceFile:
    """A file at its place in the repository, with the content that it must have."""

    path: str
    sha256: str
    size: int
    """Bytes; no more than these are ever read from the network."""

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return PurePosixPath(self.path).name


@dataclass(frozen=True)
class DatasetSource:
    """A data set's home: what it is, who made it, under which license."""

    title: str
    repository: str
    """owner/name on GitHub."""
    commit: str
    root: str
    """Folder of the repository that holds the files; a copy may begin there."""
    files: tuple[SourceFile, ...]
    license: str
    notice: str
    """What the license asks to be kept with a copy."""
    citation: str

    def address(self, file: SourceFile) -> str:
        """Return the address of a file at the pinned commit."""
        return f"{HOST}/{self.repository}/{self.commit}/{file.path}"

    @property
    def digest(self) -> str:
        """SHA-256 over the names and digests of all files: what an import is known by."""
        lines = "".join(f"{file.sha256}  {file.path}\n" for file in self.files)
        return sha256(lines.encode()).hexdigest()


@dataclass(frozen=True)
class TieBreak:
    """A value that a further rater gave after others had disagreed."""

    rater: str
    response_id: str
    construct: str
    value: float


@dataclass(frozen=True)
class Contents:
    """What the files of a data set say, in rows for the importing door."""

    rows: Sequence[LocatedRow]
    tie_breaks: Sequence[TieBreak] = ()
    rules: Mapping[str, int] = field(default_factory=dict)
    """How things were read or joined, with how often."""
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Dataset:
    """A data set that can be made into a study."""

    name: str
    source: DatasetSource
    settings: str
    """The study.toml of its study."""
    contents: Callable[[Mapping[str, bytes]], Contents]
    """From the bytes of each file, by name."""
    published: "Callable[[Study], Sequence[str]] | None" = None
    """Lines of text: a published table of the data's makers, computed again from the study."""


def collect(dataset: Dataset, folder: Path | None, advance: Advance) -> dict[str, bytes]:
    """Return the bytes of a data set's files by name, each of the pinned content.

    Files come from `folder` if one is given, else from the network.

    Raises
    ------
    StudyError
        A file is missing, unreachable, or not the pinned one (both digests are named).
    """
    if folder is None:
        return _downloaded(dataset, advance)
    return _copied(dataset, folder, advance)


def _downloaded(dataset: Dataset, advance: Advance) -> dict[str, bytes]:
    source = dataset.source
    total = sum(file.size for file in source.files)
    contents: dict[str, bytes] = {}
    done = 0
    for file in source.files:
        address = source.address(file)
        try:
            content = download(address, size=file.size, advance=_from(done, total, advance))
        except OSError as error:
            raise StudyError(
                f"{address} can't be downloaded: {_reason(error)}. Nothing was made. Without a "
                f"network, get the files by another way (the folder {source.root} of "
                f"github.com/{source.repository} at commit {source.commit}) and run "
                f"`ccrs fetch {dataset.name} --from FOLDER`."
            ) from error
        digest = sha256(content).hexdigest()
        if digest != file.sha256:
            raise StudyError(
                f"{address} is not the pinned file: its SHA-256 is {digest}, expected "
                f"{file.sha256}. Nothing was made. Something on the way may have changed it; "
                "try again from another network."
            )
        contents[file.name] = content
        done += file.size
        advance(done, total)
    return contents


def _copied(dataset: Dataset, folder: Path, advance: Advance) -> dict[str, bytes]:
    source = dataset.source
    contents: dict[str, bytes] = {}
    faults = []
    total = sum(file.size for file in source.files)
    for file in source.files:
        inside = str(PurePosixPath(file.path).relative_to(source.root))
        places = [folder / place for place in (file.path, inside, file.name)]
        path = next((place for place in places if place.is_file()), None)
        if path is None:
            faults.append(f"{inside} is missing")
            continue
        with path.open("rb") as stream:
            digest = file_digest(stream, "sha256").hexdigest()
        if digest != file.sha256:
            faults.append(f"{path}: SHA-256 is {digest}, expected {file.sha256}")
            continue
        contents[file.name] = path.read_bytes()
        advance(sum(map(len, contents.values())), total)
    if faults:
        raise StudyError(
            "\n".join(
                [
                    f"{folder} does not hold the files of {dataset.name}; nothing was made.",
                    *(f"  {fault}" for fault in faults),
                    f"They are in the folder {source.root} of github.com/{source.repository} at "
                    f"commit {source.commit}. A checkout that changes line ends (git's "
                    "core.autocrlf) changes the digests too.",
                ]
            )
        )
    return contents


def _from(done: int, total: int, advance: Advance) -> Callable[[int], None]:
    return lambda count: advance(done + count, total)


def _reason(error: OSError) -> str:
    # urllib wraps what went wrong in a URLError, whose own text is its representation.
    cause = getattr(error, "reason", None)
    return str(cause if isinstance(cause, OSError) else error) or type(error).__name__

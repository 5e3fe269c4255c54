"""Where a data set comes from, pinned by commit and by the SHA-256 of each file."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import file_digest, sha256
from http.client import HTTPException
from importlib.resources import files
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
from study.progress_bar import Advance

_SILENCE_SECONDS = 30
_FILE_SECONDS = 300
_CHUNK = 1 << 16


def https_opener() -> OpenerDirector:
    """Return an opener for HTTPS only, so that no redirect can leave HTTPS."""
    opener = OpenerDirector()
    for handler in (
        ProxyHandler(),  # HTTPS_PROXY and similar variables
        UnknownHandler(),
        HTTPSHandler(),
        HTTPDefaultErrorHandler(),
        HTTPRedirectHandler(),
        HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


def download(address: str, *, size: int, advance: Callable[[int], None]) -> bytes:
    """Return the content of `address`, cut after `size` + 1 bytes.

    `advance` is called with the number of bytes received. The caller checks the digest, which fails
    for a file of another size.

    Raises
    ------
    OSError
        The server cannot be reached, refuses, does not answer in time, or ends the transfer early.
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
        raise OSError(f"the server ended the transfer early ({type(error).__name__})") from error
    return bytes(content)


if TYPE_CHECKING:
    from study.study import Study

HOST = "https://raw.githubusercontent.com"


@dataclass(frozen=True)
class SourceFile:
    """A file of the repository, with the digest and size that it must have."""

    path: str
    sha256: str
    size: int
    """Bytes; at most one more is read from the network."""

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return PurePosixPath(self.path).name


@dataclass(frozen=True)
class DatasetSource:
    """The source of a data set: repository, license and citation."""

    title: str
    repository: str
    """owner/name on GitHub."""
    commit: str
    root: str
    """Folder of the repository with the files; a local copy may begin there."""
    files: tuple[SourceFile, ...]
    license: str
    notice: str
    """The notice that the license requires in copies."""
    citation: str

    def address(self, file: SourceFile) -> str:
        """Return the address of a file at the pinned commit."""
        return f"{HOST}/{self.repository}/{self.commit}/{file.path}"

    @property
    def digest(self) -> str:
        """SHA-256 over the names and digests of all files, which identifies an import."""
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
    """The content of a data set's files, as rows to import."""

    rows: Sequence[LocatedRow]
    tie_breaks: Sequence[TieBreak] = ()
    rules: Mapping[str, int] = field(default_factory=dict)
    """Rule by which something was read or joined, with how often."""
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Dataset:
    """A data set that can be turned into a study."""

    name: str
    source: DatasetSource
    settings: str
    """The study.toml of its study."""
    contents: Callable[[Mapping[str, bytes]], Contents]
    """From the bytes of each file, by name."""
    published: "Callable[[Study], Sequence[str]] | None" = None
    """Return a published table, computed from the study, as lines of text."""


def declared_dataset(
    name: str,
    contents: Callable[[Mapping[str, bytes]], Contents],
    published: "Callable[[Study], Sequence[str]] | None" = None,
) -> Dataset:
    """Return the data set whose source and settings are NAME.source.toml and NAME.study.toml."""
    folder = files("study.datasets")
    declared = tomllib.loads((folder / f"{name}.source.toml").read_text(encoding="utf-8"))
    pinned = tuple(SourceFile(**file) for file in declared.pop("files"))
    settings = (folder / f"{name}.study.toml").read_text(encoding="utf-8")
    return Dataset(name, DatasetSource(**declared, files=pinned), settings, contents, published)


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
                f"{address} cannot be downloaded: {_reason(error)}. No study was created. Without "
                f"a network, obtain the files otherwise (the folder {source.root} of "
                f"github.com/{source.repository} at commit {source.commit}) and run "
                f"`ccrs fetch {dataset.name} --from FOLDER`."
            ) from error
        digest = sha256(content).hexdigest()
        if digest != file.sha256:
            raise StudyError(
                f"{address} is not the pinned file: its SHA-256 is {digest}, expected "
                f"{file.sha256}. No study was created. It may have been changed in transit; "
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
                    f"{folder} does not contain the files of {dataset.name}; no study was created.",
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
    # urllib wraps the cause in a URLError, whose text is only its representation.
    cause = getattr(error, "reason", None)
    return str(cause if isinstance(cause, OSError) else error) or type(error).__name__

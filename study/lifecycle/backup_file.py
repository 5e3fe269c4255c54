"""The file of a backup: a zip and a manifest with the size and SHA-256 of each member.

A backup made by somebody else is not trusted: it holds only members of known names, no more bytes
than stated are read of each, and every byte is under a checksum. Members are copied into new
files, so that links and modes stored in the zip have no effect.
"""

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from study.errors import StudyError
from study.progress import Advance

MANIFEST, SETTINGS, SQLITE, POSTGRESQL, BESIDE, PROMPTS = (
    "manifest.json",
    "study.toml",
    "database.sqlite",
    "database.pgdump",
    "files/",
    "prompts/",
)
_CHUNK = 1 << 20
_MOST_TEXT = 8 << 20
"""Bytes of the largest member that is read into memory."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    struct.error,
)


@dataclass(frozen=True)
class Member:
    """Size and SHA-256 of a member, unpacked."""

    bytes: int
    sha256: str


class Manifest(BaseModel):
    """What a backup says of itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["ccrs-backup"] = "ccrs-backup"
    format_version: Literal[1] = 1
    study: Annotated[str, Field(min_length=1, max_length=100)]
    """The study's identity, which its backups share."""
    name: str
    schema_revision: Annotated[str, Field(pattern=r"^\d{4}$")]
    database: Literal["sqlite", "postgresql"]
    made_at: str
    made_by: str
    members: dict[str, Member]
    rows: dict[str, int]
    """Rows by table."""

    @property
    def database_member(self) -> str:
        """The member that holds the database."""
        return SQLITE if self.database == "sqlite" else POSTGRESQL


def write_backup_file(
    path: Path, members: Mapping[str, Path], about: Mapping[str, object], advance: Advance
) -> Manifest:
    """Write the members and their manifest into a new file that only its owner can read.

    The file is complete when it gets its name, and is read back before.
    """
    if path.exists():
        raise StudyError(f"{path} already exists; name another file.")
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    total = sum(source.stat().st_size for source in members.values())
    try:
        with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file:
            manifest = _write(file, members, about, lambda done: advance(done, 2 * total))
            file.flush()
            os.fsync(file.fileno())
        with open_backup_file(part) as sealed:
            done = total
            for name in sealed.manifest.members:
                for chunk in sealed.chunks(name):
                    done += len(chunk)
                    advance(done, 2 * total)
        give_name(part, path)
    finally:
        part.unlink(missing_ok=True)
    return manifest


def give_name(part: Path, path: Path) -> None:
    """Let a finished file have its name, unless something has it by now.

    Raises
    ------
    StudyError
        Something has.
    """
    try:
        # A link takes no name that is taken, unlike a rename.
        os.link(part, path)
    except OSError:
        # File systems of memory sticks and some servers have no links.
        if path.exists():
            raise StudyError(f"{path} already exists; name another file.") from None
        part.rename(path)


def _write(
    file: IO[bytes],
    members: Mapping[str, Path],
    about: Mapping[str, object],
    advance: Callable[[int], None],
) -> Manifest:
    written, done = {}, 0
    with zipfile.ZipFile(file, "w", allowZip64=True) as packed:
        for name, source in members.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            # pg_dump has compressed its own; of levels, the fastest costs a tenth of the room.
            stored = name == POSTGRESQL
            info.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
            info._compresslevel = 1  # type: ignore[attr-defined]
            info.external_attr = (stat.S_IFREG | 0o600) << 16
            digest, size = sha256(), 0
            with source.open("rb") as stream, packed.open(info, "w", force_zip64=True) as target:
                while chunk := stream.read(_CHUNK):
                    target.write(chunk)
                    digest.update(chunk)
                    size += len(chunk)
                    advance(done + size)
            done += size
            written[name] = Member(size, digest.hexdigest())
        manifest = Manifest.model_validate(
            {**about, "members": {name: asdict(member) for name, member in written.items()}}
        )
        info = zipfile.ZipInfo(MANIFEST, _EPOCH)
        info.external_attr = (stat.S_IFREG | 0o600) << 16
        packed.writestr(info, manifest.model_dump_json(indent=1))
    return manifest


@dataclass(frozen=True)
class BackupFile:
    """A backup whose member names are checked; sizes and digests are checked while reading."""

    path: Path
    manifest: Manifest
    _packed: zipfile.ZipFile

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield a member's bytes.

        Raises
        ------
        StudyError
            There are more or fewer than stated, or they are others.
        """
        stated, digest, size = self.manifest.members[name], sha256(), 0
        try:
            with self._packed.open(name) as stream:
                while chunk := stream.read(_CHUNK):
                    size += len(chunk)
                    if size > stated.bytes:
                        raise _refused(self.path, f"{name} unpacks to more than is stated")
                    digest.update(chunk)
                    yield chunk
        except _UNREADABLE as error:
            raise _refused(self.path, f"{name} can't be unpacked ({error})") from None
        if size != stated.bytes or digest.hexdigest() != stated.sha256:
            raise _refused(self.path, f"{name} is not what was backed up (its checksum differs)")

    def text(self, name: str) -> bytes:
        """Return a small member whole."""
        stated = self.manifest.members[name].bytes
        if stated > _MOST_TEXT:
            raise _refused(self.path, f"{name} states {stated:,} bytes; {_MOST_TEXT:,} are allowed")
        return b"".join(self.chunks(name))

    def unpack(self, name: str, target: Path, advance: Advance) -> None:
        """Write a member to a new file."""
        done, total = 0, self.manifest.members[name].bytes
        with target.open("xb") as file:
            for chunk in self.chunks(name):
                file.write(chunk)
                done += len(chunk)
                advance(done, total)
            file.flush()
            os.fsync(file.fileno())


@contextmanager
def open_backup_file(path: Path) -> Iterator[BackupFile]:
    """Open a backup.

    Raises
    ------
    StudyError
        It is not a backup, or its members are not those of its manifest.
    """
    try:
        packed = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise StudyError(f"{path} does not exist; name a backup that `ccrs backup` made.") from None
    except _UNREADABLE as error:
        raise _refused(path, f"it is not a zip file, or is cut off ({error})") from None
    with packed:
        manifest = _manifest(path, packed)
        _check_names(path, packed, manifest)
        yield BackupFile(path, manifest, packed)


def _manifest(path: Path, packed: zipfile.ZipFile) -> Manifest:
    try:
        with packed.open(MANIFEST) as stream:
            data = stream.read(_MOST_TEXT + 1)
        if len(data) > _MOST_TEXT:
            raise _refused(path, f"{MANIFEST} is too large")
        return Manifest.model_validate_json(data)
    except KeyError:
        raise _refused(path, f"it has no {MANIFEST}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise _refused(path, f"{MANIFEST}: {place}: {first['msg']}") from None
    except _UNREADABLE as error:
        raise _refused(path, f"{MANIFEST} can't be read ({error})") from None


def _check_names(path: Path, packed: zipfile.ZipFile, manifest: Manifest) -> None:
    names = sorted(info.orig_filename for info in packed.infolist())
    for name in names:
        if name != MANIFEST and not _is_expected(name, manifest):
            raise _refused(path, f"it holds {name[:200]!r}, which is not part of a backup")
    if names != sorted([MANIFEST, *manifest.members]):
        raise _refused(path, "its members are not those of the manifest")
    if not {SETTINGS, manifest.database_member}.issubset(names):
        raise _refused(path, f"it lacks {SETTINGS} or the database")


def _is_expected(name: str, manifest: Manifest) -> bool:
    if name.startswith(BESIDE):
        return is_bare(name.removeprefix(BESIDE))
    if name.startswith(PROMPTS):
        folder, _, file = name.removeprefix(PROMPTS).partition("/")
        return is_bare(folder) and is_bare(file) and is_prompt_file(file)
    return name in {SETTINGS, manifest.database_member}


def is_bare(name: str) -> bool:
    """Say whether a name is that of a file in its folder, on every system."""
    forbidden = any(character in name for character in '/\\:*?"<>|') or not name.isprintable()
    return bool(name) and not forbidden and name not in {".", ".."} and name == name.strip(" .")


def is_prompt_file(name: str) -> bool:
    """Say whether a file of this name is a part of a prompt version."""
    return name == "version.toml" or name.endswith(".txt")


def _refused(path: Path, why: str) -> StudyError:
    return StudyError(f"{path} can't be taken as a backup: {why}. Nothing was restored.")

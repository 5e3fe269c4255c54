"""The file of a backup: a zip with a manifest of the size and SHA-256 of each member."""

import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from study.errors import StudyError
from study.progress_bar import Advance

MANIFEST, SETTINGS, FILES, PROMPTS = "manifest.json", "study.toml", "files/", "prompts/"
DATABASES = {"sqlite": "database.sqlite", "postgresql": "database.pgdump"}
"""The member with the database, by kind of database."""
_NAME = r'[^./\\:*?"<>|\x00-\x1f][^/\\:*?"<>|\x00-\x1f]*'
_PROMPT = re.compile(rf"{PROMPTS}{_NAME}/(version\.toml|{_NAME}\.txt)")
_CHUNK = 1 << 20
_WHOLE = 16 << 20
"""Bytes at most of what is read whole: the manifest, study.toml, texts and prompts."""
_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, KeyError),
    *(NotImplementedError, RuntimeError, ValueError, OverflowError),
)
"""What the module zipfile raises for a damaged file."""


class Member(BaseModel):
    """Size and SHA-256 of a member, unpacked."""

    bytes: int
    sha256: str


class Manifest(BaseModel):
    """Origin and contents of a backup."""

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
    def prompts(self) -> set[str]:
        """The members that belong to the study's own prompts."""
        return {name for name in self.members if is_prompt(name)}


def is_prompt(name: str) -> bool:
    """Return whether a path in the study's folder is that of a file of a prompt version."""
    return _PROMPT.fullmatch(name) is not None


def write_backup_file(
    path: Path, members: Mapping[str, Path], about: Mapping[str, object], advance: Advance
) -> Manifest:
    """Write the members and their manifest into a file, and read it back."""
    total = sum(source.stat().st_size for source in members.values())
    written, done = {}, 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for name, source in members.items():
            digest, size = sha256(), 0
            with source.open("rb") as stream, packed.open(name, "w", force_zip64=True) as target:
                while chunk := stream.read(_CHUNK):
                    target.write(chunk)
                    digest.update(chunk)
                    size += len(chunk)
                    advance(done + size, 2 * total)
            done += size
            written[name] = Member(bytes=size, sha256=digest.hexdigest())
        manifest = Manifest.model_validate({**about, "members": written})
        packed.writestr(MANIFEST, manifest.model_dump_json(indent=1))
    with open_backup_file(path) as backup_file:
        for name in manifest.members:
            for chunk in backup_file.chunks(name):
                done += len(chunk)
                advance(done, 2 * total)
    return manifest


@dataclass(frozen=True)
class BackupFile:
    """An open backup whose names and sizes are checked; checksums are checked while reading."""

    path: Path
    manifest: Manifest
    _packed: zipfile.ZipFile

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of a member.

        Raises
        ------
        StudyError
            The member can't be unpacked, or differs from what was backed up.
        """
        digest = sha256()
        try:
            # No more bytes than the size in the zip, which was compared with the manifest.
            with self._packed.open(name) as stream:
                while chunk := stream.read(_CHUNK):
                    digest.update(chunk)
                    yield chunk
        except _UNREADABLE as error:
            raise _refused(self.path, f"{name} can't be unpacked ({error})") from None
        if digest.hexdigest() != self.manifest.members[name].sha256:
            raise _refused(self.path, f"{name} is not what was backed up (its checksum differs)")

    def whole(self, name: str) -> bytes:
        """Return a member, if it is small enough to be read whole."""
        _check_size(self.path, name, self._packed)
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
        present = [(i.filename, i.file_size) for i in packed.infolist() if i.filename != MANIFEST]
        stated = [(name, member.bytes) for name, member in manifest.members.items()]
        if sorted(present) != sorted(stated):
            raise _refused(path, "its members are not those of the manifest")
        yield BackupFile(path, manifest, packed)


def _manifest(path: Path, packed: zipfile.ZipFile) -> Manifest:
    names = packed.namelist()
    if MANIFEST not in names:
        why = f"it has no {MANIFEST}"
        if any(name.endswith("/study.db") for name in names):
            why += "; an archive of `ccrs archive` is a study as soon as it is unpacked"
        raise _refused(path, why)
    try:
        _check_size(path, MANIFEST, packed)
        with packed.open(MANIFEST) as stream:
            # Without a number, all that the stream contains would be unpacked first.
            return Manifest.model_validate_json(stream.read(_WHOLE))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise _refused(path, f"{MANIFEST}: {place}: {first['msg']}") from None
    except _UNREADABLE as error:
        raise _refused(path, f"{MANIFEST} can't be read ({error})") from None


def _check_size(path: Path, name: str, packed: zipfile.ZipFile) -> None:
    size = packed.getinfo(name).file_size
    if size > _WHOLE:
        raise _refused(
            path, f"{name} unpacks to {size >> 20:,} MB; at most {_WHOLE >> 20} MB are read"
        )


def _refused(path: Path, why: str) -> StudyError:
    return StudyError(f"{path} can't be used as a backup: {why}. Nothing was restored.")

"""The file of a backup: a zip with a manifest of the size and SHA-256 of each member.

A backup may come from somebody else. Only members of known names are read, each must have its size
and checksum, and each is copied into a new file, so that links and modes in the zip have no effect.
"""

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from study.errors import StudyError
from study.progress_bar import Advance

MANIFEST, SETTINGS, SQLITE, POSTGRESQL, FILES, PROMPTS = (
    "manifest.json",
    "study.toml",
    "database.sqlite",
    "database.pgdump",
    "files/",
    "prompts/",
)
_CHUNK = 1 << 20
_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, KeyError),
    *(NotImplementedError, RuntimeError, ValueError, OverflowError),
)
"""What the module zipfile raises for a damaged file."""


@dataclass(frozen=True)
class Member:
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
    def database_member(self) -> str:
        """The member with the database."""
        return SQLITE if self.database == "sqlite" else POSTGRESQL


def write_backup_file(
    path: Path, members: Mapping[str, Path], about: Mapping[str, object], advance: Advance
) -> Manifest:
    """Write the members and their manifest into a new file that only its owner can read.

    The file is read back before it gets its name.
    """
    if path.exists():
        raise StudyError(f"{path} already exists; name another file.")
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    total = sum(source.stat().st_size for source in members.values())
    try:
        with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file:
            manifest = _write(file, members, about, lambda done, _: advance(done, 2 * total))
            file.flush()
            os.fsync(file.fileno())
        with open_backup_file(part) as backup_file:
            done = total
            for name in backup_file.manifest.members:
                for chunk in backup_file.chunks(name):
                    done += len(chunk)
                    advance(done, 2 * total)
        give_name(part, path)
    finally:
        part.unlink(missing_ok=True)
    return manifest


def give_name(part: Path, path: Path) -> None:
    """Rename a complete file, unless a file of that name has appeared in the meantime.

    Raises
    ------
    StudyError
        There is a file of that name.
    """
    try:
        # Unlike a rename, a link does not replace an existing file.
        os.link(part, path)
    except OSError:
        # File systems of memory sticks and some servers have no links.
        if path.exists():
            raise StudyError(f"{path} already exists; name another file.") from None
        part.rename(path)


def _write(
    file: IO[bytes], members: Mapping[str, Path], about: Mapping[str, object], advance: Advance
) -> Manifest:
    written, done = {}, 0
    with zipfile.ZipFile(file, "w", allowZip64=True) as packed:
        for name, source in members.items():
            info = _zip_info(name)
            # pg_dump compresses its own output. The fastest level needs a tenth more space.
            stored = name == POSTGRESQL
            info.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
            info._compresslevel = 1  # type: ignore[attr-defined]
            digest, size = sha256(), 0
            with source.open("rb") as stream, packed.open(info, "w", force_zip64=True) as target:
                while chunk := stream.read(_CHUNK):
                    target.write(chunk)
                    digest.update(chunk)
                    size += len(chunk)
                    advance(done + size, 0)
            done += size
            written[name] = asdict(Member(size, digest.hexdigest()))
        manifest = Manifest.model_validate({**about, "members": written})
        packed.writestr(_zip_info(MANIFEST), manifest.model_dump_json(indent=1))
    return manifest


def _zip_info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.external_attr = (stat.S_IFREG | 0o600) << 16
    return info


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
        _check_members(path, packed, manifest)
        yield BackupFile(path, manifest, packed)


def _manifest(path: Path, packed: zipfile.ZipFile) -> Manifest:
    try:
        return Manifest.model_validate_json(packed.read(MANIFEST))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise _refused(path, f"{MANIFEST}: {place}: {first['msg']}") from None
    except _UNREADABLE as error:
        raise _refused(path, f"{MANIFEST} can't be read ({error})") from None


def _check_members(path: Path, packed: zipfile.ZipFile, manifest: Manifest) -> None:
    members = [i for i in packed.infolist() if i.orig_filename != MANIFEST]
    for info in members:
        if not _is_expected(info.orig_filename, manifest):
            name = info.orig_filename[:200]
            raise _refused(path, f"it contains {name!r}, which is not part of a backup")
    sizes = {name: member.bytes for name, member in manifest.members.items()}
    stated = {info.orig_filename: info.file_size for info in members}
    if len(members) + 1 != len(packed.infolist()) or len(members) != len(stated) or sizes != stated:
        raise _refused(path, "its members are not those of the manifest")
    if not {SETTINGS, manifest.database_member}.issubset(sizes):
        raise _refused(path, f"it lacks {SETTINGS} or the database")


def _is_expected(name: str, manifest: Manifest) -> bool:
    if name.startswith(FILES):
        return is_bare(name.removeprefix(FILES))
    if name.startswith(PROMPTS):
        folder, _, file = name.removeprefix(PROMPTS).partition("/")
        return is_bare(folder) and is_bare(file) and is_prompt_file(file)
    return name in {SETTINGS, manifest.database_member}


def is_bare(name: str) -> bool:
    """Return whether a name is that of a file in its folder, on every operating system."""
    forbidden = any(character in name for character in '/\\:*?"<>|') or not name.isprintable()
    return bool(name) and not forbidden and name not in {".", ".."} and name == name.strip(" .")


def is_prompt_file(name: str) -> bool:
    """Return whether a file of this name is part of a prompt version."""
    return name == "version.toml" or name.endswith(".txt")


def _refused(path: Path, why: str) -> StudyError:
    return StudyError(f"{path} can't be used as a backup: {why}. Nothing was restored.")

"""What is remembered of a study outside of it: its copies, and who was erased from it.

The log is in the user's state folder, under the identity that a study shares with its backups. It
can't be in the study itself, since restoring a backup must not restore an erased person. It has no
names: a person is a keyed hash.
"""

import hmac
import json
import mmap
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection, select

from study.errors import StudyError
from study.schema import now
from study.schema.tables import study_identities
from study.study import Study

ErasureKind = Literal["removed", "severed"]
_ENCODED = "utf-8"


@dataclass(frozen=True)
class NotedCopy:
    """A copy of the study that one of our commands made."""

    kind: str
    path: Path
    made_at: str


@dataclass(frozen=True)
class NotedErasure:
    """An erasure, as restoring needs it. `at` is that of the study's own row."""

    kind: ErasureKind
    at: datetime
    marks: frozenset[str]


def identity(connection: Connection) -> str:
    """Return the random name that a study shares with its backups."""
    name = connection.execute(select(study_identities.c.public_id)).scalars().first()
    if name is None:
        raise StudyError("The database names no study; restore it from a backup.")
    return str(name)


class ErasureLog:
    """The list of one study's copies and erasures.

    Raises
    ------
    StudyError
        The list can't be written, others can read it, or it would be in the study's folder.
    """

    def __init__(self, identity: str, study_folder: Path) -> None:
        named = Path(os.environ.get("XDG_STATE_HOME", ""))
        # The XDG base directory specification says to ignore a relative one.
        state = named if named.is_absolute() else Path.home() / ".local" / "state"
        self._top = state / "ccrs-study" / "keeping"
        # The identity of a restored file is not trusted, so it is not used in a path.
        self.folder = self._top / sha256(identity.encode(_ENCODED)).hexdigest()[:32]
        if self.folder.resolve().is_relative_to(study_folder.resolve()):
            raise StudyError(
                f"The list of erasures {self.folder} would be inside the study's folder, which "
                "may be mailed or deposited. Set XDG_STATE_HOME to another folder."
            )

    @classmethod
    def of(cls, study: Study) -> "ErasureLog":
        """Return the log of a study."""
        with study.read() as connection:
            return cls(identity(connection), study.folder)

    def note_copy(self, kind: str, path: Path) -> None:
        """Remember a copy that was made."""
        line = {"kind": kind, "path": str(path.resolve()), "made_at": now().isoformat()}
        with self._alone():
            self._append("copies.jsonl", line)

    def forget_copy(self, path: Path) -> None:
        """Remove a copy from the list that was not completed."""
        with self._alone():
            self._keep("copies.jsonl", lambda line: line["path"] != str(path.resolve()))

    def copies(self) -> list[NotedCopy]:
        """Return the copies that were made, each path once, the oldest first."""
        by_path: dict[str, NotedCopy] = {}
        for line in self._lines("copies.jsonl"):
            by_path[line["path"]] = NotedCopy(line["kind"], Path(line["path"]), line["made_at"])
        return list(by_path.values())

    def note_erasure(self, kind: ErasureKind, at: datetime, names: Iterable[str]) -> None:
        """Record that the person of these names was erased; the names can't be read from it."""
        with self._alone():
            marks = sorted(self._mark(name) for name in names)
            self._append("erasures.jsonl", {"kind": kind, "at": at.isoformat(), "marks": marks})

    def forget_erasure(self, at: datetime) -> None:
        """Remove an erasure from the list that was not completed."""
        with self._alone():
            self._keep("erasures.jsonl", lambda line: line["at"] != at.isoformat())

    def erasures(self) -> list[NotedErasure]:
        """Return the erasures in their order."""
        return [
            NotedErasure(line["kind"], datetime.fromisoformat(line["at"]), frozenset(line["marks"]))
            for line in self._lines("erasures.jsonl")
        ]

    def exists(self) -> bool:
        """Return whether there is a list of the study's copies and erasures on this computer."""
        return self.folder.is_dir()

    def marks_of(self, names: Iterable[str]) -> dict[str, str]:
        """Return the mark of each of these names in the list."""
        if not (self.folder / "key").exists():
            return {}
        return {name: self._mark(name) for name in names}

    def _mark(self, name: str) -> str:
        return hmac.new(self._key(), name.encode(_ENCODED), "sha256").hexdigest()

    def _key(self) -> bytes:
        path = self.folder / "key"
        if not path.exists():
            _write(path, secrets.token_bytes(32), os.O_EXCL)
        return path.read_bytes()

    @contextmanager
    def noted(self, kind: str, path: Path) -> Iterator[None]:
        """Remember a copy that is made in the block, from its beginning on.

        People erased in the meantime may still be in it.
        """
        self.note_copy(kind, path)
        try:
            yield
        except BaseException:
            self.forget_copy(path)
            raise

    @contextmanager
    def _alone(self) -> Iterator[None]:
        from filelock import FileLock

        try:
            for folder in (self._top, self.folder):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StudyError(
                f"{self.folder}, where a study's copies and erasures are listed, can't be made "
                f"({error.strerror}). Set XDG_STATE_HOME to a folder of yours."
            ) from None
        for folder in (self._top, self.folder):
            # It contains the key: anyone who reads it could try names.
            _only_ours(folder)
        with FileLock(self.folder / "lock", mode=0o600):
            yield

    def _append(self, name: str, line: dict[str, Any]) -> None:
        _write(self.folder / name, (json.dumps(line) + "\n").encode(_ENCODED), os.O_APPEND)

    def _keep(self, name: str, is_kept: Callable[[dict[str, Any]], bool]) -> None:
        text = "".join(json.dumps(line) + "\n" for line in self._lines(name) if is_kept(line))
        draft = self.folder / f".{secrets.token_hex(8)}"
        _write(draft, text.encode(_ENCODED), os.O_EXCL)
        draft.replace(self.folder / name)

    def _lines(self, name: str) -> list[dict[str, Any]]:
        path = self.folder / name
        if not path.exists():
            return []
        try:
            lines = path.read_text(encoding=_ENCODED).splitlines()
            return [json.loads(line) for line in lines if line.strip()]
        except (OSError, ValueError) as error:
            raise StudyError(
                f"{path} can't be read ({error}). It lists erasures and copies; "
                "repair it or, if nobody was erased, move it away."
            ) from None


def _write(path: Path, data: bytes, how: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | how | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags, 0o600)
    with os.fdopen(descriptor, "ab" if how & os.O_APPEND else "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _only_ours(folder: Path) -> None:
    if os.name == "nt":
        # Modes and owners have no meaning there; a user's profile is closed to others.
        return
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise StudyError(f"{folder} is not your folder; move it away.")
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise StudyError(f"Others can read {folder}; make it private: chmod 700 {folder}")


SUFFIX = ".ccrs-backup"


@dataclass(frozen=True)
class RemainingCopy:
    """A file, and why it is listed."""

    path: Path
    why: str

    def as_json(self) -> dict[str, Any]:
        """Return it as values for JSON."""
        return {"path": str(self.path), "why": self.why}


def remaining_copies(
    study: Study, ledger: ErasureLog, code: str | None
) -> tuple[RemainingCopy, ...]:
    """Return the known copies of a study, and the files in its folder that mention a person."""
    reasons: dict[Path, str] = {}
    for copy in ledger.copies():
        where = "" if copy.path.exists() else "; not found there now"
        reasons[copy.path] = f"{copy.kind}, made {copy.made_at[:10]}{where}"
    word = None if code is None else re.compile(_anywhere(code), re.IGNORECASE)
    for path in _files(study.folder, study.config.database):
        if path.resolve() in reasons:
            continue
        if "-before-upgrade-" in path.name:
            reasons[path] = "the database as it was before an upgrade"
        elif path.name.endswith(SUFFIX):
            reasons[path] = "backup"
        elif word is not None and _holds(path, word):
            reasons[path] = "mentions the code"
    return tuple(RemainingCopy(path, why) for path, why in reasons.items())


def _anywhere(code: str) -> bytes:
    # As in `word_of`, for bytes: those have no letters beyond ASCII's.
    return rb"(?<![^\W_])" + re.escape(code.encode()) + rb"(?![^\W_])"


def _files(folder: Path, database: str) -> Iterator[Path]:
    database_files = {folder / f"{database}{suffix}" for suffix in ("", "-wal", "-shm")}
    for path in sorted(folder.rglob("*")):
        if path not in database_files and path.is_file() and not path.is_symlink():
            yield path


def _holds(path: Path, word: re.Pattern[bytes]) -> bool:
    try:
        if not path.stat().st_size:
            return False
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return word.search(data) is not None
    except OSError:
        # What can't be read is reported rather than skipped.
        return True

"""The secret that signs sessions: random, one for each study, and never in the study's folder.

The folder of a study is mailed, deposited and backed up; anyone who has the secret can sign in as
any rater.
"""

import os
import secrets
import stat
from hashlib import sha256
from pathlib import Path

from study.errors import StudyError

LENGTH = 32
"""Bytes."""
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)


def secret_key(folder: Path, file: Path | None = None) -> bytes:
    """Return the 32 secret bytes of the study in `folder`; the first call creates them.

    Parameters
    ----------
    folder
        The study's folder. A moved study gets another secret: sessions end, links stay valid.
    file
        File of the secret, instead of one in the user's state folder.

    Raises
    ------
    StudyError
        Others can read the file, it is a symbolic link or not a secret, or it is inside the
        study's folder.
    """
    place = file if file is not None else secret_place(folder)
    if place.resolve().is_relative_to(folder.resolve()):
        raise StudyError(
            f"The secret {place} would be inside the study's folder, which may be mailed or "
            "deposited. Set XDG_STATE_HOME to another folder, or name a file with --secret-file."
        )
    if file is None:
        _prepare(place.parent)
    if not os.path.lexists(place):
        _make(place)
    return _read(place)


def secret_place(folder: Path) -> Path:
    """Return the file of the secret of the study in `folder`."""
    named = Path(os.environ.get("XDG_STATE_HOME", ""))
    # The XDG base directory specification says to ignore a relative one.
    state = named if named.is_absolute() else Path.home() / ".local" / "state"
    name = sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
    return state / "ccrs-study" / "secrets" / name


def _prepare(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        raise StudyError(
            f"{folder}, for the secret of the pages, can't be created ({error.strerror}). "
            "Set XDG_STATE_HOME to a folder of yours, or name a file with --secret-file."
        ) from None
    if not stat.S_ISDIR(status.st_mode):
        raise StudyError(f"{folder} is not a folder, or a symbolic link; move it away.")
    _only_ours(folder, status, "chmod 700")


def _make(place: Path) -> None:
    """Create the secret in one step: of two processes, the second uses the secret of the first."""
    draft = place.with_name(f".{place.name}.{secrets.token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW
    try:
        descriptor = os.open(draft, flags, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(LENGTH))
                file.flush()
                os.fsync(file.fileno())
            # A link, unlike a rename, does not replace an existing file.
            os.link(draft, place)
        except FileExistsError:
            return
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise StudyError(
            f"The secret {place} can't be created ({error.strerror}). Name a file in a folder of "
            "yours, on a local disk, with --secret-file."
        ) from None


def _read(place: Path) -> bytes:
    try:
        descriptor = os.open(place, os.O_RDONLY | _NO_FOLLOW | _NO_WAIT)
    except OSError as error:
        if place.is_symlink():
            raise StudyError(
                f"The secret {place} is a symbolic link, which is not allowed. Remove it and "
                "start again."
            ) from None
        raise StudyError(f"The secret {place} can't be read ({error.strerror}).") from None
    try:
        # The open file is checked, since the name may lead elsewhere a moment later.
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise StudyError(f"The secret {place} is not a file. Move it away and start again.")
        _only_ours(place, status, "chmod 600")
        secret = os.read(descriptor, LENGTH + 1)
    finally:
        os.close(descriptor)
    if len(secret) != LENGTH:
        raise StudyError(
            f"The secret {place} has {status.st_size} bytes instead of {LENGTH}. Remove it and "
            "start again; another is created, and raters open their links again."
        )
    return secret


def _only_ours(place: Path, status: os.stat_result, remedy: str) -> None:
    if os.name == "nt":
        # Windows has no such modes and owners; a user's profile is closed to others.
        return
    if status.st_uid != os.geteuid():
        raise StudyError(
            f"{place} belongs to another user (number {status.st_uid}). Run as that user, or name "
            "a file of yours with --secret-file."
        )
    if stat.S_IMODE(status.st_mode) & 0o077:
        mode = stat.S_IMODE(status.st_mode)
        raise StudyError(
            f"Other users can access {place} (mode {mode:04o}), so the secret may be known. Remove "
            f"it and start again, or, if you trust it: {remedy} {place}"
        )

"""The secret that signs sessions: random, one for each study, and never in the study's folder.

The folder of a study is mailed, deposited and backed up; whoever has the secret can sign in as
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
    """Return the 32 secret bytes of the study in `folder`; they are made when first asked for.

    Parameters
    ----------
    folder
        The study's folder. A study that is moved gets another secret: sessions end, links stay.
    file
        Where the secret is kept instead of the user's state folder.

    Raises
    ------
    StudyError
        Others can read the file, it is a symbolic link or no secret, or it would lie inside the
        study's folder.
    """
    place = file if file is not None else secret_place(folder)
    if place.resolve().is_relative_to(folder.resolve()):
        raise StudyError(
            f"The secret {place} would lie inside the study's folder, which may be mailed or "
            "deposited. Set XDG_STATE_HOME to another folder, or name a file with --secret-file."
        )
    if file is None:
        _prepare(place.parent)
    if not os.path.lexists(place):
        _make(place)
    return _read(place)


def secret_place(folder: Path) -> Path:
    """Return where the secret of the study in `folder` is kept."""
    named = Path(os.environ.get("XDG_STATE_HOME", ""))
    # The XDG base directory specification says to ignore a relative one.
    state = named if named.is_absolute() else Path.home() / ".local" / "state"
    name = sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
    return state / "ccrs-study" / "secrets" / name


def _prepare(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise StudyError(
            f"{folder}, where the secret of the pages is kept, can't be made ({error.strerror}). "
            "Set XDG_STATE_HOME to a folder of yours, or name a file with --secret-file."
        ) from None
    if not stat.S_ISDIR(found.st_mode):
        raise StudyError(f"{folder} is a symbolic link or no folder; move it away.")
    _only_ours(folder, found, "chmod 700")


def _make(place: Path) -> None:
    """Make the secret whole and at once: of two processes, the second finds the first one's."""
    draft = place.with_name(f".{place.name}.{secrets.token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW
    try:
        descriptor = os.open(draft, flags, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(LENGTH))
                file.flush()
                os.fsync(file.fileno())
            # A link takes no name that is taken, unlike a rename.
            os.link(draft, place)
        except FileExistsError:
            return
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise StudyError(
            f"The secret {place} can't be made ({error.strerror}). Name a file in a folder of "
            "yours, on a local disk, with --secret-file."
        ) from None


def _read(place: Path) -> bytes:
    try:
        descriptor = os.open(place, os.O_RDONLY | _NO_FOLLOW | _NO_WAIT)
    except OSError as error:
        if place.is_symlink():
            raise StudyError(
                f"The secret {place} is a symbolic link, which may lead anywhere. Remove it and "
                "start again."
            ) from None
        raise StudyError(f"The secret {place} can't be read ({error.strerror}).") from None
    try:
        # Asked of the open file: a name may lead elsewhere a moment later.
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise StudyError(f"The secret {place} is not a file. Move it away and start again.")
        _only_ours(place, found, "chmod 600")
        secret = os.read(descriptor, LENGTH + 1)
    finally:
        os.close(descriptor)
    if len(secret) != LENGTH:
        raise StudyError(
            f"The secret {place} holds {found.st_size} bytes instead of {LENGTH}. Remove it and "
            "start again; another is made, and raters open their links again."
        )
    return secret


def _only_ours(place: Path, found: os.stat_result, remedy: str) -> None:
    if os.name == "nt":
        # Modes and owners say nothing there; a user's profile is closed to others.
        return
    if found.st_uid != os.geteuid():
        raise StudyError(
            f"{place} belongs to another user (number {found.st_uid}). Run as that user, or name "
            "a file of yours with --secret-file."
        )
    if stat.S_IMODE(found.st_mode) & 0o077:
        mode = stat.S_IMODE(found.st_mode)
        raise StudyError(
            f"Others can get at {place} (mode {mode:04o}); the secret may be known. Remove it "
            f"and start again, or, where you are sure of it: {remedy} {place}"
        )

"""Whether the file system of an SQLite study is safe for long work by several processes.

An SQLite study is neither served nor judged on a network file system. In WAL mode SQLite keeps an
index in memory that the processes of one machine share (https://sqlite.org/wal.html,
"Disadvantages"), and its locks are unsafe on many network file systems.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from study.errors import StudyError
from study.study import Study

_MOUNTS = Path("/proc/self/mountinfo")
_KINDS = (
    "nfs nfs3 nfs4 cifs smb2 smb3 smbfs 9p afs coda ncp ncpfs ceph glusterfs lustre beegfs gpfs "
    "panfs pvfs2 orangefs ocfs2 gfs2 davfs vboxsf drvfs "
    "fuse.sshfs fuse.rclone fuse.s3fs fuse.mount-s3 fuse.gcsfuse fuse.goofys fuse.gvfsd-fuse "
    "fuse.kio-fuse fuse.davfs2 fuse.davfs fuse.glusterfs fuse.ceph fuse.ceph-fuse fuse.juicefs "
    "fuse.seadrive fuse.onedriver fuse.google-drive-ocamlfuse fuse.vmhgfs-fuse"
)
_NETWORK = frozenset(_KINDS.split())


@dataclass(frozen=True)
class Mount:
    """A mounted file system."""

    point: str
    kind: str


def check_file_system(study: Study, mountinfo: str | None = None) -> None:
    """Refuse an SQLite study on a network file system.

    Parameters
    ----------
    study
        A study on PostgreSQL passes on every file system.
    mountinfo
        Mounted file systems, in the form of Linux's /proc/self/mountinfo, which is read unless
        given. On systems without that file every study passes.

    Raises
    ------
    StudyError
        The study, or its database, is on a network file system.
    """
    if "://" in study.config.database:
        return
    # The database itself may be a symbolic link.
    for path in (study.folder.resolve(), (study.folder / study.config.database).resolve()):
        mount = mount_of(path, _mounted() if mountinfo is None else mountinfo)
        if mount is not None and mount.kind in _NETWORK:
            raise StudyError(
                f"{path} is on a network file system ({mount.kind} at {mount.point}), where "
                "SQLite can lose data. Copy the study to a local disk and work on it there, or use "
                "PostgreSQL: `database` in study.toml."
            )


def mount_of(path: Path, mountinfo: str) -> Mount | None:
    """Return the file system of an absolute path, by the longest mount point."""
    longest = None
    for line in mountinfo.splitlines():
        # Number, parent, device, root, point, options, optional fields, "-", type, source, ...
        # as proc(5) describes it.
        before, separator, after = line.partition(" - ")
        fields, kinds = before.split(" "), after.split(" ")
        if not separator or len(fields) < 5:
            continue
        # davfs2 calls itself "fuse"; its source is an address.
        remote = kinds[0] == "fuse" and kinds[1:2] and "://" in kinds[1]
        mount = Mount(_plain(fields[4]), "davfs" if remote else kinds[0])
        # Of several at one point, the last covers the others.
        if path.is_relative_to(mount.point) and (
            longest is None or len(mount.point) >= len(longest.point)
        ):
            longest = mount
    return longest


def _mounted() -> str:
    try:
        return _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def _plain(field: str) -> str:
    """Return a mount point with its escapes decoded, such as \\040 for a blank."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), field)

"""File systems on which a study on SQLite may be served and judged."""

from pathlib import Path

import pytest

from study import Study, StudyError
from study.lifecycle.file_system import check_file_system, mount_of

ROOT = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw"


def mounted(point: str, kind: str, source: str = "server:/export") -> str:
    escaped = point.replace("\\", "\\134").replace(" ", "\\040")
    return f"{ROOT}\n41 22 0:44 / {escaped} rw,relatime shared:7 master:2 - {kind} {source} rw\n"


@pytest.mark.parametrize(
    "kind",
    ["nfs", "nfs4", "cifs", "smb3", "9p", "afs", "fuse.sshfs", "fuse.rclone", "ceph", "lustre"],
)
def test_a_network_file_system_is_refused(study: Study, kind: str) -> None:
    info = mounted(str(study.folder.parent.resolve()), kind)
    with pytest.raises(StudyError, match=rf"network file system \({kind} at .*PostgreSQL"):
        check_file_system(study, info)


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "fuseblk"])
def test_a_local_disk_is_fine(study: Study, kind: str) -> None:
    check_file_system(study, mounted(str(study.folder.parent.resolve()), kind))


def test_mounts_of_this_machine_can_be_read(study: Study) -> None:
    check_file_system(study)


def test_a_davfs_mount_is_known_by_its_source() -> None:
    info = mounted("/mnt", "fuse", "https://example.org/files")
    mount = mount_of(Path("/mnt/s"), info)
    assert mount is not None
    assert mount.kind == "davfs"


def test_the_longest_mount_point_counts_and_of_two_at_one_point_the_last() -> None:
    info = "\n".join(
        [
            ROOT,
            "30 22 0:30 / /home rw - autofs systemd-1 rw",
            "31 22 0:31 / /home rw - nfs4 server:/home rw",
            "32 31 8:2 / /home/anna/local rw - ext4 /dev/sdb1 rw",
            "33 22 0:33 / /home/anna/my\\040files rw - cifs //server/anna rw",
            "a broken line",
            "34 22 0:34 / /hom rw - 9p x rw",
        ]
    )
    kinds = {
        "/home/anna/study": "nfs4",
        "/home/anna/local/study": "ext4",
        "/home/anna/local-2": "nfs4",
        "/home/anna/my files/study": "cifs",
        "/homes": "ext4",
        "/srv": "ext4",
    }
    for path, kind in kinds.items():
        mount = mount_of(Path(path), info)
        assert mount is not None
        assert mount.kind == kind, path
    assert mount_of(Path("/srv"), "") is None


def test_a_database_that_is_a_link_is_judged_by_where_it_leads(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "s")
    study.close()
    far = tmp_path / "far"
    far.mkdir()
    (study.folder / "study.db").rename(far / "study.db")
    (study.folder / "study.db").symlink_to(far / "study.db")
    with pytest.raises(StudyError, match="network file system"):
        check_file_system(study, mounted(str(far.resolve()), "nfs"))


def test_postgresql_may_be_described_anywhere(any_study: Study) -> None:
    info = mounted(str(any_study.folder.parent.resolve()), "nfs")
    if any_study.engine.dialect.name == "postgresql":
        check_file_system(any_study, info)
    else:
        with pytest.raises(StudyError):
            check_file_system(any_study, info)

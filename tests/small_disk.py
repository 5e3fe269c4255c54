"""A file system of its own that can be filled up: a real full disk."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOSPC
from pathlib import Path

from tests.conftest import absent


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    """Mount a file system of its own, of so many bytes, in memory."""
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        absent(f"no file system can be mounted here ({made.stderr.strip()})")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill_up(path: Path) -> None:
    """Write until the disk is full."""
    with path.open("wb", buffering=0) as large:
        for size in (2**16, 1):
            try:
                while large.write(bytes(size)) == size:
                    pass
            except OSError as error:
                assert error.errno == ENOSPC  # noqa: PT017

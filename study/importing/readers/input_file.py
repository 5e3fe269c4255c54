"""The file that is read: size, digest and text; and the records that are read from it."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import file_digest
from pathlib import Path
from typing import Any, Literal, NamedTuple, TextIO

from study.errors import Fault, InputError
from study.importing.import_report import ImportReport

Form = Literal["delimited", "json lines", "json document", "parquet", "workbook"]
Advance = Callable[[int, int], None]


def unseen(done: int, total: int) -> None:
    """Show no progress."""
    del done, total


class Record(NamedTuple):
    """One row: its number as an editor or spreadsheet counts it, and its cells by column."""

    number: int
    cells: dict[str, Any]


@dataclass(frozen=True)
class InputFile:
    """A file that is being read; the rules that accepted something are counted in `report`."""

    path: Path
    report: ImportReport = field(default_factory=ImportReport)
    advance: Advance = unseen

    def refused(self, problem: str, remedy: str = "", row: int | None = None) -> InputError:
        """Return the error of the file where it has one fault alone."""
        return InputError(self.path.name, [Fault(problem, remedy, row)])

    @cached_property
    def sha256(self) -> str:
        """Digest of the file's bytes, in hexadecimal."""
        with self.path.open("rb") as stream:
            return file_digest(stream, "sha256").hexdigest()

    @cached_property
    def size(self) -> int:
        """Length in bytes."""
        return self.path.stat().st_size


BOM = b"\xef\xbb\xbf"
SAVE_AGAIN = "Save it as UTF-8 (in Excel: Save As, CSV UTF-8)."
BOM_SKIPPED = "a byte order mark before the first column, skipped"

_WIDE = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
# Content that some programs write under the name of a table.
_FOREIGN = {b"PK\x03\x04": "a ZIP archive or an Excel workbook", b"\x1f\x8b": "gzip-compressed"}


def not_text(head: bytes) -> Fault | None:
    """Return a fault if a file that begins with these bytes is recognizably not UTF-8 text."""
    if not head.removeprefix(BOM).strip():
        return Fault("the file is empty.", "Save it again with its content.")
    for mark, name in _WIDE.items():
        if head.startswith(mark):
            return Fault(f"the file is {name}, not UTF-8.", SAVE_AGAIN)
    for mark, name in _FOREIGN.items():
        if head.startswith(mark):
            remedy = (
                "Give a CSV, JSON lines or Parquet file, or a workbook as Excel saves it (in "
                "Excel: Save As, CSV UTF-8 or .xlsx; for a log of Inspect: inspect log convert "
                "--to json)."
            )
            return Fault(f"the file is {name}.", remedy)
    half = head[: len(head) // 2 * 2]
    # Every other byte of Latin text in UTF-16 is zero.
    if max(half[0::2].count(0), half[1::2].count(0)) > 0.4 * len(half) / 2:
        return Fault("the file looks like UTF-16, not UTF-8.", SAVE_AGAIN)
    return None


def open_text(path: Path, report: ImportReport) -> TextIO:
    """Open a UTF-8 file without changing line ends; a byte order mark is skipped and counted."""
    with path.open("rb") as stream:
        marked = stream.read(len(BOM)) == BOM
    if marked:
        report.rules[BOM_SKIPPED] = 1
    return path.open(encoding="utf-8-sig" if marked else "utf-8", newline="")


@contextmanager
def decoding(path: Path) -> Iterator[None]:
    """Turn a failure to decode `path` into the error that counts the faulty lines."""
    try:
        yield
    except UnicodeDecodeError:
        raise InputError(path.name, [_not_utf8(path)]) from None


def _not_utf8(path: Path) -> Fault:
    """The fault of a text in another encoding: how many lines have it, and the first of them."""
    count = first = 0
    near, others = "", b""
    for number, line in enumerate(_lines(path), start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            count += 1
            if len(others) < _LOOKED_AT:
                others += bytes(byte for byte in line if byte >= 0x80)
            if not first:
                first = number
                around = line[max(0, error.start - 20) : error.start + 20]
                invalid = line[error.start : error.start + 4].hex(" ")
                place = f"bytes {invalid} at byte {error.start + 1} of the line"
                near = f"{place}, near {around.decode(_encoding(others)[0], 'replace').strip()!r}"
    encoding, name = _encoding(others[:_LOOKED_AT])
    lines = f"line {first} is" if count == 1 else f"{count:,} lines are"
    where = "" if count == 1 else f"the first is line {first}: "
    program = f"frame = pandas.read_csv({path.name!r}, encoding={encoding!r})"
    return Fault(
        f"{lines} not UTF-8 ({where}{near}). The encoding is probably {name}.",
        f"{SAVE_AGAIN} In Python: {program}; frame.to_csv({path.name!r}, index=False).",
    )


def _encoding(others: bytes) -> tuple[str, str]:
    """The probable encoding of bytes beyond ASCII, as Python and as people call it."""
    codecs = {"cp1252": "Windows-1252 (Latin-1)", "mac_roman": "Mac Roman"}
    frequent = {
        codec: sum(character in _FREQUENT for character in others.decode(codec, "replace"))
        for codec in codecs
    }
    codec = max(frequent, key=lambda name: frequent[name])
    return codec, codecs[codec]


# Letters and signs beyond ASCII that are frequent in texts of western languages.
_FREQUENT = frozenset("äöüßÄÖÜéèêàâçôîñóíáúãõåøæ") | frozenset(
    "\u2018\u2019\u201c\u201d\u201e\u2013\u2014\u2026"
)
_LOOKED_AT = 1000


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file with the line ends of any system."""
    with path.open("rb") as stream:
        for line in stream:
            # A single carriage return ends a line too, as in old files of the Mac.
            yield from _RETURN.split(line)


_RETURN = re.compile(rb"\r(?!\n)")

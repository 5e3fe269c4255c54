"""A backup of unknown hands writes nothing but what a backup holds, or nothing at all."""

import io
import json
import shutil
import sqlite3
import stat
import zipfile
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from study import Study, StudyError
from study.lifecycle.backup import backup
from study.lifecycle.restore import restore
from tests.conftest import examples

Members = dict[str, bytes]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("good")
    study = Study.create(folder / "s", '[rating]\nconsent = "consent.md"\n')
    (folder / "s" / "consent.md").write_text("Agree?")
    done = backup(study, folder)
    study.close()
    return done.path.read_bytes()


def members(data: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def packed(
    contents: Members, *, modes: dict[str, int] | None = None, restate: bool = True
) -> bytes:
    """Return a zip of these members; the manifest says what they are unless told otherwise."""
    manifest = json.loads(contents["manifest.json"])
    if restate:
        manifest["members"] = {
            name: {"bytes": len(data), "sha256": sha256(data).hexdigest()}
            for name, data in contents.items()
            if name != "manifest.json"
        }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in contents.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (modes or {}).get(name, stat.S_IFREG | 0o600) << 16
            content = json.dumps(manifest).encode() if name == "manifest.json" else data
            target.writestr(info, content)
    return stream.getvalue()


def around(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*")}


def refuses(data: bytes, tmp_path: Path, why: str = ".") -> None:
    inside = tmp_path / "inside"
    inside.mkdir(exist_ok=True)
    path = inside / "b.ccrs-backup"
    path.write_bytes(data)
    before = around(tmp_path)
    with pytest.raises(StudyError, match=why):
        restore(path, inside / "back")
    assert around(tmp_path) == before


def test_the_good_one_is_restored(good: bytes, tmp_path: Path) -> None:
    path = tmp_path / "b"
    path.write_bytes(packed(members(good)))
    restore(path, tmp_path / "back")
    assert (tmp_path / "back" / "consent.md").read_text() == "Agree?"


NAMES = [
    "../outside",
    "files/../../outside",
    "files/../study.toml",
    "/etc/outside",
    "files//etc/passwd",
    "C:\\outside",
    "files/C:outside",
    "files/..",
    "files/",
    "files/a/b",
    "study.db",
    "manifest.json/",
    "files/nul\x07",
    "files/other.md",
    "files/study.toml",
    "prompts/../QR.txt",
    "prompts/a/b/QR.txt",
    "prompts/a/..",
    "prompts//QR.txt",
    "prompts/a",
    "prompts/a/run.py",
    "prompts/a\\..\\..\\QR.txt",
]


@pytest.mark.parametrize("name", NAMES, ids=[f"name-{n}" for n in range(len(NAMES))])
def test_a_name_that_no_backup_has(good: bytes, tmp_path: Path, name: str) -> None:
    refuses(packed({**members(good), name: b"x"}), tmp_path)


@settings(
    max_examples=examples(60),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(name=st.text(min_size=1, max_size=40), data=st.binary(max_size=50))
@example(name="files/consent.md/../../../x", data=b"")
def test_any_further_member(good: bytes, tmp_path: Path, name: str, data: bytes) -> None:
    contents = members(good)
    if name in contents or "\x00" in name:
        return
    try:
        hostile = packed({**contents, name: data})
    except (UnicodeEncodeError, ValueError):
        return
    refuses(hostile, tmp_path)


@settings(
    max_examples=examples(80),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7), cut=st.booleans())
def test_any_changed_bit(good: bytes, tmp_path: Path, place: float, bit: int, cut: bool) -> None:
    at = int(place * len(good))
    data = bytearray(good)
    data[at] ^= 1 << bit
    path = tmp_path / "b"
    path.write_bytes(bytes(data[:at] if cut else data))
    before = around(tmp_path)
    try:
        restore(path, tmp_path / "back")
    except StudyError:
        assert around(tmp_path) == before
        return
    # A bit that says nothing, such as a time of the zip's: what came back is what was there.
    contents = members(good)
    assert (tmp_path / "back" / "study.toml").read_bytes() == contents["study.toml"]
    assert (tmp_path / "back" / "consent.md").read_bytes() == contents["files/consent.md"]
    shutil.rmtree(tmp_path / "back")


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=400))
def test_any_bytes(tmp_path: Path, data: bytes) -> None:
    refuses(data, tmp_path, "can't be used as a backup")


@pytest.mark.parametrize(
    "kind", [stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO], ids=["link", "folder", "pipe"]
)
def test_members_come_out_as_plain_files(good: bytes, tmp_path: Path, kind: int) -> None:
    path, contents = tmp_path / "b", members(good)
    path.write_bytes(packed(contents, modes=dict.fromkeys(contents, kind | 0o777)))
    restore(path, tmp_path / "back")
    for name in ("consent.md", "study.toml", "study.db"):
        mode = (tmp_path / "back" / name).lstat().st_mode
        assert stat.S_ISREG(mode)
        assert not mode & 0o111
    assert (tmp_path / "back" / "consent.md").read_text() == "Agree?"


def changed(good: bytes, change: Callable[[Any], None]) -> bytes:
    contents = members(good)
    manifest = json.loads(contents["manifest.json"])
    change(manifest)
    contents["manifest.json"] = json.dumps(manifest).encode()
    return packed(contents, restate=False)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda m: m["members"]["study.toml"].update(sha256="0" * 64), "checksum"),
        (lambda m: m["members"]["database.sqlite"].update(bytes=10), "not those"),
        (lambda m: m["members"].pop("files/consent.md"), "not those"),
        (lambda m: m["members"].update({"files/x": {"bytes": 0, "sha256": ""}}), "not those"),
        (lambda m: m.update(format_version=2), "format_version"),
        (lambda m: m.update(schema_revision="9999"), "later version"),
        (lambda m: m.update(schema_revision="0000"), "has revision '0003'.* states '0000'"),
        (lambda m: m.update(schema_revision="../x"), "schema_revision"),
        (lambda m: m.update(study="a" * 32), "different studies"),
        (lambda m: m["rows"].update(rater_answer=1), "other rows"),
        (lambda m: m.update(extra=1), "extra"),
        (lambda m: m.update(database="postgresql"), "different databases"),
    ],
    ids=[
        "checksum",
        "size",
        "unstated",
        "missing",
        "format",
        "later",
        "earlier",
        "revision",
        "identity",
        "rows",
        "unknown",
        "database",
    ],
)
def test_a_manifest_that_does_not_fit(
    good: bytes, tmp_path: Path, change: Callable[[Any], None], why: str
) -> None:
    refuses(changed(good, change), tmp_path, why)


def test_a_member_twice(good: bytes, tmp_path: Path) -> None:
    stream = io.BytesIO(packed(members(good)))
    with (
        zipfile.ZipFile(stream, "a") as target,
        pytest.warns(UserWarning, match="Duplicate"),
    ):
        target.writestr("study.toml", "name = 'other'")
    refuses(stream.getvalue(), tmp_path)


def test_a_bomb_is_refused_before_it_is_unpacked(
    good: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = members(good)
    contents["database.sqlite"] = bytes(64 << 20)
    disk = shutil.disk_usage(tmp_path)._replace(free=32 << 20)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: disk)
        refuses(packed(contents), tmp_path, "unpacks to 64 MB, and .* has 32 MB free")


def test_more_than_is_stated_is_not_unpacked(good: bytes, tmp_path: Path) -> None:
    """Sizes in both headers and in the manifest are lies; the stream goes on."""
    contents = members(good)
    small, large = b"name = 'x'\n", b"name = 'x'\n" + b"#" * 5_000_000
    contents["study.toml"] = large
    data = packed(contents)
    manifest = json.loads(members(data)["manifest.json"])
    manifest["members"]["study.toml"] = {"bytes": len(small), "sha256": sha256(small).hexdigest()}
    contents["manifest.json"] = json.dumps(manifest).encode()
    data = packed(contents, restate=False)
    lie = data.replace(len(large).to_bytes(4, "little"), len(small).to_bytes(4, "little"))
    assert lie != data
    refuses(lie, tmp_path)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW rating_of AS SELECT 1",
        "CREATE TABLE stranger (x)",
        "CREATE TRIGGER t AFTER INSERT ON rater_answer BEGIN DELETE FROM rater; END",
        "CREATE TRIGGER rater_answer_refuses_insert BEFORE INSERT ON rater_answer "
        "BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE f USING fts5(x)",
        "CREATE UNIQUE INDEX ix_rater_answer_of ON rater_answer (construct_key)",
    ],
    ids=["view", "table", "trigger", "named-trigger", "virtual", "index"],
)
def test_a_database_with_more_than_a_study_has(good: bytes, tmp_path: Path, statement: str) -> None:
    contents = members(good)
    path = tmp_path / "d.db"
    path.write_bytes(contents["database.sqlite"])
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statement)
    contents["database.sqlite"] = path.read_bytes()
    path.unlink()
    refuses(packed(contents), tmp_path, "which no study has")


def test_a_damaged_database(good: bytes, tmp_path: Path) -> None:
    contents = members(good)
    data = bytearray(contents["database.sqlite"])
    data[5 * 4096 : 6 * 4096] = bytes(4096)
    contents["database.sqlite"] = bytes(data)
    refuses(packed(contents), tmp_path, "damaged|can't be read")


@pytest.mark.parametrize(
    "toml",
    [
        'database = "postgresql://h/d"',
        '[rating]\nconsent = "study.db"',
        "nonsense",
        'database = "../x.db"',
    ],
    ids=["other-database", "text-is-database", "no-settings", "outside"],
)
def test_settings_that_do_not_fit(good: bytes, tmp_path: Path, toml: str) -> None:
    contents = members(good)
    contents["study.toml"] = toml.encode()
    if "study.db" in toml:
        contents["files/study.db"] = contents.pop("files/consent.md")
    refuses(packed(contents), tmp_path)

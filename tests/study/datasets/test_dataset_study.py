import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from study import Study, StudyError
from study.datasets.dataset_source import Dataset
from study.datasets.dataset_study import fetch
from tests.conftest import absent
from tests.study.datasets.conftest import ANSWERS, FILES


def copy(folder: Path, layout: str) -> Path:
    """Write the small data set's files: as the repository has them, from its root, or flat."""
    for path, content in FILES.items():
        place = (
            folder
            / {
                "repository": path,
                "inside": path.removeprefix("data/"),
                "flat": Path(path).name,
            }[layout]
        )
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return folder


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_study_is_made_from_the_network(home: dict[str, bytes], tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    summary = fetch(
        "colors", tmp_path / "new" / "study", progress=lambda *amounts: calls.append(amounts)
    )
    total = sum(map(len, FILES.values()))
    assert calls == sorted(calls)
    assert calls[-1] == (total, total)
    assert summary.added == {
        "queries": 1,
        "responses": 2,
        "scores": 2,
        "tie-breaking ratings": 1,
    }
    assert left_in(tmp_path / "new") == ["study"]
    study = Study.open(tmp_path / "new" / "study")
    assert list(study.score_table()["value"]) == [0.0, 1.0]
    study.close()


@pytest.mark.parametrize("layout", ["repository", "inside", "flat"])
def test_a_study_is_made_from_a_folder(colors: Dataset, tmp_path: Path, layout: str) -> None:
    source = copy(tmp_path / "files", layout)
    (tmp_path / "study").mkdir()
    assert fetch("colors", tmp_path / "study", source=source).added["responses"] == 2
    assert left_in(tmp_path / "study") == ["SOURCE.md", "study.db", "study.toml"]


def test_license_and_citation_are_printed_and_kept(colors: Dataset, tmp_path: Path) -> None:
    summary = fetch("colors", tmp_path / "study", source=copy(tmp_path / "files", "flat"))
    lines = "\n".join(summary.lines())
    page = (tmp_path / "study" / "SOURCE.md").read_text(encoding="utf-8")
    for text in (lines, page):
        for phrase in ("CC0", "Someone 2020", "someone/colors", "colors read", "smells", "0" * 40):
            assert phrase in text
    for phrase in ("No rights reserved.", *(sha256(f).hexdigest() for f in FILES.values())):
        assert phrase in page
    assert summary.as_json()["left_out"] == {"smells": 3}


def test_a_file_from_the_network_that_is_not_the_pinned_one_is_refused(
    home: dict[str, bytes], tmp_path: Path
) -> None:
    path = next(iter(home))
    home[path] = other = b"green\nblue\n"
    # The server's file is longer than the pinned one, so its end is never read.
    read = other[: len(ANSWERS) + 1]
    with pytest.raises(StudyError, match="not the pinned file") as refused:
        fetch("colors", tmp_path / "study")
    assert sha256(read).hexdigest() in str(refused.value)
    assert sha256(ANSWERS).hexdigest() in str(refused.value)
    assert left_in(tmp_path) == []


def test_an_answer_that_breaks_off_is_refused(home: dict[str, bytes], tmp_path: Path) -> None:
    home[next(iter(home))] = ANSWERS[:-1]
    with pytest.raises(StudyError, match="not the pinned file"):
        fetch("colors", tmp_path / "study")


def test_files_of_a_folder_that_are_not_the_pinned_ones_are_all_named(
    colors: Dataset, tmp_path: Path
) -> None:
    source = copy(tmp_path / "files", "flat")
    (source / "answers.txt").write_bytes(ANSWERS.replace(b"\n", b"\r\n"))
    (source / "verdicts.txt").unlink()
    with pytest.raises(StudyError) as refused:
        fetch("colors", tmp_path / "study", source=source)
    message = str(refused.value)
    assert sha256(ANSWERS).hexdigest() in message
    assert sha256((source / "answers.txt").read_bytes()).hexdigest() in message
    assert "deep/verdicts.txt is missing" in message
    assert "autocrlf" in message
    assert left_in(tmp_path) == ["files"]


def test_without_a_network_the_remedy_is_named(
    colors: Dataset, plain_http: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Nothing listens on the port of discard.
    monkeypatch.setattr("study.datasets.dataset_source.HOST", "http://127.0.0.1:9")
    with pytest.raises(StudyError, match=r"refused.*ccrs fetch colors --from FOLDER") as refused:
        fetch("colors", tmp_path / "study")
    assert "github.com/someone/colors at commit" in str(refused.value)
    assert left_in(tmp_path) == []


def test_a_file_that_is_gone_is_named_with_the_remedy(
    home: dict[str, bytes], tmp_path: Path
) -> None:
    home.popitem()
    with pytest.raises(StudyError, match=r"deep/verdicts.txt cannot be downloaded.*404.*--from"):
        fetch("colors", tmp_path / "study")


def test_an_interruption_leaves_nothing(
    colors: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = copy(tmp_path / "files", "flat")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("study.datasets.dataset_study.store_tie_breaks", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch("colors", tmp_path / "study", source=source)
    assert left_in(tmp_path) == ["files"]


def test_no_study_is_made_in_a_folder_in_use(colors: Dataset, tmp_path: Path) -> None:
    source = copy(tmp_path / "files", "flat")
    with pytest.raises(StudyError, match="not empty; choose another"):
        fetch("colors", source, source=source)
    with pytest.raises(StudyError, match="choose another"):
        fetch("colors", source / "answers.txt", source=source)


def test_an_unknown_data_set_is_named_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"Did you mean 'openqa-nq301'\? Known: .*ragchecker-meta"):
        fetch("openqa_nq301", tmp_path / "study")


def test_fetching_loads_no_network_library_until_it_is_called() -> None:
    code = "import sys, study.datasets; sys.exit('urllib.request' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_no_file_of_a_data_set_is_part_of_the_project() -> None:
    from study.datasets import openqa_nq301, ragchecker_meta

    root = Path(__file__).resolve().parents[3]
    if shutil.which("git") is None or not (root / ".git").exists():
        absent("the project is no git checkout here, or git is not installed")
    listed = subprocess.run(
        ["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True
    ).stdout
    names = {Path(line).name for line in listed.splitlines()}
    for module in (openqa_nq301, ragchecker_meta):
        assert not names & {file.name for file in module.DATASET.source.files}

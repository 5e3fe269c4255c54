from pathlib import Path
from urllib.error import URLError

import pytest

from study.datasets.dataset_source import download, https_opener
from tests.study.datasets.conftest import serving


def test_the_content_comes_whole_and_progress_is_told(plain_http: None) -> None:
    content = bytes(range(256)) * 1000
    amounts: list[int] = []
    with serving({"/file": content}) as address:
        assert download(f"{address}/file", size=len(content), advance=amounts.append) == content
    assert amounts == sorted(amounts)
    assert amounts[-1] == len(content)


def test_no_more_is_read_than_is_needed_to_see_that_it_is_too_much(plain_http: None) -> None:
    with serving({"/file": b"x" * 1_000_000}) as address:
        assert len(download(f"{address}/file", size=10, advance=print)) == 11


def test_what_is_not_there_is_an_error(plain_http: None) -> None:
    with serving({}) as address, pytest.raises(OSError, match="404"):
        download(f"{address}/file", size=1, advance=print)


def test_what_takes_too_long_is_given_up(plain_http: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("study.datasets.dataset_source._FILE_SECONDS", -1)
    with serving({"/file": b"x" * 10}) as address, pytest.raises(TimeoutError, match="finished"):
        download(f"{address}/file", size=10, advance=print)


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/x", "ftp://127.0.0.1:9/x"])
def test_nothing_but_https_is_opened(address: str) -> None:
    with pytest.raises(URLError, match="unknown url type"):
        https_opener().open(address, timeout=1)


def test_no_file_of_this_machine_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("secret")
    with pytest.raises(URLError, match="unknown url type"):
        https_opener().open(path.as_uri(), timeout=1)

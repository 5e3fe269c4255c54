"""A small data set with its files, and a server that has them."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType
from urllib.request import build_opener

import pytest

from study.datasets import dataset_source, dataset_study
from study.datasets.dataset_source import Contents, Dataset, DatasetSource, SourceFile, TieBreak
from study.importing.rows import LocatedRow, ResponseRow, ScoreRow
from tests.conftest import SHARED_DATA, absent

ANSWERS = b"red\nblue\n"
VERDICTS = b"1 0\n"
FILES = {"data/answers.txt": ANSWERS, "data/deep/verdicts.txt": VERDICTS}

SETTINGS = """\
[[constructs]]
key = "AC"
name = "Correct"
question = "Is it correct?"
scale = { min = 0, max = 1 }
"""


def contents(files: Mapping[str, bytes]) -> Contents:
    texts = files["answers.txt"].decode().split()
    verdicts = [float(word) for word in files["verdicts.txt"].split()]
    responses = [
        LocatedRow(i, ResponseRow(query_id="q", query="Which?", response=text, response_id=text))
        for i, text in enumerate(texts)
    ]
    scores = [
        LocatedRow(
            i,
            ScoreRow(
                response_id=text,
                construct_key="AC",
                scorer="anna",
                scorer_kind="human",
                value=verdict,
            ),
        )
        for i, (text, verdict) in enumerate(zip(texts, verdicts, strict=True))
    ]
    return Contents(
        rows=[*responses, *scores],
        tie_breaks=[TieBreak("cleo", "blue", "AC", 1.0)],
        rules={"colors read": 2},
        left_out={"smells": 3},
    )


DATASET = Dataset(
    name="colors",
    source=DatasetSource(
        title="Colors",
        repository="someone/colors",
        commit="0" * 40,
        root="data",
        files=tuple(
            SourceFile(path, sha256(content).hexdigest(), len(content))
            for path, content in FILES.items()
        ),
        license="CC0",
        notice="No rights reserved.",
        citation="Someone 2020",
    ),
    settings=SETTINGS,
    contents=contents,
)


@pytest.fixture
def colors(monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """Make the small data set one that can be fetched."""
    module = ModuleType("colors_for_tests")
    module.DATASET = DATASET
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(dataset_study.DATASETS, "colors", module.__name__)
    return DATASET


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, served: Mapping[str, bytes], *args: object) -> None:
        self.served = served
        super().__init__(*args)

    def do_GET(self) -> None:
        content = self.served.get(self.path)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def serving(served: Mapping[str, bytes]) -> Iterator[str]:
    """Serve content by path; yield the server's address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, served))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def plain_http(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let downloads come over plain HTTP, which only a test's own server may."""
    monkeypatch.setattr("study.datasets.dataset_source.https_opener", build_opener)


@pytest.fixture
def home(
    colors: Dataset, plain_http: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, bytes]]:
    """Serve the small data set at its address; what it serves can be changed."""
    source = colors.source
    served = {
        f"/{source.repository}/{source.commit}/{path}": content for path, content in FILES.items()
    }
    with serving(served) as address:
        monkeypatch.setattr(dataset_source, "HOST", address)
        yield served


def published_files(name: str) -> Path:
    """Return the folder of a public data set's files beside the project."""
    folder = SHARED_DATA / name
    if not folder.is_dir():
        absent(f"the public data set {name} is not beside the project")
    return folder

"""A small study to judge by the endpoint, and what must be stored of it in the end."""

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from shutil import copytree
from threading import Thread
from typing import Any, NamedTuple

from sqlalchemy import RowMapping, select

from judge import Outcome, judge_study
from judge.engines.engine_settings import OpenAISettings
from judge.prompts.prompt_versions import prompt_version
from study import Study, import_file
from study.schema.tables import judgments as judgment_table, responses
from tests.judge.stub.process import Log, Stub

QUERIES, SYSTEMS, CONSTRUCTS = 4, ("A", "B", "C"), 5
WHOLE = QUERIES * len(SYSTEMS) * CONSTRUCTS
"""Judgments of the whole study; no two of its prompts are alike."""
# Long enough for servers that cut prompts to be noticed.
_PASSAGE = 60
SHORT_WAITS: dict[str, Any] = {
    "model": "stub-judge",
    "patience": 5.0,
    "timeout": 3.0,
    "concurrency": 8,
}


class CommandResult(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    output: str
    errors: str


def rows() -> list[dict[str, Any]]:
    """Return the responses; systems A and B have the same passages."""
    responses = []
    for number in range(1, QUERIES + 1):
        for system in SYSTEMS:
            retriever = "sparse" if system in "AB" else "dense"
            words = " ".join(f"Sentence {k} of {retriever} on {number}." for k in range(_PASSAGE))
            responses.append(
                {
                    "query_id": f"q{number}",
                    "response_id": f"q{number}-{system}",
                    "query": f"What is known of subject {number}?",
                    "references": [f"The subject {number} is known well."],
                    "system": system,
                    "response": f"System {system} knows of subject {number} what follows.",
                    "passages": [f"First: {words}", f"Second: {words}"],
                }
            )
    return responses


def make_study(folder: Path) -> None:
    """Make the study in a folder; tests copy it, which is faster."""
    study = Study.create(folder)
    source = folder / "responses.jsonl"
    source.write_text("".join(f"{json.dumps(row)}\n" for row in rows()), encoding="utf-8")
    import_file(study, source)
    study.close()


@contextmanager
def copied(template: Path, folder: Path) -> Iterator[Study]:
    """Open a copy of a study for a while."""
    copytree(template, folder)
    study = Study.open(folder)
    try:
        yield study
    finally:
        study.close()


def judged(study: Study, stub: Stub, **settings: Any) -> Outcome:
    """Judge the study, with short waits."""
    complete = {"base_url": stub.base_url, **SHORT_WAITS, **settings}
    return judge_study(study, OpenAISettings(**complete))


def commanded(study: Study, stub: Stub, *more: str) -> CommandResult:
    """Run `ccrs judge` on the study, with short waits, as `main` does."""
    from study.cli.root import main

    options = {**SHORT_WAITS, "base_url": stub.base_url}
    words = [w for name, v in options.items() for w in (f"--{name.replace('_', '-')}", str(v))]
    output, errors = StringIO(), StringIO()
    before = sys.argv
    sys.argv = ["ccrs", "judge", str(study.folder), *words, *more]
    try:
        with redirect_stdout(output), redirect_stderr(errors):
            main()
    except SystemExit as ended:
        return CommandResult(int(ended.code or 0), output.getvalue(), errors.getvalue())
    finally:
        sys.argv = before
    raise AssertionError("the command did not end with a code")


def judgments(study: Study) -> list[RowMapping]:
    """Return the stored judgments, in the order in which they were stored."""
    statement = (
        select(judgment_table, responses.c.key.label("response"))
        .join_from(judgment_table, responses, judgment_table.c.response_id == responses.c.id)
        .order_by(judgment_table.c.id)
    )
    with study.read() as connection:
        return list(connection.execute(statement).mappings())


def reasons(study: Study) -> dict[str, int]:
    """Return the judgments without a value, by reason."""
    return dict(Counter(row["missing_reason"] for row in judgments(study) if row["missing_reason"]))


def prompts() -> dict[tuple[str, str], str]:
    """Return the prompt of each response and construct, put together without the judge's code."""
    by_name = {}
    for key, template in prompt_version().templates.items():
        for row in rows():
            text = template.text
            for name, value in (
                ("question", row["query"]),
                ("context", "\n\n".join(row["passages"])),
                ("response", row["response"]),
                ("ground_truth", row["references"][0]),
            ):
                text = text.replace(f"{{{name}}}", value)
            by_name[row["response_id"], key] = text
    return by_name


def assert_stored_once(study: Study) -> int:
    """Assert that what is stored is right and stored once; return the number of judgments."""
    stored_rows = judgments(study)
    stored = {(row["response"], row["construct_key"]): row["value"] for row in stored_rows}
    assert len(stored) == len(stored_rows), "a judgment is stored twice"
    expected = prompts()
    for place, value in stored.items():
        assert value == Stub.score(expected[place]), place
    return len(stored)


def assert_completes(study: Study, stub: Stub, **settings: Any) -> Log:
    """Assert that a run on a healthy server does what is left, and only that; return its log."""
    before = assert_stored_once(study)
    stub.behave()
    stub.forget()
    outcome = judged(study, stub, **settings)
    assert not outcome.begun
    assert (outcome.judged, outcome.remaining, outcome.failed) == (WHOLE - before, 0, {})
    assert not outcome.falls_short
    assert assert_stored_once(study) == WHOLE
    log = stub.log()
    assert sum(log.times_asked().values()) == WHOLE - before
    return log


class InTheBackground:
    """A run in a thread, while the test changes the server or the disk."""

    def __init__(self, work: Callable[[], Outcome]) -> None:
        self.outcome: Outcome | None = None
        self.error: BaseException | None = None
        self._work = work
        self._thread = Thread(target=self._do)
        self._thread.start()

    def _do(self) -> None:
        try:
            self.outcome = self._work()
        except BaseException as error:  # noqa: BLE001  (the test looks at it)
            self.error = error

    def wait(self, seconds: float = 60) -> None:
        """Wait for its end."""
        self._thread.join(seconds)
        assert not self._thread.is_alive(), "the run does not end"


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until something holds."""
    latest = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < latest, "it does not come to that"
        time.sleep(0.02)

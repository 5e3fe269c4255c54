"""A run is found again by its identity, also when two processes begin it at one moment."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from judge.prompts.prompt_versions import prompt_version
from judge.protocol.conditions import Conditions, Run
from judge.running.runs import find, find_or_begin
from study import Study, StudyError


def test_two_that_begin_at_one_moment_get_one_run(any_study: Study) -> None:
    prompts, together = prompt_version(), Barrier(6)

    def begin(_: int) -> Run:
        together.wait()
        return find_or_begin(any_study, Conditions("openai", "m"), prompts, 1, None)

    with ThreadPoolExecutor(6) as threads:
        runs = list(threads.map(begin, range(6)))
    assert len({run.id for run in runs}) == 1
    assert sum(run.begun for run in runs) == 1


def test_what_makes_a_run_another_one(study: Study) -> None:
    prompts = prompt_version()
    first = Conditions(
        "openai", "m", "https://one.org/v1", None, {"temperature": 0.0}, 1, {"window": 8}
    )
    run = find_or_begin(study, first, prompts, 1, "one")
    observed = Conditions(
        "openai", "m", "https://one.org/v1", None, {"temperature": 0.0}, 1, {"window": 9}
    )
    assert find(study, observed, prompts, 1, None) == run.id
    others = [
        Conditions("files", "m", "https://one.org/v1", None, {"temperature": 0.0}, 1),
        Conditions("openai", "n", "https://one.org/v1", None, {"temperature": 0.0}, 1),
        Conditions("openai", "m", "https://two.org/v1", None, {"temperature": 0.0}, 1),
        Conditions("openai", "m", "https://one.org/v1", "r", {"temperature": 0.0}, 1),
        Conditions("openai", "m", "https://one.org/v1", None, {"temperature": 0.1}, 1),
        Conditions("openai", "m", "https://one.org/v1", None, {"temperature": 0.0}, 2),
    ]
    assert [find(study, other, prompts, 1, None) for other in others] == [None] * 6
    assert find(study, first, prompts, 2, None) is None
    for other in others:
        with pytest.raises(StudyError, match="other conditions"):
            find(study, other, prompts, 1, "one")

"""Several endpoints that serve one model: groups stay together, and nothing is lost or doubled."""

from collections import defaultdict
from collections.abc import Iterator

import pytest

from judge.running.runner import RunStoppedError
from study import Study
from study.errors import StudyError
from tests.judge.faults.faulty_run import (
    WHOLE,
    InTheBackground,
    assert_stored_once,
    commanded,
    judged,
    judgments,
    prompts,
    until,
)
from tests.judge.stub.completions import digest
from tests.judge.stub.process import Stub, running_stub


@pytest.fixture(scope="module")
def _second_stub() -> Iterator[Stub]:
    with running_stub() as started:
        yield started


@pytest.fixture
def second(_second_stub: Stub) -> Stub:
    """Return another healthy endpoint."""
    _second_stub.behave()
    _second_stub.forget()
    return _second_stub


def both(stub: Stub, second: Stub) -> tuple[str, str]:
    return (stub.base_url, second.base_url)


def groups() -> dict[str, tuple[str, str]]:
    """Return the query and the context of each prompt, by its digest."""
    found = {}
    for (response, construct), text in prompts().items():
        query, system = response.split("-")
        context = "" if construct == "QR" else "sparse" if system in "AB" else "dense"
        found[digest(text)] = (query, context)
    return found


def times_asked(*stubs: Stub) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for stub in stubs:
        for prompt, times in stub.log().times_asked().items():
            found[prompt] += times
    return dict(found)


def test_each_group_goes_to_one_endpoint(small_study: Study, stub: Stub, second: Stub) -> None:
    for one in (stub, second):
        one.behave("slow", delay=0.02)
    outcome = judged(small_study, stub, base_url=both(stub, second))
    assert (outcome.judged, outcome.failed) == (WHOLE, {})
    assert assert_stored_once(small_study) == WHOLE
    assert set(times_asked(stub, second).values()) == {1}
    of = groups()
    here, there = ({of[r["prompt"]] for r in one.log().judged} for one in (stub, second))
    assert here
    assert there
    assert not here & there
    # What the run is not known by is named with each judgment.
    flags = [row["flags"] for row in judgments(small_study)]
    assert flags.count([f"answered at {second.base_url}"]) == len(second.log().judged)


def test_each_endpoint_has_slots_of_its_own(small_study: Study, stub: Stub, second: Stub) -> None:
    for one in (stub, second):
        one.behave("slow", delay=0.05)
    judged(small_study, stub, base_url=both(stub, second), concurrency=2)
    assert stub.log().most_unanswered <= 2
    assert second.log().most_unanswered <= 2
    assert assert_stored_once(small_study) == WHOLE


def test_the_groups_of_an_endpoint_that_dies_go_to_the_others(
    small_study: Study, stub: Stub, second: Stub
) -> None:
    for one in (stub, second):
        one.behave("slow", delay=0.1)
    settings = {"base_url": both(stub, second), "concurrency": 2, "patience": 1.0}
    run = InTheBackground(lambda: judged(small_study, stub, **settings))
    until(lambda: second.log().answered > 8)
    second.behave("down")
    run.wait()
    assert run.error is None
    assert run.outcome is not None
    assert (run.outcome.judged, run.outcome.failed, run.outcome.left) == (WHOLE, {}, 0)
    assert assert_stored_once(small_study) == WHOLE
    (note,) = [n for n in run.outcome.notes if second.base_url in n]
    assert "was given up; others took its part. No answer came for" in note


def test_the_last_one_to_die_ends_the_run(small_study: Study, stub: Stub, second: Stub) -> None:
    # After some answers neither says anything, to a plain question either.
    for one in (stub, second):
        one.behave({"behaviour": "hangs", "when": {"after": 20}})
    addresses = both(stub, second)
    with pytest.raises(RunStoppedError, match="No answer came for"):
        judged(small_study, stub, base_url=addresses, patience=1.0, timeout=0.3)
    done = assert_stored_once(small_study)
    assert 0 < done < WHOLE
    for one in (stub, second):
        one.behave()
    again = judged(small_study, stub, base_url=both(stub, second))
    assert (again.begun, again.judged) == (False, WHOLE - done)
    assert assert_stored_once(small_study) == WHOLE


def test_one_that_is_down_at_the_start_is_named_and_left_out(
    small_study: Study, stub: Stub, second: Stub
) -> None:
    second.behave("down")
    outcome = judged(small_study, stub, base_url=(second.base_url, stub.base_url))
    assert outcome.judged == WHOLE
    assert any(f"{second.base_url} is not asked: The endpoint can't" in n for n in outcome.notes)
    stub.behave("down")
    with pytest.raises(StudyError, match="can't be used"):
        judged(small_study, stub, base_url=both(stub, second))


@pytest.mark.parametrize("first", [True, False], ids=["named-first", "named-last"])
def test_a_server_may_join_or_leave_in_the_midst_of_a_run(
    small_study: Study, stub: Stub, second: Stub, first: bool
) -> None:
    judged(small_study, stub, limit=20)
    addresses = both(second, stub) if first else both(stub, second)
    joined = judged(small_study, stub, base_url=addresses, limit=20)
    assert (joined.begun, joined.run, joined.judged) == (False, "stub-judge", 20)
    assert second.log().judged
    alone = judged(small_study, stub)
    assert (alone.begun, alone.judged) == (False, WHOLE - 40)
    assert assert_stored_once(small_study) == WHOLE


def test_a_run_of_shuffled_passages_is_found_again_at_another_address(
    small_study: Study, stub: Stub, second: Stub
) -> None:
    judged(small_study, stub, limit=20, shuffle_passages=3)
    joined = judged(small_study, stub, base_url=both(second, stub), limit=20, shuffle_passages=3)
    assert (joined.begun, joined.run, joined.judged) == (False, "stub-judge", 20)
    ranked = judged(small_study, stub, base_url=both(second, stub), limit=20)
    assert (ranked.begun, ranked.run) == (True, "stub-judge (2)")


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        ({"behaviour": "rejects_temperature"}, "temperature 0.0 and None"),
        ({"behaviour": "other_model"}, "served model 'stub-judge' and 'another-model'"),
        ({"behaviour": "logprobs"}, "logprobs None and 'top 20'"),
    ],
    ids=["temperature", "model", "probabilities"],
)
def test_endpoints_that_are_not_one_judge_are_refused(
    small_study: Study, stub: Stub, second: Stub, behaviour: dict[str, str], said: str
) -> None:
    second.behave(behaviour)
    with pytest.raises(StudyError, match=f"are not one judge: .*{said}"):
        judged(small_study, stub, base_url=both(stub, second))
    assert judgments(small_study) == []


def test_several_are_named_on_the_command_line(
    small_study: Study, stub: Stub, second: Stub
) -> None:
    said = commanded(small_study, stub, "--base-url", second.base_url, "--limit", "30")
    assert said.code == 0, said.errors
    assert stub.log().judged
    assert second.log().judged
    twice = commanded(small_study, stub, "--base-url", stub.base_url)
    assert "name each address once" in twice.errors


# One prompt first.


def beginnings() -> dict[str, tuple[str, str, str]]:
    """Return what a prompt with passages begins with in common with others, by its digest."""
    found = {}
    for (response, construct), text in prompts().items():
        query, system = response.split("-")
        if construct != "QR":
            found[digest(text)] = (construct, query, "sparse" if system in "AB" else "dense")
    return found


@pytest.mark.parametrize("concurrency", [1, 3, 32])
def test_the_first_prompt_is_answered_before_others_with_its_beginning_are_sent(
    small_study: Study, stub: Stub, concurrency: int
) -> None:
    stub.behave("slow", delay=0.02)
    judged(small_study, stub, leader="on", concurrency=concurrency)
    assert assert_stored_once(small_study) == WHOLE
    asked = defaultdict(list)
    for entry in stub.log().judged:
        if entry["prompt"] in beginnings():
            asked[beginnings()[entry["prompt"]]].append(entry)
    assert any(len(entries) > 1 for entries in asked.values())
    for entries in asked.values():
        first, *others = sorted(entries, key=lambda entry: entry["at"])
        assert all(entry["at"] >= first["answered_at"] for entry in others)
    # Others fill the slots meanwhile.
    assert stub.log().most_unanswered >= min(concurrency, 16)


def test_without_a_leader_prompts_are_sent_together(small_study: Study, stub: Stub) -> None:
    stub.behave("slow", delay=0.1)
    judged(small_study, stub, leader="off", concurrency=32)
    of, asked = beginnings(), defaultdict(list)
    for entry in stub.log().judged:
        if entry["prompt"] in of:
            asked[of[entry["prompt"]]].append(entry)
    assert any(
        second["at"] < first["answered_at"]
        for first, second, *_ in (e for e in asked.values() if len(e) > 1)
    )


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_leader_that_fails_holds_nobody_back(
    small_study: Study, stub: Stub, concurrency: int
) -> None:
    of_first = {"containing": "System A knows of subject 2", "construct": "CC"}
    stub.behave({"behaviour": "http_500", "when": of_first})
    outcome = judged(small_study, stub, leader="on", concurrency=concurrency, tries=2)
    assert outcome.failed == {"http_500": 1}
    assert assert_stored_once(small_study) == WHOLE - 1


def cached_share(study: Study) -> float:
    rows = judgments(study)
    cached = sum(row["cached_tokens"] or 0 for row in rows)
    return cached / sum(row["prompt_tokens"] or 0 for row in rows)


def test_a_hosted_cache_profits(
    small_study: Study, stub: Stub, tmp_path_factory: pytest.TempPathFactory
) -> None:
    from tests.judge.faults.faulty_run import copied, make_study

    template = tmp_path_factory.mktemp("leader") / "study"
    make_study(template)
    shares = {}
    for leader in ("off", "auto"):
        stub.behave({"behaviour": "slow", "delay": 0.1}, {"behaviour": "caching", "name": leader})
        with copied(template, template.with_name(leader)) as study:
            judged(study, stub, leader=leader, concurrency=32)
            shares[leader] = cached_share(study)
    # Of the 3 responses to a query, 2 share their passages: one of them finds what the other began.
    assert shares["off"] < 0.05
    assert shares["auto"] > 0.2

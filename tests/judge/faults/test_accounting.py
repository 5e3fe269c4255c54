"""What is kept of a run on a server that fails: tries, failures, questions of the engine's own."""

from judge import show_run
from study import Study
from tests.judge.faults.faulty_run import WHOLE, judged
from tests.judge.stub.process import Stub

ONE_QUERY = {"construct": "any", "containing": "subject 2"}
OF_ONE_QUERY = WHOLE // 4


def test_tries_beyond_the_first_are_counted_by_what_the_one_before_met(
    small_study: Study, stub: Stub
) -> None:
    stub.behave({"behaviour": "http_500", "when": {**ONE_QUERY, "tries": 1}})
    outcome = judged(small_study, stub, name="j")
    assert outcome.retries == {"http_500": OF_ONE_QUERY}
    assert f"Tried again: {OF_ONE_QUERY} after http_500." in outcome.lines()
    (call,) = show_run(small_study, "j").calls
    assert (call.ended, call.retries, call.failed) == ("done", {"http_500": OF_ONE_QUERY}, {})
    assert (call.answered, call.judged) == (WHOLE, WHOLE)


def test_prompts_that_are_given_up_are_failures_with_their_tries(
    small_study: Study, stub: Stub
) -> None:
    stub.behave({"behaviour": "http_500", "when": ONE_QUERY})
    outcome = judged(small_study, stub, name="j", tries=3)
    (call,) = show_run(small_study, "j").calls
    assert call.failed == {"http_500": OF_ONE_QUERY}
    tries = sum(stub.log().times_asked().values())
    assert sum(call.retries.values()) == outcome.retries["http_500"] == tries - WHOLE
    assert call.answered == WHOLE - OF_ONE_QUERY


def test_all_that_the_server_counted_is_accounted_for(small_study: Study, stub: Stub) -> None:
    """The probe's questions, and prompts that are counted in halves, are spent as well."""
    outcome = judged(small_study, stub, name="j", price=(1e6, 0.0))
    (call,) = show_run(small_study, "j").calls
    log = stub.log()
    assert call.overhead["calls"] == len(log.requests) - len(log.judged)
    spent = call.tokens["prompt"] + call.overhead["prompt"]
    assert call.cost == outcome.cost == spent
    assert call.overhead["prompt"] > 0

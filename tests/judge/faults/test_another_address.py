"""A server that is started again at another address, and another server with the same model."""

from collections.abc import Iterator

import pytest

from judge import OpenAISettings, show_run
from judge.protocol.same_server import is_same_place, is_same_server
from judge.running.preview import preview
from study import Study
from study.errors import StudyError
from tests.judge.faults.faulty_run import WHOLE, assert_stored_once, judged
from tests.judge.stub.process import Stub, running_stub


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Stub]:
    """Return a second endpoint, on another port."""
    with running_stub() as started:
        yield started


def test_a_server_on_another_port_continues_its_run(
    small_study: Study, stub: Stub, elsewhere: Stub
) -> None:
    elsewhere.behave()
    judged(small_study, stub, limit=10)
    settings = OpenAISettings(base_url=elsewhere.base_url, model="stub-judge")
    shown = preview(small_study, settings)
    assert (shown.run, sum(shown.prompts.values())) == ("stub-judge", WHOLE - 10)
    outcome = judged(small_study, elsewhere)
    assert (outcome.begun, outcome.judged, outcome.remaining) == (False, WHOLE - 10, 0)
    assert assert_stored_once(small_study) == WHOLE
    (note,) = (note for note in outcome.notes if "continues at" in note)
    assert stub.base_url in note
    assert elsewhere.base_url in note
    # The address of a call is stored with it.
    first, second = show_run(small_study, "stub-judge").calls
    assert (first.notes, note in second.notes) == ([], True)
    # By its name too, and back at the first address.
    assert judged(small_study, elsewhere, name="stub-judge").judged == 0
    assert judged(small_study, stub).judged == 0


@pytest.mark.parametrize(
    "behaviour",
    [
        {"behaviour": "changing", "name": "stub-judge", "fingerprint": "fp_stub_2"},
        {"behaviour": "changing", "name": "stub-judge-mini", "fingerprint": "fp_stub_1"},
    ],
    ids=["fingerprint", "model"],
)
def test_another_server_with_a_model_of_the_name_is_another_run(
    small_study: Study, stub: Stub, elsewhere: Stub, behaviour: dict[str, str]
) -> None:
    elsewhere.behave(behaviour)
    judged(small_study, stub, limit=10)
    words = r"(?s)was made under other conditions.*endpoint.*stub.* there, .* now"
    with pytest.raises(StudyError, match=words) as caught:
        judged(small_study, elsewhere, name="stub-judge")
    reported = "'fp_stub_1' there, 'fp_stub_2' now", "'stub-judge' there, 'stub-judge-mini' now"
    assert sum(words in str(caught.value) for words in reported) == 1
    outcome = judged(small_study, elsewhere, limit=10)
    assert (outcome.begun, outcome.run) == (True, "stub-judge (2)")


def test_a_name_of_its_own_keeps_two_servers_apart(
    small_study: Study, stub: Stub, elsewhere: Stub
) -> None:
    elsewhere.behave()
    judged(small_study, stub, limit=10)
    outcome = judged(small_study, elsewhere, limit=10, name="quantized")
    assert (outcome.begun, outcome.run, outcome.judged) == (True, "quantized", 10)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://localhost:8000/v1", "http://localhost:8123/v1", True),
        ("http://gpu07:8000/v1", "http://gpu11:9000/v1", True),
        ("http://10.0.0.7:8000/v1", "http://127.0.0.1:8000/v1", True),
        ("http://gpu07.hpc.example.org:8000/v1", "http://gpu11.hpc.example.org:8000/v1", True),
        ("https://api.one.com/v1", "https://api.two.com/v1", False),
        ("https://one.com/v1", "https://two.com/v1", False),
        ("https://8.8.8.8/v1", "https://9.8.8.8/v1", False),
        ("http://localhost:8000/v1", "https://api.one.com/v1", False),
    ],
)
def test_which_hosts_belong_together(one: str, other: str, same: bool) -> None:
    assert is_same_place(one, other) == is_same_place(other, one) == same
    assert is_same_server((one, None), (other, {})) == same
    # A fingerprint is the server's own name for its configuration.
    reports = {"served_model": "m", "fingerprint": "fp_1"}
    assert is_same_server((one, reports), (other, dict(reports)))
    assert not is_same_server((one, reports), (other, {**reports, "fingerprint": None}))

"""Which counts of a prompt's tokens reveal that the server cut it."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from judge.engines.engine import TokenCount
from judge.engines.openai.endpoint import Endpoint, Reply
from judge.engines.openai.truncation import TruncationCheck
from judge.protocol.chat_completion import Trouble
from judge.protocol.exchange import Answer, Failure

ENGLISH = "A passage on the opening hours of the pool, and on what a ticket costs. " * 60
THAI = "สระว่ายน้ำเปิดเวลาแปดนาฬิกาและปิดเวลายี่สิบนาฬิกา " * 60
FITTED = TokenCount.fitted((40, 10), (4840, 1210))


class Counting:
    """An endpoint that counts by a function, after some troubles."""

    def __init__(self, count: Callable[[str], int], *troubles: Trouble) -> None:
        self.count = count
        self.troubles = list(troubles)
        self.asked = 0

    async def ask(self, prompt: str, parameters: Any) -> Reply:
        del parameters
        self.asked += 1
        if self.troubles:
            return Reply(self.troubles.pop(0))
        return Reply(Answer("7", prompt_tokens=self.count(prompt)))


def checked(endpoint: Counting, prompt: str) -> Answer | Failure:
    check = TruncationCheck(FITTED, {})
    answer = Answer("85", prompt_tokens=endpoint.count(prompt))
    return asyncio.run(check.check(cast(Endpoint, endpoint), prompt, answer))


def by_bytes(share: float) -> Callable[[str], int]:
    return lambda text: round(len(text.encode()) * share)


def test_an_honest_count_is_believed_without_another_call() -> None:
    endpoint = Counting(by_bytes(0.25))
    assert checked(endpoint, ENGLISH) == Answer("85", prompt_tokens=endpoint.count(ENGLISH))
    assert endpoint.asked == 0


def test_a_prompt_in_another_script_is_counted_in_halves_before_it_is_called_cut() -> None:
    endpoint = Counting(by_bytes(0.1))
    assert checked(endpoint, THAI) == Answer("85", prompt_tokens=endpoint.count(THAI))
    assert endpoint.asked == 2


@pytest.mark.parametrize("text", [ENGLISH, THAI])
def test_a_window_is_found_out_in_every_script(text: str) -> None:
    whole = round(len(text.encode()) * 0.25)
    endpoint = Counting(lambda part: min(round(len(part.encode()) * 0.25), int(whole * 0.8)))
    assert cast(Answer, checked(endpoint, text)).missing == "truncated_by_server"


def test_half_of_a_text_like_the_sample_is_cut_whatever_its_halves_count() -> None:
    assert cast(Answer, checked(Counting(by_bytes(0.125)), ENGLISH)).missing == (
        "truncated_by_server"
    )


def test_a_refused_half_is_requested_again_and_an_undecided_check_fails() -> None:
    busy = Trouble("throttled", "http_429", "busy")
    once = Counting(lambda part: min(round(len(part) * 0.25), 900), busy, busy)
    assert cast(Answer, checked(once, ENGLISH)).missing == "truncated_by_server"
    always = Counting(lambda part: min(round(len(part) * 0.25), 900), *[busy] * 20)
    assert isinstance(checked(always, ENGLISH), Failure)

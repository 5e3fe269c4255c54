"""Parts of the engine vllm that need no vLLM: digits, arguments, layout, window."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import count
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from jinja2 import TemplateError

from judge.engines.vllm import scheduler_feed
from judge.engines.vllm.chat_layout import chat_layout
from judge.engines.vllm.engine_arguments import check_arguments, identity_arguments, recorded_only
from judge.engines.vllm.model_loader import ModelSpec, engine_values
from judge.engines.vllm.prefix_reuse import PrefixReuse
from judge.engines.vllm.prompt_requests import Ask, Decoding
from judge.engines.vllm.scheduler_feed import SchedulerFeed
from judge.engines.vllm.score_tokenization import Digits, WholeNumbers, score_tokenization
from judge.protocol.exchange import TOO_LONG, Answer, Request
from study.base.scales import Scale
from study.errors import StudyError
from tests.conftest import ROOT

HUNDRED = Scale(min=0, max=100)
DIGITS = tuple(range(10, 20))
"""Tokens of 0 to 9."""


@dataclass
class Writes:
    """A stand-in for a tokenizer: writes by a table, else a character each."""

    table: dict[str, list[int]] = field(default_factory=dict)
    lead: tuple[int, ...] = ()

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        assert not add_special_tokens
        return self.table.get(text) or [*self.lead, *map(ord, text)]


def shares(*pairs: tuple[int, float]) -> dict[int, float]:
    """Return probabilities of digits, given as (digit, share), by token."""
    return {DIGITS[digit]: share for digit, share in pairs}


def digit_by_digit(lead: tuple[int, ...]) -> dict[str, float]:
    """Return the distribution of a model, computed by hand.

    First digit: 8 with .5, 1 with .3, 0 with .1. After 8: 5 with .4, else no digit. After 1: 0 with
    .5, else no digit. After 10: 0 with .25, else no digit.
    """
    after = [{} for _ in range(10)]
    after[8 - 1] = shares((5, 0.4))
    after[1 - 1] = shares((0, 0.5))
    after[9] = shares((0, 0.25))
    first = shares((8, 0.5), (1, 0.3), (0, 0.1))
    further = [first, *after] if lead else after
    distribution = Digits(DIGITS, lead).distribution(
        [*lead, DIGITS[8], 1], {lead[0]: 0.9} if lead else first, further
    )
    assert distribution is not None
    return distribution


def test_digits_make_scores() -> None:
    # 8 alone .5 * .6; 85 .5 * .4; 1 alone .3 * .5; 10 .3 * .5 * .75; 100 .3 * .5 * .25.
    expected = {"0": 0.1, "8": 0.3, "85": 0.2, "1": 0.15, "10": 0.1125, "100": 0.0375}
    assert digit_by_digit(()) == pytest.approx(expected)
    assert sum(expected.values()) == pytest.approx(0.9)


def test_what_a_tokenizer_writes_before_a_number_has_its_share() -> None:
    expected = {score: 0.9 * share for score, share in digit_by_digit(()).items()}
    assert digit_by_digit((7,)) == pytest.approx(expected)


@pytest.mark.parametrize("answer", [[], [1], [7, 1], [7]], ids=["none", "word", "lead", "cut"])
def test_an_answer_that_begins_with_no_number_has_no_distribution(answer: Sequence[int]) -> None:
    assert Digits(DIGITS, (7,)).distribution(answer, {}, [{}] * 11) is None
    assert WholeNumbers({5: 5}).distribution(answer, {5: 1.0}, ()) is None


def test_continuations_are_eleven_at_most() -> None:
    assert len(Digits(DIGITS).continuations) == 10
    assert len(Digits(DIGITS, (7,)).continuations) == 11
    assert Digits(DIGITS).continuations[-1] == (DIGITS[1], DIGITS[0])


def test_spellings_of_a_score_are_summed() -> None:
    scores = WholeNumbers({1: 85, 2: 85, 3: 90})
    distribution = scores.distribution([2], {1: 0.25, 2: 0.5, 3: 0.125, 9: 0.125}, ())
    assert distribution == {"85": 0.75, "90": 0.125}


def test_tokenizers_that_write_numbers_whole() -> None:
    whole = {str(score): [1000 + score] for score in range(101)}
    numbers, how = score_tokenization(Writes(whole), HUNDRED)
    assert isinstance(numbers, WholeNumbers)
    assert (len(numbers.tokens), how) == (101, "one token each")
    # A space before makes other tokens: both where they fit into one question, else not.
    both = {**whole, **{f" {score}": [2000 + score] for score in range(101)}}
    numbers, how = score_tokenization(Writes(both), HUNDRED)
    assert numbers is not None
    assert len(numbers.tokens) == 101
    assert "without those after a space" in how
    numbers, how = score_tokenization(Writes(both), Scale(min=1, max=5))
    assert isinstance(numbers, WholeNumbers)
    assert numbers.points[2005] == numbers.points[1005] == 5
    assert how == "one token each, with and without a space before"


@pytest.mark.parametrize("lead", [(), (7,)], ids=["plain", "lead"])
def test_tokenizers_that_write_digits(lead: tuple[int, ...]) -> None:
    numbers, how = score_tokenization(Writes(lead=lead), HUNDRED)
    assert isinstance(numbers, Digits)
    assert (numbers.lead, numbers.digits) == (lead, tuple(map(ord, "0123456789")))
    assert how == "digit by digit"


def test_tokenizers_and_scales_without_score_tokens_have_a_reason() -> None:
    pairs = {"10": [99], "100": [99, 48]}
    assert score_tokenization(Writes(pairs), HUNDRED)[0] is None
    numbers, how = score_tokenization(Writes(), Scale(min=1, max=20))
    assert numbers is None
    assert "0 to 100 only" in how
    assert score_tokenization(Writes(), Scale(min=0, max=1000))[0] is None


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("model", "--model"),
        ("max_model_len", "--window"),
        ("data_parallel_size", "--replicas"),
        ("hf_token", "HF_TOKEN"),
    ],
)
def test_arguments_that_belong_to_other_settings_are_refused(name: str, instead: str) -> None:
    with pytest.raises(StudyError, match=instead):
        check_arguments({name: 2})


def test_settings_that_change_no_score_are_not_part_of_the_identity() -> None:
    arguments = {"dtype": "bfloat16", "gpu_memory_utilization": 0.8, "chat_template": "t.jinja"}
    assert identity_arguments(arguments) == {"vllm.dtype": "bfloat16"}
    assert recorded_only(arguments) == {"vllm.gpu_memory_utilization": 0.8}


def test_structured_answers_have_no_white_space_unless_the_study_sets_it() -> None:
    name = "structured_outputs_config"
    values = engine_values(ModelSpec("m", None, None, 7, {"dtype": "bfloat16"}, None))
    without_spaces = {"backend": "xgrammar", "disable_any_whitespace": True}
    assert values == {"seed": 7, "dtype": "bfloat16", name: without_spaces}
    own = {"backend": "guidance"}
    assert engine_values(ModelSpec("m", None, None, 7, {name: own}, None))[name] == own


def test_a_prompt_that_fills_the_window_with_its_answer_is_asked_and_a_longer_one_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    facts = SimpleNamespace(
        block_size=16, scheduled=4, cache_tokens=1000, batch_tokens=100, window=20
    )
    layout = SimpleNamespace(tokens=lambda prompt: [1] * len(prompt))
    described = SimpleNamespace(facts=facts, layout=layout, tokenizations={})
    loaded: Any = SimpleNamespace(engine=None, described=described, output=None)
    lengths: list[int] = []
    monkeypatch.setattr(
        SchedulerFeed, "_request", lambda _, prompt, *__: lengths.append(prompt.tokens)
    )
    feed = SchedulerFeed("m", loaded, Decoding(0.0, 5, None, structured=False))
    feed.add(1, Ask("x" * 15, 0))
    assert not feed.busy
    feed.add(2, Ask("x" * 16, 0))
    assert lengths == [15]
    assert [(key, answer.missing) for key, answer in feed.step()] == [(2, TOO_LONG)]


class Counted:
    """An engine that answers four prompts at each step from the given one on, and counts them."""

    def __init__(self, silent: int = 0) -> None:
        self.silent = silent
        self.waiting: list[str] = []
        self.at_steps: list[int] = []

    def add_request(self, name: str, *_: object) -> None:
        self.waiting.append(name)

    def step(self) -> list[Any]:
        self.at_steps.append(len(self.waiting))
        if len(self.at_steps) <= self.silent:
            return []
        outputs, self.waiting = self.waiting[:4], self.waiting[4:]
        completion = SimpleNamespace(token_ids=[7, 8], finish_reason="stop", logprobs=None)
        return [
            SimpleNamespace(
                request_id=name, finished=True, num_cached_tokens=0, outputs=[completion]
            )
            for name in outputs
        ]


Answered = Callable[[Counted], tuple[list[int], PrefixReuse]]


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> Answered:
    """Return a function that asks an engine 200 prompts of 10 tokens, in batches of 100 tokens.

    It returns how many answers each commit had, and the token counts.
    """
    monkeypatch.setattr(scheduler_feed, "_sampling_parameters", lambda values: values)
    monkeypatch.setattr(scheduler_feed, "_engine_errors", lambda _: nullcontext())
    facts = SimpleNamespace(
        block_size=16,
        scheduled=1024,
        cache_tokens=100_000,
        batch_tokens=100,
        window=200,
        fingerprint="f",
    )
    layout = SimpleNamespace(tokens=lambda _: [next(numbers)] * 10, answer_text=str)
    numbers = count()
    described = SimpleNamespace(facts=facts, layout=layout, tokenizations={})

    def answer(engine: Counted) -> tuple[list[int], PrefixReuse]:
        loaded: Any = SimpleNamespace(engine=engine, described=described, output=None)
        feed = SchedulerFeed("m", loaded, Decoding(0.0, 5, None, structured=False))
        stored: list[int] = []

        def commit(pairs: Sequence[tuple[Request, Answer]]) -> None:
            assert {given.text for _, given in pairs} == {"[7]"}
            stored.append(len(pairs))

        delivery: Any = SimpleNamespace(commit=commit)
        asked = (
            Request("QR", 0, (number,), (1,), "x" * 10, score_scale=None) for number in range(200)
        )
        return stored, scheduler_feed.answer_all(feed, asked, delivery)

    return answer


def test_the_first_step_needs_a_batch_and_not_all_prompts(
    answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler_feed, "FEED_SECONDS", 0)
    stored, counts = answered(engine := Counted())
    # Two batches of 100 tokens are under way whenever there are prompts.
    assert engine.at_steps[:3] == [20, 20, 20]
    assert sum(stored) == 200
    assert counts.prompt_tokens == 2000


def test_the_first_answer_is_not_slowed_by_other_prompts_and_stored_at_once(
    answered: Answered,
) -> None:
    stored, _ = answered(engine := Counted(silent=15))
    assert engine.at_steps[:16] == [20] * 16
    assert engine.at_steps[16] > 100
    assert stored[0] == 4
    assert sum(stored) == 200


def test_the_others_do_not_wait_long_for_a_long_first_answer(
    answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = count(step=0.02)
    monkeypatch.setattr(scheduler_feed, "monotonic", lambda: next(seconds))
    stored, _ = answered(engine := Counted(silent=1000))
    assert engine.at_steps[:10] == [20] * 10
    assert engine.at_steps[100] > 20
    assert sum(stored) == 200


@dataclass
class Token:
    """As `tokenizers.AddedToken` is."""

    content: str
    special: bool = True


class Chat:
    """A stand-in for a tokenizer of a chat model: a token a character, and its own names.

    Names marked as special are split on request; the others never are.
    """

    chat_template = "there is one"
    bos_token_id = 1

    def __init__(self, template: str) -> None:
        self.shown = template
        self.added_tokens_decoder = {1: Token("<s>"), 2: Token("<end>"), 3: Token("<think>", False)}

    def apply_chat_template(self, messages: list[dict[str, str]], **_: object) -> str:
        return self.shown.replace("MESSAGE", messages[0]["content"])

    def encode(
        self, text: str, *, add_special_tokens: bool = True, split_special_tokens: bool = False
    ) -> list[int]:
        tokens = [1] if add_special_tokens else []
        while text:
            for number, token in self.added_tokens_decoder.items():
                encoded = not (split_special_tokens and token.special)
                if encoded and text.startswith(token.content):
                    tokens.append(number)
                    text = text[len(token.content) :]
                    break
            else:
                tokens.append(ord(text[0]))
                text = text[1:]
        return tokens


@pytest.mark.parametrize(
    "template",
    [
        "<s>user: MESSAGE <end>judge:",
        "user: MESSAGE <end>judge:",
        "<s><s>user: MESSAGE <end>judge:",
    ],
    ids=["one", "left out", "two"],
)
def test_a_prompt_has_one_beginning_and_its_words_are_text(template: str) -> None:
    layout = chat_layout(Chat(template), "m")
    prompt = "<think>a<end><<think>><s>"
    expected = [1, *map(ord, f"user: {prompt} "), 2, *map(ord, "judge:")]
    assert layout.tokens(prompt) == expected
    assert layout.around + len(layout.text(prompt)) == len(expected)


class ChatWithSystem(Chat):
    """A tokenizer whose template shows a system message, or refuses it."""

    def apply_chat_template(self, messages: list[dict[str, str]], **_: object) -> str:
        if self.shown == "refuses":
            raise TemplateError("System role not supported")
        return self.shown.format(*(message["content"] for message in messages))


def test_a_system_message_comes_before_each_prompt() -> None:
    tokenizer = ChatWithSystem("<s>system: {0}<end>user: {1}<end>judge:")
    layout = chat_layout(tokenizer, "m", system="Be strict.")
    head = [1, *map(ord, "system: Be strict."), 2, *map(ord, "user: ")]
    assert layout.tokens("a<end>") == [*head, *map(ord, "a<end>"), 2, *map(ord, "judge:")]
    other = chat_layout(tokenizer, "m", system="Be kind.")
    assert other.hash != layout.hash
    with pytest.raises(StudyError, match="can't be applied: System role not supported"):
        chat_layout(ChatWithSystem("refuses"), "m", system="Be strict.")
    with pytest.raises(StudyError, match="leaves out the system message"):
        chat_layout(ChatWithSystem("<s>{1}<end>"), "m", system="Be strict.")


def test_a_template_that_changes_the_message_is_refused() -> None:
    with pytest.raises(StudyError, match="does not show a message unchanged, once"):
        chat_layout(Chat("<s>MESSAGE MESSAGE"), "m")


BEGINS_ONE = """
import subprocess, sys, time
from judge.engines.vllm.model_loader import ProcessCleanup
begun = subprocess.Popen(
    [sys.executable, "-c", "import time; time.sleep(60)"], stdout=subprocess.DEVNULL
)
cleanup = ProcessCleanup()
print(begun.pid, flush=True)
if sys.stdin.readline():
    cleanup.cancel()
else:
    time.sleep(60)
"""


@pytest.mark.parametrize("killed", [True, False], ids=["killed", "in order"])
@pytest.mark.slow
def test_processes_end_with_the_one_that_is_killed(killed: bool) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", BEGINS_ONE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        assert process.stdout is not None
        begun = psutil.Process(int(process.stdout.readline()))
        if killed:
            process.kill()
        else:
            process.communicate("over\n")
    try:
        begun.wait(10 if killed else 0.5)
    except psutil.TimeoutExpired:
        assert not killed
        begun.kill()
    else:
        assert killed

"""What replies of real endpoints mean; their words are those that such servers send."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from judge.protocol.chat_completion import Trouble, read_reply, requested_wait, spent_quota
from judge.protocol.exchange import Answer


def completion(content: Any = "85", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **more.pop("message", {})}
    choice = {"index": 0, "message": message, "finish_reason": more.pop("finish_reason", "stop")}
    return {"model": "m", "choices": [choice], **more}


def read(data: Any, status: int = 200, **headers: str) -> Answer | Trouble:
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    return read_reply(status, {name.replace("_", "-"): v for name, v in headers.items()}, body, 5.0)


def test_an_answer_with_all_that_is_known_of_it() -> None:
    result = read(
        completion(
            system_fingerprint="fp_1",
            usage={
                "prompt_tokens": 1200,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 1024},
                "completion_tokens_details": {"reasoning_tokens": 0},
            },
        )
    )
    assert result == Answer("85", "stop", "m", "fp_1", 1200, 2, 0, 1024, 5.0)


def test_no_tokens_of_a_prompt_are_no_count() -> None:
    """Some servers fill in 0 where they do not count."""
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    result = read(completion(usage=usage))
    assert isinstance(result, Answer)
    assert (result.prompt_tokens, result.completion_tokens) == (None, None)
    result = read(completion(usage={"prompt_tokens": 0, "completion_tokens": 2}))
    assert isinstance(result, Answer)
    assert (result.prompt_tokens, result.completion_tokens) == (None, 2)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (completion(None), ""),
        (completion([{"type": "text", "text": "8"}, {"type": "text", "text": "5"}]), "85"),
        (completion(None, message={"refusal": "I can't."}), "I can't."),
        (completion("a\x00b"), "a\\u0000b"),
        (completion("a\ud800"), "a\\ud800"),
        (completion(85), "85"),
        (completion(85.5), "85.5"),
        (completion({"score": 85}), '{"score": 85}'),
        (completion(True), "true"),
        (completion([]), ""),
        (completion(["8", "5"]), "85"),
        (
            completion(None, message={"tool_calls": [{"function": {"arguments": '{"score":85}'}}]}),
            '{"score":85}',
        ),
        (
            completion("", message={"tool_calls": [{"function": {"arguments": {"n": 85}}}] * 2}),
            '{"n": 85}\n\n{"n": 85}',
        ),
        (completion("", message={"function_call": {"arguments": "85"}}), "85"),
        (completion("", message={"tool_calls": [7, {"function": None}]}), ""),
        (completion([{"type": "refusal", "refusal": "I can't."}]), "I can't."),
        (completion([{"type": "image", "id": "ä"}, "85"]), '[{"type": "image", "id": "ä"}, "85"]'),
        (
            completion(
                [{"type": "thinking", "thinking": "Say 40?"}, {"type": "text", "text": "85"}]
            ),
            "85",
        ),
    ],
)
def test_content_in_its_forms(data: dict[str, Any], text: str) -> None:
    result = read(data)
    assert isinstance(result, Answer)
    assert result.text == text


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": -1}, {"prompt_tokens": "9"}, [1]])
def test_invalid_counts_are_not_known(usage: Any) -> None:
    result = read(completion(usage=usage))
    assert isinstance(result, Answer)
    assert result.prompt_tokens is None


@pytest.mark.parametrize(
    ("total", "cached", "reasoning", "counted"),
    [
        (110, 50, None, 10),
        (150, None, None, 50),
        (150, None, 0, 50),
        (150, None, 40, 50),
        # What is left may be anything: reasoning is counted once, and not more than reported.
        (1150, None, 40, 50),
        # More cached tokens than those of the prompt are counted, and paid, separately.
        (1110, 1000, None, 10),
        (1150, 1000, 40, 50),
        (110, 1000, None, 10),
        (90, None, None, 10),
    ],
)
def test_reasoning_that_is_in_the_total_alone_counts_as_completion(
    total: int, cached: int | None, reasoning: int | None, counted: int
) -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "total_tokens": total,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }
    result = read(completion(usage=usage))
    assert isinstance(result, Answer)
    assert result.completion_tokens == counted


@pytest.mark.parametrize(
    "more",
    [
        {"prompt_tokens_details": {"cached_tokens": 64}, "prompt_cache_hit_tokens": 7},
        {"prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36},
        {"cached_tokens": 64, "prompt_tokens_details": None},
    ],
    ids=["openai", "deepseek", "moonshot"],
)
def test_cached_tokens_are_read_where_servers_state_them(more: dict[str, Any]) -> None:
    result = read(completion(usage={"prompt_tokens": 100, "completion_tokens": 2, **more}))
    assert isinstance(result, Answer)
    assert result.cached_tokens == 64


def test_reasoning_shows_in_counts_or_in_a_field_of_its_own() -> None:
    counted = read(completion("", usage={"completion_tokens_details": {"reasoning_tokens": 16}}))
    reported = read(
        completion("", message={"reasoning_content": "Hm"}, usage={"completion_tokens": 16})
    )
    for result in (counted, reported):
        assert isinstance(result, Answer)
        assert result.reasoning_tokens == 16


@pytest.mark.parametrize(
    ("data", "reasoning"),
    [
        (completion(), None),
        (completion(message={"reasoning_content": "Say 40?\n\x00No."}), "Say 40?\n\\u0000No."),
        (completion(message={"reasoning": "Say 40?", "reasoning_content": None}), "Say 40?"),
        (completion(message={"reasoning": ["Say", 40]}), '["Say", 40]'),
        (completion(message={"reasoning_details": [{"text": "?"}]}), '[{"text": "?"}]'),
        (completion([{"type": "thinking", "thinking": "Say 40?"}, "85"]), "Say 40?"),
        (completion([{"type": "thinking", "thinking": ["Say"]}, "85"]), '["Say"]'),
        (completion([{"type": "reasoning", "id": 1}, "85"]), '{"type": "reasoning", "id": 1}'),
        (completion("<think>40?</think>85"), None),
    ],
)
def test_reasoning_is_kept_as_it_came(data: dict[str, Any], reasoning: str | None) -> None:
    result = read(data)
    assert isinstance(result, Answer)
    assert result.reasoning == reasoning
    assert "85" in str(result.text)


@pytest.mark.parametrize(
    ("status", "error", "missing"),
    [
        (400, {"code": "context_length_exceeded", "message": "maximum context length"}, "too_long"),
        (
            400,
            {"message": "This model's maximum context length is 8192 tokens. However, you ..."},
            "too_long",
        ),
        (400, {"message": "The decoder prompt (length 9001) is longer than the maximum model"},
         "too_long"),
        (413, {"message": "Request too large"}, "too_long"),
        (422, {"message": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= "
               "4096. Given: 5000 `inputs` tokens and 16 `max_new_tokens`"}, "too_long"),
        (422, {"message": "Input validation error: `inputs` must have less than 4095 tokens. "
               "Given: 5000"}, "too_long"),
        (400, {"message": "too many tokens: total number of tokens in the prompt cannot exceed "
               "4081 - received 5000."}, "too_long"),
        (400, {"message": "Input length 5000 exceeds maximum 4096"}, "too_long"),
        (500, {"message": "the input length exceeds maximum context length"}, "too_long"),
        (500, {"message": "Input prompt is too big compared to KV size. Please try increasing KV "
               "size."}, "too_long"),
        (400, {"code": "content_filter", "message": "triggering our content management policy"},
         "content_filter"),
        (403, {"message": "Your input was flagged by moderation"}, "content_filter"),
        (400, {"message": "messages: text is not acceptable"}, "rejected"),
        (400, {"message": "The request queue is too big"}, "rejected"),
        (400, {"message": "max_tokens: too many tokens requested"}, "rejected"),
        (400, {"message": "can't process: 'the temperature of the sea'"}, "rejected"),
        (422, {"message": "unprocessable"}, "rejected"),
    ],
)  # fmt: skip
def test_refusals_of_this_very_prompt_are_judgments(
    status: int, error: dict[str, Any], missing: str
) -> None:
    result = read({"error": error}, status)
    assert isinstance(result, Answer)
    assert result.missing == missing


@pytest.mark.parametrize(
    ("status", "error", "kind", "parameter"),
    [
        (401, {"message": "Incorrect API key"}, "stop", None),
        (400, {"message": "API key not valid. Please pass a valid API key."}, "stop", None),
        (402, {"message": "no credit"}, "stop", None),
        (404, {"message": "The model `x` does not exist"}, "stop", None),
        (405, {"message": "method"}, "stop", None),
        (429, {"code": "insufficient_quota", "message": "You exceeded your current quota"}, "stop",
         None),
        (429, {"message": "Rate limit reached"}, "throttled", None),
        (429, {"message": "You exceeded your current quota, please check your plan and billing "
               "details. Please retry in 7s."}, "throttled", None),
        (503, {"message": "overloaded"}, "throttled", None),
        (500, {"message": "oops"}, "again", None),
        (500, {"message": "Failed to load the model with a context length of 8192"}, "again", None),
        (524, {}, "again", None),
        (408, {}, "again", None),
        (400, {"param": "max_tokens", "code": "unsupported_parameter",
               "message": "Unsupported parameter: 'max_tokens' is not supported with this model. "
               "Use 'max_completion_tokens' instead."}, "parameter", "max_tokens"),
        (400, {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'."},
         "parameter", "max_tokens"),
        (400, {"param": "temperature", "message": "does not support 0 with this model"},
         "parameter", "temperature"),
        (422, {"message": "unknown field `seed`"}, "parameter", "seed"),
    ],
)  # fmt: skip
def test_troubles_are_distinguished(
    status: int, error: dict[str, Any], kind: str, parameter: str | None
) -> None:
    result = read({"error": error}, status)
    assert isinstance(result, Trouble)
    assert (result.kind, result.parameter) == (kind, parameter)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<html>hello</html>", "no_json"),
        (b"", "no_json"),
        (b'{"choices": [{"mess', "no_json"),
        (b"[1]", "no_json"),
        (b"[]", "no_json"),
        (b'data: {"choices": [{"delta": {"content": "85"}}]}\n\ndata: [DONE]\n', "event_stream"),
        ({"choices": []}, "no_choice"),
        ({"choices": [{"text": "85"}]}, "no_choice"),
        ({"choices": None}, "no_choice"),
    ],
)
def test_a_reply_without_an_answer_is_tried_again(data: Any, reason: str) -> None:
    result = read(data)
    assert isinstance(result, Trouble)
    assert (result.kind, result.reason) == ("again", reason)


@pytest.mark.parametrize(
    "data",
    [
        [{"error": {"code": 404, "message": "It is not found.", "status": "NOT_FOUND"}}],
        {"errors": [{"code": "x", "message": "It is not found."}], "trace": "abc"},
        {"message": "It is not found.", "statusCode": 404},
        {"detail": "It is not found."},
        {"error": "It is not found."},
    ],
)
def test_the_message_of_an_error_is_shown_without_its_wrapping(data: Any) -> None:
    result = read(data, 404)
    assert isinstance(result, Trouble)
    assert (result.kind, result.detail) == ("stop", "HTTP 404: It is not found.")


def test_an_error_behind_a_good_status_counts_as_the_error_it_is() -> None:
    throttled = read({"error": {"code": 429, "message": "rate"}})
    broken = read({"error": {"message": "upstream"}})
    assert isinstance(throttled, Trouble)
    assert isinstance(broken, Trouble)
    assert (throttled.kind, broken.kind) == ("throttled", "again")


@pytest.mark.parametrize(
    "more",
    [
        {"finish_reason": reason}
        for reason in (
            *("error", "abort", "cancelled", "insufficient_system_resource", "ERROR"),
            "error: the upstream closed",
        )
    ]
    + [{"error": {"code": 502, "message": "Upstream idle timeout exceeded"}}],
)
def test_a_part_of_an_answer_that_was_broken_off_is_no_answer(more: dict[str, Any]) -> None:
    """The beginning of 85 is a score as well."""
    data = completion("8")
    data["choices"][0] |= more
    result = read(data)
    assert isinstance(result, Trouble)
    assert result.kind == "again"
    assert isinstance(read(completion("85", error={"code": 0})), Answer)


def test_warnings_beside_an_answer_do_not_cost_it() -> None:
    assert isinstance(read(completion("85", errors=["seed is deprecated"])), Answer)


@pytest.mark.parametrize(
    ("reason", "meant", "missing"),
    [
        ("MAX_TOKENS", "length", None),
        ("model_length", "length", None),
        ("max_output_tokens", "length", None),
        ("content_filter: RECITATION", "content_filter", "content_filter"),
        ("SAFETY", "content_filter", "content_filter"),
        ("sensitive", "content_filter", "content_filter"),
        ("eos_token", "eos_token", None),
        (None, None, None),
    ],
)
def test_reasons_of_other_servers_are_named_as_in_chat_completions(
    reason: str | None, meant: str | None, missing: str | None
) -> None:
    result = read(completion("8", finish_reason=reason))
    assert isinstance(result, Answer)
    assert (result.finish_reason, result.missing) == (meant, missing)


def test_a_redirect_is_not_followed_since_the_key_would_go_along() -> None:
    result = read(b"", 307, location="https://elsewhere.example/v1")
    assert isinstance(result, Trouble)
    assert result.kind == "stop"
    assert "https://elsewhere.example/v1" in result.detail


def test_waits_are_passed_on() -> None:
    result = read({"error": {"message": "slow down"}}, 429, retry_after="7")
    assert isinstance(result, Trouble)
    assert result.wait == 7


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.sampled_from([200, 201, 302, 400, 401, 404, 413, 422, 429, 500, 599]),
    st.one_of(
        st.binary(),
        _JSON.map(lambda value: json.dumps(value).encode()),
        _JSON.map(lambda value: json.dumps({"error": value}).encode()),
        _JSON.map(lambda value: json.dumps({"choices": [{"message": value}]}).encode()),
        _JSON.map(lambda value: json.dumps(completion(value, usage=value)).encode()),
    ),
)
def test_whatever_a_server_sends_is_an_answer_or_a_trouble(status: int, body: bytes) -> None:
    assert isinstance(read_reply(status, {}, body, 1.0), Answer | Trouble)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "Sat, 21 Nov 2026 07:00:00 +999999"}, None),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m2.5s"}, 62.5),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "120ms"}, 0.12),
        ({"x-ratelimit-remaining-tokens": "7", "x-ratelimit-reset-tokens": "9s"}, None),
        ({"ratelimit-remaining": "0", "ratelimit-reset": "4"}, 4),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "later"}, None),
    ],
)
def test_what_a_server_asks(headers: dict[str, str], seconds: float | None) -> None:
    assert requested_wait(headers) == seconds


def test_moments_are_waited_for() -> None:
    later = datetime.now(UTC) + timedelta(seconds=30)
    assert requested_wait({"retry-after": format_datetime(later, usegmt=True)}) == pytest.approx(
        30, abs=2
    )
    past = datetime.now(UTC) - timedelta(seconds=30)
    assert requested_wait({"retry-after": format_datetime(past, usegmt=True)}) == 0
    for form in (later.isoformat(), str(later.timestamp())):
        headers = {"anthropic-ratelimit-requests-remaining": "0"}
        headers["anthropic-ratelimit-requests-reset"] = form
        assert spent_quota(headers) == pytest.approx(30, abs=2)

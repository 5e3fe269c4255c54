"""How little must be computed: whole blocks with which earlier prompts begin are reused."""

import pytest
from hypothesis import given, strategies as st

from judge.engines.vllm.prefix_reuse import PrefixReuse


def least(prompts: list[list[int]], block: int) -> float:
    """Return the share by comparing each prompt with all before it."""
    shared = 0
    for number, prompt in enumerate(prompts):
        longest = 0
        for earlier in prompts[:number]:
            same = next(
                (i for i, (a, b) in enumerate(zip(prompt, earlier, strict=False)) if a != b),
                min(len(prompt), len(earlier)),
            )
            longest = max(longest, min(same, len(prompt) - 1) // block)
        shared += longest * block
    total = sum(map(len, prompts))
    return 1 - shared / total if total else 0.0


@given(st.lists(st.lists(st.integers(0, 2), max_size=12), max_size=12), st.integers(1, 4))
def test_prefix_reuse_is_what_comparing_all_prompts_gives(
    prompts: list[list[int]], block: int
) -> None:
    reuse = PrefixReuse(block)
    for prompt in prompts:
        reuse.add_prompt(prompt)
    assert reuse.least == pytest.approx(least(prompts, block))


def test_shares_are_given_in_a_sentence() -> None:
    reuse = PrefixReuse(2)
    for prompt in ([1, 2, 3, 4], [1, 2, 5, 6]):
        reuse.add_prompt(prompt)
    assert reuse.line() == (
        "Of 8 prompt tokens 100.0% were computed; the least possible for these prompts in blocks "
        "of 2 is 75.0%."
    )

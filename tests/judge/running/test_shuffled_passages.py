"""Prompts with the passages in another order: a separate run, shown as it was asked."""

import pytest
from click.testing import CliRunner
from hypothesis import given, strategies as st

from judge import judge_study, preview, show_response, show_run
from judge.prompts.prompt_versions import prompt_version
from judge.protocol.conditions import Conditions, identity, run_digest, with_shuffle
from judge.running.shown_texts import shuffled
from study import Study
from study.cli.root import cli
from tests.judge.small_studies import Scripted, ScriptedSettings, store

PASSAGES = [f"Passage {letter}." for letter in "abcdefgh"]


@pytest.fixture
def shared(study: Study) -> Study:
    """A query of which three systems answer from the same eight passages."""
    row = {"query_id": "q", "query": "Q?", "references": ["R."], "passages": PASSAGES}
    store(study, *({**row, "system": name, "response": f"Of {name}."} for name in "ABC"))
    return study


def orders(requests: list[str]) -> set[tuple[int, ...]]:
    """Return the orders in which prompts show the passages; none where they show no passage."""
    shown = [prompt for prompt in requests if PASSAGES[0] in prompt]
    return {tuple(prompt.index(text) for text in PASSAGES) for prompt in shown}


def ranks(order: tuple[int, ...]) -> list[int]:
    return sorted(range(len(order)), key=order.__getitem__)


@given(st.lists(st.text(), max_size=9), st.integers(0, 2**63 - 1), st.binary(min_size=1))
def test_an_order_is_a_permutation_that_seed_and_context_fix(
    passages: list[str], seed: int, context: bytes
) -> None:
    order = shuffled(passages, seed, context)
    assert sorted(order) == sorted(passages)
    assert order == shuffled(passages, seed, context)


def test_every_order_comes_up_about_equally_often() -> None:
    seen: dict[tuple[str, ...], int] = {}
    for number in range(6000):
        order = shuffled(["a", "b", "c"], 7, str(number).encode())
        seen[order] = seen.get(order, 0) + 1
    # Six orders, 1,000 each but for chance: 4 standard deviations are 115.
    assert len(seen) == 6
    assert all(abs(count - 1000) < 115 for count in seen.values())


def test_a_context_has_one_order_and_a_seed_another(
    shared: Study, scripted: type[Scripted]
) -> None:
    judge_study(shared, ScriptedSettings(name="ranked"))
    (plain,) = {tuple(ranks(o)) for o in orders([r.prompt for r in scripted.asked])}
    assert plain == tuple(range(8))
    by_seed = []
    for seed in (0, 1):
        scripted.asked.clear()
        judge_study(shared, ScriptedSettings(name=f"seed {seed}", shuffle_passages=seed))
        (order,) = {tuple(ranks(o)) for o in orders([r.prompt for r in scripted.asked])}
        by_seed.append(order)
    assert len({plain, *by_seed}) == 3


def test_the_shuffle_belongs_to_the_run_and_the_shown_prompt_is_the_one_asked(
    shared: Study, scripted: type[Scripted]
) -> None:
    judge_study(shared, ScriptedSettings(name="shuffled", shuffle_passages=3))
    assert show_run(shared, "shuffled").decoding["shuffle_passages"] == 3
    asked = {request.prompt for request in scripted.asked}
    response = shared.score_table().query("system == 'A'")["response_id"].iloc[0]
    shown = [audited.prompt for audited in show_response(shared, "shuffled", response).constructs]
    assert len(shown) == 5
    assert set(shown) <= asked
    # The same settings go on with it, others begin another one.
    assert judge_study(shared, ScriptedSettings(shuffle_passages=3)).run == "shuffled"
    assert judge_study(shared, ScriptedSettings(shuffle_passages=4)).begun
    assert judge_study(shared, ScriptedSettings()).begun


def test_without_it_a_run_is_known_by_what_it_was_known_by_before() -> None:
    conditions = Conditions("openai", "m", "http://a/v1", None, {"temperature": 0.0}, 1)
    assert with_shuffle(conditions, None) is conditions
    parts = identity(with_shuffle(conditions, None), prompt_version(), 1)
    # As it was reckoned before there were shuffled passages.
    assert run_digest(parts) == GOLDEN
    assert run_digest(identity(with_shuffle(conditions, 0), prompt_version(), 1)) != GOLDEN


def test_a_seed_of_0_on_the_command_line_is_one(shared: Study, scripted: type[Scripted]) -> None:
    words = ["judge", str(shared.folder), "--engine", "scripted", "--shuffle-passages", "0"]
    words += ["--seed", "0", "--name", "j"]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    assert show_run(shared, "j").decoding["shuffle_passages"] == 0


def test_a_preview_shows_the_shuffled_prompt_and_means_the_run_of_that_order(
    shared: Study, scripted: type[Scripted]
) -> None:
    judge_study(shared, ScriptedSettings(name="ranked", model="m"))
    settings = ScriptedSettings(shuffle_passages=3, model="m")
    previewed = preview(shared, settings)
    assert previewed.run is None
    scripted.asked.clear()
    judge_study(shared, settings)
    assert previewed.example in {request.prompt for request in scripted.asked}


GOLDEN = "86673aee95712c5a5bb07392229b8165074f4471930318f5e17c3dcda1555c65"

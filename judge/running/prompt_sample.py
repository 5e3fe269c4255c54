"""Some of the prompts of a run that stand for all of them."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from judge.engines.engine import Ready
from judge.protocol.exchange import Request
from judge.running.metric_requests import PlannedPrompt, planned_prompts
from judge.running.pages import Place
from judge.running.scope import Scope
from study.study import Study


class Name(NamedTuple):
    """What the only prompt of an evaluation is known by, before its text is made."""

    construct_key: str
    repeat: int
    response: int
    """The first that it judges, by its database key."""


def name_of(prompt: PlannedPrompt | Request) -> Name:
    """Return the name of a prompt that is to be asked, or is being asked."""
    if isinstance(prompt, Request):
        return Name(prompt.construct_key, prompt.repeat, prompt.response_ids[0])
    item = prompt.item
    return Name(item.construct_key, item.repeat, item.contents[0].id)


def sizes(
    study: Study, order: Sequence[Place], scope: Scope, run_id: int | None, ready: Ready
) -> dict[Name, int]:
    """Return the length of each prompt that a run still has to ask, and that fits the window.

    In tokens where the engine counts them, else in bytes. Without a run, of all its prompts.
    """
    planned = planned_prompts(study, order, scope, run_id, texts=ready.count is not None)
    return {
        name_of(item): item.length(ready)
        for item in planned
        if isinstance(item, PlannedPrompt) and item.fits(ready)
    }


def spread(prompts: dict[Name, int], number: int, seed: int) -> frozenset[Name]:
    """Draw so many prompts at even steps through constructs, and through lengths within each.

    Every prompt has the same chance (systematic sampling with a random start: Cochran 1977,
    Sampling Techniques, chapter 8); a construct has its share to within one prompt. Where there
    are fewer, all are taken.
    """
    if len(prompts) <= number:
        return frozenset(prompts)
    order = sorted(prompts, key=lambda name: (name.construct_key, prompts[name], name))
    step = len(order) / number
    start = Random(seed).random() * step  # noqa: S311  (nothing secret)
    return frozenset(order[int(start + k * step)] for k in range(number))

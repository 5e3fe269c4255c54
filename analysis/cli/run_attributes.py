"""What the runs of a study were made with, as plain attributes by which they are told apart."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

#: Stands for what a run was made without.
NONE = "none"

_NAMES = {
    "engine": "engine",
    "model": "model",
    "model_revision": "revision",
    "prompt_version": "prompts",
    "prompt_hash": "words of the prompts",
    "seed": "seed",
}

#: Parts of the decoding with a name for readers; the others go by their own.
_DECODING = {"shuffle_passages": "passage order"}

#: What follows from model, endpoint or prompts, and is no choice beside them.
_FOLLOWING = {
    "chat_template_date",
    "chat_template_sha256",
    "ignored",
    "limit_sent_as",
    "max_tokens",
    "reasoning_tokens",
    "refused",
}


def attributes(runs: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """Attributes of each run (as in `study.facts.judgments`) by the run's name.

    All have the same attributes, "none" where a run was made without one. Prompts with other
    words have another name as a rule, so their hash is an attribute only where one name stands
    for several.
    """
    found = {str(run["name"]): _of_run(run) for run in runs}
    known = list(dict.fromkeys(key for own in found.values() for key in own))
    whole = {name: {key: own.get(key, NONE) for key in known} for name, own in found.items()}
    words = {(own["prompts"], own["words of the prompts"]) for own in whole.values()}
    if len(words) == len({prompts for prompts, _ in words}):
        for own in whole.values():
            del own["words of the prompts"]
    return whole


def _of_run(run: Mapping[str, Any]) -> dict[str, str]:
    own = {name: _text(run[key]) for key, name in _NAMES.items()}
    decoding = {k: v for k, v in run["decoding"].items() if k not in _FOLLOWING}
    return own | {_DECODING.get(key, key): _text(value) for key, value in decoding.items()}


def _text(value: Any) -> str:
    if value is None:
        return NONE
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)

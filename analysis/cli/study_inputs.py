"""What a study adds to its tables: hypotheses, traits of responses, attributes of runs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from analysis.core.hypothesis import Hypothesis
    from analysis.core.tables import ScoreTable
    from study.settings.report import HypothesisSpec


def declared(
    specs: Sequence[HypothesisSpec],
    scores: ScoreTable,
    systems: Collection[str] = (),
    constructs: Collection[str] = (),
) -> tuple[Hypothesis, ...]:
    """Hypotheses on what the table has, or the study beside it: `systems` and `constructs`.

    Raises
    ------
    AnalysisError
        One speaks of a system, construct or scorer that nobody knows.
    """
    from analysis.core.hypothesis import Hypothesis, check_hypotheses
    from analysis.topics.distribution.estimates import MEAN_OF_RATERS

    found = tuple(Hypothesis(**spec.model_dump()) for spec in specs)
    scorers = [name for name, kind in scores.scorer_kinds.items() if kind != "human"]
    check_hypotheses(
        found,
        tuple(dict.fromkeys([*scores.systems, *systems])),
        tuple(dict.fromkeys([*scores.constructs, *constructs])),
        (*scorers, MEAN_OF_RATERS),
    )
    return found


_FEWEST = 3
"""Passages below which the supporting one has no place to speak of."""


def response_traits(connection: Any, responses: Collection[str]) -> pd.DataFrame:
    """Return `markdown` (1 or 0) and `support` for these responses, by their ids.

    `support` is the place of the passage that shares most words with the reference (else with the
    response), from 0, the first, to 1, the last; NaN where there are fewer than three passages.
    """
    import pandas as pd

    from judge.perturbations.length_and_layout import has_markdown
    from judge.perturbations.position import supporting
    from study.facts.current_responses import RESPONSE_COLUMNS, current_responses, response_rows

    wanted = set(responses)
    known = current_responses(connection)[0] if wanted else []
    chosen = [one for one in known if one.response_id in wanted]
    found: dict[str, tuple[float, float]] = {}
    for values in response_rows(connection, chosen):
        row = dict(zip(RESPONSE_COLUMNS, values, strict=True))
        if row["response_id"] not in wanted or row["response_id"] in found:
            continue
        texts = [text for text, _ in row["passages"]]
        references = row["references"]
        answer = references[0] if references else row["response"]
        place = supporting(texts, answer) if len(texts) >= _FEWEST else None
        support = float("nan") if place is None else place / (len(texts) - 1)
        found[row["response_id"]] = (float(has_markdown(row["response"])), support)
    return pd.DataFrame.from_dict(found, orient="index", columns=["markdown", "support"])


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

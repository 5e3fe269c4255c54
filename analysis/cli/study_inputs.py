"""What a study adds to its tables: hypotheses, traits of responses, attributes of runs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from analysis.core.hypothesis import Hypothesis
    from analysis.core.mark_table import MarkTable
    from analysis.core.tables import ScoreTable
    from study.settings.report import HypothesisSpec


def declared(
    specs: Sequence[HypothesisSpec],
    scores: ScoreTable,
    systems: Collection[str] = (),
    constructs: Collection[str] = (),
) -> tuple[Hypothesis, ...]:
    """Hypotheses about the systems and constructs of the table and of the study.

    Raises
    ------
    AnalysisError
        One names an unknown system, construct or scorer.
    """
    from analysis.core.hypothesis import Hypothesis, check_hypotheses
    from analysis.topics.distribution.estimates import MEAN_OF_RATERS

    hypotheses = tuple(Hypothesis(**spec.model_dump()) for spec in specs)
    scorers = [name for name, kind in scores.scorer_kinds.items() if kind != "human"]
    check_hypotheses(
        hypotheses,
        tuple(dict.fromkeys([*scores.systems, *systems])),
        tuple(dict.fromkeys([*scores.constructs, *constructs])),
        (*scorers, MEAN_OF_RATERS),
    )
    return hypotheses


_FEWEST = 3
"""With fewer passages the position of the supporting one is not informative."""


def mark_table(connection: Any, versions: Mapping[str, int]) -> MarkTable | None:
    """Return people's marks on sentences; None where there are none."""
    from analysis.core.mark_table import MarkTable
    from study.facts.marks_table import marks_table

    marks = marks_table(connection, versions)
    return MarkTable.from_frame(marks) if len(marks) else None


def response_traits(connection: Any, responses: Collection[str]) -> pd.DataFrame:
    """Return `markdown` (1 or 0) and `support` for these responses, by their ids.

    `support` is the position of the passage that shares most words with the reference (or, without
    one, with the response), from 0, the first, to 1, the last; NaN with fewer than three passages.
    """
    import pandas as pd

    from judge.perturbations.catalogue import has_markdown, supporting
    from study.facts.current_responses import RESPONSE_COLUMNS, current_responses, response_rows

    ids = set(responses)
    chosen = current_responses(connection, ids)[0] if ids else []
    traits: dict[str, tuple[float, float]] = {}
    for values in response_rows(connection, chosen):
        row = dict(zip(RESPONSE_COLUMNS, values, strict=True))
        if row["response_id"] not in ids or row["response_id"] in traits:
            continue
        texts = [text for text, _ in row["passages"]]
        references = row["references"]
        answer = references[0] if references else row["response"]
        place = supporting(texts, answer) if len(texts) >= _FEWEST else None
        support = float("nan") if place is None else place / (len(texts) - 1)
        traits[row["response_id"]] = (float(has_markdown(row["response"])), support)
    return pd.DataFrame.from_dict(traits, orient="index", columns=["markdown", "support"])


#: Value of an attribute that a run does not have.
NONE = "none"

_NAMES = {
    "engine": "engine",
    "model": "model",
    "model_revision": "revision",
    "prompt_version": "prompts",
    "prompt_hash": "words of the prompts",
    "seed": "seed",
}

#: Readable names of parts of the decoding; the others keep theirs.
_DECODING = {"shuffle_passages": "passage order"}

#: Attributes that follow from model, endpoint or prompts.
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

    All runs have the same attributes, "none" where a run lacks one. Different prompts usually have
    different names, so that their hash is an attribute only where one name has several hashes.
    """
    by_run = {str(run["name"]): _of_run(run) for run in runs}
    keys = list(dict.fromkeys(key for entry in by_run.values() for key in entry))
    whole = {name: {key: entry.get(key, NONE) for key in keys} for name, entry in by_run.items()}
    words = {(entry["prompts"], entry["words of the prompts"]) for entry in whole.values()}
    if len(words) == len({prompts for prompts, _ in words}):
        for entry in whole.values():
            del entry["words of the prompts"]
    return whole


def _of_run(run: Mapping[str, Any]) -> dict[str, str]:
    entry = {name: _text(run[key]) for key, name in _NAMES.items()}
    decoding = {k: v for k, v in run["decoding"].items() if k not in _FOLLOWING}
    return entry | {_DECODING.get(key, key): _text(value) for key, value in decoding.items()}


def _text(value: Any) -> str:
    if value is None:
        return NONE
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)

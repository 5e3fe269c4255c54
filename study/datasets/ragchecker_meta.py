"""RAGChecker's meta-evaluation: 280 pairs of responses, compared by two people each.

Source: Ru et al., "RAGChecker: A Fine-grained Framework for Diagnosing Retrieval-Augmented
Generation", NeurIPS 2024 (Datasets and Benchmarks), arXiv 2408.08067.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from study.datasets.dataset_source import Contents, declared_dataset
from study.errors import StudyError
from study.importing.rows import LocatedRow, PreferenceRow, ResponseRow, ScoreRow
from study.text import counted

CONSTRUCTS = ("correctness", "completeness", "overall")
RATERS = ("rater-1", "rater-2")
_HUMAN = "human_labeled_data.json"
_METRIC = "baseline_ragchecker.json"


def contents(files: Mapping[str, bytes]) -> Contents:
    """Return the data set's rows from the bytes of its files, by name.

    The human file has two rows for each pair, one for each of its two raters, who are not named:
    `rater-1` is the first in each row, and need not be one person throughout.
    """
    pairs = json.loads(files[_METRIC])
    compared = json.loads(files[_HUMAN])
    if len(compared) != len(RATERS) * len(pairs):
        raise StudyError(
            f"{_HUMAN} has {counted(len(compared), 'row')} for {counted(len(pairs), 'pair')}."
        )
    rows: list[LocatedRow] = []
    scored: dict[tuple[str, str], tuple[str, dict[str, float]]] = {}
    rules = {
        "rows 2i and 2i+1 of the human file are one pair: its raters are rater-1 and rater-2 "
        "by position": len(pairs),
    }
    for number, pair in enumerate(pairs, start=1):
        query_id = _query_id(pair)
        for side in ("model1", "model2"):
            rows.append(LocatedRow(number, _response(pair, side)))
            text, scores = pair[side]["response"], pair[side]["ragchecker"]
            key = _response_id(pair, side)
            first, values = scored.setdefault((query_id, text), (key, scores))
            if values != scores:
                raise StudyError(f"{_METRIC}: {first} and {key} are one text with two scores.")
            if first == key:
                rows += [LocatedRow(number, score) for score in _scores(key, scores)]
    for number, row in enumerate(compared, start=1):
        pair = pairs[(number - 1) // len(RATERS)]
        if any(row[side]["response"] != pair[side]["response"] for side in ("model1", "model2")):
            raise StudyError(f"{_HUMAN}, row {number}: not the pair of {_METRIC}.")
        rater = RATERS[(number - 1) % len(RATERS)]
        rows += [LocatedRow(number, preference) for preference in _preferences(row, rater)]
    return Contents(
        rows=rows,
        rules=rules,
        left_out={
            "critiques of the responses, for which a study has no place": sum(
                bool(pair[side]["critiques"]) for pair in pairs for side in ("model1", "model2")
            )
        },
    )


def _query_id(pair: Mapping[str, Any]) -> str:
    # Numbers of queries begin again in each of the ten data sets.
    return f"{pair['dataset']}/{pair['query_id']}"


def _response_id(pair: Mapping[str, Any], side: str) -> str:
    return f"{_query_id(pair)}/{pair[side]['model_name']}"


def _response(pair: Mapping[str, Any], side: str) -> ResponseRow:
    return ResponseRow(
        query_id=_query_id(pair),
        query=pair["query"],
        response=pair[side]["response"],
        response_id=_response_id(pair, side),
        system=pair[side]["model_name"],
        references=(pair["gt_answer"],),
        attributes={"domain": pair["dataset"]},
    )


def _scores(response_id: str, scores: Mapping[str, float]) -> Iterator[ScoreRow]:
    for construct in CONSTRUCTS:
        yield ScoreRow(
            response_id=response_id,
            construct_key=construct,
            scorer="ragchecker",
            scorer_kind="metric",
            value=scores[f"{construct}_label"],
        )


def _preferences(row: Mapping[str, Any], rater: str) -> Iterator[PreferenceRow]:
    for construct in CONSTRUCTS:
        yield PreferenceRow(
            query_id=_query_id(row),
            response_a=_response_id(row, "model1"),
            response_b=_response_id(row, "model2"),
            construct_key=construct,
            scorer=rater,
            scorer_kind="human",
            value=row[f"{construct}_label"],
        )


DATASET = declared_dataset("ragchecker-meta", contents)

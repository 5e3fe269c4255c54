"""The codebook of an export: what every column means, and the scale of every construct."""

from collections.abc import Mapping
from typing import Any

from study.columns import PREFERENCE_COLUMNS, SCORE_COLUMNS
from study.csv_injection import MARK
from study.facts.response_rows import RESPONSE_COLUMNS
from study.settings.study_toml import StudyConfig

MEANING = {
    MARK: "1 in every row: the file is an export of ccrs-study. Text cells that begin with = + - "
    "@ ' or a tab or line break have an apostrophe in front, so that no spreadsheet runs them; "
    "`ccrs import` takes it away again",
    "response_id": "id of a response: one distinct content (query, text, passages); a later "
    "version of a response is ID@VERSION",
    "query_id": "id of the query that the response answers",
    "system": "system that gave the response; a response of several systems has a row for each, "
    "with the same values",
    "construct": "key of what was measured",
    "scorer": "code of a rater, name of a judge run or of a metric; CODE (adjudicated) for what a "
    "rater said as adjudicator",
    "scorer_kind": "human, adjudicated, judge or metric",
    "repeat": "0, or 1, 2, ... for a further value of the same scorer",
    "value": "points on the scale of the construct or, where it has one, of the scorer; empty "
    "when missing",
    "missing_reason": "why there is no value; empty when there is one",
    "rule": "how a judge's answer was read, bare being just the number; empty for people, "
    "metrics, missing values and where it is not known",
    "inclusion_prob": "probability with which the response was drawn for rating; 1 when all were",
    "stratum": "stratum it was drawn from; empty when there were none",
    "source": "where the value was given: own pages, another named place, or imported",
    "response_words": "number of words of the response, parted by white space",
    "position": "the rater's how-manieth value it was, counted from 1; empty where not known",
    "layout": "what its rater saw on a page: single, one response, or side_by_side, all to a "
    "query; empty for what was not rated here",
    "response_a": "id of the first response of a comparison",
    "response_b": "id of the second response of a comparison",
    "query": "text of the query",
    "references": "reference answers, the first being the one shown; a JSON array in CSV",
    "attributes": "attributes of the query, such as its domain; a JSON object",
    "response": "text of the response; may be empty",
    "passages": "what the response was given, in rank order: texts, or objects with text and "
    "document; a JSON array in CSV",
}
_PREFERENCE_VALUE = "points on the scale of preferences; positive says that response_b is better"

COLUMNS: dict[str, tuple[str, ...]] = {
    "responses": RESPONSE_COLUMNS,
    "scores": tuple(SCORE_COLUMNS),
    "preferences": tuple(PREFERENCE_COLUMNS),
}


def codebook(config: StudyConfig, rows: Mapping[str, int], form: str) -> dict[str, Any]:
    """Return the codebook as values that JSON can hold; `rows` are counts by table."""
    mark = (MARK,) if form == "csv" else ()
    return {
        "codebook_version": 1,
        "study": config.name,
        "tables": {
            name: {
                "file": f"{name}.{form}",
                "rows": count,
                "columns": {column: _meaning(name, column) for column in (*mark, *COLUMNS[name])},
            }
            for name, count in rows.items()
        },
        "constructs": [
            {
                "key": construct.key,
                "name": construct.name,
                "question": construct.question,
                "scale": construct.scale.model_dump(),
                "anchors": dict(construct.anchors),
                "sees": list(construct.sees),
                "rules": list(construct.rules),
            }
            for construct in config.constructs
        ],
        "scorer_scales": {
            name: scale.model_dump()
            for name in (*config.scorers, *config.juries)
            if (scale := config.own_scale(name)) is not None
        },
        "preference_scale": config.preferences.scale.model_dump(),
    }


def codebook_markdown(book: Mapping[str, Any]) -> str:
    """Return the codebook as a text to read."""
    lines = [f"# Codebook: {book['study']}", ""]
    for name, entry in book["tables"].items():
        lines += [f"## {entry['file']} ({entry['rows']} rows: {name})", ""]
        lines += ["| column | meaning |", "|---|---|"]
        lines += [f"| {_cell(c)} | {_cell(meaning)} |" for c, meaning in entry["columns"].items()]
        lines.append("")
    lines += ["## Constructs", "", "| key | name | scale | level | question |"]
    lines.append("|---|---|---|---|---|")
    for construct in book["constructs"]:
        cells = (
            construct["key"],
            construct["name"],
            _range(construct["scale"]),
            construct["scale"]["level"],
            construct["question"],
        )
        lines.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
    lines.append("")
    for name, scale in book["scorer_scales"].items():
        lines.append(f"{_cell(name)} scores on its own scale, {_range(scale)}.")
    lines.append(f"Preferences run from {_range(book['preference_scale'])}.")
    return "\n".join(lines) + "\n"


def _meaning(name: str, column: str) -> str:
    return _PREFERENCE_VALUE if (name, column) == ("preferences", "value") else MEANING[column]


def _range(scale: Mapping[str, Any]) -> str:
    step = f" in steps of {scale['step']:g}" if scale["step"] else ""
    return f"{scale['min']:g} to {scale['max']:g}{step}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")

"""The codebook of an export: the meaning of every column, and the constructs with their scales."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from study.columns import PREFERENCE_COLUMNS, SCORE_COLUMNS
from study.export.marks_files import LABEL_STUDIO
from study.facts.current_responses import RESPONSE_COLUMNS
from study.facts.rating_rows import RATING_COLUMNS
from study.settings.study_toml import StudyConfig
from study.text import MARK, counted

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
    "scorer": "code of a rater, name of a judge run or of a metric; CODE (adjudicated) for a "
    "rater's values as adjudicator",
    "scorer_kind": "human, adjudicated, judge or metric",
    "repeat": "0, or 1, 2, ... for a further value of the same scorer",
    "value": "points on the scale of the construct or, where it has one, of the scorer; empty "
    "when missing",
    "value_a_first": "choice where response_a was shown first, positive where response_b is "
    "better; empty where the two orders were not distinguished",
    "value_b_first": "choice where response_b was shown first, positive where response_b is "
    "better; empty where the two orders were not distinguished",
    "missing_reason": "why there is no value; empty when there is one",
    "rule": "how a judge's answer was read, bare being just the number, or the version of a "
    "metric; empty for people, missing values and where it is not known",
    "inclusion_prob": "probability with which the response was drawn for rating; 1 when all were",
    "stratum": "stratum it was drawn from; empty when there were none",
    "source": "where the value was given: own pages, another named place, or imported",
    "response_words": "number of words of the response, parted by white space",
    "position": "position of the value in the rater's sequence, from 1; empty if unknown",
    "layout": "what its rater saw on a page: single, one response, or side_by_side, all to a "
    "query; empty for what was not rated here",
    "answer": "what the rater answered to the construct's `comment_question`, in words; no value",
    "comment": "the adjudicator's words on the settled value",
    "domain": "domain of the query, from its attributes; empty where it has none",
    "passages_opened": "yes or no: whether the rater had opened a passage of the response "
    "before the value was given, on a construct that needs passages; empty if not recorded",
    "text_format": "how the rater was shown the texts: plain or monospace, as written; "
    "rendered, as Markdown; both, monospace and rendered in turn; empty if not recorded. A judge's "
    "prompt has them as written",
    "rater": "code of a person who rates",
    "purpose": "why it was assigned: main, repeat, calibration, training, check or adjudication",
    "revision": "number of the newest revision of the rating, from 1",
    "not_counted": "why the rating is in no figure: entered after the reveal, or the reason of a "
    "withdrawal; empty if it may be in one",
    "seconds": "active seconds of all revisions, no more than passed by the server's clock",
    "remarks": "remarks that the rater ticked",
    "reply": "the owner's words on the comment, or on the one in replied_to",
    "replied_to": "the earlier comment and remarks that the reply is about; empty where the rater "
    "has not changed them since",
    "first_saved_at": "when the first revision was saved, in UTC",
    "last_saved_at": "when the newest revision was saved, in UTC",
    "recruiter_id": "the id under which a recruiting service knows the person",
    "link": "enrolment link by which the person joined",
    "joined_at": "when the person joined by the link, in UTC",
    "phase": "part of the work in which the person is",
    "exit": "how the person's part ended for the recruiter: completion, screen_out or return; "
    "empty while it has not ended, and for people who were removed",
    "code": "code of that end in study.toml, which the person's last page shows",
    "hours": "active hours, no more than passed by the server's clock",
    "responses": "responses assigned to the person",
    "responses_done": "of these, those with a value of every construct",
    "responses_rejected": "responses whose ratings were rejected, in neither number before",
    "completed": "yes or no: whether all of the person's work is done",
    "signals": "flagged signals of careless responding",
    "last_active_at": "when the person was last shown or saved something, in UTC",
    "response_a": "id of the first response of a comparison",
    "response_b": "id of the second response of a comparison",
    "query": "text of the query",
    "references": "reference answers, the first being the one shown; a JSON array in CSV",
    "attributes": "attributes of the query, such as its domain; a JSON object",
    "response": "text of the response; may be empty",
    "passages": "what the response was given, in rank order: texts, or objects with text and "
    "document; a JSON array in CSV",
}
_SETTLED_VALUE = (
    "value that an adjudicator chose knowing those of the raters; it is in no table of scores"
)
_OF_TABLE = {
    ("settled", "value"): _SETTLED_VALUE,
    ("preferences", "value"): "points on the scale of preferences; positive means that response_b "
    "is better",
    ("ratings", "value"): "the value that counts, or the newest one where none does",
    ("ratings", "comment"): "the rater's words",
}
"""Meanings of columns that differ by table."""

COLUMNS: dict[str, tuple[str, ...]] = {
    "responses": RESPONSE_COLUMNS,
    "scores": tuple(SCORE_COLUMNS),
    "preferences": tuple(PREFERENCE_COLUMNS),
    "answers": ("response_id", "construct", "scorer", "answer"),
    "settled": ("response_id", "construct", "scorer", "value", "comment"),
    "ratings": RATING_COLUMNS,
}


def codebook(
    config: StudyConfig,
    rows: Mapping[str, int],
    form: str,
    columns: Mapping[str, Sequence[str]] = COLUMNS,
) -> dict[str, Any]:
    """Return the codebook as values for JSON; `rows` are counts and `columns` names by table."""
    mark = (MARK,) if form == "csv" else ()
    return {
        "codebook_version": 1,
        "study": config.name,
        "tables": {
            name: {
                "file": f"{name}.{form}",
                "rows": count,
                "columns": {column: _meaning(name, column) for column in (*mark, *columns[name])},
            }
            for name, count in rows.items()
        },
        "constructs": [
            {
                "key": construct.key,
                "name": construct.name,
                "question": construct.question,
                "scale": asdict(construct.scale),
                "anchors": dict(construct.anchors),
                "sees": list(construct.sees),
                "rules": list(construct.rules),
                "comment_question": construct.comment_question,
                "mark_question": construct.mark_question,
            }
            for construct in config.constructs
        ],
        "scorer_scales": {
            name: asdict(scale)
            for name in (*config.scorers, *config.combined)
            if (scale := config.own_scale(name)) is not None
        },
        "preference_scale": asdict(config.preferences.scale),
    }


def codebook_markdown(book: Mapping[str, Any]) -> str:
    """Return the codebook as a text to read."""
    lines = [f"# Codebook: {book['study']}", ""]
    for name, entry in book["tables"].items():
        lines += [f"## {entry['file']} ({counted(entry['rows'], 'row')}: {name})", ""]
        lines += ["| column | meaning |", "|---|---|"]
        lines += [f"| {_cell(c)} | {_cell(meaning)} |" for c, meaning in entry["columns"].items()]
        lines.append("")
    if "marks" in book:
        marks = book["marks"]
        lines += [f"## {marks['file']} ({counted(marks['lines'], 'line')} of JSON: marks)", ""]
        lines += ["| field | meaning |", "|---|---|"]
        lines += [f"| {_cell(field)} | {_cell(text)} |" for field, text in marks["fields"].items()]
        lines += ["", f"{LABEL_STUDIO} has the same as tasks that Label Studio imports.", ""]
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
    return _OF_TABLE.get((name, column), MEANING[column])


def _range(scale: Mapping[str, Any]) -> str:
    step = f" in steps of {scale['step']:g}" if scale["step"] else ""
    return f"{scale['min']:g} to {scale['max']:g}{step}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")

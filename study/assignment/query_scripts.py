"""The scripts that queries are written in, where raters state no languages."""

import unicodedata
from collections import Counter
from collections.abc import Iterable

from sqlalchemy import Connection, select

from study.assignment.assignment_rows import Row
from study.assignment.raters import RaterProfile
from study.schema.tables import queries, responses
from study.text import counted

_LISTED = 5
_READ = 500
"""Characters of a query that show its script."""
# Japanese and Chinese texts mix these.
_TOGETHER = {"HIRAGANA": "CJK", "KATAKANA": "CJK"}


def script_of(text: str) -> str | None:
    """Return the script of most letters of a text, such as `Latin`; None without letters."""
    words = (unicodedata.name(sign, "").split(" ")[0] for sign in text if sign.isalpha())
    found = Counter(_TOGETHER.get(word, word) for word in words if word)
    if not found:
        return None
    script = found.most_common(1)[0][0]
    return script if script == "CJK" else script.capitalize()


def scripts_notes(
    connection: Connection, rows: Iterable[Row], people: Iterable[RaterProfile]
) -> list[str]:
    """Return that queries in several scripts are assigned to raters who state no languages.

    Empty where there is one script, or all raters state their languages. Rows without a rater are
    open slots, which any rater without stated languages may get.
    """
    unstated = {person.id: person.code for person in people if person.languages is None}
    reached: dict[int | None, set[int]] = {}
    for row in rows:
        any_language = row["rater_id"] is None or row["rater_id"] in unstated
        if row["purpose"] == "main" and any_language:
            reached.setdefault(row["rater_id"], set()).add(row["response_id"])
    if not reached:
        return []
    query_ids = connection.execute(select(responses.c.id, responses.c.query_id))
    query_of = {row.id: row.query_id for row in query_ids}
    texts = connection.execute(select(queries.c.id, queries.c.text))
    scripts = {row.id: script_of(row.text[:_READ]) for row in texts}
    assigned = {query_of[response] for mine in reached.values() for response in mine}
    number = Counter(script for query in assigned if (script := scripts[query]) is not None)
    if len(number) < 2:
        return []
    usual = number.most_common(1)[0][0]
    codes = [
        code
        for rater, code in unstated.items()
        if any(scripts[query_of[r]] not in {usual, None} for r in reached.get(rater, ()))
    ]
    listed = ", ".join(codes[:_LISTED]) + (
        f" and {counted(len(codes) - _LISTED, 'other')}" if len(codes) > _LISTED else ""
    )
    written = ", ".join(f"{count:,} {script}" for script, count in number.most_common())
    whom = f"given to raters who state no languages ({listed})" if codes else "open to all raters"
    remedy = (
        'languages = ["en"] under [raters."CODE"] in study.toml'
        if codes
        else "`ccrs enrol --languages`"
    )
    return [
        f"Queries in several scripts ({written}) are {whom}. State who reads what: {remedy}, and "
        "the attribute `language` of the queries."
    ]

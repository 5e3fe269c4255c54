"""How people were shown the texts that judges read as they are written."""

import pandas as pd

from analysis.core.tables import PreferenceTable, ScoreTable

RENDERED = ("rendered", "both")


def rendered_note(scores: ScoreTable, preferences: PreferenceTable | None = None) -> str | None:
    """Return how many of people's values and preferences were given on rendered texts.

    None where none were. A response of several systems counts once.
    """
    given = [_given(scores.frame, "values", ["response_id", "construct", "scorer", "repeat"])]
    if preferences is not None:
        pair = ["query_id", "response_a", "response_b", "construct", "scorer", "repeat"]
        given.append(_given(preferences.frame, "preferences", pair))
    parts = [part for part in given if part is not None]
    if not parts:
        return None
    return (
        f"{' and '.join(parts)} of people were given on texts that their page had shown "
        "rendered, as Markdown; judges are given the texts as they are written"
    )


def _given(frame: pd.DataFrame, noun: str, of: list[str]) -> str | None:
    if "text_format" not in frame:
        return None
    rated = frame[frame["scorer_kind"].isin(["human", "adjudicated"]) & frame["value"].notna()]
    once = rated.drop_duplicates(of)
    count = int(once["text_format"].isin(RENDERED).sum())
    return f"{count} of {len(once)} {noun}" if count else None

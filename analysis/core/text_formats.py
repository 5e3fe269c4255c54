"""How people were shown the texts that judges read as they are written."""

from analysis.core.tables import ScoreTable

RENDERED = ("rendered", "both")


def rendered_note(scores: ScoreTable) -> str | None:
    """Return how many of people's values were given on rendered texts; None where none were.

    A response of several systems counts once.
    """
    frame = scores.frame
    if "text_format" not in frame:
        return None
    rated = frame[frame["scorer_kind"].isin(["human", "adjudicated"]) & frame["value"].notna()]
    once = rated.drop_duplicates(["response_id", "construct", "scorer", "repeat"])
    count = int(once["text_format"].isin(RENDERED).sum())
    if not count:
        return None
    return (
        f"{count} of {len(once)} values of people were given on texts that their page had shown "
        "rendered, as Markdown; judges are given the texts as they are written"
    )

"""Campaigns of other forms: responses side by side, scales of several kinds."""

from sqlalchemy import update

from study import Study
from study.schema.tables import assignments
from tests.annotate_ui.browser.marked_campaign import fill

SCALES = """
[[constructs]]
key = "use"
name = "Usefulness"
question = "How useful is the response to somebody who asked this?"
sees = ["question", "response"]
scale = { min = 1, max = 5, step = 1, level = "ordinal" }
anchors = { 1 = "useless", 2 = "hardly", 3 = "partly", 4 = "mostly", 5 = "entirely" }

[[constructs]]
key = "tone"
name = "Tone"
question = "Which sentence describes the tone of the response best?"
sees = ["question", "response"]
scale = { min = 1, max = 4, step = 1 }
anchors = { 1 = "It is rude or talks down to whoever asks", 2 = "It is cold, and correct", \
3 = "It is friendly and to the point", 4 = "It is warm, at the cost of brevity" }

[[constructs]]
key = "rank"
name = "Rank"
question = "Where does the response stand among those that you know?"
sees = ["question", "response"]
scale = { min = 0, max = 10, step = 1, level = "ordinal" }

[[constructs]]
key = "depth"
name = "Depth"
question = "How deep does the response go?"
sees = ["question", "response"]
scale = { min = 0, max = 100, step = 5 }
anchors = { 0 = "shallow", 25 = "names the subject", 60 = "explains it", 100 = "in full" }

[[constructs]]
key = "pass"
name = "Acceptable"
question = "Would you send the response to a customer?"
sees = ["question", "response"]
scale = { min = 0, max = 1, step = 1, level = "ordinal" }
anchors = { 0 = "No", 1 = "Yes" }
control = "switch"
comment_question = "What would you change?"
"""


def with_scales(study: Study) -> Study:
    """Define constructs on scales of five kinds, all rated at the first stage."""
    folder = study.folder
    with (folder / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write(SCALES)
    study.close()
    return Study.open(folder)


def side_by_side(study: Study) -> None:
    """Put all responses to a query on one page."""
    with study.write() as connection:
        connection.execute(update(assignments).values(layout="side_by_side"))


def fill_three(study: Study) -> None:
    """Store two queries with three responses each."""
    fill(study, queries=2, systems=3, passages=2)

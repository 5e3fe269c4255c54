"""A campaign in which raters mark sentences, for a construct of each of two stages."""

from typing import Any
from uuid import uuid4

from sqlalchemy import select

from annotate_ui.tasks.answers import MarksInput, StoredAnswer
from annotate_ui.tasks.marks_payload import MarksPayload
from annotate_ui.tasks.passes import Step
from annotate_ui.tasks.save import save
from study import Study
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, PassageRow, ResponseRow
from study.schema.tables import sentence_marks

SETTINGS = """
[[constructs]]
key = "QR"
name = "Question Relevance"
question = "Does it answer the question?"
sees = ["question", "response"]
mark_question = "Mark the sentences that are beside the question."

[[constructs]]
key = "CC"
name = "Contextual Coherence"
question = "Do the passages support it?"
sees = ["response", "context"]
mark_question = "Mark the sentences that the passages do not support."

[[constructs]]
key = "ID"
name = "Information Density"
question = "Is it neither too long nor too thin?"
sees = ["response", "context"]
"""
KEYS = ("QR", "CC", "ID")
TEXT = "It opens at 8. 👍🏽 It closes at 20! 三月关门。\n- Entry is free\n- Dogs stay out"
SENTENCES = (
    "It opens at 8.",
    "👍🏽 It closes at 20!",
    "三月关门。",
    "- Entry is free",
    "- Dogs stay out",
)


def with_marks(study: Study) -> Study:
    """Define constructs that ask for marks, and open the study anew."""
    with (study.folder / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write(SETTINGS)
    study.close()
    return Study.open(study.folder)


def fill(study: Study, queries: int = 1, systems: int = 1) -> None:
    """Store queries with responses of five sentences."""
    rows = [
        LocatedRow(
            q * systems + s + 1,
            ResponseRow(
                query_id=f"q{q}",
                query=f"When is pool {q} open?",
                system=f"system-{s}",
                response=f"{TEXT} at pool {q}, says source {s}." if q or s else TEXT,
                passages=(PassageRow(text=f"The pool {q} opens at 8."),),
            ),
        )
        for q in range(queries)
        for s in range(systems)
    ]
    import_rows(study, rows, source="test", sha256=uuid4().hex, importer="responses")


def ranges(*texts: str) -> list[tuple[int, int]]:
    """Return the ranges of parts of the response."""
    return [(TEXT.index(text), TEXT.index(text) + len(text)) for text in texts]


def marked(construct: str, marks: Any, base: int = 0, **other: Any) -> MarksInput:
    """Return a set of marks with a new key."""
    return MarksInput.model_validate(
        {
            "construct": construct,
            "ranges": marks,
            "input_kind": "pointer",
            "base_revision": base,
            "key": uuid4().hex,
            **other,
        }
    )


def mark(
    study: Study, rater_id: int, step: Step, construct: str, marks: Any, base: int = 0
) -> StoredAnswer:
    """Save a set of marks at a step."""
    payload = MarksPayload(step.item.public_id, step.stage.number, marked(construct, marks, base))
    return save(study, rater_id, payload)


def stored(study: Study) -> list[Any]:
    """Return every revision of marks, in the order of storing."""
    with study.read() as connection:
        rows = connection.execute(select(sentence_marks).order_by(sentence_marks.c.id))
        return list(rows)

"""A response as sentences that can be marked, and the marks that are stored."""

from dataclasses import dataclass

from sqlalchemy import Connection

from annotate_ui.tasks.assignments import AssignedItem
from study.facts.counted_marks import newest_marks_of
from study.sentences import Range, marked_sentences, sentence_ranges


@dataclass(frozen=True)
class TextPart:
    """A part of a response: a sentence that can be marked, or what is between two of them."""

    text: str
    range: Range | None
    """Of a sentence, in characters of the response; None: it is white space."""


@dataclass(frozen=True)
class MarksView:
    """The sentences that the rater has marked for a construct, as they are stored."""

    revision: int = 0
    sentences: tuple[Range, ...] | None = None
    """Those that a stored mark covers; None where the rater has not answered."""
    kept: bool = False
    """These marks were entered after more was shown, and do not count."""


def marks_of(connection: Connection, item: AssignedItem, text: str) -> dict[str, MarksView]:
    """Return the stored marks in a response by construct, as the sentences that they cover."""
    ranges = sentence_ranges(text)
    views = {}
    for key, row in newest_marks_of(connection, item.id).items():
        marked = marked_sentences(text, ranges, row.ranges or ())
        covered = tuple(one for one, is_marked in zip(ranges, marked, strict=True) if is_marked)
        given = row.ranges is not None
        views[key] = MarksView(row.revision, covered if given else None, given and row.after_reveal)
    return views


def text_parts(text: str) -> tuple[TextPart, ...]:
    """Return the sentences of a text and what is between them, which join to the text."""
    parts, end = [], 0
    for start, stop in sentence_ranges(text):
        parts += [TextPart(text[end:start], None), TextPart(text[start:stop], (start, stop))]
        end = stop
    return tuple(part for part in (*parts, TextPart(text[end:], None)) if part.text)

"""People whose columns have no word for people: by initials, or as classifiers call true values."""

import re
from collections.abc import Mapping, Sequence

from study.importing.score_columns.contents import ColumnContent, similar
from study.importing.score_columns.named_columns import ColumnEvidence
from study.importing.score_columns.names import scorer_words, words, written_words
from study.importing.score_columns.words import CONSTRUCTS, FILLERS, METRICS

Contents = Mapping[str, ColumnContent]


def initials(
    columns: Sequence[str], contents: Contents, scores: Mapping[str, Sequence[ColumnEvidence]]
) -> list[ColumnEvidence]:
    """Columns with the initials of two or more persons in the place of the model: Score (JB)."""
    if scores["human"] or len(scores["judge"]) != 1:
        return []
    judge = scores["judge"][0].column
    models = scorer_words(judge)
    found = []
    for column in columns:
        written = [word for word in written_words(column) if _INITIALS.fullmatch(word)]
        stem = [word for word in words(column) if not written or word != words(written[0])[0]]
        alike = stem and [word for word in words(judge) if word in stem] == stem
        if (
            len(written) == 1
            and alike
            and set(stem) <= FILLERS
            and models
            and written[0].casefold() not in {*METRICS, *CONSTRUCTS}
            and similar(contents[column], contents[judge])
            and not contents[column].numbers_rows
        ):
            found.append(ColumnEvidence(column, "human", f"initials in the place of {judge}"))
    return found if len(found) > 1 else []


# As persons sign: JB, or KML.
_INITIALS = re.compile(r"[A-Z]{2,3}")


def true_values(
    columns: Sequence[str], contents: Contents, scores: Mapping[str, Sequence[ColumnEvidence]]
) -> dict[str, list[ColumnEvidence]]:
    """People's values as classifiers call them, y_true or gt, beside the judge's or y_pred."""
    if scores["human"]:
        return {}
    true = [c for c in columns if {*words(c)} - FILLERS in ({"y", "true"}, {"gt"})]
    true = [c for c in true if _graded(contents[c])]
    judges = [item.column for item in scores["judge"]]
    predicted = [] if judges else [c for c in columns if {*words(c)} == {"y", "pred"}]
    beside = [c for c in (*judges, *predicted) if _graded(contents[c])]
    if len(true) != 1 or not beside:
        return {}
    if not all(similar(contents[true[0]], contents[column]) for column in beside):
        return {}
    return {
        "human": [ColumnEvidence(true[0], "human", "its name, as of true values")],
        "judge": [ColumnEvidence(c, "judge", "its name, as of predictions") for c in predicted],
    }


def _graded(content: ColumnContent) -> bool:
    """Whether cells are grades or known words, unlike answers that are numbers or letters."""
    known = content.mostly_numbers or content.vocabulary is not None
    return content.may_be_scores and known and content.different <= _MOST_GRADES


# Answers to questions differ more than grades.
_MOST_GRADES = 11

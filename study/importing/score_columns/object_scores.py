"""Columns with objects or lists of several scores, each of which has to be in a separate column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from study.importing.readers.judgment_cells import score_fields
from study.importing.score_columns.contents import ColumnContent
from study.text import quoted_names, shorten


def several_in_objects(
    columns: Sequence[str], contents: Mapping[str, ColumnContent]
) -> tuple[str, str] | None:
    """Return the problem and the remedy of columns whose objects have several scores."""
    found: dict[str, list[str]] = {}
    for column in columns:
        cells = contents[column].cells
        fields = score_fields(cells[0][1]) if cells and not contents[column].in_objects else []
        if len(fields) > 1:
            found[column] = fields
    if not found:
        return None
    fields = list(dict.fromkeys(field for of in found.values() for field in of))
    which = "columns {} have" if len(found) > 1 else "column {} has"
    return (
        f"the {which.format(quoted_names(map(repr, found)))} JSON objects with several scores "
        f"({quoted_names(fields)}).",
        f"Write each into a separate column, such as {next(iter(found))}_{fields[0]}; in pandas: "
        f"for column in {list(found)}: frame = frame.join(frame[column].map(json.loads)"
        ".apply(pd.Series).add_prefix(f'{column}_')).drop(columns=column)",
    )


def lists_of_scores(column: str, content: ColumnContent) -> str | None:
    """Return the problem of a column whose cells are lists of scores, with the remedy."""
    if not content.in_lists:
        return None
    row, cell = content.cells[0]
    as_text = isinstance(cell, str)
    items = f"frame[{column!r}]{'.map(json.loads)' if as_text else ''}"
    modules = "json, pandas" if as_text else "pandas"
    return (
        f"has lists, such as {shorten(str(cell))} in row {row}; write the score of each rater into "
        f"a separate column, in pandas: import {modules}; frame = frame.drop(columns={column!r})"
        f".join(pandas.DataFrame({items}.tolist()).add_prefix({column + '_'!r}))"
    )


def reading_of_answers(column: str) -> str:
    """Return the line of Python that reads the scores of a judge's answers into a new column."""
    return (
        f"in Python: import judge, study; frame[{column + '_score'!r}] = "
        "[judge.parse_answer(text, study.Scale(min=MIN, max=MAX)).value "
        f"for text in frame[{column!r}]], with the ends of the scale in place of MIN and MAX"
    )

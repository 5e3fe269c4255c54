"""A table of which the user names the columns of judges, or of raters, alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from study.errors import nearest
from study.importing.score_columns.contents import contents_of
from study.importing.score_columns.flat_source import table_source
from study.importing.score_columns.identifying import identifying_columns
from study.importing.score_columns.named_columns import NamedColumns, parts
from study.importing.score_columns.names import by_construct, summaries
from study.importing.score_columns.recognized import PLACEHOLDER, ColumnEvidence, Recognized
from study.importing.score_columns.scorer_evidence import evident_scorers
from study.importing.score_columns.side_by_side import may_be_scores, named_without_scores
from study.text import quoted_names


@dataclass(frozen=True)
class OtherSide:
    """What a table tells of the side that is not named."""

    recognized: Recognized
    columns: NamedColumns | None = None
    """All columns; None where it is not evident which those of the other side are."""
    missing: tuple[str, ...] = ()
    """Sentences on named columns that the table lacks."""


def columns_of_other_side(path: Path, named: NamedColumns) -> OtherSide:
    """Return the columns of raters beside those of judges that the user names, or the reverse."""
    source = table_source(path)
    present = source.head.columns
    side, other = ("judge", "human") if named.judge else ("human", "judge")
    texts = getattr(named, side)
    taken = [parts(text, present)[1] for text in texts]
    absent = tuple(
        f"the column {column!r} is missing; there are {quoted_names(map(repr, present))}. "
        f"{_nearest(column, present)}".strip()
        for column in taken
        if column not in present
    )
    if absent:
        return OtherSide(Recognized("unclear"), missing=absent)
    contents = contents_of(source.peeked(), present)
    # What a column is called does not count where the user says whose it is.
    scores = evident_scorers([name for name in present if name not in taken], contents)
    found = [item.column for item in scores[other]]
    found = [column for column in found if column not in summaries(found)]
    beside = [name for name in present if name not in (*taken, *found)]
    identifying, _ = identifying_columns(beside, contents, [*taken, *found], source.peeked)
    chosen = {key: value for key, value in vars(named).items() if value}
    rest = [name for name in beside if name not in {*identifying.values(), *map(str, chosen)}]
    candidates = tuple(
        name
        for name in rest
        if name not in chosen.values() and may_be_scores(name, contents, taken)
    )
    evidence = tuple(item for item in scores[other] if item.column in found)
    evidence += tuple(ColumnEvidence(column, side, f"named by --{side}") for column in taken)
    base = Recognized("named columns", evidence=evidence, candidates=candidates)
    by_names = replace(NamedColumns(), **dict[str, Any](identifying))
    example = replace(by_names, **{**chosen, other: (PLACEHOLDER,)})
    pairs = None
    if found:
        judges, people = (texts, found) if side == "judge" else (found, texts)
        given = any(parts(text, present)[0] for text in texts)
        pairs = None if given else by_construct(judges, people)
    if pairs is None:
        problem = "no column is clearly that of " + (
            "people's scores" if other == "human" else "the judge's scores"
        )
        if found:
            problem = "it is not clear which columns of judges and raters belong together"
        problem += named_without_scores((other,), beside, contents)
        enough = bool(candidates)
        unclear = replace(
            base, form="unclear", example=example, unclear=problem, can_be_completed=enough
        )
        return OtherSide(unclear)
    columns = replace(by_names, **{**chosen, "judge": pairs[0], "human": pairs[1]})
    return OtherSide(base, columns)


def _nearest(column: str, present: tuple[str, ...]) -> str:
    """The column that is meant: the most similar one, or the only one that begins so."""
    names = [name.strip() for name in column.split(",")]
    if len(names) > 1 and set(names) <= set(present):
        return "Of several columns each has an option of its own."
    alike = [name for name in present if name.casefold().startswith(column.casefold())]
    if len(alike) == 1:
        return f"Did you mean {alike[0]!r}?"
    return nearest(column, present)

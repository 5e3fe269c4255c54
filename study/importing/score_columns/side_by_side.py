"""A table with a column for each judge and each rater: which columns those are, and which identify
a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from study.importing.readers.cells import looks_like_number
from study.importing.readers.judgment_cells import begins_with_score
from study.importing.score_columns.contents import (
    ColumnContent,
    lists_of_scores,
    reading_of_answers,
    several_in_objects,
    similar,
)
from study.importing.score_columns.identifying import (
    Rows,
    identifying_columns,
    perhaps_constructs,
    perhaps_identifying,
    repeated,
)
from study.importing.score_columns.judgment_table import (
    RaterRows,
    numbers_raters,
    rater_column,
    rater_rows,
)
from study.importing.score_columns.named_columns import (
    PLACEHOLDER,
    ColumnEvidence,
    NamedColumns,
    Recognized,
)
from study.importing.score_columns.names import (
    construct_in_name,
    kind_of,
    named_for,
    names_no_score,
    names_reason,
    scorer_words,
    summaries,
    whole_role,
)
from study.importing.score_columns.scored_again import scored_again
from study.importing.score_columns.scorer_evidence import NO_SCORES, Contents, evident_scorers
from study.importing.score_columns.shared_parts import (
    Pair,
    by_construct,
    responses_in_a_row,
    shared_construct_pairs,
    shared_parts,
)
from study.importing.score_columns.words import OF_JUDGES
from study.text import shorten

# So many times the range of the scores is far outside of it.
_FAR = 20
# So many columns of scores beside one with names of raters may be responses.
_FEWEST_RESPONSES = 5
# Nobody scores to more than this, where nothing else tells the range.
_LARGEST = 1000


def side_by_side(columns: Sequence[str], contents: Contents, rows: Rows) -> Recognized:
    """Return the columns of judges and raters, or what is missing."""
    scores = evident_scorers(columns, contents)
    judges, raters = ([item.column for item in scores[kind]] for kind in ("judge", "human"))
    together = [*summaries(judges), *summaries(raters)]
    judges, raters = ([n for n in names if n not in together] for names in (judges, raters))
    taken = [*judges, *raters]
    identifying, unsure, known, by_rater = _identifying(columns, contents, judges, raters, rows)
    evidence = [item for items in scores.values() for item in items if item.column in taken]
    evidence += [ColumnEvidence(column, role, "its name") for role, column in identifying.items()]
    evidence += [
        ColumnEvidence(column, "no score", f"{word!r} in its name")
        for column in columns
        if column not in taken and (word := names_no_score(column)) is not None
    ]
    known_as = [*taken, *together, *([] if by_rater is None else [by_rater.rater])]
    evidence += [
        ColumnEvidence(column, "texts", f"{kind[1]!r} in its name")
        for column in columns
        if column not in taken
        and (kind := kind_of(column)) is not None
        and (contents[column].in_lists or contents[column].is_prose)
        and (contents[column].in_lists or begins_with_score(contents[column].words[0][1]))
        and names_no_score(column) is None
    ]
    if by_rater is not None:
        evidence.append(ColumnEvidence(by_rater.rater, "rater", "its name"))
    evidence += [ColumnEvidence(c, "no score", "it sums up other columns") for c in together]
    further = [c for c in columns if c not in known_as and may_be_scores(c, contents, taken)]
    if not raters and (by_candidates := _rows_of_raters(columns, rows, judges, further, known)):
        identifying = by_candidates.identifying(known)
        further = [column for column in further if column != by_candidates.rater]
    base = Recognized(
        "unclear",
        evidence=tuple(evidence),
        candidates=tuple(further),
        example=_with(_to_complete(judges, raters), identifying),
    )
    evident = bool(judges or raters)
    if not (judges and raters):
        called_so = [column for column in columns if kind_of(column) is not None]
        if (several := several_in_objects(called_so, contents)) is not None:
            told = " ".join(several)
            return replace(base, unclear=told, can_be_completed=False, candidates=())
        if called := _called_judges(judges, raters):
            machines = [name for name in judges if name not in called]
            problem = (
                f"no column of scores is clearly that of a rater. {_quoted(called)} may be of "
                "people who are called judges"
            )
            pairs = by_construct(machines, called) or (tuple(machines), tuple(called))
            example = _with(pairs, identifying)
            return replace(base, unclear=problem, candidates=tuple(called), example=example)
        turned = _row_for_each_rater(columns, further, identifying, contents)
        if turned is not None:
            base = replace(base, candidates=())
        problem = turned or _missing(judges, raters, further, columns, contents)
        lacking = 2 - bool(judges) - bool(raters)
        # Where nothing looks like scores, the table is of another kind.
        return replace(
            base,
            form=base.form if evident or further else "none",
            unclear=problem,
            can_be_completed=turned is None and len(further) >= lacking,
            evident=evident or turned is not None,
        )
    named_by = rater_column(columns, taken)
    if by_rater is None and named_by is not None and "id" not in identifying:
        told = _rows_without_response(named_by, judges[0], identifying, rows)
        if unsure:
            told = f"{unsure}, and the rater in {named_by!r} is the same; keep one of these rows"
        others = [c for c in columns if c not in (*taken, named_by, *identifying.values())]
        if told:
            example = replace(_with((tuple(judges), tuple(raters)), identifying), id=PLACEHOLDER)
            may_be = bool(others) and not unsure
            return replace(base, unclear=told, can_be_completed=may_be, example=example)
    return _paired_up(base, columns, judges, raters, identifying, unsure, rows)


def _identifying(
    columns: Sequence[str],
    contents: Contents,
    judges: Sequence[str],
    raters: Sequence[str],
    rows: Rows,
) -> tuple[dict[str, str], str, dict[str, str], RaterRows | None]:
    """What identifies a row, by role, why an id does not, the same by name, and rows of raters."""
    taken = [*judges, *raters]
    identifying, unsure = identifying_columns(columns, contents, taken, rows)
    constructs = (*named_for("construct", columns), *perhaps_constructs(columns, contents))
    construct_column = [c for c in constructs if c not in taken][:1]
    known = identifying | dict(zip(["construct"], construct_column, strict=False))
    cells = (record.cells for record in rows())
    by_rater = rater_rows(columns, cells, judges, raters, known)
    if by_rater is not None:
        identifying, unsure = by_rater.identifying(known), ""
    elif rater_column(columns, taken) is None:
        identifying |= perhaps_identifying(columns, contents, taken, identifying, rows)
        if "id" in identifying and identifying["id"] == identifying.get("query"):
            identifying.pop("query")
            unsure = ""
    return identifying, unsure, known, by_rater


def _rows_without_response(
    rater: str,
    judge: str,
    identifying: Mapping[str, str],
    rows: Rows,
) -> str:
    """Why rows of several raters cannot be read, where nothing tells which are of one response."""
    cells = (record.cells for record in rows())
    if not numbers_raters(rater, judge, cells):
        return ""
    beside = f", and {identifying['query']!r} has several of them" if "query" in identifying else ""
    return (
        f"each row has the value of a rater, whom {rater!r} names, and {judge!r} has the same "
        f"scores for each rater, so that a response has a row for each; no column identifies the "
        f"response{beside}. Add its id to each row, in a column response_id, or name the column "
        "that has it"
    )


def _rows_of_raters(
    columns: Sequence[str],
    rows: Rows,
    judges: Sequence[str],
    further: Sequence[str],
    known: Mapping[str, str],
) -> RaterRows | None:
    """How rows of the raters in a column are read, if a candidate has their values."""
    named_by = rater_column(columns, judges)
    perhaps = [column for column in further if column != named_by]
    return rater_rows(columns, (record.cells for record in rows()), judges, perhaps, known)


def _to_complete(judges: Sequence[str], raters: Sequence[str]) -> Pair:
    """Options with COLUMN for the side that is not evident, for each construct of the other."""
    if judges and raters:
        return tuple(judges), tuple(raters)
    known = judges or raters
    named: tuple[str, ...] = tuple(known) or (PLACEHOLDER,)
    missing: tuple[str, ...] = (PLACEHOLDER,)
    constructs = dict.fromkeys(map(construct_in_name, known))
    if len(constructs) > 1 and all(len(construct) > 1 for construct in constructs):
        named = tuple(f"{construct_in_name(column)}={column}" for column in known)
        missing = tuple(f"{construct}={PLACEHOLDER}" for construct in constructs)
    return (missing, named) if raters else (named, missing)


def _paired_up(
    base: Recognized,
    columns: Sequence[str],
    judges: Sequence[str],
    raters: Sequence[str],
    identifying: dict[str, str],
    unsure: str,
    rows: Rows,
) -> Recognized:
    """The table with its constructs, or why it is not clear how its rows are to be read."""
    if "construct" not in identifying:
        cells = (record.cells for record in rows())
        again = scored_again(columns, cells, judges, raters, identifying)
        if again is not None:
            return replace(base, unclear=again, can_be_completed=False, candidates=())
    pairs = by_construct(judges, raters)
    if pairs is None and (pairs := shared_construct_pairs(judges, raters)) is not None:
        kept = {text.partition("=")[2] or text for names in pairs for text in names}
        left = tuple(name for name in (*judges, *raters) if name not in kept)
        base = replace(base, candidates=(*base.candidates, *left))
    if pairs is None:
        if (turned := responses_in_a_row(judges, raters)) is not None:
            base = replace(base, can_be_completed=False, candidates=())
        problem = turned or "it is not clear which columns of judges and raters belong together"
        parted = shared_parts(judges, raters)
        if parted is not None:
            base = replace(base, example=_with((parted.judges, parted.raters), identifying))
        return replace(base, unclear=problem)
    example = _with(pairs, identifying)
    if "construct" in identifying and "id" not in identifying:
        problem = (
            "a response may have several rows, one for each construct, and no column is its id"
        )
        key = [identifying[role] for role in ("query", "system") if role in identifying]
        if len(key) > 1 and not repeated(rows(), [*key, identifying["construct"]]):
            joined = " + ' ' + ".join(f"frame[{column!r}].astype(str)" for column in key)
            problem += f". Add one, in pandas: frame.assign(response_id={joined})"
            base = replace(base, can_be_completed=False, candidates=())
        return replace(base, unclear=problem, example=replace(example, id=PLACEHOLDER))
    if unsure:
        others = [c for c in columns if c not in (*judges, *raters, *identifying.values())]
        return _without_id(base, example, unsure, others)
    return replace(base, form="named columns", columns=example, example=example)


def _without_id(
    base: Recognized, example: NamedColumns, unsure: str, others: Sequence[str]
) -> Recognized:
    """Why a column with an id is not read; `others` are columns without a role, itself included."""
    if example.query in named_for("id", [example.query or ""]):
        return replace(base, unclear=unsure, example=example)
    # Without an id the rows of one response would count as several.
    if len(others) > 1:
        return replace(base, unclear=unsure, example=replace(example, id=PLACEHOLDER))
    told = f"{unsure}; remove one of these rows, or give each response a separate id"
    return replace(base, unclear=told, can_be_completed=False)


def may_be_scores(column: str, contents: Contents, taken: Sequence[str]) -> bool:
    """Whether nothing speaks against a column of scores, and nothing says whose it is."""
    content, role = contents[column], whole_role(column)
    told = role in NO_SCORES or names_reason(column) or names_no_score(column) is not None
    if told or not content.may_be_scores or content.numbers_rows:
        return False
    if content.mostly_numbers:
        known = [abs(n) for name in taken for n in contents[name].numbers]
        reach = _FAR * max(1.0, *known) if known else _LARGEST
        return all(abs(value) <= reach for value in content.numbers)
    if content.vocabulary is None:
        return role != "scorer" and any(similar(content, contents[name]) for name in taken)
    return True


def _missing(
    judges: Sequence[str],
    raters: Sequence[str],
    further: Sequence[str],
    columns: Sequence[str],
    contents: Contents,
) -> str:
    """What is not evident, with the columns that it may be."""
    whose = (
        "a rater" if judges and not raters else "a judge" if raters and not judges
        else "a judge or a rater"
    )  # fmt: skip
    problem = f"no column of scores is clearly that of {whose}"
    wanted = ("human",) if judges else ("judge",) if raters else ("judge", "human")
    problem += named_without_scores(wanted, columns, contents)
    if not (judges or raters) and len(further) == 1:
        return (
            f"{problem}; {further[0]!r} alone may have scores. A table with a row for each score "
            "has the columns response_id, scorer, scorer_kind (human or judge) and score; one with "
            "a row for each response has a column for the judge and one for each rater"
        )
    if described := [c for c in summaries([*columns]) if contents[c].may_be_scores]:
        are = "describes" if len(described) == 1 else "describe"
        problem += f" ({_quoted(described)} {are} other values: an n, a mean, an end of a range)"
    if further:
        problem += f". Columns that may be: {_quoted(further)}"
        if all(looks_like_number(name) for name in further):
            problem += ". If the first line has values in place of names, add a line with names"
    return problem


def _row_for_each_rater(
    columns: Sequence[str],
    scores: Sequence[str],
    identifying: Mapping[str, str],
    contents: Contents,
) -> str | None:
    """What to do with a row for each rater and a column for each response; None for others."""
    rater = rater_column(columns, scores)
    if rater is None or identifying or len(scores) < _FEWEST_RESPONSES:
        return None
    names = contents[rater].words
    alone = len({name for _, name in names}) == len(names) == len(contents[rater].cells) > 1
    if not alone or contents[rater].blank:
        return None
    return (
        f"each row has the scores of one rater, whom {rater!r} names, and each of {len(scores)} "
        "columns those of one response. Turn the table, in pandas: "
        f"frame.set_index({rater!r}).T.rename_axis('response_id').reset_index()"
    )


def _called_judges(judges: Sequence[str], raters: Sequence[str]) -> list[str]:
    """Columns that may be of people, since others beside them are of machines: judge_anna, gpt4."""
    sure = [name for name in judges if set(scorer_words(name).values()) & OF_JUDGES]
    perhaps = [name for name in judges if name not in sure]
    return perhaps if sure and not raters else []


def named_without_scores(wanted: Sequence[str], columns: Sequence[str], contents: Contents) -> str:
    """What columns have in place of scores that are named after a judge or people."""
    told = ""
    for column in columns:
        found = kind_of(column)
        if found is None or found[0] not in wanted or whole_role(column) in NO_SCORES:
            continue
        if contents[column].is_empty:
            told += f"; the column {column!r} is blank"
        elif (lists := lists_of_scores(column, contents[column])) is not None:
            told += f"; the column {column!r} {lists}"
        elif contents[column].words and not contents[column].may_be_scores:
            told += f"; the column {column!r} contains texts{_extraction(column, contents[column])}"
    return told


def _extraction(column: str, content: ColumnContent) -> str:
    """What to do with texts, such as "Score: 3/5 because ...", in place of scores."""
    row, text = content.words[0]
    if not any(character.isdigit() for character in text):
        return ""
    return (
        f", such as {shorten(text)!r} in row {row}, and no scores alone; if they are a judge's "
        f"answers, read their scores into a column of their own, {reading_of_answers(column)}"
    )


def _with(columns: Pair, identifying: Mapping[str, str]) -> NamedColumns:
    return replace(NamedColumns(*columns), **dict[str, Any](identifying))


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))

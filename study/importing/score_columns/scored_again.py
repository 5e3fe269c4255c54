"""Rows in which a response comes again: one for each judge, run or prompt that scored it, which
would count as separate responses of one judge.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from study.importing.score_columns.names import kind_of, names_people, names_scorer, whole_role
from study.importing.score_columns.scorer_rows import kind_of_scorer
from study.text import counted, quoted_names

# So many responses do not have equal values of people in all of their rows by chance.
_FEWEST = 10
# A column with more values than this does not name judges, runs or prompts.
_MOST_NAMES = 20
_MOST_LISTED = 3
# Share of the responses that have several rows.
_MOST = 0.9

Group = Sequence[Mapping[str, Any]]


def scored_again(
    columns: Sequence[str],
    rows: Iterable[Mapping[str, Any]],
    judges: Sequence[str],
    people: Sequence[str],
    identifying: Mapping[str, str],
) -> str | None:
    """Return why rows are not responses, with the remedy; None where nothing says so.

    Nearly all responses have several rows, all of which have the same values of people, and which
    differ in a column with a few names or numbers, as of judges or runs. A response is told by its
    id, by its text beside the query, or by the query (and system) alone. `people` may be empty, as
    in a file of a judge's scores.
    """
    rows = list(rows)
    taken = {*judges, *people}
    keys = list(_keys(columns, taken, identifying))
    texts = {c: [_text(cells, c) for cells in rows] for c in {*chain.from_iterable(keys)}}
    for key in keys:
        found = [*zip(*(texts[column] for column in key), strict=True)]
        counts = Counter(found)
        if sum(n > 1 for n in counts.values()) < max(_FEWEST, _MOST * len(counts)):
            continue
        by_key: defaultdict[tuple[str, ...], list[Mapping[str, Any]]] = defaultdict(list)
        for of, cells in zip(found, rows, strict=True):
            by_key[of].append(cells)
        several = [group for group in by_key.values() if len(group) > 1]
        # A value in one row alone is of that row: raters may see one system's response to a query.
        if not all(_repeated(group, column) for group in several for column in people):
            continue
        if people and all(_alike([of[0] for of in several], column) for column in people):
            continue
        system = identifying.get("system") if key == (identifying.get("query"),) else None
        free = [column for column in columns if column not in taken and column not in key]
        others = [column for column in free if _tells(column, several, system)]
        if others:
            named = sorted(others, key=lambda column: not _may_name_judges(column))[0]
            kept = [*key, *(c for c in identifying.values() if c != named), *people]
            return _sentence(named, [*dict.fromkeys(kept)], several, judges, people)
    return None


def repeated_responses(
    columns: Sequence[str],
    rows: Sequence[tuple[int, Mapping[str, Any]]],
    judges: Sequence[str],
    people: Sequence[str],
    identifying: Mapping[str, str],
) -> list[str]:
    """Sentences on rows, by number, that may be of one response.

    Where a column has ids, rows that are the same count once.
    """
    if "id" in identifying:
        distinct = {repr([*cells.items()]): cells for _, cells in rows}
        again = scored_again(columns, distinct.values(), judges, people, identifying)
        same = None
    else:
        again = scored_again(columns, (cells for _, cells in rows), judges, people, identifying)
        same = same_rows(columns, rows, [*judges, *people])
    return [told for told in (again, same) if told is not None]


def same_rows(
    columns: Sequence[str], rows: Iterable[tuple[int, Mapping[str, Any]]], scorers: Sequence[str]
) -> str | None:
    """Return which rows may be copies of others; None where equal ones are no surprise.

    `rows` are by number. Rows with the same query, system, texts and whatever else they have all
    have the same scores too, which is by chance where these do not tell responses apart.
    """
    others = [c for c in columns if c not in scorers and whole_role(c) != "index"]
    first: dict[tuple[str, ...], tuple[int, tuple[str, ...]]] = {}
    again = []
    for number, cells in rows:
        scores = tuple(_text(cells, column) for column in scorers)
        key = tuple(_text(cells, column) for column in others)
        before, known = first.setdefault(key, (number, scores))
        if scores != known:
            return None
        if before != number:
            again.append((number, before))
    if not again or not others:
        return None
    number, before = again[0]
    further = f", and {counted(len(again) - 1, 'further row')} another" if len(again) > 1 else ""
    return (
        f"row {number} has the same cells as row {before}{further}; each counts as a separate "
        "response. If they are copies, remove them, in pandas: frame.drop_duplicates()"
    )


def _keys(
    columns: Sequence[str], taken: set[str], identifying: Mapping[str, str]
) -> Iterator[tuple[str, ...]]:
    """What may identify a response, the surest first."""
    named = [identifying[role] for role in ("id", "query") if role in identifying]
    ids = [c for c in columns if whole_role(c) == "id" and c not in taken]
    yield from ((column,) for column in ids)
    if not named:
        return
    system = [c for c in columns if c == identifying.get("system") or whole_role(c) == "system"]
    system = [c for c in system if c not in taken][:1]
    texts = [c for c in columns if whole_role(c) == "response" and c not in taken][:1]
    if system:
        yield (named[-1], *system, *texts)
    yield (named[-1], *texts)


def _tells(column: str, groups: Sequence[Group], system: str | None) -> bool:
    """Whether a column differs in the rows of a response, and has a few values in all.

    `system` is the column of systems where the rows are told by their query alone.
    """
    values = {_text(cells, column) for group in groups for cells in group}
    judges = [name for name in values if kind_of_scorer(name) == "judge"]
    by_people = names_people(column) or names_scorer(column)
    # To a query alone, systems may have equal values of people by chance, as pass or fail.
    by_systems = column == system and len(judges) < len(values)
    if (by_people and not judges) or by_systems:
        return False
    return (
        "" not in values
        and len(values) <= min(_MOST_NAMES, len(groups))
        and all(len({_text(cells, column) for cells in group}) == len(group) for group in groups)
    )


def _may_name_judges(column: str) -> bool:
    kind = kind_of(column)
    return names_scorer(column) or (kind is not None and kind[0] == "judge")


def _sentence(
    named: str,
    kept: Sequence[str],
    groups: Sequence[Group],
    judges: Sequence[str],
    people: Sequence[str],
) -> str:
    """Why the rows are not responses; `kept` are the columns that say which response it is."""
    values = [*dict.fromkeys(_text(cells, named) for group in groups for cells in group)]
    listed = quoted_names(values) if len(values) <= _MOST_LISTED else f"{values[0]} and others"
    again = f", with the same values of {quoted_names(map(repr, people))} again" if people else ""
    told = (
        f"a response has a row for each value of {named!r} ({listed}){again}; as rows they would "
        "count as separate responses. "
    )
    if all(_alike(group, column) for group in groups for column in judges):
        return f"{told}Keep one of them, in pandas: frame.drop_duplicates({[*kept]!r})"
    if len(judges) > 1:
        return f"{told}Keep those of one, or write the scores of each into columns of their own"
    judge = judges[0]
    return (
        f"{told}Write a column of scores for each, in pandas: "
        f"frame.pivot(index={[*kept]!r}, columns={named!r}, "
        f"values={judge!r}).add_prefix({f'{judge} '!r}).reset_index()"
    )


def _alike(group: Group, column: str) -> bool:
    return len({text for cells in group if (text := _text(cells, column))}) <= 1


def _repeated(group: Group, column: str) -> bool:
    return len({_text(cells, column) for cells in group}) == 1


def _text(cells: Mapping[str, Any], column: str) -> str:
    cell = cells.get(column)
    return "" if cell is None or cell != cell else str(cell).strip()  # noqa: PLR0124  (NaN)

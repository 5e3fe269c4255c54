"""Which columns have the scores of judges and of people, each with the evidence for it."""

import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from study.importing.readers.column_words import number_in
from study.importing.score_columns.contents import ColumnContent, similar
from study.importing.score_columns.judgment_table import numbers_raters, rater_rows
from study.importing.score_columns.named_columns import ColumnEvidence
from study.importing.score_columns.names import (
    construct_in_name,
    folded,
    kind_of,
    named_for,
    names_evaluation,
    names_model,
    names_no_score,
    names_people,
    names_person,
    names_scorer,
    scorer_words,
    whole_role,
    without_people,
    words,
)
from study.importing.score_columns.people_by_their_place import initials, true_values
from study.importing.score_columns.row_checks import decimals
from study.importing.score_columns.scorer_rows import names_judges
from study.importing.score_columns.words import (
    FILLERS,
    GROUPS_OF_SCORES,
    MEANS,
    NUMBERED_PEOPLE,
    OF_PEOPLE,
    VALUES,
)

Contents = Mapping[str, ColumnContent]

#: Roles of columns that are not scores, whatever they contain.
NO_SCORES = ("id", "query", "system", "construct", "response", "passages", "index", "scorer_kind",
             "metadata")  # fmt: skip
# Beside people's columns a single one of these with the same values is that of the judge.
_OF_MACHINES = {"model", "evaluator", "predicted", "prediction", "pred", "bot"}
# Mechanical Turk writes what a task shows and what a worker enters under names with these.
_SHOWN_BY_TURK, _ANSWERED_ON_TURK = "input.", "answer."
# More columns are not searched for those whose mean another one has.
_MOST_AVERAGED = 10


def evident_scorers(columns: Sequence[str], contents: Contents) -> dict[str, list[ColumnEvidence]]:
    """Return the columns of "judge" and of "human", in the order of the table."""
    scores: dict[str, list[ColumnEvidence]] = {"judge": [], "human": []}
    for column in columns:
        found = _by_name(column, contents[column])
        if found is not None:
            scores[found.role].append(found)
    _drop_scorer_names(scores, contents)
    _drop_numbered_raters(columns, scores, contents)
    _drop_other_words(scores, contents)
    _to_the_judge(scores, contents)
    scores["judge"] += _answers_as_json(columns, contents, scores)
    scores["human"] += _numbered(columns, contents, scores)
    scores["human"] += _scorer_column_evidence(columns, contents, scores)
    scores["human"] += _averaged(columns, contents, scores)
    scores["judge"] += _paired(columns, contents, scores)
    scores["human"] += initials(columns, contents, scores)
    for kind, items in true_values(columns, contents, scores).items():
        scores[kind] += items
    return scores


def _by_name(column: str, content: ColumnContent) -> ColumnEvidence | None:
    """Whose scores a column has by its name, where its cells may be scores."""
    role, found = whole_role(column), kind_of(column)
    if found is None or role in NO_SCORES or names_no_score(column):
        return None
    if not content.may_be_scores:
        return None
    kind, word = found
    return ColumnEvidence(column, kind, f"{word!r} in its name")


def _drop_scorer_names(scores: dict[str, list[ColumnEvidence]], contents: Contents) -> None:
    """Leave out columns that say who scored: names of models or people, or their numbers."""
    for kind, items in scores.items():
        others = [i.column for pair in scores.values() for i in pair]
        kept = []
        for item in items:
            content = contents[item.column]
            beside = [contents[name] for name in others if name != item.column]
            in_words = content.labels and not content.mostly_numbers
            shared = content.vocabulary is not None or any(similar(content, o) for o in beside)
            if in_words and not shared and any(map(names_model, content.distinct)):
                continue
            if in_words and not shared and names_scorer(item.column) and any(
                name != item.column and may_be_values(name, contents[name]) for name in contents
            ):  # fmt: skip
                continue
            if whole_role(item.column) == "scorer":
                scored = [
                    other for other in items
                    if other is not item and set(words(other.column)) & FILLERS
                ]  # fmt: skip
                named = in_words and not shared and bool(beside)
                numbered = not in_words and scored and not any(similar(content, o) for o in beside)
                if named or numbered:
                    continue
            kept.append(item)
        scores[kind] = kept


def _drop_numbered_raters(
    columns: Sequence[str], scores: dict[str, list[ColumnEvidence]], contents: Contents
) -> None:
    """Leave out numbers of raters, such as annotator 1, 2, 3, beside a column with their scores."""
    for item in list(scores["human"]):
        if whole_role(item.column) != "scorer" or contents[item.column].words:
            continue
        beside = [other.column for other in scores["human"] if other is not item]
        beside += [c for c in columns if folded(c) in VALUES and contents[c].may_be_scores]
        judges = [other.column for other in scores["judge"]]
        beside = beside or [
            c for c in columns
            if c not in (item.column, *judges) and may_be_values(c, contents[c])
        ]  # fmt: skip
        if not beside or not judges:
            continue
        rows: dict[int, dict[str, Any]] = {}
        for column in columns:
            for row, cell in contents[column].cells:
                rows.setdefault(row, {})[column] = cell
        queries = dict(zip(["query"], named_for("query", columns), strict=False))
        cells = list(rows.values())
        found = rater_rows([*columns], cells, judges, beside, queries)
        if found is not None or numbers_raters(item.column, judges[0], cells):
            scores["human"].remove(item)


def may_be_values(column: str, content: ColumnContent) -> bool:
    """Whether a column of a table that names its scorers may be the one with their scores."""
    if not content.may_be_scores or whole_role(column) in NO_SCORES or names_no_score(column):
        return False
    return not content.numbers_rows and (
        content.mostly_numbers or folded(column) in VALUES or content.vocabulary is not None
    )


def _to_the_judge(scores: dict[str, list[ColumnEvidence]], contents: Contents) -> None:
    """Give the judge `grader` beside `human_grader`, where no other column is the judge's."""
    if scores["judge"]:
        return
    names = {item.column: "_".join(words(item.column)) for item in scores["human"]}
    for item in list(scores["human"]):
        known = scorer_words(item.column).values()
        if any(word in OF_PEOPLE for word in known):
            continue
        human = next(
            (
                other for other in names
                if other != item.column and without_people(other) == names[item.column]
                and similar(contents[other], contents[item.column])
            ),
            None,
        )  # fmt: skip
        if human is not None:
            reason = f"the same name as the rater's column {human}"
            scores["human"].remove(item)
            scores["judge"].append(ColumnEvidence(item.column, "judge", reason))


def _answers_as_json(
    columns: Sequence[str], contents: Contents, scores: Mapping[str, Sequence[ColumnEvidence]]
) -> list[ColumnEvidence]:
    """Columns of JSON objects with a judgment, which are a judge's answers, beside people's."""
    if scores["judge"] or not scores["human"]:
        return []
    people = [item.column for item in scores["human"]]
    return [
        ColumnEvidence(column, "judge", "a judge's answers in JSON")
        for column in columns
        if column not in people and contents[column].in_objects and contents[column].may_be_scores
        and any(similar(contents[column], contents[human]) for human in people)
    ]  # fmt: skip


def _drop_other_words(scores: dict[str, list[ColumnEvidence]], contents: Contents) -> None:
    """Leave out columns of other words beside columns of numbers, such as human_topic."""
    for kind, items in scores.items():
        numbers = [item for item in items if contents[item.column].mostly_numbers]
        if numbers:
            scores[kind] = [
                item for item in items
                if item in numbers or contents[item.column].vocabulary is not None
            ]  # fmt: skip


def _numbered(
    columns: Sequence[str], contents: Contents, scores: Mapping[str, Sequence[ColumnEvidence]]
) -> list[ColumnEvidence]:
    """Columns such as h0, h1, h2 beside a judge's, with the same kind of values."""
    judges = [item.column for item in scores["judge"]]
    families: dict[str, list[str]] = {}
    for column in columns:
        match = re.fullmatch(r"([a-z])[_ -]?\d{1,2}", folded(column))
        if match and match[1] in NUMBERED_PEOPLE and contents[column].may_be_scores:
            families.setdefault(match[1], []).append(column)
    found = []
    for family in families.values():
        beside = next(
            (j for j in judges if all(similar(contents[c], contents[j]) for c in family)), None
        )
        # p1, p2 are participants where nobody else rated, and may be prompts elsewhere.
        perhaps = not (folded(family[0]).startswith("p") and scores["human"])
        if len(family) > 1 and perhaps and beside is not None and not any(
            contents[column].numbers_rows for column in family
        ):  # fmt: skip
            reason = f"numbered {', '.join(family)}, with the same kind of values as {beside}"
            found += [ColumnEvidence(column, "human", reason) for column in family]
    return found


def _scorer_column_evidence(
    columns: Sequence[str], contents: Contents, scores: Mapping[str, Sequence[ColumnEvidence]]
) -> list[ColumnEvidence]:
    """The value beside a column of people's names, where a judge has a separate column."""
    if scores["human"] or not scores["judge"]:
        return []
    scorer = next((c for c in columns if names_people(c)), None)
    if scorer is None:
        return []
    values = [c for c in columns if folded(c) in VALUES and contents[c].may_be_scores]
    if not values and any(folded(c).startswith(_SHOWN_BY_TURK) for c in columns):
        values = [
            c for c in columns
            if folded(c).startswith(_ANSWERED_ON_TURK) and may_be_values(c, contents[c])
        ]  # fmt: skip
        if len(values) > 1:
            asked = {_construct_on_turk(item.column) for item in scores["judge"]} - {""}
            values = [c for c in values if _construct_on_turk(c) in asked]
    elif len(values) != 1:
        return []
    return [ColumnEvidence(c, "human", f"beside {scorer}, which names the rater") for c in values]


def _construct_on_turk(column: str) -> str:
    """The construct that a name has behind what Mechanical Turk writes before it."""
    name = column.strip()
    for written in (_SHOWN_BY_TURK, _ANSWERED_ON_TURK):
        if folded(name).startswith(written):
            name = name[len(written) :]
    return construct_in_name(name).casefold()


def _averaged(
    columns: Sequence[str], contents: Contents, scores: Mapping[str, Sequence[ColumnEvidence]]
) -> list[ColumnEvidence]:
    """Columns called as persons are, and whose mean is the only column of people, or called so.

    Others may be criteria, of which a person's score is the mean, and so may those be whose judge
    has a mean too.
    """
    people = [item.column for item in scores["human"]]
    judges = [item.column for item in scores["judge"]]
    if judges and not people:
        people = [
            c for c in columns if {*words(c)} and {*words(c)} <= MEANS and contents[c].only_numbers
        ]  # fmt: skip
    if len(people) != 1:
        return []
    mean = people[0]
    if any(set(words(judge)) & MEANS for judge in judges):
        return []
    others = [
        c for c in columns
        if c not in (mean, *judges) and contents[c].only_numbers and kind_of(c) is None
        and may_be_values(c, contents[c])
    ]  # fmt: skip
    if not set(words(mean)) & MEANS or not 2 <= len(others) <= _MOST_AVERAGED:
        return []
    cells = {c: {row: number_in(cell) for row, cell in contents[c].cells} for c in (mean, *others)}
    places = max(decimals(cell) for _, cell in contents[mean].cells)
    for size in range(len(others), 1, -1):
        for some in combinations(others, size):
            if not all(map(names_person, some)):
                continue
            if places and _are_means(cells[mean], [cells[c] for c in some], 0.5 * 10.0**-places):
                reason = f"{mean} is the mean of {', '.join(some)}"
                return [ColumnEvidence(c, "human", reason) for c in some]
    return []


def _are_means(
    means: Mapping[int, float], of: Sequence[Mapping[int, float]], rounded: float
) -> bool:
    """Whether each value is the mean of the others of its row, but for rounding."""
    for row, mean in means.items():
        values = [column[row] for column in of if row in column]
        if not values or not abs(sum(values) / len(values) - mean) <= rounded + 1e-9:
            return False
    return len(set(means.values())) > 2


def _paired(
    columns: Sequence[str], contents: Contents, scores: Mapping[str, Sequence[ColumnEvidence]]
) -> list[ColumnEvidence]:
    """The judge's column beside people's: correctness beside human_correctness, or `model`."""
    if scores["judge"]:
        return []
    people = [item.column for item in scores["human"]]
    named = next((c for c in columns if names_judges(c, contents[c])), None)
    values = [c for c in columns if folded(c) in VALUES and contents[c].may_be_scores]
    if people and named is not None and len(values) == 1 and values[0] not in people:
        return [ColumnEvidence(values[0], "judge", f"beside {named}, which names the judge")]
    open_columns = [
        column for column in columns
        if column not in people and whole_role(column) not in NO_SCORES
        and names_no_score(column) is None and not scorer_words(column)
        and contents[column].may_be_scores and not contents[column].numbers_rows
    ]  # fmt: skip
    found = []
    for human in people:
        if not any(known in OF_PEOPLE for known in scorer_words(human).values()):
            continue
        rest = without_people(human)
        for column in open_columns:
            same_name = rest and "_".join(words(column)) == rest
            if same_name and similar(contents[column], contents[human]):
                found.append(
                    ColumnEvidence(column, "judge", f"the same name as the rater's column {human}")
                )
    found = found or _in_one_group(people, open_columns, contents)
    if not found and people and len(open_columns) == 1 and names_evaluation(open_columns[0]):
        # The only other column that may have scores, of a program or a metric that it names.
        found = [ColumnEvidence(open_columns[0], "judge", "the name of an evaluation")]
    if found or len(people) != 1:
        return found
    machines = [
        column for column in open_columns
        if set(words(column)) & _OF_MACHINES and similar(contents[column], contents[people[0]])
        and len(set(words(column)) - _OF_MACHINES - FILLERS) == 0
    ]  # fmt: skip
    if len(machines) == 1:
        reason = f"its name, and the same kind of values as {people[0]}"
        return [ColumnEvidence(machines[0], "judge", reason)]
    return []


def _in_one_group(
    people: Sequence[str], others: Sequence[str], contents: Contents
) -> list[ColumnEvidence]:
    """The only other column of a group such as scores.* that has people's scores too."""
    if len(people) != 1:
        return []
    group, point, _ = people[0].rpartition(".")
    if not point or not set(words(group)) & GROUPS_OF_SCORES:
        return []
    beside = [
        column
        for column in others
        if column.rpartition(".")[0] == group and similar(contents[column], contents[people[0]])
    ]
    if len(beside) != 1:
        return []
    return [ColumnEvidence(beside[0], "judge", f"the other column of {group}, beside {people[0]}")]

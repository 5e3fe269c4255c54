"""Checks of scores and preferences: known construct, known response, one kind, on the scale."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select

from study.base.scales import Scale
from study.errors import nearest
from study.importing.existing_content import ExistingContent
from study.importing.import_report import BLANK, ImportReport
from study.importing.readers.written_values import off_the_scale
from study.importing.rows import LocatedRow, MarksRow, PreferenceRow, ScoreRow
from study.importing.value_store import Entry, ImportedKind, MarkedTexts, Replaced, ValueStore
from study.schema.tables import (
    imported_marks,
    judge_runs,
    preferences,
    raters,
    scorer_answers,
    scores,
)
from study.settings.study_toml import StudyConfig

# Fewer equal values than this do not indicate a rater who always gives one value.
_THROUGHOUT = 5


@dataclass
class _UsedRange:
    scale: Scale
    lowest: float
    highest: float
    count: int = 0


class UsedRanges:
    """The range of values that each scorer used on each construct."""

    def __init__(self) -> None:
        self._ranges: dict[tuple[str, str], _UsedRange] = {}

    def add(self, scorer: str, construct: str, value: float | None, scale: Scale) -> None:
        """Add a value; a missing one is ignored."""
        if value is None:
            return
        used = self._ranges.get((scorer, construct))
        if used is None:
            used = self._ranges[scorer, construct] = _UsedRange(scale, value, value)
        used.lowest = min(used.lowest, value)
        used.highest = max(used.highest, value)
        used.count += 1

    def warnings(self) -> Iterator[str]:
        """Yield a warning for each scorer that probably used another scale, or only one value."""
        by_scorer: dict[str, list[tuple[str, _UsedRange]]] = {}
        for (scorer, construct), used in self._ranges.items():
            by_scorer.setdefault(scorer, []).append((construct, used))
        for scorer, parts in by_scorer.items():
            values = {end for _, used in parts for end in (used.lowest, used.highest)}
            for construct, used in [_together(parts)] if len(values) == 1 else parts:
                if used.lowest == used.highest and used.count >= _THROUGHOUT:
                    yield (
                        f"{scorer!r} gave {used.lowest:g} throughout on {construct} "
                        f"({used.count} values)."
                    )
        for (scorer, construct), used in self._ranges.items():
            # A range of 0 to 1 is a tenth of such a scale or less.
            if used.scale.max >= 10 and used.lowest >= 0 and 0 < used.highest <= 1 < used.count:
                yield (
                    f"all {used.count} values of {scorer!r} on {construct} are from 0 to 1, on a "
                    f"scale of {used.scale}. If that is the scorer's own scale, declare it in "
                    f'study.toml: [scorers."{scorer}"] scale = {{ min = 0, max = 1 }}'
                )


def _together(parts: list[tuple[str, _UsedRange]]) -> tuple[str, _UsedRange]:
    """Return the constructs of a scorer whose values are all the same, and their range."""
    first = parts[0][1]
    used = _UsedRange(first.scale, first.lowest, first.highest, sum(s.count for _, s in parts))
    return ", ".join(construct for construct, _ in parts), used


IMPORTED = "imported"
WITH_ITSELF = "a comparison of a response with itself (the two have the same content)"
IN_USE = "an id of a response with several versions read as the version in use"

# How many replaced responses are named.
_NAMED = 5


SCORES = ImportedKind(
    "scores",
    scores,
    {name: name for name in ("inclusion_prob", "stratum", "source", "rule", "layout")},
)
PREFERENCES = ImportedKind(
    "preferences",
    preferences,
    {"value_a_first": "value_first", "value_b_first": "value_second"},
)
MARKS = ImportedKind("sets of marks", imported_marks, {"ranges": "ranges"}, "marks")


class ValueChecks:
    """Matches scores and preferences of a file with the study, and collects them for storing."""

    def __init__(
        self,
        connection: Connection,
        config: StudyConfig,
        existing: ExistingContent,
        report: ImportReport,
        *,
        conflicts_as_repeats: bool = False,
        replaced: Replaced = Replaced(),  # noqa: B008  (it cannot be changed)
    ) -> None:
        self._config = config
        self._existing = existing
        self._report = report
        self._constructs = [construct.key for construct in config.constructs]
        self.kinds = known_kinds(connection, config)
        """By scorer: human, adjudicated, judge or metric."""
        self._kind_rows: dict[str, int] = {}
        self.used_ranges = UsedRanges()
        self.scored: set[int] = set()
        """Responses that the file has values for."""
        self._stale: dict[int, set[int]] = {}
        """Responses that are no longer in use, with the rows that name them."""
        self.columns: dict[str, tuple[str, str | None]] = {}
        """Name of a response that is not in the study to its field and column."""
        self.scores, self.preferences, self.marks = (
            ValueStore(kind, report, conflicts_as_repeats=conflicts_as_repeats, replaced=replaced)
            for kind in (SCORES, PREFERENCES, MARKS)
        )
        self.marked_texts = MarkedTexts(report)

    def add_score(self, located: LocatedRow, row: ScoreRow) -> None:
        """Add a score, or a fault."""
        scale = self._config.scale(row.construct_key, row.scorer)
        fits = self._fits(located, row, scale)
        name = row.response_id or f"query {row.query_id}, system {row.system}"
        response = self._response(located, row, name)
        if response is None or not fits:
            return
        self._note_responses(located.number, response)
        value, reason = _value_or_reason(row)
        if scale is not None:
            self.used_ranges.add(row.scorer, row.construct_key, value, scale)
        extra = (row.inclusion_prob, row.stratum, row.source or IMPORTED, row.rule, row.layout)
        key = ((response,), row.construct_key, row.scorer, row.repeat)
        label = f"{name!r}" + (f" of system {row.system!r}" if row.system else "")
        column = located.column("value")
        self.scores.add(key, Entry(value, reason, extra, located.number, label, column))

    def add_preference(self, located: LocatedRow, row: PreferenceRow) -> None:
        """Add a preference, or a fault."""
        scale = self._config.preferences.scale
        fits = self._fits(located, row, scale)
        query = self._existing.query_ids.get(row.query_id)
        if query is None:
            self._unmatched(located, f"query {row.query_id}", "query_id")
        sides = [
            self._side(located, getattr(row, column), column, row.query_id)
            for column in ("response_a", "response_b")
        ]
        first, second = sides
        if query is None or first is None or second is None or not fits:
            return
        self._note_responses(located.number, first, second)
        if first == second:
            self._report.rules[WITH_ITSELF] += 1
        value, reason = _value_or_reason(row)
        self.used_ranges.add(row.scorer, row.construct_key, value, scale)
        key = ((first, second), row.construct_key, row.scorer, row.repeat)
        by_order = (row.value_a_first, row.value_b_first)
        label = f"{row.response_a!r} and {row.response_b!r}"
        column = located.column("value")
        self.preferences.add(key, Entry(value, reason, by_order, located.number, label, column))

    def add_marks(self, located: LocatedRow, row: MarksRow) -> None:
        """Add the marks of a person, or a fault."""
        fits = self._fits(located, row, None)
        name = row.response_id or f"query {row.query_id}, system {row.system}"
        response = self._response(located, row, name)
        if response is None or not fits:
            return
        self._note_responses(located.number, response)
        key = ((response,), row.construct_key, row.scorer, row.repeat)
        self.marked_texts.add(key, row.marks, located.number, name, located.column("marks"))

    def join(self, connection: Connection, versions: Mapping[str, int]) -> None:
        """Compare the collected values with those of the study."""
        for key, entry in self.marked_texts.entries(connection):
            self.marks.add(key, entry)
        for store in (self.scores, self.preferences, self.marks):
            store.join(connection, versions)

    def store(self, connection: Connection, versions: Mapping[str, int], file_id: int) -> None:
        """Insert what is new."""
        for store in (self.scores, self.preferences, self.marks):
            store.store(connection, versions, self.kinds, file_id)

    def warnings(self) -> Iterator[str]:
        """Yield warnings about values that are stored although they look wrong."""
        yield from self.used_ranges.warnings()
        if self._stale:
            rows = len(set().union(*self._stale.values()))
            names = sorted(self._existing.id_of(response) for response in self._stale)
            more = ", ..." if len(names) > _NAMED else ""
            yield (
                f"{rows} {'row has' if rows == 1 else 'rows have'} values for responses that a "
                f"later one replaced ({', '.join(names[:_NAMED])}{more}); they are stored with "
                "those responses and left out of the tables. For the later response, give its id."
            )

    def _note_responses(self, number: int, *responses: int) -> None:
        """Note which responses a row names."""
        self.scored.update(responses)
        for response in responses:
            if not self._existing.in_use(response):
                self._stale.setdefault(response, set()).add(number)

    def _fits(
        self,
        located: LocatedRow,
        row: ScoreRow | PreferenceRow | MarksRow,
        scale: Scale | None,
    ) -> bool:
        """Check the construct, the scorer's kind and the value; note every fault."""
        number = located.number
        good = True
        if row.scorer in self._config.combined:
            what = "jury" if row.scorer in self._config.juries else "composite"
            self._report.fault(
                f"{row.scorer!r} is a {what} of study.toml.",
                "Its scores follow from those of its members: leave these rows out, or rename the "
                f"{what}.",
                number,
                located.column("scorer"),
            )
            good = False
        if row.construct_key not in self._constructs:
            self._report.fault(
                f"the study has no construct {row.construct_key!r}.",
                f"{nearest(row.construct_key, self._constructs)} It has: "
                f"{', '.join(self._constructs)}; others are defined in study.toml under "
                "[[constructs]].".strip(),
                number,
                located.column("construct_key"),
            )
            good = False
        kind = self.kinds.setdefault(row.scorer, row.scorer_kind)
        if kind != row.scorer_kind:
            first = self._kind_rows.get(row.scorer)
            where = f"row {first}" if first is not None else "the study"
            self._report.fault(
                f"scorer {row.scorer!r} is {row.scorer_kind} here and {kind} in {where}.",
                "A scorer has one kind; rename the other scorer.",
                number,
                located.column("scorer_kind"),
            )
            good = False
        self._kind_rows.setdefault(row.scorer, number)
        problem = None if row.value is None or scale is None else scale.problem(row.value)
        if scale is not None and isinstance(row, ScoreRow) and row.word_range:
            problem = off_the_scale(row.word_range, scale.min, scale.max)
        if problem:
            self._report.fault(
                f"{problem} ({row.construct_key} by {row.scorer!r}).",
                f"Correct it, or declare the scale of {row.scorer!r} in study.toml under "
                f'[scorers."{row.scorer}"].'
                if isinstance(row, ScoreRow)
                else "Correct it, or declare the scale in study.toml under [preferences].",
                number,
                located.column("value"),
            )
            good = False
        return good

    def _response(self, located: LocatedRow, row: ScoreRow | MarksRow, name: str) -> int | None:
        existing = self._existing
        query = None if row.query_id is None else existing.query_ids.get(row.query_id)
        if row.response_id is None:
            output = existing.outputs.get((query or 0, row.system or ""))
            if output is None:
                self._unmatched(located, name, "query_id" if query is None else "system")
                return None
            return output[0]
        response = self._find_response(row.response_id)
        if response is None:
            self._unmatched(located, name, "response_id")
            return None
        own_query = existing.responses[response].query
        problem = column = ""
        if row.query_id is not None and query != own_query:
            column = "query_id"
            problem = f"answers query {existing.queries[own_query].key!r}, not {row.query_id!r}"
        elif row.system is not None and (
            existing.outputs.get((own_query, row.system), (None,))[0] != response
        ):
            column, problem = "system", f"is not what system {row.system!r} answered"
        if problem:
            self._report.fault(
                f"response {row.response_id!r} {problem}.",
                f"Correct one of the two, or leave {column} out.",
                located.number,
                located.column(column),
            )
            return None
        return response

    def _find_response(self, name: str) -> int | None:
        """Return the response of an id; where it has several versions, that is counted."""
        response = self._existing.find(name)
        if self._existing.versions(name) > 1:
            self._report.rules[IN_USE] += 1
        return response

    def _side(self, located: LocatedRow, key: str, column: str, query_id: str) -> int | None:
        existing = self._existing
        response = self._find_response(key)
        if response is None:
            self._unmatched(located, key, column)
            return None
        query_key = existing.queries[existing.responses[response].query].key
        if query_key != query_id and query_id in existing.query_ids:
            self._report.fault(
                f"response {key!r} answers query {query_key!r}, not {query_id!r}.",
                "Both responses of a comparison answer the row's query; correct the row.",
                located.number,
                located.column(column),
            )
            return None
        return response

    def _unmatched(self, located: LocatedRow, name: str, field: str) -> None:
        self.columns.setdefault(name, (field, located.column(field)))
        rows = self._report.unmatched.setdefault(name, [])
        if not rows or rows[-1] != located.number:
            rows.append(located.number)


def known_kinds(connection: Connection, config: StudyConfig) -> dict[str, str]:
    """Return the kind of every scorer in study.toml or in the study's tables."""
    kinds: dict[str, str] = {name: spec.kind for name, spec in config.scorers.items() if spec.kind}
    columns = scorer_answers.c
    rows = connection.execute(select(columns.scorer, columns.scorer_kind).distinct())
    kinds.update((scorer, kind) for scorer, kind in rows)
    for name, kind in ((raters.c.code, "human"), (judge_runs.c.name, "judge")):
        kinds.update((str(code), kind) for code in connection.execute(select(name)).scalars())
    return kinds


def _value_or_reason(row: ScoreRow | PreferenceRow) -> tuple[float | None, str | None]:
    return row.value, (row.missing_reason or BLANK) if row.value is None else None

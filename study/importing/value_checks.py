"""Checks of scores and preferences: known construct, known response, one kind, on the scale."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from study.errors import nearest
from study.importing.existing_content import ExistingContent
from study.importing.import_report import BLANK, ImportReport
from study.importing.rows import LocatedRow, PreferenceRow, ScoreRow
from study.importing.value_store import Entry, ValueStore
from study.scales import RatingScale
from study.schema import JudgeRun, Preference, PreferenceBase, Rater, Score, ScoreBase, table
from study.settings.study_toml import StudyConfig

# Fewer equal values than this are no sign of a rater who gave one value throughout.
_THROUGHOUT = 5


@dataclass
class _Seen:
    scale: RatingScale
    lowest: float
    highest: float
    count: int = 0


class ValueWatch:
    """What range of values each scorer used on each construct."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], _Seen] = {}

    def see(self, scorer: str, construct: str, value: float | None, scale: RatingScale) -> None:
        """Take a value; missing ones say nothing."""
        if value is None:
            return
        seen = self._seen.get((scorer, construct))
        if seen is None:
            seen = self._seen[scorer, construct] = _Seen(scale, value, value)
        seen.lowest = min(seen.lowest, value)
        seen.highest = max(seen.highest, value)
        seen.count += 1

    def warnings(self) -> Iterator[str]:
        """Say which scorers probably used another scale, or one value throughout."""
        by_scorer: dict[str, list[tuple[str, _Seen]]] = {}
        for (scorer, construct), seen in self._seen.items():
            by_scorer.setdefault(scorer, []).append((construct, seen))
        for scorer, parts in by_scorer.items():
            values = {end for _, seen in parts for end in (seen.lowest, seen.highest)}
            for construct, seen in [_together(parts)] if len(values) == 1 else parts:
                if seen.lowest == seen.highest and seen.count >= _THROUGHOUT:
                    yield (
                        f"{scorer!r} gave {seen.lowest:g} throughout on {construct} "
                        f"({seen.count} values)."
                    )
        for (scorer, construct), seen in self._seen.items():
            # A range of 0 to 1 is a tenth of such a scale or less.
            if seen.scale.max >= 10 and seen.lowest >= 0 and 0 < seen.highest <= 1 < seen.count:
                yield (
                    f"all {seen.count} values of {scorer!r} on {construct} lie in 0 to 1, on a "
                    f"scale of {seen.scale}. If that is the scorer's own scale, declare it in "
                    f'study.toml: [scorers."{scorer}"] scale = {{ min = 0, max = 1 }}'
                )


def _together(parts: list[tuple[str, _Seen]]) -> tuple[str, _Seen]:
    """Return what a scorer gave on all constructs, where all of it is one value."""
    first = parts[0][1]
    seen = _Seen(first.scale, first.lowest, first.highest, sum(s.count for _, s in parts))
    return ", ".join(construct for construct, _ in parts), seen


IMPORTED = "imported"
WITH_ITSELF = "a comparison of a response with itself (the two have the same content)"
IN_USE = "an id of a response with several versions taken as the version in use"

# How many replaced responses are named.
_NAMED = 5


class ValueChecks:
    """Joins scores and preferences of a file with the study, and gathers them for storing."""

    def __init__(
        self,
        connection: Connection,
        config: StudyConfig,
        existing: ExistingContent,
        tally: ImportReport,
        *,
        conflicts_as_repeats: bool = False,
    ) -> None:
        self._config = config
        self._held = existing
        self._tally = tally
        self._constructs = [construct.key for construct in config.constructs]
        self.kinds = known_kinds(connection, config)
        """By scorer: human, adjudicated, judge or metric."""
        self._kind_rows: dict[str, int] = {}
        self.watch = ValueWatch()
        self.scored: set[int] = set()
        """Responses that the file says something of."""
        self._stale: dict[int, set[int]] = {}
        """Responses that are no longer in use, with the rows that speak of them."""
        self.columns: dict[str, tuple[str, str | None]] = {}
        """By name of a response that the study has not: field and column it stood in."""
        self.scores = ValueStore(
            Score,
            ScoreBase,
            ("response_id",),
            ("inclusion_prob", "stratum", "source", "rule", "layout"),
            tally,
            conflicts_as_repeats=conflicts_as_repeats,
        )
        self.preferences = ValueStore(
            Preference,
            PreferenceBase,
            ("response_a_id", "response_b_id", "query_id"),
            (),
            tally,
            conflicts_as_repeats=conflicts_as_repeats,
        )

    def add_score(self, placed: LocatedRow, row: ScoreRow) -> None:
        """Take a score, or note why it can't be taken."""
        scale = self._config.scale(row.construct_key, row.scorer)
        fits = self._fits(placed, row, scale)
        name = row.response_id or f"query {row.query_id}, system {row.system}"
        response = self._response(placed, row, name)
        if response is None or not fits:
            return
        self._mark(placed.number, response)
        value, reason = _value_or_reason(row)
        if scale is not None:
            self.watch.see(row.scorer, row.construct_key, value, scale)
        extra = (row.inclusion_prob, row.stratum, row.source or IMPORTED, row.rule, row.layout)
        key = ((response,), row.construct_key, row.scorer, row.repeat)
        label = f"{name!r}" + (f" of system {row.system!r}" if row.system else "")
        column = placed.column("value")
        self.scores.add(key, Entry(value, reason, extra, placed.number, label, column))

    def add_preference(self, placed: LocatedRow, row: PreferenceRow) -> None:
        """Take a preference, or note why it can't be taken."""
        scale = self._config.preferences.scale
        fits = self._fits(placed, row, scale)
        query = self._held.query_ids.get(row.query_id)
        if query is None:
            self._unmatched(placed, f"query {row.query_id}", "query_id")
        sides = [
            self._side(placed, getattr(row, column), column, row.query_id)
            for column in ("response_a", "response_b")
        ]
        first, second = sides
        if query is None or first is None or second is None or not fits:
            return
        self._mark(placed.number, first, second)
        if first == second:
            self._tally.rules[WITH_ITSELF] += 1
        value, reason = _value_or_reason(row)
        self.watch.see(row.scorer, row.construct_key, value, scale)
        key = ((first, second, query), row.construct_key, row.scorer, row.repeat)
        label = f"{row.response_a!r} and {row.response_b!r}"
        column = placed.column("value")
        self.preferences.add(key, Entry(value, reason, (), placed.number, label, column))

    def join(self, connection: Connection, versions: Mapping[str, int]) -> None:
        """Compare what was gathered with what the study holds."""
        self.scores.join(connection, versions)
        self.preferences.join(connection, versions)

    def store(self, connection: Connection, versions: Mapping[str, int], file_id: int) -> None:
        """Insert what is new."""
        self.scores.store(connection, versions, self.kinds, file_id)
        self.preferences.store(connection, versions, self.kinds, file_id)

    def warnings(self) -> Iterator[str]:
        """Say what was taken although it looks wrong."""
        yield from self.watch.warnings()
        if self._stale:
            rows = len(set().union(*self._stale.values()))
            names = sorted(self._held.id_of(response) for response in self._stale)
            more = ", ..." if len(names) > _NAMED else ""
            yield (
                f"{rows} {'row speaks' if rows == 1 else 'rows speak'} of responses that a later "
                f"one replaced ({', '.join(names[:_NAMED])}{more}); what they say is kept with "
                "those and left out of the tables. If the later response is meant, name its id."
            )

    def _mark(self, number: int, *responses: int) -> None:
        """Note which responses a row speaks of."""
        self.scored.update(responses)
        for response in responses:
            if not self._held.in_use(response):
                self._stale.setdefault(response, set()).add(number)

    def _fits(
        self, placed: LocatedRow, row: ScoreRow | PreferenceRow, scale: RatingScale | None
    ) -> bool:
        """Check the construct, the scorer's kind and the value; note every fault."""
        number = placed.number
        good = True
        if row.scorer in self._config.juries:
            self._tally.fault(
                f"{row.scorer!r} is a jury of study.toml.",
                "Its scores follow from those of its judges: leave these rows out, or rename the "
                "jury.",
                number,
                placed.column("scorer"),
            )
            good = False
        if row.construct_key not in self._constructs:
            self._tally.fault(
                f"the study has no construct {row.construct_key!r}.",
                f"{nearest(row.construct_key, self._constructs)} It has: "
                f"{', '.join(self._constructs)}; others are defined in study.toml under "
                "[[constructs]].".strip(),
                number,
                placed.column("construct_key"),
            )
            good = False
        kind = self.kinds.setdefault(row.scorer, row.scorer_kind)
        if kind != row.scorer_kind:
            first = self._kind_rows.get(row.scorer)
            where = f"row {first}" if first is not None else "the study"
            self._tally.fault(
                f"scorer {row.scorer!r} is {row.scorer_kind} here and {kind} in {where}.",
                "A scorer has one kind; rename the other scorer.",
                number,
                placed.column("scorer_kind"),
            )
            good = False
        self._kind_rows.setdefault(row.scorer, number)
        problem = None if row.value is None or scale is None else scale.problem(row.value)
        if problem:
            self._tally.fault(
                f"{problem} ({row.construct_key} by {row.scorer!r}).",
                f"Correct it, or declare the scale of {row.scorer!r} in study.toml under "
                f'[scorers."{row.scorer}"].'
                if isinstance(row, ScoreRow)
                else "Correct it, or declare the scale in study.toml under [preferences].",
                number,
                placed.column("value"),
            )
            good = False
        return good

    def _response(self, placed: LocatedRow, row: ScoreRow, name: str) -> int | None:
        existing = self._held
        query = None if row.query_id is None else existing.query_ids.get(row.query_id)
        if row.response_id is None:
            output = existing.outputs.get((query or 0, row.system or ""))
            if output is None:
                self._unmatched(placed, name, "query_id" if query is None else "system")
                return None
            return output[0]
        response = self._found(row.response_id)
        if response is None:
            self._unmatched(placed, name, "response_id")
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
            self._tally.fault(
                f"response {row.response_id!r} {problem}.",
                f"Correct one of the two, or leave {column} out.",
                placed.number,
                placed.column(column),
            )
            return None
        return response

    def _found(self, name: str) -> int | None:
        """Return the response of an id; that one of several versions was meant is counted."""
        response = self._held.find(name)
        if self._held.versions(name) > 1:
            self._tally.rules[IN_USE] += 1
        return response

    def _side(self, placed: LocatedRow, key: str, column: str, query_id: str) -> int | None:
        existing = self._held
        response = self._found(key)
        if response is None:
            self._unmatched(placed, key, column)
            return None
        query_key = existing.queries[existing.responses[response].query].key
        if query_key != query_id and query_id in existing.query_ids:
            self._tally.fault(
                f"response {key!r} answers query {query_key!r}, not {query_id!r}.",
                "Both responses of a comparison answer the row's query; correct the row.",
                placed.number,
                placed.column(column),
            )
            return None
        return response

    def _unmatched(self, placed: LocatedRow, name: str, field: str) -> None:
        self.columns.setdefault(name, (field, placed.column(field)))
        rows = self._tally.unmatched.setdefault(name, [])
        if not rows or rows[-1] != placed.number:
            rows.append(placed.number)


def known_kinds(connection: Connection, config: StudyConfig) -> dict[str, str]:
    """Return the kind of every scorer that study.toml or the study's tables know."""
    kinds: dict[str, str] = {name: spec.kind for name, spec in config.scorers.items() if spec.kind}
    for noun in (Score, Preference):
        t: Any = table(noun)
        rows = connection.execute(select(t.c.scorer, t.c.scorer_kind).distinct())
        kinds.update((scorer, kind) for scorer, kind in rows)
    for name, kind in ((table(Rater).c.code, "human"), (table(JudgeRun).c.name, "judge")):
        kinds.update((str(code), kind) for code in connection.execute(select(name)).scalars())
    return kinds


def _value_or_reason(row: ScoreRow | PreferenceRow) -> tuple[float | None, str | None]:
    return row.value, (row.missing_reason or BLANK) if row.value is None else None

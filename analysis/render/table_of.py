"""Tables as declarations: what their rows are, and the estimate or the words of each column."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import isnan
from typing import Any, Self

from analysis.core.analysis import Analysis
from analysis.core.context import ComparedScores
from analysis.core.estimates import Estimate
from analysis.render.formatting import points
from analysis.render.table import Cell, Table, TableBuilder
from study.base.scales import Scale

#: Lists of an estimate that a row may fix as a whole, such as the two scorers of a pair.
_EXACT = ("constructs", "scorers", "systems")


@dataclass(frozen=True, eq=False)
class TableRow:
    """A row of a table: what its estimates have in common, and the one that it is made for.

    `where` has arguments of `EstimateList.select`, and the whole of `scorers` or `systems` where
    an estimate must have exactly these.
    """

    analysis: Analysis
    where: Mapping[str, Any]
    lead: Estimate | None = None

    @classmethod
    def of(cls, analysis: Analysis, lead: Estimate, *alike: str, **more: Any) -> Self:
        """The row of an estimate: of its construct and scorer, and of the other fields `alike`.

        These are `scope`, `scorers`, `systems` and params; `more` are further conditions.
        """
        where: dict[str, Any] = {}
        if lead.constructs:
            where["construct"] = lead.constructs[0]
        if lead.scorers:
            where["scorer"] = lead.scorers[0]
        for name in alike:
            where[name] = lead.params[name] if name in lead.params else getattr(lead, name)
        return cls(analysis, {**where, **more}, lead)

    @property
    def estimate(self) -> Estimate:
        """The estimate that the row is made for."""
        if self.lead is None:
            raise ValueError("a column needs the estimate of its row, which has none")
        return self.lead

    @property
    def construct(self) -> str:
        """The construct of the row."""
        return str(self.where["construct"])

    @property
    def scorer(self) -> str:
        """The scorer of the row."""
        return str(self.where["scorer"])

    def first(self, statistic: str, **more: Any) -> Estimate | None:
        """The first estimate of a statistic that matches the row and `more`."""
        where = {**self.where, **more}
        exact = {name: where.pop(name) for name in _EXACT if name in where}
        return next(
            (
                e
                for e in self.analysis.estimates.select(statistic, **where)
                if all(getattr(e, name) == value for name, value in exact.items())
            ),
            None,
        )


#: What an estimate of a column is: a statistic's id, or a function of the row.
Source = str | Callable[[TableRow], Estimate | None]

Rows = Callable[[Analysis], Iterable[TableRow]]


#: A line of a table: a row, or rows with the same heads.
Line = Sequence[TableRow]


@dataclass(frozen=True, eq=False)
class Column:
    """A column: its heading, a template as of `TableOf`, and the cell of each row.

    With `across` it is a column for each name that rows have, in the order of the rows by `sort`:
    rows with the same heads are one line.
    """

    heading: str
    cell: Callable[[TableRow, TableBuilder], Cell | str]
    across: Callable[[TableRow], str] | None = None
    sort: Callable[[TableRow], Any] = lambda _row: 0

    def parts(
        self, rows: Line, words: Mapping[str, Any]
    ) -> Iterator[tuple[str, Callable[[Line, TableBuilder], Cell | str]]]:
        """The headings of the column in these rows, each with its cell of a line."""
        across = self.across
        if across is None:
            yield self.heading.format_map(words), lambda line, built: self.cell(line[0], built)
            return
        for name in dict.fromkeys(map(across, sorted(rows, key=self.sort))):
            yield name, partial(self._cell_of, across, name)

    def _cell_of(
        self, across: Callable[[TableRow], str], name: str, line: Line, built: TableBuilder
    ) -> Cell | str:
        return next((self.cell(row, built) for row in line if across(row) == name), "")


@dataclass(frozen=True, eq=False)
class TableOf:
    """The declaration of a table, which a section lists among its tables.

    A column is a `Column`, one of `COMMON`, or the id of a statistic that is a coefficient.
    `title`, `caption` and headings are templates: `{id}` is the declared heading of a statistic,
    `{name}` an option of the analysis, `{reference_words}` what judges are compared with. `note`
    returns what the caption says beyond that, and `cut` is added where there are more rows than
    `most`, with `{most}`, `{all}` and `{rest}`. The first `heads` columns name the row; rows in
    `detail` are not on the page that folds. Columns in which no row has a cell are left out.

    With `per`, such as constructs, it is a numbered table for each, `{part}`, of the rows that
    `part` says; one with more lines than `most` is left out.
    """

    key: str
    title: str
    caption: str
    rows: Rows
    columns: Sequence[Column | str]
    heads: int = 2
    note: Callable[[Analysis, Line], str] = lambda _analysis, _rows: ""
    detail: Callable[[TableRow], bool] = lambda _row: False
    most: int | None = None
    cut: str = ""
    per: Callable[[Analysis], Iterable[str]] | None = None
    part: Callable[[TableRow], str] = lambda row: row.construct

    def __call__(self, analysis: Analysis) -> Iterator[Table]:
        """The table of an analysis, or its tables."""
        rows = list(self.rows(analysis))
        if self.per is None:
            yield self._table(analysis, rows)
            return
        for number, name in enumerate(self.per(analysis), 1):
            own_rows = [row for row in rows if self.part(row) == name]
            table = self._table(analysis, own_rows, name, f"-{number}")
            if self.most is None or len(table.rows) <= self.most:
                yield table

    def _table(self, analysis: Analysis, rows: Line, part: str = "", number: str = "") -> Table:
        built, words = TableBuilder(), Words(analysis, part)
        columns = [
            COMMON.get(column) or coefficient(column) if isinstance(column, str) else column
            for column in self.columns
        ]
        lines = [[row] for row in rows]
        if any(column.across for column in columns):
            lines = _lines(rows, columns[: self.heads])
        parts = [made for column in columns for made in column.parts(rows, words)]
        for line in lines if self.per else lines[: self.most]:
            built.add(*(cell(line, built) for _, cell in parts), detail=all(map(self.detail, line)))
        caption = self.caption.format_map(words) + self.note(analysis, rows)
        return built.table(
            self.key + number,
            self.title.format_map(words),
            caption + self._left_out(len(lines)),
            [heading for heading, _ in parts],
            heads=self.heads,
        )

    def _left_out(self, lines: int) -> str:
        if self.most is None or lines <= self.most:
            return ""
        return self.cut.format(most=self.most, all=lines, rest=f"{lines - self.most:,}")


def _lines(rows: Line, heads: Sequence[Column]) -> list[list[TableRow]]:
    """The rows in groups with the same heads."""
    lines: dict[tuple[Cell | str, ...], list[TableRow]] = {}
    for row in rows:
        lines.setdefault(tuple(head.cell(row, TableBuilder()) for head in heads), []).append(row)
    return list(lines.values())


class Words(dict[str, Any]):
    """What a template may name, looked up when it does."""

    def __init__(self, analysis: Analysis, part: str = "") -> None:
        super().__init__(analysis.headings, reference_words=analysis.reference_words, part=part)
        self._options = analysis.options

    def __missing__(self, name: str) -> Any:
        return getattr(self._options, name)


def own(row: TableRow) -> Estimate:
    """The estimate that the row is made for, as that of a column."""
    return row.estimate


def each(
    statistic: str,
    *alike: str,
    keep: Callable[[Estimate], bool] = lambda _estimate: True,
    per: Callable[[Estimate], Hashable] = lambda _estimate: None,
    sort: Callable[[Estimate], Any] = lambda _estimate: 0,
    most: int | None = None,
    **where: Any,
) -> Rows:
    """A row for each estimate of a statistic that matches `where`; `alike` as in `TableRow.of`.

    Groups, by `per`, keep their order; each is sorted, and has its first `most` rows.
    """

    def rows(analysis: Analysis) -> Iterator[TableRow]:
        groups: dict[Hashable, list[Estimate]] = {}
        for e in filter(keep, analysis.estimates.select(statistic, **where)):
            groups.setdefault(per(e), []).append(e)
        for group in groups.values():
            for e in sorted(group, key=sort)[:most]:
                yield TableRow.of(analysis, e, *alike)

    return rows


def each_scorer(
    lead: str,
    keep: Callable[[ComparedScores], bool] = lambda _scored: True,
    **choices: Iterable[str],
) -> Rows:
    """A row for each scorer of a construct, and of `choices` such as scopes, if it has a `lead`."""

    def rows(analysis: Analysis) -> Iterator[TableRow]:
        for one in filter(keep, analysis.context.scored()):
            for chosen in product(*choices.values()):
                where = dict(zip(choices, chosen, strict=True))
                row = TableRow(
                    analysis, {"construct": one.construct, "scorer": one.scorer, **where}
                )
                e = row.first(lead)
                if e is not None:
                    yield replace(row, lead=e)

    return rows


def in_words(heading: str, words: str | Callable[[TableRow], Cell | str | None]) -> Column:
    """A column of words or counts.

    `words` are a function of the row, or a template in which `e` is the estimate of the row, such
    as '{e.n_responses:,}'.
    """
    if isinstance(words, str):
        template = words
        return Column(heading, lambda row, _built: template.format(e=row.estimate))
    function = words
    return Column(heading, lambda row, _built: function(row) or "")


def param(
    name: str,
    heading: str,
    shown: str | Callable[[Any], str] = "",
    of: Source = own,
    **where: Any,
) -> Column:
    """A param of the row's estimate or of another, in a format or in words, if it has any."""

    def words(row: TableRow) -> str:
        e = _found(row, of, where)
        value = None if e is None else e.params.get(name)
        if value is None or (isinstance(value, float) and isnan(value)):
            return ""
        return f"{value:{shown}}" if isinstance(shown, str) else shown(value)

    return in_words(heading, words)


def number_of(name: str, heading: str, of: Source | None = None, **where: Any) -> Column:
    """A count, such as `n_responses`, of the row's estimate or of another; 0 without one."""

    def words(row: TableRow) -> str:
        e = row.estimate if of is None else _found(row, of, where)
        return f"{getattr(e, name) if e is not None else 0:,}"

    return in_words(heading, words)


def coefficient(source: Source, heading: str = "", **where: Any) -> Column:
    """A correlation or a coefficient of agreement."""
    return Column(
        heading or f"{{{source}}}", lambda row, built: built.r(_found(row, source, where))
    )


def formatted(source: Source, form: str, heading: str = "", **where: Any) -> Column:
    """Any figure in a format such as '.1%' or ',.0f'."""
    return Column(
        heading or f"{{{source}}}",
        lambda row, built: built.number(_found(row, source, where), form),
    )


def human_scale(row: TableRow) -> Scale | None:
    """People's scale on the construct of a row."""
    return row.analysis.context.human_scale(row.construct)


def scorer_scale(row: TableRow) -> Scale | None:
    """The scale of a row's scorer on its construct."""
    return row.analysis.scores.scale(row.construct, row.scorer)


def in_points(
    source: Source,
    heading: str = "",
    scale: Callable[[TableRow], Scale | None] = human_scale,
    more: int = 1,
    **where: Any,
) -> Column:
    """A figure in points of a scale, with `more` decimals than in a sentence."""
    return Column(
        heading or f"{{{source}}}",
        lambda row, built: built.points(_found(row, source, where), scale(row), more),
    )


def param_in_points(name: str, heading: str) -> Column:
    """A param of the row's estimate in points of its scorer's scale, if it is a number."""

    def words(row: TableRow) -> str:
        value = row.estimate.params.get(name)
        return points(value, scorer_scale(row), 1) if isinstance(value, float) else ""

    return in_words(heading, words)


def stated(
    heading: str, words: Callable[[Estimate], Cell | str], source: Source = own, **where: Any
) -> Column:
    """An estimate in other words than its value, such as its count."""

    def cell(row: TableRow, built: TableBuilder) -> Cell | str:
        e = _found(row, source, where)
        if e is None:
            return ""
        built.used.append(e)
        return words(e)

    return Column(heading, cell)


def order_of_constructs(row: TableRow) -> int:
    """The place of the row's construct in the scores."""
    return list(row.analysis.scores.constructs).index(row.construct)


def spread(
    column: Column,
    across: Callable[[TableRow], str] = lambda row: row.construct,
    sort: Callable[[TableRow], Any] = lambda _row: 0,
) -> Column:
    """The column for each name across, constructs unless another is given; see `Column`."""
    return replace(column, across=across, sort=sort)


def _found(row: TableRow, source: Source, where: Mapping[str, Any]) -> Estimate | None:
    """The estimate of a column; of the statistic that the row is made for, that of the row."""
    if not isinstance(source, str):
        return source(row)
    if not where and row.lead is not None and row.lead.statistic == source:
        return row.lead
    return row.first(source, **where)


_SCOPES = {
    "within_query": "within a query",
    "pooled": "pooled",
    "between_queries": "between queries",
    "system_level": "between systems",
}

#: Columns of many tables: what a row is about, and the counts of its estimate.
COMMON = {
    "construct": in_words("Construct", lambda row: row.construct),
    "scorer": in_words("Scorer", lambda row: row.scorer),
    "judge": in_words("Judge", lambda row: row.scorer),
    "system": in_words("System", lambda row: "".join(row.estimate.systems) or "all responses"),
    "pair": in_words("Pair", lambda row: " minus ".join(row.estimate.systems)),
    "scope": in_words("Scope", lambda row: _SCOPES[row.where["scope"]]),
    "measure": in_words("Measure", lambda row: row.analysis.headings[row.where["measure"]]),
    "responses": number_of("n_responses", "Responses"),
    "queries": number_of("n_queries", "Queries"),
    "pairs": number_of("n_responses", "Pairs"),
    "raters": in_words("Raters", "{e.n_raters}"),
}

"""The installed importers: their options, and the choice of the one that reads a file."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from inspect import signature
from typing import Any, NamedTuple

from study.base.scales import Scale
from study.entry_points import entry_points
from study.errors import Fault, InputError, StudyError, nearest
from study.importing.readers.column_layout import missing_column, separators_hint
from study.importing.readers.input_file import Record
from study.importing.readers.json_text import rows_within, within_document
from study.importing.readers.judgment_cells import Ranged
from study.importing.readers.records import KINDS, Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.readers.value_words import checked_values
from study.importing.readers.written_values import Group, ScoredCell, ValueRules, WordsAhead
from study.importing.rows import Rows
from study.text import quoted_names, shell_word


@dataclass(frozen=True)
class FormatOptions:
    """What the caller declares about a file, and what the study knows.

    `scorer`, `system` and `construct` replace columns that the file lacks.
    """

    constructs: tuple[str, ...] = ()
    """Known constructs, which may be columns of a wide table."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """By scorer: human, adjudicated, judge or metric."""
    declared_kinds: Mapping[str, str] = field(default_factory=dict)
    """Those of `kinds` that the caller declares for this file."""
    scorer: str | None = None
    system: str | None = None
    construct: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    """Names of the constructs, by key."""
    scales: Mapping[str, Scale] = field(default_factory=dict)
    """Scales of the constructs, by key."""
    preference_scale: Scale | None = None
    """Scale of preferences."""
    controls: Mapping[str, str] = field(default_factory=dict)
    """Control of a Label Studio form, or metric of a tool, to its construct; empty: left out."""
    declared_controls: Mapping[str, str] = field(default_factory=dict)
    """Those of `controls` that the caller declares for this file."""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Such a control or metric to its lowest and highest value, which become its construct's."""
    values: Mapping[str, float] = field(default_factory=dict)
    """Label of a choice in such a form to its number."""
    raters: Mapping[str, str] = field(default_factory=dict)
    """User of such a form to the name of the scorer; empty: left out."""
    rater_prefix: str | None = None
    """Prefix of the scorers of other users, before the user's number."""
    pulled: Sequence[tuple[str, str, str | None]] = ()
    """Server, user's number and code of each rater pulled from Label Studio; None: erased."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    """Kind of annotations of such a form that are no independent ratings (`ground-truth`,
    `prefilled`, `predictions`) to what they are taken as: `ratings`, `reference` or `judge`;
    empty: left out."""
    queries: Sequence[str] = ()
    """Ids of the study's queries in the order of their import."""
    scorer_scales: Mapping[str, Scale] = field(default_factory=dict)
    """By scorer: the scale that study.toml declares for it."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Field of a task's data in such a form to the name under which it is understood."""
    words: Mapping[str, float | None] = field(default_factory=dict)
    """Declared numbers by word; None means a missing value."""
    words_of_constructs: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    """Those of each construct, where `words` does not have the word."""
    table_scale: Callable[[str, str], Ranged | None] | None = None
    """In a report on a file: the declared scale of a scorer on a construct."""
    words_read: list[WordsAhead] = field(default_factory=list)
    """The words of the file as they were read, noted by `read_values`."""
    metrics_are_constructs: bool = False
    """Whether each metric of another tool is a separate construct, as in a report on a file."""

    def read_values(
        self,
        reader: Reader,
        scored: Callable[[RecordCells], Iterable[ScoredCell]],
        records: Callable[[RecordSource], Iterable[Record | Fault]] = RecordSource.records,
    ) -> WordsAhead:
        """Let a reader read words as values, and return the words of the file.

        `scored` returns the cells of a record that have judgments, and `records` the records of a
        file that is read ahead.

        Raises
        ------
        StudyError
            Declared numbers of words contradict each other.
        """
        try:
            declared = checked_values(self.words.items())
        except ValueError as error:
            raise StudyError(f"Numbers of words: {error}.") from None

        def ahead() -> Iterator[ScoredCell]:
            again = type(reader.source)(reader.source.path)
            for cells in Reader(again, reader.fields, reader.reserved).read(records(again)):
                if isinstance(cells, RecordCells):
                    yield from scored(cells)

        words = WordsAhead(ahead, declared, self.words_of_constructs)
        self.words_read.append(words)
        reader.values = ValueRules(words, self._scale_of, self._scale_option)
        return words

    def _scale_of(self, scorer: Any, construct: Any) -> Ranged | None:
        if self.table_scale is not None:
            return self.table_scale(scorer, construct)
        return self.scorer_scales.get(scorer) or self.scales.get(construct)

    def _scale_option(self, group: Group, scale: str) -> str:
        if self.table_scale is None:
            low, high = scale.split(":")
            return f"scale = {{ min = {low}, max = {high} }} in study.toml"
        scorer, construct = group
        return f"--scale {shell_word(f'{scorer}:{construct}={scale}')}"

    def kind(self, cells: RecordCells, scorer: str | None) -> str | None:
        """Return the kind of a scorer: from the record, the caller or the study."""
        from_column = cells.kind("scorer_kind")
        declared = self.declared_kinds.get(scorer or "", from_column)
        if from_column in KINDS and from_column != declared:
            _contradicted(
                cells, f"{scorer!r} is {from_column}", f"--kind {scorer}={declared}", "scorer_kind"
            )
        if from_column not in KINDS and scorer in self.declared_kinds:
            # A word that names no kind, which the caller explains.
            return declared
        kind_of_scorer = from_column or self.kinds.get(scorer or "")
        if kind_of_scorer is None and scorer is not None:
            cells.suppress_missing("scorer_kind")
            cells.fault_once(
                f"the kind of the scorer {scorer!r} is unknown.",
                f"Add a column scorer_kind, give --kind {scorer}=human (or adjudicated, judge, "
                "metric), or declare it in study.toml.",
                cells.column("scorer"),
            )
        return kind_of_scorer

    def scorer_of(self, cells: RecordCells) -> str | None:
        """Return the scorer that the record names, or the one declared for all records."""
        return _from_file(cells, "scorer", self.scorer, "--scorer")

    def system_of(self, cells: RecordCells) -> str | None:
        """Return the system that the record names, or the one declared for all records."""
        return _from_file(cells, "system", self.system, "--system")

    def construct_of(self, cells: RecordCells) -> str | None:
        """Return the construct that the record names, or the one declared for all records."""
        return _from_file(cells, "construct_key", self.construct, "construct =")


def _from_file(cells: RecordCells, name: str, option: str | None, flag: str) -> str | None:
    value = cells.key(name)
    if value is not None and option not in (None, value):
        _contradicted(cells, f"{name.partition('_')[0]} {value!r}", f"{flag} {option}", name)
    return value or option


def _contradicted(cells: RecordCells, value: str, option: str, name: str) -> None:
    cells.fault_once(
        f"the file states {value}; the option is {option}.",
        "Options supply what a file lacks: leave the option out, or correct the file.",
        cells.column(name),
    )


GROUP = "ccrs.importers"


class FileDescription(NamedTuple):
    """What a file contains that its columns do not show."""

    contents: dict[str, str]
    """Part of the file, such as a control, to its content in words."""
    options: tuple[str, ...]
    """Options of `ccrs import`, quoted for a shell; capitals are to be replaced."""


@dataclass(frozen=True)
class Importer:
    """A format: what it needs, how it is recognized, how it is read.

    An entry point names a module with `matches(head)` and `rows(source, options)`, and optionally
    `DESCRIPTION` (the content of such a file, in a line), `missing_columns(head)` (absent columns),
    `reject_reason(head)` (a `Fault` where a file has this format but lacks something, so that no
    other format accepts it), `is_certain(head)` (whether the file is of this format even if others
    match it), `unmapped(source, options)` (controls without a construct), `describe(source,
    options)` (a `FileDescription`) and `TAKES` (which of the declarations columns, controls,
    ranges, raters, rater_prefix and annotations of `FormatOptions` it reads; others are refused).
    `matches` may take the study's constructs as a second argument.
    """

    name: str
    description: str
    matches: Callable[[Head, tuple[str, ...]], bool]
    rows: Callable[[RecordSource, FormatOptions], Rows]
    missing_columns: Callable[[Head], list[tuple[str, ...]]] | None = None
    unmapped: Callable[[RecordSource, FormatOptions], list[str]] | None = None
    reject_reason: Callable[[Head], Fault | None] | None = None
    describe: Callable[[RecordSource, FormatOptions], FileDescription] | None = None
    is_certain: Callable[[Head], bool] | None = None
    takes: frozenset[str] = frozenset()


def importers() -> tuple[list[Importer], list[str]]:
    """Return the installed importers, and a line for each that can't be used."""
    loaded, broken = [], []
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            loaded.append(_loaded(point))
        except Exception as error:  # noqa: BLE001  (third-party code; the others still work)
            broken.append(f"importer {point.name!r} ({point.value}) can't be used: {error}")
    return loaded, broken


def importer_for(
    source: RecordSource,
    constructs: Sequence[str],
    name: str | None,
    declared: Sequence[str] = (),
) -> tuple[Importer, list[str]]:
    """Return the importer called `name`, or the one that recognizes the file.

    `declared` names columns that the file may lack, since the caller declares their content.

    Raises
    ------
    InputError
        No importer or several recognize the file, or one recognizes it and rejects it.
    StudyError
        The name is unknown.
    """
    candidates, broken = importers()
    if name is not None:
        by_name = {importer.name: importer for importer in candidates}
        if name not in by_name:
            problems = "".join(f"\n{line}" for line in broken)
            raise StudyError(
                f"Unknown importer {name!r}. {nearest(name, by_name)} "
                f"Known: {', '.join(by_name)}.{problems}"
            )
        _check_rejections(source, [by_name[name]], broken)
        return by_name[name], broken
    head = source.head
    _check_rejections(source, candidates, broken)
    matching = _matching(candidates, head, constructs, broken)
    missing = [column for column in declared if column not in head.columns]
    if not matching and missing:
        head = head._replace(columns=(*head.columns, *missing))
        matching = _matching(candidates, head, constructs, broken)
    if len(matching) == 1:
        return matching[0], broken
    within = None if matching else rows_within(source.document)
    if within is not None:
        raise InputError(source.path.name, [within_document(source.path, within)], broken)
    raise InputError(source.path.name, _undecided(head, matching, candidates), broken)


def _check_rejections(source: RecordSource, candidates: list[Importer], broken: list[str]) -> None:
    faults = []
    for importer in candidates:
        try:
            fault = None if importer.reject_reason is None else importer.reject_reason(source.head)
        except InputError:
            raise
        except Exception as error:  # noqa: BLE001  (as above)
            broken.append(f"importer {importer.name!r} failed on this file: {error}")
            continue
        faults += [] if fault is None else [fault]
    if faults:
        raise InputError(source.path.name, faults, broken)


def _matching(
    candidates: list[Importer], head: Head, constructs: Sequence[str], broken: list[str]
) -> list[Importer]:
    matching = []
    for importer in candidates:
        try:
            if importer.is_certain is not None and importer.is_certain(head):
                return [importer]
            if importer.matches(head, tuple(constructs)):
                matching.append(importer)
        except Exception as error:  # noqa: BLE001  (as above)
            line = f"importer {importer.name!r} failed on this file: {error}"
            broken += [] if line in broken else [line]
    return matching


def _undecided(head: Head, matching: list[Importer], candidates: list[Importer]) -> list[Fault]:
    if matching:
        names = ", ".join(importer.name for importer in matching)
        return [Fault(f"several formats fit: {names}.", "Choose one with --as NAME.")]
    close = [_lacking(head, importer) for importer in candidates]
    closest = min((c for c in close if c is not None), key=lambda c: c.rank, default=None)
    if closest is not None:
        faults = [missing_column(names, head.columns) for names in closest.missing]
        name = closest.importer.name
        return [Fault(f"it looks like {name}, but {f.problem}", f.remedy, 1) for f in faults]
    formats = "".join(f"\n    {importer.name}: {importer.description}" for importer in candidates)
    names = quoted_names(head.columns) or "no names"
    problem = f"no format fits. The file has: {names}.{separators_hint(head.columns, head.form)}"
    return [Fault(problem, f"Choose one with --as NAME. Formats:{formats}")]


class _Close(NamedTuple):
    """A format that a file nearly has: one column is missing, or the missing are misspelled."""

    rank: tuple[int, int]
    importer: Importer
    missing: list[tuple[str, ...]]


def _lacking(head: Head, importer: Importer) -> _Close | None:
    missing = importer.missing_columns(head) if importer.missing_columns is not None else []
    absent = sum(not any(nearest(name, head.columns) for name in names) for names in missing)
    if not missing or (absent and len(missing) > 1):
        return None
    return _Close((absent, len(missing)), importer, missing)


_OPTIONAL = ("missing_columns", "unmapped", "reject_reason", "describe", "is_certain")


def _loaded(point: EntryPoint) -> Importer:
    module: Any = point.load()
    matches = module.matches
    with_constructs = len(signature(matches).parameters) > 1
    return Importer(
        name=point.name,
        description=str(getattr(module, "DESCRIPTION", "no description")),
        matches=matches if with_constructs else lambda head, _: bool(matches(head)),
        rows=module.rows,
        takes=frozenset(getattr(module, "TAKES", ())),
        **{name: getattr(module, name, None) for name in _OPTIONAL},
    )

"""The installed importers, what they are told about a file, and the choice of one for a file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from inspect import signature
from typing import Any, NamedTuple

from study.errors import Fault, InputError, StudyError, nearest
from study.importing.readers.column_layout import missing_column
from study.importing.readers.records import KINDS, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import Rows
from study.scales import RatingScale
from study.text import quoted_names


@dataclass(frozen=True)
class FormatOptions:
    """What the caller says about a file, and what the study knows.

    `scorer`, `system` and `construct` replace columns that the file lacks.
    """

    constructs: tuple[str, ...] = ()
    """Known constructs, which may be columns of a wide table."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """By scorer: human, adjudicated, judge or metric."""
    said: Mapping[str, str] = field(default_factory=dict)
    """Those of `kinds` that the caller says of this very file."""
    scorer: str | None = None
    system: str | None = None
    construct: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    """Names of the constructs by their keys."""
    scales: Mapping[str, RatingScale] = field(default_factory=dict)
    """Scales of the constructs by their keys."""
    controls: Mapping[str, str] = field(default_factory=dict)
    """Control of a form that was rated on to the construct that it rates; empty: left out."""
    controls_said: Mapping[str, str] = field(default_factory=dict)
    """Those of `controls` that the caller says of this very file."""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Control of such a form to its least and greatest value, which become its construct's."""
    raters: Mapping[str, str] = field(default_factory=dict)
    """User of such a form to the scorer that they are; empty: left out."""
    rater_prefix: str | None = None
    """What the scorers of other users begin with, before the user's number."""
    pulled: Sequence[tuple[str, str, str | None]] = ()
    """Server, user's number and code of each rater that was pulled; without a code: erased."""
    queries: Sequence[str] = ()
    """Ids of the study's queries in the order of their import."""

    def kind(self, cells: RecordCells, scorer: str | None) -> str | None:
        """Return the kind of a scorer, from the record or from what is known."""
        from_column = cells.key("scorer_kind")
        named = self.said.get(scorer or "", from_column)
        if from_column in KINDS and from_column != named:
            _contradicted(
                cells, f"{scorer!r} is {from_column}", f"--kind {scorer}={named}", "scorer_kind"
            )
        known = from_column or self.kinds.get(scorer or "")
        if known is None and scorer is not None:
            cells.unsaid("scorer_kind")
            cells.fault_once(
                f"what kind of scorer is {scorer!r}?",
                "Say so in a column scorer_kind, with --kind "
                f"{scorer}=human (or adjudicated, judge, metric), or in study.toml.",
                cells.column("scorer"),
            )
        return known

    def scorer_of(self, cells: RecordCells) -> str | None:
        """Return the scorer that the record names, or the one given for all."""
        return _from_file(cells, "scorer", self.scorer, "--scorer")

    def system_of(self, cells: RecordCells) -> str | None:
        """Return the system that the record names, or the one given for all."""
        return _from_file(cells, "system", self.system, "--system")

    def construct_of(self, cells: RecordCells) -> str | None:
        """Return the construct that the record names, or the one given for all."""
        return _from_file(cells, "construct_key", self.construct, "construct =")


def _from_file(cells: RecordCells, name: str, option: str | None, flag: str) -> str | None:
    value = cells.key(name)
    if value is not None and option not in (None, value):
        _contradicted(cells, f"{name.partition('_')[0]} {value!r}", f"{flag} {option}", name)
    return value or option


def _contradicted(cells: RecordCells, value: str, option: str, name: str) -> None:
    cells.fault_once(
        f"the file says {value}, but the option {option}.",
        "Options say what a file leaves unsaid: leave it out, or correct the file.",
        cells.column(name),
    )


GROUP = "ccrs.importers"


@dataclass(frozen=True)
class Importer:
    """A format: what it needs, how it is recognized, how it is read.

    An entry point names a module with `matches(head)` and `rows(source, options)`, and
    optionally `WANTS` (what it is for, in a line), `missing_columns(head)` (absent columns),
    `reject_reason(head)` (a `Fault` where a file is of its kind but says too little, so that no
    other format accepts it) and `unmapped(source, options)` (controls without a construct).
    `matches` may take the study's constructs as a second argument.
    """

    name: str
    wants: str
    matches: Callable[[Head, tuple[str, ...]], bool]
    rows: Callable[[RecordSource, FormatOptions], Rows]
    missing_columns: Callable[[Head], list[tuple[str, ...]]] | None = None
    unmapped: Callable[[RecordSource, FormatOptions], list[str]] | None = None
    reject_reason: Callable[[Head], Fault | None] | None = None


def importers() -> tuple[list[Importer], list[str]]:
    """Return the installed importers, and a line for each that can't be used."""
    loaded, broken = [], []
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            loaded.append(_loaded(point))
        except Exception as error:  # noqa: BLE001  (anybody's code; the others still work)
            broken.append(f"importer {point.name!r} ({point.value}) can't be used: {error}")
    return loaded, broken


def importer_for(
    source: RecordSource, constructs: Sequence[str], name: str | None, said: Sequence[str] = ()
) -> tuple[Importer, list[str]]:
    """Return the importer called `name`, or the one that recognises the file.

    `said` names columns that the file may lack, since the caller says what they hold.

    Raises
    ------
    InputError
        None or several recognise it, and each says what it wants; or one knows that it can't be
        read.
    StudyError
        There is no importer of this name.
    """
    candidates, broken = importers()
    if name is not None:
        named = next((importer for importer in candidates if importer.name == name), None)
        if named is None:
            there = [importer.name for importer in candidates]
            hint = nearest(name, there)
            lost = "".join(f"\n{line}" for line in broken)
            raise StudyError(
                f"There is no importer {name!r}. {hint} There are: {', '.join(there)}.{lost}"
            )
        _refused(source, [named], broken)
        return named, broken
    head = source.head
    _refused(source, candidates, broken)
    takers = _takers(candidates, head, constructs, broken)
    missing = [column for column in said if column not in head.columns]
    if not takers and missing:
        head = head._replace(columns=(*head.columns, *missing))
        takers = _takers(candidates, head, constructs, broken)
    if len(takers) == 1:
        return takers[0], broken
    raise InputError(source.path.name, _undecided(head, takers, candidates), broken)


def _refused(source: RecordSource, candidates: list[Importer], broken: list[str]) -> None:
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


def _takers(
    candidates: list[Importer], head: Head, constructs: Sequence[str], broken: list[str]
) -> list[Importer]:
    takers = []
    for importer in candidates:
        try:
            if importer.matches(head, tuple(constructs)):
                takers.append(importer)
        except Exception as error:  # noqa: BLE001  (as above)
            line = f"importer {importer.name!r} failed on this file: {error}"
            broken += [] if line in broken else [line]
    return takers


def _undecided(head: Head, takers: list[Importer], candidates: list[Importer]) -> list[Fault]:
    if takers:
        those = ", ".join(importer.name for importer in takers)
        return [Fault(f"several formats fit: {those}.", "Choose one with --as NAME.")]
    close = [_lacking(head, importer) for importer in candidates]
    closest = min((c for c in close if c is not None), key=lambda c: c.rank, default=None)
    if closest is not None:
        faults = [missing_column(quoted_names, head.columns) for quoted_names in closest.missing]
        name = closest.importer.name
        return [Fault(f"it looks like {name}, but {f.problem}", f.remedy, 1) for f in faults]
    wants = "".join(f"\n    {importer.name}: {importer.wants}" for importer in candidates)
    there = quoted_names(head.columns) or "nothing that is named"
    problem = f"no format fits. There are: {there}."
    return [Fault(problem, f"Choose one with --as NAME. They want:{wants}")]


class _Close(NamedTuple):
    """A format that a file nearly fits: one column is missing, or all that are have a near one."""

    rank: tuple[int, int]
    importer: Importer
    missing: list[tuple[str, ...]]


def _lacking(head: Head, importer: Importer) -> _Close | None:
    missing = importer.missing_columns(head) if importer.missing_columns is not None else []
    lost = sum(
        not any(nearest(name, head.columns) for name in quoted_names) for quoted_names in missing
    )
    if not missing or (lost and len(missing) > 1):
        return None
    return _Close((lost, len(missing)), importer, missing)


def _loaded(point: EntryPoint) -> Importer:
    module: Any = point.load()
    matches = module.matches
    with_constructs = len(signature(matches).parameters) > 1
    return Importer(
        name=point.name,
        wants=str(getattr(module, "WANTS", "not said")),
        matches=matches if with_constructs else lambda head, _: bool(matches(head)),
        rows=module.rows,
        missing_columns=getattr(module, "missing_columns", None),
        unmapped=getattr(module, "unmapped", None),
        reject_reason=getattr(module, "reject_reason", None),
    )

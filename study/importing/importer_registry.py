"""Which importers there are, and which of them a file is for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from inspect import signature
from typing import Any, NamedTuple

from study.errors import Fault, InputError, StudyError, nearest
from study.importing.formats.format_options import FormatOptions
from study.importing.readers.column_layout import missing_column
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import Rows
from study.text import quoted_names

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

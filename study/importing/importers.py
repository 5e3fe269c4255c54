"""Which importers there are, and which of them a file is for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from inspect import signature
from typing import Any

from study.errors import Fault, InputError, StudyError, nearest
from study.importing.formats.options import Options
from study.importing.reading.layout import missing_column
from study.importing.reading.source import Head, Source
from study.importing.rows import Rows

GROUP = "ccrs.importers"


@dataclass(frozen=True)
class Importer:
    """A format: what it wants, how it is recognised, how it is read.

    An entry point names a module with `recognises(head)` and `rows(source, options)`, and if it
    likes `WANTS` (what it is for, in a line) and `lacks(head)` (columns that are missing).
    `recognises` may take the study's constructs as a second argument.
    """

    name: str
    wants: str
    recognises: Callable[[Head, tuple[str, ...]], bool]
    rows: Callable[[Source, Options], Rows]
    lacks: Callable[[Head], list[tuple[str, ...]]] | None = None


def importers() -> tuple[list[Importer], list[str]]:
    """Return the installed importers, and a line for each that can't be used."""
    found, broken = [], []
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            found.append(_loaded(point))
        except Exception as error:  # noqa: BLE001  (anybody's code; the others still work)
            broken.append(f"importer {point.name!r} ({point.value}) can't be used: {error}")
    return found, broken


def importer_for(
    source: Source, constructs: Sequence[str], name: str | None
) -> tuple[Importer, list[str]]:
    """Return the importer called `name`, or the one that recognises the file.

    Raises
    ------
    InputError
        None or several recognise it; each says what it wants.
    StudyError
        There is no importer of this name.
    """
    found, broken = importers()
    if name is not None:
        named = next((importer for importer in found if importer.name == name), None)
        if named is None:
            names = [importer.name for importer in found]
            hint = nearest(name, names)
            lost = "".join(f"\n{line}" for line in broken)
            raise StudyError(
                f"There is no importer {name!r}. {hint} There are: {', '.join(names)}.{lost}"
            )
        return named, broken
    head = source.head
    takers = []
    for importer in found:
        try:
            if importer.recognises(head, tuple(constructs)):
                takers.append(importer)
        except Exception as error:  # noqa: BLE001  (as above)
            broken.append(f"importer {importer.name!r} failed on this file: {error}")
    if len(takers) == 1:
        return takers[0], broken
    raise InputError(source.path.name, [_undecided(head, takers, found)], broken)


def _undecided(head: Head, takers: list[Importer], found: list[Importer]) -> Fault:
    if takers:
        names = ", ".join(importer.name for importer in takers)
        return Fault(f"several formats fit: {names}.", "Choose one with --as NAME.")
    closest: tuple[int, Importer, list[tuple[str, ...]]] | None = None
    for importer in found:
        missing = importer.lacks(head) if importer.lacks is not None else []
        if missing and (closest is None or len(missing) < closest[0]):
            closest = (len(missing), importer, missing)
    if closest is not None and closest[0] == 1:
        fault = missing_column(closest[2][0], head.columns)
        return Fault(f"it looks like {closest[1].name}, but {fault.problem}", fault.remedy, 1)
    wants = "".join(f"\n    {importer.name}: {importer.wants}" for importer in found)
    there = ", ".join(head.columns) or "nothing that is named"
    return Fault(
        f"no format fits. There are: {there}.", f"Choose one with --as NAME. They want:{wants}"
    )


def _loaded(point: EntryPoint) -> Importer:
    module: Any = point.load()
    recognises = module.recognises
    with_constructs = len(signature(recognises).parameters) > 1
    return Importer(
        name=point.name,
        wants=str(getattr(module, "WANTS", "not said")),
        recognises=recognises if with_constructs else lambda head, _: bool(recognises(head)),
        rows=module.rows,
        lacks=getattr(module, "lacks", None),
    )

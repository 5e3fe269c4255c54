"""Import of a file into a study."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from study.errors import Fault, StudyError, nearest
from study.importing.import_report import ImportSummary
from study.importing.import_store import import_rows
from study.importing.importers import FormatOptions, Importer, importer_for
from study.importing.readers.cells import is_number
from study.importing.readers.input_file import Advance, unseen
from study.importing.readers.records import KINDS
from study.importing.readers.source import RecordSource
from study.importing.readers.value_words import checked_values
from study.importing.rows import MarksRow, PreferenceRow, Rows, ScoreRow
from study.importing.value_checks import known_kinds
from study.schema.tables import external_raters, queries as query_table, raters as rater_table

if TYPE_CHECKING:
    from study.study import Study


def import_file(
    study: "Study",
    path: Path | str,
    *,
    importer: str | None = None,
    kinds: Mapping[str, str] | None = None,
    scorer: str | None = None,
    system: str | None = None,
    construct: str | None = None,
    controls: Mapping[str, str] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    values: Mapping[str, float | None] | None = None,
    columns: Mapping[str, str] | None = None,
    raters: Mapping[str, str] | None = None,
    rater_prefix: str | None = None,
    annotations: Mapping[str, str] | None = None,
    allow_unmatched: bool = False,
    revise: bool = False,
    conflicts_as_repeats: bool = False,
    kinds_of_several_files: bool = False,
    progress: Advance | None = None,
) -> ImportSummary:
    """Import a file into a study, completely or not at all.

    Parameters
    ----------
    path
        CSV or TSV, JSON lines, JSON or Parquet, detected from its content.
    importer
        Name of the format; default: recognized from the content.
    kinds
        Scorer to kind (human, adjudicated, judge, metric), where the file does not state it.
    scorer, system, construct
        Values of columns that the file lacks, for all its rows.
    controls
        Control of a Label Studio export to the construct that it rates, or metric of another
        tool's export to the one it measures, before study.toml's; empty: left out. Unlike those of
        study.toml, one that the file lacks is a fault.
    ranges
        Such a control or metric to its lowest and highest value, where they are not its
        construct's: values are mapped linearly.
    values
        Word to its number, or to None if it means a missing value; before the words that are known
        and those of study.toml. In a Label Studio export: choice to its number, for controls that
        `controls` names.
    columns
        Field of the tasks in such an export to the name under which it is understood, such as
        `{"model": "system"}`.
    raters, rater_prefix
        User of such an export to the name of the scorer (empty: left out). Other users are named
        by the prefix, by default `ls-`, and their number.
    annotations
        Kind of annotations of such an export that are left out otherwise, `ground-truth` or
        `prefilled` (made from a prediction or another annotation), to `ratings`, or for
        `ground-truth` also `reference`: adjudicated values; `predictions` to `judge`.
    allow_unmatched, revise, conflicts_as_repeats
        See `import_rows`.
    kinds_of_several_files
        Whether `kinds` may name scorers of other files; else one that the file lacks is a fault.
    progress
        Called with the amount read and the total, in the same unit.

    Raises
    ------
    InputError
        With all faults of the file. Nothing is stored.

    Examples
    --------
    >>> from ccrs_study import Study, import_file
    >>> with Study.create("imported") as study:
    ...     print(*import_file(study, "responses.jsonl").lines())
    responses.jsonl (responses, 2 rows): 1 query, 2 responses, 2 outputs, 1 passage added.
    """
    checked_kinds = _checked_kinds(kinds or {})
    source = RecordSource(Path(path), advance=progress or unseen)
    constructs = tuple(c.key for c in study.config.constructs)
    instead = {"scorer": scorer, "system": system, "construct": construct}
    declared = [name for name, value in instead.items() if value is not None]
    chosen, broken = importer_for(source, constructs, importer, declared)
    given = {
        "columns": columns,
        "controls": controls,
        "ranges": ranges,
        "raters": raters,
        "rater_prefix": rater_prefix,
        "annotations": annotations,
    }
    _check_taken(chosen, source.path.name, [name for name, value in given.items() if value])
    source.report.warnings += broken
    with study.read() as connection:
        stored = known_kinds(connection, study.config)
        q: Any = query_table
        queries = list(connection.execute(select(q.c.key).order_by(q.c.id)).scalars())
        pulled = connection.execute(
            select(external_raters.c.server, external_raters.c.external_id, rater_table.c.code)
            .join_from(
                external_raters,
                rater_table,
                external_raters.c.rater_id == rater_table.c.id,
                isouter=True,
            )
            .order_by(external_raters.c.id)
        ).all()
    options = study_options(
        study,
        controls=controls or {},
        ranges=ranges or {},
        columns=columns or {},
        annotations=annotations or {},
        kinds={**stored, **checked_kinds},
        declared_kinds=checked_kinds,
        scorer=scorer,
        system=system,
        construct=construct,
        values={word: n for word, n in (values or {}).items() if n is not None},
        words={word: n for word, n in (values or {}).items() if not is_number(word)},
        words_of_constructs=_words_of_constructs(study),
        raters=raters or {},
        rater_prefix=rater_prefix,
        pulled=[(row.server, row.external_id, row.code) for row in pulled],
        queries=queries,
        scorer_scales={
            name: spec.scale
            for name, spec in study.config.scorers.items()
            if spec.scale is not None
        },
    )
    recorded = {
        "kinds": checked_kinds,
        **instead,
        "controls": dict(controls or {}),
        "ranges": {control: list(ends) for control, ends in (ranges or {}).items()},
        "values": dict(values or {}),
        "columns": dict(columns or {}),
        "raters": dict(raters or {}),
        "rater_prefix": rater_prefix,
        "annotations": dict(annotations or {}),
    }
    rows = chosen.rows(source, options)
    if checked_kinds and not kinds_of_several_files:
        rows = _with_known_scorers(rows, checked_kinds)
    return import_rows(
        study,
        rows,
        source=source.path.name,
        sha256=source.sha256,
        importer=chosen.name,
        options={name: value for name, value in recorded.items() if value},
        allow_unmatched=allow_unmatched,
        revise=revise,
        conflicts_as_repeats=conflicts_as_repeats,
        report=source.report,
    )


def unmapped_controls(
    study: "Study",
    path: Path | str,
    *,
    importer: str | None = None,
    controls: Mapping[str, str] | None = None,
) -> list[str]:
    """Return the controls of a file that are not mapped to a construct; `import_file` refuses them.

    Raises
    ------
    InputError
        No format fits the file.
    """
    source = RecordSource(Path(path))
    constructs = tuple(c.key for c in study.config.constructs)
    chosen, _ = importer_for(source, constructs, importer)
    if chosen.unmapped is None:
        return []
    return chosen.unmapped(source, study_options(study, controls=controls or {}))


def study_options(
    study: "Study",
    *,
    controls: Mapping[str, str],
    annotations: Mapping[str, str] | None = None,
    **declared: Any,
) -> FormatOptions:
    """Return what a study and its caller state about a file; see `import_file`."""
    constructs = study.config.constructs
    return FormatOptions(
        constructs=tuple(construct.key for construct in constructs),
        names={construct.key: construct.name for construct in constructs},
        scales={construct.key: construct.scale for construct in constructs},
        preference_scale=study.config.preferences.scale,
        controls={**study.config.label_studio.controls, **controls},
        declared_controls=controls,
        annotations={kind: taken for kind, taken in (annotations or {}).items() if taken},
        **declared,
    )


#: What an option declares, and in which files it has a meaning.
_DECLARED = {
    "columns": ("--column", "fields of the tasks in a Label Studio export; rename its columns"),
    "controls": ("--control", "controls of a Label Studio export or metrics of a tool's export"),
    "ranges": ("--scale", "controls of a Label Studio export or metrics of a tool's export"),
    "raters": ("--rater", "users of a Label Studio export"),
    "rater_prefix": ("--rater-prefix", "users of a Label Studio export"),
    "annotations": ("--annotations", "kinds of annotations of a Label Studio export"),
}


def _check_taken(chosen: Importer, name: str, given: Sequence[str]) -> None:
    """Refuse declarations that this format does not read."""
    without_effect = [option for option in given if option not in chosen.takes]
    if without_effect:
        parts = [f"{_DECLARED[of][0]} names {_DECLARED[of][1]}" for of in without_effect]
        raise StudyError(
            f"{name} is read as {chosen.name}, for which these options have no effect; leave them "
            f"out: {'; '.join(parts)}."
        )


def _with_known_scorers(rows: Rows, kinds: Mapping[str, str]) -> Rows:
    """The rows, and a fault for each declared kind whose scorer none of them has."""
    present: set[str] = set()
    for located in rows:
        row = getattr(located, "row", None)
        if isinstance(row, ScoreRow | PreferenceRow | MarksRow):
            present.add(row.scorer)
        yield located
    for scorer, kind in kinds.items():
        if scorer not in present:
            remedy = f"{nearest(scorer, sorted(present))} Leave it out, or correct the name."
            yield Fault(
                f"--kind {scorer}={kind} has no effect: no row has the scorer {scorer!r}.",
                remedy.strip(),
            )


def _words_of_constructs(study: "Study") -> dict[str, dict[str, float | None]]:
    return {
        construct.key: _checked_words(
            construct.word_values, f"values of the construct {construct.key} in study.toml"
        )
        for construct in study.config.constructs
        if construct.values
    }


def _checked_words(values: Mapping[str, float | None], name: str) -> dict[str, float | None]:
    try:
        return checked_values(values.items())
    except ValueError as error:
        raise StudyError(f"{name}: {error}") from None


def _checked_kinds(kinds: Mapping[str, str]) -> dict[str, str]:
    for scorer, kind in kinds.items():
        if kind not in KINDS:
            raise StudyError(
                f"{kind!r} is not a kind of scorer ({scorer!r}). {nearest(kind, KINDS)} "
                f"Write one of {', '.join(KINDS)}."
            )
    return dict(kinds)

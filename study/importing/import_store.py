"""Storing imported rows in one transaction: all rows of a source, or none."""

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, delete, select

from study.errors import Fault, InputError, nearest
from study.importing.bulk_insert import Batch
from study.importing.content_store import ContentStore
from study.importing.existing_content import ExistingContent
from study.importing.gold import ExpectedStore
from study.importing.import_report import ImportReport, ImportSummary
from study.importing.rows import ExpectedRow, LocatedRow, MarksRow, PreferenceRow, ResponseRow
from study.importing.value_checks import ValueChecks
from study.importing.value_store import Replaced
from study.schema import now
from study.schema.creation import append_only_suspended
from study.schema.tables import imported_files, scorer_answers
from study.text import counted

if TYPE_CHECKING:
    from study.study import Study

CORRECTED = (
    "scores of the last import of this file, now replaced: its ranges, or the numbers of choices, "
    "were others"
)

# Names of the study's responses that are listed when ids do not match.
_LISTED = 50
# Suggestions compare an id with every known id, so their number is limited.
_HINTS, _KNOWN = 20, 5000


def import_rows(
    study: "Study",
    rows: Iterable[LocatedRow | Fault],
    *,
    source: str,
    sha256: str,
    importer: str,
    options: Mapping[str, Any] | None = None,
    allow_unmatched: bool = False,
    revise: bool = False,
    conflicts_as_repeats: bool = False,
    report: ImportReport | None = None,
) -> ImportSummary:
    """Store rows in one transaction.

    Parameters
    ----------
    rows
        Validated rows with their place in the source; a `Fault` takes the place of a row that
        can't be read. Responses come before the scores that name them.
    source, sha256, importer, options
        What was read, and how. Importing the same four again changes nothing, and the summary
        states when they were imported. With other `ranges` or `values` in the options alone, the
        scores of the last such import are replaced. Values of options can be written as JSON.
    allow_unmatched
        Leave out scores of responses that are not in the study, counted and listed, instead of
        refusing the source.
    revise
        Store changed responses as new versions, and make another response of a system its
        current one.
    conflicts_as_repeats
        Store a second, different value of one key as the next repeat.
    report
        Counts that the reader of the source updates while `rows` is read.

    Raises
    ------
    InputError
        With all faults of the source. Nothing is stored.
    """
    report = report if report is not None else ImportReport()
    record = {
        "name": source,
        "sha256": sha256,
        "importer": importer,
        "options": {
            **(options or {}),
            "allow_unmatched": allow_unmatched,
            "revise": revise,
            "conflicts_as_repeats": conflicts_as_repeats,
        },
    }
    with study.write() as connection:
        lock_imports(connection)
        before, complete, corrected = _earlier_import(connection, record)
        if before is not None and complete:
            return ImportSummary.of(report, source, importer, before)
        if corrected is not None:
            report.rules[CORRECTED] += _delete_scores(connection, corrected)
        store_rows(connection, study, rows, record, report, repeated=before is not None)
    return ImportSummary.of(report, source, importer)


def store_rows(
    connection: Connection,
    study: "Study",
    rows: Iterable[LocatedRow | Fault],
    record: Mapping[str, Any],
    report: ImportReport,
    *,
    repeated: bool = False,
    replaced: Replaced = Replaced(),  # noqa: B008  (it cannot be changed)
) -> None:
    """Store rows within a transaction that has locked imports; see `import_rows`.

    Parameters
    ----------
    record
        What was read and how, as the study records it.
    repeated
        Whether it was imported before; it is recorded again only if that changes anything.
    replaced
        Earlier imports of the same source in another state: their answers are replaced.

    Raises
    ------
    InputError
        With all faults of the source.
    """
    options = record["options"]
    existing = ExistingContent(connection)
    content = ContentStore(connection, existing, report, revise=options["revise"])
    checks = ValueChecks(
        connection,
        study.config,
        existing,
        report,
        conflicts_as_repeats=options["conflicts_as_repeats"],
        replaced=replaced,
    )
    expected = ExpectedStore(connection, study.config, content, report)
    _add_rows(rows, content, expected, checks, report)
    content.finish()
    expected.finish()
    versions = study.construct_versions(connection)
    checks.join(connection, versions)
    if not options["allow_unmatched"]:
        report.faults += _unmatched_faults(existing, checks, report)
    if report.faults:
        in_order = sorted(report.faults, key=lambda fault: fault.row or math.inf)
        raise InputError(record["name"], in_order, report.notes)
    report.warnings += checks.warnings()
    report.warnings += _missing_fields(study, content)
    if repeated and not (report.added + report.changed + report.withdrawn):
        return
    counts = {
        **{f"added {noun}": n for noun, n in report.added.items() if n},
        **{f"changed {noun}": n for noun, n in report.changed.items() if n},
        **{f"withdrawn {noun}": n for noun, n in report.withdrawn.items() if n},
        **{f"already {noun}": n for noun, n in report.already.items() if n},
        **{f"accepted: {rule}": n for rule, n in report.rules.items()},
        **{f"left out: {content}": n for content, n in report.left_out.items()},
        "unmatched": report.unmatched_rows,
    }
    files = Batch(connection, imported_files)
    file_id = files.add(**record, counts=counts, config_hash=study.config_hash, created_at=now())
    files.finish()
    checks.store(connection, versions, file_id)


def lock_imports(connection: Connection) -> None:
    """Exclude other imports, and enlarge the cache for the index of passages."""
    if connection.dialect.name == "postgresql":
        # SQLite's writing transactions exclude each other anyway.
        connection.exec_driver_sql("LOCK TABLE imported_file IN EXCLUSIVE MODE")
    elif connection.dialect.name == "sqlite":
        # Digests touch the whole index in no order: with SQLite's 2 MB of cache its pages are
        # written many times over.
        connection.exec_driver_sql("PRAGMA cache_size = -65536")


def _add_rows(
    rows: Iterable[LocatedRow | Fault],
    content: ContentStore,
    expected: ExpectedStore,
    checks: ValueChecks,
    report: ImportReport,
) -> None:
    try:
        for located in rows:
            report.count_row(located.row if isinstance(located, Fault) else located.number)
            if isinstance(located, Fault):
                report.faults.append(located)
            elif isinstance(located.row, ExpectedRow):
                expected.add(located, located.row)
            elif isinstance(located.row, ResponseRow):
                content.add(located.number, located.row)
            elif isinstance(located.row, PreferenceRow):
                checks.add_preference(located, located.row)
            elif isinstance(located.row, MarksRow):
                checks.add_marks(located, located.row)
            else:
                checks.add_score(located, located.row)
    except InputError as error:
        # The rest of the source cannot be read; earlier faults are reported with this one.
        report.faults += error.faults


def _earlier_import(
    connection: Connection, record: Mapping[str, Any]
) -> tuple[datetime | None, bool, int | None]:
    """Return when this source was last imported, whether completely, and what it corrects.

    That is the key of the last import of the source whose options differ in nothing but ranges
    and values of choices.
    """
    t: Any = imported_files
    rows = connection.execute(
        select(t)
        .where(t.c.sha256 == record["sha256"], t.c.importer == record["importer"])
        .order_by(t.c.id.desc())
    )
    for row in rows:
        if row.options == record["options"]:
            return row.created_at, not row.counts.get("unmatched"), None
        if _without_ranges(row.options) == _without_ranges(record["options"]):
            return None, False, row.id
    return None, False, None


def _without_ranges(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in {"ranges", "values"}}


def _delete_scores(connection: Connection, file_id: int) -> int:
    """Delete the scores that an import stored; return their number."""
    columns = scorer_answers.c
    theirs = delete(scorer_answers).where(columns.file_id == file_id, columns.item == "")
    with append_only_suspended(connection, [scorer_answers.name]):
        return connection.execute(theirs).rowcount


def _unmatched_faults(
    existing: ExistingContent, checks: ValueChecks, report: ImportReport
) -> list[Fault]:
    """Return a fault for each row whose response is not in the study.

    A further fault lists the study's responses that the file does not name; if it names all of
    them, a note states their number.
    """
    faults = []
    ids = {"query_id": list(existing.query_ids)}
    responses = existing.response_ids()
    for order, (name, numbers) in enumerate(report.unmatched.items()):
        field, column = checks.columns[name]
        candidates = ids.get(field, responses)
        hint = nearest(name, candidates) if order < _HINTS and len(candidates) <= _KNOWN else ""
        faults += [
            Fault(
                f"{name!r} is not in the study. {hint}".rstrip(),
                "Correct it, import its response first, or leave such rows out with "
                "--allow-unmatched.",
                number,
                column,
            )
            for number in numbers
        ]
    if faults:
        current = existing.current_responses()
        bare = sorted(existing.id_of(response) for response in current - checks.scored)
        names = ", ".join(bare[:_LISTED]) + (", ..." if len(bare) > _LISTED else "")
        if bare:
            faults.append(
                Fault(
                    f"{len(bare)} of the study's {counted(len(current), 'response')} "
                    f"{'is' if len(bare) == 1 else 'are'} not named by this file: {names}.",
                    "Compare the ids of the two.",
                )
            )
        else:
            report.notes.append(f"The study has {counted(len(current), 'response')}.")
    return faults


def _missing_fields(study: "Study", content: ContentStore) -> list[str]:
    """Return warnings about new responses that lack a field which raters of a construct see."""
    warnings = []
    for count, field, name in (
        (content.without_passages, "context", "passages"),
        (content.without_references, "reference", "reference answers"),
    ):
        keys = [c.key for c in study.config.constructs if field in c.sees]
        if count and keys:
            warnings.append(
                f"{count} new {'response has' if count == 1 else 'responses have'} no {name}; "
                f"{', '.join(keys)} {'needs' if len(keys) == 1 else 'need'} them."
            )
    return warnings

"""The door through which every imported row goes: all of a source is stored, or none."""

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from study.errors import Fault, InputError, nearest
from study.importing.bulk_insert import Batch
from study.importing.content_store import ContentStore
from study.importing.existing_content import ExistingContent
from study.importing.gold import ExpectedStore
from study.importing.import_report import ImportReport, ImportSummary
from study.importing.rows import ExpectedRow, LocatedRow, PreferenceRow, ResponseRow
from study.importing.value_checks import ValueChecks
from study.schema import ImportedFile, now, table

if TYPE_CHECKING:
    from study.study import Study

# How many names of the other side are listed when ids don't join.
_LISTED = 50
# A hint costs a comparison with every known id.
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
    tally: ImportReport | None = None,
) -> ImportSummary:
    """Store rows in one transaction.

    Parameters
    ----------
    rows
        Validated rows with their place in the source; a `Fault` takes the place of a row that
        can't be read. Responses come before the scores that name them.
    source, sha256, importer, options
        What was read, and how. The same four change nothing a second time, and the summary says
        when they came in. `options` holds values that JSON can hold.
    allow_unmatched
        Keep scores of responses that the study has not aside, counted and listed, instead of
        refusing the source.
    revise
        Take changed responses as new versions, and other responses of a system as its current
        ones.
    conflicts_as_repeats
        Keep a second, different value under one key as the next repeat.
    tally
        Counts that the reader of the source fills while `rows` is read.

    Raises
    ------
    InputError
        With every fault of the source; nothing was stored.
    """
    tally = tally if tally is not None else ImportReport()
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
        _alone(connection)
        before, complete = _earlier(connection, record)
        if before is not None and complete:
            return ImportSummary.of(tally, source, importer, before)
        existing = ExistingContent(connection)
        content = ContentStore(connection, existing, tally, revise=revise)
        scoring = ValueChecks(
            connection, study.config, existing, tally, conflicts_as_repeats=conflicts_as_repeats
        )
        expected = ExpectedStore(connection, study.config, content, tally)
        _take(rows, content, expected, scoring, tally)
        content.finish()
        expected.finish()
        versions = study.construct_versions(connection)
        scoring.join(connection, versions)
        if not allow_unmatched:
            tally.faults += _unjoined(existing, scoring, tally)
        if tally.faults:
            in_order = sorted(tally.faults, key=lambda fault: fault.row or math.inf)
            raise InputError(source, in_order, tally.notes)
        tally.warnings += scoring.warnings()
        tally.warnings += _lacking(study, content)
        if before is None or tally.added.total():
            counts = {
                **{f"added {noun}": n for noun, n in tally.added.items() if n},
                **{f"already {noun}": n for noun, n in tally.already.items() if n},
                **{f"accepted: {rule}": n for rule, n in tally.rules.items()},
                **{f"left out: {what}": n for what, n in tally.left_out.items()},
                "unmatched": tally.kept_aside,
            }
            files = Batch(connection, table(ImportedFile))
            file_id = files.add(
                **record, counts=counts, config_hash=study.config_hash, created_at=now()
            )
            files.finish()
            scoring.store(connection, versions, file_id)
    return ImportSummary.of(tally, source, importer)


def _alone(connection: Connection) -> None:
    """Keep other imports out, and make room for the index of passages."""
    if connection.dialect.name == "postgresql":
        # SQLite's writing transactions exclude each other anyway.
        connection.exec_driver_sql("LOCK TABLE imported_file IN EXCLUSIVE MODE")
    elif connection.dialect.name == "sqlite":
        # Digests touch the whole index in no order: with SQLite's 2 MB of cache its pages are
        # written many times over.
        connection.exec_driver_sql("PRAGMA cache_size = -65536")


def _take(
    rows: Iterable[LocatedRow | Fault],
    content: ContentStore,
    expected: ExpectedStore,
    scoring: ValueChecks,
    tally: ImportReport,
) -> None:
    try:
        for placed in rows:
            tally.see(placed.row if isinstance(placed, Fault) else placed.number)
            if isinstance(placed, Fault):
                tally.faults.append(placed)
            elif isinstance(placed.row, ExpectedRow):
                expected.add(placed, placed.row)
            elif isinstance(placed.row, ResponseRow):
                content.add(placed.number, placed.row)
            elif isinstance(placed.row, PreferenceRow):
                scoring.add_preference(placed, placed.row)
            else:
                scoring.add_score(placed, placed.row)
    except InputError as error:
        # The source can't be read on from here; earlier faults are reported with it.
        tally.faults += error.faults


def _earlier(connection: Connection, record: Mapping[str, Any]) -> tuple[datetime | None, bool]:
    """Return when this source came in last, and whether nothing of it was kept aside."""
    t: Any = table(ImportedFile)
    rows = connection.execute(
        select(t)
        .where(t.c.sha256 == record["sha256"], t.c.importer == record["importer"])
        .order_by(t.c.id.desc())
    )
    for row in rows:
        if row.options == record["options"]:
            return row.created_at, not row.counts.get("unmatched")
    return None, False


def _unjoined(existing: ExistingContent, scoring: ValueChecks, tally: ImportReport) -> list[Fault]:
    """Return a fault for each row whose response is not in the study, and one for the others.

    Where there are no others, their number is a note.
    """
    faults = []
    known = {"query_id": list(existing.query_ids)}
    responses = existing.response_ids()
    for order, (name, numbers) in enumerate(tally.unmatched.items()):
        field, column = scoring.columns[name]
        there = known.get(field, responses)
        hint = nearest(name, there) if order < _HINTS and len(there) <= _KNOWN else ""
        faults += [
            Fault(
                f"{name!r} is not in the study. {hint}".rstrip(),
                "Correct it, import its response first, or keep such rows aside with "
                "--allow-unmatched.",
                number,
                column,
            )
            for number in numbers
        ]
    if faults:
        current = existing.current_responses()
        bare = sorted(existing.id_of(response) for response in current - scoring.scored)
        names = ", ".join(bare[:_LISTED]) + (", ..." if len(bare) > _LISTED else "")
        if bare:
            faults.append(
                Fault(
                    f"{len(bare)} of the study's {len(current)} responses are not named by this "
                    f"file: {names}.",
                    "Compare the ids of the two.",
                )
            )
        else:
            tally.notes.append(f"The study has {len(current)} responses.")
    return faults


def _lacking(study: "Study", content: ContentStore) -> list[str]:
    """Warn of responses without what a construct looks at."""
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

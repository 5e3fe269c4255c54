"""Result files of CCRS: one JSON document for each system, with its items in query order."""

from study.errors import Fault, InputError, nearest
from study.importing.importers import FormatOptions
from study.importing.readers.column_layout import Fields
from study.importing.readers.json_text import count_other_members, objects
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import Rows, ScoreRow
from study.text import counted

DESCRIPTION = 'a JSON document {"ccrs_results": [{"metrics": {"Contextual_Coherence": 85, ...}}]}'

CONSTRUCTS = {
    "Contextual_Coherence": "CC",
    "Question_Relevance": "QR",
    "Information_Density": "ID",
    "Answer_Correctness": "AC",
    "Information_Recall": "IR",
}
FIELDS: Fields = {"metrics": ("metrics",)}

COMPOSED = (
    "Answer_Correctness, which CCRS composes of the judge's score and the exact match, stored "
    "under a separate scorer {scorer!r}, a metric"
)


def composed_scorer(scorer: str) -> str:
    """Return the name of the scorer under which the composed AC of a judge is stored."""
    return f"{scorer} (composed AC)"


def matches(head: Head) -> bool:
    """Whether the file is a document with CCRS results."""
    return head.form == "json document" and "ccrs_results" in head.first


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read the scores; the study must have as many queries as the file has items.

    Raises
    ------
    InputError
        No system or scorer is given, or items and queries differ in number.
    """
    document = source.document
    results = document.get("ccrs_results") if isinstance(document, dict) else None
    if not isinstance(results, list):
        raise source.refused('the document has no list "ccrs_results".', f"Give {DESCRIPTION}.")
    judge, system = _named(source, options, len(results))
    kind = options.kinds.get(judge, "judge")
    reader = Reader(source, FIELDS)
    count_other_members(source, document, "ccrs_results")

    def rows_of(cells: RecordCells) -> Rows:
        metrics = cells.mapping("metrics")
        if not metrics:
            cells.fault("has no metrics.", "Write null for each missing score.", "metrics")
        for name in metrics:
            if name not in CONSTRUCTS:
                hint = nearest(name, CONSTRUCTS)
                cells.fault(f"{name!r} is not a metric of CCRS.", f"{hint} Correct it.", "metrics")
        for name, construct in CONSTRUCTS.items():
            composed = construct == "AC"
            scorer = composed_scorer(judge) if composed else judge
            if composed:
                source.report.rules[COMPOSED.format(scorer=scorer)] += 1
            yield from cells.row(
                ScoreRow,
                at=name,
                query_id=options.queries[cells.number - 1],
                system=system,
                construct_key=construct,
                scorer=scorer,
                scorer_kind="metric" if composed else kind,
                value=cells.number_in(name, metrics.get(name)),
            )

    yield from reader.rows(rows_of, objects(source, results))


def _named(source: RecordSource, options: FormatOptions, items: int) -> tuple[str, str]:
    faults = [
        Fault(f"the file does not name the {name}.", f"Give it with --{name} NAME.")
        for name, value in (("scorer", options.scorer), ("system", options.system))
        if value is None
    ]
    if items != len(options.queries):
        faults.append(
            Fault(
                f"{counted(items, 'result')}, but the study has "
                f"{counted(len(options.queries), 'query', 'queries')}; results are "
                "joined with queries by their order.",
                "Import the responses first, in the order in which CCRS judged them.",
            )
        )
    if faults or options.scorer is None or options.system is None:
        raise InputError(source.path.name, faults)
    return options.scorer, options.system

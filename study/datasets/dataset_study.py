"""Fetch a public data set and create a study from it, completely or not at all."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select

from study.datasets.dataset_source import Contents, Dataset, TieBreak, collect
from study.errors import StudyError, nearest
from study.progress_bar import Advance
from study.schema import (
    AssignmentBase,
    RaterAnswerBase,
    RaterBase,
    now,
)
from study.schema.tables import (
    assignments,
    rater_answers,
    raters as rater_table,
    responses as response_table,
)
from study.study import Study

if TYPE_CHECKING:
    from study.importing.import_report import ImportSummary


def store_tie_breaks(study: Study, values: Sequence[TieBreak]) -> None:
    """Store each value as the rating of an adjudicating assignment.

    Raises
    ------
    ValueError
        A value is outside its construct's scale.
    KeyError
        The response or construct is unknown.
    """
    if not values:
        return
    moment = now()
    with study.write() as connection:
        rows = connection.execute(select(response_table.c.key, response_table.c.id))
        responses = {row.key: row.id for row in rows}
        versions = study.construct_versions(connection)
        raters = {}
        for code in dict.fromkeys(value.rater for value in values):
            noun = RaterBase(code=code)
            raters[code] = connection.execute(
                insert(rater_table).values(**noun.model_dump()).returning(rater_table.c.id)
            ).scalar_one()
        for position, value in enumerate(values):
            scale = study.config.scale(value.construct, value.rater)
            if scale is None:
                raise KeyError(value.construct)
            if problem := scale.problem(value.value):
                raise ValueError(f"{value.response_id}, {value.construct}: {problem}")
            assignment = AssignmentBase(
                construct_keys=[value.construct],
                purpose="adjudication",
                position=position,
                channel="imported",
            )
            number = connection.execute(
                insert(assignments)
                .values(
                    **assignment.model_dump(),
                    rater_id=raters[value.rater],
                    response_id=responses[value.response_id],
                    config_hash=study.config_hash,
                    created_at=moment,
                )
                .returning(assignments.c.id)
            ).scalar_one()
            rating = RaterAnswerBase(
                construct_key=value.construct,
                construct_version=versions[value.construct],
                value=value.value,
                input_kind="imported",
                channel="imported",
            )
            connection.execute(
                insert(rater_answers).values(
                    **rating.model_dump(),
                    assignment_id=number,
                    config_hash=study.config_hash,
                    created_at=moment,
                )
            )


DATASETS = {
    "openqa-nq301": "study.datasets.openqa_nq301",
    "ragchecker-meta": "study.datasets.ragchecker_meta",
}
"""Name to the module whose DATASET describes it."""


@dataclass(frozen=True)
class FetchSummary:
    """The result of a fetch: the study's content, and the source with license and citation."""

    name: str
    title: str
    folder: str
    added: dict[str, int]
    """By noun in the plural (`queries`, `responses`, `scores`, ...)."""
    rules: dict[str, int]
    """Rule by which the files were read and joined, with how often."""
    left_out: dict[str, int]
    warnings: tuple[str, ...]
    home: str
    license: str
    citation: str
    published: tuple[str, ...] = ()
    """A published table, computed from the study, as lines of text."""

    def lines(self) -> list[str]:
        """Return the summary as lines of text that can be read independently."""
        added = ", ".join(f"{count:,} {noun}" for noun, count in self.added.items())
        return [
            f"Created the study {self.folder} of {self.title}: {added}.",
            *(f"Read: {rule} ({count:,})." for rule, count in self.rules.items()),
            *(f"Left out: {content} ({count:,})." for content, count in self.left_out.items()),
            *(f"Warning: {warning}" for warning in self.warnings),
            f"From: {self.home}",
            f"License: {self.license}",
            f"Cite: {self.citation}",
            f"All of this is in {Path(self.folder) / 'SOURCE.md'}.",
            *self.published,
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the summary as plain objects for JSON."""
        lists = {"warnings": list(self.warnings), "published": list(self.published)}
        return {**asdict(self), **lists}


def fetch(
    name: str,
    folder: Path | str,
    *,
    source: Path | str | None = None,
    progress: Advance | None = None,
) -> FetchSummary:
    """Create a study from the data set `name` in `folder`.

    Parameters
    ----------
    name
        A key of `DATASETS`.
    folder
        Folder of the study; it is absent or empty.
    source
        A folder with the data set's files, in its repository's layout or all at its top, to be
        used instead of the network. The same digests are checked.
    progress
        Called with the bytes obtained so far and the bytes of all files.

    Raises
    ------
    StudyError
        The data set is unknown, the folder is not empty, or a file is not available or not the
        pinned one. Nothing is created then.
    """
    folder = Path(folder)
    dataset = _dataset(name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise StudyError(f"{folder} exists already and is not empty; choose another folder.")
    files = collect(dataset, None if source is None else Path(source), progress or _silent)
    contents = dataset.contents(files)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as aside:
        draft = Path(aside) / "study"
        imported, published = _make(dataset, contents, draft)
        summary = _summary(dataset, contents, imported, folder, published)
        (draft / "SOURCE.md").write_text(_source_page(dataset, summary), encoding="utf-8")
        if folder.exists():
            folder.rmdir()
        draft.rename(folder)
    return summary


def _dataset(name: str) -> Dataset:
    if name not in DATASETS:
        hint = nearest(name, DATASETS)
        names = ", ".join(DATASETS)
        raise StudyError(f"Unknown data set {name!r}. {hint} Known: {names}.".replace("  ", " "))
    dataset: Dataset = import_module(DATASETS[name]).DATASET
    return dataset


def _make(
    dataset: Dataset, contents: Contents, folder: Path
) -> tuple["ImportSummary", tuple[str, ...]]:
    from study.datasets.dataset_study import store_tie_breaks
    from study.importing.import_store import import_rows
    from study.study import Study

    with Study.create(folder, dataset.settings) as study:
        imported = import_rows(
            study,
            iter(contents.rows),
            source=f"github.com/{dataset.source.repository} at {dataset.source.commit}",
            sha256=dataset.source.digest,
            importer=dataset.name,
            options={},
        )
        store_tie_breaks(study, contents.tie_breaks)
        published = () if dataset.published is None else tuple(dataset.published(study))
    return imported, published


def _summary(
    dataset: Dataset,
    contents: Contents,
    imported: "ImportSummary",
    folder: Path,
    published: tuple[str, ...],
) -> FetchSummary:
    source = dataset.source
    added = dict(imported.added)
    if contents.tie_breaks:
        added["tie-breaking ratings"] = len(contents.tie_breaks)
    return FetchSummary(
        name=dataset.name,
        title=source.title,
        folder=str(folder),
        added=added,
        rules=_together(contents.rules, imported.rules),
        left_out=_together(contents.left_out, imported.left_out),
        warnings=tuple(imported.warnings),
        home=f"https://github.com/{source.repository}/tree/{source.commit}/{source.root}",
        license=source.license,
        citation=source.citation,
        published=published,
    )


def _together(*counts: Mapping[str, int]) -> dict[str, int]:
    return {content: n for part in counts for content, n in part.items() if n}


def _source_page(dataset: Dataset, summary: FetchSummary) -> str:
    source = dataset.source
    lines = [
        f"# {source.title}",
        "",
        f"Made by `ccrs fetch {dataset.name}` from {summary.home}.",
        "",
        f"License: {source.license}",
        "",
        f"Cite: {source.citation}",
        "",
        "## Files",
        "",
        "| file | SHA-256 |",
        "|---|---|",
        *(f"| {file.path} | {file.sha256} |" for file in source.files),
        "",
        "## How they were imported",
        "",
        *(f"- Added: {noun}: {count}" for noun, count in summary.added.items()),
        *(f"- Read: {rule}: {count}" for rule, count in summary.rules.items()),
        *(f"- Left out: {content}: {count}" for content, count in summary.left_out.items()),
        *(f"- Warning: {warning}" for warning in summary.warnings),
        "",
        *(["```", *summary.published, "```", ""] if summary.published else []),
        "## Notice",
        "",
        source.notice.strip(),
        "",
    ]
    return "\n".join(lines)


def _silent(done: int, total: int) -> None:
    del done, total

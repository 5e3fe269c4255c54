"""What a push and a pull did, with the words in which commands report it."""

from collections import Counter
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from study.importing.import_report import ImportReport


def reported(words: str) -> Any:
    """Return a field for a number that is reported after these words, unless it is 0."""
    return field(default=0, metadata={"words": words})


@dataclass
class _Result:
    """The result of an exchange with a server."""

    server: str

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        # `asdict` would make keys of a Counter's items.
        plain: Any = {name: dict(n) for name, n in vars(self).items() if isinstance(n, Counter)}
        return asdict(replace(self, **plain))

    def counts(self) -> list[str]:
        """Return a line for each number that is not 0."""
        found = [(one.metadata.get("words"), getattr(self, one.name)) for one in fields(self)]
        return [f"{words}: {count:,}." for words, count in found if words and count]


@dataclass(frozen=True)
class PushedProject:
    """A project that tasks were sent to."""

    number: int
    url: str
    stage: int
    constructs: tuple[str, ...]
    overlap: int
    is_new: bool
    tasks: int
    """Tasks that it has now."""


@dataclass(frozen=True)
class StatedProject:
    """A project of the responses that a file names."""

    number: int
    url: str
    construct: str
    scorer: str | None
    """As the file names it."""
    control: str
    """The control of the construct, by which the project is followed."""
    tasks: int
    """Tasks that were added."""
    is_new: bool


@dataclass
class Pushed(_Result):
    """The result of a push."""

    projects: list[PushedProject] = field(default_factory=list)
    """Projects that tasks were added to."""
    tasks: int = 0
    """Tasks that were added."""
    existing: int = 0
    """Tasks that had been added before."""
    slots: int = reported("Slots that are reserved for Label Studio")
    adopted: int = reported("Tasks that an interrupted push had sent")
    deleted: int = reported(
        "Tasks that were deleted in Label Studio, of which unrated ones are sent again"
    )
    replaced: int = reported(
        "Untouched tasks of an earlier version of a construct that were replaced"
    )
    outdated: int = reported(
        "Rated tasks of an earlier version of a construct, which stay; their values are not part "
        "of the score table"
    )
    duplicates: int = reported("Unrated tasks that were on the server twice and were deleted")
    waiting: int = reported(
        "Slots that wait until the earlier stages of their query are rated and pulled"
    )
    unknown_projects: list[int] = field(default_factory=list)
    """Projects that were made for this study but are not stored in it."""
    missing_projects: list[int] = field(default_factory=list)
    """Projects of the study that are no longer on the server."""
    ignored_settings: list[str] = field(default_factory=list)
    """Settings of [design] in study.toml that do not apply in Label Studio."""


@dataclass(frozen=True)
class Rejection:
    """A value that cannot become a rating, or was perhaps not meant, as it is reported."""

    rater: str | None
    response: str | None
    construct: str | None
    value: str | None
    """As JSON."""
    reason: str
    annotation: int
    """Its number in Label Studio."""


@dataclass
class Followed(_Result):
    """What was read from followed projects and stored, with the counts of their import."""

    annotations: int = 0
    """Annotations on the server; of projects that are followed, those that count."""
    new: int = 0
    """Values that were stored for the first time, including skipped ones."""
    changed: int = 0
    """Values that were edited since the last call."""
    withdrawn: int = 0
    """Values that are no longer in Label Studio, or were changed to an invalid value."""
    unchanged: int = 0
    imported: dict[str, int] = field(default_factory=dict)
    """Queries, responses and other content that came with the tasks of followed projects."""
    ranges: dict[str, str] = field(default_factory=dict)
    """PROJECT/CONTROL to the range that a followed project states, and what becomes of it."""
    rules: Counter[str] = field(default_factory=Counter)
    """Rule to how often it accepted something, as `ccrs import` reports it."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Content that was not stored, with how often it occurred."""
    missing_projects: list[int] = field(default_factory=list)
    """Projects that are no longer on the server; their values stay."""
    raters: dict[str, int] = field(default_factory=dict)
    """New raters: code to the user's number."""
    warnings: list[str] = field(default_factory=list)

    def add(self, report: ImportReport, annotations: int) -> None:
        """Add what the import of a project counted; values are also preferences and marks."""
        self.annotations += annotations
        answers = {"scores", "preferences", "sets of marks"}
        self.new += sum(report.added[noun] for noun in answers)
        self.changed += report.changed.total()
        self.withdrawn += report.withdrawn.total()
        self.unchanged += sum(report.already[noun] for noun in answers)
        for noun, count in report.added.items():
            if count and noun not in answers:
                self.imported[noun] = self.imported.get(noun, 0) + count
        self.rules.update(report.rules)
        self.left_out.update(report.left_out)
        self.warnings += report.warnings

    @property
    def stored_anything(self) -> bool:
        """Whether anything was written."""
        return bool(self.new + self.changed + self.withdrawn or self.raters or self.imported)


@dataclass
class Pulled(Followed):
    """What was read from pushed projects and stored."""

    skipped: int = reported("Of these, skipped tasks")
    outdated: int = reported(
        "Values of an earlier version of their construct (study.toml was edited after the push), "
        "which are stored but not part of the score table"
    )
    marks: int = reported("Sets of marks on sentences that are new, edited or withdrawn")
    drafts: int = reported("Drafts, which were left out")
    further: int = reported(
        "Annotations of more people than were planned for their task, which count as well"
    )
    edited_by_other: int = reported("Annotations that another user than their rater changed last")
    erased: int = reported("Annotations of people who were erased from the study")
    rejected: list[Rejection] = field(default_factory=list)
    """All values that cannot become ratings."""
    rejected_new: int = 0
    """Of the rejected values, those that no earlier pull read."""
    doubtful: list[Rejection] = field(default_factory=list)
    """Stored values that a decimal comma explains, which the field drops: 7,5 becomes 75."""

    @property
    def stored_anything(self) -> bool:
        """Whether anything was written."""
        return super().stored_anything or bool(self.marks + self.rejected_new)

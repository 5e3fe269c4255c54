"""What a push and a pull did, with the words in which commands report it."""

from collections import Counter
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from study.importing.import_report import ImportReport


def counted(several: str, one: str) -> Any:
    """Return a field for a number that is reported in these words, unless it is 0."""
    return field(default=0, metadata={"several": several, "one": one})


@dataclass
class _Result:
    """The result of an exchange with a server."""

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        # `asdict` would make keys of a Counter's items.
        plain = {name: dict(v) for name, v in vars(self).items() if isinstance(v, Counter)}
        return asdict(replace(self, **plain))

    def counts(self) -> list[str]:
        """Return a line for each number that is not 0."""
        lines = []
        for number in fields(self):
            count = getattr(self, number.name)
            if number.metadata and count:
                words = number.metadata["one" if count == 1 else "several"]
                lines.append(f"{count:,} {words.format_map(vars(self))}")
        return lines


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

    server: str
    projects: list[PushedProject] = field(default_factory=list)
    """Projects that tasks were added to."""
    tasks: int = 0
    """Tasks that were added."""
    existing: int = 0
    """Tasks that had been added before."""
    slots: int = 0
    """All slots that are reserved for Label Studio."""
    adopted: int = counted(
        "tasks had been sent by an interrupted push.", "task had been sent by an interrupted push."
    )
    deleted: int = counted(
        "tasks were deleted in Label Studio; unrated ones are sent again.",
        "task was deleted in Label Studio; an unrated one is sent again.",
    )
    replaced: int = counted(
        "untouched tasks of an earlier version of a construct were replaced.",
        "untouched task of an earlier version of a construct was replaced.",
    )
    outdated: int = counted(
        "rated tasks of an earlier version of a construct stay; their values are not part of the "
        "score table.",
        "rated task of an earlier version of a construct stays; its values are not part of the "
        "score table.",
    )
    duplicates: int = counted(
        "unrated tasks were on the server twice and were deleted.",
        "unrated task was on the server twice and was deleted.",
    )
    waiting: int = counted(
        "of {slots:,} slots wait until the earlier stages of their query are rated and pulled.",
        "of {slots:,} slots waits until the earlier stages of its query are rated and pulled.",
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
    annotation: int | None
    """Its number in Label Studio."""


@dataclass
class Pulled(_Result):
    """The result of a pull."""

    server: str
    annotations: int = 0
    """Annotations on the server."""
    new: int = 0
    """Values of constructs that were stored for the first time, including skipped ones."""
    changed: int = 0
    """Values that were edited since the last pull."""
    withdrawn: int = 0
    """Values whose annotation was deleted, or changed to an invalid value."""
    unchanged: int = 0
    skipped: int = counted("of these are skipped tasks.", "of these is a skipped task.")
    outdated: int = counted(
        "values are of an earlier version of their construct (study.toml was edited after the "
        "push); they are stored but not part of the score table.",
        "value is of an earlier version of its construct (study.toml was edited after the push); "
        "it is stored but not part of the score table.",
    )
    marks: int = counted(
        "sets of marks on sentences are new, edited or withdrawn.",
        "set of marks on sentences is new, edited or withdrawn.",
    )
    drafts: int = counted("drafts were left out.", "draft was left out.")
    further: int = counted(
        "annotations are of more people than were planned for their task; they count as well.",
        "annotation is of one person more than were planned for its task; it counts as well.",
    )
    edited_by_other: int = counted(
        "annotations were last changed by another user than their rater.",
        "annotation was last changed by another user than its rater.",
    )
    erased: int = counted(
        "annotations are of people who were erased from the study.",
        "annotation is of a person who was erased from the study.",
    )
    held: int = counted(
        "annotations hold a place of their task although nothing of them can count: once they are "
        "deleted in Label Studio, somebody else gets the place.",
        "annotation holds a place of its task although nothing of it can count: once it is "
        "deleted in Label Studio, somebody else gets the place.",
    )
    raters: dict[str, int] = field(default_factory=dict)
    """New raters: code to the user's number."""
    rejected: list[Rejection] = field(default_factory=list)
    """All values on the server that cannot become ratings."""
    rejected_new: int = 0
    """Of the rejected values, those that no earlier pull read."""
    doubtful: list[Rejection] = field(default_factory=list)
    """Stored values that a decimal comma explains, which the field drops: 7,5 becomes 75."""
    missing_projects: list[int] = field(default_factory=list)
    """Projects of the study that are no longer on the server; their pulled values stay."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Annotations that were not read, with how often they occurred."""

    @property
    def stored_anything(self) -> bool:
        """Whether the pull wrote anything."""
        values = self.new + self.changed + self.withdrawn + self.marks
        return bool(values or self.raters or self.rejected_new)


@dataclass
class Followed(_Result):
    """The result of following projects."""

    server: str
    annotations: int = 0
    """Annotations on the server that count."""
    new: int = 0
    """Values, preferences and sets of marks that were stored for the first time."""
    changed: int = 0
    """Those that replaced what an earlier call stored."""
    withdrawn: int = 0
    """Those that are no longer in Label Studio."""
    unchanged: int = 0
    imported: dict[str, int] = field(default_factory=dict)
    """Queries, responses and other content that came with the tasks."""
    ranges: dict[str, str] = field(default_factory=dict)
    """PROJECT/CONTROL to the range that a project states, and what becomes of it."""
    rules: Counter[str] = field(default_factory=Counter)
    """Rule to how often it accepted something, as `ccrs import` reports it."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Content that was not stored, with how often it occurred."""
    warnings: list[str] = field(default_factory=list)
    raters: dict[str, int] = field(default_factory=dict)
    """New raters: code to the user's number."""
    missing_projects: list[int] = field(default_factory=list)
    """Projects that are no longer on the server; their values stay."""

    def add(self, report: ImportReport, annotations: int) -> None:
        """Add what the import of a project counted."""
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
        values = self.new + self.changed + self.withdrawn
        return bool(values or self.raters or self.imported)

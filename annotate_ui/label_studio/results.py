"""What a pull met and what it did."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, insert, select

from annotate_ui.label_studio.annotation_reader import Annotation, Unfit, Unread
from annotate_ui.label_studio.projects import StoredProject
from study.schema import Rater, SetAside, table


@dataclass(frozen=True)
class PushedProject:
    """A project that tasks were sent to."""

    number: int
    url: str
    stage: int
    constructs: tuple[str, ...]
    overlap: int
    made: bool
    tasks: int
    """Tasks that it has now."""


@dataclass
class Pushed:
    """What a push did."""

    server: str
    projects: list[PushedProject] = field(default_factory=list)
    """Those that tasks were added to."""
    tasks: int = 0
    """Tasks that were added."""
    there: int = 0
    """Tasks that were there already."""
    adopted: int = 0
    """Tasks that an interrupted push had sent, and that are known again."""
    doubled: int = 0
    """Tasks that were there twice and unrated, and were removed."""
    gone: int = 0
    """Tasks that were deleted over there; what nobody had rated is sent again."""
    renewed: int = 0
    """Tasks of an earlier version of a construct that nobody had touched, and were replaced."""
    earlier: int = 0
    """Tasks of an earlier version of a construct that somebody has rated, and that stay."""
    unknown: list[int] = field(default_factory=list)
    """Projects over there that were made for this study and that it knows nothing of."""
    missing: list[int] = field(default_factory=list)
    """Projects of the study that are gone; what nobody had rated is sent again."""
    lost: int = 0
    """Places of tasks that are held by people whose value can't count; others are made for them."""
    waiting: int = 0
    """Slots whose task comes when the earlier stages of their query are rated and pulled."""
    slots: int = 0
    """All slots that are reserved for Label Studio."""

    def as_json(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        return asdict(self)


@dataclass(frozen=True)
class KeptAside:
    """A value that could not become a rating."""

    rater: str | None
    response: str | None
    construct: str | None
    value: str | None
    """As JSON."""
    reason: str
    annotation: int | None
    """Its number over there."""


@dataclass
class Pulled:
    """What a pull did."""

    server: str
    annotations: int = 0
    """Annotations that are over there."""
    drafts: int = 0
    """Drafts over there, which are no ratings."""
    new: int = 0
    """Values of constructs that were stored for the first time, skipped ones included."""
    changed: int = 0
    """Values that were edited over there since the last pull."""
    withdrawn: int = 0
    """Values whose annotation is gone over there, or now says what can't be taken."""
    skipped: int = 0
    """Of the new and changed ones, those that say that the task was skipped."""
    unchanged: int = 0
    earlier: int = 0
    """Values over there of an earlier version of their construct; they leave the score table."""
    by_another: int = 0
    """Annotations over there that another account than their rater's changed last."""
    erased: int = 0
    """Annotations of people who are erased from the study; nothing of them was taken."""
    raters: dict[str, int] = field(default_factory=dict)
    """Raters that were made: code to the number of the user over there."""
    aside: list[KeptAside] = field(default_factory=list)
    """Everything that is over there and can't be a rating."""
    missing: list[int] = field(default_factory=list)
    """Projects of the study that are gone; what was pulled of them stays."""
    aside_new: int = 0
    """Of these, those that no pull before this one met."""

    @property
    def anything(self) -> bool:
        """Whether something was stored."""
        return bool(self.new or self.changed or self.withdrawn or self.raters or self.aside_new)

    def as_json(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        return asdict(self)


@dataclass
class Fetched:
    """A project as it stands over there, without its texts."""

    project: StoredProject
    annotations: list[Annotation] = field(default_factory=list)
    unreadable: list[Unread] = field(default_factory=list)


class Asides:
    """What one pull sets aside; `responses` holds the keys of responses by their numbers."""

    def __init__(self, connection: Connection, responses: Mapping[int, str]) -> None:
        self._connection = connection
        self._responses = responses
        self._rows: dict[tuple[int, str], dict[str, Any]] = {}

    def add(
        self,
        project: StoredProject,
        unfit: Unfit,
        annotation: Annotation | None = None,
        rater_id: int | None = None,
        response_id: int | None = None,
    ) -> None:
        """Set a value aside; without an annotation it is one that can't be read."""
        number = None if annotation is None else annotation.number
        told = [number, response_id, rater_id, unfit.construct_key, unfit.value, unfit.reason]
        digest = sha256(json.dumps(told).encode()).hexdigest()
        self._rows[project.id, digest] = {
            "project_id": project.id,
            "digest": digest,
            "rater_id": rater_id,
            "response_id": response_id,
            "construct_key": unfit.construct_key,
            "value": unfit.value,
            "reason": unfit.reason,
            "external_id": None if number is None else str(number),
            "external_at": None if annotation is None else annotation.updated,
        }

    def store(self, result: Pulled) -> None:
        """Store what no pull before met, and tell everything."""
        s, w = table(SetAside), table(Rater)
        known = {
            (row.project_id, row.digest)
            for row in self._connection.execute(select(s.c.project_id, s.c.digest))
        }
        new = [row for key, row in self._rows.items() if key not in known]
        if new:
            self._connection.execute(insert(s), new)
        codes = {row.id: row.code for row in self._connection.execute(select(w.c.id, w.c.code))}
        result.aside_new = len(new)
        result.aside = [
            KeptAside(
                codes.get(row["rater_id"]),
                self._responses.get(row["response_id"]),
                row["construct_key"],
                row["value"],
                row["reason"],
                None if row["external_id"] is None else int(row["external_id"]),
            )
            for row in self._rows.values()
        ]

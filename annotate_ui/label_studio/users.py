"""Users as raters of the study; only their number and a code are stored."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError
from sqlalchemy import Connection, insert, select

from study.errors import Fault, InputError, StudyError
from study.facts.departures import departures
from study.facts.scorers import machine_names, scorer_names
from study.importing.importers import FormatOptions
from study.importing.readers.source import RecordSource
from study.schema import RaterBase
from study.schema.tables import external_raters, raters, scores
from study.text import quoted_names

PREFIX = "ls-"


@dataclass
class Raters:
    """The raters that the users of one server are; new users get a code."""

    connection: Connection
    server: str
    instance: str
    """Identity of the server, whatever its address."""
    by_user: dict[int, int | None] = field(default_factory=dict)
    """None: erased from the study."""
    new: dict[str, int] = field(default_factory=dict)
    """New raters: code to the user's number."""
    left: Collection[int] = ()
    """Raters who have left the study."""

    def __post_init__(self) -> None:
        self.left = departures(self.connection).keys()
        t = external_raters
        known_users = select(t.c.external_id, t.c.rater_id).where(t.c.instance == self.instance)
        self.by_user = {int(user): rater for user, rater in self.connection.execute(known_users)}

    def assign(self, codes: Mapping[int, str]) -> None:
        """Assign raters to users in advance; unknown raters are added.

        Raises
        ------
        StudyError
            The user is another rater already, or the code is not valid for a rater.
        """
        for user, code in codes.items():
            known = select(raters.c.id).where(raters.c.code == code)
            rater_id = self.connection.execute(known).scalar()
            if user in self.by_user:
                if self.by_user[user] is None:
                    raise StudyError(
                        f"User {user} of {self.server} was erased from the study; their values "
                        f"are no longer pulled. Leave out --rater {user}={code}."
                    )
                if rater_id is None or self.by_user[user] != rater_id:
                    raise StudyError(
                        f"User {user} of {self.server} is already another rater, whose "
                        "ratings cannot be moved."
                    )
                continue
            if rater_id is None and code in machine_names(self.connection):
                raise StudyError(f"{code!r} is the name of a judge or metric; choose another.")
            self._store(user, code, rater_id)

    def rater_of(self, user: int) -> int | None:
        """Return the rater that a user is, adding a new one; None: erased from the study."""
        if user not in self.by_user:
            codes = set(self.connection.execute(select(raters.c.code)).scalars())
            codes |= set(scorer_names(self.connection))
            code, number = f"{PREFIX}{user}", 2
            while code in codes:
                code, number = f"{PREFIX}{user}-{number}", number + 1
            self.new[code] = user
            self._store(user, code)
        return self.by_user[user]

    def without_account(self) -> set[str]:
        """Return the codes of people with ratings who are not a user of this server.

        They include people whose ratings were imported.
        """
        rows = self.connection.execute(select(raters.c.id, raters.c.code))
        codes = {row.id: row.code for row in rows}
        imported = select(scores.c.scorer).where(scores.c.scorer_kind == "human").distinct()
        people = {*codes.values(), *self.connection.execute(imported).scalars()}
        return people - {codes[rater] for rater in self.by_user.values() if rater}

    def _store(self, user: int, code: str, rater_id: int | None = None) -> None:
        """Store that a user is a rater; None: a new one."""
        try:
            rater = RaterBase.model_validate({"code": code})
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
            raise StudyError(f"Rater code {code!r}: {problem}.") from None
        if rater_id is None:
            row = insert(raters).values(**rater.model_dump()).returning(raters.c.id)
            rater_id = int(self.connection.execute(row).scalar_one())
        place = {"server": self.server, "instance": self.instance, "external_id": str(user)}
        self.connection.execute(insert(external_raters).values(**place, rater_id=rater_id))
        self.by_user[user] = rater_id


def scorers_of_users(
    users: Mapping[int, str | None], source: RecordSource, options: FormatOptions
) -> dict[int, str | None]:
    """Return the scorer of each user of an export; None: left out by --rater.

    `users` are those of the export, with their e-mail address if it is known.

    Raises
    ------
    InputError
        A user without --rater would get the code of a rater who was pulled or erased, or --rater
        names a user who is not in the file.
    """
    prefix = PREFIX if options.rater_prefix is None else options.rater_prefix
    scorers: dict[int, str | None] = {
        user: code or None for user in users if (code := options.raters.get(str(user))) is not None
    }
    faults: list[Fault] = []
    for user in users:
        if user in scorers:
            continue
        scorers[user] = f"{prefix}{user}"
        faults += _same_code(user, f"{prefix}{user}", options)
    numbers = [str(user) for user in users]
    listed = quoted_names(numbers) or "none"
    for number, code in options.raters.items():
        if number not in numbers:
            problem = f"user {number} has no annotation in this file. Its users: {listed}."
            remedy = f"Correct or leave out --rater {number}={code}; import files of different "
            faults.append(Fault(problem, f"{remedy}people one by one."))
    if faults:
        raise InputError(source.path.name, faults)
    for address in dict.fromkeys(filter(None, users.values())):
        same = [user for user, other in users.items() if other == address]
        if len(same) > 1 and not options.raters.keys() >= {*map(str, same)}:
            listed, one = quoted_names(map(str, same)), " ".join(f"--rater {n}=CODE" for n in same)
            source.report.warnings.append(
                f"the users {listed} have one e-mail address and are imported as {len(same)} "
                f"raters. If they are one person, name them with {one}."
            )
    unnamed = {code for user, code in scorers.items() if str(user) not in options.raters}
    existing = sorted(map(str, unnamed & options.kinds.keys()))
    if existing:
        source.report.warnings.append(
            f"{', '.join(existing)}: the study already has values of these scorers, and the values "
            "of this file are added to theirs. If they are other people, use --rater-prefix."
        )
    return scorers


def _same_code(user: int, code: str, options: FormatOptions) -> Iterator[Fault]:
    """Yield a fault if a user may be a rater who was pulled from a server, or erased."""
    for server, number, rater in options.pulled:
        if rater == code or (
            rater is None and number == str(user) and options.rater_prefix is None
        ):
            who = f"the rater {code}" if rater else "erased from the study"
            yield Fault(
                f"user {user} of {server} is {who}; is user {user} of this file the same person?",
                f"Name the rater with --rater {user}=CODE (--rater {user}= leaves the user out), "
                "or give people of another server different codes with --rater-prefix TEXT.",
            )
            return

"""Which rater a user of a server is: a code, and nothing else of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError
from sqlalchemy import Connection, insert, select

from annotate_ui.participation import has_left
from study.errors import StudyError
from study.facts.scorers import machine_names, scorer_names
from study.schema import ElsewhereRater, Rater, RaterBase, Score, table


@dataclass
class Raters:
    """The users of one server as raters of the study; who is new gets a code."""

    connection: Connection
    server: str
    instance: str
    """Which server it is, whatever its address."""
    by_user: dict[int, int | None] = field(default_factory=dict)
    """None: erased from the study."""
    new: dict[str, int] = field(default_factory=dict)
    """Code of each rater that was made to the user's number."""
    _left: dict[int, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        e = table(ElsewhereRater)
        rows = self.connection.execute(
            select(e.c.external_id, e.c.rater_id).where(e.c.instance == self.instance)
        )
        self.by_user = {int(row.external_id): row.rater_id for row in rows}

    def name(self, codes: Mapping[int, str]) -> None:
        """Say beforehand which user is which rater; one who is not there yet is made.

        Raises
        ------
        StudyError
            The user is another rater already, or the code can't be one.
        """
        w = table(Rater)
        for user, code in codes.items():
            found = self.connection.execute(select(w.c.id).where(w.c.code == code)).scalar()
            if user in self.by_user:
                if self.by_user[user] is None:
                    raise StudyError(
                        f"User {user} of {self.server} is erased from the study, and nothing of "
                        f"theirs is taken any more. Leave --rater {user}={code} out."
                    )
                if found is None or self.by_user[user] != found:
                    raise StudyError(
                        f"User {user} of {self.server} is another rater already; what a rater "
                        "gave stays theirs."
                    )
                continue
            if found is None and code in machine_names(self.connection):
                raise StudyError(f"{code!r} is the name of a judge or metric; choose another.")
            self._store(user, self._made(code) if found is None else int(found))

    def rater(self, user: int) -> int | None:
        """Return the rater that a user is; None: whoever it was is erased from the study."""
        if user not in self.by_user:
            taken = set(self.connection.execute(select(table(Rater).c.code)).scalars())
            taken |= set(scorer_names(self.connection))
            code, further = f"ls-{user}", 2
            while code in taken:
                code, further = f"ls-{user}-{further}", further + 1
            self.new[code] = user
            self._store(user, self._made(code))
        return self.by_user[user]

    def without_account(self) -> list[str]:
        """Return the people whose values are here and who are no user of this server, by code.

        Those whose ratings were imported are among them.
        """
        w, e, s = table(Rater), table(ElsewhereRater), table(Score)
        users = select(e.c.rater_id).where(e.c.instance == self.instance, e.c.rater_id.is_not(None))
        found = set(self.connection.execute(select(w.c.code).where(w.c.id.not_in(users))).scalars())
        imported = select(s.c.scorer).where(s.c.scorer_kind == "human").distinct()
        known = select(w.c.code).where(w.c.id.in_(users))
        found |= set(self.connection.execute(imported).scalars())
        return sorted(found - set(self.connection.execute(known).scalars()))

    def known(self, user: int | None) -> int | None:
        """Return the rater that a user is already; nobody is made."""
        return None if user is None else self.by_user.get(user)

    def is_erased(self, user: int | None) -> bool:
        """Say whether a user is erased from the study."""
        return user in self.by_user and self.by_user[user] is None

    def left(self, rater_id: int) -> bool:
        """Say whether a rater has left the study."""
        if rater_id not in self._left:
            self._left[rater_id] = has_left(self.connection, rater_id)
        return self._left[rater_id]

    def _made(self, code: str) -> int:
        try:
            noun = RaterBase.model_validate({"code": code})
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
            raise StudyError(f"Rater code {code!r}: {problem}.") from None
        w = table(Rater)
        made = insert(w).values(**noun.model_dump()).returning(w.c.id)
        return int(self.connection.execute(made).scalar_one())

    def _store(self, user: int, rater_id: int) -> None:
        self.connection.execute(
            insert(table(ElsewhereRater)).values(
                server=self.server,
                instance=self.instance,
                external_id=str(user),
                rater_id=rater_id,
            )
        )
        self.by_user[user] = rater_id
